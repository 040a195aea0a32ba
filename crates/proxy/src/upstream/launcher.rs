//! A child process and its pipes, for tasks; and a server elsewhere that looks like one.
//!
//! The kernel ends a child when the thread that started it ends, so all are started on one thread
//! that lives as long as we do.

use std::{
    future, io,
    pin::pin,
    process::ExitStatus,
    sync::{Arc, mpsc as std_mpsc},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use forebay_system::{
    group::Exit,
    pipes,
    signals::{SIGKILL, SIGTERM},
};
use forebay_wire::{
    Id, Kind, Line,
    envelope::LineScanner,
    framing::{LineBuffer, Piece},
    reply::{self, CONNECTION_CLOSED},
};
use futures_util::{Stream, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time,
};

use super::{
    Command, Remote,
    beside::{self, Stop},
    bridge,
    child::{self, Process, Started},
    stderr::Listener,
};
use crate::{
    ProxyError,
    body::{Body, Hold, Message, Source, Spool},
    events, limits,
    router::UpstreamName,
};

/// As much as a pipe holds: a read rarely yields more.
const BUFFER_BYTES: usize = 64 * 1024;
/// How far apart a child's exit and the end of its output may lie and still be one event.
const SETTLE: Duration = Duration::from_secs(1);
/// How often a child that is to end is looked after.
const LOOK: Duration = Duration::from_millis(20);
/// How long a process may take to be gone after SIGKILL.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// Starts children of one command.
pub(crate) struct Launcher {
    command: Arc<Command>,
    name: UpstreamName,
    spool: Spool,
    grace: Duration,
    listener: Option<Listener>,
}

/// A child to be started, for the thread that does.
struct Order {
    command: Arc<Command>,
    name: UpstreamName,
    grace: Duration,
    listener: Option<Listener>,
    deliver: oneshot::Sender<Result<Started, ProxyError>>,
}

/// An upstream whose pipes have just been opened.
pub(crate) struct Opened {
    pub(crate) input: pipe::Sender,
    pub(crate) output: Output,
}

/// What an upstream says, up to its end.
pub(crate) struct Output {
    lines: Lines,
    life: Life,
    /// How much longer its output is waited for after its exit: what it has started may hold the pipe open.
    patience: Duration,
}

/// A child's output, line by line.
struct Lines {
    pipe: pipe::Receiver,
    buffer: LineBuffer,
    spool: Spool,
    /// The rest of the line at hand is not wanted: its request has been answered.
    is_refused: bool,
}

/// What is behind the pipes, as long as it lives.
enum Life {
    /// A child's process.
    Process(Box<ProcessLife>),
    /// A bridge to a server elsewhere, on a thread of its own.
    Bridge(beside::Running),
}

struct ProcessLife {
    process: Process,
    exit: Exit,
    status: Option<ExitStatus>,
    children: Signal,
    grace: Duration,
}

impl Launcher {
    /// A launcher of children of one command.
    pub(crate) fn new(command: Command, name: UpstreamName, spool: Spool, grace: Duration) -> Self {
        Self { command: Arc::new(command), name, spool, grace, listener: None }
    }

    /// Has what the children say on stderr heard.
    pub(crate) fn heard_by(self, listener: Option<Listener>) -> Self {
        Self { listener, ..self }
    }

    /// Starts a child. If whoever wants it is gone before it has started, it is seen off.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<Opened, ProxyError> {
        let (deliver, delivered) = oneshot::channel();
        let launcher = self.clone();
        tokio::spawn(async move {
            let outcome = launcher.launch().await;
            if let Err(Ok(unwanted)) = deliver.send(outcome) {
                drop(unwanted.input);
                unwanted.output.see_off(launcher.name.as_str()).await;
            }
        });
        delivered.await.unwrap_or_else(|_| Err(ProxyError::Setup(io::ErrorKind::BrokenPipe.into())))
    }

    async fn launch(&self) -> Result<Opened, ProxyError> {
        let gone = || ProxyError::Setup(io::ErrorKind::BrokenPipe.into());
        let children = signal(SignalKind::child()).map_err(ProxyError::Setup)?;
        let (deliver, started) = oneshot::channel();
        let (command, name, grace) = (self.command.clone(), self.name.clone(), self.grace);
        let listener = self.listener.clone();
        orders()?.send(Order { command, name, grace, listener, deliver }).map_err(|_| gone())?;
        let Started { process, input, output } = started.await.map_err(|_| gone())??;
        let exit = process.exit();
        let life =
            Life::Process(Box::new(ProcessLife { process, exit, status: None, children, grace }));
        let pipes = pipe::Receiver::from_owned_fd(output.into_descriptor())
            .and_then(|output| Ok((output, pipe::Sender::from_owned_fd(input)?)));
        match pipes {
            Ok((pipe, input)) => {
                let lines = Lines::new(pipe, self.spool.clone());
                Ok(Opened { input, output: Output::new(lines, life) })
            }
            Err(error) => {
                life.see_off(self.name.as_str()).await;
                Err(ProxyError::Setup(error))
            }
        }
    }
}

impl Opened {
    /// A server elsewhere, which is reached when there is something to send.
    pub(crate) fn remote(remote: Remote, spool: &Spool) -> Result<Self, ProxyError> {
        let started = bridge::start(remote, spool.clone()).map_err(ProxyError::Setup)?;
        pipes::widen(&started.output);
        let pipe = pipe::Receiver::from_owned_fd(started.output).map_err(ProxyError::Setup)?;
        let input = pipe::Sender::from_owned_fd(started.input).map_err(ProxyError::Setup)?;
        let (lines, life) = (Lines::new(pipe, spool.clone()), Life::Bridge(started.running));
        Ok(Self { input, output: Output::new(lines, life) })
    }
}

/// The thread that starts children, which is there from the first one on.
fn orders() -> Result<std_mpsc::Sender<Order>, ProxyError> {
    static ORDERS: Mutex<Option<std_mpsc::Sender<Order>>> = Mutex::new(None);
    let mut orders = ORDERS.lock();
    if let Some(orders) = &*orders {
        return Ok(orders.clone());
    }
    let (sender, inbox) = std_mpsc::channel::<Order>();
    let work = move || {
        for Order { command, name, grace, listener, deliver } in inbox {
            let _ = deliver.send(child::start(&command, &name, grace, listener.as_ref()));
        }
    };
    thread::Builder::new().name("children".to_owned()).spawn(work).map_err(ProxyError::Setup)?;
    Ok(orders.insert(sender).clone())
}

/// Writes messages to a child, each as one line, until there are no more or the child is gone.
pub(crate) async fn feed(
    mut input: pipe::Sender,
    mut messages: impl Stream<Item = Message> + Unpin,
) {
    while let Some(message) = messages.next().await {
        if let Some(line) = message.short_line() {
            if input.write_all(&line).await.is_err() {
                return;
            }
            continue;
        }
        for piece in message.pieces() {
            let Ok(mut piece) = piece else { return };
            // In JSON a line break is white space between tokens.
            for byte in piece.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
                *byte = b' ';
            }
            if input.write_all(&piece).await.is_err() {
                return;
            }
        }
        if input.write_all(b"\n").await.is_err() {
            return;
        }
    }
}

impl Output {
    fn new(lines: Lines, life: Life) -> Self {
        Self { lines, life, patience: SETTLE }
    }

    /// The next line, without its terminator; `None` when there is none any more. An exit is noticed only
    /// here, so whoever has a line in hand can finish with it.
    pub(crate) async fn next(&mut self) -> Option<Body> {
        let Self { lines, life, patience } = self;
        let mut line = pin!(lines.next());
        tokio::select! {
            biased;
            line = &mut line => line,
            _ = life.ended() => {
                // What has been said last is still in the pipe.
                let since = Instant::now();
                let last = time::timeout(*patience, line).await;
                *patience = patience.saturating_sub(since.elapsed());
                last.ok().flatten()
            }
        }
    }

    /// How the upstream has ended, once there is no next line.
    pub(crate) async fn how_it_ended(&mut self) -> String {
        let ended = time::timeout(SETTLE, self.life.ended()).await;
        ended.unwrap_or_else(|_| "closed its output without exiting".to_owned())
    }

    /// Sees off the upstream, whose input is closed. It may have something to say to the last: nobody hears
    /// it, but it does not fail over it.
    pub(crate) async fn see_off(self, name: &str) {
        let Self { mut lines, life, .. } = self;
        let hearing = async move {
            while lines.discard().await {
                // Whoever prints without end is not the only one to be heard.
                tokio::task::yield_now().await;
            }
            future::pending::<()>().await;
        };
        tokio::select! {
            () = life.see_off(name) => {}
            () = hearing => {}
        }
    }
}

impl Lines {
    fn new(pipe: pipe::Receiver, spool: Spool) -> Self {
        Self { pipe, buffer: LineBuffer::new(BUFFER_BYTES), spool, is_refused: false }
    }

    /// The next line, without its terminator; `None` at the end. In place of one for which there is no
    /// room stands an error for whoever waits for it.
    async fn next(&mut self) -> Option<Body> {
        loop {
            match self.next_as_it_is().await? {
                Next::Line(body) => return Some(body),
                Next::Lost(error, instead) => {
                    events::answer_cannot_be_held(&error);
                    if let Some(instead) = instead {
                        return Some(Body::Memory(instead));
                    }
                }
            }
        }
    }

    async fn next_as_it_is(&mut self) -> Option<Next> {
        self.skip_what_is_refused().await?;
        let spool = self.spool.clone();
        let mut hold = Hold::new(&spool);
        let mut lost: Option<(LineScanner, io::Error)> = None;
        let mut is_begun = false;
        loop {
            let (part, is_last, count) = match self.buffer.piece() {
                Piece::Last(part) => {
                    let line = part.strip_suffix(b"\n").unwrap_or(part);
                    (line.strip_suffix(b"\r").unwrap_or(line), true, part.len())
                }
                Piece::Open(part) => (part, false, part.len()),
            };
            is_begun |= count > 0;
            match &mut lost {
                Some((scanner, _)) => scanner.push(part),
                None => {
                    if let Err(error) = hold.push(part) {
                        // From here on it is read to see whom it concerns, and not kept.
                        let beginning = std::mem::replace(&mut hold, Hold::new(&spool)).finish();
                        let mut scanner = LineScanner::new();
                        Source::Held(&beginning).each_chunk(|chunk| scanner.push(chunk)).ok()?;
                        scanner.push(part);
                        lost = Some((scanner, error));
                    }
                }
            }
            self.buffer.consume(count);
            // Whoever waits need not wait for the end of what they will not get.
            if let Some((scanner, _)) = &lost
                && !is_last
                && let Some(id) = scanner.answers()
                && let Some((_, error)) = lost.take()
            {
                self.is_refused = true;
                let instead = refusal(&id, &error);
                return Some(Next::Lost(error, Some(instead)));
            }
            if is_last || !self.read_more().await {
                if !is_last && !is_begun {
                    return None;
                }
                return Some(match lost {
                    Some((scanner, error)) => {
                        let instead = instead_of(&scanner.finish(), &error);
                        Next::Lost(error, instead)
                    }
                    None => Next::Line(hold.finish()),
                });
            }
        }
    }

    /// Reads the rest of a line that is not wanted; `None` if nothing comes after it.
    async fn skip_what_is_refused(&mut self) -> Option<()> {
        while self.is_refused {
            let (count, is_last) = match self.buffer.piece() {
                Piece::Last(part) => (part.len(), true),
                Piece::Open(part) => (part.len(), false),
            };
            self.buffer.consume(count);
            self.is_refused = !is_last;
            if !is_last && !self.read_more().await {
                return None;
            }
        }
        Some(())
    }

    /// Reads what there is, or waits for it, and throws it away; false at the end.
    async fn discard(&mut self) -> bool {
        let count = self.buffer.complete().len() + self.buffer.unfinished().len();
        self.buffer.consume(count);
        self.read_more().await
    }

    /// Reads what there is, or waits for it; false at the end.
    async fn read_more(&mut self) -> bool {
        match self.pipe.read(self.buffer.room()).await {
            Ok(count) => {
                self.buffer.filled(count);
                count > 0
            }
            Err(_) => false,
        }
    }
}

/// What a child said.
enum Next {
    Line(Body),
    /// A line for which there was no room: why, and what is said to whoever waits for it.
    Lost(io::Error, Option<Vec<u8>>),
}

/// An error for each request that a line would have answered; `None` if there are none.
fn instead_of(line: &Line, error: &io::Error) -> Option<Vec<u8>> {
    let errors: Vec<Vec<u8>> = line
        .messages()
        .iter()
        .filter_map(|envelope| match envelope.kind() {
            Kind::Response { id } => Some(refusal(id, error)),
            Kind::Request { .. } | Kind::Notification { .. } | Kind::Other => None,
        })
        .collect();
    match (line, errors.as_slice()) {
        (_, []) => None,
        (Line::Batch(_), errors) => Some([b"[", errors.join(&b","[..]).as_slice(), b"]"].concat()),
        (_, [error, ..]) => Some(error.clone()),
    }
}

/// An error in place of the answer to a request.
fn refusal(id: &Id, error: &io::Error) -> Vec<u8> {
    let why = format!("the answer is too long to be held: {error}");
    reply::error(Some(id), CONNECTION_CLOSED, &why).trim_ascii_end().to_vec()
}

impl Life {
    /// Waits for the end, and says how it came.
    async fn ended(&mut self) -> String {
        match self {
            Self::Process(process) => child::how_it_ended(process.ended().await),
            Self::Bridge(bridge) => {
                bridge.has_ended().await;
                "is no longer connected".to_owned()
            }
        }
    }

    /// Lets what has no input any more end by itself, tells it to, and makes it.
    async fn see_off(self, name: &str) {
        match self {
            Self::Process(process) => process.see_off(name).await,
            Self::Bridge(bridge) => {
                bridge.stop(Stop::Soon);
                if time::timeout(limits::FAREWELL, bridge.has_ended()).await.is_err() {
                    bridge.stop(Stop::Now);
                }
            }
        }
    }
}

impl ProcessLife {
    /// Waits for the process to end.
    async fn ended(&mut self) -> ExitStatus {
        // It is asked at every line, so the system is not: it tells of a child that ends. We have listened
        // since before there was one.
        while self.status.is_none() {
            self.children.recv().await;
            self.status = self.exit.has_come();
        }
        self.status.unwrap_or_default()
    }

    async fn see_off(mut self, name: &str) {
        let deadlines = [(SIGTERM, self.grace), (SIGKILL, self.grace), (SIGKILL, AFTER_KILL)];
        for (then, patience) in deadlines {
            if time::timeout(patience, self.ended()).await.is_ok() {
                break;
            }
            tracing::debug!(upstream = name, signal = then, "upstream does not end by itself");
            self.process.signal(then);
        }
        // What it has started in turn may still be there. As long as anything is, nobody else can
        // get the group's id.
        self.process.signal(SIGTERM);
        let last = Instant::now() + self.grace;
        let mut is_gone = self.process.release();
        while !is_gone && Instant::now() < last {
            time::sleep(LOOK).await;
            is_gone = self.process.release();
        }
        if !is_gone {
            self.process.signal(SIGKILL);
            let last = Instant::now() + AFTER_KILL;
            while !self.process.release() && Instant::now() < last {
                time::sleep(LOOK).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines from a pipe with little room, and the pipe's other end.
    fn lines_with_room_for(max_bytes: usize) -> (Lines, pipe::Sender) {
        let (sender, pipe) = pipe::pipe().unwrap();
        (Lines::new(pipe, Spool::of_memory(max_bytes)), sender)
    }

    fn text(body: Option<Body>) -> String {
        let Some(Body::Memory(bytes)) = body else { panic!("{body:?}") };
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused_before_it_ends() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let (mut lines, mut upstream) = lines_with_room_for(1_000);
            let begun =
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{}"#, "x".repeat(2_000));
            upstream.write_all(begun.as_bytes()).await.unwrap();
            let refused = text(lines.next().await);
            assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":"#), "{refused}");
            upstream.write_all("x".repeat(3_000).as_bytes()).await.unwrap();
            upstream.write_all(b"\"}}\n{\"id\":8,\"result\":{}}\n").await.unwrap();
            assert_eq!(text(lines.next().await), r#"{"id":8,"result":{}}"#, "the rest is skipped");
            drop(upstream);
            assert!(lines.next().await.is_none());
        });
    }

    #[test]
    fn an_answer_whose_id_comes_last_is_refused_when_it_ends() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let (mut lines, mut upstream) = lines_with_room_for(1_000);
            let answer = format!("{{\"result\":\"{}\",\"id\":7}}\n", "x".repeat(2_000));
            upstream.write_all(answer.as_bytes()).await.unwrap();
            upstream.write_all(b"{\"method\":\"x\"}\n").await.unwrap();
            assert!(text(lines.next().await).contains(r#""id":7,"error":"#));
            assert_eq!(text(lines.next().await), r#"{"method":"x"}"#);
        });
    }

    #[test]
    fn whoever_waits_for_a_line_that_is_lost_is_told() {
        let error = io::Error::other("full");
        let told = |line: &[u8]| {
            let instead = instead_of(&Line::of(line), &error)?;
            let text = String::from_utf8(instead).unwrap();
            Some(text.replace("the answer is too long to be held: full", "WHY"))
        };
        let one = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"WHY"}}"#;
        assert_eq!(told(br#"{"result":{},"id":7}"#).as_deref(), Some(one));
        let other = one.replace('7', "\"a\"");
        let batch = br#"[{"id":7,"result":1},{"method":"x"},{"id":"a","error":{}}]"#;
        assert_eq!(told(batch), Some(format!("[{one},{other}]")));
        for nobody in [&br#"{"method":"x"}"#[..], br#"{"id":1,"method":"ask"}"#, b"no JSON"] {
            assert_eq!(told(nobody), None);
        }
    }
}
