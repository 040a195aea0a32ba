//! What is never kept is not kept by way of a program, either.

use forebay_testkit::http::Era;
use serde_json::json;

use super::{failure, run, texts, value, wrapped};
use crate::gateway::client::Client;

const SETTINGS: &str = "excluded_tools = [\"records\"]\n";

/// A program that has read what is never kept, and goes on.
fn after_reading(code: &str) -> String {
    format!("const rows = await tools.orders.records({{ count: 5000 }});\n{code}")
}

fn assert_nothing_is_kept(client: &mut Client) {
    let listed = client.text("list-saved-datasets", &json!({}));
    assert!(listed.contains("\"total_count\":0"), "{listed}");
}

#[test]
fn what_a_program_makes_of_it_is_given_as_far_as_it_fits_and_not_kept() {
    let (_home, mut client) = wrapped(Era::Legacy, SETTINGS);
    assert_eq!(value(&mut client, &after_reading("return rows.length")), "5001");
    for code in ["return rows", "rows.forEach(row => console.log(row)); return 1"] {
        let told = failure(&mut client, &after_reading(code));
        assert!(told.contains("has called orders.records, whose results never are"), "{told}");
        assert!(told.contains("Return less") && told.len() < 10_000, "{told}");
    }
    assert_nothing_is_kept(&mut client);
}

#[test]
fn nothing_can_be_saved_after_it() {
    let (_home, mut client) = wrapped(Era::Legacy, SETTINGS);
    let told = failure(&mut client, &after_reading("await datasets.save('copy', rows)"));
    assert!(told.contains("has called orders.records, whose results are never kept"), "{told}");
    assert_nothing_is_kept(&mut client);
    // Another program has read nothing of it.
    value(&mut client, "return (await datasets.save('own', [{ a: 1 }])).id");
}

#[test]
fn the_logs_of_a_program_that_fails_are_kept_if_they_are_long_and_may_be() {
    let logging =
        "for (let n = 0; n < 5000; n++) console.log('line ' + n); throw new Error('late')";
    let (_home, mut client) = wrapped(Era::Legacy, SETTINGS);
    let told = failure(&mut client, &after_reading(logging));
    assert!(
        told.contains("late") && told.contains("results of orders.records never are"),
        "{told}"
    );
    assert_nothing_is_kept(&mut client);
    let told = failure(&mut client, logging);
    assert!(told.contains("late") && told.contains("They begin so:\nline 0\nline 1\n"), "{told}");
    let id = crate::gateway::dataset_in(&told);
    let lines = json!({ "dataset_id": id, "lines": "4999-5000" });
    let read = client.text("read-saved-dataset", &lines);
    assert!(read.contains("\"line 4998\",\"line 4999\""), "{read}");
    let short = run(&mut client, "console.log('one'); throw new Error('early')");
    assert!(texts(&short)[0].ends_with("Logged before:\none"), "{short}");
}
