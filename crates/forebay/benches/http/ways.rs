//! The ways from the clients to an upstream: directly, or through one of several proxies.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{
    http::{Era, HttpPeer},
    programs, real,
};

use crate::common::PATIENCE;

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

/// nginx with as many workers as there are processors, and connections that are kept on both sides.
fn nginx(upstream: &HttpPeer) -> Option<HttpPeer> {
    let program = nginx_program()?;
    let directory = programs::target_directory().join("bench-nginx");
    fs::create_dir_all(&directory).expect("a directory");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port");
    let (shown, upstream) = (directory.display(), upstream.address());
    let settings = format!(
        "worker_processes auto; daemon off; pid {shown}/pid; error_log stderr;
         events {{ worker_connections 1024; }}
         http {{
             access_log off; keepalive_requests 100000000;
             client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;
             fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi;
             scgi_temp_path {shown}/scgi;
             upstream behind {{
                 server {upstream};
                 keepalive 256; keepalive_requests 100000000; keepalive_timeout 4s;
             }}
             server {{
                 listen {free};
                 location / {{
                     proxy_pass http://behind; proxy_http_version 1.1;
                     proxy_set_header Connection \"\"; proxy_set_header Host {upstream};
                     proxy_buffering off;
                 }}
             }}
         }}"
    );
    let file = directory.join("nginx.conf");
    fs::write(&file, settings).expect("a file");
    // It does not say itself where it listens.
    let script = r#"echo "listening on $0"; exec "$1" -e stderr -c "$2""#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(free.to_string()).arg(program).arg(file);
    let server = HttpPeer::start(&mut command);
    let started = Instant::now();
    while TcpStream::connect(free).is_err() {
        assert!(started.elapsed() < PATIENCE, "nginx does not listen: {}", server.stderr());
        thread::sleep(Duration::from_millis(10));
    }
    Some(server)
}

/// Where nginx is, which is installed if it is missing, where Debian packages are and we may.
fn nginx_program() -> Option<PathBuf> {
    let found = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&folders).chain([PathBuf::from("/usr/sbin")]);
        folders.map(|folder| folder.join("nginx")).find(|file| file.is_file())
    };
    found().or_else(|| {
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends", "nginx-light"]);
        let _ = install.output();
        found()
    })
}
