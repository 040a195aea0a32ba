//! Where outputs are offered: by `serve`, by `wrap` and `gateway` with `--outputs`, and after a restart.

use std::{
    fs,
    net::{TcpListener, TcpStream},
};

use forebay_testkit::{
    http::{Connection, HttpPeer, McpHttpClient},
    peer::Peer,
    programs,
};
use serde_json::json;

use super::{answered, ask, kept};
use crate::{forebay, transports::handle};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

#[test]
fn a_link_outlives_the_process_that_gave_it() {
    let kept = kept(&[("txt", b"still there")]);
    let path = kept.path(0);
    let mut first = kept.serve(&[]);
    assert_eq!(ask(&first, "GET", &path, &[]).1, b"still there");
    first.terminate();
    assert!(first.wait().success());
    assert_eq!(ask(&kept.serve(&[]), "GET", &path, &[]).1, b"still there");
}

#[test]
fn wrap_and_gateway_offer_outputs_where_that_is_wished() {
    let kept = kept(&[("txt", b"beside a session on stdio")]);
    let servers = kept.home.path().join("servers.json");
    let fixture = programs::fixture_upstream();
    let listed = serde_json::json!({"mcpServers": {"fixture": {"command": fixture}}});
    fs::write(&servers, listed.to_string()).unwrap();
    let (fixture, servers) = (fixture.to_str().unwrap(), servers.to_str().unwrap());
    for rest in [["wrap", "--", fixture], ["gateway", "--servers", servers]] {
        // A port that was free a moment ago: where it listens is told in links alone.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = forebay([rest[0], &format!("--outputs={address}")]);
        let mut peer = Peer::start(command.args(&rest[1..]).env("FOREBAY_HOME", kept.home.path()));
        peer.ask(INITIALIZE);
        let (head, body) = answered(Connection::open(address), "GET", &kept.path(0), &[]);
        assert_eq!((head.status, body.as_slice()), (200, &b"beside a session on stdio"[..]));
        assert!(head.header("content-security-policy").unwrap().starts_with("sandbox"));
        for path in ["/", "/mcp", "/healthz", "/metrics", "/outputs/", "/outputs/x/y"] {
            assert_eq!(answered(Connection::open(address), "GET", path, &[]).0.status, 404);
        }
        let mut rebound = Connection::open(address);
        let request = format!("GET {} HTTP/1.1\r\nHost: evil.example\r\n\r\n", kept.path(0));
        rebound.send_bytes(request.as_bytes());
        assert_eq!(rebound.head().status, 403);
        // It ends with the session.
        peer.close_input();
        peer.wait();
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn without_the_wish_wrap_listens_on_nothing() {
    let listens = |flags: &[&str]| {
        let mut command = forebay(["wrap"]);
        let home = tempfile::tempdir().unwrap();
        command.args(flags).arg("--").arg(programs::fixture_upstream());
        let mut peer = Peer::start(command.env("FOREBAY_HOME", home.path()));
        peer.ask(INITIALIZE);
        let id = peer.child.id();
        let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten();
        let names = tasks.map(|it| fs::read_to_string(it.path().join("comm")).unwrap_or_default());
        names.filter(|name| name.trim() == "site").count()
    };
    assert_eq!((listens(&[]), listens(&["--outputs"])), (0, 1));
}

#[test]
fn wrap_offers_outputs_to_this_machine_alone() {
    let mut command = forebay(["wrap", "--outputs=0.0.0.0:0", "--"]);
    let mut peer = Peer::start(command.arg(programs::fixture_upstream()));
    let told = peer.ask(INITIALIZE);
    assert!(told.contains("error") && told.contains("0.0.0.0"), "{told}");
}

#[test]
fn serve_offers_none_where_that_is_turned_off() {
    let kept = kept(&[("txt", b"not offered")]);
    let peer = kept.serve(&[("FOREBAY_OUTPUTS_ENABLED", "false")]);
    let (head, body) = ask(&peer, "GET", &kept.path(0), &[]);
    assert_eq!(head.status, 404);
    assert!(String::from_utf8(body).unwrap().contains("/mcp"));
}

#[test]
fn a_url_needs_no_token_and_answers_to_the_name_that_clients_know() {
    let kept = kept(&[("txt", b"the URL is all it takes")]);
    let token = kept.home.path().join("token");
    fs::write(&token, "a-long-enough-secret\n").unwrap();
    let base = [("FOREBAY_OUTPUTS_BASE_URL", "https://forebay.example.com")];
    let peer = kept.serve_with(&base, &["--token-file", token.to_str().unwrap()]);
    assert_eq!(ask(&peer, "GET", "/mcp", &[]).0.status, 401);
    let path = kept.path(0);
    assert_eq!(ask(&peer, "GET", &path, &[]).0.status, 200);
    let mut passed_on = peer.connect();
    let request = format!("GET {path} HTTP/1.1\r\nHost: forebay.example.com\r\n\r\n");
    passed_on.send_bytes(request.as_bytes());
    assert_eq!(passed_on.head().status, 200);
}

/// No reply names a path of ours where clients may be on another machine: neither what is told of what was kept,
/// nor why something could not be.
#[test]
fn no_path_is_told_to_clients_that_may_be_elsewhere() {
    let base_url = ("FOREBAY_OUTPUTS_BASE_URL", "https://forebay.example.com");
    for (listen, variables) in [("127.0.0.1:0", &[base_url][..]), ("0.0.0.0:0", &[])] {
        for is_broken in [false, true] {
            let replies = replies_to(listen, variables, is_broken);
            assert!(replies.iter().all(|(reply, home)| !reply.contains(home.as_str())));
        }
    }
    // Where they are here, the summary says where it lies.
    let told = replies_to("127.0.0.1:0", &[], false);
    assert!(told[0].0.contains(told[0].1.as_str()), "{}", told[0].0);
}

/// What a client is told of results that are too large, in a store that may be broken; each with the store's path.
fn replies_to(listen: &str, variables: &[(&str, &str)], is_broken: bool) -> Vec<(String, String)> {
    let home = tempfile::tempdir().unwrap();
    let token = tempfile::NamedTempFile::new().unwrap();
    fs::write(token.path(), "a-long-enough-secret\n").unwrap();
    let settings = "on_store_failure = \"error\"\n[tools.csv]\njob_after = 0\n";
    fs::write(home.path().join("forebay.toml"), settings).unwrap();
    if is_broken {
        fs::write(home.path().join("datasets"), "in the way").unwrap();
    }
    let mut command = forebay(["serve", "--listen", listen, "--token-file"]);
    command.arg(token.path()).arg("--").arg(programs::fixture_upstream());
    command.env("FOREBAY_HOME", home.path()).envs(variables.iter().copied());
    let peer = HttpPeer::start(&mut command);
    let mut client = McpHttpClient::modern(&peer);
    client.headers = vec![("Authorization".to_owned(), "Bearer a-long-enough-secret".to_owned())];
    let direct = client.call_tool("records", &json!({ "count": 3_000 }));
    let mut replies = vec![direct.clone()];
    for count in [2_000, 100_000] {
        let begun = client.call_tool("csv", &json!({ "count": count }));
        let job = &begun["result"]["structuredContent"]["job_id"];
        assert!(job.is_string(), "{begun}");
        let asked = json!({ "job_id": job, "wait_seconds": 40 });
        let ended = client.call_tool("get_run_status", &asked);
        let status = if is_broken { "failed" } else { "completed" };
        assert!(ended.to_string().contains(status), "{ended}");
        replies.push(ended);
    }
    if is_broken {
        assert_eq!(direct["result"]["isError"], true, "{direct}");
    } else {
        let id = handle(&direct);
        replies.push(client.call_tool("read-saved-dataset", &json!({ "dataset_id": id })));
    }
    replies.push(client.call_tool("list-saved-datasets", &json!({})));
    replies.push(client.call("resources/list", &json!({})));
    let home = home.path().display().to_string();
    replies.into_iter().map(|reply| (reply.to_string(), home.clone())).collect()
}
