//! Conversations in both eras. The marker interceptor replaces what the session lets the chain see
//! by a mark; everything else must come out as it went in.

use forebay_testkit::playbook::Playbook;

use super::{Principal, Session};
use crate::{
    limits,
    router::{Router, UpstreamName},
    testing::{marked, untouched},
};

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list"}}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;

#[test]
fn a_call_and_its_result_belong_together() {
    marked()
        .passes_up(CALL)
        .upstream_sends(RESULT)
        .client_gets(r#"{"jsonrpc":"2.0","id":7,"result":"<result of list>"}"#)
        .nothing_more();
}

#[test]
fn with_an_empty_chain_a_result_leaves_as_it_came() {
    let odd = r#" {"result" : {"b":1,"a":12345678901234567890.0} ,"id":7.0, "x":"\/" }"#;
    let session = untouched().passes_up(CALL).passes_down(odd).nothing_more();
    assert_eq!(session.0.session().pending().count(), 0);
}

#[test]
fn the_number_7_and_the_string_7_are_two_calls() {
    marked()
        .passes_up(CALL)
        .passes_up(r#"{"id":"7","method":"tools/call","params":{"name":"other"}}"#)
        .upstream_sends(r#"{"id":"7","result":{}}"#)
        .client_gets(r#"{"id":"7","result":"<result of other>"}"#)
        .upstream_sends(r#"{"id":7,"result":{}}"#)
        .client_gets(r#"{"id":7,"result":"<result of list>"}"#)
        .nothing_more();
}

#[test]
fn a_session_is_told_from_others_and_a_conversation_beside_it_is_not() {
    let [one, other] = [untouched(), untouched()].map(Playbook::nothing_more);
    let id = |relay: &crate::relay::Relay| relay.session().id().clone();
    assert_ne!(id(&one.0), id(&other.0));
    assert_ne!(id(&one.0), id(&one.0.for_session()));
    assert_eq!(id(&one.0), id(&one.0.for_request()));
}

#[test]
fn whatever_begins_beside_a_session_is_for_the_same_principal() {
    let mut session = Session::new(Router::sole(UpstreamName::new("orders")));
    session.principal = Principal::named("ada");
    assert_eq!(session.for_request().principal, session.principal);
    assert_eq!(session.for_session().principal, session.principal);
    let relayed = untouched().nothing_more();
    relayed.0.session().principal = Principal::named("ada");
    let principal = |relay: &crate::relay::Relay| relay.session().principal.clone();
    assert_eq!(principal(&relayed.0.for_request()).as_str(), "ada");
    assert_eq!(principal(&relayed.0.for_session()).as_str(), "ada");
}

#[test]
fn clients_without_sessions_are_told_apart_by_their_names() {
    let call = |id: u32, client: &str| {
        format!(
            r#"{{"id":{id},"method":"tools/call","params":{{"name":"list","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"{client}"}}}}}}}}"#
        )
    };
    let relayed = untouched()
        .passes_up(call(1, "a"))
        .passes_up(call(2, "b"))
        .passes_up(call(3, "a"))
        .nothing_more();
    let session_of = |id: &[u8]| {
        relayed
            .0
            .session()
            .pending()
            .call(&forebay_wire::Id::parse(id).unwrap())
            .unwrap()
            .session
            .clone()
    };
    assert_eq!(session_of(b"1"), session_of(b"3"));
    assert_ne!(session_of(b"1"), session_of(b"2"));
}

#[test]
fn the_first_root_that_a_client_tells_is_where_its_calls_come_from() {
    let call = |id: u32| CALL.replace('7', &id.to_string());
    let roots = r#"{"id":"r","result":{"roots":[{"name":"x","uri":"file:///home/me/my%20shop/"},{"uri":"file:///b"}]}}"#;
    let relayed = untouched()
        .passes_up(call(1))
        .passes_down(r#"{"id":"r","method":"roots/list"}"#)
        .passes_up(r#"{"id":"s","result":{"roots":[{"uri":"file:///not/asked/for"}]}}"#)
        .passes_up(call(2))
        .passes_up(roots)
        .passes_up(call(3))
        .passes_down(r#"{"id":"t","method":"roots/list"}"#)
        .passes_up(r#"{"id":"t","error":{"code":-32601,"message":"no"}}"#)
        .passes_up(call(4))
        .nothing_more();
    let root_of = |id: u32| {
        let id = forebay_wire::Id::parse(id.to_string().as_bytes()).unwrap();
        relayed.0.session().pending().call(&id).unwrap().root.clone()
    };
    assert_eq!((root_of(1), root_of(2)), (None, None));
    assert_eq!(root_of(3).as_deref(), Some("/home/me/my shop"));
    assert_eq!(root_of(4), root_of(3), "an error takes nothing back");
}

#[test]
fn an_error_and_an_answer_to_nothing_pass() {
    marked()
        .passes_up(CALL)
        .passes_down(r#"{"id":8,"result":{"content":[]}}"#)
        .passes_down(r#"{"id":7,"error":{"code":-32602,"message":"unknown tool"}}"#)
        .passes_down(RESULT)
        .nothing_more();
}

#[test]
fn progress_passes_and_its_token_is_known() {
    let call =
        r#"{"id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"},"name":"slow"}}"#;
    let progress =
        r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
    let session = marked().passes_up(call).passes_down(progress).nothing_more();
    let id = forebay_wire::Id::parse(b"1").unwrap();
    let token = session.0.session().pending().call(&id).unwrap().progress_token.clone();
    assert_eq!(token, forebay_wire::Id::parse(b"\"t\""));
}

#[test]
fn a_cancelled_call_is_over() {
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":7,"reason":"no"}}"#;
    let session = marked().passes_up(CALL).passes_up(cancel).passes_down(RESULT).nothing_more();
    assert_eq!(session.0.session().pending().count(), 0);
}

#[test]
fn questions_of_the_upstream_have_ids_of_their_own() {
    let session = marked()
        .passes_up(CALL)
        .passes_down(r#"{"id":7,"method":"sampling/createMessage","params":{}}"#)
        .passes_up(r#"{"id":7,"result":{"role":"assistant"}}"#)
        .passes_down(r#"{"id":"r","method":"roots/list"}"#)
        .passes_down(r#"{"id":"e","method":"elicitation/create","params":{}}"#)
        .passes_down(r#"{"method":"notifications/cancelled","params":{"requestId":"e"}}"#)
        .nothing_more();
    let waiting = session.0.session();
    assert_eq!(
        waiting.pending().count(),
        1,
        "the client's answer was not taken for the upstream's"
    );
    assert_eq!(waiting.pending().questions(), 1, "only the question about roots is open");
}

#[test]
fn initialize_opens_a_legacy_session() {
    marked()
        .passes_up(r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#)
        .upstream_sends(r#"{"id":0,"result":{"protocolVersion":"2025-11-25"}}"#)
        .client_gets(r#"{"id":0,"result":"<Legacy handshake>"}"#)
        .passes_up(r#"{"method":"notifications/initialized"}"#)
        .nothing_more();
}

#[test]
fn discover_may_fail_and_initialize_follow() {
    marked()
        .passes_up(r#"{"id":0,"method":"server/discover","params":{"_meta":{}}}"#)
        .passes_down(r#"{"id":0,"error":{"code":-32601,"message":"Method not found"}}"#)
        .passes_up(r#"{"id":1,"method":"initialize"}"#)
        .upstream_sends(r#"{"id":1,"result":{}}"#)
        .client_gets(r#"{"id":1,"result":"<Legacy handshake>"}"#)
        .nothing_more();
}

#[test]
fn a_modern_session_needs_no_opening() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let session = marked()
        .passes_up(format!(r#"{{"id":0,"method":"tools/list","params":{{{meta}}}}}"#))
        .upstream_sends(r#"{"id":0,"result":{"resultType":"complete","tools":[]}}"#)
        .client_gets(r#"{"id":0,"result":"<tool list>"}"#)
        .nothing_more();
    assert_eq!(session.0.session().era(), super::Era::Modern);

    marked()
        .passes_up(r#"{"id":"d","method":"server/discover","params":{}}"#)
        .upstream_sends(r#"{"id":"d","result":{"supportedVersions":["2026-07-28"]}}"#)
        .client_gets(r#"{"id":"d","result":"<Modern handshake>"}"#)
        .nothing_more();
}

#[test]
fn a_call_knows_what_its_client_calls_itself() {
    let client_of_call = |session: &crate::testing::Relayed| {
        let id = forebay_wire::Id::parse(b"7").unwrap();
        session.0.session().pending().call(&id).unwrap().client.clone()
    };
    let initialize = r#"{"id":0,"method":"initialize","params":{"clientInfo":{"version":"1","name":"Cl\u0069ne"}}}"#;
    let legacy = marked().passes_up(initialize).passes_up(CALL).nothing_more();
    assert_eq!(client_of_call(&legacy).as_deref(), Some("Cline"));

    let modern = |client: &str| {
        let meta = format!(r#"{{"io.modelcontextprotocol/clientInfo":{client}}}"#);
        let params = format!(r#"{{"name":"list","_meta":{meta}}}"#);
        format!(r#"{{"id":7,"method":"tools/call","params":{params}}}"#)
    };
    let session = marked().passes_up(modern(r#"{"name":"goose"}"#)).nothing_more();
    assert_eq!(client_of_call(&session).as_deref(), Some("goose"));
    for odd in ["null", "[]", r#"{"name":7}"#, r#"{"name":null}"#, r#""goose""#] {
        let session = marked().passes_up(modern(odd)).nothing_more();
        assert_eq!(client_of_call(&session), None, "{odd}");
    }
}

#[test]
fn a_call_knows_its_revision_as_far_as_that_has_been_said() {
    let revision = |playbook: Playbook<crate::testing::Relayed>| {
        let relayed = playbook.passes_up(CALL).nothing_more();
        let id = forebay_wire::Id::parse(b"7").unwrap();
        let call = relayed.0.session().pending().call(&id).unwrap().clone();
        (call.revision.as_deref().map(str::to_owned), call.takes_links())
    };
    assert_eq!(revision(marked()), (None, true));
    let open = || {
        marked().passes_up(
            r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        )
    };
    assert_eq!(revision(open()), (Some("2025-11-25".to_owned()), true));
    let settled = open()
        .upstream_sends(r#"{"id":0,"result":{"protocolVersion":"2025-03-26"}}"#)
        .client_gets(r#"{"id":0,"result":"<Legacy handshake>"}"#);
    assert_eq!(revision(settled), (Some("2025-03-26".to_owned()), false));
}

#[test]
fn a_subscription_stays_open_and_nobody_waits_for_it() {
    let session = marked()
        .passes_up(r#"{"id":"listen:0","method":"subscriptions/listen","params":{}}"#)
        .passes_down(r#"{"method":"notifications/resources/updated","params":{"uri":"x:y"}}"#)
        .nothing_more();
    assert_eq!(session.0.session().pending().count(), 1);
    assert!(!session.0.session().pending().is_awaited());
    let ended = r#"{"method":"notifications/cancelled","params":{"requestId":"listen:0"}}"#;
    let session = Playbook::new(session).passes_down(ended).nothing_more();
    assert_eq!(session.0.session().pending().count(), 0, "the upstream may end it");
    let session = marked().passes_up(CALL).nothing_more();
    assert!(session.0.session().pending().is_awaited());
}

#[test]
fn input_required_is_no_result_but_the_retry_has_one() {
    let retry = r#"{"id":8,"method":"tools/call","params":{"name":"list","inputResponses":{}}}"#;
    marked()
        .passes_up(CALL)
        .passes_down(r#"{"id":7,"result":{"resultType":"input_required","inputRequests":{}}}"#)
        .passes_up(retry)
        .upstream_sends(r#"{"id":8,"result":{"resultType":"complete","content":[]}}"#)
        .client_gets(r#"{"id":8,"result":"<result of list>"}"#)
        .nothing_more();
}

#[test]
fn a_legacy_task_yields_its_result_to_tasks_result() {
    let call = r#"{"id":1,"method":"tools/call","params":{"name":"report","task":{"ttl":60000}}}"#;
    marked()
        .passes_up(call)
        .passes_down(r#"{"id":1,"result":{"task":{"taskId":"t1","status":"working"}}}"#)
        .passes_up(r#"{"id":2,"method":"tasks/get","params":{"taskId":"t1"}}"#)
        .passes_down(r#"{"id":2,"result":{"taskId":"t1","status":"completed"}}"#)
        .passes_down(r#"{"method":"notifications/tasks/status","params":{"taskId":"t1"}}"#)
        .passes_up(r#"{"id":3,"method":"tasks/result","params":{"taskId":"t1"}}"#)
        .upstream_sends(r#"{"id":3,"result":{"content":[]}}"#)
        .client_gets(r#"{"id":3,"result":"<result of report>"}"#)
        .nothing_more();
}

#[test]
fn a_modern_task_has_its_result_inside() {
    let created = r#"{"id":1,"result":{"resultType":"task","taskId":"t9","status":"working"}}"#;
    let done =
        r#"{"resultType":"complete","taskId":"t9","status":"completed","result":{"content":[]}}"#;
    marked()
        .passes_up(r#"{"id":1,"method":"tools/call","params":{"name":"report"}}"#)
        .passes_down(created)
        .passes_up(r#"{"id":2,"method":"tasks/get","params":{"taskId":"t9"}}"#)
        .passes_down(r#"{"id":2,"result":{"taskId":"t9","status":"working"}}"#)
        .passes_up(r#"{"id":3,"method":"tasks/get","params":{"taskId":"t9"}}"#)
        .upstream_sends(format!(r#"{{"id":3,"result":{done}}}"#))
        .client_gets(format!(
            r#"{{"id":3,"result":{}}}"#,
            done.replace(r#"{"content":[]}"#, r#""<result of report>""#)
        ))
        .upstream_sends(format!(r#"{{"method":"notifications/tasks","params":{done}}}"#))
        .client_gets(format!(
            r#"{{"method":"notifications/tasks","params":{}}}"#,
            done.replace(r#"{"content":[]}"#, r#""<result of report>""#)
        ))
        .nothing_more();
}

#[test]
fn a_task_that_nobody_started_here_passes() {
    marked()
        .passes_up(r#"{"id":2,"method":"tasks/result","params":{"taskId":"elsewhere"}}"#)
        .passes_down(r#"{"id":2,"result":{"content":[]}}"#)
        .passes_down(r#"{"method":"notifications/tasks","params":{"taskId":"x","status":"completed","result":{}}}"#)
        .nothing_more();
}

#[test]
fn forgotten_tasks_are_the_oldest() {
    let mut play = marked();
    for index in 0..=limits::TASKS {
        play = play
            .passes_up(format!(r#"{{"id":{index},"method":"tools/call","params":{{"name":"t"}}}}"#))
            .passes_down(format!(
                r#"{{"id":{index},"result":{{"resultType":"task","taskId":"{index}"}}}}"#
            ));
    }
    let session = play.nothing_more();
    let session = session.0.session();
    assert_eq!(session.tasks.count(), limits::TASKS);
    assert!(session.tasks.origin("0").is_none());
}

#[test]
fn unknown_methods_fields_and_versions_pass() {
    marked()
        .passes_up(r#"{"jsonrpc":"3.1","id":1,"method":"future/thing","params":[1,2],"new":true}"#)
        .passes_down(r#"{"jsonrpc":"3.1","id":1,"result":{"resultType":"unheard-of"},"trace":{}}"#)
        .passes_down(r#"{"method":"notifications/future"}"#)
        .passes_up("42")
        .passes_down("[]")
        .passes_up("")
        .passes_down("\r")
        .nothing_more();
}
