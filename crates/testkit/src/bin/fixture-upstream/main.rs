//! A small MCP server for benchmarks and faults: it answers as fast as its transport allows and
//! misbehaves when a call asks for it.
//!
//! `fixture-upstream` speaks on stdio; a message too long for its buffer is answered with its length,
//! and `--stay` ignores the end of input. `fixture-upstream --http 127.0.0.1:0` serves Streamable
//! HTTP at `/mcp` and says `listening on ADDRESS` once it does; `--threads N` is how many threads
//! work, one unless told. `--tools N`: so many more tools are listed. Both eras at once: a request that
//! names its revision in `_meta` is modern, all else legacy; `--era legacy` or `--era modern` knows that
//! one only. `--receives` has the tools of `receiving.rs`, and takes lines of 16 MiB. `--rich` has a prompt and
//! resources, too: see `offers.rs`; `--paged` lists tools that give records in pages: see `paged.rs`. Words that
//! are none of these are passed over.
//!
//! Tools, by name:
//!
//! - `echo` (and every unknown name): the parameters as they came, as text
//! - `bytes {count}`: a result of about `count` bytes, escaped JSON records as servers send them
//! - `records {count}`: a result of `count` records that differ; `nested {count}`: records with objects
//!   and lists in them
//! - `results`, `csv`, `log`, `prose {count}`: a result of about `count` bytes in that form
//! - `file {path}`: the text of that file; `members {path}`: a result with the members that stand in it
//! - `flood {count}`: two images of about `count` bytes each, of 2 MB if that is 0, and 300 KB of records
//! - `region {region}`: says it; a modern client repeats it in `Mcp-Param-Region`
//! - `release {name}`: lets all calls go, now and later, that `hold` under this name
//! - `announce {what}`: tells whoever listens that `tools`, `prompts` or `resources` have changed, or
//!   the resource of that URI
//! - `hang-up`: ends what listens: each `subscriptions/listen` with its response, each GET stream
//! - `pid`: our process id; `environment`: the variable FIXTURE; `cancelled`: how many calls were cancelled
//! - `hang`: no answer; `exit {count}`: ends with that code; `spawn`: starts a process that holds our
//!   output open, and gives its id; `close-output`, `close-input`: closes only that
//!
//! Arguments that any tool takes, in the order in which they happen:
//!
//! - `grow: N`: from now on so many more tools are listed, and whoever listens is told, even if N is 0
//! - `progress: N`: so many notifications of progress first, if the call has a token
//! - `logs: N`: so many log messages first
//! - `ask: METHOD`: asks the client by that method and gives its answer as text; modern clients get
//!   `input_required` and call again
//! - `hold: NAME`: waits until that name is released; `delay: MILLISECONDS`: waits so long
//! - `task: true` (legacy: `task` beside the arguments): a task; its result is what the call would
//!   have given, once `hold` is released: `tasks/result`, or in `tasks/get` and `notifications/tasks`
//!
//! and over HTTP:
//!
//! - `stream: true`: an SSE stream even if nothing comes before the result
//! - `detach: true`: the stream ends after its first event; what follows is there for a GET with
//!   `Last-Event-ID` (legacy)
//! - `fault`: `cut` (the connection closes in the middle of the result), `die` (we end there),
//!   `garbage` (bytes that are neither JSON nor events), `malformed` (broken JSON), `silence` (a
//!   stream that ends without the result), `redirect` (307), `error` (500 with text), `refuse` (401),
//!   `forget` (the session is unknown from now on). A resumed stream has the result nevertheless.
//!
//! `GET /stats` counts, all but what asks: `connections`, `streams`, `sessions` and `listeners` that
//! are open, `held` (the names that calls wait for), `cancelled`, `deleted` (sessions), `requests` by
//! method, and `last_post`: the headers of the last POST.

mod call;
mod flood;
mod gates;
mod http;
mod json;
mod listeners;
mod offers;
mod paged;
mod receiving;
mod records;
mod request;
mod stdio;
mod tasks;
mod tools;
mod world;

use std::{env, io, sync::Arc};

use request::Era;
use world::World;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let number = |name: &str| value(name).and_then(|number| number.parse().ok());
    let era = value("--era").and_then(|name| Era::named(name));
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut world = World::new(era, has("--rich"));
    world.receives = has("--receives");
    let world = Arc::new(if has("--paged") { world.with_pages() } else { world });
    world.grow(number("--tools").unwrap_or(0));
    match value("--http") {
        Some(address) => {
            let threads = number("--threads").and_then(|it| usize::try_from(it).ok()).unwrap_or(1);
            http::serve(address, threads, world)
        }
        None => stdio::serve(world, has("--stay")),
    }
}
