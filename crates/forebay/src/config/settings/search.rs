//! What is found again, and by which means.

use std::time::Duration;

use super::Setting;
use crate::config::{
    kind::{Choice, Kind},
    search::Embedding,
};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "search.enabled",
        default: "true",
        meaning: "Whether what is kept is indexed, after the reply, to be found by its words and its meaning.",
        kind: Kind::Switch(|config, on| config.search.is_enabled = on),
    },
    Setting {
        key: "search.quiet_seconds",
        default: "2",
        meaning: "What is kept is indexed once nothing else has been kept for so many seconds.",
        kind: Kind::Number {
            from: 0,
            to: 3_600,
            set: |config, seconds| config.search.quiet = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "search.max_passages",
        default: "2000",
        meaning: "How many passages of a dataset are found by their words. Of one that has more, some are chosen, spread over the whole.",
        kind: Kind::Number {
            from: 1,
            to: 4_096,
            set: |config, count| {
                config.search.max_passages = usize::try_from(count).unwrap_or(usize::MAX);
            },
        },
    },
    Setting {
        key: "search.max_vectors",
        default: "64",
        meaning: "How many of them are found by their meaning, too. Each takes the embedder some hundredths of a second, at the lowest priority.",
        kind: Kind::Number {
            from: 0,
            to: 4_096,
            set: |config, count| {
                config.search.max_vectors = usize::try_from(count).unwrap_or(usize::MAX);
            },
        },
    },
    Setting {
        key: "search.idle_time",
        default: "60",
        meaning: "How many seconds after the last search its memory, and the embedder's process, are given back.",
        kind: Kind::Number {
            from: 1,
            to: 86_400,
            set: |config, seconds| config.search.idle = Duration::from_secs(seconds),
        },
    },
    Setting {
        key: "search.embedder",
        default: "\"inside\"",
        meaning: "What makes vectors of texts, by which they are found by their meaning.",
        kind: Kind::Choice(&[
            Choice {
                word: "inside",
                meaning: "the model that is part of the program; nothing leaves the machine",
                set: |config| config.search.embedder = Embedding::Inside,
            },
            Choice {
                word: "service",
                meaning: "the service at `search.embedder_url`, which gets the texts of what is kept",
                set: |config| config.search.embedder = Embedding::Service,
            },
            Choice {
                word: "none",
                meaning: "nothing: what is kept is found by its words alone",
                set: |config| config.search.embedder = Embedding::None,
            },
        ]),
    },
    Setting {
        key: "search.embedder_url",
        default: "\"\"",
        meaning: "Where a service makes vectors that is asked as OpenAI's is, with or without `/v1` at the end: such as \"http://localhost:11434/v1\".",
        kind: Kind::AddressOrNone(|config, address| config.search.embedder_url = address),
    },
    Setting {
        key: "search.embedder_model",
        default: "\"\"",
        meaning: "What that service calls the model. After a change all vectors are made again.",
        kind: Kind::NameOrNone(|config, name| config.search.embedder_model = name),
    },
    Setting {
        key: "search.embedder_key_variable",
        default: "\"\"",
        meaning: "The variable of the environment that holds the key for that service, such as \"OPENAI_API_KEY\". \"\" is none.",
        kind: Kind::NameOrNone(|config, name| config.search.embedder_key_variable = name),
    },
    Setting {
        key: "search.chroma_url",
        default: "\"\"",
        meaning: "Where a Chroma server is, such as \"http://localhost:8000\", that keeps the vectors of what was kept, in its collection `mcp_artifacts`; several machines may share it. `MCP_GATEWAY_CHROMA_URL` says the same. A token that it wants is taken from `FOREBAY_CHROMA_TOKEN`. \"\" keeps them in the store.",
        kind: Kind::AddressOrNone(|config, url| config.search.chroma_url = url),
    },
];
