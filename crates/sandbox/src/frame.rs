//! What is said between a [`crate::Sandbox`] and its workers: frames of a kind, a number and bytes.
//!
//! The bytes are sent as they are. An answer may be long, and JSON within JSON would be written and read
//! twice.

use std::io::{self, Read};

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To a worker: a program is to run. The bytes are a [`crate::worker::Ask`] as JSON.
    Run,
    /// To a worker: the answer to the call of this number, as JSON.
    Answer,
    /// To a worker: why there is no answer to the call of this number.
    Refusal,
    /// Of a worker: the program is about to run.
    Begun,
    /// Of a worker: a text that was logged.
    Log,
    /// Of a worker: a call with this number. The bytes are the function, a line feed, its arguments.
    Call,
    /// Of a worker: what the program gives, as JSON.
    Value,
    /// Of a worker: the program has ended. The bytes are an [`crate::engine::Ending`] as JSON.
    End,
}

/// What is said at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

const KINDS: [Kind; 8] = [
    Kind::Run,
    Kind::Answer,
    Kind::Refusal,
    Kind::Begun,
    Kind::Log,
    Kind::Call,
    Kind::Value,
    Kind::End,
];

/// A kind, a number and a length.
const HEADER_BYTES: usize = 1 + 8 + 4;

/// More than most frames have.
const MUCH: usize = 64 << 10;

/// Adds a frame to `out`, unless the bytes of its parts are too many for one.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    kind: Kind,
    number: u64,
    parts: &[&[u8]],
) -> io::Result<()> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length).map_err(io::Error::other)?;
    out.push(kind as u8);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
    Ok(())
}

/// Reads a frame of at most `max_bytes`; `None` at the end.
pub(crate) fn read(input: &mut dyn Read, max_bytes: u64) -> io::Result<Option<Frame>> {
    let mut header = [0; HEADER_BYTES];
    match input.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let [kind, number @ .., a, b, c, d] = header;
    let kind = KINDS.get(usize::from(kind)).copied();
    let kind = kind.ok_or_else(|| io::Error::other("a frame of no known kind"))?;
    let length = u32::from_le_bytes([a, b, c, d]);
    if u64::from(length) > max_bytes {
        return Err(io::Error::other("a frame that is too long"));
    }
    // As much as comes: a length alone takes little memory.
    let mut bytes = Vec::with_capacity(MUCH.min(length as usize));
    input.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() != length as usize {
        return Ok(None);
    }
    Ok(Some(Frame { kind, number: u64::from_le_bytes(number), bytes }))
}

/// True if `bytes` begin with a whole frame.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let Some((&[.., a, b, c, d], rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return false;
    };
    rest.len() >= u32::from_le_bytes([a, b, c, d]) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        let mut out = Vec::new();
        for (number, kind) in KINDS.into_iter().enumerate() {
            encode(&mut out, kind, number as u64, &[format!("{kind:?}").as_bytes()]).unwrap();
        }
        let mut input = out.as_slice();
        for (number, kind) in KINDS.into_iter().enumerate() {
            let frame = read(&mut input, 100).unwrap().unwrap();
            assert_eq!((frame.kind, frame.number), (kind, number as u64));
            assert_eq!(frame.bytes, format!("{kind:?}").into_bytes());
        }
        assert_eq!(read(&mut input, 100).unwrap(), None);
    }

    #[test]
    fn a_frame_that_is_too_long_or_unknown_is_an_error() {
        let mut out = Vec::new();
        encode(&mut out, Kind::Log, 0, &[b"12", b"345"]).unwrap();
        assert!(is_whole(&out) && !is_whole(&out[..out.len() - 1]) && !is_whole(&[]));
        assert!(read(&mut out.as_slice(), 4).is_err());
        assert_eq!(read(&mut &out[..out.len() - 1], 5).unwrap(), None, "it broke off");
        out[0] = 99;
        assert!(read(&mut out.as_slice(), 5).is_err());
    }
}
