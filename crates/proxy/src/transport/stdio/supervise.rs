//! What follows when one of the parties ends. A state machine without I/O or clock.
//!
//! ```text
//! client closes ─▶ upstream sees the end of its input ─▶ grace period ─▶ SIGTERM ─▶ SIGKILL
//! upstream ends ─▶ its exit and the end of its output, in either order ─▶ calls answered ─▶ over
//! a signal to us ─▶ the same signal to the upstream ─▶ grace period ─▶ SIGKILL
//! ```
//!
//! While a client that still reads awaits an answer, the grace period is repeated a number of times:
//! `echo CALL | forebay wrap -- npx …` closes at once and wants its answer all the same.

use std::{
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    time::{Duration, Instant},
};

use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};

/// How far apart an upstream's exit and the end of its output may lie and still be one event.
const SETTLE: Duration = Duration::from_secs(1);

/// How many grace periods a call that is under way may take after its client has closed.
const PERIODS_FOR_ANSWERS: u32 = 30;

/// How things stand when an event is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    /// It changes whenever the client has been sent something.
    pub(super) lines_sent: u64,
    /// A client that still reads waits for an answer.
    pub(super) is_awaited: bool,
    /// Something is on its way to the client, which may be slow to take it.
    pub(super) is_sending: bool,
}

/// Something has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The client has closed its output; it may still read.
    ClientClosed,
    /// The client has closed its output; what it has written may not have been read yet, for
    /// instance because the upstream does not take it.
    ClientHungUp,
    /// The client reads no more.
    ClientGone,
    /// The upstream takes no more input.
    InputClosed,
    /// The upstream's output has ended.
    OutputClosed,
    /// The upstream's process has ended.
    Exited(ExitStatus),
    /// We got a signal.
    Signal(i32),
    /// Time has passed.
    Tick,
}

/// Something is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Close the upstream's input.
    CloseInput,
    /// Send the upstream a signal, for this reason.
    Signal(i32, &'static str),
    /// Answer all calls: the upstream ended in this way.
    Abandon(String),
    /// It is over. Without a status the upstream could not be ended.
    Finish(Option<ExitStatus>),
}

/// Knows who has ended and what is due next.
#[derive(Debug)]
pub(super) struct Supervisor {
    grace: Duration,
    exit: Option<ExitStatus>,
    output_closed: bool,
    client_closed: bool,
    abandoned: bool,
    due: Option<Due>,
}

#[derive(Debug, Clone, Copy)]
struct Due {
    at: Instant,
    what: Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The other half of the upstream's end should have come.
    Settle {
        lines_sent: u64,
    },
    /// A client that has closed, or an upstream that takes no input, has had the time to finish.
    Terminate {
        why: &'static str,
        /// What the client had been sent when this was scheduled.
        lines_sent: u64,
        /// How many grace periods it will have been.
        periods: u32,
    },
    Kill,
    GiveUp,
}

impl Supervisor {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            grace,
            exit: None,
            output_closed: false,
            client_closed: false,
            abandoned: false,
            due: None,
        }
    }

    /// When [`Event::Tick`] is expected at the latest.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.due.map(|due| due.at)
    }

    /// Takes note of an event.
    pub(super) fn on(&mut self, event: Event, standing: Standing, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::ClientClosed | Event::ClientHungUp => {
                self.client_closed = true;
                self.let_finish("the client has closed", standing, now);
            }
            Event::ClientGone => {
                self.client_closed = true;
                actions.push(Action::CloseInput);
                self.let_finish("the client is gone", standing, now);
            }
            Event::InputClosed => self.let_finish("it takes no more input", standing, now),
            Event::OutputClosed => {
                self.output_closed = true;
                self.upstream_ends(standing, now, &mut actions);
            }
            Event::Exited(status) => {
                self.exit = Some(status);
                self.upstream_ends(standing, now, &mut actions);
            }
            Event::Signal(signal) => {
                actions.push(Action::Signal(signal, "passed on a signal"));
                if matches!(signal, SIGTERM | SIGINT | SIGHUP | SIGQUIT) && self.exit.is_none() {
                    self.schedule(Next::Kill, self.grace, now);
                }
            }
            Event::Tick => self.tick(standing, now, &mut actions),
        }
        actions
    }

    /// Gives the upstream the grace period, unless its end is already in sight.
    fn let_finish(&mut self, why: &'static str, standing: Standing, now: Instant) {
        if self.due.is_none() {
            let next = Next::Terminate { why, lines_sent: standing.lines_sent, periods: 1 };
            self.schedule(next, self.grace, now);
        }
    }

    fn schedule(&mut self, what: Next, delay: Duration, now: Instant) {
        self.due = Some(Due { at: now + delay, what });
    }

    fn upstream_ends(&mut self, standing: Standing, now: Instant, actions: &mut Vec<Action>) {
        match self.exit {
            Some(status) if self.output_closed => self.finish(status, actions),
            _ => self.expect_other_half(standing, SETTLE, now),
        }
    }

    fn expect_other_half(&mut self, standing: Standing, delay: Duration, now: Instant) {
        self.schedule(Next::Settle { lines_sent: standing.lines_sent }, delay, now);
    }

    fn finish(&mut self, status: ExitStatus, actions: &mut Vec<Action>) {
        self.due = None;
        self.abandon(description(status), actions);
        actions.push(Action::Finish(Some(status)));
    }

    fn abandon(&mut self, how: String, actions: &mut Vec<Action>) {
        if !self.abandoned {
            self.abandoned = true;
            actions.push(Action::Abandon(how));
        }
    }

    fn terminate(&mut self, why: &'static str, now: Instant, actions: &mut Vec<Action>) {
        actions.push(Action::CloseInput);
        actions.push(Action::Signal(SIGTERM, why));
        self.schedule(Next::Kill, self.grace, now);
    }

    /// Only one half of the upstream's end has come.
    fn settle(
        &mut self,
        sent_before: u64,
        standing: Standing,
        now: Instant,
        actions: &mut Vec<Action>,
    ) {
        let Some(status) = self.exit else {
            self.abandon("closed its output without exiting".to_owned(), actions);
            actions.push(Action::CloseInput);
            self.due = None;
            self.let_finish("it has closed its output and does not exit", standing, now);
            return;
        };
        let client_takes = standing.lines_sent != sent_before || !self.client_closed;
        if standing.is_sending && client_takes {
            // The upstream's last words are still being read; how fast is the client's affair.
            self.expect_other_half(standing, self.grace.max(SETTLE), now);
        } else {
            // Something that it started holds its output open.
            actions.push(Action::Signal(SIGKILL, "ended what an ended upstream left running"));
            self.finish(status, actions);
        }
    }

    fn tick(&mut self, standing: Standing, now: Instant, actions: &mut Vec<Action>) {
        let Some(due) = self.due.filter(|due| due.at <= now) else { return };
        match due.what {
            Next::Settle { lines_sent } => self.settle(lines_sent, standing, now, actions),
            Next::Terminate { why, lines_sent, periods } if standing.is_awaited => {
                // Progress, or another answer, starts the count anew.
                let has_sent = lines_sent != standing.lines_sent;
                let periods = if has_sent { 1 } else { periods + 1 };
                if periods > PERIODS_FOR_ANSWERS {
                    self.terminate(why, now, actions);
                } else {
                    let lines_sent = standing.lines_sent;
                    self.schedule(Next::Terminate { why, lines_sent, periods }, self.grace, now);
                }
            }
            Next::Terminate { why, .. } => self.terminate(why, now, actions),
            Next::Kill => {
                actions.push(Action::Signal(SIGKILL, "it does not end"));
                self.schedule(Next::GiveUp, self.grace, now);
            }
            Next::GiveUp => {
                self.due = None;
                self.abandon("could not be ended".to_owned(), actions);
                actions.push(Action::Finish(None));
            }
        }
    }
}

/// How an upstream ended, as the end of a sentence.
fn description(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => {
            let name = signal_hook::low_level::signal_name(signal).unwrap_or("unknown");
            format!("was ended by signal {signal} ({name})")
        }
        (None, None) => format!("ended ({status})"),
    }
}

#[cfg(test)]
mod tests;
