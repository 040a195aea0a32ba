//! nginx, as others would put it in a server's place or in front of one.

use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use forebay_testkit::{http::HttpPeer, programs, real};

use super::PATIENCE;

/// Starts nginx with as many workers as there are processors and connections that are kept. `inside` is what
/// its settings hold under `http`, given where it is to listen. `None` if it cannot be had.
pub(crate) fn start(name: &str, inside: impl FnOnce(SocketAddr) -> String) -> Option<HttpPeer> {
    let program = real::debian_program("nginx", "nginx-light").ok()?;
    let directory = programs::target_directory().join(format!("bench-nginx-{name}"));
    fs::create_dir_all(&directory).expect("a directory");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port");
    let (shown, inside) = (directory.display(), inside(free));
    // Workers read files as whoever runs this, if that may be said.
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    let settings = format!(
        "{user} worker_processes auto; daemon off; pid {shown}/pid; error_log stderr;
         events {{ worker_connections 1024; }}
         http {{
             access_log off; keepalive_requests 100000000;
             client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;
             fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi;
             scgi_temp_path {shown}/scgi;
             {inside}
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
