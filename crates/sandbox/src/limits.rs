//! What a program may take, and what it is told when it takes more.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Failure;

/// What a program may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long it may run, calls and all.
    pub wall: Duration,
    /// How long it may compute.
    pub cpu: Duration,
    /// What its values may take, in bytes.
    pub memory_bytes: u64,
    /// How long what it logs and what it gives may be, in bytes each.
    pub output_bytes: u64,
    /// How many calls it may make.
    pub max_calls: u64,
    /// How many of its calls run at once; the rest wait.
    pub calls_at_once: usize,
    /// How many programs run at once; the rest wait.
    pub runs_at_once: usize,
    /// How long a worker waits for something to do before it ends.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(60),
            cpu: Duration::from_secs(30),
            memory_bytes: 256_000_000,
            output_bytes: 10_000_000,
            max_calls: 1000,
            calls_at_once: 16,
            runs_at_once: 4,
            idle: Duration::from_secs(60),
        }
    }
}

/// The limit that a program has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Wall,
    Cpu,
    Memory,
    Stack,
    Calls,
    /// What it gives is too long. What it logs is cut instead.
    Value {
        bytes: u64,
    },
}

impl Stop {
    /// What a program is told that has come to this limit.
    pub(crate) fn failure(self, limits: &Limits, wall: Duration) -> Failure {
        match self {
            Self::Wall if wall < limits.wall => Failure::new(format!(
                "The program was stopped after {} s, as timeout_seconds says; code.wall_seconds would \
                 let it run for {} s.",
                wall.as_secs_f64(),
                limits.wall.as_secs_f64()
            )),
            Self::Wall => Failure::new(format!(
                "The program was stopped after {} s, the most that code.wall_seconds lets it run.",
                wall.as_secs_f64()
            ))
            .with_hint(
                "Make independent calls at once with Promise.all, or do less in one program.",
            ),
            Self::Cpu => Failure::new(format!(
                "The program was stopped after {} s of computing, the most that code.cpu_seconds \
                 allows.",
                limits.cpu.as_secs_f64()
            ))
            .with_hint(
                "Look for a loop that does not end; leave filtering to datasets.query(sql).",
            ),
            Self::Memory => Failure::new(format!(
                "The program took more memory than the {} bytes that code.memory_bytes allows.",
                limits.memory_bytes
            ))
            .with_hint("Work on less at a time, or save parts with datasets.save(name, value)."),
            Self::Stack => Failure::new(
                "The program's calls are nested too deeply: the stack is full. It holds some \
                 thousand calls, whatever code.memory_bytes is.",
            )
            .with_hint("Look for a function that calls itself without end, or use a loop."),
            Self::Calls => Failure::new(format!(
                "The program made more than the {} calls that code.max_calls allows.",
                limits.max_calls
            ))
            .with_hint("Ask for more in each call, or do the rest in another program."),
            Self::Value { bytes } => Failure::new(format!(
                "The program's value has {bytes} bytes, more than the {} that code.output_bytes \
                 allows.",
                limits.output_bytes
            ))
            .with_hint("Save it with await datasets.save(name, value), and return a part of it."),
        }
    }

    /// True if the worker is of no more use: memory that was taken may not be given back.
    pub(crate) fn is_spent(self) -> bool {
        match self {
            Self::Wall | Self::Cpu | Self::Memory => true,
            Self::Stack | Self::Calls | Self::Value { .. } => false,
        }
    }
}
