// A fixture upstream on @modelcontextprotocol/server 2.x: both eras over stdio, the modern one over HTTP.
//
//   node servers/ts_modern.mjs
//   node servers/ts_modern.mjs --port N     prints `listening on 127.0.0.1:PORT`
//
// Over stdio, the first message of a connection picks the era: 2026-07-28 when it carries the
// modern `_meta`, else the legacy handshake, where the package turns `input_required` into real
// requests to the client. Tools, resources and prompts have the names of py_server.py.

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
    McpServer,
    ResourceTemplate,
    completable,
    createMcpHandler,
    inputRequired,
    inputResponse
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const COUNTER = 'counter://value';

// Outside the factory, which runs for each request over HTTP, and maybe twice on one stdio connection.
let counter = 0;
let cancelled = 0;

const { values: options } = parseArgs({ options: { port: { type: 'string' } } });

if (options.port === undefined) {
    serveStdio(() => build());
} else {
    const handler = createMcpHandler(() => build(handler.notify), { legacy: 'reject' });
    const server = createServer(toNodeHandler(handler));
    server.listen(Number(options.port), '127.0.0.1', () => {
        console.log(`listening on 127.0.0.1:${server.address().port}`);
    });
}

// `changes` announces what changed to HTTP subscriptions; over stdio the server does.
function build(changes) {
    const server = new McpServer(
        { name: 'ts-modern-fixture', version: '1.0.0', title: 'TypeScript fixture' },
        {
            instructions: 'Use `echo` first. Ünïcode ✓',
            capabilities: {
                logging: {},
                tools: { listChanged: true },
                resources: { subscribe: true, listChanged: true }
            },
            cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } }
        }
    );
    addPlainTools(server);
    addSlowTools(server);
    addAskingTools(server);
    addChangingTools(server, changes);
    addResources(server);
    addPrompts(server);
    return server;
}

function addPlainTools(server) {
    server.registerTool(
        'echo',
        {
            description: 'Gives the message back',
            inputSchema: z.object({ message: z.string() }),
            annotations: { readOnlyHint: true }
        },
        ({ message }) => text(message)
    );
    const weather = z.object({ city: z.string(), celsius: z.number(), tags: z.array(z.string()) });
    server.registerTool(
        'weather',
        {
            description: 'An object as structured content',
            inputSchema: z.object({ city: z.string() }),
            outputSchema: weather
        },
        ({ city }) => structured({ city, celsius: -3.5, tags: ['snow', 'wind'] })
    );
    server.registerTool(
        'rows',
        {
            description: 'An array as structured content',
            inputSchema: z.object({ count: z.number().int() }),
            outputSchema: z.array(z.object({ id: z.number(), name: z.string() }))
        },
        ({ count }) => structured(Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` })))
    );
    server.registerTool('media', { description: 'One block of every kind' }, () => ({
        content: [
            { type: 'text', text: 'see below', annotations: { audience: ['user'], priority: 0.5 } },
            { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
            { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
            { type: 'resource_link', uri: COUNTER, name: 'counter' },
            { type: 'resource', resource: { uri: 'note://inline', mimeType: 'text/plain', text: 'inline' } }
        ],
        _meta: { 'example.test/extra': { kept: true } }
    }));
    server.registerTool('fail', { description: 'An error result' }, () => {
        throw new Error('failed on purpose');
    });
    server.registerTool('log', { description: 'Logs one line' }, async ctx => {
        await ctx.mcpReq.log('info', { line: 'from the log tool' }, 'fixture');
        return text('logged');
    });
}

function addSlowTools(server) {
    server.registerTool(
        'slow',
        {
            description: 'Takes steps × stepMs, with progress',
            inputSchema: z.object({ steps: z.number().int(), stepMs: z.number() })
        },
        async ({ steps, stepMs }, ctx) => {
            const { signal, _meta } = ctx.mcpReq;
            for (let step = 1; step <= steps && !signal.aborted; step++) {
                await new Promise(wake => setTimeout(wake, stepMs));
                const progressToken = _meta?.progressToken;
                if (progressToken === undefined || signal.aborted) continue;
                const params = { progressToken, progress: step, total: steps, message: `step ${step}` };
                await ctx.mcpReq.notify({ method: 'notifications/progress', params });
            }
            // Over HTTP the signal also says that a call is over, so it is looked at before that.
            if (signal.aborted) cancelled++;
            return text(`${steps} steps done`);
        }
    );
    const stats = { description: 'How many calls of `slow` were cancelled' };
    server.registerTool('stats', stats, () => structured({ cancelled }));
}

function addAskingTools(server) {
    server.registerTool('ask', { description: 'Asks the user twice' }, ctx => {
        // Two rounds, so that state has to travel through the client and back.
        const name = ctx.mcpReq.requestState();
        const answer = inputResponse(ctx.mcpReq.inputResponses, name ? 'colour' : 'name');
        if (answer.kind !== 'elicit') return inputRequired({ inputRequests: { name: question('Your name?', 'name') } });
        if (answer.action !== 'accept') return text(`no answer: ${answer.action}`);
        if (name) return text(`${name} likes ${answer.content.colour}`);
        return inputRequired({
            inputRequests: { colour: question('Your colour?', 'colour') },
            requestState: answer.content.name
        });
    });
    server.registerTool('sample', { description: "Uses the client's model" }, ctx => {
        const answer = inputResponse(ctx.mcpReq.inputResponses, 'haiku');
        if (answer.kind === 'sampling') return text(`the model said: ${answer.result.content.text}`);
        const messages = [{ role: 'user', content: { type: 'text', text: 'a haiku, please' } }];
        return inputRequired({ inputRequests: { haiku: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
    });
    server.registerTool('roots', { description: "Lists the client's roots" }, ctx => {
        const answer = inputResponse(ctx.mcpReq.inputResponses, 'roots');
        if (answer.kind === 'roots') return text(answer.roots.map(root => root.uri).join(' '));
        return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    });
}

function addChangingTools(server, changes) {
    server.registerTool('bump', { description: 'Changes the counter resource' }, async () => {
        counter++;
        if (changes) changes.resourceUpdated(COUNTER);
        else await server.server.sendResourceUpdated({ uri: COUNTER });
        return text(`counter is ${counter}`);
    });
    server.registerTool('announce', { description: 'Says that the list of tools changed' }, () => {
        if (changes) changes.toolsChanged();
        else server.sendToolListChanged();
        return text('announced');
    });
}

function addResources(server) {
    // On a legacy connection updates go out unasked, so there is nothing to keep.
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.registerResource('counter', COUNTER, { mimeType: 'text/plain' }, () => ({
        contents: [{ uri: COUNTER, mimeType: 'text/plain', text: String(counter) }]
    }));
    const blob = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');
    server.registerResource('bytes', 'bytes://all', { mimeType: 'application/octet-stream' }, () => ({
        contents: [{ uri: 'bytes://all', blob }]
    }));
    const notes = new ResourceTemplate('note://{name}', { list: undefined });
    server.registerResource('note', notes, { mimeType: 'text/plain' }, (uri, { name }) => ({
        contents: [{ uri: uri.href, text: `a note on ${name}` }]
    }));
}

function addPrompts(server) {
    const names = ['Ada', 'Alan', 'Grace'];
    const name = completable(z.string(), typed => names.filter(name => name.startsWith(typed)));
    server.registerPrompt('greet', { description: 'Greets someone', argsSchema: z.object({ name }) }, ({ name }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }]
    }));
}

function question(message, field) {
    const requestedSchema = { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] };
    return inputRequired.elicit({ message, requestedSchema });
}

function text(text) {
    return { content: [{ type: 'text', text }] };
}

function structured(value) {
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}
