//! Servers: what is known of each, from whom, and which can be started anew.

use std::{fs, path::Path, process::Command};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::eventually,
};
use serde_json::{Value, json};

use super::{Answer, Page, ask, keep};
use crate::{
    forebay,
    gateway::{client::text_of, fixture, server},
    serving_url,
};

/// The page of a `forebay serve`, as somebody sees it who has its address.
struct Served {
    peer: HttpPeer,
    token: String,
}

impl Served {
    fn of(peer: HttpPeer) -> Self {
        let mut token = None;
        eventually("it tells where the page is", || {
            let said = peer.stderr();
            token = said.split_once("/?token=").and_then(|(_, rest)| {
                let (token, _) = rest.split_once('\n')?;
                Some(token.trim().to_owned())
            });
            token.is_some()
        });
        Self { peer, token: token.unwrap() }
    }

    fn ask(&self, method: &str, path: &str, form: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let kind = "application/x-www-form-urlencoded";
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", kind)];
        ask(self.peer.address(), method, path, &headers, form)
    }

    fn servers(&self) -> Value {
        serde_json::from_str(&self.ask("GET", "/servers.json", "").text).unwrap()
    }
}

/// What is told of one server.
fn of<'a>(servers: &'a Value, name: &str) -> &'a Value {
    let all = servers["servers"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {servers:#}"))
}

#[test]
fn a_server_is_started_anew_from_the_page_and_no_other_is() {
    let home = tempfile::tempdir().unwrap();
    let rich = fixture(&["--rich"]);
    let settings = [server("one", &rich, ""), server("two", &rich, "")];
    fs::write(home.path().join("forebay.toml"), settings.concat()).unwrap();
    let mut command = forebay(["serve", "--listen", "127.0.0.1:0"]);
    let served = Served::of(HttpPeer::start(command.env("FOREBAY_HOME", home.path())));
    let mut client = McpHttpClient::legacy(&served.peer);
    let mut pid = |name: &str| {
        let answer = client.call_tool(&format!("{name}__pid"), &json!({}));
        answer["result"].is_object().then(|| text_of(&answer))
    };
    eventually("both are known", || pid("one").is_some() && pid("two").is_some());
    let (one, two) = (pid("one").unwrap(), pid("two").unwrap());
    let known = served.servers();
    assert_eq!((&known["is_live"], &of(&known, "one")["state"]), (&json!(true), &json!("open")));

    let restarted = served.ask("POST", "/servers", "restart=one");
    assert_eq!(restarted.head.status, 303, "{}", restarted.text);
    eventually("another process answers", || {
        pid("one").is_some_and(|now| now.parse::<u32>().is_ok() && now != one)
    });
    assert_eq!(pid("two").unwrap(), two);
    assert_eq!(served.ask("POST", "/servers", "restart=three").head.status, 404);

    // With its last client a server ends, and can be started anew by nobody.
    assert_eq!(of(&served.servers(), "one")["is_live"], true);
    assert_eq!(client.delete(), 204);
    eventually("both have ended", || of(&served.servers(), "one")["is_live"] == false);
    let known = served.servers();
    assert_eq!(of(&known, "one")["state"], "not started: no client is connected");
    assert!(of(&known, "one")["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
    let refused = served.ask("POST", "/servers", "restart=one");
    assert_eq!(refused.head.status, 404);
    assert!(refused.text.contains("no client is connected"), "{}", refused.text);
}

#[test]
fn a_page_in_front_of_one_server_says_what_it_cannot_do() {
    let home = tempfile::tempdir().unwrap();
    let of_command = Served::of(super::serving(home.path(), &["--name", "mine"]));
    let shown = of_command.ask("GET", "/servers", "").text;
    assert!(shown.contains("starts for each session and not anew from here"), "{shown}");
    assert!(!shown.contains("do not run in this process"), "{shown}");
    let mine = of(&of_command.servers(), "mine").clone();
    assert_eq!(mine["state"], "starts for each session");
    assert!(mine["reached_by"].as_str().unwrap().ends_with("fixture-upstream"), "{mine}");
    let refused = of_command.ask("POST", "/servers", "restart=mine");
    assert_eq!(refused.head.status, 400);
    assert!(refused.text.contains("let the client connect again"), "{}", refused.text);

    let elsewhere = HttpPeer::fixture();
    let of_url = Served::of(serving_url(&elsewhere.url(), &["--name", "far"]));
    let shown = of_url.ask("GET", "/servers", "").text;
    assert!(shown.contains("a server that runs elsewhere"), "{shown}");
    assert_eq!(of(&of_url.servers(), "far")["state"], "runs elsewhere");
}

#[test]
fn servers_of_clients_are_told_with_what_is_known_of_them() {
    let home = tempfile::tempdir().unwrap();
    let person = home.path().join("person");
    let program = fixture(&[]).remove(0);
    let wrapped = |name: &str, more: &[&str]| {
        let words = ["wrap", "--tools", "none", "--name", name, "--", &program];
        let words = [&words[..], more].concat();
        json!({"command": env!("CARGO_BIN_EXE_forebay"), "args": words})
    };
    // What is kept, and counted, is of `fixture`.
    keep(home.path(), &[("records", 50)]);
    let write = |file: &str, servers: Value| {
        let file = person.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, json!({"mcpServers": servers}).to_string()).unwrap();
    };
    write(".cursor/mcp.json", json!({"fixture": wrapped("fixture", &[])}));
    write(
        ".codeium/windsurf/mcp_config.json",
        json!({"fixture": wrapped("fixture", &[]), "other": wrapped("other", &["--api-key", "hunter2"])}),
    );
    let of_person = |command: &mut Command, home: &Path| {
        command.env("HOME", &person).env("FOREBAY_HOME", home).current_dir(&person);
    };
    let mut command = forebay(["page"]);
    of_person(&mut command, home.path());
    let page = Page::started(home, &mut command);
    let servers = page.json("/servers.json");
    let known = of(&servers, "fixture");
    assert_eq!(known["state"], "started by its client");
    assert_eq!(known["clients"][0]["clients"], json!(["Cursor", "Windsurf"]));
    assert_eq!(
        (&known["results"], &known["kept"], &known["tools"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    let other = of(&servers, "other");
    assert!(other["clients"][0]["reached_by"].as_str().unwrap().ends_with("--api-key ***"));
    let shown = page.get("/servers").text;
    assert!(shown.contains("which tools it has is not known yet"), "{shown}");
    // It was called, and what it speaks is not known before somebody has looked.
    assert_eq!(
        (&known["last_call"]["tool"], &known["last_call"]["outcome"]),
        (&json!("records"), &json!("kept"))
    );
    assert!(known["revision"].is_null() && known["last_failure"].is_null(), "{known}");
    assert!(
        shown.contains("last called 20") && shown.contains("which revision it speaks is not known")
    );
    assert!(shown.contains("no call is remembered"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");

    // The doctor starts it, and what it told is known from then on.
    let mut command = forebay(["doctor", "--json"]);
    of_person(&mut command, page.home.path());
    command.env("FOREBAY_SEARCH_EMBEDDER", "none").output().unwrap();
    let servers = page.json("/servers.json");
    let tools = of(&servers, "fixture")["tools"].as_array().unwrap();
    assert!(tools.iter().any(|it| it["name"] == "records" && it["tokens"].as_u64() > Some(0)));
    assert!(of(&servers, "fixture")["definition_tokens"].as_u64() > Some(0));
    assert!(of(&servers, "fixture")["revision"].as_str().is_some_and(|it| it.starts_with("20")));
    assert!(page.get("/servers").text.contains("speaks 20"));
}

#[test]
fn what_went_wrong_last_with_a_clients_server_is_told() {
    let home = tempfile::tempdir().unwrap();
    let person = home.path().join("person");
    fs::create_dir_all(person.join(".cursor")).unwrap();
    let wrapped = |words: &[&str]| {
        let own = ["wrap", "--tools", "none", "--name", "fixture", "--"];
        let words = [&own[..], words].concat();
        let entry = json!({"command": env!("CARGO_BIN_EXE_forebay"), "args": words});
        let text = json!({"mcpServers": {"fixture": entry}}).to_string();
        fs::write(person.join(".cursor/mcp.json"), text).unwrap();
    };
    wrapped(&["sh", "-c", "echo 'Error: no licence' >&2; exit 3"]);
    let of_person = |command: &mut Command, home: &Path| {
        command.env("HOME", &person).env("FOREBAY_HOME", home).current_dir(&person);
    };
    keep(home.path(), &[("fail", 1)]);
    let doctor = |home: &Path| {
        let mut command = forebay(["doctor", "--json"]);
        of_person(&mut command, home);
        command.env("FOREBAY_SEARCH_EMBEDDER", "none").output().unwrap();
    };
    doctor(home.path());
    let mut command = forebay(["page"]);
    of_person(&mut command, home.path());
    let page = Page::started(home, &mut command);
    let servers = page.json("/servers.json");
    let known = of(&servers, "fixture");
    assert_eq!(
        (&known["state"], &known["revision"]),
        (&json!("started by its client"), &Value::Null)
    );
    let error = known["last_error"].as_str().unwrap();
    assert!(error.contains("exited with code 3") && error.contains("no licence"), "{error}");
    assert!(known["seen_at"].is_string(), "{known}");
    let failure = &known["last_failure"];
    assert_eq!(
        (&failure["tool"], &failure["why"]),
        (&json!("fail"), &json!("an error of the server's"))
    );
    let shown = page.get("/servers").text;
    assert!(shown.contains("Last failed 20") && shown.contains("no licence"), "{shown}");

    // Once it works, nothing is wrong; and what failed before is still known.
    wrapped(&[&fixture(&[]).remove(0)]);
    doctor(page.home.path());
    let servers = page.json("/servers.json");
    let known = of(&servers, "fixture");
    assert!(known["last_error"].is_null() && known["revision"].is_string(), "{known}");
    assert_eq!(known["last_failure"]["tool"], "fail");
}
