//! What the relay makes of the chain's verdicts, of lines that are no messages, and of an upstream
//! that is gone.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use forebay_testkit::playbook::{Conversation, Playbook, Sent};
use forebay_wire::Line;

use super::{Onward, Outgoing, Relay};
use crate::{
    body::{Body, Source},
    chain::{CallVerdict, Deadlines, Moment, Verdict},
    session::SubjectKind,
    testing::{Hooks, Relayed, Told, marked, relay, untouched},
};

const CALL: &str = r#"{"id":7,"method":"tools/call","params":{"name":"list"}}"#;
const RESULT: &str = r#"{"id":7,"result":{"content":[]}}"#;

fn with(hooks: Hooks) -> Playbook<Relayed> {
    with_all(vec![hooks])
}

fn with_all(hooks: Vec<Hooks>) -> Playbook<Relayed> {
    let brief = Duration::from_millis(50);
    let deadlines = Deadlines { call: brief, result: brief, tool_list: brief, handshake: brief };
    let interceptors = hooks.into_iter().map(|hooks| Arc::new(hooks) as _).collect();
    Playbook::new(Relayed(relay(interceptors, deadlines)))
}

fn answering(result: &'static str) -> Hooks {
    Hooks {
        call: Some(Box::new(move |call, _, _| {
            Ok(if call.tool() == Some("ours") {
                CallVerdict::Answer(result.as_bytes().to_vec())
            } else {
                CallVerdict::Forward
            })
        })),
        ..Hooks::default()
    }
}

fn replacing(
    verdict: impl Fn() -> Result<Verdict, crate::chain::HookError> + Send + Sync + 'static,
) -> Hooks {
    Hooks { result: Some(Box::new(move |_, _| verdict())), ..Hooks::default() }
}

#[test]
fn an_answered_call_never_reaches_the_upstream() {
    let relayed = with(answering("{\n  \"content\": []\r\n}"))
        .client_sends(r#"{"id":"a","method":"tools/call","params":{"name":"ours"}}"#)
        .client_gets("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{   \"content\": []  }}")
        .passes_up(CALL)
        .nothing_more();
    assert_eq!(relayed.0.session().pending(), 1, "only the forwarded call is open");
}

#[test]
fn hooks_see_the_payload_as_it_came() {
    let hooks = Hooks {
        call: Some(Box::new(|_, params, _| {
            assert_eq!(params.in_memory(), Some(br#"{"name" : "list"}"#.as_slice()));
            Ok(CallVerdict::Forward)
        })),
        result: Some(Box::new(|_, result| {
            assert_eq!(result.in_memory(), Some(br#"{ "content":[1] }"#.as_slice()));
            Ok(Verdict::Replace(b"1".to_vec()))
        })),
        ..Hooks::default()
    };
    with(hooks)
        .passes_up(r#"{"id":7,"method":"tools/call","params":{"name" : "list"}}"#)
        .upstream_sends(r#"{"result":{ "content":[1] } , "id":7}"#)
        .client_gets(r#"{"result":1 , "id":7}"#)
        .nothing_more();
}

/// The tool and the length of each result that was noticed.
type Noticed = Arc<Mutex<Vec<(String, u64)>>>;

/// Hooks that write down each result that they are told of.
fn noticing(hooks: Hooks) -> (Hooks, Noticed) {
    let noticed = Noticed::default();
    let notes = noticed.clone();
    let notice = Box::new(move |moment: &Moment<'_>| {
        if let Moment::Answer(SubjectKind::Result, call, bytes) = moment {
            notes.lock().unwrap().push((call.tool().unwrap().to_owned(), *bytes));
        }
    });
    (Hooks { notice: Some(notice), ..hooks }, noticed)
}

#[test]
fn each_result_is_noticed_once_whether_or_not_it_is_watched() {
    for (hooks, passed) in [
        (Hooks::default(), r#"{"content":[]}"#),
        (replacing(|| Ok(Verdict::Replace(b"1".to_vec()))), "1"),
    ] {
        let (hooks, noticed) = noticing(hooks);
        with(hooks)
            .passes_up(CALL)
            .upstream_sends(RESULT)
            .client_gets(RESULT.replace(r#"{"content":[]}"#, passed))
            // Not the answer to any call.
            .passes_down(RESULT)
            .passes_up(CALL)
            .passes_down(r#"{"id":7,"error":{"code":1,"message":"no"}}"#)
            .passes_up(r#"{"id":8,"method":"ping"}"#)
            .passes_down(r#"{"id":8,"result":{}}"#)
            .passes_up(format!("[{CALL},{}]", CALL.replace('7', "8").replace("list", "read")))
            .upstream_sends(r#"[{"id":8,"result":{}},{"id":7,"result":{"content":[]}}]"#)
            .client_gets(if passed == "1" {
                r#"[{"id":8,"result":1},{"id":7,"result":1}]"#
            } else {
                r#"[{"id":8,"result":{}},{"id":7,"result":{"content":[]}}]"#
            })
            .nothing_more();
        let expected = [("list", 14), ("read", 2), ("list", 14)];
        assert_eq!(
            *noticed.lock().unwrap(),
            expected.map(|(tool, bytes)| (tool.to_owned(), bytes))
        );
    }
}

#[test]
fn a_result_that_is_not_held_is_noticed_too() {
    let (hooks, noticed) = noticing(Hooks::default());
    let relayed = with(hooks).passes_up(CALL).nothing_more();
    relayed.0.upstream_line_passed(&Line::of(RESULT.as_bytes()), RESULT.len() as u64);
    assert_eq!(*noticed.lock().unwrap(), [("list".to_owned(), 14)]);
}

#[test]
fn an_interceptor_that_panics_at_a_notice_costs_nothing() {
    let hooks = Hooks { notice: Some(Box::new(|_| panic!("on purpose"))), ..Hooks::default() };
    with(hooks).passes_up(CALL).passes_down(RESULT).nothing_more();
}

#[test]
fn an_interceptor_that_errs_is_passed_over() {
    with(replacing(|| Err("disk full".into()))).passes_up(CALL).passes_down(RESULT).nothing_more();
}

#[test]
fn an_interceptor_that_panics_is_passed_over() {
    with(replacing(|| panic!("on purpose"))).passes_up(CALL).passes_down(RESULT).nothing_more();
    let watching =
        Hooks { call: Some(Box::new(|_, _, _| panic!("on purpose"))), ..Hooks::default() };
    with(watching).passes_up(CALL).passes_down(RESULT).nothing_more();
}

#[test]
fn an_interceptor_that_is_late_is_passed_over() {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    let hooks = replacing(move || {
        // Blocks until the test is over.
        let _ = receiver.lock().unwrap().recv();
        Ok(Verdict::Replace(b"late".to_vec()))
    });
    with(hooks).passes_up(CALL).passes_down(RESULT).nothing_more();
    drop(sender);
}

#[test]
fn an_interceptor_whose_hooks_pile_up_is_not_asked() {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    let asked = Arc::new(AtomicUsize::new(0));
    let hooks = {
        let asked = asked.clone();
        replacing(move || {
            asked.fetch_add(1, Ordering::SeqCst);
            let _ = receiver.lock().map(|receiver| receiver.recv());
            Ok(Verdict::Pass)
        })
    };
    let mut play = with(hooks);
    for _ in 0..40 {
        play = play.passes_up(CALL).passes_down(RESULT);
    }
    play.nothing_more();
    assert!(asked.load(Ordering::SeqCst) <= 32, "the others were not asked");
    drop(sender);
}

#[test]
fn a_replacement_that_is_not_json_is_passed_over() {
    with(replacing(|| Ok(Verdict::Replace(b"{oops".to_vec()))))
        .passes_up(CALL)
        .passes_down(RESULT)
        .nothing_more();
}

#[test]
fn a_good_interceptor_is_not_hurt_by_a_bad_one() {
    with_all(vec![
        replacing(|| Err("no".into())),
        replacing(|| Ok(Verdict::Replace(b"\"good\"".to_vec()))),
        replacing(|| panic!("on purpose")),
    ])
    .passes_up(CALL)
    .upstream_sends(RESULT)
    .client_gets(r#"{"id":7,"result":"good"}"#)
    .nothing_more();
}

const CANCEL: &str = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;

/// A call is made whose hook cancels it, in this way, and then decides.
fn cancelled_in_the_chain(
    cancel: impl Fn(&Relay) + Send + Sync + 'static,
    verdict: CallVerdict,
) -> (Outgoing, Arc<AtomicUsize>) {
    let cell: Arc<OnceLock<Arc<Relay>>> = Arc::default();
    let heard: Arc<AtomicUsize> = Arc::default();
    let hooks = Hooks {
        call: Some(Box::new({
            let (cell, heard) = (cell.clone(), heard.clone());
            move |_, _, caller| {
                let heard = heard.clone();
                caller.on_cancel(move || {
                    heard.fetch_add(1, Ordering::SeqCst);
                });
                assert!(!caller.is_cancelled());
                cancel(cell.get().unwrap());
                assert!(caller.is_cancelled());
                Ok(verdict.clone())
            }
        })),
        ..Hooks::default()
    };
    let relay = Arc::new(relay(vec![Arc::new(hooks)], Deadlines::default()));
    assert!(cell.set(relay.clone()).is_ok());
    let line = format!("{CALL}\n").into_bytes();
    let Onward::Consult(consultation) = relay.client_line(Source::Line(&line)) else {
        panic!("the chain watches calls");
    };
    let client = Arc::new(Told::default());
    let body = Arc::new(Body::Memory(line));
    (relay.consult(&consultation, &body, &(client as _)), heard)
}

#[test]
fn a_call_cancelled_in_the_chain_goes_nowhere_and_its_hook_hears_it() {
    let ways: [fn(&Relay); 3] = [
        |relay| {
            let onward = relay.client_line(Source::Line(CANCEL.as_bytes()));
            assert!(matches!(onward, Onward::Drop), "the upstream has never seen the call");
        },
        Relay::client_is_gone,
        |relay| {
            let error = String::from_utf8(relay.abandon("exited with code 3")).unwrap();
            assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":7,"error""#), "{error}");
        },
    ];
    for cancel in ways {
        for verdict in [CallVerdict::Forward, CallVerdict::Answer(b"{}".to_vec())] {
            let (outgoing, heard) = cancelled_in_the_chain(cancel, verdict);
            assert!(outgoing.to_upstream.is_none() && outgoing.to_client.is_empty());
            assert_eq!(heard.load(Ordering::SeqCst), 1);
        }
    }
}

#[test]
fn a_call_that_the_upstream_has_is_cancelled_there() {
    with(answering("{}")).passes_up(CALL).passes_up(CANCEL).passes_down(RESULT).nothing_more();
    // One that has been answered is over; what the upstream makes of it is its own affair.
    let ours = CALL.replace("list", "ours");
    with(answering("{}"))
        .client_sends(ours)
        .client_gets(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#)
        .passes_up(CANCEL)
        .nothing_more();
}

#[test]
fn a_call_that_comes_after_its_client_has_gone_is_not_worked_on() {
    let hooks = Hooks { call: Some(Box::new(|_, _, _| panic!("asked"))), ..Hooks::default() };
    let relayed = with(hooks).nothing_more();
    relayed.0.client_is_gone();
    Playbook::new(relayed).client_sends(CALL).nothing_more();
}

#[test]
fn a_batch_is_taken_apart_only_where_it_must_be() {
    let other = r#"{"id":2,"method":"tools/call","params":{"name":"theirs"}}"#;
    let ours = r#"{"id":1,"method":"tools/call","params":{"name":"ours"}}"#;
    let note = r#"{"method":"notifications/x"}"#;
    with(answering("{}"))
        .client_sends(format!("[{ours}, {other} ,{note}]"))
        .client_gets(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .upstream_gets(format!("[{other},{note}]"))
        .client_sends(format!("[{ours}]"))
        .client_gets(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .passes_up(format!("[ {note} ]"))
        .nothing_more();
    marked()
        .passes_up(format!("[{CALL},{other}]"))
        .upstream_sends(r#"[{"id":2,"result":{}} , {"id":7,"result":{}},{"id":9,"result":{}}]"#)
        .client_gets(
            r#"[{"id":2,"result":"<result of theirs>"} , {"id":7,"result":"<result of list>"},{"id":9,"result":{}}]"#,
        )
        .nothing_more();
}

#[test]
fn a_client_line_that_is_not_json_gets_a_parse_error() {
    untouched()
        .client_sends("{oops")
        .client_gets(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: key must be a string at line 1 column 2. Send one JSON-RPC message per line."}}"#,
        )
        .passes_up(CALL)
        .nothing_more();
    let mut relayed = untouched().nothing_more();
    let sent = relayed.client_sends(b"{\"a\":\"\xff\"}\n");
    assert!(
        matches!(&sent[..], [Sent::ToClient(line)] if line.starts_with(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700"#))
    );
}

#[test]
fn an_upstream_line_that_is_not_json_passes() {
    untouched()
        .passes_down("Server listening on stdio")
        .passes_down("{\"id\":1,\"result\":{oops}}")
        .nothing_more();
    let mut relayed = untouched().nothing_more();
    assert_eq!(relayed.upstream_sends(b"\xff\xfe\n"), [Sent::ToClient(b"\xff\xfe\n".to_vec())]);
}

#[test]
fn calls_that_an_upstream_left_are_answered_and_later_ones_refused() {
    let relayed = untouched()
        .passes_up(CALL)
        .passes_up(r#"{"id":"b","method":"ping"}"#)
        .passes_up(r#"{"method":"notifications/x"}"#)
        .nothing_more();
    let error = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"upstream `orders` exited with code 3"}}}}"#
        )
    };
    let lines = relayed.0.abandon("exited with code 3");
    assert_eq!(String::from_utf8(lines).unwrap(), format!("{}\n{}\n", error("7"), error("\"b\"")));
    Playbook::new(relayed)
        .client_sends(r#"{"id":8,"method":"ping"}"#)
        .client_gets(error("8"))
        .passes_up(r#"{"method":"notifications/y"}"#)
        .nothing_more();
}
