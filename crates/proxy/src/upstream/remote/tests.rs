use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::upstream::Pending;

fn remote(url: &str, credentials: Option<Arc<dyn Credentials>>) -> Remote {
    let mut headers = HeaderMap::new();
    headers.insert("x-ours", HeaderValue::from_static("ours"));
    let name = UpstreamName::from_url(url);
    let trusted = Vec::new();
    Remote::new(RemoteSettings { name, url: url.to_owned(), headers, credentials, trusted })
        .unwrap()
}

/// Reads one request, up to `}`, and returns it.
async fn request(connection: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"}") {
        assert!(connection.read_buf(&mut read).await.unwrap() > 0, "{read:?}");
    }
    String::from_utf8(read).unwrap()
}

fn message(text: &str) -> Message {
    Message::of(vec![text.as_bytes().to_vec().into()])
}

async fn post(remote: &Remote) -> Result<Response, RemoteError> {
    let mut headers = HeaderMap::new();
    headers.insert("x-ours", HeaderValue::from_static("the caller's"));
    remote.send(Method::POST, headers, Some(&message("{}"))).await
}

struct Tokens {
    valid: Mutex<&'static str>,
    renewals: AtomicUsize,
}

impl Tokens {
    fn said(&self) -> HeaderValue {
        HeaderValue::from_static(*self.valid.lock().unwrap())
    }
}

impl Credentials for Tokens {
    fn authorization(&self) -> Pending<'_, Option<HeaderValue>> {
        Box::pin(async { Ok(Some(self.said())) })
    }

    fn renewed<'a>(&'a self, refused: Option<&'a HeaderValue>) -> Pending<'a, Option<HeaderValue>> {
        Box::pin(async move {
            assert_eq!(refused, Some(&self.said()));
            self.renewals.fetch_add(1, Ordering::Relaxed);
            *self.valid.lock().unwrap() = "Bearer new";
            Ok(Some(self.said()))
        })
    }

    fn advice(&self) -> String {
        "log in again".to_owned()
    }
}

#[tokio::test]
async fn a_refused_request_is_sent_once_more_with_a_renewed_token() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens =
        Arc::new(Tokens { valid: Mutex::new("Bearer old"), renewals: AtomicUsize::new(0) });
    let remote = remote(&url, Some(tokens.clone()));
    let server = tokio::spawn(async move {
        let mut seen = Vec::new();
        for status in ["401 Unauthorized", "200 OK", "401 Unauthorized", "401 Unauthorized"] {
            let (mut connection, _) = listener.accept().await.unwrap();
            seen.push(request(&mut connection).await);
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            connection.write_all(answer.as_bytes()).await.unwrap();
        }
        seen
    });
    assert_eq!(post(&remote).await.unwrap().status(), StatusCode::OK);
    assert_eq!(tokens.renewals.load(Ordering::Relaxed), 1);
    assert_eq!(post(&remote).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(tokens.renewals.load(Ordering::Relaxed), 2);
    assert_eq!(remote.advice(), "log in again");

    let seen = server.await.unwrap();
    assert!(seen[0].contains("Authorization: Bearer old\r\n"), "{}", seen[0]);
    for line in ["Authorization: Bearer new\r\n", "X-Ours: ours\r\n", "Content-Length: 2\r\n"] {
        assert!(seen[1].contains(line), "{}", seen[1]);
    }
}

#[tokio::test]
async fn an_upstream_that_comes_up_a_moment_later_is_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let remote = remote(&format!("http://{address}/"), None);
    let refused = post(&remote).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "cannot reach upstream `{address}` at http://{address}/: connection refused; is it running?"
        )
    );

    let (sent, served) = tokio::join!(post(&remote), async {
        tokio::task::yield_now().await;
        let listener = TcpListener::bind(address).await.unwrap();
        let (mut connection, _) = listener.accept().await.unwrap();
        request(&mut connection).await;
        connection
            .write_all(b"HTTP/1.1 307 See\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
            .await
    });
    served.unwrap();
    let response = sent.unwrap();
    let place = remote.redirected_to(&response).unwrap();
    assert_eq!(place.as_str(), format!("http://{address}/other"));
}

#[tokio::test]
async fn an_upstream_that_hangs_up_is_told_from_one_that_is_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:word@{}/mcp?key=secret", listener.local_addr().unwrap());
    let remote = remote(&url, None);
    let (sent, ()) = tokio::join!(post(&remote), async {
        let (mut connection, _) = listener.accept().await.unwrap();
        request(&mut connection).await;
    });
    let error = sent.unwrap_err();
    assert!(matches!(error, RemoteError::BrokenOff { .. }), "{error}");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("word") && !shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn a_server_without_tls_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let remote = remote(&format!("https://{}/", listener.local_addr().unwrap()), None);
    let server = tokio::spawn(async move {
        loop {
            let (mut connection, _) = listener.accept().await.unwrap();
            let _ = connection.read(&mut [0; 16]).await;
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let error = post(&remote).await.unwrap_err().to_string();
    server.abort();
    assert!(error.ends_with("it does not speak TLS; does its URL begin with http://?"), "{error}");
}

#[test]
fn what_is_no_url_of_an_upstream_is_refused() {
    for url in ["", "example.com/mcp", "localhost:3000", "ftp://example.com/", "file:///mcp"] {
        let settings = RemoteSettings {
            name: UpstreamName::new("x"),
            url: url.to_owned(),
            headers: HeaderMap::new(),
            credentials: None,
            trusted: Vec::new(),
        };
        assert!(matches!(Remote::new(settings), Err(ProxyError::UpstreamUrl { .. })), "{url}");
    }
}
