//! What becomes of a program's values.

use forebay_sandbox::Limits;

use crate::harness::{run_with, sandbox};

#[test]
fn values_become_json_and_what_is_lost_is_told() {
    let sandbox = sandbox(Limits::default());
    let cases: &[(&str, Option<&str>, &[&str])] = &[
        ("undefined", None, &[]),
        ("const x = 1", None, &[]),
        ("null", Some("null"), &[]),
        ("'ü \\ud83d\\ude00'", Some("\"ü 😀\""), &[]),
        (
            "'\\ud800'",
            Some("\"\\ufffd\""),
            &["value has halves of surrogate pairs, given as U+FFFD"],
        ),
        ("[1.5, -0, 1e21, true]", Some("[1.5,0,1e+21,true]"), &[]),
        ("({ a: undefined, b: [undefined] })", Some(r#"{"b":[null]}"#), &[]),
        (
            "({ n: [NaN, -Infinity] })",
            Some(r#"{"n":[null,null]}"#),
            &["value.n[0] is NaN, given as null", "value.n[1] is -Infinity, given as null"],
        ),
        ("NaN", Some("null"), &["value is NaN, given as null"]),
        ("2n ** 64n", Some("18446744073709551616"), &[]),
        ("new Map([['a', 1], ['__proto__', 2]])", Some(r#"{"a":1,"__proto__":2}"#), &[]),
        ("new Map([[1, 'a'], ['b', new Map()]])", Some(r#"[[1,"a"],["b",{}]]"#), &[]),
        ("({ s: new Set([1, [2]]) })", Some(r#"{"s":[1,[2]]}"#), &[]),
        ("new Date(0)", Some("\"1970-01-01T00:00:00.000Z\""), &[]),
        ("[new Date(NaN)]", Some("[null]"), &["value[0] is no valid date, given as null"]),
        ("new TypeError('x')", Some(r#"{"name":"TypeError","message":"x"}"#), &[]),
        ("/a+/g", Some("\"/a+/g\""), &[]),
        ("new Uint8Array([1, 2])", Some("[1,2]"), &[]),
        ("new Map([['a', 1]]).keys()", Some(r#"["a"]"#), &[]),
        (
            "({ f: () => 1, s: Symbol('x'), k: 1 })",
            Some(r#"{"k":1}"#),
            &["value.f is a function f, given as nothing", "value.s is a symbol, given as nothing"],
        ),
        (
            "class A { x = 1; #y = 2; toJSON() { return { y: this.#y } } }\nnew A()",
            Some(r#"{"y":2}"#),
            &[],
        ),
        ("const a = { x: 1 }; return [a, a]", Some(r#"[{"x":1},{"x":1}]"#), &[]),
        ("[tools.a.items(), 1]", Some(r#"[{"items":[1,2,3]},1]"#), &[]),
        (
            "({ a: tools.a.items(), b: Promise.resolve(2) })",
            Some(r#"{"a":{"items":[1,2,3]},"b":2}"#),
            &[],
        ),
        (
            "(await tools.a.large()).map((n) => typeof n)",
            Some(r#"["bigint","number","bigint"]"#),
            &[],
        ),
        ("tools.a.large()", Some("[9007199254740993,1.5,-12345678901234567890123]"), &[]),
        (
            "callMCPTool('a', 'echo', { id: (await tools.a.large())[0] })",
            Some(r#"{"id":9007199254740993}"#),
            &[],
        ),
    ];
    for (source, value, notes) in cases {
        let run = run_with(&sandbox, source);
        assert_eq!(run.failure, None, "{source}");
        assert_eq!(
            (run.value.as_deref(), run.notes.as_slice()),
            (*value, notes.map_strings().as_slice()),
            "{source}"
        );
    }
}

#[test]
fn json_that_a_program_parses_has_the_values_that_an_answer_has() {
    let sandbox = sandbox(Limits::default());
    for (source, value) in [
        (
            "JSON.parse('[9007199254740993,1.5,9007199254740992]')",
            "[9007199254740993,1.5,9007199254740992]",
        ),
        ("JSON.parse('-12345678901234567890123')", "-12345678901234567890123"),
        (
            "JSON.parse('[9007199254740993,9007199254740992,1]').map(n => typeof n)",
            r#"["bigint","number","number"]"#,
        ),
        // Whichever comes last counts.
        (r#"JSON.parse('{"a":1,"a":9007199254740993}')"#, r#"{"a":9007199254740993}"#),
        (
            r#"JSON.parse('{"a":9007199254740993,"a":"9007199254740993"}')"#,
            r#"{"a":"9007199254740993"}"#,
        ),
        (
            r#"JSON.parse('{"id":9007199254740993,"n":[2,9007199254740992]}', (key, value) => key === 'n' ? value.length : value)"#,
            r#"{"id":9007199254740993,"n":2}"#,
        ),
        (
            r#"const seen = []; JSON.parse('{"a":[9007199254740993],"b":1}', function (key, value, { source }) { seen.push([key, source ?? '', this.b ?? 0]); return value }); seen"#,
            r#"[["0","9007199254740993",0],["a","",1],["b","1",1],["","",0]]"#,
        ),
        ("JSON.parse('[1]', null)", "[1]"),
        ("JSON.parse(JSON.parse('9007199254740993'))", "9007199254740993"),
        (r#"JSON.parse('"\ud83d"').length"#, "1"),
        // What is no JSON is none with such numbers, either.
        (
            "['[09007199254740993]', '9007199254740993n', '[9007199254740993', '+9007199254740993'].map(text => { try { return JSON.parse(text) } catch (error) { return error.name } })",
            r#"["SyntaxError","SyntaxError","SyntaxError","SyntaxError"]"#,
        ),
    ] {
        let run = run_with(&sandbox, source);
        assert_eq!((run.value.as_deref(), run.failure), (Some(value), None), "{source}");
    }
}

#[test]
fn a_value_that_has_no_json_is_a_failure_that_says_where() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        (
            "const a = { list: [{}] }; a.list[0].up = a; return a",
            "value.list[0].up is the same object",
        ),
        ("({ a: { b: Promise.resolve(1) } })", "value.a.b is a promise that was not awaited"),
        ("(a, b) => a + b", "that wants arguments"),
        ("() => () => 1", "a function that gives a function"),
    ];
    for (source, message) in cases {
        let failure = run_with(&sandbox, source).failure.unwrap();
        assert!(failure.message.contains(message), "{source}: {failure}");
    }
}

#[test]
fn what_is_logged_is_shown_as_text() {
    let sandbox = sandbox(Limits::default());
    let cases = [
        ("console.log('a', 1, null, undefined, true)", "a 1 null undefined true"),
        ("console.info({ a: [1, { b: 'c' }] })", r#"{"a":[1,{"b":"c"}]}"#),
        ("console.warn(new Map([['a', 1]]), new Set([1]))", r#"{"a":1} [1]"#),
        ("console.error(10n, NaN, [NaN])", r#"10 NaN ["[NaN]"]"#),
        ("console.debug(() => 1, Symbol('x'))", "[a function ] [a symbol]"),
        ("const o = {}; o.o = o; console.log(o)", r#"{"o":"[the same as around it]"}"#),
        ("console.log(tools.a.items())", "[a promise that was not awaited]"),
        ("console.log()", ""),
        (
            "function f() { console.log(new Error('x')) }\nf()",
            "Error: x\n    at f (program:1:32)\n    at <anonymous> (program:2:1)",
        ),
    ];
    for (source, text) in cases {
        let run = run_with(&sandbox, source);
        assert_eq!(
            (run.logged.as_slice(), run.failure),
            ([text.to_owned()].as_slice(), None),
            "{source}"
        );
    }
}

trait Strings {
    fn map_strings(&self) -> Vec<String>;
}

impl Strings for &[&str] {
    fn map_strings(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}
