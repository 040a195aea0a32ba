// A client of both eras: @modelcontextprotocol/client 2.x, over stdio or HTTP.
//
//   node clients/ts_client.mjs --era legacy -- COMMAND ARGS…   with server-everything
//   node clients/ts_client.mjs --era modern -- COMMAND ARGS…   with servers/ts_modern.mjs
//   node clients/ts_client.mjs --era auto -- COMMAND ARGS…     with either: it finds out
//
// In place of COMMAND there may be a URL, `http://…/mcp`. In the last two eras the SDK first asks
// `server/discover`; for that alone it starts COMMAND a second time.
// It prints one line of JSON: what it saw. The same server must give the same line with and
// without a proxy in between, so times, ids and the number of repeated notifications are left
// out of it.

import {
    Client,
    LOG_LEVEL_META_KEY,
    StreamableHTTPClientTransport,
    specTypeSchemas,
    withInputRequired
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PATIENCE_MS, brief, commandLine, digest, fail, outcome, recordProgress, until } from './ts_report.mjs';

// A hang must end as a failed run, not as a stuck test.
setTimeout(() => fail(new Error('the whole run took too long')), 60_000).unref();

const { era, url, command, args } = commandLine(process.argv.slice(2), ['legacy', 'modern', 'auto']);

const logs = [];
const progressSeen = [];
const updates = [];
const asked = { elicitation: [], sampling: [] };
let toolListChanges = 0;
let roots = [{ uri: 'file:///one', name: 'one' }];

const client = new Client(
    { name: 'ts-client-peer', version: '1.0.0' },
    {
        capabilities: { elicitation: { form: {}, url: {} }, roots: { listChanged: true }, sampling: {} },
        // Pinned, `modern` means that era or failure, without a silent way back.
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era }
    }
);

client.setRequestHandler('roots/list', () => ({ roots }));

client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.elicitation.push(params.message);
    if (params.mode === 'url') return { action: 'decline' };
    return { action: 'accept', content: fillIn(params.requestedSchema) };
});

client.setRequestHandler('sampling/createMessage', ({ params }) => {
    asked.sampling.push(params.messages[0].content.text);
    return { role: 'assistant', model: 'stub', stopReason: 'endTurn', content: { type: 'text', text: 'sampled ✓' } };
});

client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params));
client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updates.push(params.uri));
client.setNotificationHandler('notifications/tools/list_changed', () => void toolListChanges++);

try {
    // The whole environment goes on: the SDK would hand down a handful of variables only.
    const transport = url
        ? new StreamableHTTPClientTransport(url)
        : new StdioClientTransport({ command, args, env: { ...process.env } });
    await client.connect(transport);
    recordProgress(transport, progressSeen);
    const report = { era, version: client.getNegotiatedProtocolVersion(), server: server() };
    Object.assign(report, client.getProtocolEra() === 'modern' ? await modern() : await legacy());
    await transport.terminateSession?.();
    await client.close();
    console.log(JSON.stringify(report));
    process.exit(0);
} catch (error) {
    fail(error);
}

function server() {
    return {
        info: client.getServerVersion(),
        capabilities: client.getServerCapabilities(),
        instructions: brief(client.getInstructions())
    };
}

// ---- Legacy, with server-everything ----

async function legacy() {
    const task = legacyTask(); // Takes seconds, so it runs beside the rest.
    return {
        tools: {
            ...(await toolList()),
            echo: await call('echo', { message: 'héllo ✓ \u0000 "quoted" \\ 😀' }),
            structured: await call('get-structured-content', { location: 'Chicago' }),
            image: await call('get-tiny-image'),
            annotated: await call('get-annotated-message', { messageType: 'error', includeImage: true }),
            links: await call('get-resource-links', { count: 3 }),
            badArguments: await call('get-sum', { a: 'one' }),
            unknown: await call('no-such-tool')
        },
        resources: {
            ...(await resourceLists()),
            document: await read('demo://resource/static/document/features.md'),
            text: await read('demo://resource/dynamic/text/1'),
            blob: await read('demo://resource/dynamic/blob/2'),
            missing: await read('demo://resource/none')
        },
        prompts: {
            list: (await client.listPrompts()).prompts,
            withArguments: await prompt('args-prompt', { city: 'Zürich' }),
            missing: await prompt('no-such-prompt')
        },
        completion: await complete('completable-prompt', 'department', 'S'),
        progress: await progress('trigger-long-running-operation', { duration: 0.5, steps: 5 }),
        cancellation: await cancellation('trigger-long-running-operation', { duration: 20, steps: 100 }),
        sampling: {
            result: await call('trigger-sampling-request', { prompt: 'a haiku', maxTokens: 10 }),
            asked: asked.sampling
        },
        elicitation: await legacyElicitation(),
        logging: await legacyLogging(),
        subscriptions: await legacySubscriptions(),
        roots: await legacyRoots(),
        ping: await outcome(client.ping()),
        tasks: await task
    };
}

async function legacyElicitation() {
    const url = { url: 'https://example.invalid/sign-in', elicitationId: 'fixed-id' };
    const results = {
        form: await call('trigger-elicitation-request'),
        url: await call('trigger-url-elicitation', url),
        urlRequired: await call('trigger-url-elicitation', { ...url, errorPath: true })
    };
    return { asked: asked.elicitation, ...results };
}

async function legacyLogging() {
    const setLevel = await outcome(client.setLoggingLevel('debug'));
    // The level of a simulated message is random: only that one came is a fact.
    const before = logs.length;
    await call('toggle-simulated-logging');
    await until(() => logs.slice(before).some(log => /level.message/.test(log.data)));
    await call('toggle-simulated-logging');
    return { setLevel, received: true };
}

async function legacySubscriptions() {
    const uri = 'demo://resource/dynamic/text/1';
    const subscribe = await outcome(client.subscribeResource({ uri }));
    await call('toggle-subscriber-updates');
    await until(() => updates.includes(uri));
    await call('toggle-subscriber-updates');
    const unsubscribe = await outcome(client.unsubscribeResource({ uri }));
    return { subscribe, updated: [...new Set(updates)], unsubscribe };
}

async function legacyRoots() {
    const first = await call('get-roots-list');
    roots = [...roots, { uri: 'file:///two', name: 'two' }];
    await client.sendRootsListChanged();
    // The server asks again and logs it.
    await until(() => logs.find(log => log.data.includes('2 root(s)')));
    return { first, second: await call('get-roots-list') };
}

/** This SDK has no calls for tasks, but sends any request for which it is given a schema. */
async function legacyTask() {
    const { CallToolResult, CreateTaskResult, GetTaskResult } = specTypeSchemas;
    const params = { name: 'simulate-research-query', arguments: { topic: 'rust' }, task: { ttl: 60_000 } };
    const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResult);
    const id = { taskId: task.taskId };
    const got = await client.request({ method: 'tasks/get', params: id }, GetTaskResult);
    const waiting = { timeout: PATIENCE_MS };
    const result = await client.request({ method: 'tasks/result', params: id }, CallToolResult, waiting);
    return { created: task.status, got: got.status, result: brief(result) };
}

// ---- Modern, with servers/ts_modern.mjs ----

async function modern() {
    return {
        discover: await outcome(client.discover()),
        tools: {
            ...(await toolList()),
            echo: await call('echo', { message: 'héllo ✓ \u0000 "quoted" \\ 😀' }),
            echoLarge: await call('echo', { message: 'x'.repeat(200_000) }),
            object: await call('weather', { city: 'Zürich' }),
            array: await call('rows', { count: 3 }),
            media: await call('media'),
            failure: await call('fail'),
            badArguments: await call('weather', { city: 1 }),
            unknown: await call('no-such-tool')
        },
        resources: {
            ...(await resourceLists()),
            text: await read('counter://value'),
            blob: await read('bytes://all'),
            template: await read('note://tea'),
            missing: await read('none://here')
        },
        prompts: {
            list: (await client.listPrompts()).prompts,
            withArguments: await prompt('greet', { name: 'Zoë' }),
            missing: await prompt('no-such-prompt')
        },
        completion: await complete('greet', 'name', 'A'),
        progress: await progress('slow', { steps: 5, stepMs: 50 }),
        cancellation: {
            ...(await cancellation('slow', { steps: 1_000, stepMs: 50 })),
            seenByServer: await seenByServer()
        },
        elicitation: { result: await call('ask'), asked: asked.elicitation },
        sampling: { result: await call('sample'), asked: asked.sampling },
        roots: await call('roots'),
        inputRequired: await byHand(),
        subscriptions: await modernSubscriptions(),
        logging: await modernLogging()
    };
}

async function seenByServer() {
    for (const start = Date.now(); Date.now() - start < PATIENCE_MS; ) {
        const stats = await client.callTool({ name: 'stats' });
        if (stats.structuredContent.cancelled > 0) return stats.structuredContent;
    }
    throw new Error('the server never learned of the cancellation');
}

/** The same exchange as `ask` above, but round by round, to see what the server really sends. */
async function byHand() {
    const schema = withInputRequired(specTypeSchemas.CallToolResult);
    const send = params => {
        const request = { method: 'tools/call', params: { name: 'ask', ...params } };
        return client.request(request, schema, { allowInputRequired: true });
    };
    const rounds = [];
    let result = await send({});
    while (result.resultType === 'input_required') {
        const { inputRequests, requestState } = result;
        const answers = Object.entries(inputRequests).map(([key, { params }]) => {
            return [key, { action: 'accept', content: fillIn(params.requestedSchema) }];
        });
        // The state is opaque, and may be encrypted: only its presence is a fact.
        rounds.push({ requests: brief(inputRequests), state: typeof requestState });
        result = await send({ inputResponses: Object.fromEntries(answers), requestState });
    }
    return { rounds, result: brief(result) };
}

async function modernSubscriptions() {
    const uri = 'counter://value';
    const before = toolListChanges;
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
    await call('bump');
    await until(() => updates.includes(uri));
    await call('announce');
    await until(() => toolListChanges > before);
    const value = await read(uri);
    await subscription.close();
    const closed = await subscription.closed;
    // Nothing may come once it is closed; the echo gives a stray update the time to arrive.
    const already = updates.length;
    await call('bump');
    await call('echo', { message: 'still here' });
    const late = updates.length - already;
    return { honoured: subscription.honoredFilter, updated: [...new Set(updates)], value, closed, late };
}

async function modernLogging() {
    // In this era a request asks for logs itself, by a key of its `_meta`.
    const quiet = await outcome(client.callTool({ name: 'log' }));
    const result = await outcome(client.callTool({ name: 'log', _meta: { [LOG_LEVEL_META_KEY]: 'debug' } }));
    await until(() => logs.length > 0);
    return { quiet, result, logs: brief(logs) };
}

// ---- Both eras ----

async function toolList() {
    const { tools, ...rest } = await client.listTools();
    const definitions = Object.fromEntries(tools.map(tool => [tool.name, digest(JSON.stringify(tool))]));
    return { names: tools.map(tool => tool.name), definitions, rest };
}

async function resourceLists() {
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    return { list: resources.map(resource => resource.uri).sort(), templates: resourceTemplates };
}

async function progress(name, args) {
    // The callback is what makes the SDK ask for progress.
    const result = await call(name, args, { onprogress: () => {} });
    return { values: [...progressSeen], result };
}

async function cancellation(name, args) {
    // Aborts once the call is known to be under way.
    const abort = new AbortController();
    const aborted = await call(name, args, { signal: abort.signal, onprogress: () => abort.abort('no longer wanted') });
    return { aborted, afterwards: await call('echo', { message: 'still here' }) };
}

/** Answers those fields of a form that it knows. */
function fillIn({ properties }) {
    const answers = { name: 'Ada Lovelace ✓', colour: 'blue', check: true, integer: 42 };
    return Object.fromEntries(Object.entries(answers).filter(([field]) => field in properties));
}

function call(name, args = {}, options = {}) {
    return outcome(client.callTool({ name, arguments: args }, { timeout: PATIENCE_MS, ...options }));
}

function read(uri) {
    return outcome(client.readResource({ uri }));
}

function prompt(name, args) {
    return outcome(client.getPrompt({ name, arguments: args }));
}

function complete(prompt, name, value) {
    return outcome(client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name, value } }));
}
