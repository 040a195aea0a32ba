//! Errors are told at their place in the source as it was written.

use forebay_sandbox::{Limits, Place};

use crate::harness::{run_with, sandbox};

#[test]
fn an_error_is_told_at_its_place_in_the_source() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        ("const n = null; n.x", "1:17"),
        ("interface A {\n  a: string;\n}\n\nconst a: A | null = null;\na.a", "6:1"),
        (
            "type A = { a: string };\ntype B = A & { b: number };\nfunction f(a: A): B {\n  throw new Error('x');\n}\nf({ a: '' })",
            "4:13",
        ),
        ("enum E { A, B }\nconst e: E = E.B;\nundefinedName(e)", "3:1"),
        ("const x = (await tools.a.items()) as { items: number[] };\nx.nothing.length", "2:1"),
        ("const f = <T,>(x: T): T => {\n  // a comment\n\n  return missing;\n};\nf(1)", "4:10"),
        (
            "class A<T> {\n  constructor(private x: T) {}\n  get y(): T { throw new Error('y') }\n}\nnew A(1).y",
            "3:26",
        ),
        (
            "class MyError extends Error {}\n\nfunction f() {\n  throw new MyError('x');\n}\nf()",
            "4:13",
        ),
        (
            "class A extends Error {\n  constructor(m: string) {\n    super(m);\n  }\n}\nclass B extends A {}\nthrow new B('x')",
            "7:11",
        ),
        ("class A {\n  constructor() { throw new Error('x') }\n}\nnew A()", "2:29"),
        ("const o = { a: 1 } satisfies object;\n  o.b.c", "2:3"),
        ("const ü = 'äöü😀'; ü.x.y", "1:19"),
        ("\tnothing.x", "1:2"),
        ("\r\n\r\n  nothing.x", "3:3"),
        ("const a = '\u{2028}', b = `\u{2029}`;\n  nothing.x", "2:3"),
        ("const a = 'x\r\n'", "1:11"),
        ("for (const x of [1, 2]) {\n  if (x === 2) throw new RangeError('two')\n}", "2:26"),
        ("await Promise.all([1].map(async (x) => {\n  await sleep(1);\n  x.y.z;\n}))", "3:3"),
        ("setTimeout(() => {\n  nothing()\n}, 1)", "2:3"),
        ("const r = tools.a.items();\nconst n = r.items.length", "2:11"),
        ("for (const x of tools.a.items()) {}", "1:25"),
        // Syntax.
        ("const x: number = ;", "1:19"),
        ("const a = 1;\nconst a = 2;", "1:7"),
        ("let x = {\n  a: 1\n  b: 2\n}", "3:3"),
        ("if (true) {\n  1\n", "3:1"),
        ("const s = 'abc", "1:11"),
        ("import fs from 'fs'", "1:1"),
        ("const m = 1;\nconst fs = await import('fs')", "2:18"),
        ("@d class A {}\nnew A()", "1:1"),
        ("return /(/", "1:9"),
        ("break", "1:1"),
    ];
    let mut wrong = Vec::new();
    for (source, expected) in cases {
        let failure = run_with(&sandbox, source).failure.unwrap();
        let place = failure.place.map(|Place { line, column }| format!("{line}:{column}"));
        if place.as_deref() != Some(expected) {
            wrong.push(format!("{source}\nexpected {expected}, not {place:?}\n{failure}"));
        }
        if let Some(place) = failure.place {
            let line = source.lines().nth(place.line - 1).unwrap_or_default();
            assert_eq!(failure.source_line.unwrap_or_default(), line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_syntax_error_shows_its_line() {
    let failure =
        run_with(&sandbox(Limits::default()), "const a = 1;\n\tconst b = a +;").failure.unwrap();
    let shown = "SyntaxError: Unexpected token\nat line 2, column 15:\n   const b = a +;\n                ^";
    assert_eq!(failure.to_string(), shown);
}
