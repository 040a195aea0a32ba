//! Conversations as scripts: who says what, who hears what, in which order.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{super::member::MemberSettings, *};
use crate::{
    body::Body,
    protocol::Era,
    router::{Prefix, UpstreamName},
};

/// What a script hears: from `client` or an upstream's name, the line.
type Heard = Vec<(String, String)>;

struct Script {
    board: Switchboard,
    names: Vec<&'static str>,
    now: Instant,
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;

impl Script {
    fn with(prefix: Prefix, names: &[&'static str]) -> Self {
        let upstreams: Vec<_> = names.iter().map(|name| UpstreamName::new(*name)).collect();
        let names_of_all = Names::new("__".to_owned(), prefix, upstreams.clone());
        let mut script = Self {
            board: Switchboard::new(Arc::new(names_of_all), 0),
            names: Vec::new(),
            now: Instant::now(),
        };
        let order = names.iter().map(|name| script.adds(name)).collect();
        script.arranged(order);
        script
    }

    /// One more upstream; its place.
    fn adds(&mut self, name: &'static str) -> usize {
        self.names.push(name);
        self.board.add(MemberSettings {
            name: UpstreamName::new(name),
            is_lazy: false,
            call_timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(30),
            offers: Arc::new(|tool| tool != "secret"),
        })
    }

    fn arranged(&mut self, order: Vec<usize>) -> Heard {
        let effects = self.board.arrange(order, self.now);
        self.heard(effects)
    }

    fn new(names: &[&'static str]) -> Self {
        Self::with(Prefix::Always, names)
    }

    fn heard(&self, effects: Vec<Effect>) -> Heard {
        let text = |message: Message| String::from_utf8(message.into_bytes().unwrap()).unwrap();
        effects
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::ToClient(message) => Some(("client".to_owned(), text(message))),
                Effect::ToMember(at, message) => Some((self.names[at].to_owned(), text(message))),
                Effect::Start(at, _) => Some((self.names[at].to_owned(), "start".to_owned())),
                Effect::End(at) => Some((self.names[at].to_owned(), "end".to_owned())),
                Effect::Stand => None,
            })
            .collect()
    }

    fn at(&self, name: &str) -> usize {
        self.names.iter().position(|it| *it == name).unwrap()
    }

    /// The client says something.
    fn client(&mut self, json: &str) -> Heard {
        let body = Arc::new(Body::Memory(json.as_bytes().to_vec()));
        let effects = self.board.client_said(&body, self.now);
        self.heard(effects)
    }

    /// How often an upstream has been started.
    fn run(&self, name: &str) -> u64 {
        self.board.members[self.at(name)].run
    }

    /// An upstream says something.
    fn says(&mut self, name: &str, json: &str) -> Heard {
        let body = Arc::new(Body::Memory(json.as_bytes().to_vec()));
        let effects = self.board.member_said(self.at(name), self.run(name), &body, self.now);
        self.heard(effects)
    }

    fn started(&mut self, name: &str) -> Heard {
        let effects = self.board.member_started(self.at(name), self.run(name), self.now);
        self.heard(effects)
    }

    fn ends(&mut self, name: &str) -> Heard {
        self.ends_as(name, self.run(name))
    }

    /// A run of an upstream ends, which need not be the last one.
    fn ends_as(&mut self, name: &str, run: u64) -> Heard {
        let how = "exited with code 1";
        let effects = self.board.member_ended(self.at(name), run, how, self.now);
        self.heard(effects)
    }

    fn later(&mut self, seconds: u64) -> Heard {
        self.now += Duration::from_secs(seconds);
        let effects = self.board.tick(self.now);
        self.heard(effects)
    }

    /// An upstream answers the last request that it has heard, which has this method.
    fn answers(&mut self, name: &str, heard: &Heard, method: &str, result: &str) -> Heard {
        let id = id_of(heard, name, method);
        self.says(name, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    /// Opens an upstream with these tools, in an era.
    fn opens(&mut self, name: &str, era: Era, tools: &[&str]) -> Heard {
        let probe = self.started(name);
        let id = id_of(&probe, name, "server/discover");
        let capabilities = r#"{"tools":{"listChanged":true}}"#;
        let mut heard = if era == Era::Modern {
            let told = format!(
                r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{capabilities}}}"#
            );
            self.says(name, &format!(r#"{{"id":{id},"result":{told}}}"#))
        } else {
            let refused = self
                .says(name, &format!(r#"{{"id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
            let told = format!(
                r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"{name}"}}}}"#
            );
            self.answers(name, &refused, "initialize", &told)
        };
        let tools: Vec<Value> =
            tools.iter().map(|tool| json!({ "name": tool, "inputSchema": {} })).collect();
        let list = json!({ "tools": tools }).to_string();
        let listed = self.answers(name, &heard, "tools/list", &list);
        heard.extend(listed);
        heard
    }

    /// A client of an era that has opened, with two upstreams that have.
    fn opened(client: Era, upstream: Era) -> Self {
        let mut script = Self::new(&["a", "b"]);
        script.client(&hello(client));
        script.opens("a", upstream, &["x", "secret"]);
        script.opens("b", upstream, &["x", "y"]);
        script
    }
}

fn hello(era: Era) -> String {
    if era == Era::Modern {
        format!(r#"{{"id":0,"method":"server/discover","params":{{{META}}}}}"#)
    } else {
        r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#.to_owned()
    }
}

fn call(id: u64, tool: &str, era: Era) -> String {
    let meta = if era == Era::Modern { format!(",{META}") } else { String::new() };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{meta}}}}}"#
    )
}

/// The id of the last request with this method that somebody has heard.
fn id_of(heard: &Heard, name: &str, method: &str) -> String {
    let requests = heard.iter().filter(|(to, _)| to == name);
    let mut parsed = requests.filter_map(|(_, line)| serde_json::from_str::<Value>(line).ok());
    let found = parsed.rfind(|line| line["method"] == method);
    found.unwrap_or_else(|| panic!("{name} has heard no {method} in {heard:?}"))["id"].to_string()
}

fn told<'h>(heard: &'h Heard, to: &str) -> Vec<&'h str> {
    heard.iter().filter(|(name, _)| name == to).map(|(_, line)| line.as_str()).collect()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

const ERAS: [(Era, Era); 4] = [
    (Era::Legacy, Era::Legacy),
    (Era::Legacy, Era::Modern),
    (Era::Modern, Era::Legacy),
    (Era::Modern, Era::Modern),
];

#[test]
fn a_client_is_welcomed_when_all_have_opened_or_after_a_while() {
    let mut script = Script::new(&["a", "b"]);
    let heard = script.client(&hello(Era::Legacy));
    assert_eq!(heard, [("a".to_owned(), "start".to_owned()), ("b".to_owned(), "start".to_owned())]);
    assert!(told(&script.opens("a", Era::Legacy, &[]), "client").is_empty(), "b is waited for");
    let heard = script.later(3);
    let welcome = parsed(told(&heard, "client")[0]);
    assert_eq!(welcome["id"], 0);
    assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(welcome["result"]["serverInfo"]["name"], "forebay");
    assert!(welcome["result"]["capabilities"]["prompts"].is_object(), "b may have any");
}

#[test]
fn a_sole_upstream_speaks_for_itself() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let heard = script.opens("a", Era::Legacy, &["x"]);
    let welcome = parsed(told(&heard, "client")[0]);
    assert_eq!(welcome["result"]["serverInfo"]["name"], "a");
    assert_eq!(welcome["result"]["capabilities"], json!({ "tools": { "listChanged": true } }));
}

#[test]
fn with_no_upstream_there_is_an_empty_list() {
    let mut script = Script::new(&[]);
    let heard = script.client(&hello(Era::Modern));
    let welcome = parsed(told(&heard, "client")[0]);
    assert_eq!(welcome["result"]["supportedVersions"], json!(["2026-07-28"]));
    let heard = script.client(&format!(r#"{{"id":1,"method":"tools/list","params":{{{META}}}}}"#));
    assert_eq!(
        told(&heard, "client"),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}"#
        ]
    );
}

#[test]
fn lists_are_read_to_their_end_and_what_is_not_offered_is_left_out() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let probe = script.started("a");
    let id = id_of(&probe, "a", "server/discover");
    let heard =
        script.says("a", &format!(r#"{{"id":{id},"error":{{"code":-32601,"message":""}}}}"#));
    let heard = script.answers("a", &heard, "initialize", r#"{"capabilities":{"tools":{}}}"#);
    let page = r#"{"tools":[{"name":"x"},{"name":"secret"}],"nextCursor":"p2"}"#;
    let heard = script.answers("a", &heard, "tools/list", page);
    assert_eq!(parsed(told(&heard, "a")[0])["params"]["cursor"], "p2");
    assert!(told(&script.client(r#"{"id":5,"method":"tools/list"}"#), "client").is_empty());
    let heard = script.answers("a", &heard, "tools/list", r#"{"tools":[{"name":"z"}]}"#);
    assert_eq!(
        told(&heard, "client"),
        [r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[{"name":"a__x"},{"name":"a__z"}]}}"#]
    );
    let refused = script.client(&call(6, "a__secret", Era::Legacy));
    assert!(told(&refused, "client")[0].contains("Unknown tool: a__secret"), "{refused:?}");
}

#[test]
fn a_call_reaches_the_upstream_that_its_name_says_in_every_pair_of_eras() {
    for (client, upstream) in ERAS {
        let mut script = Script::opened(client, upstream);
        let heard = script.client(&call(1, "b__x", client));
        let sent = parsed(told(&heard, "b")[0]);
        assert_eq!(sent["params"]["name"], "x");
        let revision = &sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let is_modern = upstream == Era::Modern || client == Era::Modern;
        assert_eq!(*revision, if is_modern { json!("2026-07-28") } else { Value::Null });
        let heard = script.answers("b", &heard, "tools/call", r#"{"content":[]}"#);
        let answer = parsed(told(&heard, "client")[0]);
        assert_eq!(answer["id"], 1);
        if client == Era::Modern && upstream == Era::Legacy {
            assert_eq!(answer["result"]["resultType"], "complete");
        }
        assert!(script.board.asked.values().all(|it| !matches!(it.what, Request::Client(_))));
        assert!(script.board.aliases.is_empty());
    }
}

#[test]
fn ids_and_progress_of_upstreams_do_not_meet() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let with_token = |id: u64, tool: &str| {
        format!(
            r#"{{"id":{id},"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":"t{id}"}}}}}}"#
        )
    };
    let first = script.client(&with_token(1, "a__x"));
    let second = script.client(&with_token(2, "b__x"));
    let (one, two) = (id_of(&first, "a", "tools/call"), id_of(&second, "b", "tools/call"));
    assert_ne!(one, two);
    let progress = |token: &str| {
        format!(
            r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        )
    };
    assert_eq!(told(&script.says("b", &progress(&two)), "client"), [progress("\"t2\"")]);
    assert!(script.says("a", &progress(&two)).is_empty(), "it is not a's to tell");
    let wrong = format!(r#"{{"id":{two},"result":{{}}}}"#);
    assert!(script.says("a", &wrong).is_empty(), "nor to answer");
    assert_eq!(told(&script.says("b", &wrong), "client"), [r#"{"id":2,"result":{}}"#]);
    assert!(script.says("b", &wrong).is_empty(), "an answer comes once");
}

#[test]
fn a_cancelled_call_is_cancelled_where_it_is() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let heard = script.client(&call(1, "a__x", Era::Legacy));
    let id = id_of(&heard, "a", "tools/call");
    let heard = script.client(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(heard.len(), 1);
    assert_eq!(parsed(told(&heard, "a")[0])["params"]["requestId"].to_string(), id);
    assert!(script.says("a", &format!(r#"{{"id":{id},"result":{{}}}}"#)).is_empty());
}

#[test]
fn a_call_before_any_list_waits_for_its_upstream_alone() {
    let mut script = Script::new(&["a", "b"]);
    let heard = script.client(&call(1, "a__x", Era::Legacy));
    assert_eq!(told(&heard, "a"), ["start"]);
    let heard = script.opens("a", Era::Legacy, &["x"]);
    assert!(told(&heard, "a").iter().any(|line| line.contains("tools/call")), "{heard:?}");
}

#[test]
fn a_name_that_stands_alone_is_found_when_the_lists_are_there() {
    let mut script = Script::with(Prefix::WhereNeeded, &["a", "b"]);
    assert!(told(&script.client(&call(1, "y", Era::Legacy)), "client").is_empty());
    script.opens("a", Era::Legacy, &["x"]);
    // It may be a tool of the one that is still being started.
    assert!(told(&script.later(10), "client").is_empty());
    let heard = script.opens("b", Era::Legacy, &["x", "y"]);
    assert!(told(&heard, "b").iter().any(|line| line.contains(r#""name":"y""#)), "{heard:?}");
    let heard = script.client(&call(2, "nothing", Era::Legacy));
    assert!(told(&heard, "client")[0].contains("Unknown tool: nothing"));

    let mut script = Script::with(Prefix::WhereNeeded, &["a", "b"]);
    script.client(&call(1, "y", Era::Legacy));
    script.opens("a", Era::Legacy, &["x"]);
    let heard = script.later(3_600);
    assert!(told(&heard, "client")[0].contains("Unknown tool: y"), "{heard:?}");
}

#[test]
fn an_upstream_that_comes_late_or_changes_is_told_of() {
    for era in [Era::Legacy, Era::Modern] {
        let mut script = Script::new(&["a", "b"]);
        script.client(&hello(era));
        script.opens("a", Era::Legacy, &["x"]);
        script.later(3);
        if era == Era::Modern {
            let heard = script.client(&format!(
                r#"{{"id":"s","method":"subscriptions/listen","params":{{{META},"notifications":{{"toolsListChanged":true}}}}}}"#
            ));
            let acknowledged = parsed(told(&heard, "client")[0]);
            assert_eq!(
                acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
                "s"
            );
        }
        script.client(r#"{"id":1,"method":"tools/list"}"#);
        script.later(3);
        let heard = script.opens("b", Era::Legacy, &["y"]);
        let changed = told(&heard, "client");
        assert_eq!(changed.len(), 1, "{heard:?}");
        assert!(changed[0].contains("notifications/tools/list_changed"));
        assert_eq!(changed[0].contains(r#"subscriptionId":"s""#), era == Era::Modern);
        let heard = script.says("b", r#"{"method":"notifications/tools/list_changed"}"#);
        assert!(told(&heard, "client").is_empty(), "not before it is known what has changed");
        let heard = script.answers(
            "b",
            &heard,
            "tools/list",
            r#"{"tools":[{"inputSchema":{},"name":"y"}]}"#,
        );
        assert_eq!(told(&heard, "client").len(), 1, "it has said so");
    }
}

#[test]
fn calls_that_an_upstream_leaves_are_answered_or_made_again() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    script.client(&call(1, "a__x", Era::Legacy));
    script.client(&call(2, "b__x", Era::Legacy));
    let heard = script.ends("a");
    let errors = told(&heard, "client");
    assert_eq!(parsed(errors[0])["error"]["message"], "upstream `a` exited with code 1");
    assert_eq!(errors.len(), 1, "b goes on: {heard:?}");
    assert_eq!(told(&script.later(1), "a"), ["start"], "it is started again");
}

#[test]
fn a_harmless_call_is_made_again_once() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let probe = script.started("a");
    let id = id_of(&probe, "a", "server/discover");
    let heard = script.says("a", &format!(r#"{{"id":{id},"error":{{"code":1,"message":""}}}}"#));
    let heard = script.answers("a", &heard, "initialize", r#"{"capabilities":{"tools":{}}}"#);
    let tools = r#"{"tools":[{"name":"x","annotations":{"readOnlyHint":true}}]}"#;
    script.answers("a", &heard, "tools/list", tools);
    script.client(&call(1, "a__x", Era::Legacy));
    assert!(told(&script.ends("a"), "client").is_empty());
    script.later(1);
    let heard = script.opens("a", Era::Legacy, &["x"]);
    assert!(told(&heard, "a").iter().any(|line| line.contains("tools/call")), "{heard:?}");
    let heard = script.ends("a");
    assert!(told(&heard, "client")[0].contains("exited with code 1"), "once: {heard:?}");
}

#[test]
fn an_upstream_that_keeps_failing_is_left_alone_and_says_why() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let mut starts = 0;
    for _ in 0..20 {
        script.ends("a");
        starts += told(&script.later(40), "a").iter().filter(|line| **line == "start").count();
    }
    assert_eq!(starts, 4, "after five failures nobody tries by themselves");
    script.now += Duration::from_secs(100);
    let heard = script.client(&call(1, "a__x", Era::Legacy));
    assert!(told(&heard, "client").is_empty(), "whoever calls it has it tried again: {heard:?}");
    assert_eq!(told(&script.later(0), "a"), ["start"]);
    let heard = script.ends("a");
    assert!(told(&heard, "client")[0].contains("it is tried again in"), "{heard:?}");
}

#[test]
fn a_call_that_is_not_heard_of_is_given_up_and_progress_is_hearing() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let heard = script.client(
        r#"{"id":1,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":1}}}"#,
    );
    let id = id_of(&heard, "a", "tools/call");
    assert!(script.later(50).is_empty());
    script.says("a", &format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#));
    assert!(script.later(50).is_empty());
    let heard = script.later(10);
    assert!(told(&heard, "client")[0].contains("has not answered within 60 s"));
    assert!(told(&heard, "a")[0].contains("notifications/cancelled"));
    assert!(script.board.timers.iter().all(|(_, timer)| !matches!(timer, Timer::Request(_))));
}

#[test]
fn an_upstream_that_does_not_open_is_ended() {
    let mut script = Script::new(&["a"]);
    script.client(&call(1, "a__x", Era::Legacy));
    script.started("a");
    let heard = script.later(5);
    assert!(told(&heard, "a")[0].contains("initialize"), "an old server passes over what is new");
    let heard = script.later(25);
    assert_eq!(told(&heard, "a"), ["end"]);
    // It was never sent, and waits for the next start.
    assert!(told(&heard, "client").is_empty());
}

#[test]
fn an_upstream_that_is_slow_to_start_opens_as_it_answers() {
    let discovered = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    let initialized = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;
    let refused = |id: &str| format!(r#"{{"id":{id},"error":{{"code":-32601,"message":"no"}}}}"#);
    let open = |script: &Script| (script.board.members[0].state, script.board.members[0].era);

    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let probe = script.started("a");
    let opening = script.later(5);
    script.answers("a", &probe, "server/discover", discovered);
    let heard = script.says("a", &refused(&id_of(&opening, "a", "initialize")));
    assert!(!told(&heard, "a").contains(&"end"), "it is modern, and has said so: {heard:?}");
    assert_eq!(open(&script), (State::Open, Era::Modern));

    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let probe = script.started("a");
    let opening = script.later(5);
    script.answers("a", &probe, "server/discover", discovered);
    script.answers("a", &opening, "initialize", initialized);
    assert_eq!(open(&script), (State::Open, Era::Legacy), "as it was asked to last");

    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let probe = script.started("a");
    let opening = script.later(5);
    let heard = script.says("a", &refused(&id_of(&probe, "a", "server/discover")));
    assert!(told(&heard, "a").is_empty(), "it has been asked already: {heard:?}");
    script.answers("a", &opening, "initialize", initialized);
    assert_eq!(open(&script), (State::Open, Era::Legacy));
}

#[test]
fn a_legacy_question_goes_to_a_legacy_client_and_back() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let heard = script.says("b", r#"{"id":7,"method":"sampling/createMessage","params":{"x":1}}"#);
    let asked = parsed(told(&heard, "client")[0]);
    assert_eq!(asked["params"], json!({ "x": 1 }));
    let reply = format!(r#"{{"id":{},"result":{{"y":2}}}}"#, asked["id"]);
    assert_eq!(told(&script.client(&reply), "b"), [r#"{"id":7,"result":{"y":2}}"#]);
    assert!(script.client(&reply).is_empty());
    assert_eq!(
        told(&script.says("a", r#"{"id":"p","method":"ping"}"#), "a"),
        [r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]
    );
}

#[test]
fn a_legacy_question_is_an_answer_for_a_modern_client() {
    let mut script = Script::opened(Era::Modern, Era::Legacy);
    let heard = script.client(&call(1, "a__x", Era::Modern));
    let alias = id_of(&heard, "a", "tools/call");
    let heard =
        script.says("a", r#"{"id":7,"method":"elicitation/create","params":{"message":"?"}}"#);
    let required = parsed(told(&heard, "client")[0]);
    assert_eq!(
        (&required["id"], &required["result"]["resultType"]),
        (&json!(1), &json!("input_required"))
    );
    assert_eq!(
        required["result"]["inputRequests"],
        json!({ "1": { "method": "elicitation/create", "params": { "message": "?" } } })
    );
    let state = &required["result"]["requestState"];
    let again = format!(
        r#"{{"id":2,"method":"tools/call","params":{{"name":"a__x",{META},"requestState":{state},"inputResponses":{{"1":{{"action":"accept"}}}}}}}}"#
    );
    assert_eq!(
        told(&script.client(&again), "a"),
        [r#"{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}"#]
    );
    let heard = script.says("a", &format!(r#"{{"id":{alias},"result":{{"content":[]}}}}"#));
    assert_eq!(
        told(&heard, "client"),
        [r#"{"id":2,"result":{"resultType":"complete","content":[]}}"#]
    );
    let heard = script.client(&again.replace("\"id\":2", "\"id\":3"));
    assert!(told(&heard, "client")[0].contains("is over"), "{heard:?}");
}

#[test]
fn a_question_is_refused_where_it_is_not_known_whom_it_concerns() {
    let mut script = Script::opened(Era::Modern, Era::Legacy);
    let question = r#"{"id":7,"method":"elicitation/create","params":{}}"#;
    let heard = script.says("a", question);
    assert!(told(&heard, "a")[0].contains("cannot be asked now"), "{heard:?}");
    script.client(&call(1, "a__x", Era::Modern));
    script.client(&call(2, "a__x", Era::Modern));
    let heard = script.says("a", question);
    assert!(told(&heard, "client").is_empty() && told(&heard, "a").len() == 1);
}

#[test]
fn what_a_modern_upstream_requires_is_a_question_to_a_legacy_client() {
    let mut script = Script::opened(Era::Legacy, Era::Modern);
    let heard = script.client(&call(1, "a__x", Era::Legacy));
    let required = r#"{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?"}}}}"#;
    let heard = script.answers("a", &heard, "tools/call", required);
    let question = parsed(told(&heard, "client")[0]);
    assert_eq!(question["method"], "elicitation/create");
    let reply = format!(r#"{{"id":{},"result":{{"action":"accept"}}}}"#, question["id"]);
    let heard = script.client(&reply);
    let again = parsed(told(&heard, "a")[0]);
    assert_eq!(again["params"]["requestState"], "s");
    assert_eq!(again["params"]["inputResponses"], json!({ "k": { "action": "accept" } }));
    assert_eq!(again["params"]["name"], "x");
    let heard =
        script.answers("a", &heard, "tools/call", r#"{"resultType":"complete","content":[]}"#);
    assert_eq!(parsed(told(&heard, "client")[0])["id"], 1);
}

#[test]
fn what_passes_between_a_modern_client_and_upstream_is_theirs() {
    let mut script = Script::opened(Era::Modern, Era::Modern);
    let heard = script.client(&call(1, "a__x", Era::Modern));
    let required = r#"{"resultType":"input_required","requestState":"s"}"#;
    let heard = script.answers("a", &heard, "tools/call", required);
    assert_eq!(parsed(told(&heard, "client")[0])["result"]["requestState"], "s");
}

#[test]
fn a_log_says_whose_it_is() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let log = |logger: &str| {
        format!(r#"{{"method":"notifications/message","params":{{{logger}"data":1}}}}"#)
    };
    assert_eq!(
        told(&script.says("a", &log(r#""logger":"db","#)), "client"),
        [log(r#""logger":"a/db","#)]
    );
    assert_eq!(told(&script.says("a", &log("")), "client"), [log(r#""logger":"a","#)]);
}

#[test]
fn resources_are_asked_of_whoever_lists_them() {
    let mut script = Script::new(&["a", "b"]);
    script.client(&hello(Era::Legacy));
    for name in ["a", "b"] {
        let probe = script.started(name);
        let id = id_of(&probe, name, "server/discover");
        let heard =
            script.says(name, &format!(r#"{{"id":{id},"error":{{"code":1,"message":""}}}}"#));
        let opened = script.answers(
            name,
            &heard,
            "initialize",
            r#"{"capabilities":{"resources":{"subscribe":true}}}"#,
        );
        let own = format!(r#"{{"uri":"{name}://1","name":"n"}},{{"uri":"both://1","name":"m"}}"#);
        script.answers(name, &opened, "resources/list", &format!(r#"{{"resources":[{own}]}}"#));
        script.answers(name, &opened, "resources/templates/list", r#"{"resourceTemplates":[]}"#);
    }
    let read = |id: u64, uri: &str| {
        format!(r#"{{"id":{id},"method":"resources/read","params":{{"uri":"{uri}"}}}}"#)
    };
    assert!(told(&script.client(&read(1, "b://1")), "b")[0].contains(r#""uri":"b://1""#));
    let heard = script.client(&read(2, "forebay://a/both://1"));
    assert!(told(&heard, "a")[0].contains(r#""uri":"both://1""#), "{heard:?}");
    let heard = script.client(&read(3, "b://other"));
    assert!(told(&heard, "b")[0].contains("b://other"), "nobody else has such: {heard:?}");
    let heard = script.client(&read(4, "both://other"));
    assert!(told(&heard, "client")[0].contains("forebay://b/both://other"), "{heard:?}");
    let updated = r#"{"method":"notifications/resources/updated","params":{"uri":"both://1"}}"#;
    let heard = script.says("b", updated);
    assert!(told(&heard, "client")[0].contains("forebay://b/both://1"), "{heard:?}");
}

#[test]
fn what_is_watched_before_a_modern_upstream_is_open_is_listened_to_and_not_asked_for() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Legacy));
    let ask = |id: u64, method: &str, uri: &str| {
        format!(r#"{{"id":{id},"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#)
    };
    assert!(told(&script.client(&ask(1, "subscribe", "a://kept")), "client").is_empty());
    script.client(&ask(2, "subscribe", "a://left"));
    script.client(&ask(3, "unsubscribe", "a://left"));
    let heard = script.opens("a", Era::Modern, &["x"]);
    let answers: Vec<_> = told(&heard, "client").into_iter().map(parsed).collect();
    let answered = |id: u64| answers.iter().any(|it| it["id"] == id && it["result"].is_object());
    assert!([1, 2, 3].into_iter().all(answered), "{heard:?}");
    let asked = told(&heard, "a").join("\n");
    assert!(!asked.contains("resources/subscribe"), "it knows no such method: {asked}");
    assert!(asked.contains("a://kept") && !asked.contains("a://left"), "{asked}");
}

#[test]
fn tasks_are_asked_about_where_they_are_and_not_across_the_eras() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let heard = script.client(&call(1, "b__x", Era::Legacy));
    script.answers("b", &heard, "tools/call", r#"{"task":{"taskId":"t1","status":"working"}}"#);
    let get = r#"{"id":2,"method":"tasks/get","params":{"taskId":"t1"}}"#;
    assert_eq!(told(&script.client(get), "b").len(), 1);
    let heard = script.client(&get.replace("t1", "t2"));
    assert!(told(&heard, "client")[0].contains("Unknown task: t2"));
    let mut script = Script::opened(Era::Legacy, Era::Modern);
    let heard = script
        .client(r#"{"id":1,"method":"tools/call","params":{"name":"a__x","task":{"ttl":1}}}"#);
    assert!(told(&heard, "client")[0].contains("call the tool without `task`"), "{heard:?}");
}

#[test]
fn upstreams_come_and_go_while_others_go_on() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    script.client(r#"{"id":1,"method":"tools/list"}"#);
    script.client(&call(2, "a__x", Era::Legacy));
    let kept = script.client(&call(3, "b__x", Era::Legacy));
    let new = script.adds("c");
    let (a, b) = (script.at("a"), script.at("b"));
    script.board.names.rearrange(["c", "b"].map(UpstreamName::new).to_vec());
    let heard = script.arranged(vec![new, b]);
    assert_eq!(told(&heard, "a"), ["end"], "{a}");
    assert_eq!(told(&heard, "c"), ["start"]);
    let client = told(&heard, "client");
    assert!(client[0].contains("is not in the settings any more"), "{heard:?}");
    assert!(client[1].contains("notifications/tools/list_changed"), "{heard:?}");
    let heard = script.answers("b", &kept, "tools/call", "{}");
    assert_eq!(parsed(told(&heard, "client")[0])["id"], 3, "b has noticed nothing");
    script.opens("c", Era::Legacy, &["z"]);
    let heard = script.client(r#"{"id":4,"method":"tools/list"}"#);
    let tools = parsed(told(&heard, "client")[0])["result"]["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["c__z", "b__x", "b__y"], "in the new order");
    assert!(script.later(100).iter().all(|(to, _)| to != "a"), "it is not tried again");
    let heard = script.client(&call(5, "a__x", Era::Legacy));
    assert!(told(&heard, "client")[0].contains("Unknown tool: a__x"), "{heard:?}");
}

#[test]
fn an_upstream_is_started_anew_at_once() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let first = script.run("a");
    script.client(&call(1, "a__x", Era::Legacy));
    let effects = script.board.restart(&UpstreamName::new("a"), script.now);
    let heard = script.heard(effects);
    assert_eq!(told(&heard, "a"), ["end", "start"]);
    assert!(told(&heard, "client")[0].contains("upstream `a` is started anew"), "{heard:?}");
    script.client(&call(2, "a__x", Era::Legacy));
    assert!(script.ends_as("a", first).is_empty(), "the end of the process before is no news");
    let heard = script.opens("a", Era::Legacy, &["x"]);
    assert!(told(&heard, "client").is_empty(), "its list is what it was");
    let asked = told(&heard, "a");
    assert!(
        asked.iter().any(|line| line.contains("tools/call")),
        "what waited is asked: {heard:?}"
    );
}

#[test]
fn what_changes_is_subscribed_to_again_when_a_subscription_ends() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Modern));
    let mut asked = script.opens("a", Era::Modern, &["x"]);
    for pause in [1, 1, 2, 4] {
        let id = id_of(&asked, "a", "subscriptions/listen");
        let broken = format!(r#"{{"id":{id},"error":{{"code":-32000,"message":"broken"}}}}"#);
        assert!(script.says("a", &broken).is_empty(), "not at once");
        asked = script.later(pause);
    }
    let acknowledged =
        r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}"#;
    let heard = script.says("a", acknowledged);
    assert!(told(&heard, "a")[0].contains("tools/list"), "what was not heard is read: {heard:?}");
    let heard = script.answers("a", &heard, "tools/list", r#"{"tools":[{"name":"z"}]}"#);
    assert!(told(&heard, "client").is_empty());
    assert!(script.says("a", acknowledged).is_empty(), "all is known");
    let listed = script.client(&format!(r#"{{"id":1,"method":"tools/list","params":{{{META}}}}}"#));
    assert!(told(&listed, "client")[0].contains("a__z"), "{listed:?}");
}

#[test]
fn who_has_no_subscriptions_is_not_asked_again() {
    let mut script = Script::new(&["a"]);
    script.client(&hello(Era::Modern));
    let asked = script.opens("a", Era::Modern, &["x"]);
    let id = id_of(&asked, "a", "subscriptions/listen");
    script.says("a", &format!(r#"{{"id":{id},"error":{{"code":-32601,"message":"no"}}}}"#));
    assert!(script.later(100).is_empty());
}

#[test]
fn a_list_that_cannot_be_read_again_stays_as_it_was() {
    let mut script = Script::opened(Era::Legacy, Era::Legacy);
    let heard = script.says("a", r#"{"method":"notifications/tools/list_changed"}"#);
    let id = id_of(&heard, "a", "tools/list");
    script.says("a", &format!(r#"{{"id":{id},"error":{{"code":-32000,"message":"broken"}}}}"#));
    let heard = script.client(&call(1, "a__x", Era::Legacy));
    assert!(told(&heard, "a")[0].contains("tools/call"), "{heard:?}");
    let heard = script.says("a", r#"{"method":"notifications/tools/list_changed"}"#);
    assert!(told(&heard, "a")[0].contains("tools/list"), "it is read again: {heard:?}");
}

#[test]
fn an_upstream_that_starts_slowly_is_opened_by_whichever_answer_comes() {
    for (answers, era) in [
        (["modern", "refuses initialize"].as_slice(), Some(Era::Modern)),
        (&["refuses initialize", "modern"], Some(Era::Modern)),
        (&["refuses discover", "legacy"], Some(Era::Legacy)),
        (&["legacy"], Some(Era::Legacy)),
        (&["refuses discover", "refuses initialize"], None),
        (&["refuses initialize", "refuses discover"], None),
    ] {
        let mut script = Script::new(&["a"]);
        script.client(&hello(Era::Legacy));
        let probe = script.started("a");
        let discover = id_of(&probe, "a", "server/discover");
        let late = script.later(6);
        let initialize = id_of(&late, "a", "initialize");
        let mut heard = Vec::new();
        for answer in answers {
            let line = match *answer {
                "modern" => format!(
                    r#"{{"id":{discover},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}}}}}"#
                ),
                "legacy" => {
                    format!(r#"{{"id":{initialize},"result":{{"capabilities":{{"tools":{{}}}}}}}}"#)
                }
                "refuses discover" => {
                    format!(r#"{{"id":{discover},"error":{{"code":-32601,"message":"what?"}}}}"#)
                }
                _ => format!(r#"{{"id":{initialize},"error":{{"code":-1,"message":"never"}}}}"#),
            };
            heard.extend(script.says("a", &line));
        }
        let said = told(&heard, "a");
        let lists = said.iter().filter(|line| line.contains("tools/list")).count();
        assert_eq!(lists, usize::from(era.is_some()), "{answers:?}: {heard:?}");
        assert_eq!(said.contains(&"end"), era.is_none(), "{answers:?}: {heard:?}");
        let is_initialized = said.iter().any(|line| line.contains("notifications/initialized"));
        assert_eq!(is_initialized, era == Some(Era::Legacy), "{answers:?}: {heard:?}");
    }
}
