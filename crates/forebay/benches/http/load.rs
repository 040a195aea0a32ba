//! Many clients in one thread, which do as little as clients can, so that what is measured is the
//! server.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use forebay_testkit::http::{Era, HttpPeer, McpHttpClient};
use rustix::{
    buffer::spare_capacity,
    event::epoll::{self, CreateFlags, EventData, EventFlags},
    fd::OwnedFd,
};

/// Clients of one server, each with a connection, and in the legacy era with a session.
pub(crate) struct Load {
    epoll: OwnedFd,
    clients: Vec<Client>,
}

struct Client {
    socket: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
    sent: Instant,
}

/// What a load has seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) calls: usize,
    pub(crate) calls_per_second: f64,
    pub(crate) p99: Duration,
}

impl Load {
    pub(crate) fn new(server: &HttpPeer, era: Era, tool: &str, count: usize) -> Self {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll");
        let clients: Vec<Client> = (0..count).map(|_| Client::new(server, era, tool)).collect();
        for (number, client) in clients.iter().enumerate() {
            let number = EventData::new_u64(number as u64);
            epoll::add(&epoll, &client.socket, number, EventFlags::IN).expect("epoll");
        }
        Self { epoll, clients }
    }

    /// Has every client call again and again for so long, each as soon as it is answered.
    pub(crate) fn run(&mut self, time: Duration) -> Seen {
        let started = Instant::now();
        let mut latencies = Vec::new();
        let mut waiting = self.clients.len();
        let mut ready = Vec::with_capacity(waiting);
        self.clients.iter_mut().for_each(Client::call);
        while waiting > 0 {
            epoll::wait(&self.epoll, spare_capacity(&mut ready), None).expect("epoll");
            for event in ready.drain(..) {
                let number = usize::try_from(event.data.u64()).expect("a client");
                let client = &mut self.clients[number];
                if !client.is_answered() {
                    continue;
                }
                latencies.push(client.sent.elapsed());
                if started.elapsed() < time {
                    client.call();
                } else {
                    waiting -= 1;
                }
            }
        }
        latencies.sort_unstable();
        Seen {
            calls: latencies.len(),
            calls_per_second: latencies.len() as f64 / started.elapsed().as_secs_f64(),
            p99: latencies[latencies.len() * 99 / 100],
        }
    }
}

impl Client {
    fn new(server: &HttpPeer, era: Era, tool: &str) -> Self {
        let (meta, headers) = match era {
            Era::Legacy => {
                let client = McpHttpClient::legacy(server);
                let session = client.session().expect("a session");
                let revision = "MCP-Protocol-Version: 2025-11-25";
                (String::new(), format!("Mcp-Session-Id: {session}\r\n{revision}"))
            }
            Era::Modern => (
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#.to_owned(),
                format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}"),
            ),
        };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"hello"}}{meta}}}}}"#
        );
        let (address, length) = (server.address(), body.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let socket = TcpStream::connect(address).expect("the server takes connections");
        socket.set_nodelay(true).expect("a socket");
        socket.set_nonblocking(true).expect("a socket");
        Self { socket, request: request.into(), answer: Vec::new(), sent: Instant::now() }
    }

    fn call(&mut self) {
        self.answer.clear();
        self.sent = Instant::now();
        self.socket.write_all(&self.request).expect("the server reads");
    }

    /// Reads what has come; true if the response is whole.
    fn is_answered(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.socket.read(&mut buffer) {
            Ok(0) => panic!("the server hung up: {}", String::from_utf8_lossy(&self.answer)),
            Ok(count) => self.answer.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("{error}"),
        }
        let Some(end) = self.answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return false;
        };
        let (head, body) = self.answer.split_at(end + 4);
        let is_whole = match content_length(head) {
            Some(length) => body.len() >= length,
            None => body.ends_with(b"0\r\n\r\n"),
        };
        let is_right = head.starts_with(b"HTTP/1.1 200 ")
            && body.windows(10).any(|part| part == b"\"content\":");
        assert!(!is_whole || is_right, "{}", String::from_utf8_lossy(&self.answer));
        is_whole
    }
}

/// The length of a body that does not come in chunks.
fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).expect("a head of text");
    head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    })
}
