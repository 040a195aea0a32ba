//! Which binary data become links.

use super::Setting;
use crate::config::kind::Kind;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "files.max_bytes",
        default: "\"64 KiB\"",
        meaning: "A file in a result (an image, a sound, an embedded blob, or base64 in a text or in structured content) of more bytes than this, decoded, is kept and linked to.",
        kind: Kind::Bytes {
            from: 1024,
            set: |config, bytes| config.policy.files.max_bytes = bytes,
        },
    },
    Setting {
        key: "files.max_image_bytes",
        default: "0",
        meaning: "The same for images alone; 0 is as `files.max_bytes` says, and 1 KiB is the least.",
        kind: Kind::Bytes {
            from: 0,
            set: |config, bytes| config.policy.files.max_image_bytes = (bytes > 0).then_some(bytes),
        },
    },
    Setting {
        key: "files.max_audio_bytes",
        default: "0",
        meaning: "The same for sounds alone; 0 is as `files.max_bytes` says, and 1 KiB is the least.",
        kind: Kind::Bytes {
            from: 0,
            set: |config, bytes| config.policy.files.max_audio_bytes = (bytes > 0).then_some(bytes),
        },
    },
    Setting {
        key: "files.max_blob_bytes",
        default: "0",
        meaning: "The same for embedded resources alone; 0 is as `files.max_bytes` says, and 1 KiB is the least. What is found in structured content counts as what it is.",
        kind: Kind::Bytes {
            from: 0,
            set: |config, bytes| config.policy.files.max_blob_bytes = (bytes > 0).then_some(bytes),
        },
    },
    Setting {
        key: "files.max_text_bytes",
        default: "0",
        meaning: "The same for text blocks that are base64 or a data URL alone; 0 is as `files.max_bytes` says, and 1 KiB is the least.",
        kind: Kind::Bytes {
            from: 0,
            set: |config, bytes| config.policy.files.max_text_bytes = (bytes > 0).then_some(bytes),
        },
    },
    Setting {
        key: "files.gather_above",
        default: "8",
        meaning: "More files, or more links, than this in one result become a table of links: a dataset whose summary stands in their place.",
        kind: Kind::Number {
            from: 1,
            to: 10_000,
            set: |config, count| {
                config.policy.files.gather_above = usize::try_from(count).unwrap_or(1);
            },
        },
    },
    Setting {
        key: "files.show_images_up_to",
        default: "0",
        meaning: "An image that is kept is also shown, scaled down to this many bytes of base64; 0 shows none.",
        kind: Kind::Bytes {
            from: 0,
            set: |config, bytes| config.policy.files.show_images_up_to = bytes,
        },
    },
];
