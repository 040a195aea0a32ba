//! What a program may take and do.

use std::time::Duration;

use forebay_tools::Destructive;

use super::Setting;
use crate::config::kind::Kind;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "code.wall_seconds",
        default: "60",
        meaning: "How many seconds a program of `run_code` may run, its calls included. A call of `run_code` may ask for less.",
        kind: Kind::Number {
            from: 1,
            to: 3_600,
            set: |config, seconds| config.code.wall = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "code.cpu_seconds",
        default: "30",
        meaning: "How many seconds a program may compute.",
        kind: Kind::Number {
            from: 1,
            to: 3_600,
            set: |config, seconds| config.code.cpu = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "code.memory_bytes",
        default: "\"256 MB\"",
        meaning: "How much memory a program's values may take. A quarter of it is what one result may take.",
        kind: Kind::Bytes {
            from: 16_000_000,
            set: |config, bytes| config.code.memory_bytes = bytes,
        },
    },
    Setting {
        key: "code.output_bytes",
        default: "\"10 MB\"",
        meaning: "How long what a program logs may be, and what it returns.",
        kind: Kind::Bytes { from: 1_000, set: |config, bytes| config.code.output_bytes = bytes },
    },
    Setting {
        key: "code.max_calls",
        default: "1000",
        meaning: "How many calls a program may make.",
        kind: Kind::Number {
            from: 1,
            to: 1_000_000,
            set: |config, calls| config.code.max_calls = calls,
        },
    },
    Setting {
        key: "code.calls_at_once",
        default: "16",
        meaning: "How many calls of a program run at once; the others wait.",
        kind: Kind::Number {
            from: 1,
            to: 1_000,
            set: |config, calls| {
                config.code.calls_at_once = usize::try_from(calls).unwrap_or(1);
            },
        },
    },
    Setting {
        key: "code.runs_at_once",
        default: "4",
        meaning: "How many programs run at once, each in a process of its own; the others wait.",
        kind: Kind::Number {
            from: 1,
            to: 64,
            set: |config, runs| {
                config.code.runs_at_once = usize::try_from(runs).unwrap_or(1);
            },
        },
    },
    Setting {
        key: "code.idle_time",
        default: "60",
        meaning: "After how many seconds without a program the process for them ends.",
        kind: Kind::Number {
            from: 1,
            to: 86_400,
            set: |config, seconds| config.code.idle = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "code.destructive_tools",
        default: "false",
        meaning: "Whether a program may call tools that their server marks as destructive (`destructiveHint`). A client that asks a person before such a call is not asked for those of a program.",
        kind: Kind::Switch(|config, on| {
            config.destructive = if on { Destructive::Allowed } else { Destructive::Refused };
        }),
    },
];
