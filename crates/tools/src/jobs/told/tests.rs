//! Every reply is as short as is promised, whatever others have written.

use forebay_store::{JobEnd, JobId, Principal};

use super::*;

fn job(tool: &str) -> Job {
    let now = Timestamp::now();
    Job {
        id: JobId::random(),
        server: "s".to_owned(),
        tool: tool.to_owned(),
        work: String::new(),
        principal: Principal::default(),
        session: None,
        project: None,
        started: now,
        updated: now,
        progress: None,
        state: JobState::Running,
    }
}

/// Names and texts that take more room than they seem to.
fn hostile() -> Vec<String> {
    let texts = ["", "plain", "\"\\\n\t\u{1b}[2J", "\u{202e}", "数", "😀\u{0}"];
    texts.iter().map(|text| text.repeat(2_000 / text.len().max(1))).collect()
}

const PREFIXED: &str = "12345678901234567890123456789012get_run_status";

#[test]
fn what_is_said_of_a_running_job_has_less_than_500_bytes() {
    for text in hostile() {
        let mut running = job(&text);
        let notices = [
            begun(&running, Duration::ZERO, PREFIXED),
            begun(&running, Duration::from_secs(99_999), PREFIXED),
            again(&running, PREFIXED),
        ];
        for notice in notices {
            assert!(notice.len() < 475, "{}", String::from_utf8_lossy(&notice));
            let notice: Value = serde_json::from_slice(&notice).unwrap();
            assert_eq!(notice["structuredContent"]["status"], "running");
            let told = notice["content"][0]["text"].as_str().unwrap();
            let told: Value = serde_json::from_str(told).unwrap();
            assert_eq!(told, notice["structuredContent"], "programs and models get the same");
        }
        let progress = JobProgress { done: 1e300, total: Some(1e-300), message: text.clone() };
        running.note_progress(progress, Timestamp::now());
        let told = super::running(&running, "").into_json();
        assert!(told.len() < 475, "{}", String::from_utf8_lossy(&told));
    }
}

#[test]
fn what_is_said_of_a_job_that_has_ended_has_less_than_2000_bytes() {
    for text in hostile() {
        let mut failed = job(&text);
        failed.end(JobEnd::Failed(text.clone()), Timestamp::now());
        let JobState::Failed { error } = &failed.state else { panic!("it has failed") };
        let told = fitting(ENDED_BYTES, error, |error| {
            Reply::text(head(&failed, [("error", error.into())]))
        });
        let json = told.into_json();
        assert!(json.len() < 1_975, "{}", json.len());
        assert!(unknown(&text, &vec![job(&text); 20]).unwrap_err().told().len() < 1_500);
    }
}

#[test]
fn a_result_that_takes_more_room_than_it_seems_does_not_fit() {
    let job = job("t");
    let of = |text: &str| format!(r#"{{"structuredContent":{{"a":"{text}"}}}}"#);
    assert!(fits(&job, &of(&"x".repeat(1_300))));
    assert!(!fits(&job, &of(&r#"\""#.repeat(650))), "escaped, it is twice as long");
}

#[test]
fn a_short_result_comes_as_it_is() {
    let mut job = job("t");
    let result = r#"{"content":[{"type":"text","text":"7"}],"structuredContent":{"n":7}}"#;
    let outcome = JobOutcome { result: Some(result.to_owned()), dataset: None, summary: None };
    job.end(JobEnd::Completed(outcome), Timestamp::now());
    let reply: Value = serde_json::from_slice(&with_result(&job, result).into_json()).unwrap();
    assert_eq!(reply["content"][1], json!({"type": "text", "text": "7"}));
    let bare = with_result(&job, r#"{"content":[],"structuredContent":{"n":7}}"#);
    let reply: Value = serde_json::from_slice(&bare.into_json()).unwrap();
    let told: Value = serde_json::from_str(reply["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&told["status"], &told["result"]), (&json!("completed"), &json!({"n": 7})));
}
