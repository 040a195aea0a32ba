use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::Arc,
    thread,
};

use forebay_services::ServiceError;
use forebay_store::Principal;
use jiff::Timestamp;

use super::*;
use crate::Passage;

fn document() -> Document {
    Document {
        dataset: DatasetId::parse("dataset_k3v9x2ma").unwrap(),
        principal: Principal::default(),
        server: "git".to_owned(),
        tool: "git_log".to_owned(),
        kept: Timestamp::from_millisecond(1_794_987_547_931).unwrap(),
        bytes: 4_096,
        title: "Commits".to_owned(),
        passages: vec![
            Passage { text: "about".to_owned(), ..Passage::default() },
            Passage { text: "first lines".to_owned(), lines: Some((1, 9)), block: None },
        ],
    }
}

#[test]
fn a_passage_goes_with_what_it_is_about() {
    let vectors = [PassageVector { passage: 1, vector: vec![0.6, 0.8] }];
    assert_eq!(
        rows(&document(), &vectors, "a-model"),
        json!({
            "ids": ["dataset_k3v9x2ma#1"],
            "embeddings": [[0.6_f32, 0.8_f32]],
            "documents": ["first lines"],
            "metadatas": [{
                "dataset": "dataset_k3v9x2ma", "passage": 1, "principal": "local", "server": "git",
                "tool": "git_log", "kept": 1_794_987_547_931_i64, "bytes": 4_096, "title": "Commits",
                "model": "a-model",
            }],
        })
    );
}

#[test]
fn what_is_asked_of_the_service_is_what_fits_here() {
    let vectors = [PassageVector { passage: 0, vector: vec![1.0] }];
    let metadata = &rows(&document(), &vectors, "a-model")["metadatas"][0];
    let near = Near { dataset: document().dataset, passage: 0, similarity: 1.0 };
    let within = |datasets: Vec<DatasetId>| {
        let within = Some(Arc::new(datasets.into_iter().collect::<HashSet<_>>()));
        Among { within, ..Among::default() }
    };
    let other = |number: usize| {
        // Names have neither 0 nor 1.
        let digits = format!("{number:08o}").into_bytes().into_iter();
        let digits: String = digits.map(|digit| char::from(digit + 2)).collect();
        DatasetId::parse(&format!("dataset_{digits}")).unwrap()
    };
    let (kept, later) = (document().kept, Timestamp::from_millisecond(1_794_987_547_932).unwrap());
    let all = Among::default();
    let git = Among { server: Some("git".to_owned()), since: Some(kept), ..Among::default() };
    let cases = [
        (all, true, json!({"principal": "local"})),
        (
            git,
            true,
            json!({"$and": [
                {"principal": "local"}, {"server": "git"}, {"kept": {"$gte": 1_794_987_547_931_i64}},
            ]}),
        ),
        (
            Among { since: Some(later), ..Among::default() },
            false,
            json!({"$and": [{"principal": "local"}, {"kept": {"$gte": 1_794_987_547_932_i64}}]}),
        ),
        (
            Among { until: Some(kept), ..Among::default() },
            false,
            json!({"$and": [{"principal": "local"}, {"kept": {"$lt": 1_794_987_547_931_i64}}]}),
        ),
        (
            Among { until: Some(later), ..Among::default() },
            true,
            json!({"$and": [{"principal": "local"}, {"kept": {"$lt": 1_794_987_547_932_i64}}]}),
        ),
        (
            Among { min_bytes: Some(4_096), ..Among::default() },
            true,
            json!({"$and": [{"principal": "local"}, {"bytes": {"$gte": 4_096}}]}),
        ),
        (
            Among { min_bytes: Some(4_097), ..Among::default() },
            false,
            json!({"$and": [{"principal": "local"}, {"bytes": {"$gte": 4_097}}]}),
        ),
        (
            Among { tool: Some("git_show".to_owned()), ..Among::default() },
            false,
            json!({"$and": [{"principal": "local"}, {"tool": "git_show"}]}),
        ),
        (
            Among {
                within: Some(Arc::new([DatasetId::parse("dataset_zzzzzzzz").unwrap()].into())),
                ..Among::default()
            },
            false,
            json!({"$and": [{"principal": "local"}, {"dataset": {"$in": ["dataset_zzzzzzzz"]}}]}),
        ),
        (
            Among { principal: Principal::new("ann"), ..Among::default() },
            false,
            json!({"principal": "ann"}),
        ),
        (
            within(vec![document().dataset]),
            true,
            json!({"$and": [{"principal": "local"}, {"dataset": {"$in": ["dataset_k3v9x2ma"]}}]}),
        ),
        (
            within(vec![other(1)]),
            false,
            json!({"$and": [{"principal": "local"}, {"dataset": {"$in": ["dataset_22222223"]}}]}),
        ),
        // A long list is for us to look at.
        (within((0..=DATASETS_AT_ONCE).map(other).collect()), false, json!({"principal": "local"})),
    ];
    for (among, is_in, asked) in cases {
        assert_eq!(fits(&near, metadata, &among), is_in, "{among:?}");
        assert_eq!(condition(&among), asked);
    }
}

fn chroma_at(listener: &TcpListener) -> Chroma {
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(&[] as &[Vec<u8>]).unwrap();
    Chroma::new(client, ChromaSettings { url, token: Some("hush".to_owned()), model: "m".into() })
}

#[test]
fn the_token_goes_along_and_a_server_that_wants_another_is_told_of() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let chroma = chroma_at(&listener);
    let heard = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map(Result::unwrap);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        (&stream).write_all(b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        head
    });
    // What is changed has longer than what somebody waits for.
    let refused = chroma.remove(&[document().dataset]).unwrap_err().to_string();
    assert!(refused.contains("FOREBAY_CHROMA_TOKEN") && !refused.contains("hush"), "{refused}");
    let lines = heard.join().unwrap();
    assert!(
        lines.iter().any(|line| line.eq_ignore_ascii_case("x-chroma-token: hush")),
        "{lines:?}"
    );
}

#[test]
fn a_server_that_takes_a_question_and_says_nothing_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = chroma_at(&listener).nearest(&[1.0], &Among::default(), 5).unwrap_err();
    let SearchError::Chroma(ChromaError::Service(error)) = error else { panic!("{error}") };
    assert!(matches!(error, ServiceError::Late { .. }), "{error}");
}
