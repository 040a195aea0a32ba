use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use http_body_util::BodyExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task,
};

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
        let is_call = matches!(moment, Moment::Call(..));
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

fn passing(context: Arc<EndpointContext>, url: &str) -> Passing {
    let remote = Remote::new(RemoteSettings {
        name: UpstreamName::new("x"),
        url: url.to_owned(),
        headers: HeaderMap::new(),
        credentials: None,
        trusted: Vec::new(),
    });
    Passing::new(context, remote.unwrap())
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
        let passing = passing(context.clone(), "http://127.0.0.1:9/");
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

#[tokio::test]
async fn a_client_that_leaves_while_its_answer_arrives_leaves_nothing_pending() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let upstream = task::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await.unwrap();
        let begun =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
        socket.write_all(begun.as_bytes()).await.unwrap();
        socket
    });
    let relay = testing::relay(vec![Arc::new(testing::Marker)], Deadlines::default());
    let context = Arc::new(EndpointContext::new(relay, Spool::of_memory(1 << 20)));
    let passing = Arc::new(passing(context, &url));
    let asking = task::spawn({
        let passing = passing.clone();
        let request = http::Request::post("/mcp").header(SESSION_ID, "s").body(());
        let (head, ()) = request.unwrap().into_parts();
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#;
        async move { passing.post(&head, Body::Memory(call.to_vec())).await }
    });
    // The upstream's session is noted when the head of its answer has come.
    let session = loop {
        match passing.sessions.get("s") {
            Some(session) => break session,
            None => task::yield_now().await,
        }
    };
    let pending = || session.relay.session().pending().count();
    assert_eq!(pending(), 1);
    asking.abort();
    assert!(asking.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(pending(), 0);
    drop(upstream.await.unwrap());
}
