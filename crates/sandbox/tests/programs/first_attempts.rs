//! What models write before they know what is here: it works, or says how to make it work.

use forebay_sandbox::Limits;

use crate::harness::{run_with, sandbox};

#[test]
fn what_models_write_first_works_or_leads_to_what_works() {
    let sandbox = sandbox(Limits::default());
    let works = [
        ("const result = await callMCPTool('a', 'items', {});\nreturn result.items", "[1,2,3]"),
        ("const { items } = await tools.a.items();\nitems.map((x: number) => x * 2)", "[2,4,6]"),
        (
            "async function main() {\n  const r = await tools.a.items();\n  return r.items.length;\n}\nmain()",
            "3",
        ),
        ("async function main() { return 1 }\nmain();\n", "1"),
        ("async function main() { return 1 }\nawait main()", "1"),
        ("(async () => {\n  return (await tools.a.items()).items[0];\n})();", "1"),
        ("async () => {\n  return (await tools.a.items()).items[0];\n}", "1"),
        ("export default async function main() { return 1 }", "1"),
        ("export default async function () { return 1 }", "1"),
        ("export default { a: 1 };\nconsole.log('after')", r#"{"a":1}"#),
        ("module.exports = { a: 1 };", r#"{"a":1}"#),
        ("exports.a = 1; const x = 2", r#"{"a":1}"#),
        ("export const main = async () => 1;\nmain()", "1"),
        (
            "import type { Foo } from './types';\nimport { type Bar } from './bar';\nconst x: Foo = 1 as any; x",
            "1",
        ),
        ("#!/usr/bin/env node\n1", "1"),
        ("'use strict';\nreturn 2", "2"),
        ("return", "null"),
        (
            "const [a, b] = await Promise.all([tools.a.items(), datasets.query('x')]);\n({ n: a.items.length, b })",
            r#"{"n":3,"b":[{"n":1}]}"#,
        ),
        (
            "const results = [1, 2].map((i) => tools.a.echo({ i }));\nreturn results",
            r#"[{"i":1},{"i":2}]"#,
        ),
        (
            "const out = [];\nfor await (const r of [1, 2].map((i) => tools.a.echo({ i }))) out.push(r.i);\nout",
            "[1,2]",
        ),
        ("let total = 0;\nfor (const x of (await tools.a.items()).items) total += x;\ntotal;", "6"),
        ("const r = await tools.a.items() as any;\nr?.items?.[0] ?? 'none'", "1"),
        ("namespace N { export const x = 1 }\nN.x", "1"),
        (
            "abstract class A { abstract f(): number }\nclass B extends A { f() { return 2 } }\nnew B().f()",
            "2",
        ),
        ("JSON.parse(await tools.a.items()).items.length", "3"),
        ("return JSON.stringify({ id: 9007199254740993n })", r#""{\"id\":9007199254740993}""#),
        ("['b', 'a'].sort((a, b) => a.localeCompare(b))", r#"["a","b"]"#),
        ("const enum E { A = 'a' }\nE.A", "\"a\""),
        ("function f(x: string): string;\nfunction f(x: any) { return x }\nf('y')", "\"y\""),
        ("declare const tools: any;\n(await tools.a.items()).items.length", "3"),
        (
            "const data = JSON.parse(JSON.stringify(await tools.a.items()));\ndata",
            r#"{"items":[1,2,3]}"#,
        ),
        ("await new Promise((resolve) => setTimeout(resolve, 1));\n'done'", "\"done\""),
        (
            "const ok = await Promise.allSettled([tools.a.fail(), tools.a.items()]);\nok.map((r) => r.status)",
            r#"["rejected","fulfilled"]"#,
        ),
        ("await Promise.race([tools.a.items(), sleep(20000)]).then((r) => r.items.length)", "3"),
        ("tools.a.items().then((r) => r.items)", "[1,2,3]"),
    ];
    for (source, value) in works {
        // Timers that lost a race are waited for, as Node does.
        let source = source.replace("20000", "20");
        let run = run_with(&sandbox, &source);
        assert_eq!(
            (run.value.as_deref().unwrap_or("null"), run.failure),
            (value, None),
            "{source}"
        );
    }
    let leads = [
        ("async function main() {\n  return 1;\n}", "End it with: return await main();"),
        ("const fs = require('fs');", "there are no modules here"),
        ("import axios from 'axios';\naxios.get('x')", "There is: tools.<server>.<tool>(args)"),
        ("const r = await fetch('https://example.com');", "what is outside is reached by tools"),
        ("console.log(process.env.HOME)", "This is not Node"),
        ("const r = tools.a.items();\nreturn r.items", "write (await tools.a.items(…)).items"),
        (
            "const r = callMCPTool('a', 'items');\nJSON.stringify(r)",
            "write (await callMCPTool(\"a\", \"items\", …))",
        ),
        ("const { items } = tools.a.items();", "write (await tools.a.items(…)).items"),
        ("[...tools.a.items()]", "write (await tools.a.items(…))"),
        ("`${tools.a.items()}`", "write (await tools.a.items(…))"),
        ("datasets.query('SELECT 1')[0]", "write (await datasets.query(…))[0]"),
        ("'items' in tools", "await help()"),
        ("await tools.listServers()", "await help()"),
        ("function f() { return await tools.a.items() }\nf()", "SyntaxError"),
        ("@sealed\nclass A {}\nnew A()", "decorators are not supported"),
        ("const x = <div/>;", "SyntaxError"),
        ("setInterval(() => {}, 10)", "Use a loop with await sleep(ms)."),
        ("await new Promise((resolve) => {})", "never settle"),
    ];
    for (source, text) in leads {
        let failure = run_with(&sandbox, source).failure.unwrap();
        assert!(failure.to_string().contains(text), "{source}: {failure}");
    }
}

#[test]
fn nothing_said_is_told_apart_from_null() {
    let run = run_with(&sandbox(Limits::default()), "const x = 1;");
    assert_eq!((run.value, run.logged, run.failure), (None, Vec::new(), None));
}

#[test]
fn what_is_taken_for_a_value_and_is_none_leads_to_a_call() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        ("({ ...tools.a.items() })", "write (await tools.a.items(…))"),
        ("Object.keys(tools.a.items())", "write (await tools.a.items(…))"),
        ("Object.entries(callMCPTool('a', 'items'))", "write (await callMCPTool("),
        ("'items' in tools.a.items()", "write (await tools.a.items(…))"),
        (
            "return tools",
            "tools is no value: a tool is called as in await tools.<server>.<tool>({ … })",
        ),
        (
            "return { all: [tools.a] }",
            "tools.a is no value: a tool is called as in await tools.a.<tool>({ … })",
        ),
        ("tools.a + ''", "tools.a is no value"),
        (
            "`${tools.a.items}`",
            "tools.a.items is no value: it is called as in await tools.a.items({ … })",
        ),
        (
            "return tools.a.items",
            "tools.a.items is no value: it is called as in await tools.a.items({ … })",
        ),
        ("JSON.stringify(tools)", "tools is no value"),
        (
            "return datasets",
            "datasets is no value: it has query(sql), read(id, options) and save(name, value)",
        ),
    ];
    for (source, text) in cases {
        let run = run_with(&sandbox, source);
        let Some(failure) = run.failure else { panic!("{source}: {run:?}") };
        assert!(failure.to_string().contains(text), "{source}: {failure}");
    }
}

#[test]
fn nothing_is_called_that_is_not_meant() {
    let sandbox = sandbox(Limits::default());
    for source in ["return tools", "tools.a + ''", "return [tools.a]", "console.log(tools.a.items)"]
    {
        assert_eq!(run_with(&sandbox, source).calls, 0, "{source}");
    }
    let run = run_with(&sandbox, "console.log(tools.a); return { items: tools.a.items }");
    assert_eq!(run.logged, ["[tools.a: a tool is called as in await tools.a.<tool>({ … })]"]);
    assert_eq!(run.notes, ["value.items is a function items, given as nothing"]);
}

#[test]
fn texts_are_logged_with_what_their_formats_stand_for() {
    let cases = [
        ("'%s is %d', 'x', 5", "x is 5"),
        ("'%i %f %d', 4.7, '1.5', {}", "4 1.5 NaN"),
        ("'%j%o', { a: 1 }, [2]", r#"{"a":1}[2]"#),
        ("'%s', 'a', 'b', 3", "a b 3"),
        ("'%s %s', 'a'", "a %s"),
        ("'100%', 5", "100% 5"),
        ("'%d%% of %x', 5, 6", "5% of %x 6"),
        ("'%s%%'", "%s%%"),
        ("5, '%s', 6", "5 %s 6"),
        ("'%s', '%s', 'x'", "%s x"),
    ];
    let sandbox = sandbox(Limits::default());
    for (given, expected) in cases {
        assert_eq!(run_with(&sandbox, &format!("console.log({given})")).logged, [expected]);
    }
}

#[test]
fn errors_of_the_program_s_own_classes_have_their_names() {
    let cases = [
        ("class MyError extends Error {}\nthrow new MyError('x')", "MyError: x"),
        ("class A extends Error {}\nclass B extends A {}\nthrow new B()", "B"),
        ("class A extends Error { name = 'Other' }\nthrow new A('x')", "Other: x"),
        ("class A extends Error { get name() { return 'Other' } }\nthrow new A('x')", "Other: x"),
        ("class A extends Error { toString() { return 'mine' } }\nthrow new A('x')", "mine"),
        ("throw new TypeError('x')", "TypeError: x"),
        (
            "class A extends Error {}\nthrow new Error('x', { cause: new A('y') })",
            "Error: x\ncaused by: A: y",
        ),
    ];
    let sandbox = sandbox(Limits::default());
    for (source, expected) in cases {
        assert_eq!(run_with(&sandbox, source).failure.unwrap().message, expected, "{source}");
    }
}
