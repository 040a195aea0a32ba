//! A call on its way: what happens before its result, and where it is sent.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use forebay_wire::Id;
use tokio::{runtime::Handle, sync::oneshot, task::AbortHandle};

use crate::{
    http::Stream,
    json::{self, Json},
    request::Era,
    tools,
    world::World,
};

/// What a call does, in the order of its fields.
pub(crate) struct Call {
    pub(crate) progress: Option<(Id, u64)>,
    pub(crate) logs: u64,
    /// The method to ask the client by.
    pub(crate) asks: Option<String>,
    /// The name to wait for.
    pub(crate) hold: Option<String>,
    pub(crate) delay: Duration,
    pub(crate) result: Json,
    pub(crate) delivery: Delivery,
}

/// How a result goes out over HTTP.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delivery {
    pub(crate) streams: bool,
    pub(crate) detaches: bool,
    pub(crate) fault: Option<Fault>,
}

/// What goes wrong over HTTP; see the program's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Cut,
    Die,
    Garbage,
    Malformed,
    Silence,
    Redirect,
    Error,
    Refuse,
    Forget,
}

/// Where a call's messages go.
#[derive(Clone)]
pub(crate) enum Outlet {
    /// One message a line.
    Lines(Arc<Mutex<File>>),
    /// One message an event.
    Events(Arc<Stream>),
}

/// What a legacy client and we know of each other: a connection on stdio, a session over HTTP.
#[derive(Default)]
pub(crate) struct Session {
    asked: Mutex<HashMap<Id, oneshot::Sender<Bytes>>>,
    running: Mutex<HashMap<Id, AbortHandle>>,
}

impl Call {
    pub(crate) fn giving(result: Json) -> Self {
        Self {
            progress: None,
            logs: 0,
            asks: None,
            hold: None,
            delay: Duration::ZERO,
            result,
            delivery: Delivery::default(),
        }
    }

    /// True if the result is all there is, now.
    pub(crate) fn is_immediate(&self) -> bool {
        !self.says_more() && self.hold.is_none() && self.delay.is_zero()
    }

    /// True if something comes before the result.
    pub(crate) fn says_more(&self) -> bool {
        self.progress.is_some() || self.logs > 0 || self.asks.is_some()
    }

    /// Does all that the call asks for, up to its response. Fails once nobody reads any more.
    pub(crate) async fn run(
        self,
        id: &Id,
        world: &World,
        session: &Session,
        outlet: &Outlet,
    ) -> io::Result<()> {
        if let Some((token, steps)) = &self.progress {
            for step in 1..=*steps {
                let token = token.as_json();
                let params = format!(
                    r#"{{"progressToken":{token},"progress":{step},"total":{steps},"message":"step {step}"}}"#
                );
                outlet.send(&json::notification("notifications/progress", Json::whole(params)))?;
            }
        }
        for number in 1..=self.logs {
            let params = format!(r#"{{"level":"info","logger":"fixture","data":"line {number}"}}"#);
            outlet.send(&json::notification("notifications/message", Json::whole(params)))?;
        }
        let mut result = self.result;
        if let Some(method) = &self.asks {
            let answer = session.ask(method, outlet).await?;
            result = tools::text(Era::Legacy, &String::from_utf8_lossy(&answer));
        }
        if let Some(name) = &self.hold {
            world.gates.released(name).await;
        }
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        session.running().remove(id);
        outlet.finish(&json::response(id, result), self.delivery.fault)
    }
}

impl Session {
    /// Takes the client's answer to what we have asked: its result or its error, as written.
    pub(crate) fn answered(&self, id: &Id, answer: &[u8]) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(asked) = asked {
            let _ = asked.send(Bytes::copy_from_slice(answer));
        }
    }

    /// Starts the call of that id.
    pub(crate) fn start(
        &self,
        id: Id,
        runtime: &Handle,
        call: impl Future<Output = ()> + Send + 'static,
    ) -> AbortHandle {
        // Locked, so that the call cannot end before it is known.
        let mut running = self.running();
        let task = runtime.spawn(call).abort_handle();
        running.insert(id, task.clone());
        task
    }

    /// Stops the call of that id; false if there is none.
    pub(crate) fn cancel(&self, id: &Id) -> bool {
        self.running().remove(id).map(|task| task.abort()).is_some()
    }

    pub(crate) fn cancel_all(&self) {
        self.running().drain().for_each(|(_, task)| task.abort());
    }

    async fn ask(&self, method: &str, outlet: &Outlet) -> io::Result<Bytes> {
        static ASKED: AtomicU64 = AtomicU64::new(1);
        let id = format!(r#""ask-{}""#, ASKED.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = oneshot::channel();
        if let Some(id) = Id::parse(id.as_bytes()) {
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        }
        let params = tools::question(method);
        outlet.send(&Json::whole(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        )))?;
        Ok(answer.await.unwrap_or_default())
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Id, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet {
    pub(crate) fn send(&self, message: &Json) -> io::Result<()> {
        match self {
            Self::Lines(output) => {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                write_line(&mut output, message)
            }
            Self::Events(stream) => {
                stream.push(message.clone(), None);
                Ok(())
            }
        }
    }

    /// Sends the last message, which `fault` may befall.
    pub(crate) fn finish(&self, message: &Json, fault: Option<Fault>) -> io::Result<()> {
        match self {
            Self::Lines(_) => self.send(message),
            Self::Events(stream) => {
                stream.push(message.clone(), fault);
                stream.end();
                Ok(())
            }
        }
    }

    /// Ends without another message.
    pub(crate) fn end(&self) {
        match self {
            Self::Lines(_) => (),
            Self::Events(stream) => stream.end(),
        }
    }
}

fn write_line(output: &mut File, message: &Json) -> io::Result<()> {
    if let Some(whole) = message.as_whole() {
        return output.write_all(&[&whole[..], b"\n"].concat());
    }
    for piece in message.pieces() {
        output.write_all(&piece)?;
    }
    output.write_all(b"\n")
}

impl Fault {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cut" => Self::Cut,
            "die" => Self::Die,
            "garbage" => Self::Garbage,
            "malformed" => Self::Malformed,
            "silence" => Self::Silence,
            "redirect" => Self::Redirect,
            "error" => Self::Error,
            "refuse" => Self::Refuse,
            "forget" => Self::Forget,
            _ => return None,
        })
    }
}
