//! What a program has under way, and the functions by which the prelude adds to it.

use std::{
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BinaryHeap, HashSet, VecDeque},
    fmt::Write,
    rc::Rc,
    time::{Duration, Instant},
};

use forebay_system::process::cpu_time;
use rquickjs::{Array, Ctx, Exception, Function, Object, String as Text, Value};

use super::{Ending, Outcome, PROGRAM, Port, answers, surrogates};
use crate::{Limits, Place, compile::Positions, limits::Stop};

/// The longest that a timer waits: longer than any program runs.
const MAX_TIMER_MILLISECONDS: f64 = 1e9;

/// What a program has under way, and what it may take.
pub(super) struct State<P> {
    pub(super) limits: Limits,
    pub(super) wall: Duration,
    pub(super) deadline: Instant,
    pub(super) cpu_begun: Duration,
    /// The limit that it has come to.
    pub(super) stop: Cell<Option<Stop>>,
    pub(super) positions: Positions,
    pub(super) port: RefCell<P>,
    pub(super) work: RefCell<Work>,
}

#[derive(Default)]
pub(super) struct Work {
    calls: u64,
    under_way: HashSet<u64>,
    /// Calls that wait until there are fewer under way.
    queued: VecDeque<QueuedCall>,
    timers: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The timers that were not cleared.
    live_timers: HashSet<u64>,
    logged_bytes: u64,
    left_out_bytes: u64,
    main: Main,
}

struct QueuedCall {
    id: u64,
    function: String,
    arguments: String,
}

/// How far the program's own code is.
#[derive(Default)]
pub(super) enum Main {
    #[default]
    Running,
    /// It has given a value, as JSON, with notes.
    Done(Option<String>, Vec<String>),
    /// It threw what the prelude describes so.
    Failed(String),
}

impl<P: Port> State<P> {
    /// True if the program has come to a limit.
    pub(super) fn is_over(&self) -> bool {
        if self.stop.get().is_none() {
            if Instant::now() >= self.deadline {
                self.stop.set(Some(Stop::Wall));
            } else if cpu_time().saturating_sub(self.cpu_begun) >= self.limits.cpu {
                self.stop.set(Some(Stop::Cpu));
            }
        }
        self.stop.get().is_some()
    }

    /// True if there is something to wait for.
    pub(super) fn is_busy(&self) -> bool {
        let work = self.work.borrow();
        !work.under_way.is_empty() || !work.queued.is_empty() || !work.live_timers.is_empty()
    }

    pub(super) fn take_main(&self) -> Main {
        std::mem::take(&mut self.work.borrow_mut().main)
    }

    pub(super) fn take_failure(&self) -> Option<String> {
        match &mut self.work.borrow_mut().main {
            Main::Failed(described) => Some(std::mem::take(described)),
            Main::Running | Main::Done(..) => None,
        }
    }

    /// Sends calls on as long as there are not too many under way.
    pub(super) fn send_queued(&self) {
        let mut work = self.work.borrow_mut();
        while work.under_way.len() < self.limits.calls_at_once.max(1) {
            let Some(call) = work.queued.pop_front() else { return };
            work.under_way.insert(call.id);
            self.port.borrow_mut().call(call.id, &call.function, &call.arguments);
        }
    }

    /// Takes note of an answer; false if nobody waits for it.
    pub(super) fn is_answered(&self, id: u64) -> bool {
        self.work.borrow_mut().under_way.remove(&id)
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.work.borrow().timers.peek().map(|Reverse((due, _))| *due)
    }

    /// A timer that is due and was not cleared.
    pub(super) fn due_timer(&self) -> Option<u64> {
        let mut work = self.work.borrow_mut();
        let now = Instant::now();
        while let Some(Reverse((due, id))) = work.timers.peek().copied() {
            if due > now {
                return None;
            }
            work.timers.pop();
            if work.live_timers.remove(&id) {
                return Some(id);
            }
        }
        None
    }

    pub(super) fn ending(&self, outcome: Result<Outcome, Outcome>) -> Ending {
        let main = self.take_main();
        let work = self.work.borrow();
        let (calls, left_out_bytes) = (work.calls, work.left_out_bytes);
        let mut ending = Ending { calls, left_out_bytes, ..Ending::default() };
        match outcome.unwrap_or_else(|failed| failed) {
            Outcome::Value(value, notes) => (ending.value, ending.notes) = (value, notes),
            Outcome::Failure(failure) => ending.failure = Some(failure),
            Outcome::Stop(stop) => {
                let mut failure = stop.failure(&self.limits, self.wall);
                let waiting = work.under_way.len() + work.queued.len();
                if stop == Stop::Wall && waiting > 0 {
                    let were = if waiting == 1 { "call was" } else { "calls were" };
                    let _ = write!(failure.message, " {waiting} {were} not answered by then.");
                }
                // It may have waited for nothing but calls that it does not need.
                if let Main::Done(value, notes) = main
                    && stop == Stop::Wall
                {
                    (ending.value, ending.notes) = (value, notes);
                }
                ending.failure = Some(failure);
                ending.is_spent = stop.is_spent();
            }
        }
        ending
    }

    fn call(&self, function: String, arguments: String) -> Option<u64> {
        let mut work = self.work.borrow_mut();
        if work.calls >= self.limits.max_calls {
            self.stop.set(self.stop.get().or(Some(Stop::Calls)));
            return None;
        }
        work.calls += 1;
        let id = work.calls;
        let (arguments, _) = surrogates::replace(arguments);
        work.queued.push_back(QueuedCall { id, function, arguments });
        Some(id)
    }

    fn log(&self, text: &str) {
        let mut work = self.work.borrow_mut();
        let left = self.limits.output_bytes.saturating_sub(work.logged_bytes);
        let mut kept = text.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        while !text.is_char_boundary(kept) {
            kept -= 1;
        }
        work.left_out_bytes += (text.len() - kept) as u64;
        // An empty text takes a line, too.
        work.logged_bytes += kept as u64 + 1;
        if left > 0 {
            self.port.borrow_mut().log(&text[..kept]);
        }
    }

    fn timer(&self, id: u64, milliseconds: f64) {
        let wait = Duration::from_secs_f64(milliseconds.clamp(0.0, MAX_TIMER_MILLISECONDS) / 1e3);
        let mut work = self.work.borrow_mut();
        work.timers.push(Reverse((Instant::now() + wait, id)));
        work.live_timers.insert(id);
    }

    fn done(&self, value: Option<String>, notes: &str) {
        let bytes = value.as_ref().map_or(0, |value| value.len() as u64);
        if bytes > self.limits.output_bytes {
            self.stop.set(self.stop.get().or(Some(Stop::Value { bytes })));
        }
        let mut notes: Vec<String> = serde_json::from_str(notes).unwrap_or_default();
        let (value, has_half) = match value.map(surrogates::replace) {
            Some((value, has_half)) => (Some(value), has_half),
            None => (None, false),
        };
        if has_half {
            notes.push("value has halves of surrogate pairs, given as U+FFFD".to_owned());
        }
        self.work.borrow_mut().main = Main::Done(value, notes);
    }

    fn fail(&self, described: String) {
        self.work.borrow_mut().main = Main::Failed(described);
    }

    /// A stack trace from the site `first` on, with the places of the program's source and of nothing else.
    fn trace(&self, sites: &Array<'_>, first: usize) -> rquickjs::Result<String> {
        let mut frames = Vec::new();
        for site in sites.iter::<Object>().skip(first) {
            let site = site?;
            let get = |name: &str| -> rquickjs::Result<Value<'_>> {
                site.get::<_, Function>(name)?.call((rquickjs::function::This(site.clone()),))
            };
            let file = get("getFileName")?.get::<Option<String>>().ok().flatten();
            if file.as_deref() != Some(PROGRAM) {
                continue;
            }
            let number = |value: Value<'_>| {
                value.as_int().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
            };
            let (line, column) = (number(get("getLineNumber")?), number(get("getColumnNumber")?));
            let name = get("getFunctionName")?.get::<Option<String>>().ok().flatten();
            let name = name.filter(|name| !name.is_empty());
            frames.extend(self.frame(name.as_deref().unwrap_or("<anonymous>"), line, column));
        }
        Ok(frames.join("\n"))
    }

    /// The same, of a trace as the engine writes it.
    fn places(&self, trace: &str) -> String {
        let frames = trace.lines().filter_map(|frame| {
            let (name, place) = frame.trim_start().strip_prefix("at ")?.rsplit_once(" (")?;
            let place = place.strip_prefix(PROGRAM)?.strip_prefix(':')?.strip_suffix(')')?;
            let (line, column) = place.split_once(':')?;
            self.frame(name, line.parse().ok()?, column.parse().ok()?)
        });
        frames.collect::<Vec<_>>().join("\n")
    }

    fn frame(&self, name: &str, line: usize, column: usize) -> Option<String> {
        let Place { line, column } = self.positions.find(line, column)?;
        Some(format!("    at {name} ({PROGRAM}:{line}:{column})"))
    }
}

/// The functions that the prelude is given.
pub(super) fn natives<'js, P: Port + 'static>(
    ctx: &Ctx<'js>,
    state: &Rc<State<P>>,
) -> rquickjs::Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let of = state.clone();
    let call = move |ctx: Ctx<'js>, function: String, arguments: String| {
        // A program can change what arrays are written as.
        if !arguments.starts_with('[') {
            return Err(Exception::throw_type(&ctx, "the arguments of a call are no array"));
        }
        of.call(function, arguments)
            .ok_or_else(|| Exception::throw_range(&ctx, "too many calls: see code.max_calls"))
    };
    natives.set("call", Function::new(ctx.clone(), call)?)?;
    let of = state.clone();
    natives.set("log", Function::new(ctx.clone(), move |text: String| of.log(&text))?)?;
    let of = state.clone();
    let timer = move |id: u64, milliseconds: f64| of.timer(id, milliseconds);
    natives.set("timer", Function::new(ctx.clone(), timer)?)?;
    let of = state.clone();
    let clear = move |id: u64| {
        of.work.borrow_mut().live_timers.remove(&id);
    };
    natives.set("clear", Function::new(ctx.clone(), clear)?)?;
    let of = state.clone();
    let done = move |value: Option<String>, notes: String| of.done(value, &notes);
    natives.set("done", Function::new(ctx.clone(), done)?)?;
    let of = state.clone();
    natives.set("failed", Function::new(ctx.clone(), move |described| of.fail(described))?)?;
    let of = state.clone();
    let trace = move |sites: Array<'js>, first: usize| of.trace(&sites, first);
    natives.set("trace", Function::new(ctx.clone(), trace)?)?;
    let of = state.clone();
    let places = move |trace: String| of.places(&trace);
    natives.set("places", Function::new(ctx.clone(), places)?)?;
    let marked = |text: Text<'js>| answers::marked(&text);
    natives.set("marked", Function::new(ctx.clone(), marked)?)?;
    Ok(natives)
}
