//! How what is kept can be had: by reference, as resources, over HTTP, on the page.

use super::Setting;
use crate::config::kind::Kind;

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "references.enabled",
        default: "true",
        meaning: "Whether a reference to a dataset among the arguments of a call (`forebay://dataset/ID`) is replaced by what the dataset holds before the call reaches the server.",
        kind: Kind::Switch(|config, on| config.policy.references.is_enabled = on),
    },
    Setting {
        key: "references.max_bytes",
        default: "\"50 MB\"",
        meaning: "How many bytes the references of one call may stand for.",
        kind: Kind::Bytes {
            from: 1,
            set: |config, bytes| config.policy.references.max_bytes = bytes,
        },
    },
    Setting {
        key: "references.shares_disk",
        default: "false",
        meaning: "Whether all servers can read files of this machine, as this user. Then a parameter that takes the path of a file gets the path of one with what a reference stands for. For a single server write `shares_disk` there.",
        kind: Kind::Switch(|config, on| config.policy.references.shares_disk = on),
    },
    Setting {
        key: "resources.enabled",
        default: "true",
        meaning: "Whether what was kept can be read as resources of the server (`resources/read`), and is listed among them where the tools are.",
        kind: Kind::Switch(|config, on| config.resources.is_enabled = on),
    },
    Setting {
        key: "resources.max_bytes",
        default: "\"10 MB\"",
        meaning: "How many bytes of a resource are read at once; more is read in ranges (`?bytes=FROM-TO`).",
        kind: Kind::Bytes { from: 1, set: |config, bytes| config.resources.max_bytes = bytes },
    },
    Setting {
        key: "outputs.enabled",
        default: "true",
        meaning: "Whether `serve` gives URLs under which what was kept can be fetched for a while. `wrap` and `gateway` do so with `--outputs`.",
        kind: Kind::Switch(|config, on| config.outputs.is_enabled = on),
    },
    Setting {
        key: "outputs.base_url",
        default: "\"\"",
        meaning: "What the URLs of `serve` begin with, where clients reach it through something else, such as \"https://forebay.example.com\". If it is not set, it is the address that is listened on; if that is `0.0.0.0` or `[::]`, there are no URLs without it.",
        kind: Kind::AddressOrNone(|config, url| config.outputs.base_url = url),
    },
    Setting {
        key: "outputs.link_seconds",
        default: "3600",
        meaning: "For how many seconds a URL is good, at least: up to a quarter more, so that the same URL is given for a while.",
        kind: Kind::Number {
            from: 1,
            to: 31_536_000,
            set: |config, seconds| config.outputs.link_seconds = seconds,
        },
    },
    Setting {
        key: "outputs.max_bytes",
        default: "\"10 MB\"",
        meaning: "How long what is fetched by URL may be. Longer ones have no URL; they are read through MCP, in parts.",
        kind: Kind::Bytes { from: 1, set: |config, bytes| config.outputs.max_bytes = bytes },
    },
    Setting {
        key: "outputs.requests_per_minute",
        default: "600",
        meaning: "How many requests for URLs a client may make in a minute, of which a sixth may come at once. A client is an IPv4 address or an IPv6 network (/64). 0 sets no limit.",
        kind: Kind::Number {
            from: 0,
            to: 1_000_000,
            set: |config, requests| {
                config.outputs.requests_per_minute = u32::try_from(requests).unwrap_or(u32::MAX);
            },
        },
    },
    Setting {
        key: "page.enabled",
        default: "true",
        meaning: "Whether `serve` has a page at `/` on which people look at what was kept and what it saved. It is seen with the token that clients show, or, if they show none, by the address that is told at the start. `forebay page` shows the same without a server.",
        kind: Kind::Switch(|config, on| config.page = on),
    },
];
