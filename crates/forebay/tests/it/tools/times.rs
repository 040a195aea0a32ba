//! Times with an offset: UTC in SQL, and as they are written beside that.

use serde_json::{Value, json};

use super::Client;

/// Nights around the turn of a month, two hours ahead of UTC.
fn visits() -> Value {
    let visit = |n: u64| {
        json!({
            "id": n,
            "seen_at": format!("2025-03-{:02}T00:30:00+02:00", n % 2 + 1),
            "seen": [{"by": n, "met": "2025-03-01T00:30:00+02:00"}],
            "note": "x".repeat(40),
        })
    };
    (0..900).map(visit).collect()
}

#[test]
fn a_time_with_an_offset_is_told_to_be_utc_and_has_its_local_date() {
    let mut client = Client::new("offsets");
    let summary = {
        let path = client.home.join("visits.json");
        std::fs::create_dir_all(&client.home).unwrap();
        std::fs::write(&path, visits().to_string()).unwrap();
        client.call("file", &json!({"path": path}))
    };
    let said = "UTC in SQL, as written in seen_at_local";
    assert!(summary.all_text().contains(said), "{}", summary.all_text());
    let id = summary.dataset();
    let mut ask =
        |sql: &str| client.call("analyze-with-duckdb", &json!({"query": sql})).rows().to_owned();
    let days = |column: &str| {
        format!("SELECT {column}::DATE AS day, count(*) AS n FROM {id} GROUP BY 1 ORDER BY 1")
    };
    assert_eq!(ask(&days("seen_at")), "day,n\n2025-02-28,450\n2025-03-01,450");
    assert_eq!(ask(&days("seen_at_local")), "day,n\n2025-03-01,450\n2025-03-02,450");
    let inner = ask(&format!("SELECT DISTINCT met, met_local FROM {id}_seen"));
    assert_eq!(inner, "met,met_local\n2025-02-28 22:30:00,2025-03-01 00:30:00");
    let page = |more: Value| {
        let mut arguments = json!({"dataset_id": id, "limit": 1});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let whole = client.call("read-saved-dataset", &page(json!({}))).json();
    assert_eq!(whole["results"][0]["seen_at"], "2025-03-01T00:30:00+02:00", "as it is written");
    assert_eq!(whole["results"][0].get("seen_at_local"), None);
    let named =
        client.call("read-saved-dataset", &page(json!({"fields": ["seen_at_local"]}))).json();
    assert_eq!(named["results"][0], json!({"seen_at_local": "2025-03-01 00:30:00"}));
    let facts = client.call("read-saved-dataset", &json!({"dataset_id": id, "summary_only": true}));
    assert!(facts.text(0).contains(r#""local_time_in":"seen_at_local""#), "{}", facts.text(0));
}

#[test]
fn a_time_that_is_asked_for_with_its_offset_keeps_it() {
    let mut client = Client::new("offsets-asked");
    let id = client.keep(&visits());
    for condition in [
        "seen_at = '2025-03-01T00:30:00+02:00'",
        "seen_at < TIMESTAMP '2025-03-01 00:30:00+02:00'",
        "seen_at BETWEEN '2025-03-01T00:30:00+0200' AND '2025-03-02'",
        "seen_at IN ('2025-03-01T00:30:00+02:00')",
    ] {
        let told = client.analyze(&format!("SELECT count(*) n FROM {id} WHERE {condition}"));
        assert!(told.error().contains("write '2025-02-28 22:30:00'"), "{}", told.error());
    }
    for condition in ["seen_at = '2025-02-28 22:30:00'", "seen_at_local = '2025-03-01 00:30:00'"] {
        let found = client.analyze(&format!("SELECT count(*) n FROM {id} WHERE {condition}"));
        assert_eq!(found.rows(), "n\n450");
    }
    let filter = json!({"seen_at": "2025-03-01T00:30:00+02:00"});
    let page = client.read(&json!({"dataset_id": id, "filter": filter, "limit": 1})).json();
    assert_eq!(page["pagination"]["total_count"], 450, "{page}");
}
