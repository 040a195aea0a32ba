//! What follows when one of the parties ends. A state machine without I/O or clock.
//!
//! ```text
//! client closes ─▶ upstream sees the end of its input ─▶ grace period ─▶ SIGTERM ─▶ SIGKILL
//! upstream ends ─▶ its exit and the end of its output, in either order ─▶ calls answered ─▶ over
//! a signal to us ─▶ the same signal to the upstream ─▶ grace period ─▶ SIGKILL
//! ```
//!
//! Nobody is hurried while there is a reason to wait: a client that still reads awaits an answer
//! (`echo CALL | forebay wrap -- npx …` closes at once and wants its answer all the same), it is
//! slower to read than the upstream is to write, or the chain is at work for it. A signal to us, or a
//! client that reads no more, ends that.

use std::{
    process::ExitStatus,
    time::{Duration, Instant},
};

use forebay_system::signals::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};

use crate::upstream::child::how_it_ended;

/// How far apart an upstream's exit and the end of its output may lie and still be one event.
const SETTLE: Duration = Duration::from_secs(1);

/// How many grace periods a call that is under way may take after its client has closed.
const PERIODS_FOR_ANSWERS: u32 = 30;

/// The shortest grace period.
const SHORTEST: Duration = Duration::from_millis(50);
/// How long a process may take to be gone after SIGKILL.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// How things stand when an event is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Standing {
    /// It changes whenever the client has been sent something.
    pub(super) lines_sent: u64,
    /// A client that still reads waits for an answer.
    pub(super) is_awaited: bool,
    /// Something waits for the client to read it.
    pub(super) is_backed_up: bool,
    /// The chain has something to decide; it does so in time.
    pub(super) is_consulting: bool,
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
    output: Output,
    abandoned: bool,
    /// We have been told to end, by a signal.
    told_to_end: bool,
    due: Option<Due>,
}

/// The way from the upstream to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Open,
    /// The upstream has closed it.
    Closed,
    /// Nobody reads it any more.
    Unread,
}

#[derive(Debug, Clone, Copy)]
struct Due {
    at: Instant,
    what: Next,
    /// What the client had been sent when this was scheduled.
    lines_sent: u64,
    /// How many times this has been put off without anything having been sent.
    periods: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The other half of the upstream's end should have come.
    Settle,
    /// A client that has closed, or an upstream that takes no input, has had the time to finish.
    Terminate {
        why: &'static str,
    },
    Kill,
    GiveUp,
}

impl Supervisor {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            // Without any, waiting would be spinning.
            grace: grace.max(SHORTEST),
            exit: None,
            output: Output::Open,
            abandoned: false,
            told_to_end: false,
            due: None,
        }
    }

    /// When [`Event::Tick`] is expected at the latest.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.due.map(|due| due.at)
    }

    /// True once we have been told to end.
    pub(super) fn was_told_to_end(&self) -> bool {
        self.told_to_end
    }

    /// Takes note of an event.
    pub(super) fn on(&mut self, event: Event, standing: Standing, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::ClientClosed | Event::ClientHungUp => {
                self.let_finish("the client has closed", 0, standing, now);
            }
            Event::ClientGone => {
                // Nobody reads the rest of the upstream's output any more.
                self.output = Output::Unread;
                actions.push(Action::CloseInput);
                match self.exit {
                    Some(_) => self.upstream_ends(standing, now, &mut actions),
                    None => {
                        self.let_finish("the client is gone", PERIODS_FOR_ANSWERS, standing, now);
                    }
                }
            }
            Event::InputClosed => {
                // What it has not taken by now it will not answer.
                self.let_finish("it takes no more input", PERIODS_FOR_ANSWERS, standing, now);
            }
            Event::OutputClosed => {
                if self.output == Output::Open {
                    self.output = Output::Closed;
                }
                self.upstream_ends(standing, now, &mut actions);
            }
            Event::Exited(status) => {
                self.exit = Some(status);
                self.upstream_ends(standing, now, &mut actions);
            }
            Event::Signal(signal) => {
                actions.push(Action::Signal(signal, "passed on a signal"));
                let ends = matches!(signal, SIGTERM | SIGINT | SIGHUP | SIGQUIT);
                // Repeating it does not put off what follows.
                if ends && !self.told_to_end {
                    self.told_to_end = true;
                    let what = if self.exit.is_some() { Next::Settle } else { Next::Kill };
                    self.schedule(what, 0, self.grace, standing, now);
                }
            }
            Event::Tick => self.tick(standing, now, &mut actions),
        }
        actions
    }

    /// Gives the upstream the grace period, unless its end is already in sight.
    fn let_finish(&mut self, why: &'static str, periods: u32, standing: Standing, now: Instant) {
        if self.due.is_none() {
            self.schedule(Next::Terminate { why }, periods, self.grace, standing, now);
        }
    }

    fn schedule(
        &mut self,
        what: Next,
        periods: u32,
        delay: Duration,
        standing: Standing,
        now: Instant,
    ) {
        let lines_sent = standing.lines_sent;
        self.due = Some(Due { at: now + delay, what, lines_sent, periods });
    }

    fn upstream_ends(&mut self, standing: Standing, now: Instant, actions: &mut Vec<Action>) {
        if let Some(status) = self.exit.filter(|_| self.output != Output::Open) {
            return self.finish(status, standing, actions);
        }
        match &mut self.due {
            // What is due already is not put off; but there is nobody left to kill.
            Some(due) if matches!(due.what, Next::Kill | Next::GiveUp) => {
                if self.exit.is_some() {
                    due.what = Next::Settle;
                }
            }
            _ => self.schedule(Next::Settle, 0, SETTLE, standing, now),
        }
    }

    fn finish(&mut self, status: ExitStatus, standing: Standing, actions: &mut Vec<Action>) {
        self.due = None;
        // Told to end in the middle of a line that the client does not read, there is no use in
        // saying more: that line may be the very answer.
        let is_cut_short = standing.is_backed_up && self.output == Output::Open;
        if !is_cut_short {
            self.abandon(how_it_ended(status), actions);
        }
        actions.push(Action::Finish(Some(status)));
    }

    fn abandon(&mut self, how: String, actions: &mut Vec<Action>) {
        if !self.abandoned {
            self.abandoned = true;
            actions.push(Action::Abandon(how));
        }
    }

    fn tick(&mut self, standing: Standing, now: Instant, actions: &mut Vec<Action>) {
        let Some(due) = self.due.filter(|due| due.at <= now) else { return };
        // Progress, or another answer, starts the count anew.
        let has_sent = due.lines_sent != standing.lines_sent;
        let periods = if has_sent { 0 } else { due.periods + 1 };
        match due.what {
            Next::Settle | Next::Terminate { .. }
                if self.has_reason_to_wait(periods, standing)
                    || (due.what == Next::Settle && has_sent && !self.told_to_end) =>
            {
                self.schedule(due.what, periods, self.grace, standing, now);
            }
            Next::Settle => self.settle(standing, now, actions),
            Next::Terminate { why } => {
                actions.push(Action::CloseInput);
                actions.push(Action::Signal(SIGTERM, why));
                self.schedule(Next::Kill, 0, self.grace, standing, now);
            }
            Next::Kill => {
                actions.push(Action::Signal(SIGKILL, "it does not end"));
                self.schedule(Next::GiveUp, 0, AFTER_KILL, standing, now);
            }
            Next::GiveUp => {
                self.due = None;
                self.abandon("could not be ended".to_owned(), actions);
                actions.push(Action::Finish(None));
            }
        }
    }

    fn has_reason_to_wait(&self, periods: u32, standing: Standing) -> bool {
        // An answer may still come, as long as the upstream is there.
        let may_be_answered = self.exit.is_none()
            && self.output == Output::Open
            && standing.is_awaited
            && periods < PERIODS_FOR_ANSWERS;
        // How fast a client reads is its own affair; if it goes, we are told, and then nobody wants
        // what the chain may still make of results.
        let is_read = self.output != Output::Unread;
        let has_work = is_read && (standing.is_backed_up || standing.is_consulting);
        !self.told_to_end && (may_be_answered || has_work)
    }

    /// Only one half of the upstream's end has come.
    fn settle(&mut self, standing: Standing, now: Instant, actions: &mut Vec<Action>) {
        if let Some(status) = self.exit {
            // Something that it started holds its output open, or we were told to end.
            actions.push(Action::Signal(SIGKILL, "ended what an ended upstream left running"));
            self.finish(status, standing, actions);
        } else {
            self.abandon("closed its output without exiting".to_owned(), actions);
            actions.push(Action::CloseInput);
            self.due = None;
            self.let_finish("it has closed its output and does not exit", 0, standing, now);
        }
    }
}

#[cfg(test)]
mod tests;
