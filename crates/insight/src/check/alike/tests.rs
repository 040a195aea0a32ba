//! Results that differ in one thing.

use forebay_records::describe;
use serde_json::json;

use super::*;

fn are_alike(one: &str, other: &str) -> bool {
    let basis = |text: &str| {
        let payload = Mapped::from(text.as_bytes().to_vec());
        Basis::of_facts(text.to_owned(), &describe(&payload), &payload)
    };
    basis(one).is_alike(&basis(other))
}

/// Records with one member that differs, beside an identifier.
fn records(count: u32, value: impl Fn(u32) -> Value) -> String {
    let record = |number| json!({"id": format!("job-{number:03}"), "value": value(number)});
    Value::from((0..count).map(record).collect::<Vec<_>>()).to_string()
}

#[test]
fn what_differs_a_little_is_alike() {
    let status = |number: u32| json!(["late", "done", "done"][number as usize % 3]);
    let message = |number: u32| json!(format!("part {number} is good"));
    let all_but_first = |text: &str| {
        let records: Vec<Value> = serde_json::from_str(text).unwrap();
        records[1..].to_vec()
    };
    for (what, one, other) in [
        ("a record more", records(60, status), records(61, status)),
        ("numbers", records(60, |it| json!(it * 10)), records(61, |it| json!(it * 10))),
        (
            "countries",
            records(60, |it| json!(["a", "b", "c", "d", "e", "f"][it as usize % 6])),
            records(60, |it| json!(["a", "b", "c", "d", "e", "f"][it as usize % 6])) + "\n",
        ),
        ("a record less", records(61, status), records(60, status)),
        ("messages", records(60, message), records(61, message)),
        (
            "numbers of the same records",
            records(60, |it| json!({"of": message(it), "price": f64::from(it) + 0.5})),
            records(60, |it| json!({"of": message(it), "price": f64::from(it) + 0.75})),
        ),
        (
            "one in front",
            records(61, |_| json!("x")),
            Value::from(all_but_first(&records(61, |_| json!("x")))).to_string(),
        ),
        ("lists", records(60, |_| json!(["x", "y"])), records(61, |_| json!(["x", "y"]))),
    ] {
        assert!(are_alike(&one, &other), "{what}");
    }
}

#[test]
fn what_says_something_else_is_not_alike() {
    let all = |text: &'static str| records(60, move |_| json!(text));
    let each = |text: &'static str| records(60, move |it| json!(format!("check {it} has {text}")));
    let beside = |state: &str| {
        let rows: Value = serde_json::from_str(&all("fine")).unwrap();
        json!({"state": state, "rows": rows}).to_string()
    };
    let one_of_many = |text: &str| {
        let line = |it: u32| if it == 30 { text.to_owned() } else { format!("part {it} is good") };
        (0..60).map(line).collect::<Vec<_>>().join("\n")
    };
    let days = |month: u32| {
        records(60, move |it| json!(format!("2026-{month:02}-{:02}T10:00:00Z", 1 + it % 28)))
    };
    let numbered = |first: u32| {
        let record = |it: u32| json!({"id": first + it, "state": if it == 5 { "x" } else { "y" }});
        Value::from((0..60).map(record).collect::<Vec<_>>()).to_string()
    };
    let one_failed =
        |which: u32| records(60, move |it| json!(if it == which { "failed" } else { "passed" }));
    let rare = |text: &'static str| {
        records(60, move |it| match it {
            30 => json!(text),
            it => json!(["a", "b", "c", "d", "e", "f", "g"][it as usize % 7]),
        })
    };
    let failed_from = |first: u32, count: u32| {
        records(count, move |it| json!(if it < first { "passed" } else { "failed" }))
    };
    let measured = |most: u32| {
        let value = move |it: u32| {
            let (who, what) = (["Alice", "Bob"][it as usize % 2], if it == most { 99 } else { it });
            json!({"who": who, "price": f64::from(what) + 0.5})
        };
        let rows: Vec<Value> = (0..60).map(value).collect();
        Value::from(rows).to_string()
    };
    let whose = |of_failed: &'static str| {
        let record = move |it: u32| {
            let who = ["Alice", "Bob"][it as usize % 2];
            let has_failed = if of_failed == "both" { it < 30 } else { who == of_failed };
            json!({"who": who, "state": if has_failed { "failed" } else { "passed" }})
        };
        Value::from((0..60).map(record).collect::<Vec<_>>()).to_string()
    };
    for (what, one, other) in [
        ("which one has failed", one_failed(17), one_failed(41)),
        ("one more of what was one", one_failed(59), failed_from(59, 61)),
        ("a rare value among many", rare("failed"), rare("paused")),
        ("what there is more of", failed_from(54, 100), failed_from(46, 100)),
        ("what becomes more", failed_from(51, 100), failed_from(51, 104)),
        ("whose have failed", whose("Alice"), whose("both")),
        ("whose is the greatest", measured(40), measured(41)),
        ("which is which by number", numbered(17), numbered(18)),
        ("a value of all", all("passed"), all("failed")),
        ("a word in each", each("passed"), each("failed")),
        (
            "whom each is for",
            records(60, |it| json!(format!("transfer {it} to Alice"))),
            records(60, |it| json!(format!("transfer {it} to Mallory"))),
        ),
        (
            "names",
            records(60, |it| json!(format!("alice-{it}"))),
            records(60, |it| json!(format!("mallory-{it}"))),
        ),
        ("a value beside", beside("all is well"), beside("all is down")),
        ("a line of a text", one_of_many("part 30 is good!"), one_of_many("part 30 has burned")),
        ("the order", records(60, |it| json!(it)), records(60, |it| json!(59 - it))),
        ("what is in lists", records(60, |_| json!(["ok"])), records(60, |_| json!(["bad"]))),
        (
            "what is in objects",
            records(60, |_| json!({"a": "ok"})),
            records(60, |_| json!({"a": "no"})),
        ),
        (
            "how many are missing",
            records(60, |it| if it == 0 { Value::Null } else { json!("x") }),
            records(60, |it| if it < 50 { Value::Null } else { json!("x") }),
        ),
        ("times", days(5), days(6)),
        ("truth", records(60, |_| json!(true)), records(60, |_| json!(false))),
        (
            "a sign",
            records(60, |it| json!(f64::from(it) + 0.5)),
            records(60, |it| json!(f64::from(it) - 99.5)),
        ),
        ("many more", all("passed"), records(80, |_| json!("passed"))),
        (
            "a table in a text",
            "| a | b |\n|---|---|\n| 1 | x |\n| 2 | x |\n".to_owned(),
            "It burns.\n\n| a | b |\n|---|---|\n| 1 | x |\n| 2 | x |\n".to_owned(),
        ),
    ] {
        assert!(!are_alike(&one, &other), "{what}");
        assert!(are_alike(&one, &one), "{what}: the same is alike");
    }
}
