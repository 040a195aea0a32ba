//! Records within records: what a model asks of them is answered rightly, or refused with what to write.

use serde_json::{Value, json};

use super::Client;

const PADDING: &str = "a note that makes the result long enough to be kept";

/// Records of which one has a key more than the others.
fn records() -> Value {
    let record = |n: u64| {
        let mut a = json!({"n": n % 50, "d": (n % 7).to_string(), "s": PADDING});
        if !n.is_multiple_of(4) {
            a["z"] = n.into();
        }
        if n == 150 {
            a["extra"] = true.into();
        }
        let odd = match n % 3 {
            0 => json!(n),
            1 => json!("x"),
            _ => json!({"a": n, "l": [1, 2]}),
        };
        json!({"id": n, "a": a, "odd": odd, "lines": [{"sku": n % 9, "id": n + 1000}]})
    };
    (0..300).map(record).collect()
}

#[test]
fn one_optional_key_changes_no_answer() {
    let mut client = Client::new("optional-key");
    let id = client.keep(&records());
    let found = client.analyze(&format!(
        "SELECT count(*) FILTER (a.d = '3') AS d, count(*) FILTER (a.z IS NULL) AS z, max(a.n) AS n, \
         count(a.extra) AS e, min(CAST(a.d AS INT)) AS c FROM {id}"
    ));
    assert_eq!(found.rows(), "d,z,n,e,c\n43,75,49,1,0");
    let ordered = client.analyze(&format!("SELECT id FROM {id} ORDER BY a.n DESC, id LIMIT 2"));
    assert_eq!(ordered.rows(), "id\n49\n99");
}

#[test]
fn a_list_of_objects_is_a_table_with_its_parents_key() {
    let mut client = Client::new("inner-table");
    let id = client.keep(&records());
    let rows = client.analyze(&format!("SELECT * FROM {id}_lines WHERE sku = 4 LIMIT 2"));
    assert_eq!(rows.rows(), "parent_id,id,sku\n4,1004,4\n13,1013,4");
    let page = client.read(&json!({"dataset_id": format!("{id}_lines"), "offset": 299}));
    let page: Value = serde_json::from_str(page.text(0)).unwrap();
    assert_eq!(page["results"], json!([{"parent_id": 299, "sku": 2, "id": 1299}]));
    let known = client.read(&json!({"dataset_id": id, "summary_only": true}));
    let known: Value = serde_json::from_str(known.text(0)).unwrap();
    assert_eq!(known["tables"][0]["name"], format!("{id}_lines"));
    let names: Vec<&str> =
        known["fields"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"a.extra") && names.contains(&"(odd->>'a')"), "{names:?}");
}

#[test]
fn json_is_not_compared_ordered_or_computed_with_as_its_text() {
    let mut client = Client::new("json-values");
    let id = client.keep(&records());
    for (query, instead) in [
        ("SELECT count(*) FROM {} WHERE odd = 'x'", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd.a = '5'", "(odd ->> 'a')"),
        ("SELECT count(*) FROM {} t WHERE t.odd['a'] > 5", "TRY_CAST("),
        ("SELECT count(*) FROM {} WHERE (odd->'a') > 5", "(odd ->> 'a')"),
        ("SELECT count(*) FROM {} WHERE odd IN ('x', 'y')", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd BETWEEN '1' AND '3'", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd LIKE 'x%'", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd::VARCHAR = 'x'", "(odd ->> '$')"),
        ("SELECT max(odd) FROM {}", "(odd ->> '$')"),
        ("SELECT id FROM {} ORDER BY odd", "(odd ->> '$')"),
        ("SELECT odd AS o FROM {} ORDER BY o", "(odd ->> '$')"),
        ("SELECT id, odd FROM {} ORDER BY 2", "(odd ->> '$')"),
        ("WITH c AS (SELECT odd AS o FROM {}) SELECT count(*) FROM c WHERE o = 'x'", "(o ->> '$')"),
        ("SELECT * FROM (SELECT odd AS o FROM {}) WHERE lower(o) = 'x'", "(o ->> '$')"),
        ("SELECT unnest(odd) FROM {}", "unnest(odd->'$[*]')"),
        ("SELECT rank() OVER (ORDER BY odd) FROM {}", "(odd ->> '$')"),
        ("SELECT max(odd) OVER () FROM {}", "(odd ->> '$')"),
        ("SELECT odd FROM {} ORDER BY ALL", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd IN (SELECT 'x')", "(odd ->> '$')"),
        ("SELECT count(*) FROM {} WHERE odd = ANY (SELECT 'x')", "(odd ->> '$')"),
        ("SELECT list(odd ORDER BY odd) FROM {}", "holds JSON"),
        ("SELECT max({'o': odd}) FROM {}", "holds JSON"),
    ] {
        let reply = client.analyze(&query.replace("{}", &id));
        assert!(reply.is_error(), "{query}: {reply:?}");
        assert!(reply.error().contains(instead), "{query}: {}", reply.error());
    }
    for (query, expected) in [
        ("SELECT count(*) FROM {} WHERE (odd->>'$') = 'x'", "100"),
        ("SELECT count(*) FROM {} WHERE TRY_CAST(odd->>'a' AS DOUBLE) > 100", "67"),
        ("SELECT count(odd) FROM {} WHERE odd IS NOT NULL", "300"),
        ("SELECT count(*) FROM (SELECT unnest(odd->'$.l[*]') AS i FROM {})", "200"),
        ("SELECT count(*) FROM (SELECT odd, count(*) FROM {} GROUP BY odd)", "201"),
    ] {
        let reply = client.analyze(&query.replace("FROM {}", &format!("FROM {id}")));
        assert_eq!(reply.rows().lines().nth(1), Some(expected), "{query}: {reply:?}");
    }
}

#[test]
fn a_history_has_one_type_for_each_column() {
    let mut client = Client::new("one-type");
    let result = |price: &Value, meta: &Value| -> Value {
        let one = |n: u64| json!({"id": n, "price": price, "meta": meta, "note": PADDING});
        (0..400).map(one).collect()
    };
    client.keep(&result(&json!(null), &json!({"a": 1, "l": []})));
    client.keep(&result(&json!(9), &json!({"b": "x", "l": [{"k": 2}]})));
    client.keep(&result(&json!(10.5), &json!({"a": 2.5})));
    let found = client.analyze(
        "SELECT typeof(any_value(price)) AS t, max(price) AS p, sum(meta.a) AS a, count(meta.b) AS b, \
         sum(meta.l[1].k) AS k, count(DISTINCT _dataset) AS d FROM file_history",
    );
    assert_eq!(found.rows(), "t,p,a,b,k,d\nDOUBLE,10.5,1400.0,400,800,3");
}

#[test]
fn the_same_kind_of_records_under_several_keys_is_one_table() {
    let mut client = Client::new("several-keys");
    let items = |n: u64| -> Value {
        (0..30).map(|k| json!({"name": format!("{PADDING} {k}"), "n": n * 100 + k})).collect()
    };
    let responses: serde_json::Map<String, Value> =
        (0..14).map(|n| (format!("page-{n}"), json!({"total": 30, "items": items(n)}))).collect();
    let id = client.keep(&responses.into());
    let found = client.analyze(&format!(
        "SELECT count(*) AS rows, count(DISTINCT key) AS pages, max(n) AS n FROM {id} WHERE total = 30"
    ));
    assert_eq!(found.rows(), "rows,pages,n\n420,14,1329");
    let page =
        client.read(&json!({"dataset_id": id, "sort": "-n", "limit": 1, "fields": ["key", "n"]}));
    let page: Value = serde_json::from_str(page.text(0)).unwrap();
    assert_eq!(page["results"], json!([{"key": "page-13", "n": 1329}]));
}
