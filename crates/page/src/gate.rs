//! Who may see the page: whoever has its token, from a page of its own.
//!
//! The token comes once, in the address that is told at the start or in the form that everybody else sees,
//! and then in a cookie that no script can read and no other site can have sent. Names in `Host` are
//! the listener's concern; that a request comes from no page but ours is ours. Ports share cookies, so another
//! program on the same machine is another origin, though the same site: what it sends is refused, too.

use std::sync::OnceLock;

use askama::Template;
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header,
};
use serde::Serialize;

use crate::{
    given::Given,
    reply::{Twin, with, written},
};

/// How many random bytes a token is made of.
const TOKEN_BYTES: usize = 24;

/// Who may come in.
#[derive(Debug)]
pub struct Gate {
    token: String,
    told: Told,
    /// The port, which tells our cookie from that of another page on this machine.
    port: OnceLock<u16>,
}

/// How people come to know the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It is made at the start, and stands in the address that is told then.
    InAddress,
    /// They have it from whoever runs the server.
    ByOthers,
}

/// What becomes of a request.
pub(crate) enum Entry {
    /// It may see everything.
    Granted,
    /// It has shown the token in the address, and gets the cookie.
    Opened { cookie: String },
    /// It has shown it in the form, and gets the cookie and the page that it wanted.
    LoggedIn { cookie: String, to: String },
    /// It may see nothing.
    Refused(Refusal),
}

/// Why nothing is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The token is missing, or another.
    NoToken {
        /// How to get in.
        way: Way,
        shown: Shown,
        /// Which page is wanted.
        to: String,
    },
    /// Another site asks.
    AnotherSite,
}

/// What whoever asks has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// A token that is not ours.
    Another,
}

/// How to get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the address that was told at the start.
    Address,
    /// By the server's own token.
    ServersToken,
}

#[derive(Template, Serialize)]
#[template(path = "refused.html")]
struct Page {
    #[serde(skip)]
    frame: crate::frame::Frame,
    error: &'static str,
    #[serde(skip)]
    has_form: bool,
    #[serde(skip)]
    to: String,
}

/// The page that follows the token in the address. A redirect would be part of the way from another site, on
/// which browsers do not send the cookie; from this page on they do.
#[derive(Template)]
#[template(path = "opened.html")]
struct OpenedPage {
    frame: crate::frame::Frame,
}

/// Lets in whoever has opened the right address.
pub(crate) fn opened(cookie: &str) -> Response<Bytes> {
    let page =
        OpenedPage { frame: crate::frame::Frame::new(crate::frame::Section::None, "Opened") };
    let body = page.render().unwrap_or_else(|_| "<a href=\"/\">Go on</a>".to_owned());
    let mut answer = with(StatusCode::OK, "text/html; charset=utf-8", body.into());
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

impl Gate {
    /// A gate with a token of its own, made now.
    pub fn with_new_token() -> Result<Self, getrandom::Error> {
        use std::fmt::Write as _;
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let mut token = String::new();
        for byte in bytes {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { token, told: Told::InAddress, port: OnceLock::new() })
    }

    /// A gate for those who have the server's own token.
    pub fn with_servers_token(token: String) -> Self {
        Self { token, told: Told::ByOthers, port: OnceLock::new() }
    }

    /// Says on which port the page is.
    pub fn listen_on(&self, port: u16) {
        // It is said once, before anybody asks.
        let _ = self.port.set(port);
    }

    /// What stands behind the host in the address that lets in whoever opens it.
    pub fn opening(&self) -> String {
        match self.told {
            Told::InAddress => format!("/?token={}", self.token),
            Told::ByOthers => "/".to_owned(),
        }
    }

    pub(crate) fn check(&self, request: &Request<Bytes>) -> Entry {
        if !is_of_our_page(request.method(), request.headers()) {
            return Entry::Refused(Refusal::AnotherSite);
        }
        let uri = request.uri();
        if let Some(shown) = self.shown(request) {
            let cookie = self.cookie();
            return match (self.is_token(&shown), uri.path()) {
                (true, "/login") => Entry::LoggedIn { cookie, to: wanted(request) },
                (true, _) => Entry::Opened { cookie },
                (false, _) => Entry::Refused(self.no_token(Shown::Another, request)),
            };
        }
        let bearer = bearer(request.headers());
        let is_known = self.cookies(request.headers()).any(|it| self.is_token(it))
            || bearer.is_some_and(|it| self.is_token(it));
        match (is_known, uri.path()) {
            // Who is in has nothing to do at the gate.
            (true, "/login") => Entry::LoggedIn { cookie: self.cookie(), to: "/".to_owned() },
            (true, _) => Entry::Granted,
            (false, _) => {
                let shown = if bearer.is_some() { Shown::Another } else { Shown::Nothing };
                Entry::Refused(self.no_token(shown, request))
            }
        }
    }

    /// The token that a request shows to get the cookie.
    fn shown(&self, request: &Request<Bytes>) -> Option<String> {
        let text = match (request.method(), request.uri().path(), self.told) {
            (&Method::POST, "/login", _) => String::from_utf8_lossy(request.body()).into_owned(),
            (&Method::GET, "/", Told::InAddress) => {
                request.uri().query().unwrap_or_default().to_owned()
            }
            _ => return None,
        };
        Given::of(&text).get("token").map(|token| token.trim().to_owned())
    }

    /// Compared by their hashes: how long it takes says nothing about the token.
    fn is_token(&self, shown: &str) -> bool {
        blake3::hash(shown.as_bytes()) == blake3::hash(self.token.as_bytes())
            || blake3::hash(shown.as_bytes()) == blake3::hash(self.cookie_value().as_bytes())
    }

    /// What stands in the cookie: it opens the page, and nothing else that the token may open.
    fn cookie_value(&self) -> String {
        let key = blake3::derive_key("forebay 2026-11-18 page cookie", self.token.as_bytes());
        blake3::Hash::from_bytes(key).to_hex().to_string()
    }

    fn cookie_name(&self) -> String {
        format!("forebay_{}", self.port.get().copied().unwrap_or_default())
    }

    fn cookie(&self) -> String {
        let (name, value) = (self.cookie_name(), self.cookie_value());
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/")
    }

    fn cookies<'h>(&self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        let name = self.cookie_name();
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        all.flat_map(|value| value.split(';')).filter_map(move |pair| {
            let (known, value) = pair.trim().split_once('=')?;
            (known == name).then_some(value)
        })
    }

    fn no_token(&self, shown: Shown, request: &Request<Bytes>) -> Refusal {
        let way = match self.told {
            Told::InAddress => Way::Address,
            Told::ByOthers => Way::ServersToken,
        };
        Refusal::NoToken { way, shown, to: wanted(request) }
    }
}

/// True unless a page of somebody else sends the request. Browsers say whose page it is: with every change
/// the origin, and, if they are not very old, with everything how near it is.
fn is_of_our_page(method: &Method, headers: &HeaderMap) -> bool {
    const FROM: HeaderName = HeaderName::from_static("sec-fetch-site");
    const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
    let said = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let authority = origin.as_ref().and_then(|origin| origin.authority());
        let is_ours = authority.is_some_and(|it| Some(it.as_str()) == said(&header::HOST));
        if !is_ours {
            return false;
        }
    }
    let is_read = [Method::GET, Method::HEAD].contains(method);
    match (said(&FROM), said(&MODE)) {
        (None | Some("same-origin" | "none"), _) => true,
        // Somebody has followed a link to us; without the cookie, if it is on another site.
        (Some(_), Some("navigate")) => is_read,
        (Some(_), _) => false,
    }
}

/// The page that somebody wanted to see before the token was asked for: one of ours, or the first.
fn wanted(request: &Request<Bytes>) -> String {
    let uri = request.uri();
    let wanted = match (request.method(), uri.path()) {
        (&Method::POST, "/login") => {
            let form = Given::of(&String::from_utf8_lossy(request.body()));
            form.local("to").map(str::to_owned)
        }
        // With a token in the address that is not ours.
        (&Method::GET, "/" | "/login" | "/now/calls") => None,
        // No page but the first understands a token.
        (&Method::GET, _) => {
            Some(Given::of(uri.query().unwrap_or_default()).without("token").at(uri.path()))
        }
        _ => None,
    };
    wanted.filter(|path| crate::given::is_local(path)).unwrap_or_else(|| "/".to_owned())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, shown) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(shown.trim())
}

impl Refusal {
    pub(crate) fn answer(self, twin: Twin) -> Response<Bytes> {
        let (status, error, to) = match self {
            Self::NoToken { way, shown, to } => {
                let error = match (way, shown) {
                    (Way::Address, Shown::Nothing) => {
                        "Open the address that Forebay told when it was started, with its token."
                    }
                    (Way::Address, Shown::Another) => {
                        "This is not the token. Each start of Forebay makes another: open the address \
                         that it told when it was last started."
                    }
                    (Way::ServersToken, Shown::Nothing) => {
                        "This needs the token that clients of this server show."
                    }
                    (Way::ServersToken, Shown::Another) => {
                        "This is not the token that clients of this server show."
                    }
                };
                (StatusCode::UNAUTHORIZED, error, Some(to))
            }
            Self::AnotherSite => {
                (StatusCode::FORBIDDEN, "A page of another site may not ask for this.", None)
            }
        };
        let frame = crate::frame::Frame::new(crate::frame::Section::None, "Not let in");
        let page = Page { frame, error, has_form: to.is_some(), to: to.unwrap_or_default() };
        written(status, &page, twin).unwrap_or_else(|_| {
            with(status, "text/plain; charset=utf-8", Bytes::from_static(error.as_bytes()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Bytes> {
        let mut request = Request::builder().method(method).uri(path).header("host", "h:1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
    }

    fn told(gate: &Gate, request: &Request<Bytes>) -> &'static str {
        match gate.check(request) {
            Entry::Granted => "in",
            Entry::Opened { .. } | Entry::LoggedIn { .. } => "cookie",
            Entry::Refused(Refusal::AnotherSite) => "another site",
            Entry::Refused(Refusal::NoToken { .. }) => "no token",
        }
    }

    #[test]
    fn the_token_in_the_address_becomes_a_cookie_that_lets_in() {
        let gate = Gate::with_new_token().unwrap();
        gate.listen_on(7);
        let Entry::Opened { cookie } = gate.check(&asked("GET", &gate.opening(), &[], "")) else {
            panic!("it is the token");
        };
        assert!(cookie.starts_with("forebay_7="), "{cookie}");
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        assert!(!cookie.contains(&gate.token), "it opens nothing else");
        let pair = cookie.split(';').next().unwrap();
        let with = |cookie: &str| told(&gate, &asked("GET", "/shelf", &[("cookie", cookie)], ""));
        assert_eq!(with(pair), "in");
        assert_eq!(with(&format!("a=b; {pair}")), "in");
        assert_eq!(with(&pair.replace("forebay_7", "forebay_8")), "no token");
        assert_eq!(with(&pair[..pair.len() - 1]), "no token");
        assert_eq!(told(&gate, &asked("GET", "/?token=x", &[], "")), "no token");
        assert_eq!(told(&gate, &asked("GET", "/shelf", &[], "")), "no token");
        let bearer = format!("Bearer {}", gate.token);
        assert_eq!(
            told(&gate, &asked("GET", "/shelf.json", &[("authorization", &bearer)], "")),
            "in"
        );
        assert_eq!(Gate::with_new_token().unwrap().token.len(), 2 * TOKEN_BYTES);
        assert_ne!(Gate::with_new_token().unwrap().token, gate.token);
    }

    #[test]
    fn the_servers_token_is_shown_in_a_form_and_never_in_an_address() {
        let gate = Gate::with_servers_token("a token of the server's".to_owned());
        assert_eq!(gate.opening(), "/");
        let form = "token=a+token+of+the+server%27s";
        assert_eq!(told(&gate, &asked("POST", "/login", &[], form)), "cookie");
        assert_eq!(told(&gate, &asked("POST", "/login", &[], "token=x")), "no token");
        assert_eq!(told(&gate, &asked("GET", &format!("/?{form}"), &[], "")), "no token");
    }

    #[test]
    fn another_site_can_neither_read_nor_change() {
        let gate = Gate::with_new_token().unwrap();
        let cookie = gate.cookie();
        let cookie = ("cookie", cookie.split(';').next().unwrap());
        let with = |method: &str, header: (&str, &str)| {
            told(&gate, &asked(method, "/shelf", &[cookie, header], ""))
        };
        assert_eq!(with("POST", ("origin", "http://h:1")), "in");
        for origin in ["http://h:2", "http://h", "null", "https://evil.example", "file://"] {
            assert_eq!(with("POST", ("origin", origin)), "another site", "{origin}");
            assert_eq!(with("GET", ("origin", origin)), "another site", "{origin}");
        }
        for site in ["same-site", "cross-site"] {
            assert_eq!(with("POST", ("sec-fetch-site", site)), "another site");
            assert_eq!(with("GET", ("sec-fetch-site", site)), "another site");
            let link = [cookie, ("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
            assert_eq!(told(&gate, &asked("GET", "/shelf", &link, "")), "in", "a link");
            assert_eq!(told(&gate, &asked("POST", "/shelf", &link, "")), "another site");
        }
    }
}
