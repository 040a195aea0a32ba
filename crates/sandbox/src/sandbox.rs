//! Runs programs in workers, starts them when there is something to run, and ends them when they do not
//! heed.

mod process;
mod turns;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use self::{
    process::{Idle, Worker},
    turns::Turns,
};
use crate::{Failure, Host, Limits, SandboxError, worker::Ask};

/// How often whoever runs a program is asked whether it is still wanted.
const TICK: Duration = Duration::from_millis(5);

/// What a worker may take beyond a limit until it is ended, and another is started.
const SLACK: Duration = Duration::from_secs(5);

/// Runs programs, in processes of their own.
pub struct Sandbox {
    limits: Limits,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Workers that have nothing to do.
    idle: Arc<Idle>,
    turns: Turns,
}

/// How a program went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// What it gives, as JSON; `None` if that is undefined.
    pub value: Option<String>,
    /// What of its value JSON could not hold, and what stands there instead.
    pub notes: Vec<String>,
    /// The texts that it logged.
    pub logged: Vec<String>,
    /// How much of them was left out beyond `code.output_bytes`.
    pub left_out_bytes: u64,
    /// How many calls it made.
    pub calls: u64,
    /// Why it did not come to its end.
    pub failure: Option<Failure>,
}

impl Sandbox {
    /// A sandbox whose workers are started as `program arguments…`, which must call [`crate::serve`].
    pub fn new(limits: Limits, program: PathBuf, arguments: Vec<OsString>) -> Self {
        let turns = Turns::new(limits.runs_at_once);
        Self { limits, program, arguments, idle: Arc::default(), turns }
    }

    /// What a program may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How long a program may wait until those before it have ended.
    fn longest_wait(&self) -> Duration {
        self.limits.wall + SLACK
    }

    /// How long [`Self::run`] may take: to wait for a turn, and to run.
    pub fn longest_run(&self) -> Duration {
        self.longest_wait() + self.limits.wall + SLACK
    }

    /// Runs a program to its end, for `wall` at most, once there is a turn for it. What the program itself does wrong is told in the
    /// [`Run`].
    pub fn run(
        &self,
        source: &str,
        wall: Duration,
        host: &Arc<dyn Host>,
    ) -> Result<Run, SandboxError> {
        let _turn = self.turns.take(host.as_ref(), self.longest_wait())?;
        let wall = wall.min(self.limits.wall);
        let ask = Ask { source: source.to_owned(), wall, limits: self.limits.clone() };
        // One that has waited may have ended just now. A new one has not.
        if let Some(mut worker) = self.idle.pop() {
            match worker.run(&ask, host) {
                Err(SandboxError::Ended) if !worker.has_begun() => {}
                outcome => return self.done(worker, outcome),
            }
        }
        let mut worker = Worker::start(
            &self.program,
            &self.arguments,
            self.max_frame(),
            Arc::downgrade(&self.idle),
        )
        .map_err(SandboxError::NotStarted)?;
        let outcome = worker.run(&ask, host);
        self.done(worker, outcome)
    }

    /// What a worker may say at once: a call's arguments, its output, or how a program ended.
    fn max_frame(&self) -> u64 {
        const BESIDES: u64 = 1 << 20;
        self.limits.memory_bytes.max(self.limits.output_bytes).saturating_add(BESIDES)
    }

    /// Keeps a worker for the next program, if it is as good as new.
    fn done(
        &self,
        worker: Worker,
        outcome: Result<Run, SandboxError>,
    ) -> Result<Run, SandboxError> {
        if worker.is_free() {
            self.idle.push(worker);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_has_waited_as_long_as_it_may_can_run_as_long_as_it_may() {
        let sandbox = Sandbox::new(Limits::default(), PathBuf::new(), Vec::new());
        let wall = sandbox.limits().wall;
        // Whoever is before it may run as long.
        assert!(sandbox.longest_wait() >= wall);
        assert!(sandbox.longest_run() >= sandbox.longest_wait() + wall);
    }
}
