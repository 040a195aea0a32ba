//! What is kept, where, and for how long.

use forebay_intercept::{OnStoreFailure, OutputSchema, Tokenizer};

use super::Setting;
use crate::config::kind::{Choice, Kind};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "enabled",
        default: "true",
        meaning: "Whether results are kept at all. If not, every message passes as it came.",
        kind: Kind::Switch(|config, on| config.enabled = on),
    },
    Setting {
        key: "threshold",
        default: "8192",
        meaning: "A result of more tokens than this is kept. If it is not set, known clients that take less have a limit of their own.",
        kind: Kind::Number {
            from: 1,
            to: u64::MAX,
            set: |config, tokens| config.policy.threshold = Some(tokens),
        },
    },
    Setting {
        key: "tokenizer",
        default: "\"o200k\"",
        meaning: "How tokens are counted.",
        kind: Kind::Choice(&[
            Choice {
                word: "o200k",
                meaning: "as today's models do",
                set: |config| config.policy.tokenizer = Tokenizer::O200k,
            },
            Choice {
                word: "estimate",
                meaning: "a token for every three bytes: quicker, and may be half of the truth",
                set: |config| config.policy.tokenizer = Tokenizer::Estimate,
            },
        ]),
    },
    Setting {
        key: "excluded_tools",
        default: "[]",
        meaning: "Tools whose results always pass. `*` stands for any characters, `?` for one. In the variable, commas stand between them.",
        kind: Kind::Patterns(|config, patterns| config.policy.excluded_tools = patterns),
    },
    Setting {
        key: "summary_tokens",
        default: "600",
        meaning: "How many tokens a summary may have.",
        kind: Kind::Number {
            from: 100,
            to: 2_000,
            set: |config, tokens| {
                config.policy.summary_tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
            },
        },
    },
    Setting {
        key: "output_schema",
        default: "\"drop\"",
        meaning: "What becomes of the `outputSchema` of a tool whose result may be replaced: strict clients hold results against it.",
        kind: Kind::Choice(&[
            Choice {
                word: "drop",
                meaning: "it is left out of the list of tools",
                set: |config| config.policy.output_schema = OutputSchema::Drop,
            },
            Choice {
                word: "widen",
                meaning: "it allows what stands in the place of a large result, too",
                set: |config| config.policy.output_schema = OutputSchema::Widen,
            },
        ]),
    },
    Setting {
        key: "persist_location",
        default: "\"~/.forebay\"",
        meaning: "The directory for what is kept. If it is not set, `FOREBAY_HOME` is used, if that is.",
        kind: Kind::Directory(|config, path| config.persist_location = path),
    },
    Setting {
        key: "cleanup_after_days",
        default: "30",
        meaning: "How long a result is kept that is not pinned. 0 keeps all.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, days| config.cleanup_after_days = days,
        },
    },
    Setting {
        key: "max_store_bytes",
        default: "\"20 GB\"",
        meaning: "How much space all results may take; the oldest go first that are not pinned, and the newest stays. 0 sets no limit. If it is not set, it is a tenth of the disk if that is less. What is made of results for a tool's history (`united/`) comes on top.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.max_store_bytes = Some(bytes) },
    },
    Setting {
        key: "max_spool_bytes",
        default: "\"4 GB\"",
        meaning: "How much disk the messages may take that are too long for memory while they pass, all together. One for which there is no room passes unread; where it has to be read, in front of an HTTP client, its request is answered with an error.",
        kind: Kind::Bytes { from: 0, set: |config, bytes| config.max_spool_bytes = bytes },
    },
    Setting {
        key: "compress_after_days",
        default: "1",
        meaning: "When results are compressed. 0 compresses none.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, days| config.compress_after_days = days,
        },
    },
    Setting {
        key: "wait_for_disk",
        default: "false",
        meaning: "Whether a result must be safe against a loss of power before the summary goes out. If not, it is a moment later.",
        kind: Kind::Switch(|config, on| config.wait_for_disk = on),
    },
    Setting {
        key: "on_store_failure",
        default: "\"pass\"",
        meaning: "What becomes of a large result that cannot be kept, on a full disk for one.",
        kind: Kind::Choice(&[
            Choice {
                word: "pass",
                meaning: "it passes as it came, and the log says why",
                set: |config| config.policy.on_store_failure = OnStoreFailure::Pass,
            },
            Choice {
                word: "error",
                meaning: "the model gets an error that says why",
                set: |config| config.policy.on_store_failure = OnStoreFailure::Error,
            },
        ]),
    },
    Setting {
        key: "keep_arguments",
        default: "true",
        meaning: "Whether the arguments of a call are kept with its result, so that results can be told apart. What looks like a secret is masked, by its name (`password`, `api_key`) or its form (`Bearer …`).",
        kind: Kind::Switch(|config, on| config.policy.keep_arguments = on),
    },
    Setting {
        key: "ca_file",
        default: "\"\"",
        meaning: "A file with certificates (PEM) that are trusted besides the system's, when a server is reached by `https`: those of a private authority, or of a proxy that looks into TLS. \"\" is none.",
        kind: Kind::File(|config, path| config.ca_file = path),
    },
    Setting {
        key: "traces_url",
        default: "\"\"",
        meaning: "Where a span for each tool call is sent, as OpenTelemetry's OTLP over HTTP: such as \"http://localhost:4318/v1/traces\". A call that has `traceparent` in its `_meta` belongs to that trace. \"\" is nowhere.",
        kind: Kind::AddressOrNone(|config, address| config.traces_url = address),
    },
    Setting {
        key: "schema_inference.sample_size",
        default: "0",
        meaning: "How many records are looked at to describe the fields, from the first on. 0 looks at all.",
        kind: Kind::Number {
            from: 0,
            to: u64::MAX,
            set: |config, records| config.policy.schema_inference.sample_size = records,
        },
    },
    Setting {
        key: "schema_inference.type_detection",
        default: "true",
        meaning: "Whether strings are told apart: timestamps, dates, URLs and the like.",
        kind: Kind::Switch(|config, on| config.policy.schema_inference.type_detection = on),
    },
];
