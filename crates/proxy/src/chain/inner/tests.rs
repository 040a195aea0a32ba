//! Scripts in which a hook calls tools while it works on a call of the client's.

use std::sync::{Arc, mpsc};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    body::{Body, Message, Payload, Source},
    chain::{
        CallFailure, CallVerdict, Deadlines, HookError, InnerCall, Interceptor, ToUpstream,
        Verdict, Ways,
    },
    relay::{ClientOnward, Outgoing, Relay, UpstreamOnward},
    testing::{self, Hooks, Told, written},
};
use forebay_wire::Id;

/// An upstream that says of each request what a script says.
struct Scripted {
    relay: Arc<Relay>,
    got: Mutex<Vec<Value>>,
    /// What is said of a request, with `ID` in the place of its id.
    says: Vec<&'static str>,
    cancelled: mpsc::Sender<Id>,
}

impl ToUpstream for Scripted {
    fn ask(&self, request: Message, inner: &Arc<InnerCall>) {
        self.relay.expect(inner);
        self.got.lock().push(serde_json::from_slice(&written(&request)).unwrap());
        for said in &self.says {
            let line = said.replace("ID", inner.id().as_json()).into_bytes();
            match self.relay.upstream_line(Source::Line(&line)) {
                UpstreamOnward::Inner(it) => it.give(&Arc::new(Body::Memory(line))),
                other => panic!("{other:?}"),
            }
        }
    }

    fn cancel(&self, id: &Id) {
        self.cancelled.send(id.clone()).unwrap();
    }
}

struct Outcome {
    outgoing: Outgoing,
    got: Vec<Value>,
    told: Vec<Value>,
    cancelled: mpsc::Receiver<Id>,
}

type Call = dyn Fn(&crate::chain::Caller) -> Result<CallVerdict, HookError> + Send + Sync;

/// What becomes of a call of `program` whose hook does `call`, with those `behind` it in the chain.
fn run(call: Box<Call>, behind: Vec<Arc<dyn Interceptor>>, says: Vec<&'static str>) -> Outcome {
    let first = Hooks {
        call: Some(Box::new(move |it, _, caller| {
            if it.tool() == Some("program") { call(caller) } else { Ok(CallVerdict::Forward) }
        })),
        ..Hooks::default()
    };
    let mut stages: Vec<Arc<dyn Interceptor>> = vec![Arc::new(first)];
    stages.extend(behind);
    let relay = Arc::new(testing::relay(stages, Deadlines::default()));
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "program",
        "_meta": {
            "progressToken": "t",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": {"io.modelcontextprotocol/tasks": {}}, "roots": {},
            },
        },
    }});
    let line = line.to_string().into_bytes();
    let ClientOnward::Consult(consultation) = relay.client_line(Source::Line(&line)) else {
        panic!("it is watched");
    };
    let (cancelled, heard) = mpsc::channel();
    let upstream =
        Arc::new(Scripted { relay: relay.clone(), got: Mutex::default(), says, cancelled });
    let told = Arc::new(Told::default());
    let ways =
        Ways { client: told.clone(), upstream: upstream.clone(), session: None, sampling: None };
    let outgoing = relay.consult_and_wait(consultation, Arc::new(Body::Memory(line)), ways);
    let lines = std::mem::take(&mut *told.0.lock().unwrap());
    let told = lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    let got = upstream.got.lock().drain(..).collect();
    Outcome { outgoing, got, told, cancelled: heard }
}

fn answer(outcome: &Outcome) -> Value {
    let [message] = outcome.outgoing.to_client.as_slice() else { panic!("one answer") };
    serde_json::from_slice::<Value>(&written(message)).unwrap()["result"].clone()
}

/// Answers with what a call gave.
fn told(outcome: Result<Payload, CallFailure>) -> Result<CallVerdict, HookError> {
    let told = match outcome {
        Ok(result) => serde_json::from_reader(result.reader())?,
        Err(failure) => json!({ "failure": failure.to_string() }),
    };
    Ok(CallVerdict::Answer(told.to_string().into_bytes()))
}

const RESULT: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"n":1}}"#;

#[test]
fn a_hook_gets_the_whole_result_and_the_client_hears_nothing_of_it() {
    let outcome = run(
        Box::new(|caller| told(caller.call_tool_and_wait("other", br#"{"a":1.0}"#))),
        Vec::new(),
        vec![RESULT],
    );
    let result = answer(&outcome);
    assert_eq!((&result["n"], &result["content"]), (&json!(1), &json!([])));
    assert!(outcome.outgoing.to_upstream.is_none() && outcome.told.is_empty());
    let [request] = outcome.got.as_slice() else { panic!("{:?}", outcome.got) };
    assert_eq!(request["method"], "tools/call");
    assert_eq!(request["params"]["name"], "other");
    assert_eq!(request["params"]["arguments"].to_string(), r#"{"a":1.0}"#);
    let meta = &request["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(
        meta["progressToken"], request["id"],
        "progress is of this call, not of the client's"
    );
    assert!(request["id"].as_str().unwrap().starts_with("forebay-"), "{request}");
}

#[test]
fn progress_of_a_call_reaches_the_hook() {
    let (say, said) = mpsc::channel();
    let outcome = run(
        Box::new(move |caller| {
            let (deliver, delivered) = mpsc::channel();
            let say = say.clone();
            caller.call_tool(
                "other",
                b"{}",
                move |done, total, message| say.send((done, total, message.to_owned())).unwrap(),
                move |outcome| deliver.send(outcome).unwrap(),
            );
            told(delivered.recv()?)
        }),
        Vec::new(),
        vec![
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":2,"total":4,"message":"half"}}"#,
            RESULT,
        ],
    );
    assert_eq!(answer(&outcome)["n"], 1);
    assert_eq!(said.recv().unwrap(), (2.0, Some(4.0), "half".to_owned()));
}

#[test]
fn an_error_a_question_and_an_upstream_that_is_gone_are_told() {
    let failure = |says| {
        let call: Box<Call> = Box::new(|caller| told(caller.call_tool_and_wait("other", b"{}")));
        answer(&run(call, Vec::new(), vec![says]))["failure"].clone()
    };
    assert_eq!(
        failure(r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Unknown tool"}}"#),
        "Unknown tool (error -32602)"
    );
    let asks = failure(r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required"}}"#);
    assert!(asks.as_str().unwrap().contains("call the tool directly"), "{asks}");
    let task = failure(
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"task","taskId":"t","status":"working"}}"#,
    );
    assert!(task.as_str().unwrap().contains("a task of the server's"), "{task}");
}

#[test]
fn a_call_of_a_hooks_asks_for_no_task_whatever_the_client_takes() {
    let outcome = run(
        Box::new(|caller| {
            let (deliver, delivered) = mpsc::channel();
            caller.call_for_client(
                "other",
                b"{}",
                |_, _, _| {},
                move |_, outcome| deliver.send(outcome).unwrap(),
            );
            delivered.recv()??;
            told(caller.call_tool_and_wait("other", b"{}"))
        }),
        Vec::new(),
        vec![RESULT],
    );
    assert_eq!(answer(&outcome)["n"], 1);
    assert_eq!(outcome.got.len(), 2);
    for request in &outcome.got {
        let capabilities =
            &request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*capabilities, json!({"extensions": {}, "roots": {}}), "{request}");
    }
}

#[test]
fn those_behind_the_hook_see_its_calls_and_those_before_do_not() {
    let rewrites = Hooks {
        call: Some(Box::new(|call, _, _| {
            assert!(call.is_inner());
            Ok(CallVerdict::Rewrite(br#"{"name":"renamed"}"#.to_vec()))
        })),
        result: Some(Box::new(|call, _| {
            assert!(call.is_inner());
            Ok(Verdict::Replace(br#"{"n":"revised"}"#.to_vec()))
        })),
        ..Hooks::default()
    };
    let outcome = run(
        Box::new(|caller| told(caller.call_tool_and_wait("other", b"{}"))),
        vec![Arc::new(rewrites)],
        vec![RESULT],
    );
    assert_eq!(answer(&outcome)["n"], "revised");
    assert_eq!(outcome.got[0]["params"], json!({"name": "renamed"}));
}

#[test]
fn a_result_goes_through_those_behind_as_an_upstreams_does_and_an_answer_does_not() {
    let revises = || {
        Arc::new(Hooks {
            result: Some(Box::new(|call, result| {
                assert_eq!((call.tool(), call.is_inner()), (Some("program"), false));
                assert!(result.bytes() > 5);
                Ok(Verdict::Replace(br#"{"n":"captured"}"#.to_vec()))
            })),
            ..Hooks::default()
        })
    };
    let made = |verdict: fn(Vec<u8>) -> CallVerdict| {
        let call: Box<Call> = Box::new(move |_| Ok(verdict(br#"{"n":"large"}"#.to_vec())));
        answer(&run(call, vec![revises()], Vec::new()))["n"].clone()
    };
    assert_eq!(made(CallVerdict::Result), "captured");
    assert_eq!(made(CallVerdict::Answer), "large");
}

#[test]
fn what_is_left_under_way_when_a_hook_returns_is_cancelled_and_its_answer_is_nobodys() {
    let outcome = run(
        Box::new(|caller| {
            caller.call_tool(
                "other",
                b"{}",
                |_, _, _| {},
                |outcome| {
                    assert_eq!(outcome.unwrap_err(), CallFailure::Cancelled);
                },
            );
            Ok(CallVerdict::Answer(b"{}".to_vec()))
        }),
        Vec::new(),
        Vec::new(),
    );
    let id = outcome.cancelled.recv().unwrap();
    assert_eq!(serde_json::from_str::<Value>(id.as_json()).unwrap(), outcome.got[0]["id"]);
}

const REFUSED: &str =
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"No","data":{"a": [1]}}}"#;

#[test]
fn a_call_for_the_client_is_seen_by_those_behind_as_the_clients_own() {
    let watches = Hooks {
        call: Some(Box::new(|call, _, _| {
            assert!(!call.is_inner());
            Ok(CallVerdict::Forward)
        })),
        result: Some(Box::new(|call, _| {
            assert!(!call.is_inner());
            call.note(7_u32);
            Ok(Verdict::Replace(br#"{"n":"captured"}"#.to_vec()))
        })),
        ..Hooks::default()
    };
    let outcome = run(
        Box::new(|caller| {
            let (deliver, delivered) = mpsc::channel();
            caller.call_for_client(
                "other",
                b"{}",
                |_, _, _| {},
                move |call, outcome| deliver.send((call.noted::<u32>(), outcome)).unwrap(),
            );
            let (noted, outcome) = delivered.recv()?;
            assert_eq!(noted.as_deref(), Some(&7));
            told(outcome)
        }),
        vec![Arc::new(watches)],
        vec![RESULT],
    );
    assert_eq!(answer(&outcome)["n"], "captured");
    assert_eq!(outcome.got[0]["params"]["_meta"]["progressToken"], outcome.got[0]["id"]);
}

#[test]
fn a_call_for_the_client_goes_on_when_its_hook_has_answered_until_it_is_cancelled() {
    let (hand_over, handed_over) = mpsc::channel();
    let (deliver, delivered) = mpsc::channel();
    let outcome = run(
        Box::new(move |caller| {
            let deliver = deliver.clone();
            let of_client = caller.call_for_client(
                "other",
                b"{}",
                |_, _, _| {},
                move |_, outcome| deliver.send(outcome).unwrap(),
            );
            hand_over.send(of_client)?;
            Ok(CallVerdict::Answer(b"{}".to_vec()))
        }),
        Vec::new(),
        Vec::new(),
    );
    assert!(outcome.cancelled.try_recv().is_err() && delivered.try_recv().is_err());
    handed_over.recv().unwrap().cancel();
    assert_eq!(delivered.recv().unwrap().unwrap_err(), CallFailure::Cancelled);
    let id = outcome.cancelled.recv().unwrap();
    assert_eq!(serde_json::from_str::<Value>(id.as_json()).unwrap(), outcome.got[0]["id"]);
}

#[test]
fn an_upstreams_error_and_question_pass_through_a_call_for_the_client() {
    let passed = |says| {
        let outcome = run(
            Box::new(|caller| {
                let (deliver, delivered) = mpsc::channel();
                caller.call_for_client(
                    "other",
                    b"{}",
                    |_, _, _| {},
                    move |_, outcome| deliver.send(outcome).unwrap(),
                );
                match delivered.recv()? {
                    Err(CallFailure::Refused(refusal)) => Ok(CallVerdict::Refuse(refusal)),
                    outcome => told(outcome),
                }
            }),
            Vec::new(),
            vec![says],
        );
        let [message] = outcome.outgoing.to_client.as_slice() else { panic!("one answer") };
        serde_json::from_slice::<Value>(&written(message)).unwrap()
    };
    let refused = passed(REFUSED);
    assert_eq!(refused["id"], 1);
    assert_eq!(refused["error"], json!({"code": -32602, "message": "No", "data": {"a": [1]}}));
    let asks = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required"}}"#;
    assert_eq!(passed(asks)["result"]["resultType"], "input_required");
}
