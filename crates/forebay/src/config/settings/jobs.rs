//! How many calls outlive a client's patience, and for how long.

use std::time::Duration;

use super::Setting;
use crate::config::kind::Kind;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "jobs.argument",
        default: "false",
        meaning: "Whether every tool gains an argument `job_after`: after how many seconds its call becomes a job, which `get_run_status` tells of. The server does not see it. What a tool has itself stays its own.",
        kind: Kind::Switch(|config, on| config.jobs.argument = on),
    },
    Setting {
        key: "jobs.expire_seconds",
        default: "3600",
        meaning: "For how long the result of a job is told after its end. What was saved as a dataset stays as long as datasets do.",
        kind: Kind::Number {
            from: 1,
            to: 31_536_000,
            set: |config, seconds| config.jobs.lifetime = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "jobs.max_running",
        default: "16",
        meaning: "How many jobs run at once. A call for which there is no room is waited for as any other; one that is to be a job at once is refused, and the model is told to wait.",
        kind: Kind::Number {
            from: 1,
            to: 1_000,
            set: |config, jobs| config.jobs.max_running = usize::try_from(jobs).unwrap_or(1),
        },
    },
    Setting {
        key: "jobs.max_per_session",
        default: "8",
        meaning: "How many of them are of one session, so that others have room, too.",
        kind: Kind::Number {
            from: 1,
            to: 1_000,
            set: |config, jobs| config.jobs.max_per_session = usize::try_from(jobs).unwrap_or(1),
        },
    },
    Setting {
        key: "jobs.max_wait_seconds",
        default: "50",
        meaning: "How many seconds `get_run_status` waits for the end of a job, at most. Most clients give up a call after a minute.",
        kind: Kind::Number {
            from: 0,
            to: 3_600,
            set: |config, seconds| config.jobs.max_wait = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "jobs.max_run_seconds",
        default: "86400",
        meaning: "How many seconds a job may run. One that runs for longer is ended and has failed.",
        kind: Kind::Number {
            from: 1,
            to: 31_536_000,
            set: |config, seconds| config.jobs.max_run = Duration::from_secs(seconds),
        },
    },
];
