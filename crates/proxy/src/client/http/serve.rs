//! The endpoint: listens, lets in who may come in, and hands each request to whatever stands behind.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use forebay_system::open_files;
use forebay_wire::{Envelope, reply::CONNECTION_CLOSED};
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::BodyDataStream;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use serde_json::Value;
use tokio::{
    net::TcpStream,
    runtime,
    signal::unix::{SignalKind, signal},
    time,
};

use super::{
    connection,
    context::{EndpointContext, Taken},
    gate::{self, Gate, Refusal},
    hosting::{Hosting, Limits},
    passing::Passing,
    reply::{self, INVALID_REQUEST},
    site::{Site, Visited},
};
use crate::{
    ProxyError,
    body::Spool,
    limits,
    metrics::Metrics,
    relay::Relay,
    streamable::look::look,
    upstream::{Command, GroupSettings, Remote, Standing, State, child},
};

/// Where clients send their messages.
const ENDPOINT: &str = "/mcp";
/// How long to wait when no connection can be accepted, usually for want of descriptors.
const BREATH: Duration = Duration::from_millis(50);

/// How an endpoint is run.
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Who may come in.
    pub gate: Gate,
    /// Where long messages are kept.
    pub spool: Spool,
    /// How long what is under way may take once we are told to end.
    pub grace: Duration,
    /// Where what passes is counted, for whoever asks.
    pub metrics: Option<Arc<Metrics>>,
    /// What else is offered, to those without a token, too: whoever needs one there is for them to say.
    pub sites: Vec<Arc<dyn Site>>,
}

/// What stands behind the endpoint.
pub enum Upstream {
    /// A command, run for each session or for all.
    Command(Command, Limits),
    /// A server elsewhere.
    Remote(Remote),
    /// Many of both, for each session or for all.
    Group(Arc<GroupSettings>, Limits),
    /// Nothing, for this reason: every request is answered with it.
    Nothing(String),
}

struct Endpoint {
    context: Arc<EndpointContext>,
    gate: Gate,
    upstream: Backend,
    /// The servers, where there are many.
    group: Option<Arc<GroupSettings>>,
    metrics: Option<Arc<Metrics>>,
    sites: Vec<Visited>,
}

enum Backend {
    Hosting(Arc<Hosting>),
    Passing(Box<Passing>),
    Refusing(String),
}

/// Serves until we are told to end, then finishes what is under way. `ready` is told the address.
pub fn serve(
    upstream: Upstream,
    relay: Relay,
    settings: Settings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ProxyError> {
    if !settings.gate.may_listen_on(settings.listen) {
        return Err(ProxyError::OpenToAll(settings.listen));
    }
    if let Upstream::Command(command, _) = &upstream {
        child::check(command, relay.upstream())?;
    }
    open_files::allow_many();
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("http")
        .build()
        .map_err(ProxyError::Setup)?;
    let served = runtime.block_on(listen(upstream, relay, settings, ready));
    // A hook that is late is not waited for.
    runtime.shutdown_background();
    served
}

async fn listen(
    upstream: Upstream,
    relay: Relay,
    settings: Settings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ProxyError> {
    let address = settings.listen;
    let failed = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::AddrInUse => "another program does already".to_owned(),
            _ => error.to_string(),
        };
        ProxyError::Listen { address, hint: format!("{why}; choose another with --listen") }
    };
    let listener = connection::listen(address).map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    let mut told_to_end = EndSignals::new().map_err(ProxyError::Setup)?;
    let name = relay.upstream().clone();
    let context = Arc::new(EndpointContext::new(relay, settings.spool));
    let group = match &upstream {
        Upstream::Group(group, _) => Some(group.clone()),
        Upstream::Command(..) | Upstream::Remote(_) | Upstream::Nothing(_) => None,
    };
    let upstream = match upstream {
        Upstream::Command(command, limits) => {
            Backend::Hosting(Hosting::of_children(context.clone(), command, name, limits))
        }
        Upstream::Group(settings, limits) => {
            Backend::Hosting(Hosting::of_groups(context.clone(), settings, limits))
        }
        Upstream::Remote(remote) => {
            Backend::Passing(Box::new(Passing::new(context.clone(), remote)))
        }
        Upstream::Nothing(why) => Backend::Refusing(why),
    };
    let endpoint = Arc::new(Endpoint {
        context,
        gate: settings.gate,
        upstream,
        group,
        metrics: settings.metrics,
        sites: settings.sites.into_iter().map(Visited::new).collect(),
    });
    ready(local);
    let connections = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => {
                    let connection = endpoint.clone().talk(stream, client, local);
                    tokio::spawn(connections.watch(connection));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    time::sleep(BREATH).await;
                }
            },
            () = told_to_end.recv() => break,
        }
    }
    drop(listener);
    tokio::select! {
        () = endpoint.close(connections, settings.grace) => {}
        // Told twice: at once.
        () = told_to_end.recv() => {}
    }
    Ok(())
}

impl Endpoint {
    /// Answers the requests of one connection.
    fn talk(
        self: Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        local: SocketAddr,
    ) -> http1::Connection<
        TokioIo<TcpStream>,
        impl hyper::service::HttpService<
            Incoming,
            ResBody = reply::Body,
            Error = Infallible,
            Future: Send,
        > + use<>,
    > {
        let local = stream.local_addr().unwrap_or(local);
        let service = service_fn(move |request| {
            let endpoint = self.clone();
            async move { Ok::<_, Infallible>(endpoint.answer(request, client, local).await) }
        });
        connection::serve(stream, service)
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        client: SocketAddr,
        local: SocketAddr,
    ) -> Response<reply::Body> {
        let path = request.uri().path();
        match path {
            "/healthz" => return self.health(),
            "/readyz" => return self.readiness(),
            _ => {}
        }
        if let Some(answer) = self.gate.answer_to_preflight(&request) {
            return answer;
        }
        let site = self.sites.iter().find(|site| site.owns(path));
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut response = if let Some(site) = site {
            if let Err(refusal) = self.gate.check_page(request.headers(), local) {
                return reply::text(refusal.status, &refusal.told());
            }
            site.answer(request, client).await
        } else {
            if let Err(refusal) = self.gate.check(request.headers(), local) {
                return refused(&refusal);
            }
            self.let_in(request).await
        };
        if let Some(origin) = origin {
            gate::show_to_page(origin, response.headers_mut());
        }
        response
    }

    /// Answers a request of someone who may come in.
    async fn let_in(&self, request: Request<Incoming>) -> Response<reply::Body> {
        let path = request.uri().path();
        if path == "/metrics" && request.method() == Method::GET {
            return self.metrics();
        }
        if path.trim_end_matches('/') != ENDPOINT {
            let text = format!("there is nothing here; the endpoint is {ENDPOINT}");
            return reply::text(StatusCode::NOT_FOUND, &text);
        }
        if self.context.closing.is_cancelled() {
            let why = "Forebay is about to end";
            return reply::error(StatusCode::SERVICE_UNAVAILABLE, None, INVALID_REQUEST, why);
        }
        let (head, body) = request.into_parts();
        match head.method {
            Method::POST => {
                let body = match self.take_body(body).await {
                    Ok(body) => body,
                    Err(refusal) => return *refusal,
                };
                match &self.upstream {
                    Backend::Hosting(hosting) => hosting.post(&head, body).await,
                    Backend::Passing(passing) => passing.post(&head, body).await,
                    Backend::Refusing(why) => refuse_all(body, why).await,
                }
            }
            Method::GET => match &self.upstream {
                Backend::Hosting(hosting) => hosting.get(&head),
                Backend::Passing(passing) => passing.get(&head).await,
                Backend::Refusing(why) => reply::text(StatusCode::SERVICE_UNAVAILABLE, why),
            },
            Method::DELETE => match &self.upstream {
                Backend::Hosting(hosting) => hosting.delete(&head),
                Backend::Passing(passing) => passing.delete(&head).await,
                Backend::Refusing(why) => reply::text(StatusCode::SERVICE_UNAVAILABLE, why),
            },
            _ => {
                let mut response = reply::empty(StatusCode::METHOD_NOT_ALLOWED);
                let allowed = HeaderValue::from_static("GET, POST, DELETE");
                response.headers_mut().insert(header::ALLOW, allowed);
                response
            }
        }
    }

    async fn take_body(
        &self,
        body: Incoming,
    ) -> Result<crate::body::Body, Box<Response<reply::Body>>> {
        let refusal =
            |status, why: &str| Err(Box::new(reply::error(status, None, INVALID_REQUEST, why)));
        let mut pieces = BodyDataStream::new(body);
        match self
            .context
            .take_in(&mut pieces, limits::CLIENT_MESSAGE_BYTES, Some(limits::CLIENT_PATIENCE))
            .await
        {
            Taken::Whole(body) => Ok(body),
            Taken::TooLong => {
                let most = limits::CLIENT_MESSAGE_BYTES / (1024 * 1024);
                let why = format!("a message may have up to {most} MiB");
                refusal(StatusCode::PAYLOAD_TOO_LARGE, &why)
            }
            Taken::TooSlow => {
                refusal(StatusCode::REQUEST_TIMEOUT, "the message did not come in time")
            }
            Taken::BrokenOff(how) => refusal(StatusCode::BAD_REQUEST, &how),
            Taken::Partly(_, _, error) => {
                let why = format!("there is no place to keep a message of this length: {error}");
                refusal(StatusCode::INSUFFICIENT_STORAGE, &why)
            }
        }
    }

    /// For Prometheus: what has passed, in numbers.
    fn metrics(&self) -> Response<reply::Body> {
        let Some(metrics) = &self.metrics else {
            return reply::text(StatusCode::NOT_FOUND, "nothing is counted");
        };
        let mut response =
            reply::text(StatusCode::OK, &metrics.text(self.sessions(), &self.standings()));
        let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(form));
        response
    }

    /// For whoever sends us requests: whether we could answer them. Servers that are started when they are
    /// needed are not waited for.
    fn readiness(&self) -> Response<reply::Body> {
        let standings = self.standings();
        let is_down = |it: &Standing| it.state == State::Down;
        let (state, status) = match &self.upstream {
            _ if self.context.closing.is_cancelled() => {
                ("closing", StatusCode::SERVICE_UNAVAILABLE)
            }
            Backend::Refusing(_) => ("refusing", StatusCode::SERVICE_UNAVAILABLE),
            _ if !standings.is_empty() && standings.iter().all(is_down) => {
                ("all servers are down", StatusCode::SERVICE_UNAVAILABLE)
            }
            Backend::Hosting(_) | Backend::Passing(_) => ("ready", StatusCode::OK),
        };
        // Whoever has to show a token elsewhere learns nothing else without one.
        let servers: Vec<String> = standings
            .iter()
            .filter(|_| self.gate.token.is_none())
            .map(|it| format!("{}:\"{}\"", Value::from(it.name.as_str()), it.state.as_str()))
            .collect();
        let servers = match servers.as_slice() {
            [] => String::new(),
            all => format!(",\"servers\":{{{}}}", all.join(",")),
        };
        let json = format!("{{\"status\":\"{state}\"{servers}}}\n");
        reply::json_bytes(status, json.into())
    }

    fn standings(&self) -> Arc<[Standing]> {
        self.group.as_ref().map_or_else(|| Arc::new([]) as Arc<[_]>, |group| group.standings())
    }

    fn sessions(&self) -> usize {
        match &self.upstream {
            Backend::Hosting(hosting) => hosting.count(),
            Backend::Passing(passing) => passing.count(),
            Backend::Refusing(_) => 0,
        }
    }

    /// For whoever watches over us: that we are there, and how many sessions we hold.
    fn health(&self) -> Response<reply::Body> {
        let (state, status) = match &self.upstream {
            _ if self.context.closing.is_cancelled() => {
                ("closing", StatusCode::SERVICE_UNAVAILABLE)
            }
            Backend::Refusing(_) => ("refusing", StatusCode::SERVICE_UNAVAILABLE),
            Backend::Hosting(_) | Backend::Passing(_) => ("ok", StatusCode::OK),
        };
        // Whoever has to show a token elsewhere learns nothing else without one.
        let sessions = match &self.upstream {
            _ if self.gate.token.is_some() => String::new(),
            Backend::Refusing(_) => String::new(),
            Backend::Hosting(_) | Backend::Passing(_) => {
                format!(",\"sessions\":{}", self.sessions())
            }
        };
        let json = format!("{{\"status\":\"{state}\"{sessions}}}\n");
        reply::json_bytes(status, json.into())
    }

    /// Finishes what is under way, and ends what would not end by itself.
    async fn close(&self, connections: GracefulShutdown, patience: Duration) {
        self.context.closing.cancel();
        let finish = async { time::timeout(patience, connections.shutdown()).await.is_ok() };
        let end_children = async {
            if let Backend::Hosting(hosting) = &self.upstream {
                hosting.end(patience).await;
            }
        };
        let (is_finished, ()) = tokio::join!(finish, end_children);
        if !is_finished {
            tracing::warn!("some requests were not finished in time");
        }
    }
}

/// Answers what a client asks with why nothing can be asked. That is an answer like any other: clients
/// show what an error says, and of a status only its number.
async fn refuse_all(body: crate::body::Body, why: &str) -> Response<reply::Body> {
    let (line, _) = look(body, crate::body::Body::line).await;
    match line.messages().iter().find_map(Envelope::request) {
        Some(id) => reply::error(StatusCode::OK, Some(id), CONNECTION_CLOSED, why),
        None if line.messages().is_empty() => reply::text(StatusCode::SERVICE_UNAVAILABLE, why),
        None => reply::empty(StatusCode::ACCEPTED),
    }
}

fn refused(refusal: &Refusal) -> Response<reply::Body> {
    let mut response = reply::error(refusal.status, None, INVALID_REQUEST, &refusal.told());
    if refusal.status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

/// The signals that tell us to end.
struct EndSignals([tokio::signal::unix::Signal; 3]);

impl EndSignals {
    fn new() -> io::Result<Self> {
        let of = |kind| signal(kind);
        Ok(Self([
            of(SignalKind::terminate())?,
            of(SignalKind::interrupt())?,
            of(SignalKind::hangup())?,
        ]))
    }

    fn recv(&mut self) -> impl Future<Output = ()> {
        let [terminate, interrupt, hangup] = &mut self.0;
        async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
            }
        }
    }
}
