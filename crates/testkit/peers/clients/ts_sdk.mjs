// A legacy client: @modelcontextprotocol/sdk 1.x against server-everything, over stdio or HTTP.
//
//   node clients/ts_sdk.mjs [--era legacy] -- COMMAND ARGS…
//   node clients/ts_sdk.mjs [--era legacy] -- http://…/mcp
//
// It uses every feature of the 2025-11-25 revision that the pair supports and prints one line
// of JSON: what it saw. The same server must give the same line with and without a proxy in
// between, so times, ids and the number of repeated notifications are left out of it.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import {
    CallToolResultSchema,
    CreateMessageRequestSchema,
    CreateTaskResultSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';
import { PATIENCE_MS, brief, commandLine, digest, fail, outcome, recordProgress, until } from './ts_report.mjs';

// A hang must end as a failed run, not as a stuck test.
setTimeout(() => fail(new Error('the whole run took too long')), 60_000).unref();

const { era, url, command, args } = commandLine(process.argv.slice(2), ['legacy']);

const logs = [];
const progressSeen = [];
const updates = [];
// Sets: this SDK takes the end of a stream that brought an error for a loss, comes back with
// `Last-Event-ID`, and is sent again what it has answered already.
const asked = { elicitation: new Set(), sampling: new Set() };
let toolListChanges = 0;
let roots = [{ uri: 'file:///one', name: 'one' }];

const client = new Client(
    { name: 'ts-sdk-peer', version: '1.0.0' },
    {
        capabilities: {
            elicitation: { form: {}, url: {} },
            roots: { listChanged: true },
            sampling: {},
            tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} } } }
        },
        // Lets the server run a sampling request as a task on our side.
        taskStore: new InMemoryTaskStore()
    }
);

client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));

client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.elicitation.add(params.message);
    if (params.mode === 'url') return { action: 'decline' };
    const fields = Object.keys(params.requestedSchema.properties);
    if (fields.includes('interpretation')) return { action: 'accept', content: { interpretation: 'snake' } };
    return { action: 'accept', content: { name: 'Ada Lovelace ✓', check: true, integer: 42 } };
});

client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, extra) => {
    asked.sampling.add(params.messages[0].content.text);
    const content = { type: 'text', text: 'sampled ✓' };
    const answer = { role: 'assistant', model: 'stub', stopReason: 'endTurn', content };
    if (!params.task) return answer;
    const task = await extra.taskStore.createTask({ ttl: params.task.ttl });
    await extra.taskStore.storeTaskResult(task.taskId, 'completed', answer);
    return { task };
});

client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => void toolListChanges++);

try {
    // The whole environment goes on: the SDK would hand down a handful of variables only.
    const transport = url
        ? new StreamableHTTPClientTransport(url)
        : new StdioClientTransport({ command, args, env: { ...process.env } });
    await client.connect(transport);
    recordProgress(transport, progressSeen);
    const report = { era, server: server() };
    report.tools = await tools();
    // A task takes seconds, so it runs beside the rest.
    const running = [serverTask(), clientTask()];
    report.resources = await resources();
    report.prompts = await prompts();
    report.completion = await completion();
    report.progress = await progress();
    report.cancellation = await cancellation();
    report.sampling = await sampling();
    report.elicitation = await elicitation();
    report.logging = await logging();
    report.subscriptions = await subscriptions();
    report.roots = await rootsListing();
    report.ping = await client.ping();
    const [fromServer, fromClient] = await Promise.all(running);
    report.tasks = { fromServer, fromClient, cancelled: await cancelledTask() };
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

async function tools() {
    const { tools, ...rest } = await client.listTools();
    // The server registers tools once it knows our capabilities, and says so; over HTTP it may say
    // so before we listen.
    if (!url) await until(() => toolListChanges > 0);
    return {
        names: tools.map(tool => tool.name),
        definitions: Object.fromEntries(tools.map(tool => [tool.name, digest(JSON.stringify(tool))])),
        rest,
        echo: await call('echo', { message: 'héllo ✓ \u0000 "quoted" \\ 😀' }),
        echoLarge: await call('echo', { message: 'x'.repeat(200_000) }),
        sum: await call('get-sum', { a: 1.5, b: 2 ** 40 }),
        structured: await call('get-structured-content', { location: 'Chicago' }),
        image: await call('get-tiny-image'),
        annotated: await call('get-annotated-message', { messageType: 'error', includeImage: true }),
        links: await call('get-resource-links', { count: 3 }),
        badArguments: await call('get-sum', { a: 'one' }),
        unknown: await call('no-such-tool')
    };
}

async function resources() {
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    return {
        list: resources.map(resource => resource.uri).sort(),
        templates: resourceTemplates,
        document: await outcome(client.readResource({ uri: 'demo://resource/static/document/features.md' })),
        text: await outcome(client.readResource({ uri: 'demo://resource/dynamic/text/1' })),
        blob: await outcome(client.readResource({ uri: 'demo://resource/dynamic/blob/2' })),
        missing: await outcome(client.readResource({ uri: 'demo://resource/none' }))
    };
}

async function prompts() {
    const { prompts } = await client.listPrompts();
    return {
        list: prompts,
        simple: await outcome(client.getPrompt({ name: 'simple-prompt' })),
        withArguments: await outcome(client.getPrompt({ name: 'args-prompt', arguments: { city: 'Zürich' } })),
        withResource: await outcome(
            client.getPrompt({ name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '7' } })
        ),
        missing: await outcome(client.getPrompt({ name: 'no-such-prompt' }))
    };
}

async function completion() {
    const prompt = { type: 'ref/prompt', name: 'completable-prompt' };
    return {
        prompt: await outcome(client.complete({ ref: prompt, argument: { name: 'department', value: 'S' } })),
        withContext: await outcome(
            client.complete({
                ref: prompt,
                argument: { name: 'name', value: '' },
                context: { arguments: { department: 'Engineering' } }
            })
        ),
        template: await outcome(
            client.complete({
                ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
                argument: { name: 'resourceId', value: '12' }
            })
        )
    };
}

async function progress() {
    // The callback is what makes the SDK ask for progress.
    const onprogress = () => {};
    const result = await call('trigger-long-running-operation', { duration: 0.5, steps: 5 }, { onprogress });
    return { values: [...progressSeen], result };
}

async function cancellation() {
    // Aborts once the call is known to be under way.
    const abort = new AbortController();
    const aborted = await call(
        'trigger-long-running-operation',
        { duration: 20, steps: 100 },
        { signal: abort.signal, onprogress: () => abort.abort('no longer wanted') }
    );
    return { aborted, afterwards: await call('echo', { message: 'still here' }) };
}

async function sampling() {
    const result = await call('trigger-sampling-request', { prompt: 'a haiku', maxTokens: 10 });
    return { asked: [...asked.sampling].filter(text => text.includes('a haiku')), result };
}

async function elicitation() {
    const url = { url: 'https://example.invalid/sign-in', elicitationId: 'fixed-id' };
    const results = {
        form: await call('trigger-elicitation-request'),
        url: await call('trigger-url-elicitation', url),
        urlRequired: await call('trigger-url-elicitation', { ...url, errorPath: true })
    };
    // The task beside this has a question of its own.
    const questions = [...asked.elicitation].filter(message => !message.includes('python'));
    return { asked: questions, ...results };
}

async function logging() {
    const setLevel = await outcome(client.setLoggingLevel('debug'));
    // The level of a simulated message is random: only that one came is a fact.
    const before = logs.length;
    await call('toggle-simulated-logging');
    await until(() => logs.slice(before).some(log => /level.message/.test(log.data)));
    await call('toggle-simulated-logging');
    return { setLevel, received: true };
}

async function subscriptions() {
    const uri = 'demo://resource/dynamic/text/1';
    const subscribe = await outcome(client.subscribeResource({ uri }));
    const log = await until(() => logs.find(log => log.data.includes('Received Subscribe')));
    const started = await call('toggle-subscriber-updates');
    await until(() => updates.includes(uri));
    const stopped = await call('toggle-subscriber-updates');
    const unsubscribe = await outcome(client.unsubscribeResource({ uri }));
    return { subscribe, log: brief(log), started, updated: [...new Set(updates)], stopped, unsubscribe };
}

async function rootsListing() {
    const first = await call('get-roots-list');
    roots = [...roots, { uri: 'file:///two', name: 'two' }];
    await client.sendRootsListChanged();
    // The server asks again and logs it.
    const log = await until(() => logs.find(log => log.data.includes('2 root(s)')));
    return { first, log, second: await call('get-roots-list') };
}

/** A call that the server runs as a task, and that asks a question half-way. */
async function serverTask() {
    const seen = new Set();
    let result;
    const params = { name: 'simulate-research-query', arguments: { topic: 'python', ambiguous: true } };
    const options = { task: { ttl: 60_000 }, timeout: PATIENCE_MS };
    const stream = client.experimental.tasks.callToolStream(params, CallToolResultSchema, options);
    for await (const message of stream) {
        if (message.task) seen.add(message.task.status);
        if (message.type === 'result') result = brief(message.result);
        if (message.type === 'error') throw message.error;
    }
    const { tasks } = await client.experimental.tasks.listTasks();
    const questions = [...asked.elicitation].filter(message => message.includes('python'));
    return { seen: [...seen], asked: questions, result, listed: tasks.map(task => task.status) };
}

/** A sampling request that we, the client, run as a task. */
async function clientTask() {
    return await call('trigger-sampling-request-async', { prompt: 'a sonnet', maxTokens: 10 });
}

async function cancelledTask() {
    const params = { name: 'simulate-research-query', arguments: { topic: 'rust' }, task: { ttl: 60_000 } };
    const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResultSchema);
    const cancelled = await client.experimental.tasks.cancelTask(task.taskId);
    const result = await outcome(client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema));
    return { created: task.status, status: cancelled.status, result };
}

function call(name, args = {}, options = {}) {
    const params = { name, arguments: args };
    return outcome(client.callTool(params, CallToolResultSchema, { timeout: PATIENCE_MS, ...options }));
}
