//! Logins at a real server that asks for one: the official Python SDK gives the tokens, and checks
//! them. The browser is the test.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use forebay_testkit::{
    peer::{Peer, eventually},
    real,
};
use serde_json::{Value, json};

use crate::{forebay, home};

const SIGINT: &str = "-2";

/// A server that asks for logins, and a home of its own to keep them in.
struct Place {
    server: Peer,
    url: String,
    home: PathBuf,
}

impl Place {
    fn new(test: &str, options: &[&str]) -> Option<Self> {
        let words = real::python(test)?.script("servers/py_oauth.py");
        let server = Peer::start(Command::new(&words[0]).args(&words[1..]).args(options));
        let url = server.next_line();
        let home = home().join(test);
        let _ = fs::remove_dir_all(&home);
        Some(Self { server, url, home })
    }

    fn forebay(&self, arguments: &[&str]) -> Command {
        let mut command = forebay(arguments);
        command.env("FOREBAY_HOME", &self.home);
        command
    }

    /// Runs `forebay auth` to its end.
    fn auth(&self, arguments: &[&str]) -> (String, String, Option<i32>) {
        said(self.forebay(&[&["auth"], arguments].concat()).output().unwrap())
    }

    /// Starts a login, and returns it with the page to log in at.
    fn start_login(&self, options: &[&str]) -> (Peer, String) {
        let arguments = [&["auth", "login", &self.url, "--no-browser"], options].concat();
        let login = Peer::start(&mut self.forebay(&arguments));
        assert_eq!(login.next_line(), format!("Open this page to log in to {}:", self.url));
        assert_eq!(login.next_line(), "");
        let page = login.next_line().trim().to_owned();
        assert_eq!(login.next_line(), "");
        (login, page)
    }

    fn log_in(&self) {
        let (mut login, page) = self.start_login(&[]);
        visit("GET", &redirect(&page));
        assert!(login.wait().success(), "{}", login.wait_for_stderr());
    }

    fn file(&self) -> PathBuf {
        let entries = fs::read_dir(self.home.join("auth")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    fn kept(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap()
    }

    /// Makes the access token one that has come to its end.
    fn let_it_expire(&self) {
        let (file, mut kept) = (self.file(), self.kept());
        kept["received_at"] = json!("2026-01-01T00:00:00Z");
        kept["expires_at"] = json!("2026-01-01T01:00:00Z");
        fs::write(file, kept.to_string()).unwrap();
    }

    fn origin(&self) -> &str {
        self.url.strip_suffix("/mcp").unwrap()
    }

    fn forget(&self, what: &str) {
        let answer = visit("POST", &format!("{}/forget/{what}", self.origin()));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// What the server was asked for, and how often.
    fn seen(&self) -> Value {
        let answer = visit("GET", &format!("{}/seen", self.origin()));
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    }

    /// What `forebay auth check` says to those who are not let in.
    fn asks(&self) -> (String, String, Option<i32>) {
        let url = &self.url;
        let told = format!("forebay: {url} asks for a login; run: forebay auth login {url}\n");
        (String::new(), told, Some(1))
    }

    /// What it says to those who are.
    fn accepts(&self) -> (String, String, Option<i32>) {
        let told = format!("{} accepts the login, which is {}.\n", self.url, self.validity());
        (told, String::new(), Some(0))
    }

    fn validity(&self) -> String {
        let end = self.kept()["expires_at"].as_str().unwrap().replace('T', " ");
        format!("good until {} UTC, and renewed by itself", &end[.."2026-01-01 00:00".len()])
    }
}

fn said(output: Output) -> (String, String, Option<i32>) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// What a server answers, as it comes.
fn visit(method: &str, url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Where the page to log in at sends the browser.
fn redirect(page: &str) -> String {
    let answer = visit("GET", page);
    let mut lines = answer.lines();
    lines
        .find_map(|line| line.strip_prefix("location: "))
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

fn parameter(url: &str, name: &str) -> String {
    let mut pairs = url.split(['?', '&']);
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_login_is_kept_for_its_owner_alone_and_shown_without_tokens() {
    let Some(place) = Place::new("a_login_is_kept", &[]) else { return };
    assert_eq!(place.auth(&["check", &place.url]), place.asks());
    assert_eq!(
        place.auth(&["list"]),
        ("There are no logins.\n".to_owned(), String::new(), Some(0))
    );

    let (mut login, page) = place.start_login(&["--log-level", "trace"]);
    let callback = redirect(&page);
    let answer = visit("GET", &callback);
    assert!(answer.ends_with("Forebay has its answer. You can close this window.\n"), "{answer}");
    let ends = [login.next_line(), login.next_line()];
    let logged = login.wait_for_stderr();
    let file = place.file();
    let holds = format!("Logged in. The login is {}.", place.validity());
    assert_eq!(ends, [holds, format!("Its tokens are in {}.", file.display())]);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(place.auth(&["check", &place.url]), place.accepts());

    let kept = place.kept();
    assert_eq!((&kept["url"], &kept["scopes"]), (&json!(place.url), &json!(["orders"])));
    let (table, _, _) = place.auth(&["list"]);
    let (listed, _, _) = place.auth(&["list", "--json"]);
    assert!(table.starts_with("SERVER ") && table.contains("orders"), "{table}");
    let shown: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(shown[0]["client_id"], kept["client"]["id"]);
    assert!(logged.contains("TRACE") || logged.contains("DEBUG"), "{logged}");
    for secret in [&kept["access_token"], &kept["refresh_token"]] {
        let secret = secret.as_str().unwrap();
        assert!(![&table, &listed, &logged].iter().any(|text| text.contains(secret)));
    }
    assert!(!logged.contains(&parameter(&callback, "code")));
}

#[test]
fn an_answer_with_another_state_is_refused_and_ends_nothing() {
    let Some(place) = Place::new("another_state", &[]) else { return };
    let (mut login, page) = place.start_login(&["--port", "0"]);
    let callback = redirect(&page);
    let (code, state) = (parameter(&callback, "code"), parameter(&callback, "state"));
    let forged = callback.replace(&state, "0123456789abcdef");
    let answer = visit("GET", &forged);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.ends_with("This is not the login that Forebay waits for.\n"), "{answer}");
    let other = visit("GET", &callback.replace("/callback", "/favicon.ico"));
    assert!(other.starts_with("HTTP/1.1 400") && !other.contains(&code), "{other}");
    // A browser's connection that says nothing keeps nobody waiting.
    let host = callback.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let _idle = TcpStream::connect(host).unwrap();
    visit("GET", &callback);
    assert!(login.wait().success(), "{}", login.wait_for_stderr());
    assert_eq!(place.auth(&["check", &place.url]), place.accepts());
}

#[test]
fn what_the_server_refuses_is_told() {
    let Some(place) = Place::new("refuses", &[]) else { return };
    let (mut login, page) = place.start_login(&[]);
    let (callback, state) = (parameter(&page, "redirect_uri"), parameter(&page, "state"));
    let callback = callback.replace("%3A", ":").replace("%2F", "/");
    let answer = visit("GET", &format!("{callback}?state={state}&error=access_denied"));
    assert!(answer.ends_with("access_denied. You can close this window.\n"), "{answer}");
    let url = &place.url;
    assert_eq!(
        login.wait_for_stderr(),
        format!("forebay: cannot log in to {url}: the server refuses: access_denied\n")
    );
    assert_eq!(login.wait().code(), Some(1));

    let (_, told, code) = place.auth(&["login", url, "--no-browser", "--scope", "nonsense"]);
    assert!(told.contains("Requested scopes are not valid: nonsense"), "{told}");
    assert_eq!(code, Some(1));
    assert_eq!(place.auth(&["check", url]), place.asks());
}

#[test]
fn a_login_can_be_interrupted() {
    let Some(place) = Place::new("interrupted", &[]) else { return };
    let (mut login, page) = place.start_login(&[]);
    let pid = login.child.id().to_string();
    assert!(Command::new("kill").args([SIGINT, &pid]).status().unwrap().success());
    assert_eq!(login.wait_for_stderr(), "");
    assert_eq!(login.wait().code(), Some(130));
    let callback = redirect(&page);
    let host = callback.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert!(TcpStream::connect(host).is_err(), "nobody waits any more");
    assert_eq!(place.auth(&["check", &place.url]), place.asks());
}

#[test]
fn the_page_is_opened_in_the_browser() {
    let Some(place) = Place::new("opened", &[]) else { return };
    let programs = place.home.join("bin");
    fs::create_dir_all(&programs).unwrap();
    let browser = programs.join("xdg-open");
    fs::write(
        &browser,
        "#!/bin/sh\nprintf %s \"$1\" > \"$0.partial\"\nmv \"$0.partial\" \"$0.page\"\n",
    )
    .unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = place.forebay(&["auth", "login", &place.url]);
    let mut login = Peer::start(command.env("PATH", path));
    let opened = browser.with_extension("page");
    eventually("the browser is started", || opened.exists());
    visit("GET", &redirect(&fs::read_to_string(opened).unwrap()));
    assert!(login.wait().success(), "{}", login.wait_for_stderr());
}

#[test]
fn a_server_that_asks_for_no_login_is_told_from_others() {
    let Some(place) = Place::new("asks_for_none", &["--open"]) else { return };
    let url = &place.url;
    let told = (format!("{url} does not ask for a login.\n"), String::new(), Some(0));
    assert_eq!(place.auth(&["login", url, "--no-browser"]), told);
    assert_eq!(place.auth(&["check", url]), told);
    let missing = format!("{}/nothing", place.origin());
    let (_, said, code) = place.auth(&["login", &missing, "--no-browser"]);
    assert_eq!(
        said,
        format!("forebay: cannot log in to {missing}: the server answers 404 Not Found\n")
    );
    assert_eq!(code, Some(1));
    let (_, said, _) = place.auth(&["login", "http://192.0.2.1/mcp", "--no-browser"]);
    assert!(said.ends_with("tokens would be sent without TLS; use an https URL\n"), "{said}");
}

#[test]
fn an_expired_token_is_renewed_and_the_new_one_kept() {
    let Some(place) = Place::new("renewed", &[]) else { return };
    place.log_in();
    let before = place.kept();
    place.let_it_expire();
    assert_eq!(place.auth(&["check", &place.url]), place.accepts());
    let after = place.kept();
    for token in ["access_token", "refresh_token"] {
        assert!(after[token].is_string());
        assert_ne!(before[token], after[token], "{token}");
    }
    assert_eq!(before["client"], after["client"]);
    assert_eq!(mode(&place.file()), 0o600);
    assert_eq!(place.seen(), json!({"registered": 1, "logged_in": 1, "refreshed": 1}));
    // Now it is good for an hour.
    assert_eq!(place.auth(&["check", &place.url]), place.accepts());
    assert_eq!(place.seen()["refreshed"], 1);
}

#[test]
fn processes_that_renew_at_once_spend_a_token_once() {
    let Some(place) = Place::new("at_once", &[]) else { return };
    place.log_in();
    let all_check = || {
        let check = || Peer::start(&mut place.forebay(&["auth", "check", &place.url]));
        let mut checks: Vec<Peer> = (0..8).map(|_| check()).collect();
        for check in &mut checks {
            assert_eq!(check.wait_for_stderr(), "");
            assert!(check.wait().success());
        }
    };
    place.let_it_expire();
    all_check();
    assert_eq!(place.seen(), json!({"registered": 1, "logged_in": 1, "refreshed": 1}));
    // A token that is refused before its time.
    place.forget("access");
    all_check();
    assert_eq!(place.seen(), json!({"registered": 1, "logged_in": 1, "refreshed": 2}));
}

#[test]
fn a_login_that_cannot_be_renewed_is_none() {
    let Some(place) = Place::new("rejected", &[]) else { return };
    place.log_in();
    place.forget("all");
    assert_eq!(place.auth(&["check", &place.url]), place.asks());
    assert_eq!(place.auth(&["list"]).0, "There are no logins.\n");
}

#[test]
fn a_server_that_cannot_be_reached_costs_no_login() {
    let Some(mut place) = Place::new("unreachable", &[]) else { return };
    place.log_in();
    place.let_it_expire();
    let kept = place.kept();
    place.server.child.kill().unwrap();
    place.server.wait();
    let (_, told, code) = place.auth(&["check", &place.url]);
    let cannot = format!("forebay: cannot renew the login for {}: ", place.url);
    assert!(
        told.starts_with(&format!("{cannot}cannot reach the authorization server: ")),
        "{told}"
    );
    assert!(told.ends_with(": connection refused; is it running?\n"), "{told}");
    assert_eq!((code, place.kept()), (Some(1), kept));
}

#[test]
fn a_login_is_given_up_here_and_at_the_server() {
    // The server has secrets for its clients, which are needed to renew and to revoke.
    let Some(place) = Place::new("given_up", &["--secret"]) else { return };
    place.log_in();
    assert!(place.kept()["client"]["secret"].is_string());
    place.let_it_expire();
    assert_eq!(place.auth(&["check", &place.url]), place.accepts());
    let url = &place.url;
    let (said, _, code) = place.auth(&["logout", url]);
    assert_eq!((said, code), (format!("Logged out of {url}. Its tokens are revoked.\n"), Some(0)));
    assert_eq!(place.seen()["revoked"], 1);
    assert_eq!(place.auth(&["check", url]), place.asks());
    let (_, told, code) = place.auth(&["logout", url]);
    let none = format!(
        "forebay: there is no login for {url}; `forebay auth list` shows those that there are\n"
    );
    assert_eq!((told, code), (none, Some(3)));
}

#[test]
fn a_session_says_how_to_log_in_and_takes_up_the_login() {
    let Some(place) = Place::new("session_takes_up", &[]) else { return };
    let arguments = ["wrap", "--name", "orders", "--url", &place.url];
    let mut session = Peer::start(&mut place.forebay(&arguments));
    let initialize = |id: u32| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        })
        .to_string()
    };
    let refused: Value = serde_json::from_str(&session.ask(&initialize(1))).unwrap();
    let told = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(told.contains(&format!("run: forebay auth login {}", place.url)), "{told}");

    // Somebody logs in, in another process; the session goes on without a restart.
    place.log_in();
    let welcomed: Value = serde_json::from_str(&session.ask(&initialize(2))).unwrap();
    assert_eq!(welcomed["result"]["serverInfo"]["name"], "oauth", "{welcomed}");
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = |id: u32| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "orders", "arguments": {"count": 2}},
        })
        .to_string()
    };
    assert!(session.ask(&call(3)).contains(r#""total""#));

    // A token that is refused before its time is renewed, and the call is answered.
    place.forget("access");
    assert!(session.ask(&call(4)).contains(r#""total""#));
    assert_eq!(place.seen(), json!({"registered": 1, "logged_in": 1, "refreshed": 1}));

    // A login that is lost is told as at the beginning.
    place.forget("all");
    assert!(session.ask(&call(5)).contains("run: forebay auth login"));
}
