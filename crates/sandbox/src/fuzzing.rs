//! A program's whole way from its source to its end, within this process. Compiled for tests and fuzz
//! targets alone (`--cfg fuzzing`).

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::{
    Failure, Limits,
    engine::{self, Answered, Port, Prepared},
    failure,
};

/// Runs a program whose calls are all answered with `null`, and gives what it failed with.
///
/// # Panics
///
/// If the failure is at a place that the source does not have.
pub fn run(source: &str) -> Option<Failure> {
    run_within(source, Duration::from_millis(50))
}

/// The same, for so long at most.
fn run_within(source: &str, wall: Duration) -> Option<Failure> {
    let limits = Limits {
        // Other threads' time is counted, too.
        cpu: Duration::from_secs(3600),
        memory_bytes: 16_000_000,
        output_bytes: 10_000,
        max_calls: 20,
        ..Limits::default()
    };
    let prepared = Prepared::new().ok()?;
    let failure = engine::run(prepared, source, &limits, wall, Null(VecDeque::new())).failure?;
    if let Some(place) = failure.place {
        let line = failure::line(source, place.line).unwrap_or_default();
        let is_there = (1..=source.lines().count() + 1).contains(&place.line)
            && (1..=line.chars().count() + 1).contains(&place.column);
        assert!(is_there, "{failure:?}");
        assert_eq!(failure.source_line.as_deref().unwrap_or_default(), line);
    }
    assert!(!failure.to_string().is_empty());
    Some(failure)
}

/// Answers every call with `null`, in the order in which they came.
struct Null(VecDeque<u64>);

impl Port for Null {
    fn log(&mut self, _text: &str) {}

    fn call(&mut self, id: u64, _function: &str, _arguments: &str) {
        self.0.push_back(id);
    }

    fn wait(&mut self, until: Instant) -> Option<Answered> {
        let answer = self.0.pop_front();
        if answer.is_none() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        answer.map(|id| Answered { id, outcome: Ok(b"null".to_vec()) })
    }

    fn ready(&mut self) -> Option<Answered> {
        self.0.pop_front().map(|id| Answered { id, outcome: Ok(b"null".to_vec()) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What programs are made of.
    const PARTS: &[&str] = &[
        "const a = ",
        "let b: number = ",
        "await ",
        "return ",
        "tools.a.b(",
        "datasets.query(",
        "callMCPTool('a', 'b'",
        ")",
        "(",
        "{",
        "}",
        "[",
        "]",
        ";",
        "\n",
        ",",
        "=>",
        "async ",
        "function f",
        "a",
        "b",
        "1",
        "'x'",
        "`${",
        "}`",
        "/x/g",
        "null",
        ".x",
        "?.",
        "as any",
        "<T>",
        ": string",
        "interface A {",
        "enum E {",
        "class A ",
        "export default ",
        "import ",
        "throw ",
        "new Error(",
        "console.log(",
        "if (",
        "else ",
        "for (const x of ",
        "try {",
        "} catch {",
        "sleep(1)",
        "…",
        "😀",
        "\u{2028}",
        "\r\n",
        "\\",
        "//",
        "/*",
        "*/",
        "@d ",
        "#",
        "typeof ",
        "this",
        "yield ",
        "=",
        "+",
        "!",
        "&&",
        "...",
        "help(",
        "Promise.all(",
    ];

    fn source() -> impl Strategy<Value = String> {
        let parts = proptest::collection::vec(proptest::sample::select(PARTS), 0..30);
        prop_oneof![3 => parts.prop_map(|parts| parts.concat()), 1 => "\\PC{0,80}"]
    }

    /// On a stack as large as a worker has.
    fn apart(run: impl FnOnce() -> Option<Failure> + Send + 'static) -> Option<Failure> {
        std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap()
    }

    proptest! {
        #[test]
        fn any_source_runs_or_fails_at_a_place_that_it_has(source in source()) {
            apart(move || run(&source));
        }
    }

    #[test]
    fn a_program_runs_within_this_process() {
        // They end by themselves, however busy the machine is.
        let wall = Duration::from_secs(30);
        let run = |source: &'static str| apart(move || run_within(source, wall));
        assert_eq!(run("tools.a.b()"), None);
        let failure = run("const x = 1;\nx.y.z").unwrap();
        assert_eq!(failure.place.unwrap().line, 2);
    }
}
