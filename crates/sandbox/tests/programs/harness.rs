//! A sandbox with a host that answers a few functions.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use forebay_sandbox::{Answer, Host, HostCall, Limits, Run, Sandbox};

/// Long enough for whatever is not meant to come to it.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn sandbox(limits: Limits) -> Sandbox {
    Sandbox::new(limits, PathBuf::from(env!("CARGO_BIN_EXE_sandbox-worker")), Vec::new())
}

/// What a worker that runs a test's program may take.
pub(crate) fn small() -> Limits {
    Limits {
        wall: Duration::from_millis(400),
        memory_bytes: 32_000_000,
        output_bytes: 10_000,
        max_calls: 50,
        calls_at_once: 4,
        ..Limits::default()
    }
}

/// Answers `callMCPTool` by the name of the tool.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) called: Mutex<Vec<HostCall>>,
    /// The answers that were held back.
    pub(crate) held: Mutex<Vec<Answer>>,
    pub(crate) most_held: AtomicUsize,
    pub(crate) is_cancelled: AtomicBool,
}

impl Host for Desk {
    fn call(&self, called: HostCall, answer: Answer) {
        self.called.lock().unwrap().push(called.clone());
        let given: serde_json::Value = serde_json::from_str(&called.arguments).unwrap();
        match (called.function.as_str(), given[1].as_str()) {
            ("callMCPTool", Some("echo")) => answer.give(given[2].to_string().as_bytes()),
            ("callMCPTool", Some("items")) => answer.give(br#"{"items":[1,2,3]}"#),
            ("callMCPTool", Some("large")) => {
                answer.give(b"[9007199254740993, 1.5, -12345678901234567890123]");
            }
            ("callMCPTool", Some("raw")) => {
                answer.give(given[2]["text"].as_str().unwrap().as_bytes());
            }
            ("callMCPTool", Some("fail")) => answer.refuse("there is no such branch"),
            ("callMCPTool", Some("drop")) => drop(answer),
            ("callMCPTool", Some("gather")) => {
                let mut held = self.held.lock().unwrap();
                held.push(answer);
                self.most_held.fetch_max(held.len(), Ordering::SeqCst);
                if given[2]["of"] == held.len() {
                    held.drain(..).for_each(|answer| answer.give(b"true"));
                }
            }
            ("callMCPTool", Some("hold")) => {
                let mut held = self.held.lock().unwrap();
                held.push(answer);
                self.most_held.fetch_max(held.len(), Ordering::SeqCst);
            }
            ("callMCPTool", _) => answer.refuse(&format!("no tool {given}")),
            ("help", _) => answer.give(b"\"what there is\""),
            ("datasets.query", _) => answer.give(br#"[{"n":1}]"#),
            ("datasets.read", _) => answer.give(br#"{"text":"x"}"#),
            ("datasets.save", _) => answer.give(given.to_string().as_bytes()),
            _ => answer.refuse("no such function"),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }
}

pub(crate) fn desk() -> Arc<Desk> {
    Arc::default()
}

pub(crate) fn run_with(sandbox: &Sandbox, source: &str) -> Run {
    let host: Arc<dyn Host> = desk();
    sandbox.run(source, LONG, &host).unwrap()
}
