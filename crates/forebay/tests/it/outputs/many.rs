//! Many clients that fetch at once, and take nothing until all are being answered.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

use forebay_testkit::{http::HttpPeer, peer::PATIENCE};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{kept, noise};

/// So many connect before they wait for each other: the system turns away those that it has no place for.
const AT_A_TIME: usize = 100;

/// Takes all of an answer.
fn take(mut client: &TcpStream, bytes: usize) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&head));
    let mut answer = vec![0; bytes];
    client.read_exact(&mut answer).unwrap();
    answer
}

fn peak_kib(peer: &HttpPeer) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", peer.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// How much more memory the server takes at its peak when so many clients fetch a file of so many bytes.
fn growth_kib(clients: usize, length: usize) -> u64 {
    let granted = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: granted.maximum, ..granted }).unwrap();
    let bytes = noise(length);
    let kept = kept(&[("bin", &bytes)]);
    let peer = kept.serve(&[("FOREBAY_OUTPUTS_REQUESTS_PER_MINUTE", "0")]);
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", kept.path(0), peer.address());
    let connected = || {
        let mut client = TcpStream::connect(peer.address()).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        client
    };
    assert!(take(&connected(), length) == bytes);
    let before = peak_kib(&peer);
    let mut begun: Vec<TcpStream> = Vec::new();
    while begun.len() < clients {
        let few: Vec<TcpStream> = (0..AT_A_TIME).map(|_| connected()).collect();
        for client in &few {
            assert_eq!(client.peek(&mut [0]).unwrap(), 1, "it is being answered");
        }
        begun.extend(few);
    }
    for client in &begun {
        assert!(take(client, length) == bytes);
    }
    peak_kib(&peer) - before
}

#[test]
fn ten_thousand_fetches_at_once_take_little_memory() {
    // Longer files would use up what the system has for all connections.
    let growth = growth_kib(10_000, 40_000);
    assert!(growth < 300 * 1024, "{growth} KiB");
}

#[test]
fn a_file_is_in_memory_once_however_many_fetch_it() {
    // Nine hundred megabytes, of which the system takes a part.
    let growth = growth_kib(100, 9_000_000);
    assert!(growth < 32 * 1024, "{growth} KiB");
}
