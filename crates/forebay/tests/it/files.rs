//! Files in results, through the program as a whole: images, sounds, documents, and base64 wherever it is.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use forebay_store::{Dataset, Durability, Filter, Store};
use forebay_testkit::{peer::Peer, programs, real};
use serde_json::{Value, json};

use crate::{capture::newest, forebay, home};

/// `forebay wrap` in front of a server, with a store of its own.
struct Stage {
    home: PathBuf,
    peer: Peer,
    store: Store,
    asked: u32,
}

impl Stage {
    fn with(test: &str, server: &[String], settings: &[(&str, &str)]) -> Self {
        let home = home().join("files").join(test);
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        let mut command = forebay(["wrap", "--grace", "0.1", "--name", "fixture", "--"]);
        command.args(server).env("FOREBAY_HOME", &home);
        command.envs(settings.iter().copied());
        let peer = Peer::start(&mut command);
        let store = Store::open(&home, Durability::default()).unwrap();
        Self { home, peer, store, asked: 0 }
    }

    fn new(test: &str) -> Self {
        Self::with(test, &fixture(), &[])
    }

    fn open(&mut self, revision: &str) {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let line = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        assert!(self.peer.ask(&line.to_string()).contains("serverInfo"));
        self.peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// The line with the answer of a call.
    fn ask(&mut self, tool: &str, arguments: &Value) -> String {
        self.asked += 1;
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 5}});
        let call =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": "tools/call", "params": params});
        self.peer.send(&call.to_string());
        loop {
            let line = self.peer.next_line();
            if !line.contains("notifications/progress") {
                return line;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer: Value = serde_json::from_str(&self.ask(tool, arguments)).unwrap();
        answer["result"].clone()
    }

    /// What becomes of a result with this content.
    fn given(&mut self, content: &Value) -> Value {
        let file = self.home.join("members");
        fs::write(&file, format!(r#""content":{content}"#)).unwrap();
        self.call("members", &json!({ "path": file }))
    }

    fn told(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    fn cli(&self, arguments: &[&str]) -> String {
        let output = forebay(arguments).env("FOREBAY_HOME", &self.home).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn fixture() -> Vec<String> {
    vec![programs::fixture_upstream().display().to_string(), "--receives".to_owned()]
}

/// Bytes that begin as given, and go on without a pattern.
fn bytes(head: &[u8], length: usize) -> Vec<u8> {
    let mut state = 11_u32;
    let mut out = head.to_vec();
    while out.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        out.push(state.to_be_bytes()[0]);
    }
    out
}

const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x07\x80\0\0\x04\x38\x08\x02\0\0\0\x67\xb1\x56\x14";

/// What `base64` of this machine makes of bytes.
fn base64(options: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("base64");
    command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, &input));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success());
    output.stdout
}

fn encoded(bytes: &[u8]) -> String {
    String::from_utf8(base64(&["-w0"], bytes)).unwrap()
}

fn decoded(text: &str) -> Vec<u8> {
    base64(&["-d"], text.as_bytes())
}

fn restored(dataset: &Dataset) -> Value {
    let mut whole = Vec::new();
    forebay_intercept::restore(dataset, &mut whole).unwrap();
    serde_json::from_slice(&whole).unwrap()
}

fn file(dataset: &Dataset, block: usize) -> Vec<u8> {
    fs::read(dataset.path(block)).unwrap()
}

#[test]
fn an_image_that_server_filesystem_reads_is_a_link_and_kept_as_it_is() {
    let test = "an_image_that_server_filesystem_reads_is_a_link_and_kept_as_it_is";
    let Some(node) = real::node(test) else { return };
    let work = home().join("files/filesystem-work");
    fs::create_dir_all(&work).unwrap();
    let image = bytes(PNG, 2 << 20);
    fs::write(work.join("chart.png"), &image).unwrap();
    let server = [node.server("server-filesystem"), vec![work.display().to_string()]].concat();
    let mut stage = Stage::with("filesystem", &server, &[]);
    stage.open("2025-11-25");
    let reply = stage.ask("read_media_file", &json!({ "path": work.join("chart.png") }));
    assert!(reply.len() < 10_000, "{}", reply.len());
    let answer: Value = serde_json::from_str(&reply).unwrap();
    let dataset = newest(&stage.store);
    let link = &answer["result"]["content"][1];
    let uri = format!("forebay://dataset/{}?block=0", dataset.id());
    assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &json!(uri)), "{reply}");
    assert_eq!((&link["mimeType"], &link["size"]), (&json!("image/png"), &json!(2 << 20)));
    assert_eq!(link["description"], "1920 × 1080 pixels");
    assert!(reply.contains("structuredContent"), "{reply}");
    assert_eq!(reply.matches(&uri).count(), 3, "in the text and in structured content: {reply}");
    assert!(file(&dataset, 0) == image, "byte for byte");
    assert_eq!(dataset.payload_count(), 1, "what is said twice is kept once");
    let whole = restored(&dataset);
    assert!(whole["content"][0]["data"] == encoded(&image));
    assert!(whole["structuredContent"]["content"][0]["data"] == encoded(&image));
}

#[test]
fn two_images_and_many_records_fit_in_a_short_reply() {
    // In memory, and spooled.
    for (test, count) in [("flood", 2 << 20), ("flood-spooled", 14_000_000)] {
        let mut stage = Stage::new(test);
        let mut direct = Peer::start(&mut Command::new(programs::fixture_upstream()));
        let original: Value =
            serde_json::from_str(&direct.ask(&crate::call(1, "flood", count))).unwrap();
        stage.open("2025-11-25");
        let reply = stage.ask("flood", &json!({"count": count, "progress": 3}));
        assert!(reply.len() < 10_000, "{}", reply.len());
        let answer: Value = serde_json::from_str(&reply).unwrap();
        let blocks = answer["result"]["content"].as_array().unwrap();
        let kinds: Vec<&str> = blocks.iter().map(|it| it["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["resource_link", "text", "resource_link", "resource_link"], "{reply}");
        let dataset = newest(&stage.store);
        for (link, block) in [(&blocks[0], 0), (&blocks[3], 2)] {
            let data = original["result"]["content"][block]["data"].as_str().unwrap();
            let (address, kept) = link["uri"].as_str().unwrap().split_once("?block=").unwrap();
            assert!(address.ends_with(dataset.id().as_str()));
            let bytes = file(&dataset, kept.parse().unwrap());
            assert!(bytes == decoded(data), "byte for byte");
            assert_eq!(link["size"], bytes.len());
        }
        let text = original["result"]["content"][1]["text"].as_str().unwrap();
        assert!(file(&dataset, 0) == text.as_bytes());
        assert_eq!(blocks[2]["size"], text.len());
        assert!(restored(&dataset) == original["result"]);
        let id = dataset.id().as_str();
        let query = json!({ "query": format!("SELECT count(*) > 1000 AS many FROM {id}") });
        assert!(stage.told("analyze-with-duckdb", &query).contains("true"), "records are records");
    }
}

#[test]
fn a_file_is_told_of_and_not_paged_through() {
    let mut stage = Stage::new("reading");
    let pdf = bytes(b"%PDF-1.4\n<< /Type /Pages /Count 1 >><< /Type /Page >>", 100_000);
    let resource = json!({"uri": "file:///a/report.pdf", "mimeType": "application/pdf", "blob": encoded(&pdf)});
    let result = stage.given(&json!([{"type": "resource", "resource": resource}]));
    assert!(result.to_string().len() < 1_000, "{result}");
    let id = newest(&stage.store).id().as_str().to_owned();
    let read = |more: Value| {
        let mut arguments = json!({ "dataset_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    for more in [json!({}), json!({"block": 0}), json!({"lines": "1-5"}), json!({"grep": "PDF"})] {
        let result = stage.call("read-saved-dataset", &read(more));
        let told = result["content"].to_string();
        assert!(told.contains("report.pdf") && told.contains("1 page"), "{told}");
        assert!(told.contains("application/pdf") && told.contains("100000"), "{told}");
        assert!(told.contains(&format!("forebay://dataset/{id}?block=0")), "{told}");
        assert!(told.len() < 1_500, "{told}");
    }
    let range: Value =
        serde_json::from_str(&stage.told("read-saved-dataset", &read(json!({"bytes": "10-99"}))))
            .unwrap();
    assert!(decoded(range["base64"].as_str().unwrap()) == pdf[10..100], "{range}");
    let beginning = stage.told("read-saved-dataset", &read(json!({"bytes": "0-"})));
    assert!(beginning.len() < 40_000, "within the budget");
    let summary = stage.told("read-saved-dataset", &read(json!({"summary_only": true})));
    assert!(summary.contains("report.pdf"), "{summary}");
    assert!(stage.told("list-saved-datasets", &json!({})).contains(r#""files":["report.pdf"]"#));
    let query = json!({ "query": format!("SELECT * FROM {id}") });
    let refused = stage.call("analyze-with-duckdb", &query);
    assert_eq!(refused["isError"], true);
    let told = refused["content"][0]["text"].as_str().unwrap();
    assert!(told.contains("has no table: it is files (report.pdf)"), "{told}");
    let shown = stage.cli(&["datasets", "show", &id]);
    assert!(
        shown.contains("report.pdf (application/pdf, 100,000 bytes, 1 page), block 0"),
        "{shown}"
    );
    assert!(stage.cli(&["read", &id]).contains("report.pdf"));
    let some = stage.cli(&["read", &id, "--bytes", "0-7"]);
    assert_eq!(decoded(some.trim()), b"%PDF-1.4");
    let path = stage.cli(&["datasets", "path", &id, "--block", "0"]);
    assert!(fs::read(path.trim_end()).unwrap() == pdf);
    let original = stage.cli(&["datasets", "original", &id]);
    let original: Value = serde_json::from_str(&original).unwrap();
    assert!(original["content"][0]["resource"] == resource);
}

#[test]
fn the_history_of_a_tool_has_its_records_and_no_files() {
    let mut stage = Stage::new("history");
    let image =
        json!({"type": "image", "data": encoded(&bytes(PNG, 90_000)), "mimeType": "image/png"});
    let records: Vec<Value> =
        (0..3_000).map(|n| json!({"id": n, "name": format!("n {n}")})).collect();
    for _ in 0..3 {
        stage.given(&json!([image]));
        stage.given(&json!([{"type": "text", "text": json!(records).to_string()}, image]));
    }
    let query =
        json!({"query": "SELECT count(*) AS n, count(DISTINCT id) AS d FROM members_history"});
    let told = stage.told("analyze-with-duckdb", &query);
    assert!(told.contains("9000,3000"), "{told}");
}

#[test]
fn a_reference_to_a_file_gives_it_in_base64() {
    let mut stage = Stage::new("reference");
    let image = bytes(PNG, 90_000);
    stage.given(&json!([{"type": "image", "data": encoded(&image), "mimeType": "image/png"}]));
    let id = newest(&stage.store).id().as_str().to_owned();
    let reference = format!("forebay://dataset/{id}?block=0");
    let told = stage.told("receive", &json!({ "text": reference }));
    let hash = blake3::hash(encoded(&image).as_bytes()).to_hex();
    assert!(told.contains(&format!("text text 120000 {hash}")), "{told}");
}

#[test]
fn what_a_file_is_told_by_its_bytes() {
    let mut stage = Stage::new("kinds");
    let rate = 44_100_u32.to_le_bytes();
    let per_second = 176_400_u32.to_le_bytes();
    let format = [&[1, 0, 2, 0][..], &rate, &per_second, &[4, 0, 16, 0]].concat();
    let size = 564_480_u32.to_le_bytes();
    let head = [b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0", &format[..], b"data", &size].concat();
    let wav = bytes(&head, head.len() + 564_480);
    let image = bytes(PNG, 80_000);
    let url = format!("data:image/png;base64,{}", encoded(&image));
    let content = json!([
        {"type": "audio", "data": encoded(&wav), "mimeType": "audio/wav"},
        {"type": "image", "data": encoded(&image), "mimeType": "image/webp"},
        {"type": "text", "text": encoded(&bytes(PNG, 90_000))},
        {"type": "text", "text": url},
        {"type": "text", "text": "and a few words"},
    ]);
    let result = stage.given(&content);
    let blocks = result["content"].as_array().unwrap();
    let described: Vec<&Value> = blocks.iter().map(|block| &block["description"]).collect();
    assert_eq!(
        described,
        [
            &Value::Null,
            &json!("3.2 s of sound, 44,100 Hz, stereo"),
            &json!("1920 × 1080 pixels; declared as image/webp"),
            &json!("1920 × 1080 pixels"),
            // The same file as the second, which is declared as it is here.
            &json!("1920 × 1080 pixels"),
            &Value::Null,
        ],
        "{result}"
    );
    assert_eq!(blocks[2]["uri"], blocks[4]["uri"], "the same bytes are kept once");
    assert_eq!(blocks[5]["text"], "and a few words");
    let dataset = newest(&stage.store);
    assert_eq!(dataset.payload_count(), 3);
    assert!(restored(&dataset) == json!({ "content": content }));
}

#[test]
fn a_client_of_an_old_revision_gets_text() {
    let mut stage = Stage::new("old");
    stage.open("2024-11-05");
    let result = stage.call("flood", &json!({}));
    let kinds = result["content"].as_array().unwrap().iter().map(|block| &block["type"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["text", "text", "text"], "{result}");
    let told = result["content"][0]["text"].as_str().unwrap();
    let size = "2,097,150 bytes, 1920 × 1080 pixels) at forebay://dataset/";
    assert!(
        told.starts_with("File kept: image-1.png (image/png, ") && told.contains(size),
        "{told}"
    );
}

#[test]
fn many_files_are_gathered_and_few_may_be_shown() {
    let mut stage = Stage::with("many", &fixture(), &[("FOREBAY_FILES_GATHER_ABOVE", "20")]);
    let images = |count: usize| -> Value {
        let image = |n| json!({"type": "image", "data": encoded(&bytes(PNG, 66_000 + n)), "mimeType": "image/png"});
        (0..count).map(image).collect()
    };
    assert_eq!(stage.given(&images(20))["content"].as_array().unwrap().len(), 21);
    let result = stage.given(&images(25));
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 2, "{result}");
    let told = blocks[0]["text"].as_str().unwrap();
    assert!(told.starts_with("25 large files of this result were kept as dataset_"), "{told}");
    let table = stage.store.list(&Filter::default()).unwrap();
    let table = table.iter().find(|entry| entry.tool == "members_files").unwrap().id.clone();
    assert_eq!(blocks[1]["type"], "resource_link", "{result}");
    assert_eq!(blocks[1]["uri"], format!("forebay://dataset/{table}?block=0"));
    assert!(result.to_string().len() < 10_000);
    let query = json!({"query": "SELECT count(*) AS n, sum(size) AS s FROM members_files WHERE mimeType = 'image/png'"});
    let counted = stage.told("analyze-with-duckdb", &query);
    assert!(counted.contains(&format!("25,{}", 66_000 * 25 + 300)), "{counted}");
    let entries = stage.store.list(&Filter::default()).unwrap();
    assert_eq!(entries.len(), 3);
    let files = stage.store.dataset(&table).unwrap().facts().made_from[0].clone();
    let refused = stage.told("analyze-with-duckdb", &json!({"query": format!("FROM {files}")}));
    let named = format!("and 22 more). The table {table} lists them.");
    assert!(refused.contains(&named), "{refused}");
}

#[test]
fn a_table_of_files_is_no_result_and_base64_in_a_text_has_tokens() {
    let mut stage = Stage::new("counted");
    let image = |n: usize| json!({"type": "image", "data": encoded(&bytes(PNG, 66_000 + n)), "mimeType": "image/png"});
    stage.given(&(0..12).map(image).collect());
    stage.given(&json!([image(20)]));
    let total = |stage: &Stage| -> Value {
        let stats: Value = serde_json::from_str(&stage.cli(&["stats", "--json"])).unwrap();
        stats["total"].clone()
    };
    stage.given(&json!([{"type": "text", "text": encoded(&bytes(PNG, 90_000))}]));
    stage.peer.close_input();
    stage.peer.wait();
    let counted = total(&stage);
    assert_eq!((&counted["results"], &counted["captured"]), (&json!(3), &json!(3)), "{counted}");
    // A token of base64 has one to three letters; the images have none.
    let tokens = counted["tokens_kept_out"].as_u64().unwrap();
    assert!((40_000..120_000).contains(&tokens), "{counted}");
}

#[test]
fn what_a_program_is_given_as_json_keeps_its_form() {
    let mut stage = Stage::new("mirrored");
    let image = bytes(PNG, 120_000);
    let page = |png: &str| json!({"title": "Home page", "width": 200, "png": png});
    let file = stage.home.join("members");
    let [text, structured] =
        [page(&encoded(&image)).to_string(), page(&encoded(&image)).to_string()];
    let content = json!([{"type": "text", "text": text}]);
    fs::write(&file, format!(r#""content":{content},"structuredContent":{structured}"#)).unwrap();
    let result = stage.call("members", &json!({ "path": file }));
    let dataset = newest(&stage.store);
    let uri = format!("forebay://dataset/{}?block=0", dataset.id());
    assert_eq!(result["structuredContent"], page(&uri));
    let told: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(told, page(&uri));
    assert_eq!(result["content"][2]["uri"], uri);
    assert!(self::file(&dataset, 0) == image, "byte for byte");
    assert_eq!(dataset.payload_count(), 1);
}

#[test]
fn excluded_tools_and_failures_keep_their_files() {
    let settings = [("FOREBAY_EXCLUDED_TOOLS", "members"), ("FOREBAY_FILES_MAX_BYTES", "2000")];
    let mut stage = Stage::with("excluded", &fixture(), &settings);
    let content =
        json!([{"type": "image", "data": encoded(&bytes(PNG, 90_000)), "mimeType": "image/png"}]);
    assert!(stage.given(&content)["content"] == content);
    assert!(stage.store.list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn an_image_is_shown_smaller_where_that_is_wished() {
    let settings = [("FOREBAY_FILES_SHOW_IMAGES_UP_TO", "5000")];
    let mut stage = Stage::with("shown", &fixture(), &settings);
    let content = json!([
        {"type": "image", "data": encoded(&gray_png(255)), "mimeType": "image/png"},
        {"type": "image", "data": encoded(&bytes(PNG, 90_000)), "mimeType": "image/png"},
    ]);
    let result = stage.given(&content);
    let blocks = result["content"].as_array().unwrap();
    let kinds: Vec<&Value> = blocks.iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "resource_link", "image", "resource_link"], "{result}");
    assert_eq!(blocks[1]["description"], "255 × 256 pixels");
    let shown = decoded(blocks[2]["data"].as_str().unwrap());
    assert!(shown.starts_with(b"\xff\xd8\xff") && shown.len() > 300, "a JPEG");
    assert!(blocks[2]["data"].as_str().unwrap().len() <= 5_000);
    assert!(restored(&newest(&stage.store)) == json!({ "content": content }));
}

/// A whole PNG of 256 rows without a pattern, not compressed.
fn gray_png(width: u8) -> Vec<u8> {
    let rows: Vec<u8> = bytes(b"", 256 * usize::from(width)).chunks(usize::from(width)).fold(
        Vec::new(),
        |mut rows, row| {
            rows.push(0);
            rows.extend_from_slice(row);
            rows
        },
    );
    let mut data = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = rows.chunks(60_000).collect();
    for (index, block) in blocks.iter().enumerate() {
        let length = u16::try_from(block.len()).unwrap();
        data.push(u8::from(index + 1 == blocks.len()));
        data.extend_from_slice(&length.to_le_bytes());
        data.extend_from_slice(&(!length).to_le_bytes());
        data.extend_from_slice(block);
    }
    let (low, high) = rows.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    data.extend_from_slice(&(high << 16 | low).to_be_bytes());
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let sum = body.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 }
            })
        });
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], &body, &(!sum).to_be_bytes()].concat()
    };
    let header = [0, 0, 0, width, 0, 0, 1, 0, 8, 0, 0, 0, 0];
    let chunks = [chunk(b"IHDR", &header), chunk(b"IDAT", &data), chunk(b"IEND", b"")].concat();
    [b"\x89PNG\r\n\x1a\n", &chunks[..]].concat()
}
