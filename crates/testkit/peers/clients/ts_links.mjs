// A client of both eras that follows links: @modelcontextprotocol/client 2.x, over stdio or HTTP.
//
//   node clients/ts_links.mjs --era legacy|modern --tool NAME [--arguments JSON] -- COMMAND ARGS…   or a URL
//
// What it does and prints is what py_links.py does and prints.

import { createHash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PATIENCE_MS, commandLine, fail } from './ts_report.mjs';

const [FIRST, LAST] = [1000, 4999];
setTimeout(() => fail(new Error('the whole run took too long')), 3 * PATIENCE_MS).unref();

const words = process.argv.slice(2);
const { era, url, command, args } = commandLine(words, ['legacy', 'modern']);
const option = name => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);

const client = new Client(
    { name: 'ts-links-peer', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era } }
);

try {
    const transport = url
        ? new StreamableHTTPClientTransport(url)
        : new StdioClientTransport({ command, args, env: { ...process.env } });
    await client.connect(transport);
    const progress = [];
    const result = await client.callTool(
        { name: option('--tool'), arguments: JSON.parse(option('--arguments') ?? '{}') },
        { timeout: PATIENCE_MS, onprogress: ({ progress: done }) => progress.push(done) }
    );
    const links = [];
    for (const block of result.content) if (block.type === 'resource_link') links.push(await follow(block));
    const texts = result.content.filter(block => block.type === 'text').map(block => block.text);
    console.log(JSON.stringify({ bytes: JSON.stringify(result).length, progress: progress.length, links, texts }));
    await transport.terminateSession?.();
    await client.close();
    process.exit(0);
} catch (error) {
    fail(error);
}

async function follow({ uri, name, mimeType, size, description }) {
    const report = { uri, name, mimeType, size, description, read: sha256(await read(uri)) };
    if (uri.startsWith('http')) {
        report.fetched = await fetched(uri, {});
        report.part = await fetched(uri, { Range: `bytes=${FIRST}-${LAST}` });
    } else {
        report.part = { sha256: sha256(await read(`${uri}&bytes=${FIRST}-${LAST}`)) };
    }
    return report;
}

async function read(uri) {
    const [content] = (await client.readResource({ uri }, { timeout: PATIENCE_MS })).contents;
    return content.blob === undefined ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64');
}

async function fetched(uri, headers) {
    const answer = await fetch(uri, { headers });
    const data = Buffer.from(await answer.arrayBuffer());
    const length = Number(answer.headers.get('content-length'));
    return { status: answer.status, type: answer.headers.get('content-type'), length, sha256: sha256(data) };
}

function sha256(data) {
    return createHash('sha256').update(data).digest('hex');
}
