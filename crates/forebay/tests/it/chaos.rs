//! Faults of upstreams by name, behind `forebay serve` with several of them, while 64 clients call.
//!
//! Every call carries a word of its own, which its upstream says back. An answer without it, an error
//! that does not name the upstream, and a call that takes too long fail a test wherever they happen.

mod load;

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use forebay_testkit::{
    http::{HttpPeer, McpHttpClient},
    peer::{eventually, is_running},
    programs,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::load::{Chance, LEGACY_CLIENTS, under_load};
use crate::forebay;

/// Child processes.
const TREES: [&str; 3] = ["ash", "birch", "cedar"];
/// The one that is reached by URL.
const FAR: &str = "far";
const ALL: [&str; 4] = ["ash", "birch", "cedar", FAR];
/// The one that knows the legacy era only.
const OLD: &str = "ash";
/// What a call may take, as the settings say.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many processes an upstream has: one for all, or where it has sessions, one for all modern clients and
/// one for each legacy session.
fn processes_of(tree: &str) -> usize {
    if tree == OLD { LEGACY_CLIENTS + 1 } else { 1 }
}

/// How many tools an upstream lists at first.
fn tools_of(server: &str) -> usize {
    if server == OLD { 3 } else { 4 }
}

/// What an upstream is started with. Its own name is a word that it passes over, by which it is found.
fn arguments_of(tree: &str) -> Vec<&str> {
    if tree == OLD { vec![tree, "--era", "legacy"] } else { vec![tree] }
}

/// `forebay serve` in front of three commands and a URL.
struct Gateway {
    forebay: HttpPeer,
    far: RefCell<HttpPeer>,
    home: TempDir,
}

impl Gateway {
    /// With the servers in a file as clients have it.
    fn start() -> Self {
        Self::with(|home, far| {
            let file = home.join("mcp.json");
            write(&file, &clients_file(&ALL, far));
            vec!["--servers".to_owned(), file.display().to_string()]
        })
    }

    /// With what `arrange` puts into a home; it says what else the command line has.
    fn with(arrange: impl FnOnce(&Path, &HttpPeer) -> Vec<String>) -> Self {
        let (home, far) = (tempfile::tempdir().unwrap(), HttpPeer::fixture());
        let options = arrange(home.path(), &far);
        // What is kept would be said in other words.
        let mut command =
            forebay(["serve", "--listen", "127.0.0.1:0", "--grace", "0.5", "--no-capture"]);
        let forebay = HttpPeer::start(command.args(options).env("FOREBAY_HOME", home.path()));
        Self { forebay, far: RefCell::new(far), home }
    }

    /// Writes down that there are these servers.
    fn rewrite(&self, names: &[&str]) {
        write(&self.home.path().join("mcp.json"), &clients_file(names, &self.far.borrow()));
    }

    /// The processes of an upstream.
    fn processes(&self, server: &str) -> Vec<u32> {
        let parent = format!("PPid:\t{}\n", self.forebay.id());
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_its = |process: &PathBuf| {
            let read = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
            read("cmdline").split('\0').nth(1) == Some(server) && read("status").contains(&parent)
        };
        let id = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
        processes.filter(is_its).filter_map(id).collect()
    }

    /// Sends a signal to all processes of an upstream, and returns them.
    fn signal(&self, signal: &str, server: &str) -> Vec<u32> {
        let processes = self.processes(server);
        assert!(!processes.is_empty(), "{server} runs");
        let ids = processes.iter().map(u32::to_string);
        let sent = Command::new("kill").arg(signal).args(ids).status().unwrap();
        assert!(sent.success(), "all processes of {server} are there");
        processes
    }

    fn kill(&self, server: &str) {
        let killed = self.signal("-KILL", server);
        eventually("they have ended", || !killed.iter().any(|id| is_running(*id)));
    }

    fn kill_far(&self) {
        let mut far = self.far.borrow_mut();
        far.child.kill().unwrap();
        far.wait();
    }

    /// Starts the one that is reached by URL, where it was.
    fn start_far(&self) {
        let address = self.far.borrow().address().to_string();
        let mut command = Command::new(programs::fixture_upstream());
        *self.far.borrow_mut() = HttpPeer::start(command.args(["--http", &address]));
    }

    /// The memory that it holds, in MiB.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.forebay.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

/// The servers whose tools a client sees, by their names.
fn servers(client: &mut McpHttpClient) -> Vec<String> {
    let tools = tools(client);
    let names = tools.iter().filter_map(|tool| tool.strip_suffix("__echo"));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// The names of all tools, as a client sees them now.
fn tools(client: &mut McpHttpClient) -> Vec<String> {
    let answer = client.call("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn clients_file(names: &[&str], far: &HttpPeer) -> String {
    let servers = names.iter().map(|name| ((*name).to_owned(), server(name, far))).collect();
    json!({ "mcpServers": Value::Object(servers) }).to_string()
}

fn server(name: &str, far: &HttpPeer) -> Value {
    let mut server = match name {
        FAR => json!({ "url": far.url() }),
        _ => json!({ "command": programs::fixture_upstream(), "args": arguments_of(name) }),
    };
    server["timeout"] = TIMEOUT.as_secs().into();
    server
}

/// Puts a file in its place at once, as an editor does.
fn write(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, file).unwrap();
}

#[test]
fn upstreams_that_are_killed_are_started_again() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        let mut chance = Chance::new(1);
        for _ in 0..3 {
            let victim = chance.of(&TREES[..2]);
            load.is_answered(&ALL);
            eventually("all have theirs", || {
                gateway.processes(victim).len() == processes_of(victim)
            });
            load.is_refused(victim, || gateway.kill(victim));
            load.is_answered(&ALL);
        }
        for tree in TREES {
            eventually("all have theirs again", || {
                gateway.processes(tree).len() == processes_of(tree)
            });
        }
    });
    assert_eq!(calls.refused("cedar"), Vec::<String>::new());
    assert_eq!(calls.refused(FAR), Vec::<String>::new());
    let told = calls.refused("ash").concat() + &calls.refused("birch").concat();
    assert!(told.contains("signal 9"), "{told}");
}

#[test]
fn an_upstream_elsewhere_that_is_killed_is_found_again() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        load.is_answered(&ALL);
        load.is_refused(FAR, || gateway.kill_far());
        load.is_answered(&TREES);
        gateway.start_far();
        load.is_answered(&ALL);
        let mut client = McpHttpClient::modern(&gateway.forebay);
        client.call_tool("far__echo", &json!({ "grow": 1 }));
        eventually("what is new there is heard of", || {
            let mut client = McpHttpClient::modern(&gateway.forebay);
            tools(&mut client).contains(&"far__more-1".to_owned())
        });
    });
    for tree in TREES {
        assert_eq!(calls.refused(tree), Vec::<String>::new());
    }
}

#[test]
fn calls_of_an_upstream_that_hangs_end_in_time() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        load.is_answered(&ALL);
        let stopped = load.is_refused("birch", || gateway.signal("-STOP", "birch"));
        // Whoever calls another one meanwhile is answered.
        load.is_answered(&["ash", "cedar", FAR]);
        gateway.signal("-CONT", "birch");
        load.is_answered(&ALL);
        assert_eq!(gateway.processes("birch"), stopped, "it goes on where it was");
    });
    for whole in ["ash", "cedar", FAR] {
        assert_eq!(calls.refused(whole), Vec::<String>::new());
    }
    let expected = "upstream `birch` has not answered within 5 s";
    assert!(calls.refused("birch").iter().all(|told| told == expected));
}

#[test]
fn upstreams_that_are_started_anew_are_there_at_once() {
    let gateway = Gateway::with(|home, far| {
        let program = programs::fixture_upstream();
        let tree = |name: &str| {
            let source = home.join(format!("{name}.py"));
            fs::write(&source, "").unwrap();
            let arguments = arguments_of(name);
            format!(
                "[servers.{name}]\ncommand = {program:?}\nargs = {arguments:?}\nwatch = [{source:?}]\n"
            )
        };
        let far = format!("[servers.far]\nurl = {:?}\n", far.url());
        let settings = TREES.map(tree).concat() + &far;
        write(&home.join("forebay.toml"), &settings);
        Vec::new()
    });
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        for name in ["ash", "cedar", "ash"] {
            load.is_answered(&ALL);
            let before = gateway.processes(name);
            fs::write(gateway.home.path().join(format!("{name}.py")), "# another").unwrap();
            eventually("others are started", || {
                let now = gateway.processes(name);
                now.len() == processes_of(name) && !now.iter().any(|id| before.contains(id))
            });
            load.is_answered(&ALL);
        }
    });
    for whole in ["birch", FAR] {
        assert_eq!(calls.refused(whole), Vec::<String>::new());
    }
    for name in ["ash", "cedar"] {
        let expected = format!("upstream `{name}` is started anew");
        let refused = calls.refused(name);
        assert!(refused.iter().all(|told| *told == expected), "{refused:?}");
    }
}

/// Calls that bring many notifications and large results along.
fn flood(client: &mut McpHttpClient, server: &str, word: &str) {
    // As long as a line of the fixture's may be.
    let text = format!("{word}{}{word}", "x".repeat(50_000));
    let arguments = json!({ "text": text, "progress": 1_000, "logs": 1_000 });
    let call = json!({ "name": format!("{server}__echo"), "arguments": arguments,
        "_meta": { "progressToken": word } });
    let answer = client.call("tools/call", &call);
    let echoed = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(echoed.matches(&text).count(), 1, "{word} is not all of it: {echoed}");
    let told = client.notifications.drain(..);
    let progress = told.filter(|it| it["method"] == "notifications/progress");
    let tokens: Vec<Value> = progress.map(|it| it["params"]["progressToken"].clone()).collect();
    assert!(!tokens.is_empty() && tokens.iter().all(|token| token == word), "{word}: {tokens:?}");
    let answer = client.call_tool(&format!("{server}__bytes"), &json!({ "count": 4_000_000 }));
    let records = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let is_whole = records.starts_with("[{") && records.ends_with(",{}]");
    assert!(is_whole && records.len() > 3_000_000, "{word}: {} bytes", records.len());
}

#[test]
fn upstreams_that_flood_drown_nobody() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        load.is_answered(&ALL);
        let clients = [
            (McpHttpClient::legacy(&gateway.forebay), "ash"),
            (McpHttpClient::modern(&gateway.forebay), "ash"),
            (McpHttpClient::modern(&gateway.forebay), "ash"),
            (McpHttpClient::modern(&gateway.forebay), FAR),
        ];
        thread::scope(|scope| {
            for (number, (mut client, server)) in clients.into_iter().enumerate() {
                scope.spawn(move || {
                    for turn in 0..3 {
                        flood(&mut client, server, &format!("flood-{number}-{turn}."));
                    }
                });
            }
            load.is_answered(&ALL);
        });
        load.is_answered(&ALL);
    });
    for server in ALL {
        assert_eq!(calls.refused(server), Vec::<String>::new());
    }
}

#[test]
fn lists_that_change_all_the_time_are_told_as_they_are() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        let mut chance = Chance::new(5);
        let mut modern = McpHttpClient::modern(&gateway.forebay);
        let mut grown = Vec::new();
        for _ in 0..6 {
            let server = chance.of(&ALL);
            for _ in 0..20 {
                modern.call_tool(&format!("{server}__echo"), &json!({ "grow": 0 }));
            }
            modern.call_tool(&format!("{server}__echo"), &json!({ "grow": 1 }));
            grown.push(server);
            let count = grown.iter().filter(|it| **it == server).count();
            let new = format!("{server}__more-{count}");
            eventually("a new tool is listed", || {
                tools(&mut McpHttpClient::modern(&gateway.forebay)).contains(&new)
            });
            load.is_answered(&ALL);
        }
        // A server that is slow to say what has changed is listed as it was known before.
        eventually("every server's list is as it should be", || {
            let listed = tools(&mut modern);
            ALL.iter().all(|server| {
                let count = grown.iter().filter(|it| it == &server).count();
                let prefix = format!("{server}__");
                let own = listed.iter().filter(|tool| tool.starts_with(&prefix));
                own.count() == tools_of(server) + count
            })
        });
        // A session has its own process of one that has sessions, and hears what changes there. At first it
        // may be given a list that is remembered of others.
        let mut legacy = McpHttpClient::legacy(&gateway.forebay);
        let mut listening = legacy.listen(None);
        tools(&mut legacy);
        legacy.call_tool("ash__echo", &json!({ "grow": 3 }));
        loop {
            let told = listening.next_message().unwrap().unwrap();
            assert_eq!(told["method"], "notifications/tools/list_changed");
            let listed = tools(&mut legacy);
            if listed.iter().filter(|tool| tool.starts_with("ash__")).count() == tools_of(OLD) + 3 {
                break;
            }
        }
    });
    for server in ALL {
        assert_eq!(calls.refused(server), Vec::<String>::new());
    }
}

#[test]
fn a_reload_drops_no_call_of_a_server_that_stays() {
    let gateway = Gateway::start();
    let calls = under_load(&gateway.forebay, &ALL, |load| {
        load.is_answered(&ALL);
        let before = TREES.map(|tree| gateway.processes(tree));
        let clients =
            [McpHttpClient::legacy(&gateway.forebay), McpHttpClient::modern(&gateway.forebay)];
        let clients = clients.map(RefCell::new);
        for added in [&["dogwood"][..], &["dogwood", "elm"], &["elm"], &[], &["elm"]] {
            let mut names = [&ALL, added].concat();
            names.sort_unstable();
            gateway.rewrite(&names);
            for client in &clients {
                eventually("a client sees the servers that there are", || {
                    servers(&mut client.borrow_mut()) == names
                });
                for new in added {
                    let answer = client.borrow_mut().call_tool(&format!("{new}__echo"), &json!({}));
                    assert!(answer["result"].is_object(), "{answer}");
                }
            }
            load.is_answered(&ALL);
        }
        // Whoever calls a server that goes is told so.
        let (id, mut connection) = clients[1].borrow_mut().send(
            "tools/call",
            &json!({ "name": "elm__echo", "arguments": { "hold": "for ever" } }),
        );
        gateway.rewrite(&ALL);
        assert_eq!(connection.head().status, 200);
        let told = connection.json();
        let expected = "upstream `elm` is not in the settings any more";
        assert_eq!((&told["id"], told["error"]["message"].as_str()), (&id, Some(expected)));
        eventually("the last process of it has ended", || gateway.processes("elm").is_empty());
        for (tree, before) in TREES.into_iter().zip(before) {
            let now = gateway.processes(tree);
            assert!(before.iter().all(|id| now.contains(id)), "{tree} has noticed nothing");
        }
    });
    for server in ALL {
        assert_eq!(calls.refused(server), Vec::<String>::new());
    }
}

#[test]
fn memory_is_what_it_was_however_often_all_goes_wrong() {
    const ROUNDS: usize = 3;
    let gateway = Gateway::start();
    let mut after_the_first = None;
    for round in 0..ROUNDS {
        under_load(&gateway.forebay, &ALL, |load| {
            load.is_answered(&ALL);
            let (killed, hung) = (TREES[round % 3], TREES[(round + 1) % 3]);
            gateway.kill(killed);
            load.is_refused(hung, || gateway.signal("-STOP", hung));
            gateway.signal("-CONT", hung);
            load.is_refused(FAR, || gateway.kill_far());
            gateway.start_far();
            gateway.rewrite(&[&ALL[..], &["dogwood"]].concat());
            let mut client = McpHttpClient::modern(&gateway.forebay);
            eventually("one more is there", || {
                servers(&mut McpHttpClient::modern(&gateway.forebay)).len() == 5
            });
            for turn in 0..3 {
                flood(&mut client, "dogwood", &format!("flood-{round}-{turn}."));
            }
            gateway.rewrite(&ALL);
            load.is_answered(&ALL);
        });
        for tree in TREES {
            eventually("all sessions have ended", || gateway.processes(tree).len() == 1);
        }
        after_the_first.get_or_insert_with(|| gateway.resident());
    }
    // One round has 12 MB pass, and has 16 sessions begin and end. What is free goes back to the system two
    // seconds later.
    let most = after_the_first.unwrap() + 4;
    eventually("it holds no more than after the first round", || gateway.resident() <= most);
}
