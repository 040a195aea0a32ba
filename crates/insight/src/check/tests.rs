use std::collections::BTreeMap;

use serde_json::json;

use super::{known::Field, *};

/// 5,000 orders, of which all is known that a profile tells.
fn orders() -> Known {
    let field =
        |name: &str| Field { name: words::of_name(name), records: 5_000, ..Field::default() };
    let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect()
    };
    let status = [("active", 3_000), ("inactive", 1_500), ("in progress", 500)];
    Known {
        records: Some(5_000),
        lines: None,
        totals: vec![5_000.0, 120.0, 48_211.0],
        widths: vec![6.0],
        nouns: vec!["orders".to_owned()],
        fields: vec![
            Field { range: Some((1.0, 5_000.0)), distinct: Some(5_000), ..field("id") },
            Field { distinct: Some(3), values: counts(&status), are_all: true, ..field("status") },
            Field {
                distinct: Some(40),
                values: counts(&[("germany", 700), ("france", 650)]),
                nulls: 12,
                ..field("country")
            },
            Field { range: Some((0.99, 899.95)), ..field("unit_price") },
            Field {
                distinct: Some(2),
                values: counts(&[("true", 2_500), ("false", 2_500)]),
                are_all: true,
                ..field("verified")
            },
            Field {
                days: Some(("2024-01-01".to_owned(), "2024-12-28".to_owned())),
                ..field("created_at")
            },
        ],
        ..Known::default()
    }
}

const TRUE_OR_NOT_KNOWN: &[&str] = &[
    "The result has 5,000 records.",
    "There are 5000 orders, one per row.",
    "5,000 records were returned in total.",
    "About 5k records are listed.",
    "A 5,000-record list of orders.",
    "Over 4,900 records were found.",
    "120 items were found beside 5,000 records.",
    "48,211 results exist on the server; 5,000 records were returned.",
    "3,000 orders are active, 1,500 inactive and 500 in progress.",
    "Status: active (3,000), inactive (1,500), in progress (500).",
    "60% of the orders are active.",
    "About 60 percent have status active.",
    "Roughly two thirds are active.",
    "Active dominates with 3,000 records.",
    "1,200 active orders have a unit price above 100.",
    "310 active orders from Germany were found.",
    "1,234 records have a unit price over 100.",
    "Germany leads with 700 records, followed by France with 650.",
    "There are 3 distinct statuses and 40 different countries.",
    "12 records have a missing country.",
    "12 missing country values.",
    "unit_price ranges from 0.99 to 899.95.",
    "The unit price ranges from 1 to 900 for most orders.",
    "Unit price varies between 0.99 and 899.95.",
    "The highest unit price is 899.95.",
    "The maximum unit_price is 900.0.",
    "The average unit price is 54.3.",
    "Orders were created between 2024-01-01 and 2024-12-28.",
    "created_at spans 2024-01-01 to 2024-12-28.",
    "Orders with status 'active' come first.",
    "The first 10 records are active.",
    "The top 5 active customers stand out.",
    "In the sample, 7 of 40 records are active.",
    "Active orders are shipped in 3 days.",
    "The status distribution is skewed.",
    "Version 2.1.0 of the API is used on port 8080.",
    "Order 4711 failed with code 500.",
    "Retry after 30 seconds.",
    "Nothing here has a number.",
    "3,000 of 5,000 orders are active.",
    "3,000 of the 5,000 records are active, or 60%.",
    "500 out of 5,000 orders are in progress.",
    "1 in 10 orders is in progress.",
    "Germany and France have 700 and 650 orders respectively.",
    "Active customers have an average age of 34.",
    "Query the 500 in progress orders first.",
    "Check the 10 largest orders.",
    "id runs from 1 to 5000.",
    "More than 1,000 records exist.",
    "Over 48,000 results exist on the server.",
    "More than half of the orders are active.",
    "At least 2,500 orders are active.",
    "5 retries failed until active.",
    "Each order takes 12 steps; active orders skip 2 of them.",
    "The 700 records from Germany are the most.",
    "Prices end in .95 in many cases.",
    "Inactive orders lack a country in 4 cases.",
    "unit_price has no nulls.",
    "There is 1 record per order.",
    "All 40 records with errors are inactive ones from May.",
    "All 5,000 records have an id.",
    "There are 40 countries.",
    "At 12 sites, the stock is zero.",
    "The orders come from 40 countries.",
    "12 countries have more than 100 orders.",
    "Two countries stand out: Germany and France.",
    "Each record has 6 fields.",
    "The dataset contains 6 fields.",
    "Each order has two items.",
    "There are no active orders from Germany.",
    "No active orders lack a country.",
    "No orders have a unit price above 899.95.",
    "There are no errors.",
    "Germany has no duplicates.",
    "Active orders have no country in some cases.",
    "There are no nulls in status.",
    "No order is missing a status.",
    "12 orders lack a country.",
    "Three thousand orders are active.",
    "Five hundred are in progress.",
    "Most orders are active.",
    "The majority of orders have status active.",
    "Not all orders are active.",
    "All orders are active, inactive or in progress.",
    "All orders are either active, inactive, or in progress.",
    "All active orders have an id.",
    "Most inactive orders are from Germany.",
    "Most orders of May are inactive.",
    "Most orders are cheap.",
    "Orders from France are all inactive.",
    "Active is the most common status.",
    "The most frequent country is Germany.",
    "Inactive is the second most common status.",
    "Every order has a status.",
    "Nearly all orders have a country.",
    "Half of the active orders are from Germany.",
    "No more than 3,000 orders are active.",
    "One in ten orders is in progress.",
    "6 in 10 orders are active.",
    "40 of the 3,000 active orders are late.",
    "No longer active customers were removed.",
    "No clear trend is visible.",
    "None of the active orders has a discount.",
    "A total of 5,000 orders were returned.",
    "None of the countries dominates.",
    "Total records: 5,000",
    "Records: 5,000",
    "Record count: 5000",
    "The number of records is 5,000.",
    "The number of records in the dataset is about 5,000.",
    "The total number of orders is 5,000.",
    "Total results: 48,211",
    "Record: 17",
    "Record number: 17",
    "Order number: 4711",
    "Orders total: 120,400.",
    "Orders: 4711, 4712 and 4713.",
    "Top records: 10",
    "Records with a country: 4,988",
    "Records with a note: 12",
    "Active orders: 3,000",
    "Active orders: 60%",
    "Active orders: 3,000 (60%)",
    "Active and inactive orders: 4,500",
    "The number of active and inactive orders is 4,500.",
    "The number of active orders is 3,000.",
    "The number of active orders in May is 12.",
    "The number of orders with status active is 3,000.",
    "Active orders: 310 from Germany",
    "Missing countries: 12",
    "Null count of country: 12",
    "The number of missing countries is 12.",
    "The number of distinct statuses is 3.",
    "Distinct countries: 40",
    "Orders with missing values: 31",
    "There are three statuses: active, inactive and in progress.",
    "Two countries: Germany, France.",
    "Three statuses: active, inactive, in progress.",
    "Country is missing in 12 records (1%).",
    "Country is missing in about 12 records.",
    "Nulls occur in 12 records.",
    "Nulls occur in 31 records.",
    "Germany trails with 700 records.",
    "France is found in 650 records.",
    "Lateness affects 40 records.",
    "2,000 of 5,000 orders are inactive or in progress.",
    "2,000 orders are inactive or in progress.",
    "40% are not active.",
    "2,000 orders are not active.",
    "Records 3901 to 4000 are inactive.",
    "Rows 1-60 are active.",
    "Between 60 to 70 orders are active in a week.",
    "4,500 orders are active and inactive.",
    "2,500 orders are verified.",
    "Verified has two values.",
    "12 orders have a verified address.",
    "2,500 records have verified false.",
    "Status is active for all verified orders.",
    "Active orders are always paid.",
    "Status is inactive for all records from May.",
    "There are no missing values apart from 12 countries.",
    "Ids above 3900 are inactive.",
    "Split the 5,000 records into pages of 100 records.",
    "Investigate the 20 orders with the highest unit price.",
    "Inactive and in progress together are 2,000 records.",
    "All other 2,000 orders are inactive or in progress.",
    "Two records share the id 7.",
    "Order 4711 might not exist.",
    "40 records failed validation.",
    "12 orders shipped late.",
    "Spain trails with 300 records.",
    "The error is seen in 40 records.",
];

#[test]
fn what_is_true_or_not_known_stays() {
    let dropped = TRUE_OR_NOT_KNOWN.iter().filter(|line| claims::contradict(line, &orders()));
    assert_eq!(dropped.collect::<Vec<_>>(), [&""; 0]);
}

const FALSE: &[&str] = &[
    "The result has 4,000 records.",
    "There are 4,000 records.",
    "4000 records were returned in total.",
    "About 4k records are listed in the dataset.",
    "A 4,000-record list of orders.",
    "Over 5,100 records were found.",
    "Fewer than 4,500 records were found.",
    "9,000 records have a unit price over 10, of 60,000 rows.",
    "3,100 orders are active.",
    "Status: active (2,999), inactive (1,500).",
    "inactive: 1,600",
    "Most are active with 3,200 records.",
    "500 are in progress and 1,400 are inactive.",
    "70% of the orders are active.",
    "About 80 percent have status active.",
    "3,400 active orders have a unit price above 100.",
    "Germany leads with 800 records.",
    "There are 4 distinct statuses.",
    "41 different countries appear.",
    "30 missing country values.",
    "unit_price ranges from 5 to 899.95.",
    "The unit price ranges from 0.99 to 1,200.",
    "The highest unit price is 950.",
    "The minimum unit_price is 5.00.",
    "The average unit price is 1,054.3.",
    "Orders have created_at from 2023-11-01 to 2024-12-28.",
    "Orders with status 'archived' come first.",
    "status = cancelled is frequent.",
    "More than 6,000 records exist.",
    "Only 12 records were returned.",
    "At least 3,500 orders are active.",
    "In total, 4,999 records are present.",
    "The dataset contains 10,000 entries.",
    "All 4,500 records have an id.",
    "Nearly 4,000 rows were returned.",
    "The lowest unit price is 2.50.",
    "The median unit_price is 0.10.",
    "There are 600 orders.",
    "There are 600 purchases.",
    "There are about 900 purchases in total.",
    "The dataset contains 600 purchases.",
    "A total of 600 purchases were returned.",
    "600 purchases were found.",
    "600 orders in total.",
    "The 600 orders span a year.",
    "The dataset contains 9 fields.",
    "There are six hundred orders.",
    "There are no orders.",
    "There are 41 countries.",
    "41 countries appear.",
    "0 in progress.",
    "0 orders are in progress.",
    "0 orders are in progress in the dataset.",
    "There are 0 active orders.",
    "There are no active orders.",
    "No orders are in progress.",
    "No active orders were found.",
    "None are active.",
    "None of the orders are inactive.",
    "No order has status inactive.",
    "Zero orders are inactive.",
    "Three hundred orders are active.",
    "Three hundred and five are in progress.",
    "There are no missing countries.",
    "country has no nulls.",
    "No values are missing.",
    "No records have a missing country.",
    "30 orders lack a country.",
    "All orders are active.",
    "All of the orders are active.",
    "All orders have status active.",
    "Every order is inactive.",
    "Everything is active.",
    "The orders are all active.",
    "All orders are active or inactive.",
    "Nearly all orders are active.",
    "Most orders are inactive.",
    "Most of the orders are in progress.",
    "Orders are mostly inactive.",
    "The majority of orders are inactive.",
    "Most orders have status cancelled.",
    "The most common status is inactive.",
    "France is the most frequent country.",
    "Half of the orders are inactive.",
    "More than half of the orders are inactive.",
    "A quarter of the orders are active.",
    "Two thirds of the orders are inactive.",
    "9 in 10 orders are active.",
    "40 of 600 orders are late.",
    "3,000 of the 6,000 orders are active.",
    "Total records: 999999",
    "Records: 4,000",
    "Record count: 4000",
    "The number of records is 4,000.",
    "The number of records in the dataset is about 4,000.",
    "The total number of records is 4,000.",
    "The total number of orders is 4,000.",
    "Active orders: 3,200",
    "Active orders: 70%",
    "The number of active orders is 3,200.",
    "The number of orders with status active is 3,200.",
    "Missing countries: 400",
    "Null count of country: 400",
    "The number of missing countries is 400.",
    "The number of distinct statuses is 12.",
    "Distinct countries: 41",
    "Country is missing in 40 records.",
    "Country is missing in 40 records (1%).",
    "There are four statuses: active, inactive and in progress.",
    "3,000 orders are verified.",
    "2,100 orders are inactive or in progress.",
    "Status is active for all records.",
    "Orders are always active.",
    "The dataset contains 4,000 orders spanning January to May.",
    "There are 4,000 records sorted ascending.",
    "A total of 4,000 records arrived.",
    "Prices vary across 4,000 records.",
    "The prices come from 4,000 records.",
    "The result comes with 4,000 records.",
];

#[test]
fn what_the_facts_contradict_goes() {
    let kept = FALSE.iter().filter(|line| !claims::contradict(line, &orders()));
    assert_eq!(kept.collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn the_lines_of_a_text_are_known() {
    let log = Known { lines: Some(812), totals: vec![812.0], ..Known::default() };
    for line in ["The log has 812 lines.", "40 lines are errors.", "There are 300 errors."] {
        assert!(!claims::contradict(line, &log), "{line}");
    }
    for line in ["The log has 800 lines.", "900 lines are errors."] {
        assert!(claims::contradict(line, &log), "{line}");
    }
}

#[test]
fn of_what_nothing_is_known_nothing_is_contradicted() {
    let nothing = Known::default();
    for line in ["There are 4,000 records.", "3,000 are active.", "70% of 9 lines are 'x'."] {
        assert!(!claims::contradict(line, &nothing), "{line}");
    }
}

#[test]
fn contradicted_lines_are_dropped_and_counted() {
    let answer = json!({
        "keyFindings": ["There are 5,000 records.", "3,100 orders are active.", "It is May."],
        "actionableInsights": ["Look at the 1,600 inactive ones.", "Ask again."],
    });
    let lines = Lines::read(&answer).unwrap();
    let (left, dropped) = lines.without_contradictions(&orders());
    let left = left.unwrap();
    assert_eq!(left.key_findings, ["There are 5,000 records.", "It is May."]);
    assert_eq!(
        (left.actionable_insights.as_slice(), dropped),
        (["Ask again.".to_owned()].as_slice(), 2)
    );
    let all_false = ["1 record was found.", "2 records were found.", "3 records were found."];
    let lines = Lines::read(&json!({"keyFindings": all_false})).unwrap();
    assert_eq!(lines.without_contradictions(&orders()), (None, 3));
}

#[test]
fn of_what_was_said_of_another_only_known_numbers_stay() {
    let known = orders();
    let stays = |line: &str| {
        let lines = Lines { key_findings: vec![line.to_owned()], ..Lines::default() };
        lines.without_what_is_not_known(&known).0.is_some()
    };
    for line in [
        "Most are active.",
        "There are 5,000 records.",
        "60% are active.",
        "The highest unit price is 899.95.",
        "Two customers stand out.",
        "There are 3 distinct statuses.",
    ] {
        assert!(stays(line), "{line}");
    }
    for line in [
        "There are 4,000 records.",
        "The average unit price is 54.3.",
        "43% cost more than the mean.",
        "Only job-017 has failed.",
        "Only 'job17' has failed.",
        "310 active orders from Germany were found.",
    ] {
        assert!(!stays(line), "{line}");
    }
}

#[test]
fn what_is_said_twice_is_told_once() {
    let answer = json!({
        "keyFindings": ["Same thing.", "same thing", "Another thing."],
        "actionableInsights": ["Same thing.", "Do it.", "Do it"],
    });
    let lines = Lines::read(&answer).unwrap();
    assert_eq!(lines.key_findings, ["Same thing.", "Another thing."]);
    assert_eq!(lines.actionable_insights, ["Do it."]);
}

#[test]
fn an_answer_has_the_form_that_was_asked_for_or_is_none() {
    let three = ["a", "b", "c"];
    assert!(Lines::read(&json!({"keyFindings": three})).is_ok());
    assert!(Lines::read(&json!({"keyFindings": three, "metadata": {"toolName": "x"}})).is_ok());
    for wrong in [
        json!([]),
        json!({"keyFindings": "a"}),
        json!({"keyFindings": ["a", "b"]}),
        json!({"keyFindings": ["a", "b", "c", "d", "e", "f"]}),
        json!({"keyFindings": ["a", "b", 3]}),
        json!({"keyFindings": ["a", "b", ""]}),
        json!({"keyFindings": ["a", "b", "x".repeat(2_000)]}),
        json!({"keyFindings": three, "actionableInsights": ["1", "2", "3", "4", "5", "6"]}),
        json!({"keyFindings": three, "actionableInsights": {}}),
        json!({"keyFindings": three, "more": 1}),
        json!({"findings": three}),
    ] {
        let refused = Lines::read(&wrong).unwrap_err();
        assert!(matches!(refused, Failure::WrongSchema(_)), "{wrong}: {refused}");
    }
    let empty = json!({"keyFindings": [], "actionableInsights": []});
    assert!(matches!(Lines::read(&empty), Err(Failure::Empty)));
}
