//! What the relay makes of the chain's verdicts, of lines that are no messages, and of an upstream
//! that is gone.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use forebay_testkit::{
    peer::{PATIENCE, eventually},
    playbook::{Conversation, Playbook, Sent},
};
use forebay_wire::Line;

use super::{ClientOnward, Outgoing, Relay};
use crate::{
    body::{Body, Payload, Source},
    chain::{CallVerdict, Caller, Deadlines, HookError, Moment, Verdict, Ways},
    session::{Call, SubjectKind},
    testing::{Hooks, Relayed, Told, marked, relay, untouched, written},
};

const CALL: &str = r#"{"id":7,"method":"tools/call","params":{"name":"list"}}"#;
const RESULT: &str = r#"{"id":7,"result":{"content":[]}}"#;

fn with(hooks: Hooks) -> Playbook<Relayed> {
    with_all(vec![hooks])
}

fn with_all(hooks: Vec<Hooks>) -> Playbook<Relayed> {
    let interceptors = hooks.into_iter().map(|hooks| Arc::new(hooks) as _).collect();
    Playbook::new(Relayed::new(relay(interceptors, Deadlines::default())))
}

/// With hooks that will be late.
fn in_haste(hooks: Hooks) -> Playbook<Relayed> {
    let brief = Duration::from_millis(50);
    let deadlines = Deadlines { call: brief, result: brief, tool_list: brief, handshake: brief };
    Playbook::new(Relayed::new(relay(vec![Arc::new(hooks)], deadlines)))
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
    assert_eq!(relayed.0.session().pending().count(), 1, "only the forwarded call is open");
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

/// The arguments that the hooks know of when a result comes; `None` if of none.
fn arguments_known(remembers: bool, lines: &[(&'static str, &'static str)]) -> Vec<Option<String>> {
    let known: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
    let notes = known.clone();
    let result = Box::new(move |call: &Call, _: &Payload| {
        let json = call.arguments().map(|it| String::from_utf8(it.json().to_vec()).unwrap());
        notes.lock().unwrap().push(json);
        Ok(Verdict::Pass)
    });
    let mut playbook = with(Hooks { result: Some(result), remembers, ..Hooks::default() });
    for (asked, answered) in lines {
        playbook = playbook.passes_up(*asked).passes_down(*answered);
    }
    playbook.nothing_more();
    let known = known.lock().unwrap();
    known.clone()
}

#[test]
fn arguments_are_there_with_the_result_if_they_are_wanted() {
    const WITH: &str =
        r#"{"id":7,"method":"tools/call","params":{"arguments":{"page": 2},"name":"list"}}"#;
    let lines = [(WITH, RESULT), (CALL, RESULT)];
    assert_eq!(arguments_known(true, &lines), [Some(r#"{"page": 2}"#.to_owned()), None]);
    assert_eq!(arguments_known(false, &lines), [None, None]);
}

#[test]
fn the_result_of_a_task_has_the_arguments_of_the_call_that_began_it() {
    let wanted = [Some(r#"{"page":2}"#.to_owned())];
    let legacy = [
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"list","arguments":{"page":2},"task":{}}}"#,
            r#"{"id":1,"result":{"task":{"taskId":"t1"}}}"#,
        ),
        (
            r#"{"id":2,"method":"tasks/result","params":{"taskId":"t1","arguments":{"page":3}}}"#,
            r#"{"id":2,"result":{"content":[]}}"#,
        ),
    ];
    assert_eq!(arguments_known(true, &legacy), wanted);
    let modern = [
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"list","arguments":{"page":2}}}"#,
            r#"{"id":1,"result":{"resultType":"task","taskId":"t1"}}"#,
        ),
        (
            r#"{"id":2,"method":"tasks/get","params":{"taskId":"t1"}}"#,
            r#"{"id":2,"result":{"taskId":"t1","status":"completed","result":{"content":[]}}}"#,
        ),
    ];
    assert_eq!(arguments_known(true, &modern), wanted);
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
    in_haste(hooks).passes_up(CALL).passes_down(RESULT).nothing_more();
    drop(sender);
}

#[test]
fn an_interceptor_whose_hooks_pile_up_is_not_asked() {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    let (asked, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let hooks = {
        let (asked, ended) = (asked.clone(), ended.clone());
        replacing(move || {
            asked.fetch_add(1, Ordering::SeqCst);
            let _ = receiver.lock().map(|receiver| receiver.recv());
            ended.fetch_add(1, Ordering::SeqCst);
            Ok(Verdict::Pass)
        })
    };
    let mut play = in_haste(hooks);
    for _ in 0..40 {
        play = play.passes_up(CALL).passes_down(RESULT);
    }
    // Each runs on a thread, which may be slow to start.
    eventually("as many as may run are asked", || asked.load(Ordering::SeqCst) >= 32);
    drop(sender);
    eventually("they end", || ended.load(Ordering::SeqCst) == asked.load(Ordering::SeqCst));
    assert_eq!(asked.load(Ordering::SeqCst), 32, "the others were not asked");
    let started = Instant::now();
    while asked.load(Ordering::SeqCst) == 32 {
        // What has ended makes room a moment later.
        assert!(started.elapsed() < PATIENCE, "it is never asked again");
        play = play.passes_up(CALL).passes_down(RESULT);
    }
    play.nothing_more();
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
    let ClientOnward::Consult(consultation) = relay.client_line(Source::Line(&line)) else {
        panic!("the chain watches calls");
    };
    let client = Arc::new(Told::default());
    let body = Arc::new(Body::Memory(line));
    (relay.consult_and_wait(consultation, body, Ways::back_to(client)), heard)
}

#[test]
fn a_call_cancelled_in_the_chain_goes_nowhere_and_its_hook_hears_it() {
    let ways: [fn(&Relay); 3] = [
        |relay| {
            let onward = relay.client_line(Source::Line(CANCEL.as_bytes()));
            assert!(matches!(onward, ClientOnward::Drop), "the upstream has never seen the call");
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

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

/// A call of the tool `ours`, with these parameters besides its name.
fn ours(others: &str) -> String {
    format!(r#"{{"id":7,"method":"tools/call","params":{{"name":"ours"{others}}}}}"#)
}

/// Hooks that own the tool `ours`.
fn owning(
    call: impl Fn(&Caller) -> Result<CallVerdict, HookError> + Send + Sync + 'static,
) -> Hooks {
    let call = Some(Box::new(move |_: &Call, _: &Payload, caller: &Caller| call(caller)) as _);
    Hooks { call, owns: Some("ours"), ..Hooks::default() }
}

#[test]
fn an_answer_is_a_whole_result_in_both_eras() {
    with(answering(r#"{"content":[]}"#))
        .client_sends(ours(""))
        .client_gets(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#)
        .client_sends(ours(&format!(",{MODERN}")))
        .client_gets(r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}"#)
        .nothing_more();
}

/// What the client gets when a call of the tool `ours` fails, with these members first.
fn failed(first: &str, said: &str) -> String {
    let error = format!(r#""content":[{{"text":"`ours` {said}","type":"text"}}],"isError":true"#);
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{{first}{error}}}}}"#)
}

#[test]
fn an_interceptor_that_fails_at_a_call_of_its_own_owes_an_error() {
    type Hook = fn(&Caller) -> Result<CallVerdict, HookError>;
    let failures: [(Hook, &str); 3] = [
        (|_| Err("disk full".into()), "failed: disk full. Try again, or ask for less."),
        (
            |_| panic!("on purpose"),
            "failed: it broke off unexpectedly. Try again, or ask for less.",
        ),
        (
            |_| Ok(CallVerdict::Answer(b"nonsense".to_vec())),
            "failed: expected ident at line 1 column 2. Try again, or ask for less.",
        ),
    ];
    for (hook, said) in failures {
        with(owning(hook))
            .client_sends(ours(""))
            .client_gets(failed("", said))
            .client_sends(ours(&format!(",{MODERN}")))
            .client_gets(failed(r#""resultType":"complete","#, said))
            // For a call that is not its own nothing changes.
            .passes_up(CALL)
            .nothing_more();
    }
}

#[test]
fn an_interceptor_that_fails_at_a_call_that_it_must_see_keeps_it_from_the_upstream() {
    let hooks = Hooks { owns: None, must_see: true, ..owning(|_| Err("disk full".into())) };
    with(hooks)
        .client_sends(ours(""))
        .client_gets(failed("", "failed: disk full. Try again, or ask for less."))
        .nothing_more();
}

#[test]
fn an_interceptor_that_is_late_at_a_call_of_its_own_hears_it_and_owes_an_error() {
    let (sender, stopped) = mpsc::channel();
    let hooks = owning(move |caller| {
        let (cancel, is_cancelled) = mpsc::channel();
        caller.on_cancel(move || cancel.send(()).unwrap());
        is_cancelled.recv()?;
        sender.send(())?;
        Ok(CallVerdict::Forward)
    });
    in_haste(hooks)
        .client_sends(ours(""))
        .client_gets(failed(
            "",
            "was stopped: it was not done after 50ms. Ask for less at once, for instance with a smaller query.",
        ))
        .nothing_more();
    stopped.recv().unwrap();
}

#[test]
fn a_call_is_turned_away_only_by_its_owner() {
    let relayed = with(owning(|_| panic!("asked"))).nothing_more();
    let turned_away = |line: &str| {
        let line = format!("{line}\n").into_bytes();
        let ClientOnward::Consult(consultation) = relayed.0.client_line(Source::Line(&line)) else {
            panic!("the chain watches calls");
        };
        relayed.0.turn_away(&consultation, &Arc::new(Body::Memory(line)))
    };
    let outgoing = turned_away(CALL);
    assert!(outgoing.to_upstream.is_some() && outgoing.to_client.is_empty());
    let outgoing = turned_away(&ours(""));
    assert!(outgoing.to_upstream.is_none());
    let answer = String::from_utf8(written(&outgoing.to_client[0])).unwrap();
    assert!(answer.contains("`ours` was not started: too many calls"), "{answer}");
}

#[test]
fn progress_goes_to_a_client_that_asked_for_it_before_the_answer() {
    let hooks = || {
        owning(|caller| {
            caller.progress(1.0, Some(3.0), "reading");
            // Less, the same, and nothing that JSON has a word for.
            for done in [0.0, 1.0, f64::NAN, f64::INFINITY] {
                caller.progress(done, None, "never");
            }
            caller.progress(2.5, None, "");
            Ok(CallVerdict::Answer(b"{}".to_vec()))
        })
    };
    let progress = |params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t",{params}}}}}"#
        )
    };
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    with(hooks())
        .client_sends(ours(r#","_meta":{"progressToken":"t"}"#))
        .client_gets(progress(r#""progress":1,"total":3,"message":"reading""#))
        .client_gets(progress(r#""progress":2.5"#))
        .client_gets(answer)
        .nothing_more();
    with(hooks()).client_sends(ours("")).client_gets(answer).nothing_more();
}

#[test]
fn nothing_is_heard_of_a_hook_whose_time_is_over() {
    let call = ours(r#","_meta":{"progressToken":"t"}"#);
    let client = Arc::new(Told::default());
    let (over, is_over) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel();
    let is_over = Mutex::new(is_over);
    let hooks = owning(move |caller| {
        let _ = is_over.lock().unwrap().recv();
        caller.progress(1.0, None, "late");
        done.send(())?;
        Ok(CallVerdict::Forward)
    });
    let relayed = in_haste(hooks).nothing_more();
    let line = format!("{call}\n").into_bytes();
    let ClientOnward::Consult(consultation) = relayed.0.client_line(Source::Line(&line)) else {
        panic!("the chain watches calls");
    };
    let body = Arc::new(Body::Memory(line));
    let outgoing = relayed.0.consult_and_wait(consultation, body, Ways::back_to(client.clone()));
    assert_eq!(outgoing.to_client.len(), 1, "the error");
    over.send(()).unwrap();
    is_done.recv().unwrap();
    assert!(client.0.lock().unwrap().is_empty());
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

/// Renames `theirs` on the way, and answers `ours`.
fn renaming() -> Hooks {
    Hooks {
        call: Some(Box::new(|call, _, _| {
            Ok(match call.tool() {
                Some("theirs") => CallVerdict::Rewrite(b"{\"name\":\n\"list\"}".to_vec()),
                Some("ours") => CallVerdict::Answer(b"{}".to_vec()),
                Some("broken") => CallVerdict::Rewrite(b"{".to_vec()),
                _ => CallVerdict::Forward,
            })
        })),
        ..Hooks::default()
    }
}

#[test]
fn a_call_can_be_rewritten_alone_and_in_a_batch() {
    let call = |id: u32, tool: &str| {
        format!(r#"{{"id":{id}, "params":{{"name":"{tool}"}}, "method":"tools/call"}}"#)
    };
    with(renaming())
        .client_sends(call(1, "theirs"))
        .upstream_gets(r#"{"id":1, "params":{"name": "list"}, "method":"tools/call"}"#)
        .client_sends(format!("[{},{}]", call(2, "theirs"), call(3, "list")))
        .upstream_gets(format!(
            r#"[{{"id":2, "params":{{"name": "list"}}, "method":"tools/call"}},{}]"#,
            call(3, "list")
        ))
        .client_sends(format!("[{},{}]", call(4, "ours"), call(5, "theirs")))
        .client_gets(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#)
        .upstream_gets(r#"[{"id":5, "params":{"name": "list"}, "method":"tools/call"}]"#)
        .passes_up(call(6, "broken"))
        .nothing_more();
}

#[test]
fn the_next_interceptor_sees_what_the_one_before_has_written() {
    let second = Hooks {
        call: Some(Box::new(|_, params, _| {
            assert_eq!(params.in_memory(), Some(br#"{"name": "list"}"#.as_slice()));
            Ok(CallVerdict::Forward)
        })),
        ..Hooks::default()
    };
    with_all(vec![renaming(), second])
        .client_sends(r#"{"id":1,"method":"tools/call","params":{"name":"theirs"}}"#)
        .upstream_gets(r#"{"id":1,"method":"tools/call","params":{"name": "list"}}"#)
        .nothing_more();
}

#[test]
fn what_follows_a_hook_that_is_late_is_done_without_it() {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let first = Hooks {
        result: Some(Box::new(|_, _| Ok(Verdict::Replace(b"\"first\"".to_vec())))),
        ..Hooks::default()
    };
    let last = Hooks {
        result: Some(Box::new(move |_, _| {
            // Until the test is over.
            let _ = wait.lock().unwrap().recv();
            Ok(Verdict::Replace(b"\"too late\"".to_vec()))
        })),
        ..Hooks::default()
    };
    let brief = Duration::from_millis(50);
    let deadlines = Deadlines { result: brief, ..Deadlines::default() };
    let relay = relay(vec![Arc::new(first), Arc::new(last)], deadlines);
    Playbook::new(Relayed::new(relay))
        .passes_up(CALL)
        .upstream_sends(RESULT)
        .client_gets(r#"{"id":7,"result":"first"}"#)
        .nothing_more();
    drop(release);
}
