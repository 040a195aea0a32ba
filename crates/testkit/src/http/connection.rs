//! One socket: requests as they are written, responses as they come.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use crate::peer::PATIENCE;

/// A connection to a server. After [`Connection::head`] it reads, as [`Read`], the bytes of that
/// response's body; they end with it.
#[derive(Debug)]
pub struct Connection {
    socket: BufReader<TcpStream>,
    left: Left,
}

/// The beginning of a response.
#[derive(Debug, Clone)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The headers, as they came.
    pub headers: Vec<(String, String)>,
}

/// An event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// What it is called, if it is.
    pub event: Option<String>,
    /// How long to wait before reconnecting, in milliseconds, if it says so.
    pub retry: Option<u64>,
    /// Its data, lines joined.
    pub data: String,
}

/// What is still to be read of a body.
#[derive(Debug, Clone, Copy)]
enum Left {
    Nothing,
    Bytes(u64),
    /// So many bytes of this chunk, and then more chunks.
    Chunks {
        left: u64,
        is_first: bool,
    },
    UntilClosed,
}

impl Connection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).expect("the server takes connections");
        socket.set_nodelay(true).expect("a socket");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Self { socket: BufReader::with_capacity(1 << 16, socket), left: Left::Nothing }
    }

    /// Sends a request. `Host` and `Content-Length` are added.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let address = self.socket().peer_addr().expect("a socket");
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n");
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        if !body.is_empty() || method == "POST" {
            request.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        self.send_bytes(&[request.as_bytes(), b"\r\n", body].concat());
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket().write_all(bytes).expect("the server reads");
    }

    /// The socket itself.
    pub fn socket(&mut self) -> &mut TcpStream {
        self.socket.get_mut()
    }

    /// Reads the beginning of the next response, once what is left of the last one is read.
    pub fn head(&mut self) -> Head {
        self.try_head().expect("a response")
    }

    /// Reads the beginning of the next response; fails if the connection closes.
    pub fn try_head(&mut self) -> io::Result<Head> {
        io::copy(self, &mut io::sink())?;
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {status_line}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            match line.split_once(':') {
                Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
                None => break,
            }
        }
        let head = Head { status, headers };
        self.left = match (head.header("content-length"), head.header("transfer-encoding")) {
            _ if status == 204 || status == 304 => Left::Nothing,
            (_, Some("chunked")) => Left::Chunks { left: 0, is_first: true },
            (Some(length), _) => Left::Bytes(length.parse().map_err(io::Error::other)?),
            (None, _) => Left::UntilClosed,
        };
        Ok(head)
    }

    /// The rest of the body; fails if it is cut short.
    pub fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.read_to_end(&mut body)?;
        Ok(body)
    }

    /// The rest of the body, which is JSON.
    pub fn json(&mut self) -> Value {
        let body = self.body().expect("a whole body");
        serde_json::from_slice(&body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body)))
    }

    /// The next event of a stream, `None` at its end; fails if it is cut short.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        let mut data: Option<String> = None;
        while let Some(line) = self.body_line()? {
            if line.is_empty() {
                if let Some(data) = data {
                    return Ok(Some(Event { data, ..event }));
                }
                continue;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_owned()),
                "event" => event.event = Some(value.to_owned()),
                "retry" => event.retry = value.parse().ok(),
                "data" => match &mut data {
                    Some(data) => data.extend(["\n", value]),
                    None => data = Some(value.to_owned()),
                },
                _ => (),
            }
        }
        Ok(None)
    }

    /// A line of the body, without its end.
    fn body_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let (found, count) = {
                let bytes = self.fill_buf()?;
                if bytes.is_empty() {
                    return Ok(None);
                }
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let count = end.map_or(bytes.len(), |end| end + 1);
                line.extend_from_slice(&bytes[..count]);
                (end.is_some(), count)
            };
            self.consume(count);
            if found {
                line.pop();
                line.pop_if(|byte| *byte == b'\r');
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// A line outside of a body, without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.socket.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.pop_if(|byte| *byte == b'\r');
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// The length of the next chunk, zero at the end.
    fn chunk(&mut self) -> io::Result<u64> {
        let line = self.line()?;
        let length = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        if length == 0 {
            self.line()?;
        }
        Ok(length)
    }
}

impl BufRead for Connection {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Only now, because the next chunk may be long in coming.
        if let Left::Chunks { left: 0, is_first } = self.left {
            if !is_first {
                self.line()?;
            }
            self.left = match self.chunk()? {
                0 => Left::Nothing,
                left => Left::Chunks { left, is_first: false },
            };
        }
        let most = match self.left {
            Left::Nothing | Left::Bytes(0) => return Ok(&[]),
            Left::Bytes(left) | Left::Chunks { left, .. } => left,
            Left::UntilClosed => u64::MAX,
        };
        let is_known = !matches!(self.left, Left::UntilClosed);
        let bytes = self.socket.fill_buf()?;
        if bytes.is_empty() && is_known {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(&bytes[..bytes.len().min(most)])
    }

    fn consume(&mut self, count: usize) {
        self.socket.consume(count);
        match &mut self.left {
            Left::Nothing | Left::UntilClosed => (),
            Left::Bytes(left) | Left::Chunks { left, .. } => *left -= count as u64,
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl Head {
    /// The value of a header, however its name is written.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }

    /// True if the body is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}
