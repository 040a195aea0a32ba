//! Shapes that responses have: what the summary tells is what SQL answers.

use serde_json::{Value, json};

use super::Client;

/// Makes a result long enough to be kept.
fn note() -> String {
    "what a model can read at a glance passes as it is; ".repeat(25)
}

fn records(count: u64, record: impl Fn(u64) -> Value) -> Value {
    (0..count).map(record).collect()
}

#[test]
fn every_shape_is_answered_as_it_is() {
    let indented = |n: u64| serde_json::to_string_pretty(&json!({"id": n, "s": note()})).unwrap();
    let sequence: Vec<String> = (0..40).map(indented).collect();
    let python: Vec<String> =
        (0..60).map(|n| format!("{{'id': {n}, 'on': True, 's': \"it's {}\"}}", note())).collect();
    let beside =
        records(60, |n| json!({"role": format!("r{n}"), "content": {"n": n, "s": note()}}));
    let own = records(
        60,
        |n| json!({"id": n, "s": note(), "a": {"items": [{"x": 1}, {"x": 2}]}, "items": [{"y": n}]}),
    );
    let levels = records(
        30,
        |n| json!({"id": n, "s": note(), "l": [{"id": 7, "m": [{"id": 9}, {"id": 9}]}]}),
    );
    let capitals = records(
        60,
        |n| json!({"Name": format!("a{n}"), "name": format!("b{}", n % 3), "s": note()}),
    );
    let fine =
        records(60, |n| json!({"t": format!("2024-01-01T10:00:00.123456{n:03}Z"), "s": note()}));
    let spaced = records(60, |n| json!({"n": n, "state": "in  progress", "a\nb": 1, "s": note()}));
    let forms = [
        "2024-01-01T10:00Z",
        "2024-01-01 10:00:00 +0200",
        "2024-01-01 10:00:00 Z",
        "2024-01-01t10:00:00z",
    ];
    let time = |n: u64| forms[usize::try_from(n % 4).unwrap()];
    let times =
        records(60, |n| json!({"o": {"t": time(n), "n": n}, "l": [{"t": time(n)}], "s": note()}));
    for (text, query, rows) in [
        (
            times.to_string(),
            "SELECT sum(o.n) n, min(o.t) t, (SELECT count(*) FROM {}_l WHERE hour(t) = 10) c FROM {}",
            "n,t,c\n1770,2024-01-01 08:00:00,45",
        ),
        (sequence.join("\n"), "SELECT count(*) c FROM {}", "c\n40"),
        (
            format!("[{}]", python.join(", ")),
            "SELECT count(*) c FROM {} WHERE s LIKE 'it''s%' AND \"on\"",
            "c\n60",
        ),
        (
            beside.to_string(),
            "SELECT count(DISTINCT role) c, sum(content.n) n FROM {}",
            "c,n\n60,1770",
        ),
        (own.to_string(), "SELECT count(y) c FROM {}_items", "c\n60"),
        (own.to_string(), "SELECT count(x) c FROM {}_a_items", "c\n120"),
        (
            levels.to_string(),
            "SELECT DISTINCT id, parent_id, count(parent_parent_id) c FROM {}_m GROUP BY ALL ORDER BY ALL LIMIT 1",
            "id,parent_id,c\n9,7,60",
        ),
        (
            capitals.to_string(),
            "SELECT count(DISTINCT Name_1) a, count(DISTINCT name_2) b FROM {}",
            "a,b\n60,3",
        ),
        (fine.to_string(), "SELECT count(DISTINCT t) c FROM {}", "c\n60"),
        (
            spaced.to_string(),
            "SELECT count(*) c, sum(a_b) n FROM {} WHERE state = 'in  progress'",
            "c,n\n60,60",
        ),
    ] {
        let mut client = Client::new("shapes");
        let id = client.keep_text(&text);
        let reply = client.analyze(&query.replace("{}", &id));
        assert_eq!(reply.rows(), rows, "{query}");
    }
}

#[test]
fn what_stands_beside_the_records_is_told() {
    let mut client = Client::new("beside");
    let hits = records(70, |n| json!({"_id": n, "_source": {"s": note()}}));
    let search = json!({
        "took": 5, "_shards": {"total": 5}, "warnings": ["only 70 of 900 shown"], "none": [],
        "hits": {"total": {"value": 10_000}, "hits": hits},
    });
    let summary = client.summary_of(&search.to_string());
    assert!(summary.contains("- Beside them: $.hits.total.value = 10000, "), "{summary}");
    assert!(summary.contains("$.warnings = [\"only 70 of 900 shown\"]"), "{summary}");
    assert!(summary.contains("$.none = []"), "{summary}");

    let orders =
        |n: u64| records(30, |o| json!({"o": o, "s": format!("order {o} of {n}, {}", note())}));
    let accounts = records(4, |n| json!({"balance": 100 + n, "orders": orders(n)}));
    let summary = client.summary_of(&json!({ "accounts": accounts }).to_string());
    assert!(
        summary.contains("120 (json at $.accounts[].orders; balance belongs to the parent)"),
        "{summary}"
    );
}

#[test]
fn advice_about_a_name_can_be_followed() {
    let mut client = Client::new("advice-about-names");
    let priced = records(60, |n| json!({"unit price": n, "order": n, "s": note()}));
    let id = client.keep(&priced);
    for (query, tried) in [
        (
            format!("SELECT max(unit) m FROM {id}"),
            format!("SELECT max(\"unit price\") m FROM {id}"),
        ),
        (
            format!("SELECT max(p.ordr) m FROM {id} p"),
            format!("SELECT max(p.\"order\") m FROM {id} p"),
        ),
    ] {
        let told = client.analyze(&query);
        assert!(told.error().contains(&format!("Try: {tried}\n")), "{}", told.error());
        assert_eq!(client.analyze(&tried).rows(), "m\n59");
    }
}
