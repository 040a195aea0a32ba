// Looks at pages in a real browser, as a plan says, and prints what it saw as JSON.
//
//   node tour.mjs CHROMIUM
//
// The first line of input is the plan. `open` is an address to begin with.
//
// `views` are pages to look at ({path, width, dark, scripts, stranger, meanwhile}), `stranger` being one without the cookie.
// `meanwhile` is what happens while the page stands there, before it is looked at, one after the other:
//   {test: NAME}      the line {"test": NAME} is printed, and all waits until the test has answered with a line of its own
//   {offline: YES}    whether the browser is cut off from the network
//   {see: TEXT}       waits until the page shows this text
//   {miss: TEXT}      waits until it no longer does
//
// `acts` are things to do ({at, scripts, fill: {selector: value}, click, keys: [[selector, key]], saves, tell}): `keys` goes to
// each place by the Tab key and presses the other one there, and what `saves` is a file and no page.
//
// `pictures` is a folder for screenshots, and `whole` means all of each page. The browser is spoken to through two pipes, so
// nothing listens anywhere.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [chromium] = process.argv.slice(2);
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const plan = JSON.parse((await input.next()).value);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const home = mkdtempSync(join(tmpdir(), "tour-"));

const browser = spawn(
  chromium,
  [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--remote-debugging-pipe", `--user-data-dir=${home}`, "about:blank",
  ],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: home } },
);

let lastId = 0;
const waiting = new Map();
const listeners = new Set();
let rest = "";
browser.stdio[4].on("data", (bytes) => {
  rest += bytes;
  const messages = rest.split("\0");
  rest = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id) {
      const { done, failed, method } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) failed(new Error(`${method}: ${message.error.message}`));
      else done(message.result);
    } else {
      for (const listener of [...listeners]) listener(message);
    }
  }
});

function send(method, params = {}, sessionId) {
  const id = ++lastId;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return new Promise((done, failed) => waiting.set(id, { done, failed, method }));
}

/// Removes the browser's home. What the browser started ends with it, and may write there until then; files that come
/// while others are removed are no matter of `maxRetries`.
async function remove(folder) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || Date.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/// What must come, or why it is missed.
function soon(promise, what) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`${what} did not come in time`)), 30_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function event(sessionId, method) {
  return new Promise((done) => {
    const listener = (message) => {
      if (message.sessionId !== sessionId || message.method !== method) return;
      listeners.delete(listener);
      done(message.params);
    };
    listeners.add(listener);
  });
}

/// A tab, with all that it asks for and complains of since it was last told how to be.
async function tab({ stranger = false } = {}) {
  const context = stranger ? await send("Target.createBrowserContext") : {};
  const { targetId } = await send("Target.createTarget", { url: "about:blank", ...context });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const seen = { requests: [], complaints: [] };
  const listener = ({ sessionId: from, method, params }) => {
    if (from !== sessionId) return;
    if (method === "Network.requestWillBeSent") seen.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") seen.complaints.push(params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      seen.complaints.push(params.args.map((it) => it.value ?? it.description).join(" "));
    }
    if (method === "Log.entryAdded" && params.entry.level !== "verbose") {
      seen.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    }
  };
  listeners.add(listener);
  const ask = (method, params) => send(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await ask(`${domain}.enable`);
  const be = async ({ width = 1280, dark = false, scripts = true }) => {
    await ask("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 });
    await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    await ask("Emulation.setScriptExecutionDisabled", { value: !scripts });
    Object.assign(seen, { requests: [], complaints: [] });
  };
  const ready = async () => {
    for (;;) {
      // While a page makes way for the next, nothing can be asked of either.
      const state = await evaluate("document.readyState").catch(() => "none");
      if (state === "complete") return;
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  const go = async (url) => {
    const { errorText } = await ask("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await soon(ready(), url);
  };
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression.slice(0, 80)}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  const press = async (key) => {
    const codes = { Tab: 9, Enter: 13, " ": 32 };
    const it = { key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: codes[key] };
    const text = { Tab: undefined, Enter: "\r", " ": " " }[key];
    await ask("Input.dispatchKeyEvent", { type: "keyDown", text, ...it });
    await ask("Input.dispatchKeyEvent", { type: "keyUp", ...it });
  };
  /// Goes on by the Tab key until what is meant has the focus, which must be seen.
  const reach = async (selector) => {
    const place = `document.querySelector(${JSON.stringify(selector)})`;
    for (let steps = 0; steps < 200; steps += 1) {
      await press("Tab");
      const found = await evaluate(`document.activeElement === ${place} && getComputedStyle(document.activeElement).outlineStyle`);
      if (found === false) continue;
      if (found === "none") throw new Error(`${selector} has the focus, which is not seen`);
      return;
    }
    throw new Error(`${selector} is not reached by the Tab key`);
  };
  return { ask, be, evaluate, go, press, reach, ready, seen, sessionId };
}

const name = ({ path, width = 1280, dark = false, scripts = true, stranger = false }) => {
  const place = path.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "").slice(0, 60) || "now";
  return [place, width, dark && "dark", scripts || "plain", stranger && "stranger"].filter((it) => typeof it !== "boolean").join("-") + ".png";
};

/// What happens while a page stands there.
async function happen(page, step) {
  if ("test" in step) {
    process.stdout.write(JSON.stringify(step) + "\n");
    if ((await input.next()).done) throw new Error(`the test has left at ${step.test}`);
  } else if ("offline" in step) {
    await page.ask("Network.emulateNetworkConditions", { offline: step.offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  } else {
    const [text, isShown] = "see" in step ? [step.see, true] : [step.miss, false];
    const until = `document.body.innerText.includes(${JSON.stringify(text)}) === ${isShown}`;
    const shown = `new Promise((done) => {
      const look = () => ${until} ? done() : setTimeout(look, 20);
      look();
    })`;
    await soon(page.evaluate(shown), JSON.stringify(step));
  }
}

const origin = new URL(plan.open).origin;
const report = { views: [], acts: [] };
try {
  // One tab for all: a new one is a new process, which knows no style and has compiled nothing yet.
  const known = await tab();
  await known.go(plan.open);
  // The first page sets the cookie and goes on by itself.
  const gone = async () => {
    while ((await known.evaluate("location.href").catch(() => plan.open)) === plan.open) {
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  await soon(gone(), "the page behind the first");
  await known.ready();
  report.opened = await known.evaluate("location.href");
  for (const view of plan.views ?? []) {
    const page = view.stranger ? await tab(view) : known;
    await page.be(view);
    await page.go(origin + view.path);
    for (const step of view.meanwhile ?? []) await happen(page, step);
    const found = { ...view, ...page.seen };
    found.title = await page.evaluate("document.title");
    found.overflow = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
    found.text = await page.evaluate("document.body.innerText");
    // From here on, what looks at the page may run in it.
    await page.ask("Emulation.setScriptExecutionDisabled", { value: false });
    if (plan.pictures) {
      const { data } = await page.ask("Page.captureScreenshot", { captureBeyondViewport: plan.whole ?? false });
      writeFileSync(join(plan.pictures, name(view)), Buffer.from(data, "base64"));
    }
    await page.evaluate(axe);
    found.axe = await page.evaluate(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations.map((it) => ({
      id: it.id, impact: it.impact, help: it.help, nodes: it.nodes.slice(0, 5).map((node) => node.html.slice(0, 200)) })))`);
    report.views.push(found);
  }
  for (const act of plan.acts ?? []) {
    const page = known;
    await page.be(act);
    await page.go(origin + act.at);
    for (const [selector, value] of Object.entries(act.fill ?? {})) {
      await page.evaluate(`{ const it = document.querySelector(${JSON.stringify(selector)}); if (it.type === "checkbox") it.checked = ${JSON.stringify(value)}; else it.value = ${JSON.stringify(value)}; }`);
    }
    if (act.saves) {
      await send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: home, eventsEnabled: true });
      const begun = event(undefined, "Browser.downloadWillBegin");
      const done = new Promise((done) => {
        const look = ({ method, params }) => {
          if (method !== "Browser.downloadProgress" || params.state === "inProgress") return;
          listeners.delete(look);
          done(params);
        };
        listeners.add(look);
      });
      await page.evaluate(`document.querySelector(${JSON.stringify(act.saves)}).click()`);
      const { suggestedFilename } = await soon(begun, `the file of ${act.saves}`);
      const { state, receivedBytes } = await soon(done, suggestedFilename);
      report.acts.push({ at: act.at, told: `${state} ${suggestedFilename} ${receivedBytes > 0}`, ...page.seen });
      continue;
    }
    for (const [place, [selector, key]] of (act.keys ?? []).entries()) {
      await page.reach(selector);
      const isLast = place === act.keys.length - 1;
      const left = isLast ? event(page.sessionId, "Page.frameNavigated") : undefined;
      await page.press(key);
      if (isLast) await soon(left.then(page.ready), `what ${key} on ${selector} of ${act.at} leads to`);
    }
    if (act.click) {
      const left = event(page.sessionId, "Page.frameNavigated");
      await page.evaluate(`document.querySelector(${JSON.stringify(act.click)}).click()`);
      await soon(left.then(page.ready), `what ${act.click} of ${act.at} leads to`);
    }
    const told = await page.evaluate(act.tell ?? "document.body.innerText");
    report.acts.push({ at: act.at, href: await page.evaluate("location.href"), told, ...page.seen });
  }
} finally {
  const ended = new Promise((done) => browser.once("exit", done));
  browser.kill("SIGKILL");
  await ended;
  await remove(home);
}
process.stdout.write(JSON.stringify(report) + "\n");
