//! What an upstream says that is no message. Some print a banner, which is passed over; one that prints without end
//! before it has said a message would keep all others from being heard.

use crate::body::Body;

/// So much may be said before the first message.
const MAX_BYTES: u64 = 1 << 20;
/// What a line costs whatever its length.
const LINE_BYTES: u64 = 64;

/// What an upstream has said so far, as far as it was no message.
#[derive(Debug, Default)]
pub(super) struct Noise {
    bytes: u64,
    has_ended: bool,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// It has a message, or the upstream has said one before.
    Message,
    /// It has none, and is passed over.
    Noise,
    /// It has none, and there has been too much of that.
    TooMuch,
}

impl Noise {
    /// Why an upstream that says too much of it is given up.
    pub(super) const WHY: &str = "prints what is no MCP message, over 1 MiB of it and no answer; is this the command of an MCP server?";

    pub(super) fn hears(&mut self, body: &Body) -> Heard {
        self.has_ended = self.has_ended || !body.line().messages().is_empty();
        if self.has_ended {
            return Heard::Message;
        }
        self.bytes = self.bytes.saturating_add(body.bytes()).saturating_add(LINE_BYTES);
        if self.bytes > MAX_BYTES { Heard::TooMuch } else { Heard::Noise }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_endless_noise_before_the_first_message_is_too_much() {
        let (line, message) =
            (Body::Memory(b"y".to_vec()), Body::Memory(b"{\"id\":1,\"result\":{}}".to_vec()));
        let mut noise = Noise::default();
        let passed = (0..1_000_000).take_while(|_| noise.hears(&line) == Heard::Noise).count();
        assert!((1_000..100_000).contains(&passed), "{passed}");
        assert_eq!(noise.hears(&line), Heard::TooMuch);
        let mut noise = Noise::default();
        assert_eq!((noise.hears(&line), noise.hears(&message)), (Heard::Noise, Heard::Message));
        assert!((0..passed * 2).all(|_| noise.hears(&line) == Heard::Message));
    }
}
