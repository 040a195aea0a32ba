use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
};

use super::*;
use crate::body::Message;

/// A pool whose connections come out at the other end of the channel.
fn pool() -> (Arc<Pool>, mpsc::UnboundedReceiver<DuplexStream>) {
    let (sender, connections) = mpsc::unbounded_channel();
    let connect: Connect = Box::new(move || {
        let (ours, theirs) = duplex(1 << 16);
        let _ = sender.send(theirs);
        Box::pin(async move { Ok(Box::new(TokioIo::new(ours)) as Io) })
    });
    (Pool::new(connect), connections)
}

fn post() -> Request<Streamed> {
    let message = Message::of(vec![b"{}".to_vec().into()]);
    let mut request = Request::new(Streamed::new(&message));
    *request.method_mut() = http::Method::POST;
    request
}

/// Reads one request, up to `}`.
async fn take_request(connection: &mut DuplexStream) {
    let mut read = Vec::new();
    while !read.ends_with(b"}") {
        assert!(connection.read_buf(&mut read).await.unwrap() > 0, "{read:?}");
    }
}

async fn serve(connection: &mut DuplexStream, answer: &str) {
    take_request(connection).await;
    connection.write_all(answer.as_bytes()).await.unwrap();
}

async fn whole(mut response: Response) -> String {
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.extend_from_slice(&chunk);
    }
    String::from_utf8(text).unwrap()
}

fn sent(response: Result<Response, SendError>) -> Response {
    response.unwrap_or_else(|error| match error {
        SendError::Unreachable { error, .. } => panic!("{error}"),
        SendError::BrokenOff(error) => panic!("{error}"),
    })
}

const OF_A_LENGTH: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const IN_CHUNKS: &str =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n";
const EMPTY: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn calls_one_after_the_other_use_one_connection() {
    let (pool, mut connections) = pool();
    let server = async {
        let mut connection = connections.recv().await.unwrap();
        for answer in [OF_A_LENGTH, IN_CHUNKS, EMPTY, OF_A_LENGTH] {
            serve(&mut connection, answer).await;
        }
        connection
    };
    let client = async {
        for body in ["hi", "hi"] {
            assert_eq!(whole(sent(pool.send(post()).await)).await, body);
        }
        // What has no body is over with its head.
        assert_eq!(sent(pool.send(post()).await).status(), StatusCode::ACCEPTED);
        // Nobody has to ask whether there is more than was announced.
        let mut response = sent(pool.send(post()).await);
        assert_eq!(response.chunk().await.unwrap().unwrap(), "hi");
        drop(response);
    };
    let (_connection, ()) = tokio::join!(server, client);
    assert!(connections.try_recv().is_err(), "there is no second connection");
    assert_eq!(pool.idle().connections.len(), 1);
}

#[tokio::test]
async fn calls_at_once_have_a_connection_each_and_both_are_kept() {
    let (pool, mut connections) = pool();
    let (one, other) = (pool.send(post()), pool.send(post()));
    let server = async {
        let mut both = [connections.recv().await.unwrap(), connections.recv().await.unwrap()];
        for connection in &mut both {
            take_request(connection).await;
        }
        for connection in &mut both {
            connection.write_all(OF_A_LENGTH.as_bytes()).await.unwrap();
        }
        both
    };
    let (one, other, _both) = tokio::join!(one, other, server);
    assert_eq!([whole(sent(one)).await, whole(sent(other)).await], ["hi", "hi"]);
    assert_eq!(pool.idle().connections.len(), 2);
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_nothing() {
    let (pool, mut connections) = pool();
    for _ in 0..3 {
        let server = async {
            let mut connection = connections.recv().await.unwrap();
            serve(&mut connection, OF_A_LENGTH).await;
            // It is closed while nobody uses it.
        };
        let ((), response) = tokio::join!(server, pool.send(post()));
        assert_eq!(whole(sent(response)).await, "hi");
    }
}

#[tokio::test]
async fn a_connection_that_somebody_stopped_reading_is_not_used_again() {
    let (pool, mut connections) = pool();
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi";
    let server = async {
        let mut connection = connections.recv().await.unwrap();
        serve(&mut connection, head).await;
        connection
    };
    let (_connection, response) = tokio::join!(server, pool.send(post()));
    let mut response = sent(response);
    assert_eq!(response.chunk().await.unwrap().unwrap(), "hi");
    drop(response);
    assert!(pool.idle().connections.is_empty());
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error_and_not_an_end() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
    ] {
        let (pool, mut connections) = pool();
        let server = async {
            serve(&mut connections.recv().await.unwrap(), answer).await;
        };
        let ((), response) = tokio::join!(server, pool.send(post()));
        let mut response = sent(response);
        assert_eq!(response.chunk().await.unwrap().unwrap(), "hi");
        assert!(response.chunk().await.is_err(), "{answer}");
        assert!(pool.idle().connections.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn connections_that_nobody_uses_are_let_go() {
    let (pool, mut connections) = pool();
    let server = async {
        let mut connection = connections.recv().await.unwrap();
        serve(&mut connection, OF_A_LENGTH).await;
        connection
    };
    let (mut connection, response) = tokio::join!(server, pool.send(post()));
    whole(sent(response)).await;
    assert_eq!(pool.idle().connections.len(), 1);
    // The time passes by itself, for there is nothing else to do.
    assert_eq!(connection.read(&mut [0; 1]).await.unwrap(), 0, "it is closed");
    assert!(!pool.idle().is_tended);
}

#[tokio::test]
async fn a_call_wakes_up_its_task_once_for_each_thing_that_comes() {
    let (pool, mut connections) = pool();
    let polls = Arc::new(AtomicUsize::new(0));
    let call = tokio::spawn({
        let (polls, pool) = (polls.clone(), pool.clone());
        async move {
            let mut call = pin!(async { whole(sent(pool.send(post()).await)).await });
            poll_fn(|context| {
                polls.fetch_add(1, Ordering::Relaxed);
                call.as_mut().poll(context)
            })
            .await
        }
    });
    let mut connection = connections.recv().await.unwrap();
    serve(&mut connection, OF_A_LENGTH).await;
    assert_eq!(call.await.unwrap(), "hi");
    assert_eq!(polls.load(Ordering::Relaxed), 2, "to send the request, and to take the response");
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_used_when_the_upstream_is_about_to_close_it() {
    let (pool, mut connections) = pool();
    let head = "HTTP/1.1 200 OK\r\nKeep-Alive: max=9, timeout=5\r\nContent-Length: 0\r\n\r\n";
    let server = async {
        let mut connection = connections.recv().await.unwrap();
        serve(&mut connection, head).await;
        serve(&mut connection, head).await;
        connection
    };
    let client = async {
        sent(pool.send(post()).await);
        sleep(Duration::from_secs(3)).await;
        sent(pool.send(post()).await);
        sleep(Duration::from_secs(4)).await;
    };
    let (_still_open, ()) = tokio::join!(server, client);
    let server = async { serve(&mut connections.recv().await.unwrap(), head).await };
    let ((), response) = tokio::join!(server, pool.send(post()));
    assert_eq!(sent(response).status(), StatusCode::OK, "on a second connection");
}

#[test]
fn what_an_upstream_says_of_idle_connections_is_heeded_if_it_is_less() {
    let of = |said: &'static str| {
        let value = http::HeaderValue::from_static(said);
        max_idle(&HeaderMap::from_iter([(KEEP_ALIVE, value)])).as_secs()
    };
    assert_eq!([of("timeout=5"), of("max=100, Timeout = 61"), of("timeout=0")], [4, 60, 0]);
    assert_eq!([of("timeout=3600"), of("timeout=soon"), of("")], [90; 3]);
    assert_eq!(max_idle(&HeaderMap::new()), MAX_IDLE);
}
