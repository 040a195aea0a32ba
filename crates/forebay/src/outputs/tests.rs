//! Links in, answers out: a store and no socket.

use std::{io::Write, net::Ipv4Addr, path::Path};

use forebay_store::{Description, Durability, Retention, facts::File};
use http::StatusCode;
use tempfile::TempDir;

use super::*;

const NOW: u64 = 1_800_000_000;
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A store with one dataset of two payloads, the second of which is a picture with a name.
struct Offered {
    home: TempDir,
    outputs: Outputs,
    dataset: Dataset,
}

fn offered() -> Offered {
    let home = tempfile::tempdir().unwrap();
    let outputs = outputs(home.path(), |_| ());
    let store = outputs.shelf.store().unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(b"0123456789").unwrap();
    capture.start_part("bin").unwrap().write_all(b"a picture").unwrap();
    let (name, media_type) = ("Größe.png".to_owned(), "image/png".to_owned());
    let mut description = Description::default();
    description.facts.files = vec![File { block: 1, description: None, media_type, name }];
    let dataset = capture.commit(description).unwrap();
    outputs.listen_on("127.0.0.1:8484".parse().unwrap());
    Offered { home, outputs, dataset }
}

fn outputs(home: &Path, change: impl FnOnce(&mut Config)) -> Outputs {
    let variables = vec![("FOREBAY_HOME".into(), home.into())];
    let sources = crate::config::Sources { variables, ..crate::config::Sources::default() };
    let (mut config, _) = Config::load(&sources).unwrap();
    change(&mut config);
    let shelf = Shelf::new(home, Durability::default(), Retention::default());
    Outputs::new(&config, Arc::new(shelf))
}

impl Offered {
    fn url(&self, block: usize) -> String {
        let artifact = self.dataset.artifact(block).unwrap();
        self.outputs.url_at(&self.dataset, &artifact, NOW).unwrap()
    }

    fn get(&self, block: usize, headers: &[(&str, &str)]) -> Response<Bytes> {
        ask(&self.outputs, "GET", &self.url(block), headers, NOW)
    }
}

fn ask(
    outputs: &Outputs,
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    now: u64,
) -> Response<Bytes> {
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    outputs.answer_at(&request.body(()).unwrap(), HERE, now, Instant::now())
}

fn header<'a>(answer: &'a Response<Bytes>, name: &str) -> &'a str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[test]
fn a_payload_is_fetched_by_its_url_and_has_one_for_a_while() {
    let offered = offered();
    let url = offered.url(1);
    assert!(url.starts_with(&format!("http://127.0.0.1:8484/outputs/{}.1/", offered.dataset.id())));
    let answer = offered.get(1, &[]);
    assert_eq!((answer.status(), answer.body().as_ref()), (StatusCode::OK, &b"a picture"[..]));
    assert_eq!(header(&answer, "content-type"), "image/png");
    assert_eq!(header(&answer, "content-length"), "9");
    let name = "inline; filename=\"Gr__e.png\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.png";
    assert_eq!(header(&answer, "content-disposition"), name);
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    assert!(header(&answer, "content-security-policy").starts_with("sandbox; default-src 'none'"));
    assert_eq!(header(&offered.get(0, &[]), "content-type"), "text/plain; charset=utf-8");
    let artifact = offered.dataset.artifact(1).unwrap();
    let later = |seconds| offered.outputs.url_at(&offered.dataset, &artifact, NOW + seconds);
    assert_eq!(later(1), later(900));
    assert_ne!(later(1), later(901));
}

#[test]
fn a_link_is_good_for_its_time_and_then_gone() {
    let offered = offered();
    let at = |now| ask(&offered.outputs, "GET", &offered.url(0), &[], now);
    assert_eq!(at(NOW + 3_599).status(), StatusCode::OK);
    let gone = at(NOW + 3_600);
    assert_eq!(gone.status(), StatusCode::GONE);
    let said = String::from_utf8(gone.body().to_vec()).unwrap();
    let id = offered.dataset.id();
    assert!(said.contains("2027-01-15T09:00:00Z") && said.contains(id.as_str()), "{said}");
    // What was never signed is not told to have been.
    let forged = offered.url(0).replace("/outputs/", "/outputs/x");
    assert_eq!(ask(&offered.outputs, "GET", &forged, &[], NOW + 3_600).status(), 404);
}

#[test]
fn a_link_that_is_given_within_a_second_is_good_for_all_of_its_time() {
    let offered = offered();
    let (given, lifetime) = (Duration::from_millis(NOW * 1_000 + 900), offered.outputs.lifetime());
    let artifact = offered.dataset.artifact(0).unwrap();
    let url = offered.outputs.url_at(&offered.dataset, &artifact, whole_seconds(given)).unwrap();
    let last = (given + lifetime).as_secs();
    assert_eq!(ask(&offered.outputs, "GET", &url, &[], last).status(), StatusCode::OK);
}

#[test]
fn parts_tags_and_heads_are_as_the_standard_says() {
    let offered = offered();
    let whole = offered.get(0, &[]);
    let tag = header(&whole, "etag").to_owned();
    let part = |range: &str| offered.get(0, &[("range", range)]);
    let cases = [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("bytes=10-", 416, "the file has 10 bytes\n", "bytes */10"),
    ];
    for (range, status, body, content_range) in cases {
        let answer = part(range);
        assert_eq!(answer.status(), status, "{range}");
        assert_eq!(answer.body(), body, "{range}");
        assert_eq!(header(&answer, "content-range"), content_range, "{range}");
    }
    let status = |headers: &[(&str, &str)]| offered.get(0, headers).status().as_u16();
    let range = ("range", "bytes=2-4");
    assert_eq!(status(&[range, ("if-range", &tag)]), 206);
    assert_eq!(status(&[range, ("if-range", "\"another\"")]), 200);
    assert_eq!(status(&[range, ("if-range", "Wed, 21 Oct 2015 07:28:00 GMT")]), 200);
    for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
        let answer = offered.get(0, &[("if-none-match", &known)]);
        assert_eq!((answer.status().as_u16(), answer.body().len()), (304, 0), "{known}");
        assert_eq!(header(&answer, "etag"), tag);
    }
    assert_eq!(status(&[("if-none-match", "\"another\"")]), 200);
    let head = ask(&offered.outputs, "HEAD", &offered.url(0), &[range], NOW);
    assert_eq!((head.status().as_u16(), head.body().len()), (200, 0));
    assert_eq!(header(&head, "content-length"), "10");
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = ask(&offered.outputs, method, &offered.url(0), &[], NOW);
        assert_eq!((answer.status().as_u16(), header(&answer, "allow")), (405, "GET, HEAD"));
    }
}

#[test]
fn what_is_too_long_has_no_url_and_says_where_it_is_to_those_who_are_here() {
    let offered = offered();
    let url = offered.url(0);
    let small = |change: fn(&mut Config)| {
        let outputs = outputs(offered.home.path(), |config| {
            config.outputs.max_bytes = 9;
            change(config);
        });
        outputs.listen_on("127.0.0.1:1".parse().unwrap());
        outputs
    };
    let said = |outputs: &Outputs, headers: &[(&str, &str)], client: &str| {
        let mut request = Request::builder().uri(&url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let client = client.parse().unwrap();
        let request = request.body(()).unwrap();
        let answer = outputs.answer_at(&request, client, NOW, Instant::now());
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
        String::from_utf8(answer.body().to_vec()).unwrap()
    };
    let here = small(|_| ());
    let path = offered.dataset.path(0);
    let path = path.to_str().unwrap();
    assert!(said(&here, &[], "127.0.0.1").contains(path));
    let address = format!("forebay://dataset/{}?block=0", offered.dataset.id());
    let elsewhere = small(|config| config.policy.clients = Clients::Elsewhere);
    for told in [
        said(&here, &[], "192.0.2.1"),
        said(&here, &[("x-forwarded-for", "192.0.2.1")], "127.0.0.1"),
        said(&elsewhere, &[], "127.0.0.1"),
    ] {
        assert!(told.contains(&address) && !told.contains(path), "{told}");
    }
    let (long, short) =
        (offered.dataset.artifact(0).unwrap(), offered.dataset.artifact(1).unwrap());
    assert_eq!(here.url_at(&offered.dataset, &long, NOW), None);
    assert!(here.url_at(&offered.dataset, &short, NOW).is_some());
}

#[test]
fn what_was_removed_is_not_told_from_what_never_was_and_damage_is_told_apart() {
    let offered = offered();
    let (whole, picture) = (offered.url(0), offered.url(1));
    let forged = ask(&offered.outputs, "GET", "http://h/outputs/x/y", &[], NOW);
    std::fs::write(offered.dataset.path(1), b"a pictura").unwrap();
    let damaged = ask(&offered.outputs, "GET", &picture, &[], NOW);
    assert_eq!(damaged.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!damaged.body().windows(7).any(|bytes| bytes == b"pictura"));
    offered.outputs.shelf.store().unwrap().remove(offered.dataset.id()).unwrap();
    let removed = ask(&offered.outputs, "GET", &whole, &[], NOW);
    assert_eq!(removed.status(), StatusCode::NOT_FOUND);
    assert_eq!((removed.body(), removed.headers()), (forged.body(), forged.headers()));
}

#[test]
fn urls_begin_with_what_leads_here() {
    let home = tempfile::tempdir().unwrap();
    let begins = |address: &str, base: Option<&str>| {
        let outputs = outputs(home.path(), |_| ());
        if let Some(base) = base {
            outputs.answer_to(base);
        }
        outputs.listen_on(address.parse().unwrap()).then(|| outputs.base.get().unwrap().clone())
    };
    assert_eq!(begins("127.0.0.1:80", None).unwrap(), "http://127.0.0.1:80");
    assert_eq!(begins("[::1]:80", None).unwrap(), "http://[::1]:80");
    assert_eq!(begins("0.0.0.0:80", None), None);
    assert_eq!(begins("[::]:80", None), None);
    let base = Some("https://forebay.example.com/kept/");
    assert_eq!(begins("0.0.0.0:80", base).unwrap(), "https://forebay.example.com/kept");
}
