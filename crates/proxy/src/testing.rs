//! For this crate's tests: a relay that a playbook can drive, and interceptors made of closures.

use std::sync::{Arc, Mutex};

use forebay_testkit::playbook::{Conversation, Playbook, Sent};

use crate::{
    body::{Body, Message, Payload, Source},
    chain::{
        CallVerdict, Caller, Chain, Deadlines, HookError, Interceptor, Moment, ToClient, Verdict,
        Ways,
    },
    relay::{ClientOnward, Consultation, Outgoing, Relay, UpstreamOnward},
    router::{Router, UpstreamName},
    session::{Call, FromClient, Session},
};

/// A relay without transports.
pub(crate) struct Relayed(pub(crate) Arc<Relay>);

/// Marks everything that it is shown, so that a test sees what was.
pub(crate) struct Marker;

type CallHook = dyn Fn(&Call, &Payload, &Caller) -> Result<CallVerdict, HookError> + Send + Sync;
type Notice = dyn Fn(&Moment<'_>) + Send + Sync;
type ResultHook = dyn Fn(&Call, &Payload) -> Result<Verdict, HookError> + Send + Sync;

/// An interceptor made of closures; it watches calls and results if it has the hook for them.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) call: Option<Box<CallHook>>,
    pub(crate) result: Option<Box<ResultHook>>,
    pub(crate) notice: Option<Box<Notice>>,
    /// Whether it wants arguments to be remembered.
    pub(crate) remembers: bool,
    /// A tool that is its own.
    pub(crate) owns: Option<&'static str>,
    /// Whether calls that it watches mean nothing without it.
    pub(crate) must_see: bool,
}

/// What a client was told besides the answer.
#[derive(Default)]
pub(crate) struct Told(pub(crate) Mutex<Vec<Vec<u8>>>);

pub(crate) fn relay(interceptors: Vec<Arc<dyn Interceptor>>, deadlines: Deadlines) -> Relay {
    let router = Router::sole(UpstreamName::new("orders"));
    Relay::new(router, Chain::new(interceptors, deadlines), None)
}

/// A call of a tool, as a session makes it.
pub(crate) fn call(tool: &str) -> Arc<Call> {
    let mut session = Session::new(Router::sole(UpstreamName::new("orders")));
    let params = serde_json::json!({"id": 1, "method": "tools/call", "params": {"name": tool}});
    let line = params.to_string();
    let source = Source::Line(line.as_bytes());
    match session.client_sent(&source.line().messages()[0], source) {
        FromClient::ToolCall(call) => call,
        other => panic!("{other:?}"),
    }
}

/// A playbook with an empty chain.
pub(crate) fn untouched() -> Playbook<Relayed> {
    Playbook::new(Relayed::new(relay(Vec::new(), Deadlines::default())))
}

/// A playbook with a [`Marker`].
pub(crate) fn marked() -> Playbook<Relayed> {
    Playbook::new(Relayed::new(relay(vec![Arc::new(Marker)], Deadlines::default())))
}

impl Relayed {
    pub(crate) fn new(relay: Relay) -> Self {
        Self(Arc::new(relay))
    }

    fn consult(&self, consultation: Consultation, line: &[u8]) -> Vec<Sent> {
        let body = Arc::new(Body::Memory(line.to_vec()));
        let told = Arc::new(Told::default());
        let Outgoing { to_upstream, to_client } =
            self.0.consult_and_wait(consultation, body, Ways::back_to(told.clone()));
        let told = told.0.lock().unwrap().drain(..).map(Sent::ToClient).collect::<Vec<_>>();
        let to_client = to_client.iter().map(|message| Sent::ToClient(written(message)));
        let to_upstream = to_upstream.iter().map(|message| Sent::ToUpstream(written(message)));
        told.into_iter().chain(to_client).chain(to_upstream).collect()
    }
}

impl ToClient for Told {
    fn tell(&self, line: &[u8]) {
        self.0.lock().unwrap().push(line.to_vec());
    }
}

impl Conversation for Relayed {
    fn client_sends(&mut self, line: &[u8]) -> Vec<Sent> {
        match self.0.client_line(Source::Line(line)) {
            ClientOnward::Pass => vec![Sent::ToUpstream(line.to_vec())],
            ClientOnward::Answer(lines) => vec![Sent::ToClient(lines)],
            ClientOnward::Drop => Vec::new(),
            ClientOnward::Consult(consultation) => self.consult(consultation, line),
        }
    }

    fn upstream_sends(&mut self, line: &[u8]) -> Vec<Sent> {
        match self.0.upstream_line(Source::Line(line)) {
            UpstreamOnward::Pass => vec![Sent::ToClient(line.to_vec())],
            UpstreamOnward::Consult(consultation) => self.consult(consultation, line),
            UpstreamOnward::Inner(it) => {
                it.give(&Arc::new(Body::Memory(line.to_vec())));
                Vec::new()
            }
        }
    }
}

impl Interceptor for Marker {
    fn name(&self) -> &'static str {
        "marker"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        matches!(moment, Moment::Answer(..))
    }

    fn on_result(&self, call: &Call, _: &Payload, _: &Caller) -> Result<Verdict, HookError> {
        mark(&format!("result of {}", call.tool().unwrap_or("nothing")))
    }

    fn on_tool_list(&self, _: &Call, _: &Payload) -> Result<Verdict, HookError> {
        mark("tool list")
    }

    fn on_handshake(&self, call: &Call, _: &Payload) -> Result<Verdict, HookError> {
        mark(&format!("{:?} handshake", call.era))
    }
}

impl Interceptor for Hooks {
    fn name(&self) -> &'static str {
        "hooks"
    }

    fn watches(&self, moment: &Moment<'_>) -> bool {
        match moment {
            Moment::Call(..) => self.call.is_some(),
            Moment::Answer(..) => self.result.is_some(),
        }
    }

    fn notices(&self, moment: &Moment<'_>, _: Option<&[u8]>) {
        if let Some(notice) = &self.notice {
            notice(moment);
        }
    }

    fn remembers(&self, _: &Call) -> bool {
        self.remembers
    }

    fn must_see(&self) -> bool {
        self.must_see
    }

    fn owns(&self, call: &Call) -> bool {
        self.owns.is_some() && self.owns == call.tool()
    }

    fn on_call(
        &self,
        call: &Call,
        params: &Payload,
        caller: &Caller,
    ) -> Result<CallVerdict, HookError> {
        self.call.as_ref().map_or(Ok(CallVerdict::Forward), |hook| hook(call, params, caller))
    }

    fn on_result(&self, call: &Call, result: &Payload, _: &Caller) -> Result<Verdict, HookError> {
        self.result.as_ref().map_or(Ok(Verdict::Pass), |hook| hook(call, result))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is what hooks return")]
fn mark(text: &str) -> Result<Verdict, HookError> {
    Ok(Verdict::Replace(format!("\"<{text}>\"").into_bytes()))
}

/// A message as it leaves.
pub(crate) fn written(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write_to(&mut bytes).unwrap();
    bytes
}
