//! What providers are asked fits the types that their own packages publish.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use forebay_testkit::real;
use serde_json::{Value, json};

use super::{Model, PROVIDERS, Session, asking, findings, orders, said_by, shown};

#[test]
fn requests_fit_the_published_types() {
    let test = "requests_fit_the_published_types";
    let Some(python) = real::python_for_models(test) else { return };
    let mut asked = Vec::new();
    for provider in PROVIDERS {
        let model =
            Model::answering(move |asked| (200, said_by(provider, &findings(&shown(&asked.body)))));
        let mut session =
            Session::start(asking(&format!("types_{provider}"), provider, &model.url));
        session.result(&orders(60));
        let question = model.asked().remove(0);
        let (path, key) = match provider {
            "gemini" => {
                ("/v1beta/models/gemini-2.5-flash:generatecontent", "x-goog-api-key: secret-key-1")
            }
            "anthropic" => ("/v1/messages", "x-api-key: secret-key-1"),
            _ => ("/v1/chat/completions", "authorization: bearer secret-key-1"),
        };
        assert_eq!(question.path, path);
        assert!(question.head.contains(key), "{}", question.head);
        if provider == "anthropic" {
            assert!(question.head.contains("anthropic-version: 2023-06-01"), "{}", question.head);
        }
        let said: Value = serde_json::from_str(&said_by(provider, &findings(""))).unwrap();
        asked.push(json!({"provider": provider, "request": question.body, "answer": said}));
    }
    let words = python.script("models/check.py");
    let mut child = Command::new(&words[0])
        .arg("-B")
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(Value::from(asked).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert_eq!(said.trim(), "gemini fits\nanthropic fits\nopenai fits");
}
