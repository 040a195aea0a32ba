//! What stands between us and a remote upstream, or what it is: proxies, certificates, old servers.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
};

use forebay_testkit::peer::Peer;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::Value;

use crate::{forebay, serving_url};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// Made for these tests alone, with a key that anybody can read.
fn certificate(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificates").join(name);
    file.into_os_string().into_string().unwrap()
}

fn wrapped(url: &str) -> Command {
    let mut command = forebay(["wrap", "--no-capture", "--grace", "0.1", "--url", url]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
}

/// What a client gets when it opens a session.
fn answer(command: &mut Command) -> Value {
    serde_json::from_str(&Peer::start(command).ask(INITIALIZE)).unwrap()
}

fn told(command: &mut Command) -> String {
    let answer = answer(command);
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// An address at which nobody listens, and whose port is given to nobody by chance.
fn nowhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1))
}

#[test]
fn a_proxy_that_is_down_is_named() {
    let proxy = nowhere();
    for (url, variable, scheme) in [
        ("http://mcp.example/mcp", "HTTP_PROXY", "http"),
        ("https://mcp.example/mcp", "HTTPS_PROXY", "http"),
        ("https://mcp.example/mcp", "ALL_PROXY", "socks5h"),
    ] {
        let secret = format!("{scheme}://user:secret@{proxy}");
        let told = told(wrapped(url).env(variable, secret));
        let expected = format!("the proxy {scheme}://{proxy} (from HTTPS_PROXY");
        assert!(told.contains(&expected) && told.contains("mcp.example"), "{told}");
        assert!(told.contains("is it running?") && !told.contains("secret"), "{told}");
    }
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let (proxy, _) = server(|connection, _| {
        connection.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").unwrap();
    });
    let told =
        told(wrapped("https://mcp.example/mcp").env("HTTPS_PROXY", format!("http://{proxy}")));
    assert!(told.contains(&format!("through the proxy http://{proxy}")), "{told}");
}

#[test]
fn a_socks_proxy_is_spoken_to() {
    // It says no to what it is asked, and that it was asked is what is to be seen.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap();
    let asked = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut greeting = [0; 2];
        connection.read_exact(&mut greeting).unwrap();
        connection.read_exact(&mut vec![0; greeting[1].into()]).unwrap();
        connection.write_all(&[5, 0]).unwrap();
        let mut request = [0; 5];
        connection.read_exact(&mut request).unwrap();
        let mut name = vec![0; request[4].into()];
        connection.read_exact(&mut name).unwrap();
        String::from_utf8(name).unwrap()
    });
    let _ = told(wrapped("http://mcp.example/mcp").env("ALL_PROXY", format!("socks5h://{proxy}")));
    assert_eq!(asked.join().unwrap(), "mcp.example");
}

#[test]
fn a_private_authority_is_trusted_when_it_is_named() {
    let server = tls_server("server.pem", "server.key");
    let url = format!("https://{server}/mcp");
    let (authority, missing) = (certificate("authority.pem"), certificate("no-such.pem"));
    let refused = told(&mut wrapped(&url));
    assert!(refused.contains("--ca-file FILE") && refused.contains("self-signed"), "{refused}");

    let is_open = |command: &mut Command| answer(command)["result"].is_object();
    assert!(is_open(wrapped(&url).args(["--ca-file", &authority])));
    assert!(is_open(wrapped(&url).env("FOREBAY_CA_FILE", &authority)));
    assert!(is_open(wrapped(&url).env("SSL_CERT_FILE", &authority)));
    let told = told(wrapped(&url).args(["--ca-file", &missing]));
    assert!(told.contains(&missing), "{told}");
}

#[test]
fn a_self_signed_certificate_is_told_in_words_that_help() {
    let authority = tls_server("authority.pem", "authority.key");
    let url = format!("https://{authority}/mcp");
    let told = told(wrapped(&url).args(["--ca-file", &certificate("authority.pem")]));
    assert!(told.contains("self-signed") && told.contains("CA:FALSE"), "{told}");
    assert!(!told.contains("OtherError"), "{told}");

    let plain = tls_server("self-signed.pem", "server.key");
    let url = format!("https://{plain}/mcp");
    let opened = answer(wrapped(&url).args(["--ca-file", &certificate("self-signed.pem")]));
    assert!(opened["result"].is_object(), "{opened}");
}

#[test]
fn the_old_transport_is_called_by_its_name() {
    let (server, _) = server(|connection, head| {
        let response = if head.starts_with("GET") {
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
             event: endpoint\ndata: /messages?id=1\n\n"
        } else {
            "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\
             Connection: close\r\n\r\n<html>"
        };
        connection.write_all(response.as_bytes()).unwrap();
    });
    let url = format!("http://{server}/sse");
    let said = told(&mut wrapped(&url));
    assert!(said.contains("speaks the old HTTP+SSE transport"), "{said}");
    assert!(said.contains("Forebay speaks stdio and Streamable HTTP"), "{said}");
    assert!(!said.contains("<html>"), "{said}");

    let peer = serving_url(&url, &[]);
    let mut connection = peer.connect();
    let json = [("Content-Type", "application/json")];
    connection.send("POST", "/mcp", &json, INITIALIZE.as_bytes());
    assert_eq!(connection.head().status, 502);
    let answer = connection.json();
    assert!(answer["error"]["message"].as_str().unwrap().contains("old HTTP+SSE"), "{answer}");
}

#[test]
fn header_names_are_sent_as_the_specification_writes_them() {
    let (server, heads) = server(|connection, _| {
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").unwrap();
    });
    let _ = told(wrapped(&format!("http://{server}/mcp")).args(["--header", "x-api-key: k"]));
    let head = heads.recv().unwrap();
    for name in ["\r\nContent-Type: ", "\r\nAccept: ", "\r\nUser-Agent: ", "\r\nX-Api-Key: "] {
        assert!(head.contains(name), "{head}");
    }
}

/// A server that answers each request as it is told to, and hangs up: where it is, and the heads of the
/// requests.
fn server(
    mut respond: impl FnMut(&mut std::net::TcpStream, &str) + Send + 'static,
) -> (SocketAddr, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heads) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let head = read_request(&mut BufReader::new(connection.try_clone().unwrap()));
            respond(&mut connection, &head);
            let _ = sender.send(head);
        }
    });
    (address, heads)
}

/// A server with this certificate that opens a session, whoever asks.
fn tls_server(name: &str, key: &str) -> SocketAddr {
    let chain = vec![CertificateDer::from_pem_file(certificate(name)).unwrap()];
    let key = PrivateKeyDer::from_pem_file(certificate(key)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let session = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(session, connection.unwrap());
            // One that does not trust us hangs up.
            if stream.conn.complete_io(&mut stream.sock).is_err() {
                continue;
            }
            read_request(&mut BufReader::new(&mut stream));
            let body = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    address
}

/// Reads a request to its end; returns its head.
fn read_request(source: &mut impl BufRead) -> String {
    let (mut head, mut line) = (String::new(), String::new());
    while source.read_line(&mut line).unwrap_or(0) > 2 {
        head.push_str(&line);
        line.clear();
    }
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
    });
    let _ = source.read_exact(&mut vec![0; length.unwrap_or(0)]);
    head
}
