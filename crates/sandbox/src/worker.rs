//! The process that programs run in, one after the other.
//!
//! Two threads: one hears what is to run, runs it and hears the answers to its calls; the other sees to it that a
//! program which does not heed its limits, because it is deep in a function of the engine's that cannot be
//! interrupted, is ended together with the process, and so is one that nobody waits for. Both are there before the
//! process gives up what it does not need.

mod input;
mod output;
mod watch;

use std::{
    cell::RefCell,
    process,
    rc::Rc,
    sync::{Arc, Barrier},
    thread,
    time::{Duration, Instant},
};

use forebay_system::pipes;
use serde::{Deserialize, Serialize};

use self::{input::Input, output::Output, watch::Watch};
use crate::{
    Limits, SandboxError, confine,
    engine::{self, Answered, Port, Prepared},
    frame::Kind,
};

/// How long a worker waits for its first program.
const FIRST: Duration = Duration::from_secs(60);

/// The stack of the thread that parses and runs programs: the parser calls itself for whatever is
/// nested.
const STACK_BYTES: usize = 64 << 20;

/// A program to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) source: String,
    pub(crate) wall: Duration,
    pub(crate) limits: Limits,
}

/// Runs the programs that come on standard input, until it closes or none comes for a while.
pub fn serve() -> Result<(), SandboxError> {
    let output = Arc::new(Output::new(pipes::stdout()?));
    let watch = Arc::new(Watch::new(pipes::stdin()?));
    let input = pipes::stdin()?;
    let barrier = Arc::new(Barrier::new(2));
    let (to_run, watched, said) = (barrier.clone(), watch.clone(), output.clone());
    thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // A thread that is just starting needs what a running one does not.
        to_run.wait();
        to_run.wait();
        run_all(Input::new(input), &said, &watched);
        process::exit(0)
    })?;
    barrier.wait();
    confine::for_good();
    barrier.wait();
    watch.time(&output)
}

/// Runs one program after the other, until whoever asks is gone.
fn run_all(input: Input, output: &Arc<Output>, watch: &Watch) {
    let mut idle = FIRST;
    let input = Rc::new(RefCell::new(input));
    while let Ok(prepared) = Prepared::new() {
        let Some(ask) = input.borrow_mut().ask(Instant::now() + idle) else { return };
        idle = ask.limits.idle;
        confine::to(&ask.limits);
        output.begin();
        watch.begin(&ask);
        let port = Pipe { output: output.clone(), input: input.clone() };
        let ending = engine::run(prepared, &ask.source, &ask.limits, ask.wall, port);
        watch.end();
        output.end(&ending);
        if ending.is_spent {
            return;
        }
    }
}

/// Standard input and output, as a program's way out.
struct Pipe {
    output: Arc<Output>,
    input: Rc<RefCell<Input>>,
}

impl Port for Pipe {
    fn log(&mut self, text: &str) {
        self.output.add(Kind::Log, 0, &[text.as_bytes()]);
    }

    fn call(&mut self, id: u64, function: &str, arguments: &str) {
        self.output.add(Kind::Call, id, &[function.as_bytes(), b"\n", arguments.as_bytes()]);
    }

    fn wait(&mut self, until: Instant) -> Option<Answered> {
        self.output.flush();
        self.input.borrow_mut().answer(until)
    }

    fn ready(&mut self) -> Option<Answered> {
        self.input.borrow_mut().ready_answer()
    }
}
