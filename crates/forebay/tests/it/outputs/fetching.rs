//! What is fetched is what was kept, with what HTTP says about it.

use std::{fs, path::Path, process::Command, time::Duration};

use forebay_store::{Durability, Retention, Store};

use super::{Kept, ask, kept, noise, now, path, sha256};

/// Fetches with `curl`, into a file; returns its status.
fn curl(url: &str, file: &Path, options: &[&str]) -> String {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--write-out", "%{http_code}", "--output"]);
    let output = command.arg(file).args(options).arg(url).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn compress(kept: &Kept) {
    let store = Store::open(kept.home.path(), Durability::default()).unwrap();
    let retention = Retention { compress_after: Some(Duration::ZERO), ..Retention::default() };
    store.collect_now(&retention, &mut |_, _| true).unwrap();
    let path = kept.dataset.path(0);
    assert_eq!(path.extension().unwrap(), "zst", "it is compressed");
}

#[test]
fn curl_fetches_the_exact_bytes_whole_and_in_parts() {
    let (random, text) = (noise(3_000_001), "Zeile ü\n".repeat(200_000));
    let kept = kept(&[("bin", &random), ("txt", text.as_bytes())]);
    let (peer, folder) = (kept.serve(&[]), tempfile::tempdir().unwrap());
    for block in [0, 1] {
        let url = format!("http://{}{}", peer.address(), kept.path(block));
        let file = folder.path().join("whole");
        assert_eq!(curl(&url, &file, &[]), "200");
        let original = sha256(&kept.dataset.path(block));
        assert_eq!((original.len(), &sha256(&file)), (64, &original));
        // As a download that was broken off goes on.
        let resumed = folder.path().join("resumed");
        assert_eq!(curl(&url, &resumed, &["--range", "0-99999"]), "206");
        assert_eq!(fs::metadata(&resumed).unwrap().len(), 100_000);
        assert_eq!(curl(&url, &resumed, &["--continue-at", "-"]), "206");
        assert_eq!(sha256(&resumed), original);
    }
}

#[test]
fn what_was_compressed_is_fetched_as_it_came_in_parts_too() {
    let text = "Zeile ü\n".repeat(200_000).into_bytes();
    let kept = kept(&[("txt", &text)]);
    compress(&kept);
    let peer = kept.serve(&[]);
    let (head, part) = ask(&peer, "GET", &kept.path(0), &[("Range", "bytes=1000000-1000099")]);
    assert_eq!((head.status, part.as_slice()), (206, &text[1_000_000..1_000_100]));
    let length = text.len();
    let range = format!("bytes 1000000-1000099/{length}");
    assert_eq!(head.header("content-range"), Some(range.as_str()));
    let (head, whole) = ask(&peer, "GET", &kept.path(0), &[]);
    assert_eq!(head.header("content-length"), Some(length.to_string().as_str()));
    assert_eq!(head.header("content-encoding"), None);
    assert!(whole == text);
}

#[test]
fn an_answer_says_what_it_is_and_lets_nothing_act() {
    let kept = kept(&[("svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"), ("parquet", b"PAR1")]);
    let peer = kept.serve(&[]);
    let (head, _) = ask(&peer, "GET", &kept.path(0), &[]);
    let expected = [
        ("content-type", "image/svg+xml"),
        ("content-length", "41"),
        ("accept-ranges", "bytes"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        ("cache-control", "private, no-cache"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in expected {
        assert_eq!(head.header(name), Some(value), "{name}");
    }
    assert!(head.header("content-disposition").unwrap().starts_with("inline; filename=\"dataset_"));
    let (rows, _) = ask(&peer, "GET", &kept.path(1), &[]);
    assert_eq!(rows.header("content-type"), Some("application/vnd.apache.parquet"));
    assert!(rows.header("content-disposition").unwrap().starts_with("attachment; "));
    // What is asked of it alone, and what has not changed.
    let (asked, _) = ask(&peer, "HEAD", &kept.path(0), &[]);
    assert_eq!(asked.status, 200);
    for name in ["content-type", "content-length", "etag", "content-security-policy"] {
        assert_eq!(asked.header(name), head.header(name), "{name}");
    }
    let tag = head.header("etag").unwrap();
    let (same, body) = ask(&peer, "GET", &kept.path(0), &[("If-None-Match", tag)]);
    assert_eq!((same.status, body.len(), same.header("etag")), (304, 0, Some(tag)));
    assert_ne!(rows.header("etag"), Some(tag));
}

#[test]
fn a_link_is_gone_after_its_time_and_says_what_to_do() {
    let kept = kept(&[("txt", b"short-lived")]);
    let peer = kept.serve(&[]);
    let expired = path(&kept.dataset, 0, now() - 1, &super::SECRET);
    let (head, body) = ask(&peer, "GET", &expired, &[]);
    let said = String::from_utf8(body).unwrap();
    assert_eq!(head.status, 410, "{said}");
    let id = kept.dataset.id().as_str();
    assert!(said.contains("read-saved-dataset") && said.contains(id), "{said}");
    assert_eq!(head.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(ask(&peer, "GET", &kept.path(0), &[]).0.status, 200);
}

#[test]
fn what_is_too_long_is_told_with_where_else_it_is() {
    let kept = kept(&[("txt", b"longer than ten bytes"), ("txt", b"not longer")]);
    let peer = kept.serve(&[("FOREBAY_OUTPUTS_MAX_BYTES", "10")]);
    let said = |headers: &[(&str, &str)]| {
        let (head, body) = ask(&peer, "GET", &kept.path(0), headers);
        assert_eq!(head.status, 413);
        String::from_utf8(body).unwrap()
    };
    let file = kept.dataset.path(0);
    let here = said(&[]);
    assert!(here.contains("21 bytes") && here.contains(file.to_str().unwrap()), "{here}");
    // Something on this machine has passed it on, for whoever.
    let elsewhere = said(&[("X-Forwarded-For", "192.0.2.1")]);
    let home = kept.home.path().to_str().unwrap();
    assert!(elsewhere.contains("forebay://dataset/") && !elsewhere.contains(home), "{elsewhere}");
    assert_eq!(ask(&peer, "GET", &kept.path(1), &[]).0.status, 200);
}

#[test]
fn damage_is_told_and_no_byte_of_it_is_sent() {
    let kept = kept(&[("txt", b"as it was kept")]);
    fs::write(kept.dataset.path(0), b"as it was not!").unwrap();
    let peer = kept.serve(&[]);
    let (head, body) = ask(&peer, "GET", &kept.path(0), &[]);
    assert_eq!(head.status, 500);
    let said = String::from_utf8(body).unwrap();
    let home = kept.home.path().to_str().unwrap();
    assert!(!said.contains("not!") && !said.contains(home), "{said}");
}
