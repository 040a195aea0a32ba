//! Without the token nothing is shown, and no page of another site can read or change anything.

use super::{Page, serving};

/// Every page, with a dataset's name in the place of ID.
const PAGES: [&str; 24] = [
    "/",
    "/now",
    "/now.json",
    "/now/calls",
    "/shelf",
    "/shelf.json",
    "/dataset/ID",
    "/dataset/ID.json",
    "/dataset/ID/rows",
    "/dataset/ID/rows.json",
    "/dataset/ID/fields",
    "/dataset/ID/sql",
    "/dataset/ID/original",
    "/dataset/ID/chart.svg?x=id",
    "/dataset/ID/export?form=csv",
    "/dataset/ID/file/0",
    "/dataset/ID/delete",
    "/savings",
    "/savings.json",
    "/servers",
    "/settings",
    "/settings.json",
    "/doctor",
    "/nothing-of-ours",
];

#[test]
fn without_the_token_nothing_is_shown() {
    let page = Page::of(&[("records", 50)]);
    let id = page.ids().remove(0);
    for path in PAGES {
        let path = path.replace("ID", &id);
        let answer = page.ask("GET", &path, &[], "");
        // The address that was asked for goes along with the token.
        let told = answer.text.replace(&path, "");
        let shows = told.contains("records") || told.contains(&id[8..]);
        if path == "/nothing-of-ours" {
            assert_eq!(answer.head.status, 404);
        } else {
            assert_eq!(answer.head.status, 401, "{path}");
            assert!(answer.text.contains("token"), "{path} says what to do: {}", answer.text);
        }
        assert!(!shows, "{path}: {}", answer.text);
        let wrong = [("Cookie", "forebay_1=00"), ("Authorization", "Bearer 00")];
        for header in wrong {
            assert!(page.ask("GET", &path, &[header], "").head.status >= 400, "{path}");
        }
    }
    for path in ["/shelf", &format!("/dataset/{id}/delete")] {
        assert_eq!(page.ask("POST", path, &[], "id=x&what=pin").head.status, 401, "{path}");
    }
    assert_eq!(page.ask("GET", "/?token=0123", &[], "").head.status, 401);
    assert_eq!(page.ids(), [id], "nothing has gone");
}

#[test]
fn with_the_token_every_page_is_shown_under_a_policy_that_runs_nothing() {
    let page = Page::of(&[("records", 50)]);
    let id = page.ids().remove(0);
    for path in PAGES.into_iter().filter(|path| *path != "/nothing-of-ours") {
        let answer = page.get(&path.replace("ID", &id));
        assert_eq!(answer.head.status, 200, "{path}: {}", answer.text);
        let policy = answer.head.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(
            !policy.contains("unsafe-eval") && !policy.contains("script-src 'unsafe"),
            "{policy}"
        );
        if answer.head.header("content-type").unwrap().starts_with("text/html") {
            assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        }
        assert_eq!(answer.head.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.head.header("cross-origin-resource-policy"), Some("same-origin"));
        assert!(!answer.text.contains("style=\"") && !answer.text.contains("onclick"), "{path}");
    }
    let bearer = format!("Bearer {}", page.token);
    let by_program = page.ask("GET", "/shelf.json", &[("Authorization", &bearer)], "");
    assert_eq!(by_program.head.status, 200);
}

#[test]
fn a_page_of_another_site_can_neither_read_nor_change() {
    let page = Page::of(&[("records", 50)]);
    let id = page.ids().remove(0);
    let cookie = page.cookie();
    let with = |method: &str, path: &str, header: (&str, &str)| {
        let headers = [("Cookie", cookie.as_str()), header];
        page.ask(method, path, &headers, "what=delete&confirmed=yes&tag=x").head.status
    };
    let act = format!("/dataset/{id}/delete");
    // The same name and another port is another program of this machine.
    let port = page.address.port();
    let near = format!("http://127.0.0.1:{}", if port == 1 { 2 } else { 1 });
    for origin in ["https://evil.example", "null", &near, "http://localhost", "file://"] {
        assert_eq!(with("POST", &act, ("Origin", origin)), 403, "{origin}");
        assert_eq!(with("GET", "/shelf.json", ("Origin", origin)), 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(with("POST", &act, ("Sec-Fetch-Site", site)), 403);
        assert_eq!(with("GET", "/shelf.json", ("Sec-Fetch-Site", site)), 403);
    }
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example"] {
        assert_eq!(with("GET", "/shelf", ("Host", host)), 403, "{host}");
    }
    assert_eq!(page.ids(), [id], "nothing has gone");
}

#[test]
fn what_is_got_changes_nothing() {
    let page = Page::of(&[("records", 50)]);
    let id = page.ids().remove(0);
    for act in ["pin", "unpin", "tag?tag=x", "untag?tag=x"] {
        assert_eq!(page.get(&format!("/dataset/{id}/{act}")).head.status, 404, "{act}");
    }
    for act in ["delete?confirmed=yes", "delete?what=delete"] {
        assert_eq!(page.get(&format!("/dataset/{id}/{act}")).head.status, 400, "{act}");
    }
    let many = page.get(&format!("/shelf?what=delete&confirmed=yes&id={id}"));
    assert_eq!(many.head.status, 400, "{}", many.text);
    let entry = page.store().list(&forebay_store::Filter::default()).unwrap().remove(0);
    assert!(!entry.is_pinned && entry.tags.iter().all(|tag| tag != "x"), "{entry:?}");
    for method in ["PUT", "DELETE", "PATCH"] {
        let answer = page.ask(method, "/shelf", &[("Cookie", &page.cookie())], "");
        assert_eq!(answer.head.status, 405, "{method}");
    }
}

#[test]
fn a_page_beside_an_endpoint_is_for_those_who_may() {
    let page = Page::of(&[("records", 50)]);
    // Where clients show no token, one is told at the start.
    let open = serving(page.home.path(), &[]);
    let told = open.stderr();
    forebay_testkit::peer::eventually("the page is told", || open.stderr().contains("/?token="));
    let told = if told.contains("/?token=") { told } else { open.stderr() };
    let (_, token) = told.split_once("/?token=").unwrap();
    let token = token.split_whitespace().next().unwrap();
    let get = |peer: &forebay_testkit::http::HttpPeer, path: &str, headers: &[(&str, &str)]| {
        let mut connection = peer.connect();
        let headers = [headers, &[("Connection", "close")]].concat();
        connection.send("GET", path, &headers, b"");
        connection.head().status
    };
    assert_eq!(get(&open, "/shelf", &[]), 401);
    assert_eq!(get(&open, "/shelf", &[("Authorization", &format!("Bearer {token}"))]), 200);
    assert_eq!(get(&open, "/mcp", &[]), 400, "the endpoint is where it was");
    // Where they do, it is theirs.
    let secret = "a token of sixteen letters".replace(' ', "-");
    let file = page.home.path().join("token.txt");
    std::fs::write(&file, &secret).unwrap();
    let closed = serving(page.home.path(), &["--token-file", file.to_str().unwrap()]);
    let bearer = format!("Bearer {secret}");
    assert_eq!(get(&closed, "/shelf", &[]), 401);
    assert_eq!(get(&closed, "/shelf", &[("Authorization", &bearer)]), 200);
    assert!(!closed.stderr().contains("token="), "{}", closed.stderr());
    let mut command = crate::forebay(["serve", "--listen", "127.0.0.1:0", "--"]);
    command.env("FOREBAY_HOME", page.home.path()).env("FOREBAY_PAGE_ENABLED", "false");
    command.arg(forebay_testkit::programs::fixture_upstream());
    let off = forebay_testkit::http::HttpPeer::start(&mut command);
    assert_eq!(get(&off, "/shelf", &[]), 404);
}

#[test]
fn the_address_with_the_token_leads_on_from_a_page_of_another_site() {
    let page = Page::of(&[("records", 50)]);
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
    let opened = page.ask("GET", &format!("/?token={}", page.token), &link, "");
    // A redirect would not be sent with the cookie that it sets.
    assert_eq!((opened.head.status, opened.head.header("location")), (200, None));
    assert!(opened.head.header("set-cookie").unwrap().contains("SameSite=Strict"));
    assert!(opened.text.contains("<meta http-equiv=\"refresh\" content=\"0; url=/\">"));
    let policy = opened.head.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}

#[test]
fn whoever_logs_in_comes_to_the_page_that_was_asked_for() {
    let page = Page::of(&[("records", 50)]);
    let refused = page.ask("GET", "/shelf?tool=records", &[], "");
    assert!(refused.text.contains("name=\"to\" value=\"/shelf?tool=records\""), "{}", refused.text);
    // A token that the page does not understand is not a part of it.
    let with_token = page.ask("GET", &format!("/shelf?token={}&tool=records", page.token), &[], "");
    assert_eq!(with_token.head.status, 401);
    assert!(with_token.text.contains("name=\"to\" value=\"/shelf?tool=records\""));
    assert!(!with_token.text.contains(&page.token), "{}", with_token.text);
    let login = |form: &str| {
        let origin = format!("http://{}", page.address);
        page.ask("POST", "/login", &[("Origin", &origin)], form)
    };
    let token = &page.token;
    let wrong = login("token=wrong&to=/shelf");
    assert!(wrong.head.status == 401 && wrong.text.contains("This is not the token"));
    assert!(wrong.text.contains("name=\"to\" value=\"/shelf\""), "{}", wrong.text);
    for (to, place) in [
        ("/shelf%3Ftool%3Drecords", "/shelf?tool=records"),
        ("https://evil.example", "/"),
        ("//evil.example", "/"),
        ("/%5Cevil.example", "/"),
        ("", "/"),
    ] {
        let answer = login(&format!("token={token}&to={to}"));
        assert_eq!((answer.head.status, answer.head.header("location")), (303, Some(place)));
    }
    // What the page asks for by itself has it load anew, and the gate is not put into its middle.
    let part = page.ask("GET", "/now/calls", &[("HX-Request", "true")], "");
    assert_eq!((part.head.status, part.head.header("hx-refresh")), (401, Some("true")));
}

#[test]
fn refusals_advise_what_there_is() {
    let page = Page::of(&[("records", 50)]);
    let refused = page.ask("GET", "/shelf", &[("Host", "evil.example")], "");
    assert!(refused.head.status == 403 && !refused.text.contains("--allow"), "{}", refused.text);
    let mut command = crate::forebay(["page", "--listen", "0.0.0.0:0"]);
    let said = command.env("FOREBAY_HOME", page.home.path()).output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("127.0.0.1") && !said.contains("--token-file"), "{said}");
    let twin = page.get("/nosuch.json");
    assert_eq!(twin.head.header("content-type"), Some("application/json"), "{}", twin.text);
}
