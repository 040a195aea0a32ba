//! `list-saved-datasets`.

use serde_json::json;

use super::Client;

#[test]
fn datasets_are_listed_newest_first_and_filtered() {
    let mut client = Client::new("listing");
    let empty = client.call("list-saved-datasets", &json!({}));
    assert_eq!(empty.text(1), "Nothing has been saved yet in this project (setting `scope`).");
    let ids: Vec<String> = (0..5).map(|n| client.keep_orders(450 + n)).collect();
    client.call("records", &json!({"count": 2_000}));

    let all = client.call("list-saved-datasets", &json!({})).json();
    assert_eq!(all["pagination"]["total_count"], 6);
    assert_eq!(all["results"][0]["tool"], "records");
    assert_eq!(all["results"][5]["dataset_id"], ids[0].as_str());
    assert_eq!(all["results"][5]["records"], 450);
    let echo = json!({"filter": {"tool": "file"}, "limit": 2, "page": 2});
    let page = client.call("list-saved-datasets", &echo).json();
    assert_eq!(page["results"][0]["dataset_id"], ids[2].as_str());
    assert_eq!(page["pagination"]["next_page"], 3);
    let none = client.call("list-saved-datasets", &json!({"filter": {"server": "other"}}));
    assert!(none.text(1).contains("file (fixture)"), "{}", none.text(1));
    let future = json!({"filter": {"date_from": "2100-01-01"}});
    assert_eq!(client.call("list-saved-datasets", &future).json()["pagination"]["total_count"], 0);
    let past = json!({"filter": {"date_from": "2020-01-01", "date_to": "2100-01-01"}});
    assert_eq!(client.call("list-saved-datasets", &past).json()["pagination"]["total_count"], 6);
    let beyond = client.call("list-saved-datasets", &json!({"page": 2}));
    assert!(beyond.error().contains("there are 6 datasets"), "{}", beyond.error());
}
