//! Vectors in Chroma: the real server, with vectors that are made here.

use std::{collections::HashSet, sync::Arc, thread, time::Instant};

use forebay_search::{
    Among, COLLECTION, Chroma, ChromaError, ChromaSettings, Document, Passage, PassageVector,
    SearchError, Vectors,
};
use forebay_services::ServiceError;
use forebay_store::{DatasetId, Principal};
use forebay_testkit::{
    chroma::Chroma as Server,
    peer::{PATIENCE, eventually},
    real,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{forebay, in_the_background, tools::Client};

/// A server with nothing in it, and where its data is.
struct Peer {
    server: Server,
    _folder: TempDir,
}

impl Peer {
    fn start(test: &str) -> Option<Self> {
        let python = real::python_for_chroma(test)?;
        let folder = tempfile::tempdir().unwrap();
        Some(Self { server: Server::start(python, folder.path()), _folder: folder })
    }

    fn vectors_of(&self, model: &str) -> Chroma {
        let client = forebay_services::Client::new(&[] as &[Vec<u8>]).unwrap();
        let url = self.server.url().parse().unwrap();
        Chroma::new(client, ChromaSettings { url, token: None, model: model.to_owned() })
    }

    fn vectors(&self) -> Chroma {
        self.vectors_of("a-model")
    }

    fn collections(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, said) = self.server.ask_of_collections(method, path, body);
        assert!((200..300).contains(&status), "{status} {said}");
        said
    }

    fn remove_collection(&self) {
        self.collections("DELETE", &format!("/{COLLECTION}"), &Value::Null);
    }

    /// How many passages of a dataset the collection holds, if there is one, by the service's own account.
    fn passages_of(&self, dataset: &str) -> usize {
        let path = format!("/{COLLECTION}");
        let (status, found) = self.server.ask_of_collections("GET", &path, &Value::Null);
        if status != 200 {
            return 0;
        }
        let path = format!("/{}/get", found["id"].as_str().unwrap());
        let wanted = json!({"where": {"dataset": dataset}, "include": []});
        self.collections("POST", &path, &wanted)["ids"].as_array().unwrap().len()
    }

    /// What the collection holds.
    fn count(&self) -> u64 {
        let id = self.collections("GET", &format!("/{COLLECTION}"), &Value::Null)["id"].clone();
        let path = format!("/{}/count", id.as_str().unwrap());
        self.collections("GET", &path, &Value::Null).as_u64().unwrap()
    }
}

fn dataset(number: usize) -> DatasetId {
    let digits = b"23456789abcdefghjkmnpqrstvwxyz";
    let letter = |place: u32| char::from(digits[number / digits.len().pow(place) % digits.len()]);
    let name: String = [3, 2, 1, 0].into_iter().map(letter).collect();
    DatasetId::parse(&format!("dataset_test{name}")).unwrap()
}

/// A document with so many passages.
fn document(number: usize, passages: usize) -> Document {
    let passage = |place: usize| Passage {
        text: format!("passage {place} of {number}"),
        ..Passage::default()
    };
    Document {
        dataset: dataset(number),
        principal: Principal::default(),
        server: "git".to_owned(),
        tool: "git_log".to_owned(),
        kept: Timestamp::from_millisecond(1_794_987_547_931).unwrap(),
        bytes: 4_096,
        title: format!("document {number}"),
        passages: (0..passages).map(passage).collect(),
    }
}

/// A vector of length one that points at an angle, in degrees.
fn at(angle: f32) -> Vec<f32> {
    let (sine, cosine) = angle.to_radians().sin_cos();
    vec![cosine, sine, 0.0]
}

fn passages(angles: &[f32]) -> Vec<PassageVector> {
    let vector = |(passage, angle): (usize, &f32)| PassageVector { passage, vector: at(*angle) };
    angles.iter().enumerate().map(vector).collect()
}

/// What is answered. For whoever waits, a server on a busy machine may be late; then it is asked again.
fn patiently<T>(ask: impl Fn() -> Result<T, SearchError>) -> Result<T, SearchError> {
    let started = Instant::now();
    loop {
        match ask() {
            Err(SearchError::Chroma(ChromaError::Service(ServiceError::Late { .. })))
                if started.elapsed() < PATIENCE => {}
            answer => return answer,
        }
    }
}

/// What lies near an angle, as the numbers of datasets and passages.
fn near(vectors: &Chroma, angle: f32, among: &Among, limit: usize) -> Vec<(DatasetId, usize)> {
    let found = patiently(|| vectors.nearest(&at(angle), among, limit)).unwrap();
    found.into_iter().map(|near| (near.dataset, near.passage)).collect()
}

fn error_of<T>(result: Result<T, SearchError>) -> ChromaError {
    match result {
        Err(SearchError::Chroma(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it went well"),
    }
}

#[test]
fn what_is_put_there_is_found_by_how_near_it_is() {
    let Some(peer) = Peer::start("what_is_put_there_is_found_by_how_near_it_is") else { return };
    let vectors = peer.vectors();
    vectors.put(&document(1, 2), &passages(&[0.0, 60.0])).unwrap();
    vectors.put(&document(2, 1), &passages(&[20.0])).unwrap();
    let found = patiently(|| vectors.nearest(&at(0.0), &Among::default(), 3)).unwrap();
    let places: Vec<_> = found.iter().map(|it| (it.dataset.clone(), it.passage)).collect();
    assert_eq!(places, [(dataset(1), 0), (dataset(2), 0), (dataset(1), 1)]);
    for (near, expected) in found.iter().zip([1.0, 20_f32.to_radians().cos(), 0.5]) {
        assert!((near.similarity - expected).abs() < 1e-4, "{near:?}");
    }
    assert_eq!(near(&vectors, 60.0, &Among::default(), 1), [(dataset(1), 1)]);

    // Who looks into the collection sees what it is about, and that a cosine is measured.
    let made = peer.collections("GET", &format!("/{COLLECTION}"), &Value::Null);
    assert_eq!(made["metadata"]["model"], "a-model");
    assert_eq!(made["configuration_json"]["hnsw"]["space"], "cosine");
    let path = format!("/{}/get", made["id"].as_str().unwrap());
    let wanted =
        json!({"ids": [format!("{}#1", dataset(1))], "include": ["documents", "metadatas"]});
    let got = peer.collections("POST", &path, &wanted);
    assert_eq!(got["documents"], json!(["passage 1 of 1"]));
    assert_eq!(
        got["metadatas"][0],
        json!({
            "dataset": dataset(1).as_str(), "passage": 1, "principal": "local", "server": "git",
            "tool": "git_log", "kept": 1_794_987_547_931_i64, "bytes": 4096, "title": "document 1",
            "model": "a-model",
        })
    );
}

#[test]
fn only_what_is_asked_for_is_found_and_nothing_of_another_principal() {
    let test = "only_what_is_asked_for_is_found_and_nothing_of_another_principal";
    let Some(peer) = Peer::start(test) else { return };
    let vectors = peer.vectors();
    let mut documents: Vec<Document> = (0..40).map(|number| document(number, 1)).collect();
    // Those of another are the nearest by far.
    for other in &mut documents[..36] {
        other.principal = Principal::new("ann");
    }
    documents[37].server = "files".to_owned();
    documents[38].tool = "git_show".to_owned();
    documents[39].kept = Timestamp::from_millisecond(1_794_987_547_000).unwrap();
    for (angle, document) in documents.iter().enumerate() {
        let angle = f32::from(u8::try_from(angle).unwrap());
        vectors.put(document, &passages(&[angle])).unwrap();
    }
    let found = |among: Among| -> Vec<DatasetId> {
        near(&vectors, 0.0, &among, 4).into_iter().map(|(dataset, _)| dataset).collect()
    };
    let all = Among::default();
    assert_eq!(found(all.clone()), [36, 37, 38, 39].map(dataset));
    let server = Some("git".to_owned());
    assert_eq!(found(Among { server, ..all.clone() }), [36, 38, 39].map(dataset));
    let tool = Some("git_log".to_owned());
    assert_eq!(found(Among { tool: tool.clone(), ..all.clone() }), [36, 37, 39].map(dataset));
    let since = Timestamp::from_millisecond(1_794_987_547_931).ok();
    assert_eq!(found(Among { since, ..all.clone() }), [36, 37, 38].map(dataset));
    let until = since;
    assert_eq!(found(Among { until, ..all.clone() }), [39].map(dataset));
    let server = Some("files".to_owned());
    assert_eq!(found(Among { server, tool, since, ..all }), [37].map(dataset));
    let within = Some(Arc::new(HashSet::from([dataset(3), dataset(38)])));
    assert_eq!(found(Among { within, ..Among::default() }), [dataset(38)]);
    // More than are named to the service.
    let many = (0..600).filter(|number| *number != 37).map(dataset).collect();
    let within = Some(Arc::new(many));
    assert_eq!(found(Among { within, ..Among::default() }), [36, 38, 39].map(dataset));
    let ann = Among { principal: Principal::new("ann"), ..Among::default() };
    assert_eq!(found(ann), [0, 1, 2, 3].map(dataset));
    let nobody = Among { principal: Principal::new("bob"), ..Among::default() };
    assert_eq!(found(nobody), []);
}

#[test]
fn vectors_go_with_their_dataset_and_give_way_to_newer_ones() {
    let Some(peer) = Peer::start("vectors_go_with_their_dataset_and_give_way_to_newer_ones") else {
        return;
    };
    let (vectors, all) = (peer.vectors(), Among::default());
    vectors.remove(&[dataset(1)]).unwrap();
    for number in 1..=3 {
        vectors.put(&document(number, 3), &passages(&[0.0, 40.0, 80.0])).unwrap();
    }
    assert_eq!(peer.count(), 9);
    vectors.remove(&[dataset(1), dataset(3), dataset(4)]).unwrap();
    assert_eq!(peer.count(), 3);
    assert_eq!(near(&vectors, 0.0, &all, 9), [0, 1, 2].map(|place| (dataset(2), place)));
    // What has become shorter has no passages left from before.
    vectors.put(&document(2, 1), &passages(&[10.0])).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 9), [(dataset(2), 0)]);
    vectors.put(&document(2, 1), &[]).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 9), []);
    vectors.put(&document(2, 1), &passages(&[10.0])).unwrap();
    // All are put again, and what another has put there stays.
    vectors.make_room(&|| Some(at(0.0))).unwrap();
    vectors.put(&document(5, 1), &passages(&[20.0])).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 9), [(dataset(2), 0), (dataset(5), 0)]);
}

#[test]
fn a_server_that_is_down_is_told_and_one_that_was_restarted_has_its_data() {
    let test = "a_server_that_is_down_is_told_and_one_that_was_restarted_has_its_data";
    let Some(mut peer) = Peer::start(test) else { return };
    let (vectors, all) = (peer.vectors(), Among::default());
    vectors.put(&document(1, 2), &passages(&[0.0, 90.0])).unwrap();
    peer.server.kill();
    let down = [
        error_of(patiently(|| vectors.nearest(&at(0.0), &all, 5))),
        error_of(vectors.put(&document(2, 1), &passages(&[0.0]))),
        error_of(vectors.remove(&[dataset(1)])),
        error_of(patiently(|| peer.vectors().nearest(&at(0.0), &all, 5))),
    ];
    for error in down {
        assert_eq!(error.to_string(), "Chroma cannot be asked");
        let why = std::error::Error::source(&error).unwrap().to_string();
        assert!(why.starts_with("127.0.0.1 cannot be reached"), "{why}");
    }
    peer.server.start_again();
    assert_eq!(near(&vectors, 0.0, &all, 5), [0, 1].map(|place| (dataset(1), place)));
    vectors.put(&document(2, 1), &passages(&[5.0])).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 2), [(dataset(1), 0), (dataset(2), 0)]);
}

#[test]
fn a_collection_that_was_removed_is_missed_and_made_again() {
    let Some(peer) = Peer::start("a_collection_that_was_removed_is_missed_and_made_again") else {
        return;
    };
    let (vectors, all) = (peer.vectors(), Among::default());
    let missing = "Chroma has no collection `mcp_artifacts`; `forebay index rebuild` makes it";
    assert_eq!(error_of(patiently(|| vectors.nearest(&at(0.0), &all, 5))).to_string(), missing);
    vectors.put(&document(1, 1), &passages(&[0.0])).unwrap();
    peer.remove_collection();
    assert_eq!(error_of(patiently(|| vectors.nearest(&at(0.0), &all, 5))).to_string(), missing);
    vectors.remove(&[dataset(1)]).unwrap();
    vectors.put(&document(2, 1), &passages(&[0.0])).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 5), [(dataset(2), 0)]);
    // Another has done the same meanwhile.
    let other = peer.vectors();
    assert_eq!(near(&other, 0.0, &all, 5), [(dataset(2), 0)]);
    peer.remove_collection();
    vectors.make_room(&|| Some(at(0.0))).unwrap();
    other.put(&document(3, 1), &passages(&[0.0])).unwrap();
    assert_eq!(near(&vectors, 0.0, &all, 5), [(dataset(3), 0)]);
}

#[test]
fn a_collection_of_another_models_vectors_is_not_mixed_with_ours() {
    let test = "a_collection_of_another_models_vectors_is_not_mixed_with_ours";
    let Some(peer) = Peer::start(test) else { return };
    let (ours, theirs, all) = (peer.vectors(), peer.vectors_of("another"), Among::default());
    theirs.put(&document(1, 1), &passages(&[0.0])).unwrap();
    for error in [
        error_of(patiently(|| ours.nearest(&at(0.0), &all, 5))),
        error_of(ours.put(&document(2, 1), &passages(&[0.0]))),
        error_of(ours.remove(&[dataset(1)])),
    ] {
        assert_eq!(
            error.to_string(),
            "the collection `mcp_artifacts` in Chroma holds vectors of another, and these are of \
             a-model; `forebay index rebuild` makes it anew, without what is in it"
        );
    }
    assert_eq!(peer.count(), 1);
    // The same name, and yet not the same.
    let longer = [PassageVector { passage: 0, vector: vec![0.5; 4] }];
    for other in [&theirs, &peer.vectors_of("another")] {
        let refused = error_of(other.put(&document(2, 1), &longer)).to_string();
        assert!(refused.contains('3') && refused.contains('4'), "{refused}");
        let refused = error_of(patiently(|| other.nearest(&longer[0].vector, &all, 5))).to_string();
        assert!(refused.contains('3') && refused.contains('4'), "{refused}");
    }
    theirs.make_room(&|| Some(longer[0].vector.clone())).unwrap();
    theirs.put(&document(2, 1), &longer).unwrap();
    assert_eq!(peer.count(), 1, "the shorter ones were in the way");
    ours.make_room(&|| None).unwrap();
    ours.put(&document(2, 1), &passages(&[0.0])).unwrap();
    assert_eq!(near(&ours, 0.0, &all, 5), [(dataset(2), 0)]);

    // One that somebody made for themselves.
    for (made, told) in [
        (json!({"metadata": {"model": "a-model"}}), "measures by l2, not by cosine"),
        (
            json!({"configuration": {"hnsw": {"space": "cosine"}}}),
            "vectors of a model that it does not name",
        ),
    ] {
        peer.remove_collection();
        let mut made = made;
        made["name"] = COLLECTION.into();
        peer.collections("POST", "", &made);
        let refused = error_of(ours.put(&document(2, 1), &passages(&[0.0]))).to_string();
        assert!(refused.contains(told), "{refused}");
        ours.make_room(&|| None).unwrap();
        ours.put(&document(2, 1), &passages(&[0.0])).unwrap();
    }
}

#[test]
fn more_vectors_than_a_batch_takes_arrive_and_two_may_write_at_once() {
    let test = "more_vectors_than_a_batch_takes_arrive_and_two_may_write_at_once";
    let Some(peer) = Peer::start(test) else { return };
    let (_, limits) = peer.server.ask("GET", "pre-flight-checks", b"");
    let most = usize::try_from(limits["max_batch_size"].as_u64().unwrap()).unwrap();
    // The last does not fit into the first batch.
    let mut many = passages(&vec![0.0; most]);
    many.push(PassageVector { passage: most, vector: at(90.0) });
    let vectors = peer.vectors();
    thread::scope(|scope| {
        // The collection is made by one of them, and found by the others.
        for number in 2..6 {
            let vectors = peer.vectors();
            scope.spawn(move || vectors.put(&document(number, 1), &passages(&[45.0])).unwrap());
        }
        vectors.put(&document(1, many.len()), &many).unwrap();
    });
    assert_eq!(peer.count(), most as u64 + 1 + 4);
    // Not by how near it is: among thousands of equal ones Chroma finds only nearly the nearest.
    let last = patiently(|| vectors.of(&dataset(1), most)).unwrap().unwrap();
    assert!(last.iter().zip(at(90.0)).all(|(one, other)| (one - other).abs() < 1e-5), "{last:?}");
    assert_eq!(patiently(|| vectors.of(&dataset(1), most + 1)).unwrap(), None);
}

/// Lines of a log, one of which is of interest.
fn log(of_interest: &str) -> String {
    let line = |n: u32| match n {
        700 => format!("{of_interest}\n"),
        n => format!("parcel {n} was weighed and stamped\n"),
    };
    (0..1_500).map(line).collect()
}

#[test]
fn what_is_kept_is_found_by_its_meaning_through_chroma_and_by_words_without_it() {
    let test = "what_is_kept_is_found_by_its_meaning_through_chroma_and_by_words_without_it";
    let Some(mut peer) = Peer::start(test) else { return };
    let url = peer.server.url();
    let mut client = Client::with(test, &[], &[("FOREBAY_CHROMA_URL", &url)]);
    let logins = client.keep_text(&log("authentication failed for ada: wrong password"));
    let orders = client.keep_orders(400);
    in_the_background("both are in Chroma", || {
        peer.passages_of(&logins) > 0 && peer.passages_of(&orders) > 0
    });
    let search = |client: &mut Client, query: &str| {
        let reply = client.call("semantic_search", &json!({"query": query})).all_text();
        let (found, _) = reply.split_once("]}").unwrap();
        let found: Value = serde_json::from_str(&format!("{found}]}}")).unwrap();
        (found["results"][0]["artifactId"].clone(), reply)
    };
    // None of these words is in it. On a busy machine the embedder may take longer than is waited for.
    eventually("it is found by its meaning", || {
        let (best, reply) = search(&mut client, "somebody could not log in");
        best == *logins && !reply.contains("by words alone")
    });
    // The same on the command line, which another variable leads there.
    let find = |query: &str| {
        let mut command = forebay(["search", query, "--json"]);
        command.env("FOREBAY_HOME", &client.home).env("MCP_GATEWAY_CHROMA_URL", &url);
        let output = command.output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (found[0]["id"].clone(), String::from_utf8(output.stderr).unwrap())
    };
    let by_meaning = (logins.as_str().into(), String::new());
    eventually("so it is there", || find("trouble signing in") == by_meaning);

    peer.server.kill();
    // An embedder that has yet to start may be late, which is told instead.
    eventually("it is told that Chroma is away", || {
        let (best, told) = find("authentication");
        assert_eq!(best, *logins);
        told.contains("found by words alone, not by meaning: Chroma cannot be asked")
    });
    peer.server.start_again();
    eventually("it is back", || find("trouble signing in") == by_meaning);

    // What another machine has put there outlives a rebuild here.
    let made = peer.collections("GET", &format!("/{COLLECTION}"), &Value::Null);
    let vector = vec![1.0; usize::try_from(made["dimension"].as_u64().unwrap()).unwrap()];
    let theirs = dataset(1);
    let put = json!({
        "ids": [format!("{theirs}#0")], "embeddings": [vector],
        "metadatas": [{"dataset": theirs.as_str(), "passage": 0}],
    });
    peer.collections("POST", &format!("/{}/upsert", made["id"].as_str().unwrap()), &put);
    let mut rebuild = forebay(["index", "rebuild"]);
    rebuild.env("FOREBAY_HOME", &client.home).env("FOREBAY_CHROMA_URL", &url);
    assert!(rebuild.output().unwrap().status.success());
    assert_eq!(peer.passages_of(theirs.as_str()), 1);
    eventually("ours is there, too", || find("trouble signing in") == by_meaning);

    // What is removed is removed there, too.
    let mut remove = forebay(["datasets", "rm", "--yes", &logins]);
    remove.env("FOREBAY_HOME", &client.home).env("FOREBAY_CHROMA_URL", &url);
    assert!(remove.output().unwrap().status.success());
    let (best, _) = search(&mut client, "somebody could not log in");
    assert_ne!(best, *logins);
    eventually("it is gone from Chroma", || peer.passages_of(&logins) == 0);
    assert!(peer.passages_of(&orders) > 0);
}
