//! One connection of the Rust SDK to a server, and the client at its end.
//!
//! The client answers what the server asks and notes what it was asked and told. What to ask the
//! server, and what of it to report, is `rust_sdk.rs`'s work.

use std::{
    borrow::Cow,
    collections::HashMap,
    process::{Command, Stdio},
    time::Duration,
};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError,
    model::{
        ArgumentInfo, CallToolRequest, CallToolRequestParams, ClientConfig, ClientRequest,
        CompleteRequestParams, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, GetPromptRequestParams,
        Implementation, ListRootsResult, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProgressToken, ReadResourceRequestParams, Reference,
        ResourceUpdatedNotificationParam, Root, SamplingMessage, object,
    },
    service::{
        NotificationContext, PeerRequestOptions, RequestContext, RequestHandle, RunningService,
    },
    transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;

const PATIENCE: Duration = Duration::from_secs(20);

/// Where the server is.
pub(crate) enum Server {
    Command(Command),
    Url(String),
}

/// A connection, from the handshake to the end of the server.
pub(crate) struct Session {
    pub(crate) service: RunningService<RoleClient, Client>,
}

/// What the client has to offer, and what it was asked and told.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) roots: Vec<&'static str>,
    pub(crate) elicited: Vec<Value>,
    pub(crate) sampled: Vec<Value>,
    pub(crate) logs: Vec<Value>,
    pub(crate) updated: Vec<String>,
    pub(crate) progress: HashMap<ProgressToken, Vec<Value>>,
}

pub(crate) struct Client {
    state: watch::Sender<State>,
}

/// What came of a request, be it a result or an error.
pub(crate) async fn outcome<T: Serialize>(
    request: impl Future<Output = Result<T, ServiceError>>,
) -> Value {
    match in_time(request).await {
        Ok(result) => json!({ "result": result }),
        Err(ServiceError::McpError(error)) => json!({ "error": error }),
        Err(error) => panic!("the request got no answer: {error}"),
    }
}

pub(crate) async fn in_time<T>(waited_for: impl Future<Output = T>) -> T {
    // Boxed, because a report is made of many of these.
    tokio::time::timeout(PATIENCE, Box::pin(waited_for)).await.expect("it happens in time")
}

impl Session {
    pub(crate) async fn open(lifecycle: ClientLifecycleMode, server: Server) -> Self {
        match server {
            Server::Command(command) => {
                let server = TokioChildProcess::builder(tokio::process::Command::from(command));
                let (transport, _) = server.stderr(Stdio::null()).spawn().unwrap();
                Self::open_on(transport, lifecycle).await
            }
            Server::Url(url) => {
                // The SDK's HTTP client wants to know how to do TLS, even where there is none.
                let _ = rustls::crypto::ring::default_provider().install_default();
                Self::open_on(StreamableHttpClientTransport::from_uri(url), lifecycle).await
            }
        }
    }

    async fn open_on<T, E, A>(transport: T, lifecycle: ClientLifecycleMode) -> Self
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let state = State { roots: vec!["file:///one"], ..State::default() };
        let client = Client { state: watch::Sender::new(state) };
        let handshake = client.serve_with_lifecycle(transport, lifecycle);
        Self { service: in_time(handshake).await.unwrap() }
    }

    pub(crate) async fn close(self) {
        in_time(self.service.cancel()).await.unwrap();
    }

    pub(crate) async fn call(&self, tool: impl Into<Cow<'static, str>>, arguments: Value) -> Value {
        let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
        outcome(self.service.call_tool(params)).await
    }

    /// Calls a tool without waiting for the result.
    pub(crate) async fn start(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> RequestHandle<RoleClient> {
        let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        in_time(self.service.send_cancellable_request(request, options)).await.unwrap()
    }

    pub(crate) async fn read(&self, uri: &str) -> Value {
        outcome(self.service.read_resource(ReadResourceRequestParams::new(uri))).await
    }

    pub(crate) async fn prompt(&self, name: &str, arguments: Value) -> Value {
        let params = GetPromptRequestParams::new(name).with_arguments(object(arguments));
        outcome(self.service.get_prompt(params)).await
    }

    pub(crate) async fn complete(&self, prompt: &str, argument: &str, value: &str) -> Value {
        let argument = ArgumentInfo::new(argument, value);
        let params = CompleteRequestParams::new(Reference::for_prompt(prompt), argument);
        outcome(self.service.complete(params)).await
    }

    pub(crate) fn seen<T>(&self, what: impl FnOnce(&State) -> T) -> T {
        what(&self.service.service().state.borrow())
    }

    pub(crate) async fn until(&self, condition: impl FnMut(&State) -> bool) {
        let mut state = self.service.service().state.subscribe();
        in_time(state.wait_for(condition)).await.unwrap();
    }

    pub(crate) async fn set_roots(&self, roots: Vec<&'static str>) {
        self.service.service().state.send_modify(|state| state.roots = roots);
        in_time(self.service.notify_roots_list_changed()).await.unwrap();
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({
            "elicitation": { "form": {}, "url": {} },
            "extensions": { "io.modelcontextprotocol/tasks": {} },
            "roots": { "listChanged": true },
            "sampling": {},
        });
        let implementation = Implementation::new("rust-client-peer", "1.0.0");
        ClientConfig::new(serde_json::from_value(capabilities).unwrap(), implementation)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let roots = &self.state.borrow().roots;
        Ok(ListRootsResult::new(roots.iter().map(|uri| Root::new(*uri)).collect()))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.state.send_modify(|state| state.sampled.push(json!(params)));
        let message = SamplingMessage::assistant_text("sampled ✓");
        Ok(CreateMessageResult::new(message, "stub".to_owned()).with_stop_reason("endTurn"))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.state.send_modify(|state| state.elicited.push(json!(params)));
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = params else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        // Answers those fields of a form that it knows.
        let mut answers =
            object(json!({ "name": "Ada ✓", "colour": "blue", "check": true, "integer": 42 }));
        answers.retain(|field, _| requested_schema.properties.contains_key(field));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answers.into()))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let value = json!([params.progress, params.total, params.message]);
        self.state.send_modify(|state| {
            state.progress.entry(params.progress_token).or_default().push(value);
        });
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.state.send_modify(|state| state.logs.push(json!(params)));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.state.send_modify(|state| state.updated.push(params.uri));
    }
}
