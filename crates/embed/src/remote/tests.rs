use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value, json};

use super::*;

/// What a service was asked.
struct Heard {
    head: String,
    body: Value,
}

/// A service that gives these answers to one request each; what it was asked is told at the end.
fn service(answers: Vec<(u16, String)>) -> (Url, thread::JoinHandle<Vec<Heard>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let heard = thread::spawn(move || {
        let answer = |(status, body): (u16, String)| {
            let (stream, _) = listener.accept().unwrap();
            let heard = hear(&stream);
            let length = body.len();
            let said = format!(
                "HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            (&stream).write_all(format!("{said}{body}").as_bytes()).unwrap();
            heard
        };
        answers.into_iter().map(answer).collect()
    });
    (url, heard)
}

fn hear(stream: &TcpStream) -> Heard {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Heard { head, body: serde_json::from_slice(&body).unwrap() }
}

fn remote(url: Url, timeout: Duration) -> Remote {
    let client = Client::new(&[] as &[Vec<u8>]).unwrap();
    let key = Some("secret".to_owned());
    Remote::new(client, RemoteSettings { url, model: "small".to_owned(), key, timeout })
}

const LONG: Duration = Duration::from_secs(30);

/// What becomes of two texts when the service answers like this.
fn outcome(status: u16, body: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
    let (url, heard) = service(vec![(status, body.to_owned())]);
    let outcome = remote(url, LONG).embed(&["one", "two"]);
    assert_eq!(heard.join().unwrap().len(), 1);
    outcome
}

fn embeddings_of(vectors: &[(usize, Vec<f32>)]) -> String {
    let data: Vec<Value> = vectors
        .iter()
        .map(|(index, embedding)| json!({"object": "embedding", "index": index, "embedding": embedding}))
        .collect();
    json!({"object": "list", "data": data, "model": "small", "usage": {"total_tokens": 2}})
        .to_string()
}

#[test]
fn a_service_is_asked_as_openai_is_and_its_vectors_are_made_one_long() {
    let answer = embeddings_of(&[(1, vec![0.0, -2.0]), (0, vec![3.0, 4.0])]);
    let (url, heard) = service(vec![(200, answer)]);
    let remote = remote(url, LONG);
    assert_eq!(remote.model(), "small");
    assert_eq!(remote.embed(&["one", "two"]).unwrap(), [[0.6, 0.8], [0.0, -1.0]]);
    let heard = heard.join().unwrap();
    assert!(heard[0].head.starts_with("post /v1/embeddings http/1.1\r\n"), "{}", heard[0].head);
    assert!(heard[0].head.contains("authorization: bearer secret\r\n"), "{}", heard[0].head);
    let body = json!({"model": "small", "input": ["one", "two"], "encoding_format": "float"});
    assert_eq!(heard[0].body, body);
}

#[test]
fn many_texts_are_sent_in_batches_and_none_in_no_request() {
    let answer = |count: usize| {
        let vectors: Vec<(usize, Vec<f32>)> = (0..count).map(|at| (at, vec![1.0, 0.0])).collect();
        (200, embeddings_of(&vectors))
    };
    let (url, heard) = service(vec![answer(64), answer(1)]);
    let remote = remote(url, LONG);
    assert_eq!(remote.embed(&[]).unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(remote.embed(&["x"; 65]).unwrap().len(), 65);
    let counts: Vec<usize> =
        heard.join().unwrap().iter().map(|it| it.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [64, 1]);
}

#[test]
fn a_text_that_is_refused_is_shortened_and_those_beside_it_are_not() {
    let (refusal, vector) =
        (|| (400, "too many tokens".to_owned()), || (200, embeddings_of(&[(0, vec![1.0, 0.0])])));
    // All of them, the short one, then the long one: whole, a half, a quarter.
    let answers = vec![refusal(), vector(), refusal(), refusal(), vector()];
    let (url, heard) = service(answers);
    let long = "é".repeat(1_000);
    assert_eq!(remote(url, LONG).embed(&["short", &long]).unwrap().len(), 2);
    let asked: Vec<usize> = heard
        .join()
        .unwrap()
        .iter()
        .map(|it| it.body["input"].as_array().unwrap().last().unwrap().as_str().unwrap().len())
        .collect();
    assert_eq!(asked, [2_000, 5, 2_000, 1_000, 500]);
}

#[test]
fn a_short_text_that_is_refused_is_told() {
    let (url, heard) = service(vec![(400, "no such model".to_owned())]);
    let told = remote(url, LONG).embed(&["short"]).unwrap_err().to_string();
    assert!(told.contains("status 400 (no such model)"), "{told}");
    assert_eq!(heard.join().unwrap().len(), 1);
}

#[test]
fn an_address_may_end_in_the_version_or_not() {
    for (given, expected) in [
        ("http://a", "http://a/v1/embeddings"),
        ("http://a/", "http://a/v1/embeddings"),
        ("http://a/v1", "http://a/v1/embeddings"),
        ("http://a/v1/", "http://a/v1/embeddings"),
        ("http://a/openai/v1", "http://a/openai/v1/embeddings"),
        ("http://a/v1/embeddings", "http://a/v1/embeddings"),
        ("https://a/x?api-version=2", "https://a/x/v1/embeddings?api-version=2"),
    ] {
        assert_eq!(embeddings(given.parse().unwrap()).as_str(), expected);
    }
}

#[test]
fn places_that_are_left_out_are_those_of_the_texts() {
    let body = json!({"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]}).to_string();
    assert_eq!(outcome(200, &body).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn status_429_is_an_error_that_says_so() {
    let error = outcome(429, r#"{"error": {"message": "Rate limit\nreached", "code": null}}"#);
    let expected = "127.0.0.1 made no embeddings: it answered with status 429 (Rate limit reached)";
    assert_eq!(error.unwrap_err().to_string(), expected);
}

#[test]
fn status_500_is_an_error_that_says_so() {
    let error = outcome(500, "").unwrap_err();
    assert_eq!(error.to_string(), "127.0.0.1 made no embeddings: it answered with status 500");
    let long = outcome(500, &"x".repeat(100_000)).unwrap_err();
    assert!(long.to_string().len() < 300, "{long}");
}

#[test]
fn an_answer_that_is_not_json_or_not_of_the_form_is_an_error() {
    for body in ["", "<html>", "{}", r#"{"data": 7}"#, r#"{"data": [{"embedding": "AAAA"}]}"#] {
        let error = outcome(200, body).unwrap_err();
        assert!(matches!(error, EmbedError::Malformed { .. }), "{body}: {error}");
    }
}

#[test]
fn another_number_of_vectors_than_of_texts_is_an_error() {
    let error = outcome(200, &embeddings_of(&[(0, vec![1.0])])).unwrap_err();
    assert_eq!(error.to_string(), "127.0.0.1 made 1 embeddings of 2 texts");
}

#[test]
fn vectors_of_different_lengths_are_an_error_also_in_a_later_answer() {
    let error = outcome(200, &embeddings_of(&[(0, vec![1.0]), (1, vec![1.0, 0.0])])).unwrap_err();
    assert!(matches!(error, EmbedError::WrongDimensions { expected: 1, given: 2, .. }), "{error}");
    let (url, heard) = service(vec![
        (200, embeddings_of(&[(0, vec![1.0, 0.0])])),
        (200, embeddings_of(&[(0, vec![1.0, 0.0, 0.0])])),
    ]);
    let remote = remote(url, LONG);
    remote.embed(&["one"]).unwrap();
    let error = remote.embed(&["one"]).unwrap_err();
    assert!(matches!(error, EmbedError::WrongDimensions { expected: 2, given: 3, .. }), "{error}");
    heard.join().unwrap();
}

#[test]
fn a_vector_without_length_and_places_that_are_taken_twice_are_errors() {
    let empty = outcome(200, &embeddings_of(&[(0, vec![]), (1, vec![])])).unwrap_err();
    assert!(empty.to_string().ends_with("an embedding has no length"), "{empty}");
    let zero = outcome(200, &embeddings_of(&[(0, vec![0.0]), (1, vec![1.0])])).unwrap_err();
    assert!(zero.to_string().ends_with("an embedding has no length"), "{zero}");
    let twice = outcome(200, &embeddings_of(&[(0, vec![1.0]), (0, vec![1.0])])).unwrap_err();
    assert!(matches!(twice, EmbedError::Malformed { .. }), "{twice}");
}

#[test]
fn a_service_that_does_not_answer_in_time_is_late() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let error = remote(url, Duration::from_millis(50)).embed(&["one"]).unwrap_err();
    assert_eq!(error.to_string(), "127.0.0.1 did not answer in time");
}

#[test]
fn a_service_that_is_not_there_is_told_without_the_key() {
    let url = "http://127.0.0.1:1".parse().unwrap();
    let error = remote(url, LONG).embed(&["one"]).unwrap_err();
    assert!(error.to_string().starts_with("127.0.0.1 cannot be reached"), "{error}");
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}
