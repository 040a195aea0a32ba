use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use http_body_util::BodyExt;

use super::*;
use crate::{
    body::{Payload, Spool},
    chain::{CallVerdict, Caller, Deadlines, HookError, Interceptor, Moment},
    router::UpstreamName,
    session::Call,
    testing,
    upstream::RemoteSettings,
};

/// Takes as long to look at a call as the test wishes, and then answers it.
struct Slow {
    released: Mutex<mpsc::Receiver<()>>,
    was_released: AtomicBool,
}

impl Interceptor for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        let is_call = matches!(moment, Moment::Call(_));
        let patience = Duration::from_secs(30);
        if is_call && self.released.lock().unwrap().recv_timeout(patience).is_ok() {
            self.was_released.store(true, Ordering::Relaxed);
        }
        is_call
    }

    fn on_call(&self, _: &Call, _: &Payload, _: &Caller) -> Result<CallVerdict, HookError> {
        Ok(CallVerdict::Answer(br#""ours""#.to_vec()))
    }
}

#[tokio::test]
async fn a_long_message_is_read_where_it_holds_up_nobody_in_memory_or_spooled() {
    let directory = tempfile::tempdir().unwrap();
    for max_memory_bytes in [usize::MAX, 1_000] {
        let spool = Spool::new(max_memory_bytes, u64::MAX, directory.path());
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let slow = Arc::new(Slow { released, was_released: AtomicBool::new(false) });
        let relay = testing::relay(vec![slow.clone()], Deadlines::default());
        let context = Arc::new(EndpointContext::new(relay, spool));
        let remote = Remote::new(RemoteSettings {
            name: UpstreamName::new("x"),
            url: "http://127.0.0.1:9/".to_owned(),
            headers: HeaderMap::new(),
            credentials: None,
            trusted: Vec::new(),
        });
        let passing = Passing::new(context.clone(), remote.unwrap());
        let text = "x".repeat(1 << 20);
        let line = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"t","arguments":{{"text":"{text}"}}}}}}"#
        );
        let mut hold = crate::body::Hold::new(&context.spool);
        hold.push(line.as_bytes()).unwrap();
        let (head, ()) = http::Request::post("/mcp").body(()).unwrap().into_parts();
        // There is one thread for tasks: if the message were read there, nobody could say so.
        let (response, ()) = tokio::join!(passing.post(&head, hold.finish()), async {
            release.send(()).unwrap();
            drop(release);
        });
        assert!(slow.was_released.load(Ordering::Relaxed));
        let answer = response.into_body().collect().await.unwrap().to_bytes();
        assert!(answer.ends_with(b"\"result\":\"ours\"}\n"), "{answer:?}");
    }
}
