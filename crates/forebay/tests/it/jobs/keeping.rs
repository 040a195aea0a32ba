//! What becomes of a job's result: told if it is short, else kept, whatever it holds; and told if it cannot be
//! kept.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use forebay_testkit::http::Era;
use serde_json::{Value, json};

use super::{AT_ONCE, call, ended, job_of, on_stdio, start, told};
use crate::{
    forebay,
    transports::{Client, Transport},
};

/// The job of a tool that answers with this content.
fn job_with(client: &mut Client, home: &Path, content: &Value) -> String {
    let file = home.join("members");
    fs::write(&file, format!(r#""content":{content}"#)).unwrap();
    job_of(&call(client, "members", &json!({ "path": file })))
}

/// An image that is no other, of so many bytes.
fn image(number: u8, bytes: usize) -> Value {
    let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x07\x80\0\0\x04\x38\x08\x02\0\0\0".to_vec();
    let noise = blake3::Hasher::new().update(&[number]).finalize_xof();
    let head = image.len();
    image.resize(bytes, 0);
    { noise }.fill(&mut image[head..]);
    json!({ "type": "image", "data": BASE64_STANDARD.encode(image), "mimeType": "image/png" })
}

#[test]
fn no_result_of_a_job_is_lost_for_what_it_holds() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.members]\n{AT_ONCE}"));
    let strange = json!({ "type": "hologram", "voxels": "x y ".repeat(150_000) });
    let damaged = json!({ "type": "image", "data": "?".repeat(600_000), "mimeType": "image/png" });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let contents = [
        (0..12).map(|number| image(number, 60 * 1024)).collect::<Value>(),
        json!([image(1, 50_000)]),
        json!([text("Here it is:"), image(1, 2_000)]),
        json!([strange, text("Turn it round.")]),
        json!([damaged]),
        (0..6).map(|number| text(&format!("{number} ").repeat(250))).collect(),
    ];
    for content in &contents {
        let job = job_with(&mut client, home.path(), content);
        let (told, answer) = ended(&mut client, &job);
        assert_eq!(told["status"], "completed", "{answer}");
        let id = told["dataset_id"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let mut original = forebay(["datasets", "original", id]);
        let original = original.env("FOREBAY_HOME", home.path()).output().unwrap();
        let original: Value = serde_json::from_slice(&original.stdout).unwrap();
        assert!(original["content"] == *content, "{told}");
    }
    client.end();
}

#[test]
fn a_screenshot_that_a_job_took_is_a_link() {
    let home = tempfile::tempdir().unwrap();
    let mut client = on_stdio(home.path(), &format!("[tools.members]\n{AT_ONCE}"));
    let job = job_with(&mut client, home.path(), &json!([image(1, 50_000)]));
    let (_, answer) = ended(&mut client, &job);
    let link = &answer["result"]["content"][2];
    assert_eq!((&link["type"], &link["size"]), (&json!("resource_link"), &json!(50_000)));
    let read = client.ask("resources/read", &json!({ "uri": link["uri"] }));
    assert_eq!(read["result"]["contents"][0]["blob"], image(1, 50_000)["data"]);
    client.end();
}

#[test]
fn a_result_that_cannot_be_kept_is_told_unless_that_is_an_error() {
    for (policy, status) in [("pass", "completed"), ("error", "failed")] {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("datasets"), "in the way").unwrap();
        let settings = format!("on_store_failure = \"{policy}\"\n[tools.\"*\"]\n{AT_ONCE}");
        let mut client = on_stdio(home.path(), &settings);
        for (bytes, size) in [(100_000, "over the threshold"), (2_000, "under it")] {
            let job = job_of(&call(&mut client, "csv", &json!({ "count": bytes })));
            let question = json!({ "job_id": job, "wait_seconds": 40 });
            let answer = call(&mut client, "get_run_status", &question);
            let said = told(&answer);
            assert_eq!(said["status"], status, "{size}: {said}");
            if status == "completed" {
                let text = answer["result"]["content"][1]["text"].as_str().unwrap();
                let rows = bytes / r"12,some name,2024-01-01\n".len();
                assert_eq!(text.matches("some name").count(), rows, "{size}");
            } else {
                assert!(said["error"].as_str().unwrap().contains("could not be"), "{size}: {said}");
            }
        }
        client.end();
    }
}

#[test]
fn a_result_that_is_given_again_is_the_dataset_that_it_was() {
    for era in [Era::Legacy, Era::Modern] {
        let home = tempfile::tempdir().unwrap();
        let settings =
            format!("[tools.records]\ncache_seconds = 3600\ncache_unmarked = true\n{AT_ONCE}");
        let mut client = start(home.path(), &settings, Transport::Stdio, era);
        // Tools are cached once they are known.
        client.ask("tools/list", &json!({}));
        let mut dataset = || {
            let job = job_of(&call(&mut client, "records", &json!({ "count": 2_000 })));
            ended(&mut client, &job).0["dataset_id"].as_str().unwrap().to_owned()
        };
        let (first, again) = (dataset(), dataset());
        assert_eq!(again, first, "the summary is no dataset of its own");
        let query = json!({ "query": format!("SELECT count(*) AS n FROM {again}") });
        let counted = call(&mut client, "analyze-with-duckdb", &query);
        assert_eq!(counted["result"]["content"][0]["text"], "n\n2001", "{counted}");
        client.end();
    }
}
