//! What is written to the log.

use super::Setting;
use crate::config::{
    kind::{Choice, Kind},
    log::FileLevel,
};

pub(super) const SETTINGS: &[Setting] = &[Setting {
    key: "log.file_level",
    default: "\"warn\"",
    meaning: "What is written to `logs/forebay.log` in `FOREBAY_HOME`, besides stderr, which clients hide: one JSON object a line. A file of 1 MiB gets a number; three are kept.",
    kind: Kind::Choice(&[
        Choice {
            word: "off",
            meaning: "nothing, and there is no such file",
            set: |config| config.log_file_level = FileLevel::Off,
        },
        Choice {
            word: "error",
            meaning: "what somebody has to see to",
            set: |config| config.log_file_level = FileLevel::Error,
        },
        Choice {
            word: "warn",
            meaning: "that, and what was passed on though it was meant to be changed",
            set: |config| config.log_file_level = FileLevel::Warn,
        },
        Choice {
            word: "info",
            meaning: "that, and what was kept",
            set: |config| config.log_file_level = FileLevel::Info,
        },
        Choice {
            word: "debug",
            meaning: "that, and a few lines for each call",
            set: |config| config.log_file_level = FileLevel::Debug,
        },
    ]),
}];
