//! Runs one program: an engine of its own (`QuickJS`), and the loop that its calls and timers are driven by.

mod answers;
mod state;
mod surrogates;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::{Duration, Instant},
};

use forebay_system::process::cpu_time;
use rquickjs::{
    Context, Ctx, Error, Function, Object, Persistent, Runtime, Value,
    context::{EvalOptions, intrinsic},
};
use serde::{Deserialize, Serialize};

use self::state::{Main, State};
use crate::{Failure, Limits, Place, compile, hints, limits::Stop};

/// How deep calls may be nested, in bytes of stack. The thread that runs a program has much more, which
/// the parser needs.
const MAX_STACK: usize = 1 << 20;

/// What the engine may take beyond the limit once a program has ended, to tell how.
const TO_TELL: u64 = 8_000_000;

/// The name of the program's own code in the engine.
const PROGRAM: &str = "program";

/// What a program can do, except `Performance`, `WeakRef` and `DOMException`.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// How a program reaches what is outside of it.
pub(crate) trait Port {
    /// Takes a text that was logged.
    fn log(&mut self, text: &str);

    /// Asks for a function of the host's.
    fn call(&mut self, id: u64, function: &str, arguments: &str);

    /// Waits for the answer to a call, until then at most.
    fn wait(&mut self, until: Instant) -> Option<Answered>;

    /// An answer that has come already.
    fn ready(&mut self) -> Option<Answered>;
}

/// The answer to a call.
pub(crate) struct Answered {
    pub(crate) id: u64,
    /// JSON, or why there is none.
    pub(crate) outcome: Result<Vec<u8>, String>,
}

/// How a program ended.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// What it gives, as JSON. It travels apart from the rest.
    #[serde(skip)]
    pub(crate) value: Option<String>,
    /// What of it JSON could not hold.
    pub(crate) notes: Vec<String>,
    pub(crate) calls: u64,
    pub(crate) left_out_bytes: u64,
    pub(crate) failure: Option<Failure>,
    /// True if the worker is of no more use.
    pub(crate) is_spent: bool,
}

/// An engine that no program has run in yet. Most of what there is to do for a short program is done
/// before it comes.
pub(crate) struct Prepared {
    /// Goes before the context does.
    prelude: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
}

impl Prepared {
    pub(crate) fn new() -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(MAX_STACK);
        let context = Context::custom::<Intrinsics>(&runtime)?;
        let prelude = context.with(|ctx| {
            let prelude = evaluate(&ctx, include_str!("prelude.js"), "forebay")?;
            Ok::<_, Error>(Persistent::save(&ctx, prelude))
        })?;
        Ok(Self { prelude, context, runtime })
    }
}

/// Runs a program to its end.
pub(crate) fn run<P: Port + 'static>(
    prepared: Prepared,
    source: &str,
    limits: &Limits,
    wall: Duration,
    port: P,
) -> Ending {
    let begun = Instant::now();
    let compiled = match compile::compile(source) {
        Ok(compiled) => compiled,
        Err(failure) => return Ending { failure: Some(failure), ..Ending::default() },
    };
    let state = Rc::new(State {
        limits: limits.clone(),
        wall,
        deadline: begun + wall,
        cpu_begun: cpu_time(),
        stop: Cell::default(),
        positions: compiled.positions,
        port: RefCell::new(port),
        work: RefCell::default(),
    });
    let outcome = Engine::new(prepared, &state).and_then(|engine| {
        let outcome = engine.run(&compiled.code);
        engine.runtime.set_host_promise_rejection_tracker(None);
        outcome
    });
    state.ending(outcome)
}

/// How a program's code came to its end.
pub(crate) enum Outcome {
    /// It gave a value, or none.
    Value(Option<String>, Vec<String>),
    /// It threw, or is at fault otherwise.
    Failure(Failure),
    /// It came to a limit.
    Stop(Stop),
}

/// An error as the prelude describes it.
#[derive(Deserialize)]
struct Described {
    message: String,
    stack: Option<String>,
    call: Option<String>,
}

struct Engine<P> {
    state: Rc<State<P>>,
    /// What the prelude gave, which must go before the context does.
    prelude: Persistent<Object<'static>>,
    context: Context,
    runtime: Runtime,
}

impl<P: Port + 'static> Engine<P> {
    fn new(prepared: Prepared, state: &Rc<State<P>>) -> Result<Self, Outcome> {
        let Prepared { prelude, context, runtime } = prepared;
        runtime.set_memory_limit(bytes(state.limits.memory_bytes));
        let interrupted = state.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || interrupted.is_over())));
        let prelude = context.with(|ctx| {
            let prelude: Object = prelude.restore(&ctx)?.call((state::natives(&ctx, state)?,))?;
            Ok(Persistent::save(&ctx, prelude))
        });
        let prelude = match prelude {
            Ok(prelude) => prelude,
            Err(error) => return Err(context.with(|ctx| without_prelude(&ctx, &error))),
        };
        let kept = prelude.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| {
                // Without memory for it the program fails by that.
                let Ok(prelude) = kept.clone().restore(&ctx) else { return };
                let tracked = prelude
                    .get::<_, Function>("rejected")
                    .and_then(|track| track.call::<_, ()>((promise, reason, is_handled)));
                if tracked.is_err() {
                    ctx.catch();
                }
            },
        )));
        Ok(Self { state: state.clone(), prelude, context, runtime })
    }

    fn run(&self, code: &str) -> Result<Outcome, Outcome> {
        let begun = self.with(|ctx, prelude| {
            let main: Function = evaluate(ctx, code, PROGRAM)?;
            prelude.get::<_, Function>("run")?.call::<_, ()>((main,))
        });
        begun?;
        loop {
            self.run_jobs()?;
            if let Some(outcome) = self.ended()? {
                return Ok(outcome);
            }
            self.state.send_queued();
            let until = self.state.next_timer().unwrap_or(self.state.deadline);
            let mut answered = self.state.port.borrow_mut().wait(until.min(self.state.deadline));
            // What has come together goes on together: its next calls are one write.
            while let Some(answer) = answered {
                self.settle(answer)?;
                answered = self.state.port.borrow_mut().ready();
            }
            // One at a time: a program whose timers never end hears its answers, too.
            if let Some(id) = self.state.due_timer() {
                self.with(|_, prelude| prelude.get::<_, Function>("fire")?.call::<_, ()>((id,)))?;
            }
        }
    }

    /// Runs what is ready to run.
    fn run_jobs(&self) -> Result<(), Outcome> {
        // To look at the clock takes as long as a short job.
        const JOBS_PER_LOOK: u32 = 64;
        for job in 0_u32.. {
            if self.state.stop.get().is_some()
                || (job.is_multiple_of(JOBS_PER_LOOK) && self.state.is_over())
            {
                return Err(Outcome::Stop(self.state.stop.get().unwrap_or(Stop::Wall)));
            }
            match self.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(exception) => {
                    let context = exception.0;
                    let thrown = context.with(|ctx| {
                        let value = ctx.catch();
                        Persistent::save(&ctx, value)
                    });
                    return Err(self.failure(thrown));
                }
            }
        }
        Ok(())
    }

    /// How the program ended, if nothing is left to do.
    fn ended(&self) -> Result<Option<Outcome>, Outcome> {
        let main = match self.state.take_failure() {
            Some(described) => return Err(self.described(&described)),
            None => self.state.is_busy(),
        };
        if main {
            return Ok(None);
        }
        let outcome = match self.state.take_main() {
            Main::Done(value, notes) => Outcome::Value(value, notes),
            Main::Running | Main::Failed(_) => Outcome::Failure(
                Failure::new(
                    "The program waits for a promise that will never settle: no call and no timer \
                     is under way.",
                )
                // A promise that could not be made for want of memory is not told of.
                .with_hint(
                    "Look for a new Promise(…) whose resolve is never called, and for promises without end that \
                     each wait for the next: they end when the memory is full.",
                ),
            ),
        };
        let unhandled = self.with(|_, prelude| {
            prelude.get::<_, Function>("unhandled")?.call::<_, Option<String>>(())
        })?;
        match (&outcome, unhandled) {
            (Outcome::Value(..), Some(described)) => Err(self.described(&described)),
            _ => Ok(Some(outcome)),
        }
    }

    /// Gives a call its answer.
    fn settle(&self, answered: Answered) -> Result<(), Outcome> {
        let Answered { id, outcome } = answered;
        if !self.state.is_answered(id) {
            return Ok(());
        }
        self.with(|ctx, prelude| match outcome {
            Ok(json) => match answers::parse(ctx, prelude, json) {
                Ok(value) => prelude.get::<_, Function>("settle")?.call::<_, ()>((id, value)),
                Err(error) => {
                    let why = answers::why(ctx, &error)?;
                    prelude.get::<_, Function>("refuse")?.call::<_, ()>((id, why))
                }
            },
            Err(why) => prelude.get::<_, Function>("refuse")?.call::<_, ()>((id, why)),
        })
    }

    /// Runs something in the engine; what is thrown there is the program's failure.
    fn with<T>(
        &self,
        work: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Outcome> {
        let outcome = self.context.with(|ctx| {
            let prelude = self.prelude.clone().restore(&ctx).map_err(|_| None)?;
            work(&ctx, &prelude).map_err(|error| match error {
                Error::Exception => {
                    let value = ctx.catch();
                    Some(Persistent::save(&ctx, value))
                }
                _ => None,
            })
        });
        outcome.map_err(|thrown: Option<Persistent<Value<'static>>>| match thrown {
            Some(thrown) => self.failure(thrown),
            None => Outcome::Stop(self.state.stop.get().unwrap_or(Stop::Memory)),
        })
    }

    /// The failure that was thrown.
    fn failure(&self, thrown: Persistent<Value<'static>>) -> Outcome {
        if self.state.is_over() {
            return Outcome::Stop(self.state.stop.get().unwrap_or(Stop::Wall));
        }
        // Where the memory is full there is none to tell of it, either.
        let enough = self.state.limits.memory_bytes.saturating_add(TO_TELL);
        self.runtime.set_memory_limit(bytes(enough));
        let described = self.context.with(|ctx| {
            let prelude = self.prelude.clone().restore(&ctx)?;
            let thrown = thrown.restore(&ctx)?;
            let described = prelude.get::<_, Function>("describe")?.call::<_, String>((thrown,));
            if described.is_err() {
                ctx.catch();
            }
            described
        });
        match described {
            Ok(described) => self.described(&described),
            Err(_) => self.described(""),
        }
    }

    fn described(&self, described: &str) -> Outcome {
        let Ok(Described { message, stack, call }) = serde_json::from_str(described) else {
            return Outcome::Failure(Failure::new("The program failed with what cannot be told."));
        };
        let place = stack.as_deref().and_then(first_place);
        let stop = match message.as_str() {
            "InternalError: out of memory" => Some(Stop::Memory),
            // The engine throws it where there is no memory for an error.
            "thrown: null" => {
                let message = format!(
                    "The program threw null; or it took more memory than the {} bytes that \
                     code.memory_bytes allows, which ends in the same.",
                    self.state.limits.memory_bytes
                );
                return Outcome::Failure(Failure::new(message));
            }
            "RangeError: Maximum call stack size exceeded" | "InternalError: stack overflow" => {
                Some(Stop::Stack)
            }
            _ => None,
        };
        let mut failure = match stop {
            Some(Stop::Memory) => return Outcome::Stop(Stop::Memory),
            Some(stop) => stop.failure(&self.state.limits, self.state.wall),
            None => {
                let hint = hints::for_message(&message);
                Failure { message, call, hint, ..Failure::default() }
            }
        };
        let source = self.state.positions.source();
        // A program can write what it likes there.
        if let Some(place) = place
            && crate::failure::line(source, place.line)
                .is_some_and(|line| place.column <= line.chars().count() + 1)
        {
            failure = failure.at(place, source);
        }
        Outcome::Failure(failure)
    }
}

fn evaluate<'js>(ctx: &Ctx<'js>, code: &str, name: &str) -> rquickjs::Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(code, options)
}

/// The prelude did not come to its end: there was too little memory or time for it.
fn without_prelude(ctx: &Ctx<'_>, error: &Error) -> Outcome {
    let thrown = match error {
        Error::Exception => ctx.catch().as_exception().and_then(rquickjs::Exception::message),
        other => Some(other.to_string()),
    };
    match thrown.as_deref() {
        Some("out of memory") | None => Outcome::Stop(Stop::Memory),
        Some("interrupted") => Outcome::Stop(Stop::Wall),
        Some(message) => {
            Outcome::Failure(Failure::new(format!("The engine did not start: {message}")))
        }
    }
}

/// The first place of the program in a stack trace.
fn first_place(stack: &str) -> Option<Place> {
    stack.lines().find_map(|frame| {
        let (_, place) = frame.rsplit_once(&format!("({PROGRAM}:"))?;
        let (line, column) = place.strip_suffix(')')?.split_once(':')?;
        Some(Place { line: line.parse().ok()?, column: column.parse().ok()? })
    })
}

fn bytes(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
