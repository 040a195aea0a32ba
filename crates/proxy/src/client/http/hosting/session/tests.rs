//! Sessions with a child each: what is left when the client or the child leaves.

use std::thread;

use futures_util::FutureExt;
use http_body_util::BodyExt;

use super::*;
use crate::{
    body::{Payload, Spool},
    chain::{Deadlines, HookError, Interceptor, Moment, Verdict},
    router::UpstreamName,
    session::{Call, SubjectKind},
    testing,
    upstream::{Command, launcher::Launcher},
};

/// A session with a shell that runs `script`, as long as its launcher is there.
async fn session(
    interceptors: Vec<Arc<dyn Interceptor>>,
    script: &str,
) -> (Arc<Launcher>, Arc<Session>) {
    let deadlines = Deadlines { tool_list: Duration::from_secs(30), ..Deadlines::default() };
    let relay = testing::relay(interceptors, deadlines);
    let context = Arc::new(EndpointContext::new(relay, Spool::of_memory(1 << 20)));
    let command = Command {
        program: "sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: Vec::new(),
        directory: None,
    };
    let (name, grace) = (UpstreamName::new("orders"), Duration::from_millis(100));
    let launcher = Launcher::new(command, name, context.spool.clone(), grace);
    let launcher = Arc::new(launcher);
    let child = Hosted::child(&launcher).await.unwrap();
    let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    (launcher, Session::start("s".to_owned(), context, child, slot, None))
}

async fn take(session: &Arc<Session>, json: &str) -> Taken {
    let body = Body::Memory(json.as_bytes().to_vec());
    session.take(&body.line(), body, true).await
}

/// Takes longer to look at a list of tools than the output of a child that has exited is waited for.
struct Slow;

impl Interceptor for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        matches!(moment, Moment::Answer(SubjectKind::ToolList, ..))
    }

    fn on_tool_list(&self, _: &Call, _: &Payload) -> Result<Verdict, HookError> {
        thread::sleep(Duration::from_millis(1_500));
        Ok(Verdict::Replace(br#""looked at""#.to_vec()))
    }
}

#[tokio::test]
async fn the_last_answer_of_a_child_is_said_however_long_it_is_looked_at() {
    let script = r#"read -r request; echo '{"id":1,"result":{"tools":[]}}'"#;
    let (_launcher, session) = session(vec![Arc::new(Slow)], script).await;
    let Taken::Asked(reading) = take(&session, r#"{"id":1,"method":"tools/list"}"#).await else {
        panic!("it is to be answered");
    };
    let response = session.answer(reading, false).await;
    let told = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(told, r#"{"id":1,"result":"looked at"}"#);
}

#[tokio::test]
async fn a_client_that_leaves_before_the_child_has_got_its_request_leaves_nothing() {
    let (_launcher, session) = session(Vec::new(), "exec sleep 60").await;
    let request = |id: usize| format!(r#"{{"id":{id},"method":"x"}}"#);
    let mut taken = Vec::new();
    // Nothing is written to the child while this task runs, so at last there is no room.
    while let Some(next) = take(&session, &request(taken.len())).now_or_never() {
        taken.push(next);
    }
    assert_eq!(taken.len(), limits::MESSAGES_TO_A_CHILD);
    assert_eq!(session.relay.session().pending().count(), taken.len());
    assert!(session.is_awaited());
    drop(taken);
    assert!(!session.is_awaited());
    session.end();
}
