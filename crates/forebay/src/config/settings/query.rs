//! What a query may take.

use std::time::Duration;

use super::Setting;
use crate::config::kind::Kind;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "query.memory_limit",
        default: "\"1 GB\"",
        meaning: "How much memory a query may use before it writes to disk.",
        kind: Kind::Bytes {
            from: 64_000_000,
            set: |config, bytes| config.query.memory_bytes = bytes,
        },
    },
    Setting {
        key: "query.threads",
        default: "4",
        meaning: "How many threads a query may use; never more than there are cores.",
        kind: Kind::Number {
            from: 1,
            to: 256,
            set: |config, threads| {
                config.query.threads = usize::try_from(threads).unwrap_or(1);
            },
        },
    },
    Setting {
        key: "query.spill_limit",
        default: "\"10 GB\"",
        meaning: "How much a query may write to disk where the memory is not enough.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.query.spill_bytes = bytes },
    },
    Setting {
        key: "query.time_limit",
        default: "30",
        meaning: "How many seconds a query may run.",
        kind: Kind::Number {
            from: 1,
            to: 100,
            set: |config, seconds| config.query.time = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "query.idle_time",
        default: "60",
        meaning: "After how many seconds without a query its memory is given back.",
        kind: Kind::Number {
            from: 1,
            to: 86_400,
            set: |config, seconds| config.query.idle = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "query.max_rows",
        default: "1000000",
        meaning: "How many rows the result of a query may have that becomes a dataset of its own.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, rows| config.query.max_rows = rows,
        },
    },
    Setting {
        key: "query.max_bytes",
        default: "\"1 GB\"",
        meaning: "How much space the result of a query may take that becomes a dataset of its own.",
        kind: Kind::Bytes { from: 1, set: |config, bytes| config.query.max_bytes = bytes },
    },
];
