//! Pages in front of the tools of an upstream, through the program as a whole; how many fetches what takes.

use std::{fs, path::PathBuf, process::Command};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::Peer,
    programs,
};
use serde_json::{Value, json};

use crate::{forebay, home};

/// A client in front of a wrapped upstream whose tools give pages.
struct Client {
    peer: Peer,
    asked: u64,
    /// What was told of progress.
    progress: Vec<Value>,
}

impl Client {
    fn new(test: &str) -> Self {
        Self::with(test, "paging = \"auto\"\n")
    }

    /// With these settings.
    fn with(test: &str, settings: &str) -> Self {
        let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
        command.arg(programs::fixture_upstream()).arg("--paged");
        Self::of(command.env("FOREBAY_HOME", home_of(test, settings)))
    }

    fn of(command: &mut Command) -> Self {
        let mut client = Self { peer: Peer::start(command), asked: 0, progress: Vec::new() };
        let who = json!({"name": "tests", "version": "0"});
        let opening =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who});
        client.ask("initialize", &opening);
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.peer.send(&request.to_string());
        loop {
            let mut message: Value = serde_json::from_str(&self.peer.next_line()).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message["result"].take();
            }
            if message["method"] == "notifications/progress" {
                self.progress.push(message["params"].take());
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// What a call for a page is answered with.
    fn page(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result.get("isError"), None, "{result}");
        serde_json::from_str(text(&result)).unwrap_or_else(|_| panic!("{result}"))
    }

    fn error(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        text(&result).to_owned()
    }

    /// How often the upstream's tool was asked.
    fn fetches(&mut self, tool: &str) -> u64 {
        text(&self.call("fetches", &json!({"name": tool}))).parse().unwrap()
    }

    fn count(&mut self, dataset: &str) -> u64 {
        let query = format!("SELECT count(*) AS n, count(DISTINCT id) AS ids FROM {dataset}");
        let result = self.call("analyze-with-duckdb", &json!({"query": query}));
        let counted = text(&result);
        let digits = |text: &str| -> Vec<u64> {
            let numbers = text.split(|letter: char| !letter.is_ascii_digit());
            numbers.filter_map(|digits| digits.parse().ok()).collect()
        };
        let rows = counted.split("\"rows\"").nth(1).unwrap_or(counted);
        let numbers = digits(rows);
        assert_eq!(numbers[0], numbers[1], "{counted}");
        numbers[0]
    }
}

fn home_of(test: &str, settings: &str) -> PathBuf {
    let home = home().join("paging").join(test);
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("forebay.toml"), settings).unwrap();
    home
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn ids(page: &Value) -> Vec<u64> {
    page["results"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
}

fn numbers(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

#[test]
fn page_500_of_20_takes_one_upstream_fetch_and_page_501_the_second_and_no_more() {
    let mut client = Client::new("public");
    let page = client.page("public_records", &json!({"page": 500, "limit": 20}));
    assert_eq!(ids(&page), numbers(9_980, 10_000));
    assert_eq!(client.fetches("public_records"), 1);
    let pagination = &page["pagination"];
    for (name, value) in [
        ("total_count", json!(101_662)),
        ("current_page", json!(500)),
        ("page_size", json!(20)),
        ("total_pages", json!(5_084)),
        ("has_more", json!(true)),
        ("next_page", json!(501)),
    ] {
        assert_eq!(pagination[name], value, "{name}");
    }
    let next = client.page("public_records", &json!({"page": 501, "limit": 20}));
    assert_eq!(ids(&next), numbers(10_000, 10_020));
    assert_eq!(client.fetches("public_records"), 2);
    for page in [1, 2, 499, 502, 1_000] {
        client.page("public_records", &json!({"page": page, "limit": 20}));
    }
    assert_eq!(client.fetches("public_records"), 2);
    let last = client.page("public_records", &json!({"page": 5_084}));
    assert_eq!(
        (ids(&last), &last["pagination"]["has_more"]),
        (numbers(101_660, 101_662), &json!(false))
    );
    assert_eq!(client.fetches("public_records"), 3, "straight to the last");
    let past = client.error("public_records", &json!({"page": 5_085}));
    assert!(past.contains("101662 records, which is 5084 pages of 20"), "{past}");
    assert_eq!(client.fetches("public_records"), 3);
}

#[test]
fn the_pages_are_one_dataset_that_grows_under_its_name() {
    let mut client = Client::new("growing");
    let mut known = Vec::new();
    for (page, records, fetches) in [(500, 10_000, 1), (501, 20_000, 2), (1_001, 30_000, 3)] {
        let page = client.page("public_records", &json!({"page": page, "limit": 20}));
        let dataset = page["pagination"]["dataset"].as_str().unwrap().to_owned();
        assert_eq!(page["pagination"]["dataset_records"], records);
        assert_eq!(client.count(&dataset), records);
        assert_eq!(client.fetches("public_records"), fetches);
        known.push(dataset);
    }
    known.dedup();
    assert_eq!(known.len(), 1, "{known:?}");
    let other = client.page("cursor_records", &json!({"page": 1}));
    assert_ne!(other["pagination"]["dataset"], known[0]);
}

#[test]
fn fetch_all_makes_one_dataset_of_all_pages_in_eleven_fetches() {
    let mut client = Client::new("all");
    let params = json!({
        "name": "public_records", "arguments": {"fetch_all": true}, "_meta": {"progressToken": 7},
    });
    let result = client.ask("tools/call", &params);
    let page: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(ids(&page), numbers(0, 20));
    assert_eq!(page["pagination"]["dataset_records"], 101_662);
    assert_eq!(client.count(page["pagination"]["dataset"].as_str().unwrap()), 101_662);
    assert_eq!(client.fetches("public_records"), 11);
    let told: Vec<Option<f64>> = client.progress.iter().map(|it| it["progress"].as_f64()).collect();
    assert_eq!(told.len(), 11);
    assert_eq!((told[0], told[10]), (Some(10_000.0), Some(101_662.0)));
    assert_eq!(client.progress[0]["total"].as_f64(), Some(101_662.0));
    client.page("public_records", &json!({"page": 3_000}));
    assert_eq!(client.fetches("public_records"), 11);
}

#[test]
fn fetch_all_is_bounded_and_goes_on_when_it_is_asked_again() {
    let settings = "[tools.public_records.paging]\nmax_pages = 4\n";
    let mut client = Client::with("bounded", settings);
    for (fetches, records) in [(4, 40_000), (8, 80_000), (11, 101_662)] {
        let page = client.page("public_records", &json!({"fetch_all": true}));
        assert_eq!(page["pagination"]["dataset_records"], records);
        assert_eq!(client.fetches("public_records"), fetches);
        let notes = page["pagination"]["notes"].to_string();
        assert_eq!(notes.contains("after 4 pages"), fetches < 11, "{notes}");
    }
}

#[test]
fn cursors_are_followed_in_order_and_each_page_is_fetched_once() {
    let mut client = Client::new("cursors");
    let page = client.page("cursor_records", &json!({"offset": 1_990, "limit": 20}));
    assert_eq!(ids(&page), numbers(1_990, 2_010));
    assert_eq!(client.fetches("cursor_records"), 3);
    assert_eq!(page["pagination"]["total_count"], 2_500, "counted: the third is the last");
    let first = client.page("cursor_records", &json!({"page": 1}));
    assert_eq!((ids(&first), client.fetches("cursor_records")), (numbers(0, 20), 3));
}

#[test]
fn offsets_go_straight_to_the_page() {
    let mut client = Client::new("offsets");
    let page = client.page("offset_records", &json!({"page": 200, "limit": 20}));
    assert_eq!((ids(&page), client.fetches("offset_records")), (numbers(3_980, 4_000), 1));
    assert_eq!(page["pagination"]["total_count"], 5_000);
    assert!(page["pagination"]["notes"].to_string().contains("not those between"), "{page}");
    client.page("offset_records", &json!({"fetch_all": true}));
    let fetches = client.fetches("offset_records");
    client.page("offset_records", &json!({"page": 17}));
    assert_eq!(client.fetches("offset_records"), fetches);
}

#[test]
fn next_urls_are_followed_by_their_parameters() {
    let mut client = Client::new("urls");
    let page = client.page("next_url_records", &json!({"page": 101, "limit": 20}));
    assert_eq!((ids(&page), client.fetches("next_url_records")), (numbers(2_000, 2_020), 3));
    assert_eq!(page["pagination"]["upstream"], "next URL (guessed)");
}

#[test]
fn without_a_total_none_is_made_up() {
    let mut client = Client::new("untotalled");
    let page = client.page("untotalled_records", &json!({"page": 50, "limit": 20}));
    assert_eq!((ids(&page), client.fetches("untotalled_records")), (numbers(980, 1_000), 1));
    let pagination = &page["pagination"];
    assert_eq!(pagination["total_count"], Value::Null);
    assert_eq!(pagination["total_pages"], Value::Null);
    assert_eq!(pagination["has_more"], Value::Null, "{page}");
    assert_eq!((&pagination["at_least"], &pagination["next_page"]), (&json!(1_000), &json!(51)));
    let last = client.page("untotalled_records", &json!({"page": 125, "limit": 20}));
    assert_eq!((ids(&last), client.fetches("untotalled_records")), (numbers(2_480, 2_500), 2));
    let told = &last["pagination"];
    assert_eq!((&told["total_count"], &told["has_more"]), (&Value::Null, &Value::Null), "{told}");
    let all = client.page("untotalled_records", &json!({"page": 1, "fetch_all": true}));
    assert_eq!(all["pagination"]["total_count"], 2_500, "there is nothing behind the short page");
    assert_eq!(client.fetches("untotalled_records"), 4);
}

#[test]
fn a_total_that_changes_is_told_as_the_latest() {
    let mut client = Client::new("moving");
    let first = client.page("moving_total_records", &json!({"page": 1}));
    assert_eq!(first["pagination"]["total_count"], 3_000);
    let second = client.page("moving_total_records", &json!({"offset": 300}));
    assert_eq!(second["pagination"]["total_count"], 3_001);
    let notes = second["pagination"]["notes"].to_string();
    assert!(notes.contains("changed from 3000 to 3001"), "{notes}");
    assert_eq!(client.fetches("moving_total_records"), 2);
}

#[test]
fn an_error_on_page_3_says_so_and_what_was_fetched_stays() {
    let mut client = Client::new("failing");
    let first = client.page("failing_records", &json!({"fetch_all": true}));
    assert_eq!(ids(&first), numbers(0, 20), "the page that is there is given");
    let failed = "Not all records could be fetched: the upstream page 3 (page_number = 3) failed: \
                  the database behind page 3 is away.";
    assert_eq!(first["pagination"]["notes"][0], failed);
    assert_eq!(client.fetches("failing_records"), 3);
    let dataset = first["pagination"]["dataset"].as_str().unwrap().to_owned();
    assert_eq!(client.count(&dataset), 2_000);
    let error = client.error("failing_records", &json!({"fetch_all": true, "offset": 2_000}));
    assert!(
        error.starts_with(
            "The upstream page 3 (page_number = 3) failed: the database behind page 3 is away. \
             2000 records of 5000 have been fetched"
        ),
        "{error}"
    );
    assert!(error.ends_with(&format!("They are in {dataset}.")), "{error}");
    let page = client.page("failing_records", &json!({"page": 100}));
    assert_eq!((ids(&page), client.fetches("failing_records")), (numbers(1_980, 2_000), 4));
    assert_eq!(page["pagination"]["dataset"], dataset);
    let behind = client.page("failing_records", &json!({"page": 151}));
    assert_eq!((ids(&behind), client.fetches("failing_records")), (numbers(3_000, 3_020), 5));
}

#[test]
fn a_tool_without_pages_is_sliced_here() {
    let mut client = Client::new("whole");
    let arguments = json!({"page": 3, "fields": ["place.city", "id"]});
    let page = client.page("all_records", &arguments);
    assert_eq!(page["results"][0], json!({"id": 40, "place": {"city": "Lima"}}));
    assert_eq!(page["results"].as_array().unwrap().len(), 5);
    assert_eq!(page["pagination"]["total_pages"], 3);
    client.page("all_records", &json!({"limit": 1}));
    assert_eq!(client.fetches("all_records"), 1);
    client.page("all_records", &json!({"limit": 1, "status": "open"}));
    assert_eq!(client.fetches("all_records"), 2, "another call");
}

#[test]
fn what_was_fetched_is_fetched_again_when_asked_or_when_its_time_is_over() {
    let mut client = Client::new("refresh");
    let first = client.page("cursor_records", &json!({"page": 1}));
    let again = client.page("cursor_records", &json!({"page": 1, "refresh": true}));
    assert_eq!(client.fetches("cursor_records"), 2);
    assert_eq!(first["pagination"]["dataset"], again["pagination"]["dataset"]);
    let mut client =
        Client::with("lifetime", "[tools.\"*\".paging]\nlifetime_seconds = 0\nmax_pages = 1\n");
    client.page("cursor_records", &json!({"page": 1}));
    client.page("cursor_records", &json!({"page": 1}));
    assert_eq!(client.fetches("cursor_records"), 2);
}

#[test]
fn what_cannot_be_is_told_with_what_to_write() {
    let mut client = Client::new("errors");
    let both = client.error("public_records", &json!({"page": 1, "offset": 0}));
    assert_eq!(both, "Give page or offset, not both: page counts from 1, offset from 0.");
    let limit = client.error("public_records", &json!({"limit": 1_001}));
    assert_eq!(limit, "limit must be a whole number from 1 to 1000, not 1001.");
    assert_eq!(client.fetches("public_records"), 0);
    let field = client.error("public_records", &json!({"fields": ["id", "nam"]}));
    assert_eq!(
        field,
        "There is no field nam in the 10000 records fetched so far. Did you mean name? There are: id, name, place, \
         place.city. fetch_all: true looks at all records."
    );
    let own = client.error("public_records", &json!({"page": 2, "page_number": 3}));
    assert!(own.contains("leave page_number out"), "{own}");
    let none = client.error("no_records", &json!({"page": 1}));
    assert!(none.starts_with("The tool's result holds no list"), "{none}");
}

#[test]
fn a_tool_keeps_the_parameters_that_it_has_itself() {
    let mut client = Client::new("own");
    let list = client.ask("tools/list", &json!({}));
    let tools = list["tools"].as_array().unwrap();
    let properties = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["inputSchema"]["properties"].as_object().unwrap().clone()
    };
    let public = properties("public_records");
    for name in ["page", "limit", "offset", "fields", "refresh", "fetch_all", "page_number"] {
        assert!(public.contains_key(name), "{name}");
    }
    let own = properties("own_records");
    assert_eq!(own["page"], json!({"type": "integer"}));
    assert_eq!(own["limit"], json!({"type": "integer"}));
    assert!(own.contains_key("offset") && own.contains_key("fetch_all"));
    let plain = client.page("own_records", &json!({"page": 3, "limit": 5}));
    assert_eq!(plain["items"][0]["id"], 10, "its own page, as ever");
    let page = client.page("own_records", &json!({"offset": 90, "limit": 50}));
    assert_eq!(ids(&page), numbers(90, 140));
    assert_eq!(client.fetches("own_records"), 4, "the call as ever, and three pages of fifty");
    let page = client.page("own_records", &json!({"fields": "id", "limit": 50}));
    let told = &page["pagination"];
    assert_eq!((&told["next_page"], &told["next_offset"]), (&Value::Null, &json!(50)), "{told}");
}

#[test]
fn a_refresh_of_some_pages_leaves_the_dataset_of_all_as_it_is() {
    let mut client = Client::new("refreshed");
    let all = client.page("public_records", &json!({"fetch_all": true}));
    let whole = all["pagination"]["dataset"].as_str().unwrap();
    let fresh = client.page("public_records", &json!({"page": 1, "refresh": true}));
    let part = fresh["pagination"]["dataset"].as_str().unwrap();
    assert_ne!(part, whole);
    let note = format!(
        "{part} is new and has only what was fetched again; what was fetched before is in {whole} \
         as it was."
    );
    assert_eq!(fresh["pagination"]["notes"].as_array().unwrap(), &[json!(note)]);
    assert_eq!((client.count(whole), client.count(part)), (101_662, 10_000));
    // What all of it came again of keeps its name.
    let again = client.page("public_records", &json!({"fetch_all": true, "refresh": true}));
    assert_eq!(again["pagination"]["dataset"], part);
    assert_eq!(client.count(part), 101_662);
    assert_eq!(client.fetches("public_records"), 11 + 1 + 11);
}

#[test]
fn a_refresh_that_fails_loses_nothing() {
    let mut client = Client::new("refreshed_in_vain");
    let behind = json!({"offset": 3_000});
    let page = client.page("failing_records", &json!({"page": 1}));
    client.page("failing_records", &behind);
    let error = client.error("failing_records", &json!({"offset": 2_000, "refresh": true}));
    assert!(error.contains("page 3"), "{error}");
    let dataset = page["pagination"]["dataset"].as_str().unwrap();
    assert_eq!(client.count(dataset), 2_000);
}

#[test]
fn a_call_without_the_parameters_passes_byte_for_byte() {
    let settings = "paging = \"auto\"\n";
    let home = home_of("untouched", settings);
    let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
    command.arg(programs::fixture_upstream()).arg("--paged").env("FOREBAY_HOME", home);
    let mut through = Peer::start(&mut command);
    let mut direct = Peer::start(Command::new(programs::fixture_upstream()).arg("--paged"));
    for (id, params) in [
        r#"{"name":"all_records","arguments":{"status":"open"}}"#,
        r#"{"arguments": { "page": 2, "limit" : 3 }, "name": "own_records"}"#,
        r#"{"name":"echo","arguments":{"n":123456789012345678901234567890,"text":"\"page\""}}"#,
    ]
    .iter()
    .enumerate()
    {
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        assert_eq!(through.ask(&request), direct.ask(&request), "{params}");
    }
}

#[test]
fn a_page_that_is_too_large_for_the_model_is_kept_like_any_result() {
    let mut client = Client::new("large");
    let result = client.call("public_records", &json!({"limit": 1_000}));
    let summary = text(&result);
    assert!(summary.starts_with("Large response detected (1000 records"), "{summary}");
    assert_eq!(client.fetches("public_records"), 1);
}

#[test]
fn over_http_two_pages_take_two_fetches_too() {
    let home = home_of("http", "paging = \"auto\"\n");
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0", "--name", "fixture", "--"]);
    command.arg(programs::fixture_upstream()).arg("--paged").env("FOREBAY_HOME", home);
    let server = HttpPeer::start(&mut command);
    let clients = [McpHttpClient::legacy(&server), McpHttpClient::modern(&server)];
    for (era, mut client) in clients.into_iter().enumerate() {
        let mut call = |tool: &str, arguments: Value| {
            text(&client.call_tool(tool, &arguments)["result"]).to_owned()
        };
        // Another call for each: what one has fetched for its project, the other need not.
        for (page, from) in [(500, 9_980), (501, 10_000), (1, 0)] {
            let arguments = json!({"page": page, "limit": 20, "page_size": era + 1});
            let page: Value = serde_json::from_str(&call("public_records", arguments)).unwrap();
            assert_eq!(ids(&page), numbers(from, from + 20));
        }
        assert_eq!(call("fetches", json!({"name": "public_records"})), "2", "{era}");
    }
}

#[test]
fn behind_a_gateway_the_rule_of_a_server_holds_for_its_tools() {
    let upstream = programs::fixture_upstream();
    let server = |name: &str| {
        format!("[servers.{name}]\ncommand = \"{}\"\nargs = [\"--paged\"]\n", upstream.display())
    };
    let rule = "[servers.a.tools.\"public_*\"]\npaging = \"auto\"\n";
    let home = home_of("gateway", &[&server("a"), rule, &server("b")].concat());
    let mut client = Client::of(forebay(["gateway"]).env("FOREBAY_HOME", home));
    let list = client.ask("tools/list", &json!({}));
    let has_page = |name: &str| {
        let tools = list["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["inputSchema"]["properties"].get("page").is_some()
    };
    assert!(has_page("a__public_records") && !has_page("b__public_records"));
    let page = client.page("a__public_records", &json!({"page": 500}));
    assert_eq!(ids(&page), numbers(9_980, 10_000));
    let fetches = client.call("a__fetches", &json!({"name": "public_records"}));
    assert_eq!(text(&fetches), "1");
}

#[test]
fn a_tool_that_is_called_through_another_has_pages_too() {
    let upstream = programs::fixture_upstream();
    let settings = format!(
        "paging = \"auto\"\n[gateway]\nexpose = \"search\"\n\
         [servers.a]\ncommand = \"{}\"\nargs = [\"--paged\"]\n",
        upstream.display()
    );
    let home = home_of("on_demand", &settings);
    let mut client = Client::of(forebay(["gateway"]).env("FOREBAY_HOME", home));
    client.ask("tools/list", &json!({}));
    let mut through = |tool: &str, arguments: Value| {
        client.call("call_tool", &json!({"server": "a", "tool": tool, "arguments": arguments}))
    };
    let page = through("public_records", json!({"page": 501}));
    let page: Value = serde_json::from_str(text(&page)).unwrap();
    assert_eq!(ids(&page), numbers(10_000, 10_020));
    assert_eq!(text(&through("fetches", json!({"name": "public_records"}))), "2");
}

#[test]
fn two_that_want_the_same_page_at_once_fetch_it_once() {
    let mut client = Client::new("at_once");
    let request = |id: &str, page: u64| {
        let arguments = json!({"page": page, "limit": 20});
        let params = json!({"name": "public_records", "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    for (id, page) in [("a", 1), ("b", 2), ("c", 3)] {
        client.peer.send(&request(id, page));
    }
    let mut answered: Vec<String> = (0..3)
        .map(|_| {
            let message: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
            assert!(text(&message["result"]).starts_with("{\"results\":["), "{message}");
            message["id"].as_str().unwrap().to_owned()
        })
        .collect();
    answered.sort();
    assert_eq!(answered, ["a", "b", "c"]);
    assert_eq!(client.fetches("public_records"), 1);
}

#[test]
fn what_is_never_kept_is_paged_and_not_kept() {
    let settings = "paging = \"auto\"\nexcluded_tools = [\"public_records\"]\n";
    let mut client = Client::with("never", settings);
    for page in [500, 501, 500] {
        let page = client.page("public_records", &json!({"page": page}));
        assert_eq!(page["pagination"].get("dataset"), None, "{page}");
    }
    assert_eq!(client.fetches("public_records"), 2);
    let kept = client.call("list-saved-datasets", &json!({}));
    assert!(text(&kept).contains("\"total_count\":0"), "{kept}");
}

#[test]
fn a_dataset_that_was_removed_is_fetched_again() {
    let mut client = Client::new("removed");
    let page = client.page("cursor_records", &json!({"page": 2}));
    let dataset = page["pagination"]["dataset"].as_str().unwrap().to_owned();
    let home = home().join("paging").join("removed");
    let removed = forebay(["datasets", "rm", &dataset]).env("FOREBAY_HOME", home).output().unwrap();
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    let again = client.page("cursor_records", &json!({"page": 2}));
    assert_eq!(again["results"], page["results"]);
    assert_ne!(again["pagination"]["dataset"], dataset);
    assert_eq!(client.fetches("cursor_records"), 2);
}

#[test]
fn a_tool_that_is_not_marked_as_only_reading_gets_pages_if_a_rule_names_it() {
    let has_pages = |client: &mut Client, tool: &str| {
        let list = client.ask("tools/list", &json!({}));
        let mut tools = list["tools"].as_array().unwrap().iter();
        let tool = tools.find(|it| it["name"] == tool).unwrap();
        !tool["inputSchema"]["properties"]["fetch_all"].is_null()
    };
    let mut client = Client::new("unmarked");
    assert!(has_pages(&mut client, "all_records") && !has_pages(&mut client, "echo"));
    let echoed = client.call("echo", &json!({"page": 1}));
    assert!(text(&echoed).contains(r#""page":1"#), "it is the upstream's affair: {echoed}");
    let mut client = Client::with("named", "[tools.echo]\npaging = \"auto\"\n");
    assert!(has_pages(&mut client, "echo") && !has_pages(&mut client, "all_records"));
}

#[test]
fn with_a_cache_a_refresh_alone_is_of_the_whole_result_and_pages_are_fetched_anew() {
    let settings = "paging = \"auto\"\n[tools.all_records]\ncache_seconds = 3600\n";
    let mut client = Client::with("cached", settings);
    let tool = "all_records";
    // What is marked as only reading is known from the list.
    client.ask("tools/list", &json!({}));
    client.call(tool, &json!({}));
    client.call(tool, &json!({}));
    assert_eq!(client.fetches(tool), 1, "the second was given again");
    for fetches in [2, 3] {
        let fresh = client.call(tool, &json!({"refresh": true}));
        assert_eq!(client.fetches(tool), fetches, "a refresh is not given again");
        assert_eq!(fresh["structuredContent"].get("pagination"), None, "{fresh}");
    }
    client.call(tool, &json!({}));
    assert_eq!(client.fetches(tool), 3, "the latest was given again");
    client.page(tool, &json!({"page": 1}));
    client.page(tool, &json!({"page": 1, "refresh": true}));
    assert_eq!(client.fetches(tool), 5, "pages do not come from the cache");
}

#[test]
fn a_dataset_of_pages_says_that_it_has_those_that_were_fetched() {
    let mut client = Client::new("so-far");
    let page = client.page("public_records", &json!({"page": 1}));
    let id = page["pagination"]["dataset"].as_str().unwrap();
    let told = client.call("read-saved-dataset", &json!({"dataset_id": id, "summary_only": true}));
    assert!(text(&told).contains("the pages that were fetched so far"), "{told}");
    let listed = client.call("list-saved-datasets", &json!({}));
    assert!(text(&listed).contains("the pages that were fetched so far"), "{listed}");
}

#[test]
fn a_page_that_nobody_has_time_for_is_an_error_and_a_call_of_the_tools_own_passes() {
    // As many as may be worked on at once.
    const MOST: usize = 32;
    let mut client = Client::new("busy");
    client.ask("tools/list", &json!({}));
    for number in 0..=MOST {
        let arguments = json!({"page": 1, "hold": "gate", "n": number});
        let params = json!({"name": "public_records", "arguments": arguments});
        let id = format!("held {number}");
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        client.peer.send(&request.to_string());
    }
    let turned_away: Value = serde_json::from_str(&client.peer.next_line()).unwrap();
    assert!(text(&turned_away["result"]).contains("too many calls"), "{turned_away}");
    let error = client.error("public_records", &json!({"page": 500}));
    assert!(error.contains("too many calls are being worked on"), "{error}");
    let own = client.page("own_records", &json!({"page": 3, "limit": 5}));
    assert_eq!(own["items"][0]["id"], 10);
    let release = json!({"name": "release", "arguments": {"name": "gate"}});
    let release =
        json!({"jsonrpc": "2.0", "id": "gate", "method": "tools/call", "params": release});
    client.peer.send(&release.to_string());
    let answers: Vec<String> = (0..=MOST).map(|_| client.peer.next_line()).collect();
    let pages = answers.iter().filter(|answer| answer.contains("pagination")).count();
    assert_eq!(pages, MOST, "{answers:?}");
    assert_eq!(client.fetches("public_records"), 32, "no other call has reached it");
}

#[test]
fn a_page_of_a_tool_that_cannot_be_listed_is_an_error() {
    const UPSTREAM: &str = r#"
        while read -r line; do
            id=$(printf '%s' "$line" | sed -E 's/.*"id":("[^"]*"|[0-9]+).*/\1/')
            case "$line" in
            *'"initialize"'*) said='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
            *'"tools/list"'*) said='"error":{"code":-32000,"message":"away"}' ;;
            *'"tools/call"'*) said='"result":{"content":[{"type":"text","text":"reached"}]}' ;;
            *) continue ;;
            esac
            printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$said"
        done
    "#;
    for (test, settings) in [
        ("unlisted", "paging = \"auto\"\n"),
        ("unlisted-named", "[tools.query]\npaging = \"auto\"\n"),
    ] {
        let home = home_of(test, settings);
        let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
        command.args(["sh", "-c", UPSTREAM]).env("FOREBAY_HOME", home);
        let mut client = Client::of(&mut command);
        let error = client.error("query", &json!({"page": 500}));
        assert!(error.contains("the list of tools failed"), "{error}");
        assert_eq!(text(&client.call("query", &json!({"q": "x"}))), "reached");
    }
}
