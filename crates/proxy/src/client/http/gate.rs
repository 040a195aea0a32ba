//! Who may come in: what is checked of a request before anything else looks at it.
//!
//! A page in a browser can send requests to this machine's own addresses, and can make a name of its
//! own point at them (DNS rebinding). It cannot lie in `Host` and `Origin`, so these must name this
//! machine, or what whoever runs us has allowed.

use std::net::SocketAddr;

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header,
    uri::Authority,
};

use super::reply::{self, Body};
use crate::streamable::host::{address, is_this_machine};

/// Who may come in.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// What a client must show: `Authorization: Bearer` and this.
    pub token: Option<String>,
    /// Names in `Host` that are ours besides those of this machine's own addresses.
    pub hosts: Vec<String>,
    /// Origins whose pages may call us besides those on this machine.
    pub origins: Vec<String>,
}

/// Why a request is turned away.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) reason: String,
    /// What `forebay serve` can be started with if it should not be.
    pub(super) advice: Option<String>,
}

impl Gate {
    /// True if `address` may be listened on: others than this machine's own can reach it only if
    /// they have to show a token.
    pub fn may_listen_on(&self, address: SocketAddr) -> bool {
        self.token.is_some() || address.ip().is_loopback()
    }

    /// Checks the head of a request that came in at `local`.
    pub(super) fn check(&self, headers: &HeaderMap, local: SocketAddr) -> Result<(), Refusal> {
        self.check_page(headers, local)?;
        self.check_token(headers)
    }

    /// Checks that no page sends the request that may not call us. Nothing is said of who it is for.
    pub(super) fn check_page(&self, headers: &HeaderMap, local: SocketAddr) -> Result<(), Refusal> {
        self.check_host(headers, local)?;
        self.check_origin(headers)
    }

    /// What a browser is told that asks, before a page's request, whether it may be sent at all. It
    /// shows no token then.
    pub(super) fn answer_to_preflight<B>(&self, request: &Request<B>) -> Option<Response<Body>> {
        let headers = request.headers();
        let is_preflight = *request.method() == Method::OPTIONS
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let origin = headers.get(header::ORIGIN).filter(|_| is_preflight)?;
        if let Err(refusal) = self.check_origin(headers) {
            return Some(reply::text(refusal.status, &refusal.told()));
        }
        let mut answer = reply::empty(StatusCode::NO_CONTENT);
        let shown = answer.headers_mut();
        show_to_page(origin.clone(), shown);
        let methods = HeaderValue::from_static("GET, POST, DELETE");
        shown.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            shown.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        Some(answer)
    }

    fn check_host(&self, headers: &HeaderMap, local: SocketAddr) -> Result<(), Refusal> {
        let host = one(headers, &header::HOST)?.unwrap_or_default();
        let name = host.parse::<Authority>().ok().map(|authority| authority.host().to_owned());
        let is_ours = name.as_deref().is_some_and(|name| {
            is_this_machine(name)
                || self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
                // A page's script does not know the token, and a name cannot be made to be an address.
                || (self.token.is_some() && address(name) == Some(local.ip()))
        });
        if is_ours {
            return Ok(());
        }
        let name = name.unwrap_or(host);
        Err(Refusal::forbidden(
            format!("the host `{name}` is not ours"),
            format!("if it should be, start with --allow-host {name}"),
        ))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(origin) = one(headers, &header::ORIGIN)? else { return Ok(()) };
        let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        if host.is_some_and(|host| is_this_machine(&host))
            || self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(&origin))
        {
            return Ok(());
        }
        Err(Refusal::forbidden(
            format!("pages of `{origin}` may not call this"),
            format!("if they should, start with --allow-origin {origin}"),
        ))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let shown = one(headers, &header::AUTHORIZATION)?;
        let shown = shown.as_deref().and_then(|value| {
            let (scheme, shown) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(shown.trim())
        });
        // Compared by their hashes: how long it takes says nothing about the token.
        if shown
            .is_some_and(|shown| blake3::hash(shown.as_bytes()) == blake3::hash(token.as_bytes()))
        {
            return Ok(());
        }
        let reason =
            "this needs `Authorization: Bearer` with the token that Forebay was started with";
        let (status, reason) = (StatusCode::UNAUTHORIZED, reason.to_owned());
        Err(Refusal { status, reason, advice: None })
    }
}

/// Lets a page of `origin`, which may call us, see what we answer.
pub(super) fn show_to_page(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static("mcp-session-id, mcp-protocol-version");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

impl Refusal {
    fn forbidden(reason: String, advice: String) -> Self {
        Self { status: StatusCode::FORBIDDEN, reason, advice: Some(advice) }
    }

    /// The reason, and what can be done about it where that is up to whoever starts us.
    pub(super) fn told(&self) -> String {
        match &self.advice {
            Some(advice) => format!("{}; {advice}", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// The only value of a header, as text.
fn one(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.map(|value| value.to_str().map(str::to_owned)).transpose();
    if let (Ok(text), None) = (text, second) {
        return Ok(text);
    }
    let reason = format!("`{name}` must be there once, in ASCII");
    Err(Refusal { status: StatusCode::BAD_REQUEST, reason, advice: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(gate: &Gate, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let local = "192.0.2.7:8484".parse().unwrap();
        gate.check(&map, local).map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_names_of_this_machine_are_ours() {
        let gate = Gate::default();
        for host in ["localhost:8484", "LOCALHOST", "127.0.0.1:1", "127.8.8.8", "[::1]:8484"] {
            assert_eq!(status(&gate, &[("host", host)]), 200, "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:8484",
            "192.0.2.7",
            "a b",
            "127.0.0.1.nip.example",
        ] {
            assert_eq!(status(&gate, &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status(&gate, &[]), 403);
        assert_eq!(status(&gate, &[("host", "localhost"), ("host", "evil.example")]), 400);
    }

    #[test]
    fn only_pages_of_this_machine_may_call() {
        let gate = Gate::default();
        let with = |origin| status(&gate, &[("host", "localhost"), ("origin", origin)]);
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:80"] {
            assert_eq!(with(origin), 200, "{origin}");
        }
        for origin in
            ["null", "", "https://evil.example", "http://localhost.evil.example", "file://"]
        {
            assert_eq!(with(origin), 403, "{origin}");
        }
    }

    #[test]
    fn what_is_allowed_comes_in() {
        let gate = Gate {
            hosts: vec!["Forebay.lan".to_owned()],
            origins: vec!["https://app.example".to_owned()],
            ..Gate::default()
        };
        let with = |host, origin| status(&gate, &[("host", host), ("origin", origin)]);
        assert_eq!(with("forebay.lan:8484", "https://app.example"), 200);
        assert_eq!(with("forebay.lan", "https://app.example:444"), 403);
        assert_eq!(with("other.lan", "https://app.example"), 403);
    }

    #[test]
    fn a_token_must_be_shown_and_opens_other_addresses() {
        let gate = Gate { token: Some("secret".to_owned()), ..Gate::default() };
        let with = |value| status(&gate, &[("host", "192.0.2.7:8484"), ("authorization", value)]);
        assert_eq!(with("Bearer secret"), 200);
        assert_eq!(with("bearer  secret"), 200);
        for value in ["Bearer secre", "Bearer secrets", "Basic secret", "secret", "Bearer "] {
            assert_eq!(with(value), 401, "{value}");
        }
        assert_eq!(status(&gate, &[("host", "localhost")]), 401);
        let everywhere = "0.0.0.0:1".parse().unwrap();
        assert!(gate.may_listen_on(everywhere) && !Gate::default().may_listen_on(everywhere));
        assert!(Gate::default().may_listen_on("[::1]:0".parse().unwrap()));
    }
}
