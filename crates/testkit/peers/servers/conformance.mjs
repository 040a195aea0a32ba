// The upstream that the official conformance suite asks for, over HTTP (both eras on one port) or stdio.
//
//   node servers/conformance.mjs [--port N]     prints `listening on 127.0.0.1:PORT`
//   node servers/conformance.mjs --stdio
//
// What it offers is in conformance_features.mjs; this file is how it is reached.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { toNodeHandler } from '@modelcontextprotocol/node';
import {
    WebStandardStreamableHTTPServerTransport,
    createMcpHandler,
    hostHeaderValidationResponse,
    isLegacyRequest,
    localhostAllowedHostnames,
    localhostAllowedOrigins,
    originValidationResponse
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { build } from './conformance_features.mjs';

// A client that lost its stream comes back after this long.
const RETRY_MS = 500;

const { values: options } = parseArgs({
    options: { port: { type: 'string', default: '0' }, stdio: { type: 'boolean', default: false } }
});

if (options.stdio) {
    serveStdio(() => build());
} else {
    const modern = createMcpHandler(() => build(modern.notify), { legacy: 'reject' });
    const server = createServer(toNodeHandler({ fetch: request => answer(request, modern) }));
    server.listen(Number(options.port), '127.0.0.1', () => {
        console.log(`listening on 127.0.0.1:${server.address().port}`);
    });
}

async function answer(request, modern) {
    const foreign =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins());
    if (foreign) return foreign;
    if (new URL(request.url).pathname !== '/mcp') return new Response('not here', { status: 404 });
    return (await isLegacyRequest(request)) ? answerInSession(request) : modern.fetch(request);
}

const sessions = new Map();

async function answerInSession(request) {
    const id = request.headers.get('mcp-session-id');
    const transport = id ? sessions.get(id) : await openSession();
    if (transport) return transport.handleRequest(request);
    const error = { code: -32001, message: 'Session not found' };
    return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}

// The session counts only once the transport has seen `initialize`; it refuses anything else.
async function openSession() {
    const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: id => void sessions.set(id, transport),
        onsessionclosed: id => void sessions.delete(id),
        eventStore: new Events(),
        retryInterval: RETRY_MS
    });
    await build().connect(transport);
    return transport;
}

// What one session has sent on its streams, for clients that come back with `Last-Event-ID`.
class Events {
    #sent = [];

    async storeEvent(stream, message) {
        return String(this.#sent.push({ stream, message }));
    }

    async getStreamIdForEventId(id) {
        return this.#sent[Number(id) - 1]?.stream;
    }

    async replayEventsAfter(lastId, { send }) {
        const stream = await this.getStreamIdForEventId(lastId);
        for (const [index, event] of this.#sent.entries()) {
            // An event that only opens a stream has no message, and need not come again.
            const wanted = index >= Number(lastId) && event.stream === stream && event.message.jsonrpc;
            if (wanted) await send(String(index + 1), event.message);
        }
        return stream;
    }
}
