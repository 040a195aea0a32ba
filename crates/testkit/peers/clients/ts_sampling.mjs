// A legacy client that offers sampling: @modelcontextprotocol/client 2.x, over stdio or HTTP.
//
//   node clients/ts_sampling.mjs [--offer sampling|nothing] [--answer findings|prose|refusal] --tool NAME
//       [--arguments JSON] -- COMMAND ARGS…   or a URL
//
// It prints what it was asked, and the texts of the tool's result.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PATIENCE_MS, commandLine, fail } from './ts_report.mjs';

setTimeout(() => fail(new Error('the whole run took too long')), 3 * PATIENCE_MS).unref();

const words = process.argv.slice(2);
const { url, command, args } = commandLine(words, ['legacy', 'modern']);
const option = name => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const offers = option('--offer') !== 'nothing';

const client = new Client(
    { name: 'ts-sampling-peer', version: '1.0.0' },
    { capabilities: offers ? { sampling: {} } : {}, versionNegotiation: { mode: 'legacy' } }
);

const asked = [];
if (offers) {
    client.setRequestHandler('sampling/createMessage', async ({ params }) => {
        asked.push(params);
        const findings = {
            keyFindings: ['The client read it.', 'It is a list of orders.', 'Nothing stands out.'],
            actionableInsights: ['Ask for more.']
        };
        switch (option('--answer')) {
            case 'refusal':
                throw new Error('the person said no');
            case 'prose':
                return { model: 'a-client-model', role: 'assistant', content: { type: 'text', text: 'Nice data!' } };
            default:
                return {
                    model: 'a-client-model',
                    role: 'assistant',
                    content: { type: 'text', text: `Here it is:\n${JSON.stringify(findings)}` }
                };
        }
    });
}

try {
    const transport = url
        ? new StreamableHTTPClientTransport(url)
        : new StdioClientTransport({ command, args, env: { ...process.env } });
    await client.connect(transport);
    const result = await client.callTool(
        { name: option('--tool'), arguments: JSON.parse(option('--arguments') ?? '{}') },
        { timeout: PATIENCE_MS }
    );
    const texts = result.content.filter(block => block.type === 'text').map(block => block.text);
    console.log(JSON.stringify({ asked, texts, meta: result._meta }));
    await transport.terminateSession?.();
    await client.close();
    process.exit(0);
} catch (error) {
    fail(error);
}
