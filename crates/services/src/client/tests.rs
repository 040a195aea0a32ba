use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    thread,
};

use super::*;

/// A service that says `answer` to the first who asks; gives its address and what it was asked.
fn service(answer: &'static str) -> (Url, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap()).parse().unwrap();
    let asked = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            // Whoever waits may have given up before.
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return head;
            }
        }
        (&stream).write_all(answer.as_bytes()).unwrap();
        if answer.is_empty() {
            // Whoever waits gives up first.
            let _ = reader.read_line(&mut head);
        }
        head
    });
    (url, asked)
}

fn post(url: &Url, patience: Duration) -> Result<Answer, ServiceError> {
    let client = Client::new(&[] as &[Vec<u8>]).unwrap();
    let headers = [("authorization", "Bearer secret")];
    let body = Some(b"{}".to_vec());
    let request = Request { method: Method::Post, url, headers: &headers, body };
    client.ask(request, Instant::now() + patience)
}

#[test]
fn what_is_asked_arrives_and_an_answer_that_says_no_is_one() {
    let (url, asked) = service(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 4\r\nconnection: close\r\n\r\nwait",
    );
    let answer = post(&url, Duration::from_secs(30)).unwrap();
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.body, b"wait");
    let asked = asked.join().unwrap().to_lowercase();
    assert!(asked.starts_with("post /v1 http/1.1\r\n"), "{asked}");
    assert!(asked.contains("authorization: bearer secret\r\n"), "{asked}");
    assert!(asked.contains("content-type: application/json\r\n"), "{asked}");
}

#[test]
fn a_redirect_is_not_followed() {
    let (url, asked) = service(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    assert_eq!(post(&url, Duration::from_secs(30)).unwrap().status, 307);
    asked.join().unwrap();
}

#[test]
fn who_does_not_answer_is_late_and_who_is_not_there_is_told() {
    // On a busy machine it may never be reached, and is not waited for.
    let (url, _) = service("");
    let late = post(&url, Duration::from_millis(500)).unwrap_err();
    assert!(matches!(late, ServiceError::Late { .. }), "{late}");
    let nobody: Url = "http://127.0.0.1:1/?key=secret".parse().unwrap();
    let refused = post(&nobody, Duration::from_secs(30)).unwrap_err();
    assert!(matches!(refused, ServiceError::Unreachable { .. }), "{refused}");
    assert!(!refused.to_string().contains("secret"), "{refused}");
    let broken = {
        let (url, asked) = service("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort");
        let broken = post(&url, Duration::from_secs(30)).unwrap_err();
        asked.join().unwrap();
        broken
    };
    assert!(matches!(broken, ServiceError::Unreachable { .. }), "{broken}");
}

#[test]
fn an_answer_that_is_too_long_is_none() {
    let (url, asked) =
        service("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\n12345");
    let client = Client::new(&[] as &[Vec<u8>]).unwrap().taking_up_to(4);
    let request = Request { method: Method::Get, url: &url, headers: &[], body: None };
    let long = client.ask(request, Instant::now() + Duration::from_secs(30)).unwrap_err();
    assert!(matches!(long, ServiceError::TooLong { limit: 4, .. }), "{long}");
    asked.join().unwrap();
}

#[test]
fn a_secret_goes_in_the_open_to_this_machine_alone() {
    let keeps = |url: &str| keeps_secrets(&url.parse().unwrap());
    for safe in ["https://h/", "http://localhost:1/", "http://127.0.0.2/v1", "http://[::1]:2/"] {
        assert!(keeps(safe), "{safe}");
    }
    for open in ["http://h/", "http://10.0.0.1/", "http://localhost.h/", "http://localhost@h/"] {
        assert!(!keeps(open), "{open}");
    }
}
