// What a program sees besides the language: calls, datasets, help, console, timers. It is evaluated
// before the program, in the same context, and hands the worker the functions that it drives it with.
//
// `native` holds the worker's own functions. They stay in here; but nothing depends on that, because all
// they do is what a program may do anyway.
(function (native) {
  "use strict";
  const { apply, get: reflectGet, ownKeys } = Reflect;
  const { create, defineProperty, getOwnPropertyDescriptor, freeze, fromEntries, getPrototypeOf, setPrototypeOf } = Object;
  const { isArray, from: arrayFrom } = Array;
  const { parse, stringify, rawJSON } = JSON;
  const { isFinite } = Number;
  const toBigInt = BigInt;
  const { isView } = ArrayBuffer;
  const uncurry = (method) => (self, ...given) => apply(method, self, given);
  const forEachOfMap = uncurry(Map.prototype.forEach);
  const forEachOfSet = uncurry(Set.prototype.forEach);
  const wellFormed = uncurry(String.prototype.toWellFormed);
  const matches = uncurry(RegExp.prototype.test);
  const indexOf = uncurry(String.prototype.indexOf);
  const slice = uncurry(String.prototype.slice);
  const hasOwn = uncurry(Object.prototype.hasOwnProperty);
  const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf);
  const then = uncurry(Promise.prototype.then);
  const lastly = uncurry(Promise.prototype.finally);
  const all = (promises) => apply(Promise.all, Promise, [promises]);
  const isPromise = (value) => value instanceof Promise;

  const THERE =
    "tools.<server>.<tool>(args), callMCPTool(server, tool, args), " +
    "datasets.query(sql), datasets.read(id), datasets.save(name, value), help(), console.log(...)";
  const MAX_DEPTH = 1000;

  // --- Values as JSON -------------------------------------------------------------------------------

  // What becomes of a value that JSON has no form for: `notes` are taken, it is refused, or it is shown.
  const NOTED = 0, REFUSED = 1, SHOWN = 2;

  const step = (key) =>
    matches(/^[0-9]+$/, key) ? `[${key}]` : matches(/^[A-Za-z_$][\w$]*$/, key) ? `.${key}` : `[${stringify(key)}]`;

  // What JSON writes as it is: most arguments and values.
  const objectPrototype = Object.prototype;
  const MAX_PLAIN_DEPTH = 16;
  function isPlain(value, depth) {
    switch (typeof value) {
      case "string": case "boolean": return true;
      case "number": return isFinite(value);
      case "object": break;
      default: return false;
    }
    if (value === null) return true;
    if (depth > MAX_PLAIN_DEPTH) return false;
    if (isArray(value)) {
      for (let at = 0; at < value.length; at++) if (!isPlain(value[at], depth + 1)) return false;
      return true;
    }
    if (getPrototypeOf(value) !== objectPrototype) return false;
    for (const key of ownKeys(value)) if (typeof key !== "string" || !isPlain(value[key], depth + 1)) return false;
    return true;
  }

  function write(value, mode, root, notes) {
    return isPlain(value, 0) ? stringify(value) : writeWithCare(value, mode, root, notes);
  }

  function writeWithCare(value, mode, root, notes) {
    const originals = [], holders = [], keys = [];
    let depth = 0;
    const path = (key) => {
      if (depth === 0) return isArray(root) ? "arguments" : root;
      const steps = [...keys.slice(1, depth), key];
      const first = isArray(root) ? root[steps[0]] : root + step(steps[0]);
      return steps.slice(1).reduce((text, key) => text + step(key), first);
    };
    const lost = (key, what, otherwise) => {
      if (mode === SHOWN) return `[${what}]`;
      if (mode === REFUSED) throw new TypeError(`${path(key)} is ${what}, which JSON cannot hold`);
      notes[notes.length] = wellFormed(`${path(key)} is ${what}, given as ${otherwise === null ? "null" : "nothing"}`);
      return otherwise;
    };
    const plain = (key, given) => {
      switch (typeof given) {
        case "bigint": return rawJSON(`${given}`);
        case "number": return isFinite(given) ? given : lost(key, `${given}`, null);
        case "function": return lost(key, `a function ${given.name}`, undefined);
        case "symbol": return lost(key, "a symbol", undefined);
        case "object": break;
        default: return given;
      }
      if (given === null || isArray(given)) return given;
      if (isPromise(given)) {
        if (mode === SHOWN) return "[a promise that was not awaited]";
        throw new TypeError(`${path(key)} is a promise that was not awaited`);
      }
      if (given instanceof Map) {
        const pairs = [];
        let hasNames = true;
        forEachOfMap(given, (item, name) => {
          hasNames &&= typeof name === "string";
          pairs[pairs.length] = [name, item];
        });
        return hasNames ? fromEntries(pairs) : pairs;
      }
      if (given instanceof Set) {
        const items = [];
        forEachOfSet(given, (item) => { items[items.length] = item; });
        return items;
      }
      if (given instanceof Error) {
        return { name: nameOf(given), message: given.message, ...given };
      }
      if (given instanceof RegExp) return `${given}`;
      if (isView(given)) return arrayFrom(given instanceof DataView ? new Uint8Array(given.buffer) : given);
      if (given instanceof ArrayBuffer) return arrayFrom(new Uint8Array(given));
      if (typeof given.next === "function" && typeof given[Symbol.iterator] === "function") return arrayFrom(given);
      return given;
    };
    return stringify(value, function (key, given) {
      while (depth > 0 && holders[depth - 1] !== this) depth--;
      if (given === null && this[key] instanceof Date) return lost(key, "no valid date", null);
      if (typeof given === "object" && given !== null) {
        for (let at = 0; at < depth; at++) {
          if (originals[at] === given) {
            if (mode === SHOWN) return "[the same as around it]";
            throw new TypeError(`${path(key)} is the same object as one that it is in: a cycle has no JSON`);
          }
        }
        if (depth >= MAX_DEPTH) throw new TypeError(`the value is nested more than ${MAX_DEPTH} deep`);
      }
      const out = plain(key, given);
      if (typeof out === "object" && out !== null) {
        originals[depth] = given;
        holders[depth] = out;
        keys[depth] = key;
        depth++;
      }
      return out;
    });
  }

  // A class of the program's own names its errors, unless it gives them another name.
  function nameOf(error) {
    const prototype = getPrototypeOf(error);
    if (hasOwn(error, "name") || prototype === null || hasOwn(prototype, "name")) return error.name;
    const made = prototype.constructor;
    return typeof made === "function" && typeof made.name === "string" && made.name !== "" ? made.name : error.name;
  }

  function titled(error) {
    const text = `${error}`;
    const { name } = error;
    const better = nameOf(error);
    return better !== name && typeof name === "string" && slice(text, 0, name.length) === name
      ? better + slice(text, name.length) : text;
  }

  function show(value) {
    const told = textOf(noValues, value);
    if (told !== undefined) return `[${told.what}: ${told.use}]`;
    switch (typeof value) {
      case "string": return value;
      case "function": return `[a function ${value.name}]`;
      case "symbol": return "[a symbol]";
      case "object": break;
      default: return `${value}`;
    }
    if (value instanceof Error) {
      const { stack } = value;
      return `${titled(value)}${typeof stack === "string" && stack !== "" ? `\n${stack}` : ""}`;
    }
    if (isPromise(value)) return "[a promise that was not awaited]";
    return write(value, SHOWN, "value", []) ?? "undefined";
  }

  // --- Calls ----------------------------------------------------------------------------------------

  class ToolError extends Error {
    get name() { return "ToolError"; }
  }
  // By the number of the call: its promise's functions, and its text.
  const pending = create(null);
  const texts = new WeakMap();
  const textOf = uncurry(WeakMap.prototype.get);
  const setText = uncurry(WeakMap.prototype.set);

  const notAwaited = (promise, use) =>
    new TypeError(`this call was not awaited: write (await ${textOf(texts, promise)})${use}`);
  const promised = {
    then: (promise) => (resolved, rejected) => then(promise, resolved, rejected),
    catch: (promise) => (rejected) => then(promise, undefined, rejected),
    finally: (promise) => (done) => lastly(promise, done),
    constructor: () => Promise,
  };
  setPrototypeOf(promised, null);
  const callPrototype = freeze(create(Promise.prototype));
  const lookedAt = (promise) => {
    throw notAwaited(promise, "");
  };
  const changed = () => {
    throw new TypeError("a call's promise cannot be changed");
  };
  // Whoever looks for anything on a call's promise, or into it, meant the result.
  const callTraps = {
    get(promise, key) {
      if (promised[key] !== undefined) return promised[key](promise);
      if (typeof key === "string") throw notAwaited(promise, key === "toJSON" ? "" : step(key));
      if (key === Symbol.toStringTag) return "Promise";
      if (key === Symbol.iterator || key === Symbol.asyncIterator || key === Symbol.toPrimitive) lookedAt(promise);
      return undefined;
    },
    getPrototypeOf: () => callPrototype,
    has: lookedAt,
    ownKeys: lookedAt,
    getOwnPropertyDescriptor: lookedAt,
    set: changed,
    defineProperty: changed,
    deleteProperty: changed,
    setPrototypeOf: changed,
    preventExtensions: changed,
  };
  setPrototypeOf(callTraps, null);

  // The stack as the engine writes it. Only for a call that fails are its places found in the source: to do so
  // for each would take longer than the call.
  const PlainError = Error;
  const traceWith = uncurry(getOwnPropertyDescriptor(Error, "prepareStackTrace").set);
  function whereabouts() {
    traceWith(PlainError, undefined);
    try {
      return new PlainError().stack;
    } finally {
      traceWith(PlainError, trace);
    }
  }

  // An error is told at the place where it is made, and not within its class.
  function trace(error, sites) {
    let first = 0;
    try {
      while (sites[first].isConstructor() && isPrototypeOf(sites[first].getFunction().prototype, error)) first++;
    } catch {
      // Without such a place it is told at the first.
      first = 0;
    }
    return native.trace(sites, first);
  }

  // `names` are those of what is given.
  function call(text, name, names, given, mode, after) {
    const notes = [];
    const json = write(given, mode, names, notes);
    const stack = whereabouts();
    const id = native.call(name, json);
    const promise = new Promise((resolve, reject) => {
      pending[id] = { resolve, reject, text, stack, after };
    });
    setText(texts, promise, text);
    return new Proxy(promise, callTraps);
  }

  function settle(id, value) {
    const { resolve, after } = pending[id];
    delete pending[id];
    resolve(after === undefined ? value : after(value));
  }

  function refuse(id, message) {
    const { reject, text, stack } = pending[id];
    delete pending[id];
    const error = new ToolError(message);
    defineProperty(error, "call", { value: `${text}, call no. ${id}` });
    defineProperty(error, "stack", { value: native.places(stack), writable: true, configurable: true });
    reject(error);
  }

  const needsText = (value, what) => {
    if (typeof value !== "string" || value === "") throw new TypeError(`${what} is a text that is not empty`);
  };

  // A client of a gateway knows tools by one name, that of the server and their own together.
  function withoutTool(server) {
    const between = indexOf(server, "__");
    const own = between > 0 ? slice(server, between + 2) : "";
    const meant = own === "" ? [server, "tool"] : [slice(server, 0, between), own];
    return "callMCPTool(server, tool, args): tool is a text that is not empty; write " +
      `callMCPTool(${stringify(meant[0])}, ${stringify(meant[1])}, { … })`;
  }

  function callMCPTool(server, tool, args, ...more) {
    needsText(server, "callMCPTool(server, tool, args): server");
    if (typeof tool !== "string" || tool === "") throw new TypeError(withoutTool(server));
    const text = `callMCPTool(${stringify(server)}, ${stringify(tool)}, …)`;
    return callTool(text, server, tool, args, more);
  }

  function callTool(text, server, tool, args, more) {
    if (more.length > 0) throw new TypeError(`${text}: the arguments of a tool are one object`);
    if (args !== undefined && (typeof args !== "object" || args === null || isArray(args))) {
      throw new TypeError(`${text}: the arguments of a tool are one object, as in { name: value }`);
    }
    const given = args === undefined ? [server, tool] : [server, tool, args];
    return call(text, "callMCPTool", ["server", "tool", "args"], given, REFUSED);
  }

  // What stands for tools or datasets is no value; whoever takes it for one is told what it is.
  const noValues = new WeakMap();
  const refuseAsValue = (value) => {
    const told = textOf(noValues, value);
    if (told !== undefined) throw new TypeError(`${told.what} is no value: ${told.use}`);
  };
  const noValue = (what, use, value) => {
    setText(noValues, value, { what, use });
    return value;
  };
  // A promise is looked for by `then`: that name is not meant.
  const isMeant = (key) => typeof key === "string" && key !== "then";
  const unknowable = () => {
    throw new TypeError("which servers and tools there are is told by: await help()");
  };
  const unchangeable = () => {
    throw new TypeError("tools cannot be changed");
  };
  const frozenFunction = () => {
    const target = () => {};
    delete target.name;
    delete target.length;
    return freeze(target);
  };
  const directory = (what, use, found, applied) => {
    const made = new Proxy(frozenFunction(), {
      get: (target, key) => {
        if (key === "toJSON" || key === Symbol.toPrimitive) return () => refuseAsValue(made);
        return isMeant(key) ? found(key) : undefined;
      },
      apply: applied,
      has: unknowable,
      ownKeys: unknowable,
      set: unchangeable,
      defineProperty: unchangeable,
      deleteProperty: unchangeable,
      setPrototypeOf: unchangeable,
    });
    return noValue(what, use, made);
  };
  // Each is made once: most programs call the same few in a loop.
  const once = (make) => {
    const made = create(null);
    return (name) => (made[name] ??= make(name));
  };
  const serverTools = once((server) => {
    const before = `tools${step(server)}`;
    const tool = once((name) => {
      const path = `${before}${step(name)}`;
      const text = `${path}(…)`;
      const body = defineProperty((args, ...more) => callTool(text, server, name, args, more), "name", { value: name });
      defineProperty(body, Symbol.toPrimitive, { value: () => refuseAsValue(body) });
      return noValue(path, `it is called as in await ${path}({ … })`, freeze(body));
    });
    return directory(before, `a tool is called as in await ${before}.<tool>({ … })`, tool, () => {
      throw new TypeError(
        `${before}(…) names no server: write tools.<server>${step(server)}(…); see: await help(). Forebay's own tools are ` +
        "not among them: in a program there are datasets.query(sql), datasets.read(id) and datasets.save(name, value)");
    });
  });
  const callOne = "a tool is called as in await tools.<server>.<tool>({ … }); see: await help()";
  const tools = directory("tools", callOne, serverTools, () => {
    throw new TypeError("tools(…) is no function: write tools.<server>.<tool>(args); see: await help()");
  });

  const named = (name, body) => freeze(defineProperty(body, "name", { value: name }));
  const datasetFunctions = {
    query: named("query", (sql) => {
      needsText(sql, "datasets.query(sql): sql");
      return call("datasets.query(…)", "datasets.query", ["sql"], [sql], REFUSED);
    }),
    read: named("read", (id, options) => {
      needsText(id, "datasets.read(id, options): id");
      const given = options === undefined ? [id] : [id, options];
      return call("datasets.read(…)", "datasets.read", ["id", "options"], given, REFUSED);
    }),
    save: named("save", (name, value) => {
      needsText(name, "datasets.save(name, value): name");
      if (value === undefined) throw new TypeError("datasets.save(name, value): the value is undefined");
      if (isPromise(value)) throw new TypeError("datasets.save(name, value): the value is a promise that was not awaited");
      return call("datasets.save(…)", "datasets.save", ["name", "value"], [name, value], NOTED);
    }),
  };
  setPrototypeOf(datasetFunctions, null);
  const DATASETS = "it has query(sql), read(id, options) and save(name, value)";
  const datasets = noValue("datasets", DATASETS, new Proxy(freeze(datasetFunctions), {
    get(target, key) {
      if (key === "toJSON" || key === Symbol.toPrimitive) return () => refuseAsValue(datasets);
      if (key in target || !isMeant(key)) return target[key];
      throw new TypeError(`datasets${step(key)} is not there; ${DATASETS}`);
    },
  }));

  const help = named("help", (what) =>
    call("help(…)", "help", ["what"], what === undefined ? [] : [`${what}`], REFUSED, (text) => {
      native.log(wellFormed(show(text)));
      return text;
    }));

  // --- Timers ---------------------------------------------------------------------------------------

  const timers = create(null);
  let lastTimer = 0;
  const setTimeout = named("setTimeout", (callback, milliseconds, ...given) => {
    if (typeof callback !== "function") throw new TypeError("setTimeout(callback, milliseconds): callback is a function");
    const wait = +milliseconds;
    const id = ++lastTimer;
    timers[id] = { callback, given };
    native.timer(id, wait > 0 ? wait : 0);
    return id;
  });
  const clearTimeout = named("clearTimeout", (id) => {
    if (typeof id === "number" && timers[id] !== undefined) {
      delete timers[id];
      native.clear(id);
    }
  });
  const sleep = named("sleep", (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
  function fire(id) {
    const { callback, given } = timers[id];
    delete timers[id];
    apply(callback, undefined, given);
  }

  // --- The rest of what is there --------------------------------------------------------------------

  // What `%s` and the like in a first text stand for, as in Node.
  const number = (value) => (typeof value === "symbol" ? NaN : Number(value));
  const formats = {
    s: show,
    d: (value) => `${typeof value === "bigint" ? value : number(value)}`,
    i: (value) => `${typeof value === "bigint" ? value : parseInt(show(value))}`,
    f: (value) => `${parseFloat(show(value))}`,
    j: (value) => `${stringify(value)}`,
    o: show,
    O: show,
    c: () => "",
  };
  setPrototypeOf(formats, null);
  // Gives the text of the first, and how many of the others are in it.
  function formatted(given) {
    const [form] = given;
    let text = "", from = 0, used = 1;
    for (let at = indexOf(form, "%"); at >= 0; at = indexOf(form, "%", at)) {
      const kind = form[at + 1];
      if (kind === "%" || (formats[kind] !== undefined && used < given.length)) {
        text += slice(form, from, at) + (kind === "%" ? "%" : formats[kind](given[used++]));
        from = at + 2;
      }
      at += from === at + 2 ? 2 : 1;
    }
    return { text: text + slice(form, from), used };
  }
  const log = (...given) => {
    const isForm = given.length > 1 && typeof given[0] === "string";
    let { text, used } = isForm ? formatted(given) : { text: given.length > 0 ? show(given[0]) : "", used: 1 };
    for (let at = used; at < given.length; at++) text += ` ${show(given[at])}`;
    native.log(wellFormed(text));
  };
  const console = {};
  for (const name of ["log", "info", "warn", "error", "debug", "dir", "table", "trace"]) {
    console[name] = named(name, (...given) => log(...given));
  }
  const noModules = (what) =>
    new TypeError(`${what}: there are no modules here. There is: ${THERE}, and the objects of JavaScript itself`);
  const require = named("require", (name) => {
    throw noModules(`require(${stringify(name)})`);
  });
  const module = {};
  defineProperty(module, "exports", {
    get: () => exportsOf,
    set: (value) => { exportsOf = value; isExported = true; },
  });
  freeze(module);
  let exportsOf = {};
  let isExported = false;
  const microtask = named("queueMicrotask", (callback) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask(callback): callback is a function");
    then(Promise.resolve(), () => callback());
  });

  // What these take is passed over by the engine, and would give another answer than elsewhere.
  const noLocales = (prototype, names, plain) => {
    for (const name of names) {
      const original = prototype[name];
      const method = function (...given) {
        if (given.length > plain) {
          throw new RangeError(`${name}: there are no locales and time zones here; write the form out, as with toFixed() or toISOString()`);
        }
        return apply(original, this, given);
      };
      defineProperty(prototype, name, { value: named(name, method), writable: true, configurable: true });
    }
  };
  noLocales(Number.prototype, ["toLocaleString"], 0);
  noLocales(BigInt.prototype, ["toLocaleString"], 0);
  noLocales(Date.prototype, ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"], 0);
  noLocales(String.prototype, ["localeCompare"], 1);

  // A whole number that a number cannot hold is written as it came.
  defineProperty(BigInt.prototype, "toJSON", {
    value: named("toJSON", function () { return rawJSON(`${this}`); }),
    writable: true,
    configurable: true,
  });

  // A number of a text that is parsed with a reviver.
  const MAX_EXACT = 2n ** 53n;
  const exactly = (value, source) => {
    if (typeof value !== "number" || !matches(/^-?[0-9]{16,}$/, source)) return value;
    const whole = toBigInt(source);
    return whole > MAX_EXACT || whole < -MAX_EXACT ? whole : value;
  };

  // A call gives JSON as values; whoever parses it again, as a text, means them. Any other text has the same values
  // as if a call had given it.
  const parsed = (text, reviver) => {
    if (typeof text === "bigint" || (typeof text === "object" && text !== null)) return text;
    if (typeof reviver === "function") {
      return parse(text, function (key, value, context) {
        return apply(reviver, this, [key, exactly(value, context.source), context]);
      });
    }
    const marked = typeof text === "string" ? native.marked(text) : undefined;
    return marked === undefined ? parse(text) : exact(marked[0], marked[1]);
  };
  defineProperty(JSON, "parse", { value: named("parse", parsed), writable: true, configurable: true });

  // --- What must not be there -----------------------------------------------------------------------

  for (const name of ["Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "performance",
    "DOMException", "navigator", "gc", "print", "scriptArgs", "std", "os", "bjson", "InternalError", "escape", "unescape"]) {
    delete globalThis[name];
  }
  const noCode = () => {
    throw new EvalError("code is not made from text here; write it into the program itself");
  };
  const poisoned = function Function() { noCode(); };
  defineProperty(poisoned, "prototype", { value: getPrototypeOf(noCode), writable: false });
  freeze(poisoned);
  const functions = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const body of functions) {
    defineProperty(getPrototypeOf(body), "constructor", { value: poisoned, writable: false, configurable: false });
  }
  Error.prepareStackTrace = trace;
  Error.stackTraceLimit = 32;
  delete Error.prepareStackTrace;
  delete Error.captureStackTrace;
  delete Error.stackTraceLimit;

  const globals = {
    tools, callMCPTool: freeze(callMCPTool), datasets, help, console: freeze(console), setTimeout, clearTimeout, sleep,
    queueMicrotask: microtask, require, module, Function: poisoned, eval: named("eval", noCode),
  };
  for (const name of ownKeys(globals)) {
    defineProperty(globalThis, name, { value: globals[name], writable: false, enumerable: false, configurable: false });
  }
  defineProperty(globalThis, "exports", { get: () => exportsOf, configurable: false });

  // --- The program's run ----------------------------------------------------------------------------

  // Promises right within what is returned are awaited, too.
  async function awaited(value) {
    if (isArray(value)) return value.some(isPromise) ? await all(value) : value;
    if (typeof value !== "object" || value === null) return value;
    const prototype = getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    const keys = ownKeys(value);
    let plain = value;
    for (const key of keys) {
      if (typeof key !== "string" || !isPromise(value[key])) continue;
      if (plain === value) plain = { ...value };
      plain[key] = await value[key];
    }
    return plain;
  }

  async function result(main) {
    let value = await main();
    if (value === undefined && (isExported || ownKeys(exportsOf).length > 0)) value = await exportsOf;
    refuseAsValue(value);
    if (typeof value === "function") {
      if (value.length > 0) {
        throw new TypeError(
          `the program's value is a function, ${value.name || "which has no name"}, that wants arguments; ` +
          `end the program with a call of it, as in: return await ${value.name || "main"}(…)`);
      }
      value = await value();
      if (typeof value === "function") throw new TypeError("the program's value is a function that gives a function; call it");
    }
    return await awaited(value);
  }

  function described(error) {
    try {
      if (!(error instanceof Error)) return { message: wellFormed(`thrown: ${show(error)}`) };
      let message = error instanceof ToolError ? error.message : titled(error);
      let { call } = error;
      if (isArray(error.errors)) {
        for (let at = 0; at < error.errors.length && at < 5; at++) message += `\n- ${error.errors[at]}`;
      }
      if (error.cause !== undefined) {
        message += `\ncaused by: ${error.cause instanceof Error ? titled(error.cause) : error.cause}`;
        call ??= error.cause?.call;
      }
      const { stack } = error;
      return {
        message: wellFormed(message),
        stack: typeof stack === "string" ? wellFormed(stack) : undefined,
        call: typeof call === "string" ? wellFormed(call) : undefined,
      };
    } catch {
      return { message: "an error that cannot be shown was thrown" };
    }
  }
  const describe = (error) => stringify(setPrototypeOf(described(error), null));

  function run(main) {
    const give = (value) => {
      const notes = [];
      const json = value === undefined ? undefined : write(value, NOTED, "value", notes);
      native.done(json, stringify(notes));
    };
    const fail = (error) => native.failed(describe(error));
    then(then(result(main), give), undefined, fail);
  }

  const rejections = new Map();
  const forget = uncurry(Map.prototype.delete);
  const remember = uncurry(Map.prototype.set);
  function rejected(promise, reason, isHandled) {
    if (isHandled) forget(rejections, promise);
    else remember(rejections, promise, reason);
  }
  function unhandled() {
    let first;
    forEachOfMap(rejections, (reason) => { first ??= describe(reason); });
    return first;
  }

  // Whole numbers that a number cannot hold stand in the text as objects with one key, `mark`.
  const exact = (text, mark) =>
    parse(text, (key, value) =>
      typeof value === "object" && value !== null && typeof value[mark] === "string" ? toBigInt(value[mark]) : value);

  return { run, settle, refuse, fire, rejected, unhandled, describe, exact };
})
