//! Calls of the host's functions.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use forebay_sandbox::{Host, Limits};

use crate::harness::{LONG, desk, run_with, sandbox, small};

#[test]
fn names_and_arguments_reach_the_host_as_they_were_written() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        (r#"callMCPTool("git", "log", { n: 1 })"#, "callMCPTool", r#"["git","log",{"n":1}]"#),
        (r#"callMCPTool("git", "log")"#, "callMCPTool", r#"["git","log"]"#),
        ("tools.git.log({ n: 1 })", "callMCPTool", r#"["git","log",{"n":1}]"#),
        (r#"tools["my-server"]["do-it"]({})"#, "callMCPTool", r#"["my-server","do-it",{}]"#),
        ("tools.my_server.do_it()", "callMCPTool", r#"["my_server","do_it"]"#),
        (
            "const { log } = tools.git; log({ a: [1n, 'ü'] })",
            "callMCPTool",
            r#"["git","log",{"a":[1,"ü"]}]"#,
        ),
        ("help()", "help", "[]"),
        ("help('git')", "help", r#"["git"]"#),
        ("datasets.query('SELECT 1')", "datasets.query", r#"["SELECT 1"]"#),
        ("datasets.read('ds_1', { limit: 2 })", "datasets.read", r#"["ds_1",{"limit":2}]"#),
        ("datasets.save('name', [{ a: 1 }])", "datasets.save", r#"["name",[{"a":1}]]"#),
    ];
    for (source, function, arguments) in cases {
        let desk = desk();
        let host: Arc<dyn Host> = desk.clone();
        // What the host makes of it is not asked here.
        sandbox.run(&format!("{source}.catch(() => 0)"), LONG, &host).unwrap();
        let called = desk.called.lock().unwrap();
        assert_eq!(called.len(), 1, "{source}");
        assert_eq!(
            (called[0].function.as_str(), called[0].arguments.as_str()),
            (function, arguments)
        );
    }
}

#[test]
fn what_cannot_be_an_argument_is_refused() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        ("tools.a.echo({ n: { m: [NaN] } })", "args.n.m[0] is NaN, which JSON cannot hold"),
        ("tools.a.echo({ f() {} })", "args.f is a function f"),
        (
            "tools.a.echo({ p: tools.a.items() })",
            "this call was not awaited: write (await tools.a.items(…))",
        ),
        ("tools.a.echo({ p: Promise.resolve(1) })", "args.p is a promise that was not awaited"),
        ("tools.a.echo('text')", "tools.a.echo(…): the arguments of a tool are one object, as in"),
        ("tools.a.echo({}, {})", "tools.a.echo(…): the arguments of a tool are one object"),
        (
            "const o = {}; o.o = o; tools.a.echo(o)",
            "args.o is the same object as one that it is in",
        ),
        ("tools.echo({})", "write tools.<server>.echo(…); see: await help()"),
        ("tools.run_code({})", "Forebay's own tools are not among them"),
        (
            "callMCPTool('a')",
            "tool is a text that is not empty; write callMCPTool(\"a\", \"tool\", { … })",
        ),
        ("callMCPTool('a__echo', { x: 1 })", "write callMCPTool(\"a\", \"echo\", { … })"),
        ("datasets.list()", "datasets.list is not there; it has query(sql)"),
        ("datasets.save('a', tools.a.items())", "the value is a promise that was not awaited"),
        (
            "const o = { a: {} }; o.a.b = o; tools.a.echo(o)",
            "args.a.b is the same object as one that it is in",
        ),
    ];
    for (source, message) in cases {
        let failure = run_with(&sandbox, source).failure.unwrap();
        assert!(failure.message.contains(message), "{source}: {failure}");
        assert!(failure.place.is_some(), "{source}: {failure}");
    }
}

#[test]
fn calls_run_at_once_as_many_as_may() {
    let sandbox = sandbox(Limits { wall: LONG, ..small() });
    let together = "await Promise.all([1, 2, 3, 4].map(() => tools.a.gather({ of: 4 })))";
    assert_eq!(run_with(&sandbox, together).value.as_deref(), Some("[true,true,true,true]"));
    let desk = desk();
    let host: Arc<dyn Host> = desk.clone();
    let source = "await Promise.all([1, 2, 3, 4, 5, 6].map(() => tools.a.hold()))";
    let run = sandbox.run(source, Duration::from_secs(3), &host).unwrap();
    let message = run.failure.unwrap().message;
    assert!(message.contains("code.wall_seconds"), "{message}");
    assert!(message.contains("6 calls were not answered"), "{message}");
    assert_eq!((desk.most_held.load(Ordering::SeqCst), run.calls), (4, 6));
}

#[test]
fn a_call_that_fails_is_named_and_can_be_caught() {
    let sandbox = sandbox(Limits::default());
    let source =
        "await tools.a.items();\nconst x = await tools.git.fail({ branch: 'x' });\nreturn x";
    let failure = run_with(&sandbox, source).failure.unwrap();
    let shown = "there is no such branch\nat line 2, column 27:\n  \
                 const x = await tools.git.fail({ branch: 'x' });\n                            ^\n\
                 in tools.git.fail(…), call no. 2";
    assert_eq!(failure.to_string(), shown);
    let caught =
        "try { await tools.a.fail() } catch (e) { return [e instanceof Error, e.name, e.message] }";
    let value = run_with(&sandbox, caught).value.unwrap();
    assert_eq!(value, r#"[true,"ToolError","there is no such branch"]"#);
    let dropped = run_with(&sandbox, "await tools.a.drop()").failure.unwrap();
    assert_eq!(dropped.message, "the call was given up without an answer");
    let wrapped =
        "try { await tools.a.fail() } catch (e) { throw new Error('no log', { cause: e }) }";
    let failure = run_with(&sandbox, wrapped).failure.unwrap();
    assert_eq!(failure.message, "Error: no log\ncaused by: ToolError: there is no such branch");
    assert_eq!(failure.call.as_deref(), Some("tools.a.fail(…), call no. 1"));
}

#[test]
fn what_is_under_way_when_the_program_ends_is_waited_for() {
    let sandbox = sandbox(Limits::default());
    let source = "tools.a.items().then((r) => console.log(r.items.length));\n\
                  setTimeout(() => console.log('later'), 10);\nreturn 'first'";
    let run = run_with(&sandbox, source);
    assert_eq!(run.value.as_deref(), Some("\"first\""));
    assert_eq!(run.logged, ["3", "later"]);
    let lost = run_with(&sandbox, "tools.a.fail(); return 1").failure.unwrap();
    assert_eq!(lost.message, "there is no such branch");
    let handled = "const p = tools.a.fail(); await sleep(5); return await p.catch(() => 'late')";
    assert_eq!(run_with(&sandbox, handled).value.as_deref(), Some("\"late\""));
    let thrown = run_with(&sandbox, "setTimeout(() => { throw new Error('in a timer') }); 1");
    assert_eq!(thrown.failure.unwrap().message, "Error: in a timer");
}

#[test]
fn a_program_that_polls_hears_its_answers() {
    let source = "let done = false; tools.a.items().then(() => { done = true });\n\
                  while (!done) await sleep(0);\nreturn done";
    assert_eq!(run_with(&sandbox(Limits::default()), source).value.as_deref(), Some("true"));
}

#[test]
fn a_value_is_kept_if_only_calls_are_late_that_it_does_not_need() {
    let host: Arc<dyn Host> = desk();
    let source = "return await Promise.race([tools.a.hold(), tools.a.items()])";
    let sandbox = sandbox(Limits { wall: LONG, ..small() });
    let run = sandbox.run(source, Duration::from_secs(3), &host).unwrap();
    assert_eq!(run.value.as_deref(), Some(r#"{"items":[1,2,3]}"#));
    assert!(run.failure.unwrap().message.ends_with("1 call was not answered by then."));
}

#[test]
fn help_is_printed_and_given() {
    let run =
        run_with(&sandbox(Limits::default()), "const text = await help('git'); return text.length");
    assert_eq!(
        (run.value.as_deref(), run.logged.as_slice()),
        (Some("13"), ["what there is".to_owned()].as_slice())
    );
}
