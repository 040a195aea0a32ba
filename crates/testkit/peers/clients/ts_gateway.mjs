// A client of both eras in front of many servers: @modelcontextprotocol/client 2.x, over stdio or HTTP.
//
//   node clients/ts_gateway.mjs --era legacy|modern --plan JSON -- COMMAND ARGS…   or a URL
//
// The plan says which `servers` to wait for, and what to do then: `calls` (tool, arguments), `prompts` (name,
// arguments) and `resources` (URIs). It prints one line of JSON: what is listed, and the texts that came.
// py_gateway.py does the same.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PATIENCE_MS, commandLine, fail } from './ts_report.mjs';

// Eight servers start at once, which takes a while on a busy machine.
const START_MS = 60_000;
setTimeout(() => fail(new Error('the whole run took too long')), 2 * START_MS).unref();

const words = process.argv.slice(2);
const { era, url, command, args } = commandLine(words, ['legacy', 'modern']);
const plan = JSON.parse(words[words.indexOf('--plan') + 1]);

const client = new Client(
    { name: 'ts-gateway-peer', version: '1.0.0' },
    {
        // Some servers have more tools for a client that can do more; all three clients can do the same.
        capabilities: { elicitation: { form: {}, url: {} }, roots: { listChanged: true }, sampling: {} },
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era }
    }
);
client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///one', name: 'one' }] }));

try {
    const transport = url
        ? new StreamableHTTPClientTransport(url)
        : new StdioClientTransport({ command, args, env: { ...process.env } });
    await client.connect(transport);
    // In the modern era nothing else says that somebody is there: it is what starts the servers.
    await client.listTools();
    await everyServerIsOpen();
    const report = {
        version: client.getNegotiatedProtocolVersion(),
        tools: (await client.listTools()).tools.map(tool => tool.name),
        prompts: (await client.listPrompts()).prompts.map(prompt => prompt.name),
        resources: (await client.listResources()).resources.map(resource => resource.uri),
        calls: [],
        gotPrompts: [],
        readResources: []
    };
    for (const [name, given] of plan.calls) report.calls.push(await call(name, given));
    for (const [name, given] of plan.prompts) {
        const { messages } = await client.getPrompt({ name, arguments: given });
        report.gotPrompts.push(messages[0].content.text);
    }
    for (const uri of plan.resources) report.readResources.push((await client.readResource({ uri })).contents[0].text);
    await transport.terminateSession?.();
    await client.close();
    console.log(JSON.stringify(report));
    process.exit(0);
} catch (error) {
    fail(error);
}

async function everyServerIsOpen() {
    for (const start = Date.now(); Date.now() - start < START_MS; await new Promise(wake => setTimeout(wake, 50))) {
        const { servers } = JSON.parse(await call('list_servers', {}));
        const isOpen = name => servers.some(server => server.name === name && server.state === 'open' && 'tools' in server);
        if (plan.servers.every(isOpen)) return;
    }
    throw new Error(`not all servers open: ${await call('list_servers', {})}`);
}

async function call(name, given) {
    const { content } = await client.callTool({ name, arguments: given }, { timeout: PATIENCE_MS });
    return content[0].text;
}
