//! The ways from the clients to an upstream: directly, or through one of several proxies.

use std::process::Command;

use forebay_testkit::{
    http::{Era, HttpPeer},
    programs, real,
};

use crate::common::nginx;

const FASTMCP: &str = "4.1.2";

/// A way from the clients to an upstream.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Direct,
    /// What many put in front of their servers.
    Nginx,
    /// hyper's server and hyper's client and nothing else.
    BareHyper,
    /// `forebay serve --url`.
    Forebay,
    /// `forebay serve -- COMMAND`: the fixture, as a child.
    Hosted,
    FastMcp,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::BareHyper => "bare hyper",
            Self::Forebay => "serve --url",
            Self::Hosted => "serve -- COMMAND",
            Self::FastMcp => "fastmcp",
        }
    }

    /// Starts what stands in front of `upstream`; `None` if it cannot be had.
    pub(crate) fn start(self, upstream: &HttpPeer, era: Era) -> Option<HttpPeer> {
        let mut command = match self {
            Self::Direct => return None,
            Self::Nginx => return nginx(upstream),
            Self::BareHyper => {
                let mut command = Command::new(programs::bare_proxy());
                command.arg(upstream.address().to_string());
                command
            }
            Self::Forebay => {
                let mut command = forebay_serve();
                command.arg("--url").arg(upstream.url());
                command
            }
            Self::Hosted => {
                let mut command = forebay_serve();
                command.arg("--").arg(programs::fixture_upstream());
                command
            }
            Self::FastMcp => {
                let mut command = Command::new(real::python_with("fastmcp", FASTMCP)?);
                let mode = match era {
                    Era::Legacy => "legacy",
                    Era::Modern => "2026-07-28",
                };
                command.arg(real::source("bench/fastmcp_proxy.py")).arg(upstream.url()).arg(mode);
                command
            }
        };
        Some(HttpPeer::start(&mut command))
    }
}

/// `forebay serve`, with a home of its own.
fn forebay_serve() -> Command {
    let mut forebay = Command::new(env!("CARGO_BIN_EXE_forebay"));
    let home = programs::target_directory().join("bench-home-http");
    forebay.args(["serve", "--listen", "127.0.0.1:0"]).env("FOREBAY_HOME", home);
    forebay
}

/// nginx in front of the upstream, with connections that are kept on both sides.
fn nginx(upstream: &HttpPeer) -> Option<HttpPeer> {
    let upstream = upstream.address();
    nginx::start("http", |address| {
        format!(
            "upstream behind {{
                 server {upstream};
                 keepalive 256; keepalive_requests 100000000; keepalive_timeout 4s;
             }}
             server {{
                 listen {address};
                 location / {{
                     proxy_pass http://behind; proxy_http_version 1.1;
                     proxy_set_header Connection \"\"; proxy_set_header Host {upstream};
                     proxy_buffering off;
                 }}
             }}"
        )
    })
}
