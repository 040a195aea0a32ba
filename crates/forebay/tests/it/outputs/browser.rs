//! What was kept, in a real browser: it is shown, and nothing in it acts.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use forebay_testkit::real;

use super::kept;

/// A plain server of pages, without anything that would hold them back, that knows what it was asked for.
struct Witness {
    address: SocketAddr,
    asked: Arc<Mutex<BTreeSet<String>>>,
}

/// A page, and what it is sent as.
type Page = (&'static str, String);

impl Witness {
    fn start(pages: impl Fn(SocketAddr) -> Vec<(&'static str, Page)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (pages, asked) = (Arc::new(pages(address)), Arc::default());
        let witness = Self { address, asked: Arc::clone(&asked) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, asked) = (Arc::clone(&pages), Arc::clone(&asked));
                thread::spawn(move || answer(&stream, &pages, &asked));
            }
        });
        witness
    }

    /// What was asked for, but for the pages themselves.
    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn answer(mut stream: &TcpStream, pages: &[(&str, Page)], asked: &Mutex<BTreeSet<String>>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    // A browser does not like to be answered before it has said all.
    let _ = lines.find(String::is_empty);
    let page = pages.iter().find(|(name, _)| *name == path);
    if let Some(way) = path.strip_prefix("/acted/") {
        asked.lock().unwrap().insert(way.to_owned());
    }
    let (kind, text) = page.map_or(("text/plain", ""), |(_, (kind, text))| (*kind, text.as_str()));
    let length = text.len();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    );
}

/// A page that tries what pages can: in each way it would ask the witness for something.
fn hostile_page(witness: SocketAddr) -> String {
    let acted = format!("http://{witness}/acted");
    format!(
        "<!doctype html><title>t</title><style>@import url({acted}/style);</style>\
         <link rel=stylesheet href='{acted}/link'>\
         <body style='background:green' onload=\"new Image().src='{acted}/handler'\">\
         <div style='display:none'><img src='{acted}/image'><iframe src='{acted}/frame'></iframe>\
         <form action='{acted}/form'></form></div>\
         <script>document.body.style.background='red';new Image().src='{acted}/script';\
         fetch('{acted}/fetch',{{mode:'no-cors'}});document.forms[0].submit()</script></body>"
    )
}

fn harmless_page() -> String {
    "<!doctype html><title>t</title><body style='background:green'></body>".to_owned()
}

fn drawing(inside: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='600'>\
         <rect id='r' width='800' height='600' fill='green'/>{inside}</svg>"
    )
}

fn hostile_drawing(witness: SocketAddr) -> String {
    let acted = format!("http://{witness}/acted");
    drawing(&format!(
        "<image href='{acted}/image' width='1' height='1' opacity='0'/>\
         <script>document.getElementById('r').setAttribute('fill','red');\
         new Image().src='{acted}/script';fetch('{acted}/fetch',{{mode:'no-cors'}})</script>"
    ))
}

/// Opens a page as a person would, and gives what is seen of it.
fn picture(chromium: &Path, url: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("picture.png");
    let mut command = Command::new(chromium);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--hide-scrollbars", "--window-size=400,300"])
        // Pages have so much of their own time to act.
        .arg("--virtual-time-budget=2000")
        .arg(format!("--user-data-dir={}", folder.path().display()))
        .arg(format!("--screenshot={}", file.display()))
        .arg(url)
        .env("HOME", folder.path())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    fs::read(file).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn a_page_or_a_drawing_with_scripts_is_shown_and_does_nothing() {
    let test = "a_page_or_a_drawing_with_scripts_is_shown_and_does_nothing";
    let Some(chromium) = real::chromium(test) else { return };
    let (page, svg) = ("text/html", "image/svg+xml");
    let witness = Witness::start(|address| {
        vec![
            ("/hostile.html", (page, hostile_page(address))),
            ("/harmless.html", (page, harmless_page())),
            ("/hostile.svg", (svg, hostile_drawing(address))),
            ("/harmless.svg", (svg, drawing(""))),
        ]
    });
    let kept = kept(&[
        ("html", hostile_page(witness.address).as_bytes()),
        ("svg", hostile_drawing(witness.address).as_bytes()),
    ]);
    let peer = kept.serve(&[]);
    for (block, ending) in [(0, "html"), (1, "svg")] {
        let plain = |name: &str| format!("http://{}/{name}.{ending}", witness.address);
        let harmless = picture(chromium, &plain("harmless"));
        assert_eq!(witness.take(), BTreeSet::new());
        // The same bytes from a plain server: there they act, so this test would see it.
        let hostile = picture(chromium, &plain("hostile"));
        let acted = witness.take();
        assert!(acted.contains("script") && acted.contains("image"), "{ending}: {acted:?}");
        assert!(hostile != harmless, "{ending}");
        let url = format!("http://{}{}", peer.address(), kept.path(block));
        let fetched = picture(chromium, &url);
        assert_eq!(witness.take(), BTreeSet::new(), "{ending}");
        assert!(fetched == harmless, "{ending}: it is shown, as if it held nothing that acts");
    }
}
