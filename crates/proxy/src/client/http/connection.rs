//! Connections of clients: how they come in, and that the requests of each are answered one after the other.

use std::{convert::Infallible, future::Future, io, net::SocketAddr};

use hyper::{body::Incoming, server::conn::http1, service::HttpService};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::reply::Body;
use crate::limits;

/// How much of an answer the system holds that a client has not taken. It would hold 4 MB, which many slow
/// clients have no place for together; and what is taken at once is taken from the processor's own memory.
const HELD_BYTES: u32 = 256 * 1024;
/// How many connections may wait to be accepted.
const WAITING: u32 = 1024;

/// Listens; to be called within a runtime.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of the last one to listen here may still be closing.
    socket.set_reuseaddr(true)?;
    // Every connection has it from here.
    socket.set_send_buffer_size(HELD_BYTES)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Answers the requests of one connection.
pub(super) fn serve<S>(stream: TcpStream, service: S) -> http1::Connection<TokioIo<TcpStream>, S>
where
    S: HttpService<Incoming, ResBody = Body, Error = Infallible, Future: Future + Send>,
{
    // Answers are written whole; waiting for more to send would only delay them.
    let _ = stream.set_nodelay(true);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .title_case_headers(true)
        .header_read_timeout(limits::CLIENT_PATIENCE)
        .max_buf_size(limits::HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
}
