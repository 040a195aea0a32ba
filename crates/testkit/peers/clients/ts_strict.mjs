// Strict clients: they hold structured content against the tool's output schema.
//
//   node clients/ts_strict.mjs SDK TOOL,TOOL… --era legacy|modern -- COMMAND ARGS…
//
// SDK is `sdk` (@modelcontextprotocol/sdk 1.x, legacy only) or `client` (@modelcontextprotocol/client
// 2.x). The tool `job` is called as a task, which the first alone can do. Calls the tools, lists them,
// calls them again, and prints one line of JSON:
// `{"schemas": {TOOL: its schema}, "unlisted": {TOOL: OUTCOME}, "listed": {TOOL: OUTCOME}}`, where an
// outcome is `{"result": …}` or `{"error": its message}`.

import { PATIENCE_MS, commandLine, fail } from './ts_report.mjs';

// A hang must end as a failed run, not as a stuck test.
setTimeout(() => fail(new Error('the whole run took too long')), 60_000).unref();

const [sdk, names, ...words] = process.argv.slice(2);
const { era, command, args } = commandLine(words, ['legacy', 'modern']);
const { Client, StdioClientTransport } = sdk === 'sdk' ? await legacySdk() : await dualEraClient();

try {
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    const client = new Client({ name: 'ts-strict-peer', version: '1.0.0' }, { versionNegotiation: { mode } });
    // The whole environment goes on: the SDK would hand down a handful of variables only.
    await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }));
    const unlisted = await callAll(client);
    const { tools } = await client.listTools();
    const schemas = Object.fromEntries(tools.map(tool => [tool.name, tool.outputSchema ?? null]));
    const listed = await callAll(client);
    await client.close();
    // A pipe takes a large report only bit by bit.
    process.stdout.write(JSON.stringify({ schemas, unlisted, listed }), () => process.exit(0));
} catch (error) {
    fail(error);
}

async function legacySdk() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { Client, StdioClientTransport };
}

async function dualEraClient() {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    return { Client, StdioClientTransport };
}

async function callAll(client) {
    const outcomes = {};
    for (const name of names.split(',')) outcomes[name] = await outcome(call(client, name));
    return outcomes;
}

async function call(client, name) {
    const params = { name, arguments: {} };
    const options = { timeout: PATIENCE_MS };
    if (name === 'job') {
        return await task(client.experimental.tasks.callToolStream(params, undefined, { task: {}, ...options }));
    }
    return sdk === 'sdk' ? client.callTool(params, undefined, options) : client.callTool(params, options);
}

/** The result of a call that is answered as a task, with the task's id blanked. */
async function task(stream) {
    let id;
    for await (const message of stream) {
        if (message.type === 'error') throw message.error;
        if (message.type === 'taskCreated') id = message.task.taskId;
        if (message.type === 'result') return JSON.parse(JSON.stringify(message.result).replace(id, '<id>'));
    }
}

async function outcome(promise) {
    try {
        return { result: await promise };
    } catch (error) {
        return { error: error.message };
    }
}
