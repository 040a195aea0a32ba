//! Attempts to get out, to get at the host's own, or to take more than is allowed. Each has an outcome
//! that is known.

use std::{sync::Arc, time::Duration};

use forebay_sandbox::{Host, Limits, Sandbox};

use crate::harness::{LONG, desk, sandbox, small};

use self::Outcome::{Fails, Gives, Stops};

#[derive(Clone, Copy)]
enum Outcome {
    /// It comes to its end, and gives this JSON.
    Gives(&'static str),
    /// It fails with a message that has this in it.
    Fails(&'static str),
    /// It is stopped by the limit with this key.
    Stops(&'static str),
}

type Attempt = (&'static str, &'static str, Outcome);

const NO_CODE: Outcome = Fails("EvalError: code is not made from text here");
const WALL: Outcome = Stops("code.wall_seconds");
const MEMORY: Outcome = Stops("code.memory_bytes");
const STACK: Outcome = Fails("the stack is full");

/// Code from text.
const CODE: &[Attempt] = &[
    ("eval", "eval('1')", NO_CODE),
    ("indirect eval", "(0, eval)('1')", NO_CODE),
    ("eval by the global object", "globalThis['ev' + 'al']('1')", NO_CODE),
    ("eval given back", "globalThis.eval = (x) => x; 1", Fails("TypeError")),
    ("Function", "new Function('return 1')()", NO_CODE),
    ("Function without new", "Function('return 1')()", NO_CODE),
    ("Function by a function", "(() => {}).constructor('return 1')()", NO_CODE),
    ("Function by a method", "[].map.constructor('return 1')()", NO_CODE),
    ("Function by a class", "(class {}).constructor('return 1')()", NO_CODE),
    ("Function by two constructors", "''.constructor.constructor('return 1')()", NO_CODE),
    ("Function by a prototype", "Object.getPrototypeOf(function () {}).constructor('x')", NO_CODE),
    ("Function by Reflect", "Reflect.construct((() => {}).constructor, ['return 1'])", NO_CODE),
    (
        "Function by Reflect with another target",
        "Reflect.construct(Function, ['return 1'], Array)",
        NO_CODE,
    ),
    ("Function by a subclass", "class F extends Function {}\nnew F('return 1')", NO_CODE),
    ("Function by bind", "Function.bind(null, 'return 1')()", NO_CODE),
    ("Function by call", "Function.call(null, 'return 1')", NO_CODE),
    ("async function", "(async () => {}).constructor('return 1')()", NO_CODE),
    ("generator function", "(function* () {}).constructor('yield 1')()", NO_CODE),
    ("async generator function", "(async function* () {}).constructor('yield 1')()", NO_CODE),
    (
        "what async functions inherit from",
        "const f = Object.getPrototypeOf(async () => {}); return Object.getPrototypeOf(f.constructor) === f",
        Gives("false"),
    ),
    (
        "the constructor of functions overwritten",
        "Function.prototype.constructor = 1",
        Fails("TypeError"),
    ),
    (
        "the constructor of functions deleted",
        "delete Function.prototype.constructor",
        Fails("TypeError"),
    ),
    ("a function of a call's", "tools.a.b.constructor('return 1')()", NO_CODE),
    ("a function of the console's", "console.log.constructor('return 1')()", NO_CODE),
    ("code for a timer", "setTimeout('1', 0)", Fails("callback is a function")),
    ("a tag as a constructor", "(() => {}).constructor`return 1`", NO_CODE),
    ("functions are still functions", "(() => {}) instanceof Function", Gives("true")),
];

/// What other places have.
const ABSENT: &[Attempt] = &[
    ("import()", "await import('fs')", Fails("there are no modules")),
    ("import() in a function", "async () => import('fs')", Fails("there are no modules")),
    ("import.meta", "import.meta.url", Fails("there are no modules")),
    ("import", "import { readFileSync } from 'node:fs'; 1", Fails("there are no modules")),
    ("import for its effect", "import 'fs'; 1", Fails("there are no modules")),
    ("import by assignment", "import fs = require('fs'); 1", Fails("there are no modules")),
    ("export from", "export * from 'fs'", Fails("there are no modules")),
    ("require", "require('fs')", Fails("there are no modules")),
    ("process", "process.env", Fails("process is not defined")),
    ("fetch", "await fetch('http://localhost')", Fails("fetch is not defined")),
    (
        "std and os",
        "[typeof std, typeof os, typeof bjson]",
        Gives(r#"["undefined","undefined","undefined"]"#),
    ),
    ("print and gc", "[typeof print, typeof gc]", Gives(r#"["undefined","undefined"]"#)),
    ("Atomics", "Atomics.wait(new Int32Array(4), 0, 0)", Fails("Atomics is not defined")),
    ("SharedArrayBuffer", "new SharedArrayBuffer(8)", Fails("SharedArrayBuffer is not defined")),
    ("WebAssembly", "new WebAssembly.Module()", Fails("WebAssembly is not defined")),
    ("performance", "performance.now()", Fails("performance is not defined")),
    ("WeakRef", "new WeakRef({})", Fails("WeakRef is not defined")),
    (
        "FinalizationRegistry",
        "new FinalizationRegistry(() => {})",
        Fails("FinalizationRegistry is not defined"),
    ),
    ("setInterval", "setInterval(() => {}, 1)", Fails("setInterval is not defined")),
    ("with", "with ({}) { 1 }", Fails("SyntaxError")),
    ("arguments.callee", "(function () { return arguments.callee })()", Fails("TypeError")),
    ("the caller", "(function f() { return f.caller })()", Fails("TypeError")),
    ("this at the top", "typeof this", Gives("\"undefined\"")),
    ("this in a function", "(function () { return typeof this })()", Gives("\"undefined\"")),
    ("a global by accident", "leaked = 1", Fails("leaked is not defined")),
    (
        "a clock finer than a millisecond",
        "Number.isInteger(Date.now()) && Number.isInteger(+new Date())",
        Gives("true"),
    ),
];

/// Errors, and what they tell.
const ERRORS: &[Attempt] = &[
    (
        "a stack with paths",
        "try { null.x } catch (e) { return /[\\/]|forebay|prelude|native/.test(e.stack) }",
        Gives("false"),
    ),
    (
        "a stack of a call's",
        "try { await tools.a.fail() } catch (e) { return e.stack.trim() }",
        Gives("\"at <anonymous> (program:1:21)\""),
    ),
    (
        "Error.prepareStackTrace",
        "let sites = 0; Error.prepareStackTrace = (_, s) => { sites = s; return '' }; new Error().stack; return sites",
        Gives("0"),
    ),
    ("Error.captureStackTrace", "Error.captureStackTrace({})", Fails("TypeError")),
    (
        "Error.stackTraceLimit",
        "Error.stackTraceLimit = { valueOf() { throw 1 } }; return typeof new Error().stack",
        Gives("\"string\""),
    ),
    (
        "a stack that lies",
        "const e = new Error('x'); e.stack = 'at f (program:999999:7)'; throw e",
        Fails("Error: x"),
    ),
    (
        "a message that throws",
        "throw { get message() { throw 1 }, toString() { throw 2 } }",
        Fails("cannot be shown"),
    ),
    (
        "an error that cannot be shown",
        "const e = new Error(); Object.defineProperty(e, 'toString', { get() { throw 1 } }); throw e",
        Fails("cannot be shown"),
    ),
    (
        "a proxy thrown",
        "throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } })",
        Fails("thrown"),
    ),
    ("null thrown", "throw null", Fails("threw null")),
    ("a symbol thrown", "throw Symbol('x')", Fails("thrown: [a symbol]")),
    ("a lone surrogate", "throw new Error('\\ud800')", Fails("Error: \u{fffd}")),
    ("a zero byte", "console.log('a\\0b'); return 'a\\0b'", Gives(r#""a\u0000b""#)),
];

/// The host's own objects.
const TAMPERING: &[Attempt] = &[
    ("tools replaced", "globalThis.tools = {}", Fails("TypeError")),
    ("tools changed", "tools.git = 1", Fails("tools cannot be changed")),
    (
        "tools defined",
        "Object.defineProperty(tools, 'x', { value: 1 })",
        Fails("tools cannot be changed"),
    ),
    (
        "tools given a prototype",
        "Object.setPrototypeOf(tools, {})",
        Fails("tools cannot be changed"),
    ),
    ("tools listed", "Object.keys(tools)", Fails("await help()")),
    ("tools called", "tools('a')", Fails("tools.<server>.<tool>(args)")),
    ("the console replaced", "console.log = 1", Fails("TypeError")),
    ("a dataset function replaced", "datasets.query = 1", Fails("TypeError")),
    ("a global deleted", "delete globalThis.callMCPTool", Fails("TypeError")),
    (
        "a global redefined",
        "Object.defineProperty(globalThis, 'help', { value: 1 })",
        Fails("TypeError"),
    ),
    (
        "a call's promise changed",
        "const p = tools.a.items(); p.then = 1",
        Fails("cannot be changed"),
    ),
    (
        "a call's prototype changed",
        "const p = tools.a.items(); Object.getPrototypeOf(p).then = 1",
        Fails("TypeError"),
    ),
    (
        "Promise.prototype.then replaced",
        "Promise.prototype.then = () => { throw 1 }; return (await tools.a.items()).items",
        Gives("[1,2,3]"),
    ),
    (
        "JSON replaced",
        "JSON.stringify = () => 'x'; JSON.parse = () => 'y'; return (await tools.a.items()).items",
        Gives("[1,2,3]"),
    ),
    (
        "Map.prototype replaced",
        "Map.prototype.set = Map.prototype.get = Map.prototype.forEach = () => { throw 1 }; return await tools.a.echo({ a: 1 })",
        Gives(r#"{"a":1}"#),
    ),
    (
        "Array.prototype with setters",
        "Object.defineProperty(Array.prototype, 0, { set() { throw new Error('set') }, configurable: true }); return [1]",
        Fails("cannot be told"),
    ),
    (
        "Object.prototype.toJSON",
        "Object.prototype.toJSON = () => 'mine'; return await tools.a.items()",
        Fails("the arguments of a call are no array"),
    ),
    (
        "Object.prototype.then",
        "Object.prototype.then = function (r) { delete Object.prototype.then; r('caught') }; return await {}",
        Gives("\"caught\""),
    ),
    (
        "__proto__ in an answer",
        "const x = await tools.a.raw({ text: '{\"__proto__\":{\"polluted\":1}}' }); return [({}).polluted, Object.keys(x)]",
        Gives(r#"[null,["__proto__"]]"#),
    ),
    (
        "__proto__ in an answer with a large number",
        "const x = await tools.a.raw({ text: '{\"__proto__\":{\"polluted\":9007199254740993}}' }); return [({}).polluted ?? 0]",
        Gives("[0]"),
    ),
    (
        "a mark of our own in an answer",
        "return await tools.a.raw({ text: '[{\"exact0\":\"1\"},9007199254740993]' })",
        Gives(r#"[{"exact0":"1"},9007199254740993]"#),
    ),
    (
        "an answer that is no JSON",
        "await tools.a.raw({ text: '{' })",
        Fails("the answer is not JSON"),
    ),
    (
        "an answer nested deeply",
        "await tools.a.raw({ text: '['.repeat(100000) })",
        Fails("the answer is not JSON"),
    ),
    (
        "arguments with getters",
        "return await tools.a.echo({ get a() { return 7 } })",
        Gives(r#"{"a":7}"#),
    ),
    (
        "arguments that throw",
        "await tools.a.echo({ get a() { throw new Error('mine') } })",
        Fails("Error: mine"),
    ),
    (
        "a name with line feeds",
        "await callMCPTool('a\\nb', 'c\\nhelp')",
        Fails(r#"no tool ["a\nb","c\nhelp"]"#),
    ),
    (
        "a name that is an object",
        "await callMCPTool({ toString: () => 'a' }, 'b')",
        Fails("server is a text"),
    ),
    ("a symbol as a tool", "tools[Symbol.iterator]", Gives("null")),
    ("a thenable returned", "return { then(r) { r('settled') } }", Gives("\"settled\"")),
    ("a thenable that settles twice", "return { then(r, f) { r(1); r(2); f(3) } }", Gives("1")),
    (
        "a proxy returned",
        "return new Proxy({ a: 1 }, { ownKeys: () => ['a'], get: () => 2 })",
        Gives(r#"{"a":2}"#),
    ),
    (
        "a revoked proxy returned",
        "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy]",
        Fails("TypeError"),
    ),
    (
        "Symbol.hasInstance on Promise",
        "Object.defineProperty(Promise, Symbol.hasInstance, { value: () => true }); return 1",
        Gives("1"),
    ),
    (
        "globals of one run",
        "globalThis.left = 1; Array.prototype.left = 1; return globalThis.left",
        Gives("1"),
    ),
    (
        "globals of the next run",
        "[typeof left, typeof [].left]",
        Gives(r#"["undefined","undefined"]"#),
    ),
];

/// More than is allowed.
const BOMBS: &[Attempt] = &[
    ("an endless loop", "for (;;) {}", WALL),
    ("a labelled loop", "a: for (;;) { for (;;) continue a }", WALL),
    (
        "an endless loop in a catch",
        "try { for (;;) {} } catch { return 'caught' } finally { for (;;) {} }",
        WALL,
    ),
    (
        "an interrupt caught again and again",
        "const f = () => { try { for (;;) {} } catch { f() } finally { f() } }; f()",
        WALL,
    ),
    (
        "an interrupt caught across await",
        "const f = async () => { for (;;) {} }; for (;;) { try { await f() } catch {} }",
        WALL,
    ),
    ("an endless generator", "function* g() { for (;;) yield 1 }\nfor (const x of g()) {}", WALL),
    (
        "an endless async generator",
        "async function* g() { for (;;) yield 1 }\nfor await (const x of g()) {}",
        WALL,
    ),
    ("microtasks without end", "for (;;) await null", WALL),
    // Each waits for the next until memory or time is over, whichever a machine comes to first.
    ("promises without end", "const f = () => Promise.resolve().then(f); await f()", Fails("")),
    ("queueMicrotask without end", "const f = () => queueMicrotask(f); f()", WALL),
    ("timers without end", "const f = () => setTimeout(f, 0); f()", WALL),
    ("a long sleep", "await sleep(1e12)", WALL),
    (
        "a timer of no number",
        "await sleep(NaN); await sleep(-1); await sleep(undefined); return 1",
        Gives("1"),
    ),
    (
        "an endless iterator",
        "[...{ [Symbol.iterator]() { return this }, next() { return { done: false } } }]",
        Stops("code."),
    ),
    ("an endless getter", "const o = { get a() { for (;;) {} } }; return o", WALL),
    ("an endless toJSON", "return { toJSON() { for (;;) {} } }", WALL),
    ("an endless toString", "console.log(`${{ toString() { for (;;) {} } }}`)", WALL),
    ("an endless comparison", "[2, 1].sort(() => { for (;;) {} })", WALL),
    ("an endless replacement", "'x'.replace(/x/, () => { for (;;) {} })", WALL),
    ("an endless proxy", "new Proxy({}, { get() { for (;;) {} } }).x", WALL),
    ("a thenable without end", "await { then(r) { r(this) } }", WALL),
    ("a regular expression", "/^(a+)+$/.test('a'.repeat(40) + 'b')", WALL),
    ("a regular expression that replaces", "'a'.repeat(40).replace(/^(a|aa)+$b/, '')", WALL),
    ("a sparse array searched", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", WALL),
    ("a sparse array joined", "new Array(2 ** 32 - 1).join('')", Stops("code.")),
    ("a promise that never settles", "await new Promise(() => {})", Fails("never settle")),
    (
        "an await of one that awaits itself",
        "const p = (async () => { await 0; return p })(); await p",
        Fails("TypeError"),
    ),
    ("a long text", "'x'.repeat(2 ** 29)", MEMORY),
    ("a longer text", "'x'.repeat(2 ** 40)", Fails("RangeError")),
    ("a text that doubles", "let s = 'x'; for (;;) s += s", Fails("")),
    ("a text that is padded", "'x'.padEnd(2 ** 29)", MEMORY),
    ("an array that grows", "const a = []; for (;;) a.push(a.length)", Stops("code.")),
    ("an array that is filled", "new Array(1e8).fill(1)", MEMORY),
    (
        "an array of arrays",
        "let a = []; for (;;) a = [a, a.slice(), new Array(1000).fill(a)]",
        Stops("code."),
    ),
    (
        "an array's length",
        "const a = []; a.length = 2 ** 32 - 1; return a.length",
        Gives("4294967295"),
    ),
    (
        "an array's length returned",
        "const a = []; a.length = 2 ** 32 - 1; return a",
        Stops("code."),
    ),
    ("a typed array", "new Float64Array(1e8)", MEMORY),
    ("a typed array beyond all", "new Uint8Array(2 ** 53)", Fails("RangeError")),
    ("a buffer", "new ArrayBuffer(1e9)", MEMORY),
    ("a map that grows", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)", Stops("code.")),
    ("objects that grow", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i", Stops("code.")),
    (
        "closures that grow",
        "let f = () => 1; for (;;) { const g = f; f = () => g }",
        Stops("code."),
    ),
    ("a large number", "let n = 2n; for (;;) n *= n", Fails("RangeError")),
    ("a large number at once", "2n ** (2n ** 40n)", Fails("")),
    (
        "memory that is caught",
        "const a = []; try { for (;;) a.push(new Array(1e5).fill(0)) } catch (e) { return 'caught' }",
        Gives("\"caught\""),
    ),
    (
        "memory that is caught again and again",
        "const a = []; for (;;) { try { a.push(new Array(1e5).fill(0)) } catch {} }",
        WALL,
    ),
    ("promises that grow", "const a = []; for (;;) a.push(new Promise(() => {}))", Stops("code.")),
    ("timers that grow", "for (;;) setTimeout(() => {}, 1e6)", Stops("code.")),
    ("recursion", "const f = () => f() + 1; f()", STACK),
    ("recursion of two", "const f = () => g() + 1, g = () => f() + 1; f()", STACK),
    (
        "recursion that is caught",
        "const f = () => { try { return f() } catch { return 1 } }; return f()",
        Gives("1"),
    ),
    ("recursion by toString", "const o = { toString() { return `${o}` } }; `${o}`", STACK),
    (
        "recursion by toJSON",
        "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
        STACK,
    ),
    ("recursion by sort", "const f = () => [2, 1].sort(f); f()", STACK),
    ("recursion by replace", "const f = () => 'x'.replace(/x/, f); f()", STACK),
    ("recursion by a getter", "const o = { get a() { return this.a } }; o.a", STACK),
    ("recursion by a proxy", "const p = new Proxy({}, { get: (t, k) => p[k] }); p.x", STACK),
    ("recursion by a constructor", "class A { constructor() { new A() } }\nnew A()", STACK),
    ("recursion by a tag", "const f = () => f`x`; f()", STACK),
    (
        "recursion by bind",
        "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f()",
        Fails(""),
    ),
    (
        "a value nested deeply",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a",
        Fails("nested more than 1000 deep"),
    ),
    ("JSON nested deeply", "JSON.parse('['.repeat(1e6))", Fails("")),
    ("a regular expression nested deeply", "new RegExp('('.repeat(1e5))", Fails("")),
    ("logs without end", "for (;;) console.log('x'.repeat(1000))", WALL),
    ("calls without end", "for (;;) tools.a.hold()", Stops("code.max_calls")),
    (
        "calls that are caught",
        "for (;;) { try { await tools.a.items() } catch {} }",
        Stops("code.max_calls"),
    ),
    ("a value that is too long", "'x'.repeat(20000)", Stops("code.output_bytes")),
];

/// Everything that a program can name without having made it.
const GLOBALS: &str = "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array \
    BigUint64Array Boolean DataView Date DisposableStack Error EvalError Float16Array Float32Array \
    Float64Array Function Infinity Int16Array Int32Array Int8Array Iterator JSON Map Math NaN Number \
    Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol \
    SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap \
    WeakSet callMCPTool clearTimeout console datasets decodeURI decodeURIComponent encodeURI \
    encodeURIComponent eval exports globalThis help isFinite isNaN module parseFloat parseInt \
    queueMicrotask require setTimeout sleep tools undefined";

#[test]
fn a_program_finds_what_it_should_and_nothing_else() {
    let source =
        "Reflect.ownKeys(globalThis).filter((k) => typeof k === 'string').sort().join(' ')";
    let host: Arc<dyn Host> = desk();
    let run = sandbox(Limits::default()).run(source, LONG, &host).unwrap();
    let found: String = serde_json::from_str(&run.value.unwrap()).unwrap();
    assert_eq!(found, GLOBALS);
}

#[test]
fn nothing_gets_out_and_nothing_takes_more_than_it_may() {
    let groups = [CODE, ABSENT, ERRORS, TAMPERING, BOMBS];
    let attempts = groups.concat();
    assert!(attempts.len() >= 80);
    let limits = Limits { wall: LONG, ..small() };
    let sandbox = sandbox(limits);
    std::thread::scope(|scope| {
        let wrong: Vec<_> = attempts
            .chunks(attempts.len().div_ceil(2))
            .map(|chunk| scope.spawn(|| chunk.iter().filter_map(|a| wrong(&sandbox, *a)).collect()))
            .collect();
        let wrong: Vec<String> = wrong
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|_| vec!["panicked".to_owned()]))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    });
}

/// What went otherwise than expected.
fn wrong(sandbox: &Sandbox, (name, source, expected): Attempt) -> Option<String> {
    let host: Arc<dyn Host> = desk();
    let wall = match expected {
        Stops("code.wall_seconds") => Duration::from_millis(150),
        // Whichever limit it comes to first.
        Stops("code.") => Duration::from_secs(3),
        // Long enough to come to any other limit.
        Gives(_) | Fails(_) | Stops(_) => LONG,
    };
    let run = match sandbox.run(source, wall, &host) {
        Ok(run) => run,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    let message = run.failure.as_ref().map(|failure| failure.message.as_str());
    let is_right = match expected {
        Gives(value) => run.value.as_deref().unwrap_or("null") == value && message.is_none(),
        Fails(part) | Stops(part) => message.is_some_and(|message| message.contains(part)),
    };
    (!is_right).then(|| format!("{name}: {source}\n{:?} {message:?}", run.value))
}
