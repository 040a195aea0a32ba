// Clients whose calls become jobs.
//
//   node clients/ts_jobs.mjs SDK TOOL,TOOL… --era legacy|modern -- COMMAND ARGS…
//
// SDK is `sdk` (@modelcontextprotocol/sdk 1.x, legacy only) or `client` (@modelcontextprotocol/client
// 2.x). Lists the tools, calls each that is named and asks about its job until that has ended, and
// prints one line of JSON: `{TOOL: {"notice": what the call gave, "status": what the job ended with}}`.

import { PATIENCE_MS, commandLine, fail } from './ts_report.mjs';

// A hang must end as a failed run, not as a stuck test.
setTimeout(() => fail(new Error('the whole run took too long')), 60_000).unref();

const [sdk, names, ...words] = process.argv.slice(2);
const { era, command, args } = commandLine(words, ['legacy', 'modern']);
const library = sdk === 'sdk' ? '@modelcontextprotocol/sdk/client' : '@modelcontextprotocol/client';
const { Client } = await import(sdk === 'sdk' ? `${library}/index.js` : library);
const { StdioClientTransport } = await import(sdk === 'sdk' ? `${library}/stdio.js` : `${library}/stdio`);

try {
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    const client = new Client({ name: 'ts-jobs-peer', version: '1.0.0' }, { versionNegotiation: { mode } });
    // The whole environment goes on: the SDK would hand down a handful of variables only.
    await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }));
    await client.listTools();
    const report = {};
    for (const name of names.split(',')) {
        const notice = await call(client, name, {});
        const { job_id } = JSON.parse(notice.content[0].text);
        let status;
        do {
            status = await call(client, 'get_run_status', { job_id, wait_seconds: 10 });
        } while (JSON.parse(status.content[0].text).status === 'running');
        report[name] = { notice, status };
    }
    await client.close();
    process.stdout.write(JSON.stringify(report), () => process.exit(0));
} catch (error) {
    fail(error);
}

async function call(client, name, given) {
    const params = { name, arguments: given };
    const options = { timeout: PATIENCE_MS };
    return sdk === 'sdk' ? client.callTool(params, undefined, options) : client.callTool(params, options);
}
