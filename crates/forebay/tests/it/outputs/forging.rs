//! Without a URL that was given, nothing is found: not by forging one, nor by a path that leads elsewhere.

use std::fs;

use forebay_testkit::http::{Head, HttpPeer};

use super::{HOUR, Kept, SECRET, ask, keep, kept, key, name, now, path};

const NOTHING: &str = "there is nothing here\n";

/// All answers for what is not there are alike, but for the time.
fn is_nothing(peer: &HttpPeer, path: &str) {
    let (head, body) = ask(peer, "GET", path, &[]);
    let body = String::from_utf8_lossy(&body);
    assert_eq!((head.status, &*body), (404, NOTHING), "{path}");
}

fn told(head: &Head) -> Vec<(String, String)> {
    head.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("date")).cloned().collect()
}

/// A payload that can be fetched, with its id and its key.
fn offered() -> (Kept, HttpPeer, String, String) {
    let kept = kept(&[("txt", b"the first"), ("txt", b"the second")]);
    let peer = kept.serve(&[("FOREBAY_OUTPUTS_REQUESTS_PER_MINUTE", "0")]);
    let path = kept.path(0);
    assert_eq!(ask(&peer, "GET", &path, &[]).0.status, 200, "else all of this shows nothing");
    let (id, key) = path.strip_prefix("/outputs/").unwrap().split_once('/').unwrap();
    let (id, key) = (id.to_owned(), key.to_owned());
    (kept, peer, id, key)
}

#[test]
fn forged_signatures_find_nothing() {
    let (_kept, peer, id, key) = offered();
    for at in [0, 1, 6, 7, 8, 14, 20, 26, 27] {
        let mut forged: Vec<u8> = key.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        is_nothing(&peer, &format!("/outputs/{id}/{}", String::from_utf8(forged).unwrap()));
    }
    is_nothing(&peer, &format!("/outputs/{id}/{}", "A".repeat(28)));
    is_nothing(&peer, &format!("/outputs/{id}/{}", "_".repeat(28)));
    is_nothing(&peer, &format!("/outputs/{id}/{}", key.to_lowercase()));
}

#[test]
fn truncated_and_lengthened_signatures_find_nothing() {
    let (_kept, peer, id, key) = offered();
    for length in [0, 1, 4, 7, 8, 20, 24, 27] {
        is_nothing(&peer, &format!("/outputs/{id}/{}", &key[..length]));
    }
    for added in ["A", "AAAA", "=", "==", "%3D", ".", "/", "/A", ";a", "%00"] {
        is_nothing(&peer, &format!("/outputs/{id}/{key}{added}"));
    }
}

#[test]
fn signatures_of_another_home_dataset_payload_or_time_find_nothing() {
    let (kept, peer, id, good) = offered();
    let until = now() + HOUR;
    is_nothing(
        &peer,
        &path(
            &kept.dataset,
            0,
            until,
            b"the secret that another home may have".first_chunk().unwrap(),
        ),
    );
    let other = keep(kept.home.path(), &[("txt", b"another dataset")]);
    assert_eq!(ask(&peer, "GET", &path(&other, 0, until, &SECRET), &[]).0.status, 200);
    is_nothing(&peer, &format!("/outputs/{}/{good}", other.id()));
    is_nothing(&peer, &format!("/outputs/{}/{good}", name(&kept.dataset, 1)));
    let second = key(&id, 1, until, &SECRET);
    assert_eq!(ask(&peer, "GET", &format!("/outputs/{id}.1/{second}"), &[]).0.status, 200);
    is_nothing(&peer, &format!("/outputs/{id}/{second}"));
    // An expired link whose time was set anew, and a good one whose time was set back: the hash is of
    // the time that was signed.
    let expired = key(&id, 0, now() - 1, &SECRET);
    is_nothing(&peer, &format!("/outputs/{id}/{}{}", &good[..6], &expired[6..]));
    is_nothing(&peer, &format!("/outputs/{id}/{}{}", &expired[..6], &good[6..]));
    // Of payloads that are not there, and of what stands between payloads.
    for block in [2, 3, 1 << 20, usize::MAX] {
        is_nothing(&peer, &path(&kept.dataset, block, until, &SECRET));
    }
}

#[test]
fn what_was_removed_looks_as_if_it_had_never_been() {
    let (kept, peer, id, key) = offered();
    let (forged, _) = ask(&peer, "GET", &format!("/outputs/{id}/{}", "A".repeat(28)), &[]);
    let store = forebay_store::Store::open(kept.home.path(), forebay_store::Durability::default());
    assert!(store.unwrap().remove(kept.dataset.id()).unwrap());
    let path = format!("/outputs/{id}/{key}");
    is_nothing(&peer, &path);
    assert_eq!(told(&ask(&peer, "GET", &path, &[]).0), told(&forged));
}

#[test]
fn no_part_of_a_path_leads_elsewhere() {
    let (kept, peer, id, key) = offered();
    fs::write(kept.home.path().join("secret.txt"), "not an output").unwrap();
    let absolute = kept.home.path().join("outputs.key");
    let absolute = absolute.to_str().unwrap();
    let ways = [
        "..",
        ".",
        "%2e%2e",
        "%2E%2E",
        "..%2f",
        "%2e%2e%2f",
        "..%2foutputs.key",
        "..%5c",
        "..\\",
        "%252e%252e%252f",
        "..%252f..%252f",
        "%c0%ae%c0%ae",
        "%00",
        "outputs.key%00.txt",
        "....//",
        "..;",
        "%2f",
        "//",
        "*",
        "~",
        "outputs.key",
        "../outputs.key",
        "../../outputs.key",
        absolute,
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "C:%5cx",
        "file:%2f%2f%2fetc",
    ];
    for way in ways {
        for path in [
            format!("/outputs/{way}"),
            format!("/outputs/{way}/{key}"),
            format!("/outputs/{id}/{way}"),
            format!("/outputs/{way}/{id}/{key}"),
            format!("/outputs/{id}/{way}/{key}"),
            format!("/outputs/{id}/{key}/{way}"),
            format!("/outputs/{id}.{way}/{key}"),
            format!("/outputs/{id}{way}/{key}"),
        ] {
            let (head, body) = ask(&peer, "GET", &path, &[]);
            let said = String::from_utf8_lossy(&body);
            // What is no request target at all is not read as a path.
            assert!(matches!(head.status, 400 | 404), "{path}: {}", head.status);
            assert!(!said.contains("not an output") && !said.contains("root:"), "{path}");
        }
    }
    for path in [
        "/outputs",
        "/outputs/",
        "/outputs//",
        &format!("/outputs/{id}"),
        &format!("/outputs/{id}/"),
    ] {
        is_nothing(&peer, path);
    }
    // Nor is it found under another path.
    for path in [
        format!("/outputs/../outputs/{id}/{key}"),
        format!("//outputs/{id}/{key}"),
        format!("/OUTPUTS/{id}/{key}"),
        format!("/%6futputs/{id}/{key}"),
    ] {
        assert_eq!(ask(&peer, "GET", &path, &[]).0.status, 404, "{path}");
    }
}

#[test]
fn a_client_that_asks_too_often_has_to_wait() {
    let kept = kept(&[("txt", b"asked for too often")]);
    let peer = kept.serve(&[("FOREBAY_OUTPUTS_REQUESTS_PER_MINUTE", "6")]);
    assert_eq!(ask(&peer, "GET", &kept.path(0), &[]).0.status, 200);
    let (head, body) = ask(&peer, "GET", &kept.path(0), &[]);
    assert_eq!(head.status, 429);
    let seconds: u64 = head.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    assert!(String::from_utf8(body).unwrap().contains(&format!("{seconds} s")));
    // Guesses are counted, too; what is no output is not.
    assert_eq!(ask(&peer, "GET", "/outputs/x/y", &[]).0.status, 429);
    assert_eq!(ask(&peer, "GET", "/healthz", &[]).0.status, 200);
}

#[test]
fn a_name_that_is_not_ours_or_a_page_of_another_origin_is_turned_away() {
    let (_kept, peer, id, key) = offered();
    let path = format!("/outputs/{id}/{key}");
    let mut rebound = peer.connect();
    rebound.send_bytes(format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n").as_bytes());
    assert_eq!(rebound.head().status, 403);
    let of = |origin| ask(&peer, "GET", &path, &[("Origin", origin)]).0;
    assert_eq!(of("https://evil.example").status, 403);
    let own = of("http://localhost:3000");
    assert_eq!(own.status, 200);
    assert_eq!(own.header("access-control-allow-origin"), Some("http://localhost:3000"));
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let (head, _) = ask(&peer, method, &path, &[]);
        assert_eq!((head.status, head.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
}
