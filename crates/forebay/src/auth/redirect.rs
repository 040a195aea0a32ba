//! The answer to a login, which the browser brings to an address on this machine.

use std::{convert::Infallible, future, time::Duration};

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use reqwest::Url;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

/// Where the browser comes to.
const PATH: &str = "/callback";
/// How long a visitor may take to say what it wants, and how much it may say.
const VISIT: Duration = Duration::from_secs(10);
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// Waits for the answer on the loopback interface.
#[derive(Debug)]
pub(crate) struct Door {
    listener: TcpListener,
    port: u16,
}

/// How the right answer is told from others.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) state: String,
    pub(crate) issuer: String,
    /// The issuer has promised to say who it is.
    pub(crate) names_issuer: bool,
}

/// What an authorization server has answered: a code that tokens are given for.
pub(crate) struct Answer {
    pub(crate) code: String,
    pub(crate) issuer: Option<String>,
}

/// What a visitor is told, and what we make of the visit.
enum Visit {
    /// It has nothing to do with the login.
    Stray(&'static str),
    /// It brings the answer.
    Answer(Answer),
    /// It brings the news that there will be no code.
    Refusal(String),
}

impl Door {
    /// Opens a port of one's choice, or any if it is 0.
    pub(crate) async fn open(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let listener = listener.with_context(|| format!("cannot listen on port {port}"))?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address to send the browser to.
    pub(crate) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer. Whoever else comes is sent away, and ends nothing.
    pub(crate) async fn answer(self, expected: &Expected, patience: Duration) -> Result<Answer> {
        let answer = timeout(patience, self.visits(expected)).await;
        answer
            .map_err(|_| anyhow!("nobody has logged in for {} minutes", patience.as_secs() / 60))?
    }

    async fn visits(self, expected: &Expected) -> Result<Answer> {
        // Browsers open connections that they may use later: none must keep the others waiting.
        let mut visits = JoinSet::new();
        loop {
            tokio::select! {
                visitor = self.listener.accept() => {
                    let (stream, _) = visitor.context("cannot wait for the browser")?;
                    visits.spawn(received(stream, expected.clone()));
                }
                Some(visit) = visits.join_next() => match visit {
                    Ok(Some(Visit::Answer(answer))) => return Ok(answer),
                    Ok(Some(Visit::Refusal(why))) => bail!("the server refuses: {why}"),
                    Ok(Some(Visit::Stray(_)) | None) | Err(_) => {}
                },
            }
        }
    }
}

/// Hears what a visitor wants and answers it; `None` if it says nothing.
async fn received(stream: TcpStream, expected: Expected) -> Option<Visit> {
    let (bring, mut brought) = mpsc::channel(1);
    let service = service_fn(|request: Request<Incoming>| {
        let visit = match request.method() {
            &Method::GET => judged(&request.uri().to_string(), &expected),
            _ => Visit::Stray("There is nothing to send here."),
        };
        let response = visit.response();
        // There is one request on a connection.
        let _ = bring.try_send(visit);
        future::ready(Ok::<_, Infallible>(response))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(VISIT)
        .max_buf_size(MAX_REQUEST_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // What the browser shows is not what the login depends on.
    let _ = timeout(2 * VISIT, connection).await;
    brought.try_recv().ok()
}

impl Visit {
    /// What the browser shows.
    fn response(&self) -> Response<Full<Bytes>> {
        let (status, page) = match self {
            Self::Stray(why) => (StatusCode::BAD_REQUEST, (*why).to_owned()),
            Self::Answer(_) => {
                let page = "Forebay has its answer. You can close this window.";
                (StatusCode::OK, page.to_owned())
            }
            Self::Refusal(why) => {
                let page = format!("The login was refused: {why}. You can close this window.");
                (StatusCode::OK, page)
            }
        };
        let mut response = Response::new(Full::from(format!("{page}\n")));
        *response.status_mut() = status;
        for (name, value) in [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// Tells the answer from what somebody else has sent the browser here with.
fn judged(target: &str, expected: &Expected) -> Visit {
    let Some(url) = Url::parse("http://127.0.0.1").ok().and_then(|base| base.join(target).ok())
    else {
        return Visit::Stray("This is not an address.");
    };
    if url.path() != PATH {
        return Visit::Stray("There is nothing here.");
    }
    let given = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    if given("state").as_ref() != Some(&expected.state) {
        return Visit::Stray("This is not the login that Forebay waits for.");
    }
    // Nothing is believed, not even an error, that comes from another server (RFC 9207).
    let issuer = given("iss");
    let is_theirs =
        issuer.as_ref().map_or(!expected.names_issuer, |given| *given == expected.issuer);
    if !is_theirs {
        return Visit::Stray("This is not from the server that Forebay has asked.");
    }
    if let Some(error) = given("error") {
        let description = given("error_description");
        return Visit::Refusal(
            description.map_or_else(|| error.clone(), |more| format!("{error}: {more}")),
        );
    }
    given("code").map_or(Visit::Stray("There is no code in this answer."), |code| {
        Visit::Answer(Answer { code, issuer })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(target: &str, names_issuer: bool) -> String {
        let (state, issuer) = ("s".to_owned(), "https://as.example.com".to_owned());
        match judged(target, &Expected { state, issuer, names_issuer }) {
            Visit::Stray(why) => format!("stray: {why}"),
            Visit::Answer(answer) => format!("code: {}", answer.code),
            Visit::Refusal(why) => format!("refusal: {why}"),
        }
    }

    #[test]
    fn only_the_answer_that_was_asked_for_counts() {
        let theirs = "iss=https%3A%2F%2Fas.example.com";
        assert_eq!(told("/callback?code=c&state=s", false), "code: c");
        assert_eq!(told(&format!("/callback?code=c&state=s&{theirs}"), true), "code: c");
        assert_eq!(
            told("/callback?state=s&error=access_denied&error_description=no+way", false),
            "refusal: access_denied: no way"
        );
        let strays = [
            ("/callback?code=c&state=t", false),
            ("/callback?code=c", false),
            ("/callback?error=access_denied", false),
            ("/callback?state=s", false),
            ("/favicon.ico", false),
            ("/callback?code=c&state=s", true),
            ("/callback?code=c&state=s&iss=https%3A%2F%2Fas.example.com%2F", false),
            ("/callback?error=x&state=s&iss=https%3A%2F%2Fother.example.com", false),
        ];
        for (target, names_issuer) in strays {
            assert!(told(target, names_issuer).starts_with("stray: "), "{target}");
        }
    }

    #[test]
    fn waiting_for_the_browser_ends() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let waited = runtime.block_on(async {
            let door = Door::open(0).await.unwrap();
            let (state, issuer) = ("s".to_owned(), String::new());
            door.answer(&Expected { state, issuer, names_issuer: false }, Duration::ZERO).await
        });
        let Err(error) = waited else { panic!("nobody has come") };
        assert_eq!(error.to_string(), "nobody has logged in for 0 minutes");
    }
}
