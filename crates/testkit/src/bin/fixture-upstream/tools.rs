//! The tools, whatever the transport; see the program's documentation.

use std::{
    env, fs, io,
    os::unix::process::CommandExt,
    process::{Command, Stdio, exit},
    time::Duration,
};

use forebay_wire::scan;
use serde_json::Value;

use crate::{
    call::{Call, Delivery, Fault},
    flood,
    json::Json,
    receiving,
    records::Records,
    request::{Era, Request, number, text as decoded},
    world::World,
};

const TOOLS: &str = r#"{"name":"echo","inputSchema":{"type":"object"}},{"name":"bytes","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}},{"name":"records","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}"#;
/// Its annotation means something to modern clients only.
const MODERN_TOOL: &str = r#"{"name":"region","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#;

/// The members of a list of tools, which has so many more than are documented, and `others`.
pub(crate) fn list(era: Era, more: u64, others: &str) -> String {
    let more: Vec<String> = (1..=more)
        .map(|number| {
            format!(
                r#",{{"name":"more-{number}","description":"Number {number} of those that do what `echo` does.","inputSchema":{{"type":"object","properties":{{"text":{{"type":"string"}}}}}}}}"#
            )
        })
        .collect();
    let more = more.concat() + others;
    match era {
        Era::Legacy => format!(r#""tools":[{TOOLS}{more}]"#),
        Era::Modern => {
            format!(r#""tools":[{TOOLS},{MODERN_TOOL}{more}],"ttlMs":60000,"cacheScope":"public""#)
        }
    }
}

/// What shapes a call, whatever the tool.
struct Shape<'a> {
    count: u64,
    path: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    what: Option<&'a [u8]>,
    grow: Option<&'a [u8]>,
    region: Option<&'a [u8]>,
    progress: u64,
    logs: u64,
    ask: Option<&'a [u8]>,
    hold: Option<&'a [u8]>,
    delay: Duration,
    is_task: bool,
    delivery: Delivery,
}

/// Says what a call does.
pub(crate) fn call(request: &Request<'_>, world: &World) -> io::Result<Call> {
    let shape = Shape::read(request.params.arguments);
    let era = request.era;
    if shape.grow.is_some() {
        world.grow(number(shape.grow));
    }
    let mut result = result(&decoded(request.params.name), request, &shape, world)?;
    let mut asks = shape.ask.map(|method| decoded(Some(method)));
    if era == Era::Modern
        && let Some(method) = asks.take()
    {
        result = match request.params.input_responses {
            Some(answers) => text(era, &String::from_utf8_lossy(answers)),
            None => input_required(&method),
        };
    }
    let mut hold = shape.hold.map(|name| decoded(Some(name)));
    if decoded(request.params.name) == "hang" {
        hold = Some("hang".to_owned());
    }
    if shape.is_task || request.params.task.is_some() {
        return Ok(Call::giving(world.tasks.start(result, hold, era)));
    }
    Ok(Call {
        progress: request
            .params
            .progress_token
            .clone()
            .zip(Some(shape.progress))
            .filter(|(_, n)| *n > 0),
        logs: shape.logs,
        asks,
        hold,
        delay: shape.delay,
        result,
        delivery: shape.delivery,
    })
}

/// A result that is `text`.
pub(crate) fn text(era: Era, text: &str) -> Json {
    let (head, text) = (era.result_head(), Value::from(text));
    Json::whole(format!(r#"{head}"content":[{{"type":"text","text":{text}}}]}}"#))
}

/// What a client is asked by `method`.
pub(crate) fn question(method: &str) -> &'static str {
    match method {
        "sampling/createMessage" => {
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a haiku, please"}}],"maxTokens":10}"#
        }
        "elicitation/create" => {
            r#"{"mode":"form","message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#
        }
        _ => "{}",
    }
}

fn input_required(method: &str) -> Json {
    let params = question(method);
    Json::whole(format!(
        r#"{{"resultType":"input_required","inputRequests":{{"question":{{"method":"{method}","params":{params}}}}},"requestState":"fixture"}}"#
    ))
}

fn result(name: &str, request: &Request<'_>, shape: &Shape<'_>, world: &World) -> io::Result<Json> {
    const RECORD: &str = r#"{\"id\":12345,\"name\":\"order number 12345\",\"status\":\"active\",\"total\":99.5,\"tags\":[\"a\",\"b\"],\"created_at\":\"2024-01-01T00:00:00Z\"},"#;
    let (era, count) = (request.era, shape.count);
    let repeated = |parts| around(era, Json::repeated(count, parts));
    if let Some(page) = world.fetches.result(name, request.params.arguments, era) {
        return Ok(page);
    }
    Ok(match name {
        "bytes" => repeated(["[", RECORD, "{}]"]),
        "records" => around(era, Json::records(request.id, Records::Flat, count)),
        "nested" => around(era, Json::records(request.id, Records::Nested, count)),
        "results" => {
            repeated([r#"{\"total\":1,\"results\":["#, r#"{\"id\":12,\"name\":\"a\"},"#, "{}]}"])
        }
        "csv" => repeated([r"id,name,day\n", r"12,some name,2024-01-01\n", ""]),
        "log" => repeated(["", r"2024-01-01 12:00:00 INFO done\n", ""]),
        "prose" => repeated(["", r"It was the best of times, and so on.\n", ""]),
        "file" => text(era, &fs::read_to_string(decoded(shape.path))?),
        "members" => flood::from_file(era, &decoded(shape.path))?,
        "flood" => flood::result(era, count),
        "region" => text(era, &decoded(shape.region)),
        "release" => {
            world.release(&decoded(shape.name));
            text(era, "released")
        }
        "announce" => {
            world.announce(&decoded(shape.what));
            text(era, "announced")
        }
        "hang-up" => {
            world.listeners.hang_up();
            text(era, "hung up")
        }
        "receive" | "received" | "count" | "count-unmarked" => {
            text(era, &receiving::answer(name, request.params.arguments, world)?)
        }
        "fail" => {
            let said = receiving::answer(name, request.params.arguments, world)?;
            text(era, &said).with_member(r#""isError":true"#)
        }
        "pid" => text(era, &std::process::id().to_string()),
        "environment" => text(era, &env::var("FIXTURE").unwrap_or_default()),
        "cancelled" => text(era, &world.cancellations().to_string()),
        "exit" => exit(i32::try_from(count).unwrap_or(1)),
        "spawn" => {
            let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn()?;
            text(era, &child.id().to_string())
        }
        // Becoming another program is the way to close a descriptor without unsafe code.
        "close-output" => {
            return Err(Command::new("sleep").arg("1000").stdout(Stdio::null()).exec());
        }
        "close-input" => return Err(Command::new("sleep").arg("1000").stdin(Stdio::null()).exec()),
        _ => text(era, &String::from_utf8_lossy(request.params.written)),
    })
}

/// A result with a text that is written while it is sent.
fn around(era: Era, string: Json) -> Json {
    let head = format!(r#"{}"content":[{{"type":"text","text":"#, era.result_head());
    string.within(&head, "}]}")
}

impl<'a> Shape<'a> {
    fn read(arguments: &'a [u8]) -> Self {
        let [
            count,
            path,
            name,
            what,
            grow,
            region,
            progress,
            logs,
            ask,
            hold,
            delay,
            task,
            stream,
            detach,
            fault,
        ] = scan::members(
            arguments,
            [
                "count", "path", "name", "what", "grow", "region", "progress", "logs", "ask",
                "hold", "delay", "task", "stream", "detach", "fault",
            ],
        );
        let is_true = |json: Option<&[u8]>| json == Some(b"true");
        Self {
            count: number(count),
            path,
            name,
            what,
            grow,
            region,
            progress: number(progress),
            logs: number(logs),
            ask,
            hold,
            delay: Duration::from_millis(number(delay)),
            is_task: is_true(task),
            delivery: Delivery {
                streams: is_true(stream),
                detaches: is_true(detach),
                fault: fault.and_then(|name| Fault::named(&decoded(Some(name)))),
            },
        }
    }
}
