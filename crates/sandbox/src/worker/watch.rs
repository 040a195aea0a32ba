//! Ends a program that does not heed its limits, or that nobody waits for, and the process with it.

use std::{
    fs::File,
    process,
    time::{Duration, Instant},
};

use forebay_system::{pipes, process::cpu_time};
use parking_lot::{Condvar, Mutex};

use super::{Ask, output::Output};
use crate::{Limits, engine::Ending, limits::Stop};

/// How long a program may take beyond its limits: the engine is interrupted much sooner.
const GRACE: Duration = Duration::from_millis(100);

/// How often it is looked how long the process has computed, and whether anybody is there.
const LOOK: Duration = Duration::from_millis(200);

pub(super) struct Watch {
    /// Where whoever asked is at the other end.
    input: File,
    watched: Mutex<Option<Watched>>,
    changed: Condvar,
}

struct Watched {
    limits: Limits,
    wall: Duration,
    deadline: Instant,
    max_cpu: Duration,
}

impl Watch {
    pub(super) fn new(input: File) -> Self {
        Self { input, watched: Mutex::default(), changed: Condvar::new() }
    }

    pub(super) fn begin(&self, ask: &Ask) {
        *self.watched.lock() = Some(Watched {
            limits: ask.limits.clone(),
            wall: ask.wall,
            deadline: Instant::now() + ask.wall + GRACE,
            max_cpu: cpu_time() + ask.limits.cpu + GRACE,
        });
        self.changed.notify_all();
    }

    pub(super) fn end(&self) {
        *self.watched.lock() = None;
    }

    /// Watches whatever runs, for ever.
    pub(super) fn time(&self, output: &Output) -> ! {
        let mut watched = self.watched.lock();
        loop {
            let Some(run) = &*watched else {
                self.changed.wait(&mut watched);
                continue;
            };
            if pipes::is_hung_up(&self.input) {
                process::exit(0);
            }
            let left = run.deadline.saturating_duration_since(Instant::now());
            let stop = if left.is_zero() {
                Stop::Wall
            } else if cpu_time() >= run.max_cpu {
                Stop::Cpu
            } else {
                self.changed.wait_for(&mut watched, left.min(LOOK));
                continue;
            };
            let failure = Some(stop.failure(&run.limits, run.wall));
            output.end(&Ending { failure, is_spent: true, ..Ending::default() });
            process::exit(0);
        }
    }
}
