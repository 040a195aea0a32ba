//! Clients and servers of either era, in every combination: each feature works, or is refused by name.
//!
//! One gateway has a server of each era behind it, `legacy` and `modern`, and each client asks both.

use forebay_testkit::http::Era;
use serde_json::{Value, json};

use super::{
    client::{Client, error_of, text_of},
    dataset_in, fixture, gateway, server,
};

/// What is done with one server by a client, which stays connected.
type Feature = fn(&mut Client, Pair);

/// Who speaks to whom.
#[derive(Clone, Copy)]
struct Pair {
    client: Era,
    server: Era,
}

const FEATURES: [(&str, Feature); 10] = [
    ("tools", tools),
    ("large results", large_results),
    ("resources", resources),
    ("prompts", prompts),
    ("sampling", sampling),
    ("elicitation", elicitation),
    ("progress", progress),
    ("cancellation", cancellation),
    ("subscriptions", subscriptions),
    ("tasks", tasks),
];

#[test]
fn legacy_client() {
    every_feature(Era::Legacy);
}

#[test]
fn modern_client() {
    every_feature(Era::Modern);
}

fn every_feature(era: Era) {
    let home = tempfile::tempdir().unwrap();
    let of = |name: &str| {
        let words = fixture(&["--rich", "--era", name]);
        server(name, &words, &format!("env = {{ FIXTURE = \"{name}\" }}"))
    };
    let settings = [of("legacy"), of("modern")].concat();
    let mut client = Client::start(era, &mut gateway(home.path(), &settings));
    if era == Era::Modern {
        let found = client.ask("server/discover", &json!({}));
        assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]), "{found}");
    }
    client.until_open(&["legacy", "modern"]);
    assert_eq!(client.standing("legacy")["revision"], "2025-11-25");
    assert_eq!(client.standing("modern")["revision"], "2026-07-28");
    for server in [Era::Legacy, Era::Modern] {
        let pair = Pair { client: era, server };
        for (feature, exercise) in FEATURES {
            eprintln!("{feature}: {era:?} client, {server:?} server");
            client.take_kept();
            exercise(&mut client, pair);
        }
    }
    client.end();
}

fn tools(client: &mut Client, pair: Pair) {
    let name = pair.tool("echo");
    assert!(client.tools().contains(&name));
    let answer = client.call(&name, &json!({ "text": "as it came ✓" }));
    assert!(text_of(&answer).contains("as it came ✓"), "{answer}");
    pair.is_complete(&answer);
}

fn large_results(client: &mut Client, pair: Pair) {
    let text = client.text(&pair.tool("records"), &json!({ "count": 3_000 }));
    assert!(text.starts_with("Large response detected"), "{text}");
    let query = format!("SELECT count(DISTINCT id) AS n FROM {}", dataset_in(&text));
    assert_eq!(client.text("analyze-with-duckdb", &json!({ "query": query })), "n\n3000");
}

fn resources(client: &mut Client, pair: Pair) {
    let (uri, name) = (pair.note(), pair.server_name());
    let list = client.ask("resources/list", &json!({}));
    let listed = list["result"]["resources"].as_array().unwrap();
    assert!(listed.iter().any(|it| it["uri"] == *uri), "{list}");
    let read = client.ask("resources/read", &json!({ "uri": uri }));
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["text"], format!("{uri} as {name} has it"), "{read}");
    pair.is_complete(&read);
}

fn prompts(client: &mut Client, pair: Pair) {
    let name = pair.tool("greet");
    let list = client.ask("prompts/list", &json!({}));
    let listed = list["result"]["prompts"].as_array().unwrap();
    assert!(listed.iter().any(|it| it["name"] == *name), "{list}");
    let got = client.ask("prompts/get", &json!({ "name": name, "arguments": { "name": "Ada" } }));
    let text = &got["result"]["messages"][0]["content"]["text"];
    assert_eq!(*text, format!("Greet Ada from {}.", pair.server_name()), "{got}");
    pair.is_complete(&got);
}

fn sampling(client: &mut Client, pair: Pair) {
    let answer = json!({
        "role": "assistant", "model": "stub", "content": { "type": "text", "text": "seventeen" }
    });
    let text = asks_for(client, pair, "sampling/createMessage", "a haiku, please", &answer);
    assert!(text.contains("seventeen"), "{text}");
}

fn elicitation(client: &mut Client, pair: Pair) {
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let text = asks_for(client, pair, "elicitation/create", "Your name?", &answer);
    assert!(text.contains("Ada"), "{text}");
}

/// Calls a tool that asks the client something, answers as the client's era has it, and gives the result.
fn asks_for(client: &mut Client, pair: Pair, method: &str, asked: &str, answer: &Value) -> String {
    let params = json!({ "name": pair.tool("echo"), "arguments": { "ask": method } });
    match pair.client {
        Era::Legacy => {
            let call = client.send("tools/call", &params);
            let question = client.told(method);
            assert!(question["params"].to_string().contains(asked), "{question}");
            client.reply(&question, answer);
            text_of(&client.response(call))
        }
        Era::Modern => {
            let first = client.ask("tools/call", &params);
            let result = &first["result"];
            assert_eq!(result["resultType"], "input_required", "{first}");
            let questions = result["inputRequests"].as_object().unwrap();
            let (key, question) = questions.iter().next().unwrap();
            assert_eq!(question["method"], method, "{first}");
            assert!(question["params"].to_string().contains(asked), "{question}");
            let mut again = params.clone();
            again["inputResponses"] = json!({ key: answer });
            again["requestState"] = result["requestState"].clone();
            let second = client.ask("tools/call", &again);
            pair.is_complete(&second);
            text_of(&second)
        }
    }
}

fn progress(client: &mut Client, pair: Pair) {
    let params = json!({
        "name": pair.tool("echo"), "arguments": { "progress": 3 },
        "_meta": { "progressToken": "mine" },
    });
    let answer = client.ask("tools/call", &params);
    assert!(answer["result"]["content"].is_array(), "{answer}");
    let told = client.take_kept();
    let steps: Vec<&Value> = told
        .iter()
        .filter(|it| it["method"] == "notifications/progress")
        .map(|it| &it["params"])
        .inspect(|params| assert_eq!(params["progressToken"], "mine", "{told:?}"))
        .map(|params| &params["progress"])
        .collect();
    assert_eq!(steps, [1, 2, 3], "all of it before the result: {told:?}");
}

fn cancellation(client: &mut Client, pair: Pair) {
    let params = json!({
        "name": pair.tool("echo"), "arguments": { "progress": 1, "hold": "for ever" },
        "_meta": { "progressToken": "under way" },
    });
    let call = client.send("tools/call", &params);
    client.told("notifications/progress");
    client.tell("notifications/cancelled", &json!({ "requestId": call, "reason": "enough" }));
    assert_eq!(client.text(&pair.tool("cancelled"), &json!({})), "1", "the server knows of it");
    let late = client.take_kept();
    assert!(late.iter().all(|it| it["id"] != call), "nobody waits for it: {late:?}");
}

fn subscriptions(client: &mut Client, pair: Pair) {
    let uri = pair.note();
    let listening = match pair.client {
        Era::Legacy => {
            let answer = client.ask("resources/subscribe", &json!({ "uri": uri }));
            assert_eq!(answer["result"], json!({}), "{answer}");
            None
        }
        Era::Modern => {
            let refused = client.ask("resources/subscribe", &json!({ "uri": uri }));
            let why = "Method not found: resources/subscribe (revision 2026-07-28)";
            assert_eq!(error_of(&refused), why);
            let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": [uri] });
            let id = client.send("subscriptions/listen", &json!({ "notifications": wanted }));
            client.told("notifications/subscriptions/acknowledged");
            Some(id)
        }
    };
    let announce = pair.tool("announce");
    for (what, method) in [
        (uri.as_str(), "notifications/resources/updated"),
        ("tools", "notifications/tools/list_changed"),
    ] {
        client.text(&announce, &json!({ "what": what }));
        let told = client.told(method);
        let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*subscription, json!(listening), "{told}");
        assert!(what == "tools" || told["params"]["uri"] == what, "{told}");
    }
    match listening {
        None => {
            let answer = client.ask("resources/unsubscribe", &json!({ "uri": uri }));
            assert_eq!(answer["result"], json!({}), "{answer}");
        }
        Some(id) => client.tell("notifications/cancelled", &json!({ "requestId": id })),
    }
    client.take_kept();
    client.text(&announce, &json!({ "what": uri }));
    // What an announcement tells comes before its result.
    let told = client.take_kept();
    let is_update = |it: &Value| it["method"] == "notifications/resources/updated";
    assert!(!told.iter().any(is_update), "it is not wanted any more: {told:?}");
}

fn tasks(client: &mut Client, pair: Pair) {
    let name = pair.tool("echo");
    let asked_for = json!({ "name": name, "arguments": { "text": "later" }, "task": {} });
    match (pair.client, pair.server) {
        (Era::Legacy, Era::Legacy) => {
            let created = client.ask("tools/call", &asked_for);
            let task = json!({ "taskId": created["result"]["task"]["taskId"] });
            let state = client.ask("tasks/get", &task);
            assert_eq!(state["result"]["status"], "completed", "{state}");
            assert!(text_of(&client.ask("tasks/result", &task)).contains("later"));
        }
        (Era::Legacy, Era::Modern) => {
            let refused = client.ask("tools/call", &asked_for);
            let why = "upstream `modern` speaks revision 2026-07-28, where the server decides what becomes a \
                       task; call the tool without `task`";
            assert_eq!(error_of(&refused), why);
        }
        (Era::Modern, Era::Legacy) => {
            let created = client.ask("tools/call", &asked_for);
            let task = json!({ "taskId": created["result"]["task"]["taskId"] });
            let refused = client.ask("tasks/get", &task);
            let why = "upstream `legacy` speaks another revision, and tasks cannot be passed between them";
            assert_eq!(error_of(&refused), why);
        }
        (Era::Modern, Era::Modern) => {
            let created = client.call(&name, &json!({ "text": "later", "task": true }));
            assert_eq!(created["result"]["resultType"], "task", "{created}");
            let task = json!({ "taskId": created["result"]["taskId"] });
            let state = client.ask("tasks/get", &task);
            assert_eq!(state["result"]["status"], "completed", "{state}");
            assert!(state["result"]["result"].to_string().contains("later"), "{state}");
        }
    }
    let unknown = client.ask("tasks/get", &json!({ "taskId": "none" }));
    assert_eq!(error_of(&unknown), "Unknown task: none");
}

impl Pair {
    fn server_name(self) -> &'static str {
        match self.server {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }

    /// What the gateway calls a tool or prompt of the server.
    fn tool(self, own: &str) -> String {
        format!("{}__{own}", self.server_name())
    }

    fn note(self) -> String {
        format!("note://{}", self.server_name())
    }

    /// A result says that it is one in the modern era only.
    fn is_complete(self, answer: &Value) {
        match (self.client, self.server) {
            (Era::Modern, _) => assert_eq!(answer["result"]["resultType"], "complete", "{answer}"),
            (Era::Legacy, Era::Legacy) => {
                assert!(answer["result"]["resultType"].is_null(), "{answer}");
            }
            // Legacy clients pass over what they do not know.
            (Era::Legacy, Era::Modern) => {
                assert!(answer["result"].is_object(), "{answer}");
            }
        }
    }
}
