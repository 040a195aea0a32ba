//! What was kept, in programs: queried, read and saved.

use forebay_testkit::http::Era;
use serde_json::{Value, json};

use super::{failure, value, wrapped, wrapped_at};
use crate::gateway::dataset_in;

#[test]
fn what_was_kept_is_queried_and_read_in_full() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let summary = client.text("records", &json!({ "count": 5000 }));
    let id = dataset_in(&summary).to_owned();
    let code = format!(
        "const rows = await datasets.query('SELECT id, name FROM {id} ORDER BY id');\n\
         const whole = await datasets.read('{id}');\n\
         const page = await datasets.read('{id}', {{ offset: 10, limit: 2, fields: ['id'] }});\n\
         return {{ rows: rows.length, first: rows[0].id, whole: whole.length, page }}"
    );
    let told: Value = serde_json::from_str(&value(&mut client, &code)).unwrap();
    assert_eq!((&told["rows"], &told["whole"]), (&json!(5001), &json!(5001)), "{told}");
    assert_eq!(told["page"]["pagination"]["total_count"], 5001, "{told}");
    let wrong = failure(&mut client, "await datasets.query('SELECT nothing FROM records')");
    assert!(wrong.contains("nothing"), "{wrong}");
    let refused = failure(&mut client, "await datasets.query(\"COPY records TO '/tmp/x'\")");
    assert!(refused.contains("SELECT"), "{refused}");
}

#[test]
fn what_a_program_saves_is_a_dataset_by_its_name() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let code = "const [, ...rows] = await tools.orders.records({ count: 300 });\n\
                const saved = await datasets.save('small_orders', rows.map(row => ({ id: row.id, twice: row.id * 2 })));\n\
                const [sum] = await datasets.query('SELECT sum(twice) AS n FROM small_orders');\n\
                return { saved, sum: sum.n, again: (await datasets.read('small_orders')).length }";
    let told: Value = serde_json::from_str(&value(&mut client, code)).unwrap();
    assert_eq!((&told["saved"]["records"], &told["again"]), (&json!(300), &json!(300)), "{told}");
    let listed = client.text("list-saved-datasets", &json!({}));
    assert!(listed.contains("small_orders"), "{listed}");
    let bad = failure(&mut client, "await datasets.save('../x', [1])");
    assert!(bad.contains("letters, digits"), "{bad}");
}

#[test]
fn another_session_sees_of_it_what_the_scope_allows() {
    for (scope, is_seen) in [("session", false), ("project", true)] {
        let settings = format!("scope = \"{scope}\"\n");
        let (home, mut client) = wrapped(Era::Legacy, &settings);
        let code = "await datasets.save('mine', [{ a: 1 }, { a: 2 }]); return 1";
        value(&mut client, code);
        client.end();
        let mut other = wrapped_at(&home, Era::Legacy, &settings);
        let read = "return (await datasets.read('mine')).length";
        if is_seen {
            assert_eq!(value(&mut other, read), "2");
        } else {
            let told = failure(&mut other, read);
            assert!(told.contains("mine is neither a dataset nor a tool"), "{told}");
        }
        other.end();
    }
}

#[test]
fn what_sql_cannot_have_and_what_json_cannot_hold_is_said() {
    let (_home, mut client) = wrapped(Era::Legacy, "");
    let empty = failure(&mut client, "await datasets.save('none', [])");
    assert!(empty.contains("An empty list has no fields"), "{empty}");
    let code = "await datasets.save('rates', [{ n: 0, d: 0 }, { n: 4, d: 2 }]);\n\
                return await datasets.query('SELECT n / d AS ratio FROM rates')";
    let told = failure(&mut client, code);
    assert!(told.contains("nullif(y, 0)"), "{told}");
}
