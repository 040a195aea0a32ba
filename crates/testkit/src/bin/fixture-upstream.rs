//! A small MCP server for benchmarks and faults: it answers as fast as pipes allow and misbehaves
//! when a call asks for it. Tools, by name, with `count` as their argument:
//!
//! - `echo`: the parameters as they came, as text
//! - `bytes`: a result of about `count` bytes, escaped JSON records as servers send them
//! - `records`: a result of `count` records that differ, made once and sent as fast as it goes
//! - `results`, `csv`, `log`, `prose`: a result of about `count` bytes in that form
//! - `file`: the text of the file that `path` names
//! - `pid`: our process id; `environment`: the variable FIXTURE
//! - `hang`: no answer; `exit`: ends with the code `count`; `spawn`: starts a process that holds our
//!   output open, and gives its id; `close-output`, `close-input`: closes only that
//!
//! A message too long for the buffer is answered with its length. `--stay` ignores the end of input.

use std::{
    env,
    fs::{self, File},
    io::{self, Read, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    process::{Command, Stdio, exit},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use forebay_wire::{
    Envelope, Id, Kind, Line,
    envelope::LineScanner,
    framing::{LineBuffer, Piece, lines},
    reply, scan,
};

const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"bytes","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}},{"name":"records","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}"#;

fn main() -> io::Result<()> {
    // Plain files: the standard handles buffer, and look for line ends in all they write.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = LineBuffer::new(1 << 16);
    loop {
        for line in lines(buffer.complete()) {
            for envelope in Line::of(line).messages() {
                answer(envelope, line, &mut output)?;
            }
        }
        buffer.consume(buffer.complete().len());
        if buffer.is_stuck() {
            let (envelope, bytes) = long_line(&mut buffer, &mut input)?;
            if let Some(id) = envelope.and_then(|envelope| envelope.id) {
                send(&mut output, &id, &text(&bytes.to_string()))?;
            }
            continue;
        }
        let count = input.read(buffer.room())?;
        buffer.filled(count);
        if count == 0 {
            break;
        }
    }
    if env::args().any(|argument| argument == "--stay") {
        thread::sleep(Duration::from_secs(1000));
    }
    Ok(())
}

fn long_line(
    buffer: &mut LineBuffer,
    input: &mut impl Read,
) -> io::Result<(Option<Envelope>, u64)> {
    let mut scanner = LineScanner::new();
    let mut bytes = 0;
    loop {
        let piece = buffer.piece();
        let (count, is_last) = (piece.bytes().len(), matches!(piece, Piece::Last(_)));
        scanner.push(piece.bytes());
        bytes += count as u64;
        buffer.consume(count);
        if is_last {
            return Ok((scanner.finish().messages().first().cloned(), bytes));
        }
        let count = input.read(buffer.room())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.filled(count);
    }
}

fn answer(envelope: &Envelope, line: &[u8], output: &mut impl Write) -> io::Result<()> {
    let Kind::Request { id, method } = envelope.kind() else { return Ok(()) };
    match method {
        "initialize" => send(
            output,
            id,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fixture","version":"1"}}"#,
        ),
        "tools/list" => send(output, id, TOOLS),
        "tools/call" => {
            let params = envelope.params.as_ref().and_then(|span| scan::slice(line, span));
            call(id, params.unwrap_or_default(), output)
        }
        _ => send(output, id, "{}"),
    }
}

fn call(id: &Id, params: &[u8], output: &mut impl Write) -> io::Result<()> {
    let [name, arguments] = scan::members(params, ["name", "arguments"]);
    let [count] = scan::members(arguments.unwrap_or_default(), ["count"]);
    let count: u64 =
        count.and_then(|json| std::str::from_utf8(json).ok()?.parse().ok()).unwrap_or(0);
    let name = name.and_then(scan::string).unwrap_or_default();
    match &*name {
        "bytes" => send_bytes(output, id, count),
        "records" => send_records(output, id, count),
        "results" => {
            let parts = [r#"{\"total\":1,\"results\":["#, r#"{\"id\":12,\"name\":\"a\"},"#, "{}]}"];
            send_repeated(output, id, count, parts)
        }
        "csv" => {
            send_repeated(output, id, count, [r"id,name,day\n", r"12,some name,2024-01-01\n", ""])
        }
        "log" => send_repeated(output, id, count, ["", r"2024-01-01 12:00:00 INFO done\n", ""]),
        "prose" => {
            send_repeated(output, id, count, ["", r"It was the best of times, and so on.\n", ""])
        }
        "file" => {
            let [path] = scan::members(arguments.unwrap_or_default(), ["path"]);
            let path = path.and_then(scan::string).unwrap_or_default();
            send(output, id, &text(&fs::read_to_string(&*path)?))
        }
        "pid" => send(output, id, &text(&std::process::id().to_string())),
        "environment" => send(output, id, &text(&env::var("FIXTURE").unwrap_or_default())),
        "hang" => Ok(()),
        "exit" => exit(i32::try_from(count).unwrap_or(1)),
        "spawn" => {
            let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn()?;
            send(output, id, &text(&child.id().to_string()))
        }
        // Becoming another program is the way to close a descriptor without unsafe code.
        "close-output" => Err(Command::new("sleep").arg("1000").stdout(Stdio::null()).exec()),
        "close-input" => Err(Command::new("sleep").arg("1000").stdin(Stdio::null()).exec()),
        _ => send(output, id, &text(&String::from_utf8_lossy(params))),
    }
}

fn send(output: &mut impl Write, id: &Id, result: &str) -> io::Result<()> {
    output.write_all(&reply::result(id, result.as_bytes()))?;
    output.flush()
}

fn text(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, serde_json::Value::from(text))
}

/// Sends a result whose text is `count` JSON records; the first holds the call's id, so that no two
/// results are the same.
fn send_records(output: &mut impl Write, id: &Id, count: u64) -> io::Result<()> {
    static RECORDS: Mutex<Option<(u64, String)>> = Mutex::new(None);
    let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if records.as_ref().is_none_or(|(made, _)| *made != count) {
        *records = Some((count, (1..=count).map(record).collect()));
    }
    let text = records.as_ref().map_or("", |(_, text)| text.as_str());
    output.write_all(br#"{"result":{"content":[{"type":"text","text":"[{\"id\":"#)?;
    output.write_all(id.as_json().trim_matches('"').as_bytes())?;
    output.write_all(b"}")?;
    output.write_all(text.as_bytes())?;
    output.write_all(br#"]"}]},"jsonrpc":"2.0","id":"#)?;
    output.write_all(id.as_json().as_bytes())?;
    output.write_all(b"}\n")?;
    output.flush()
}

/// A record, as it stands in a JSON string.
fn record(number: u64) -> String {
    const STATUS: [&str; 5] = ["active", "active", "active", "inactive", "pending"];
    const CITIES: [&str; 7] = ["Berlin", "Lima", "Osaka", "Nairobi", "Quito", "Oslo", "Perth"];
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let pick = |shift: u32, among: u64| (mixed >> shift) % among;
    let among = |words: &[&'static str], shift| {
        words[usize::try_from(pick(shift, words.len() as u64)).unwrap_or(0)]
    };
    let (status, city) = (among(&STATUS, 7), among(&CITIES, 13));
    let (cents, day, hour) = (pick(17, 1_000_000), pick(29, 28) + 1, pick(37, 24));
    let json = format!(
        r#",{{"id":{number},"name":"Customer {}","status":"{status}","total":{}.{:02},"city":"{city}","vip":{},"created_at":"2024-03-{day:02}T{hour:02}:15:00Z"}}"#,
        pick(41, 40_000),
        cents / 100,
        cents % 100,
        pick(3, 9) == 0,
    );
    json.replace('"', "\\\"")
}

/// Sends a result whose text is JSON records, with the id last, as the TypeScript SDK writes it.
fn send_bytes(output: &mut impl Write, id: &Id, count: u64) -> io::Result<()> {
    const RECORD: &str = r#"{\"id\":12345,\"name\":\"order number 12345\",\"status\":\"active\",\"total\":99.5,\"tags\":[\"a\",\"b\"],\"created_at\":\"2024-01-01T00:00:00Z\"},"#;
    send_repeated(output, id, count, ["[", RECORD, "{}]"])
}

/// Sends a result of about `count` bytes: a beginning, the same over and over, and an end, as they
/// stand in a JSON string.
fn send_repeated(
    output: &mut impl Write,
    id: &Id,
    count: u64,
    [head, part, tail]: [&str; 3],
) -> io::Result<()> {
    let block = part.repeat(((1 << 16) / part.len()).max(1));
    output.write_all(br#"{"result":{"content":[{"type":"text","text":""#)?;
    output.write_all(head.as_bytes())?;
    let mut left = count;
    while left > 0 {
        let bytes = left.min(block.len() as u64);
        // Only whole parts, so that no escape is cut in two.
        let whole = usize::try_from(bytes).unwrap_or(block.len()) / part.len() * part.len();
        if whole == 0 {
            break;
        }
        output.write_all(&block.as_bytes()[..whole])?;
        left -= whole as u64;
    }
    output.write_all(tail.as_bytes())?;
    output.write_all(br#""}]},"jsonrpc":"2.0","id":"#)?;
    output.write_all(id.as_json().as_bytes())?;
    output.write_all(b"}\n")?;
    output.flush()
}
