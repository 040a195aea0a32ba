//! Scripts of what each side sends and gets, for state machines that do no I/O.
//!
//! Everything that comes out must be expected, byte for byte, before anything else is sent.

use std::collections::VecDeque;

/// Something that stands between a client and an upstream and takes one line at a time.
pub trait Conversation {
    /// The client sends a line.
    fn client_sends(&mut self, line: &[u8]) -> Vec<Sent>;
    /// The upstream sends a line.
    fn upstream_sends(&mut self, line: &[u8]) -> Vec<Sent>;
}

/// A line that came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// On the client's side.
    ToClient(Vec<u8>),
    /// On the upstream's side.
    ToUpstream(Vec<u8>),
}

/// A script that is played as it is written.
#[must_use = "end with `nothing_more`"]
pub struct Playbook<C> {
    conversation: C,
    sent: VecDeque<Sent>,
}

impl<C: Conversation> Playbook<C> {
    /// Begins a script with `conversation`.
    pub fn new(conversation: C) -> Self {
        Self { conversation, sent: VecDeque::new() }
    }

    /// The client sends `line`.
    pub fn client_sends(mut self, line: impl AsRef<str>) -> Self {
        self.expect_nothing();
        self.sent = self.conversation.client_sends(&terminated(line.as_ref())).into();
        self
    }

    /// The upstream sends `line`.
    pub fn upstream_sends(mut self, line: impl AsRef<str>) -> Self {
        self.expect_nothing();
        self.sent = self.conversation.upstream_sends(&terminated(line.as_ref())).into();
        self
    }

    /// The next line that comes out is this one, on the client's side.
    pub fn client_gets(self, line: impl AsRef<str>) -> Self {
        self.expect(&Sent::ToClient(terminated(line.as_ref())))
    }

    /// The next line that comes out is this one, on the upstream's side.
    pub fn upstream_gets(self, line: impl AsRef<str>) -> Self {
        self.expect(&Sent::ToUpstream(terminated(line.as_ref())))
    }

    /// The client sends `line` and the upstream gets it as it is.
    pub fn passes_up(self, line: impl AsRef<str>) -> Self {
        self.client_sends(line.as_ref()).upstream_gets(line)
    }

    /// The upstream sends `line` and the client gets it as it is.
    pub fn passes_down(self, line: impl AsRef<str>) -> Self {
        self.upstream_sends(line.as_ref()).client_gets(line)
    }

    /// Ends the script: nothing else has come out. Gives the conversation back.
    pub fn nothing_more(self) -> C {
        self.expect_nothing();
        self.conversation
    }

    fn expect(mut self, expected: &Sent) -> Self {
        let sent = self.sent.pop_front();
        assert!(
            sent.as_ref() == Some(expected),
            "expected {}\n     got {}",
            shown(Some(expected)),
            shown(sent.as_ref())
        );
        self
    }

    fn expect_nothing(&self) {
        assert!(self.sent.is_empty(), "unexpected {}", shown(self.sent.front()));
    }
}

fn terminated(line: &str) -> Vec<u8> {
    format!("{line}\n").into_bytes()
}

fn shown(sent: Option<&Sent>) -> String {
    match sent {
        None => "nothing".to_owned(),
        Some(Sent::ToClient(line)) => format!("to the client: {}", String::from_utf8_lossy(line)),
        Some(Sent::ToUpstream(line)) => {
            format!("to the upstream: {}", String::from_utf8_lossy(line))
        }
    }
}
