// Tools, resources and prompts with the names and texts that the official conformance suite asks for.
//
// `input_required` results serve both eras: on a legacy session the package turns them into
// requests to the client.

import {
    CLIENT_CAPABILITIES_META_KEY,
    McpServer,
    ResourceTemplate,
    acceptedContent,
    completable,
    createRequestStateCodec,
    fromJsonSchema,
    inputRequired,
    inputResponse
} from '@modelcontextprotocol/server';
import { z } from 'zod';

import { TASKS, addTasks } from './conformance_tasks.mjs';

const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' };

// The suite wants to see what happens between two steps.
const STEP_MS = 50;

// Longer than the runner lets a stream be open, and less than two streams.
const LATE_MS = 4_000;

// Every modern request has a server of its own, so the state that travels is all that they share.
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

// `changes` announces list changes to modern HTTP subscriptions; elsewhere the server does.
export function build(changes) {
    const server = new McpServer(
        { name: 'conformance-fixture', version: '1.0.0' },
        {
            capabilities: {
                extensions: { [TASKS]: {} },
                logging: {},
                tools: { listChanged: true },
                prompts: { listChanged: true },
                resources: { subscribe: true, listChanged: true }
            },
            requestState: { verify: states.verify }
        }
    );
    addContentTools(server);
    addTalkingTools(server);
    addSchemaTools(server);
    addAskingTools(server);
    addStatefulTools(server);
    addChangingTools(server, changes);
    addResources(server);
    addPrompts(server);
    addTasks(server);
    return server;
}

function addContentTools(server) {
    const contents = {
        test_simple_text: [text('This is a simple text response for testing.')],
        test_image_content: [IMAGE],
        test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
        test_embedded_resource: [
            embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')
        ],
        test_multiple_content_types: [
            text('Multiple content types test:'),
            IMAGE,
            embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')
        ]
    };
    for (const [name, content] of Object.entries(contents)) {
        server.registerTool(name, { description: 'Fixed content' }, () => ({ content }));
    }
    server.registerTool('test_error_handling', { description: 'Fails' }, () => {
        throw new Error('This tool intentionally returns an error for testing');
    });
}

function addTalkingTools(server) {
    server.registerTool('test_tool_with_logging', { description: 'Logs three lines' }, async ctx => {
        await ctx.mcpReq.log('info', 'Tool execution started');
        await sleep(STEP_MS);
        await ctx.mcpReq.log('info', 'Tool processing data');
        await sleep(STEP_MS);
        await ctx.mcpReq.log('info', 'Tool execution completed');
        return say('logged');
    });
    server.registerTool('test_logging_tool', { description: 'Logs if asked to' }, async ctx => {
        await ctx.mcpReq.log('info', 'only for a request that wants logs');
        return say('logged');
    });
    server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ctx => {
        const progressToken = ctx.mcpReq._meta?.progressToken;
        for (const progress of [0, 50, 100]) {
            if (progress > 0) await sleep(STEP_MS);
            if (progressToken === undefined) continue;
            const params = { progressToken, progress, total: 100 };
            await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
        return say('done');
    });
    server.registerTool('test_reconnection', { description: 'Closes its stream, then answers' }, async ctx => {
        // On stdio the stream is that of whoever stands in front, who ends it if the answer is late.
        ctx.http?.closeSSE?.();
        await sleep(ctx.http?.closeSSE ? 2 * STEP_MS : LATE_MS);
        return say('sent while nobody listened');
    });
}

function addSchemaTools(server) {
    const mirrored = {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }
    };
    server.registerTool(
        'test_header_parameter',
        { description: 'Its argument comes in a header too', inputSchema: fromJsonSchema(mirrored) },
        ({ region }) => say(`region: ${region}`)
    );
    const everything = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
            address: {
                $anchor: 'addressDef',
                type: 'object',
                properties: { street: { type: 'string' }, city: { type: 'string' } }
            }
        },
        properties: {
            name: { type: 'string' },
            address: { $ref: '#/$defs/address' },
            contactMethod: { type: 'string', enum: ['phone', 'email'] },
            phone: { type: 'string' },
            email: { type: 'string' }
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false
    };
    server.registerTool(
        'json_schema_2020_12_tool',
        { description: 'Has a schema with all keywords', inputSchema: fromJsonSchema(everything) },
        values => say(JSON.stringify(values))
    );
}

function addAskingTools(server) {
    asking(server, 'test_input_required_result_elicitation', { user_name: nameForm() }, ({ user_name }) =>
        say(`Hello, ${user_name.content.name}!`)
    );
    const capital = { capital_question: sampling('What is the capital of France?', 100) };
    asking(server, 'test_input_required_result_sampling', capital, ({ capital_question }) =>
        say(capital_question.result.content.text)
    );
    const roots = { client_roots: inputRequired.listRoots() };
    asking(server, 'test_input_required_result_list_roots', roots, ({ client_roots }) =>
        say(client_roots.roots.map(root => root.uri).join(' '))
    );
    asking(server, 'test_missing_capability', { answer: sampling('Anything', 10) }, () => say('answered'));
    asking(server, 'test_streaming_elicitation', { user_name: nameForm() }, () => say('answered'));
    const defaults = {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true }
    };
    asking(server, 'test_elicitation_sep1034_defaults', { form: form('Please check', defaults, []) }, completed);
    asking(server, 'test_elicitation_sep1330_enums', { form: form('Please choose', choices(), []) }, completed);

    const prompt = { description: "Asks the client's model", inputSchema: z.object({ prompt: z.string() }) };
    server.registerTool('test_sampling', prompt, ({ prompt }, ctx) => {
        const answer = inputResponse(ctx.mcpReq.inputResponses, 'answer');
        if (answer.kind === 'sampling') return say(`LLM response: ${answer.result.content.text}`);
        return inputRequired({ inputRequests: { answer: sampling(prompt, 100) } });
    });
    const message = { description: 'Asks the user', inputSchema: z.object({ message: z.string() }) };
    server.registerTool('test_elicitation', message, ({ message }, ctx) => {
        const answer = inputResponse(ctx.mcpReq.inputResponses, 'form');
        if (answer.kind === 'elicit') return say(`User response: ${JSON.stringify(answer)}`);
        const fields = { username: { type: 'string' }, email: { type: 'string' } };
        return inputRequired({ inputRequests: { form: form(message, fields) } });
    });
    // What a client cannot do is not asked of it.
    server.registerTool('test_input_required_result_capabilities', { description: 'Asks what it may' }, ctx => {
        if (ctx.mcpReq.inputResponses) return say('answered');
        const declared = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
        const inputRequests = {};
        if (declared.elicitation) inputRequests.user_name = nameForm();
        if (declared.sampling) inputRequests.greeting = sampling('Generate a greeting', 50);
        return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : say('nothing to ask');
    });
}

function addStatefulTools(server) {
    const confirm = form('Please confirm', { ok: { type: 'boolean' } });
    for (const name of ['request_state', 'tampered_state']) {
        server.registerTool(`test_input_required_result_${name}`, { description: 'Keeps state' }, async ctx => {
            const confirmed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
            if (confirmed && ctx.mcpReq.requestState()) return say('state-ok');
            return inputRequired({ inputRequests: { confirm }, requestState: await states.mint({ name }) });
        });
    }
    server.registerTool('test_input_required_result_multiple_inputs', { description: 'Asks thrice at once' }, async ctx => {
        const inputRequests = {
            user_name: nameForm(),
            greeting: sampling('Generate a greeting', 50),
            client_roots: inputRequired.listRoots()
        };
        if (answersTo(inputRequests, ctx)) return say('all answered');
        return inputRequired({ inputRequests, requestState: await states.mint({ asked: 3 }) });
    });
    server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice' }, async ctx => {
        const state = ctx.mcpReq.requestState();
        const answer = acceptedContent(ctx.mcpReq.inputResponses, state?.step ?? 'step1');
        if (state?.step === 'step2' && answer) return say(`${state.name} likes ${answer.color}`);
        if (answer) {
            const step2 = form('Step 2: What is your favorite color?', { color: { type: 'string' } });
            const requestState = await states.mint({ step: 'step2', name: answer.name });
            return inputRequired({ inputRequests: { step2 }, requestState });
        }
        const step1 = form('Step 1: What is your name?', { name: { type: 'string' } });
        return inputRequired({ inputRequests: { step1 }, requestState: await states.mint({ step: 'step1' }) });
    });
}

function addChangingTools(server, changes) {
    server.registerTool('test_trigger_tool_change', { description: 'Says that the tools changed' }, () => {
        if (changes) changes.toolsChanged();
        else server.sendToolListChanged();
        return say('announced');
    });
    server.registerTool('test_trigger_prompt_change', { description: 'Says that the prompts changed' }, () => {
        if (changes) changes.promptsChanged();
        else server.sendPromptListChanged();
        return say('announced');
    });
}

function addResources(server) {
    const watched = 'test://watched-resource';
    const resources = [
        { uri: 'test://static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
        { uri: 'test://static-binary', mimeType: 'image/png', blob: PNG },
        { uri: watched, mimeType: 'text/plain', text: 'Watched resource content' }
    ];
    for (const resource of resources) {
        const { uri, mimeType } = resource;
        const name = uri.slice('test://'.length);
        server.registerResource(name, uri, { description: 'Fixed content', mimeType }, () => ({ contents: [resource] }));
    }
    const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
    const about = { description: 'Has an id', mimeType: 'application/json' };
    server.registerResource('template', template, about, ({ href }, { id }) => {
        const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
        return { contents: [{ uri: href, mimeType: 'application/json', text }] };
    });
    // No resource ever changes, so there is nothing to keep.
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server) {
    const simple = { description: 'Without arguments' };
    server.registerPrompt('test_simple_prompt', simple, () => from(text('This is a simple prompt for testing.')));
    const places = ['paris', 'park', 'party'];
    const arg1 = completable(z.string(), typed => places.filter(place => place.startsWith(typed)));
    server.registerPrompt(
        'test_prompt_with_arguments',
        { description: 'With arguments', argsSchema: z.object({ arg1, arg2: z.string() }) },
        ({ arg1, arg2 }) => from(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))
    );
    server.registerPrompt(
        'test_prompt_with_embedded_resource',
        { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
        ({ resourceUri }) =>
            from(
                embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
                text('Please process the embedded resource above.')
            )
    );
    server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () =>
        from(IMAGE, text('Please analyze the image above.'))
    );
    server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, ctx => {
        const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_context');
        if (answer) return from(text(`Use this: ${answer.context}`));
        const user_context = form('What context should the prompt use?', { context: { type: 'string' } });
        return inputRequired({ inputRequests: { user_context } });
    });
}

// A tool that has only something to ask, and answers when it knows all of it.
function asking(server, name, inputRequests, answer) {
    server.registerTool(name, { description: 'Asks, then answers' }, ctx => {
        const answers = answersTo(inputRequests, ctx);
        return answers ? answer(answers) : inputRequired({ inputRequests });
    });
}

function answersTo(inputRequests, ctx) {
    const answers = Object.keys(inputRequests).map(key => [key, inputResponse(ctx.mcpReq.inputResponses, key)]);
    return answers.some(([, answer]) => answer.kind === 'missing') ? undefined : Object.fromEntries(answers);
}

function completed({ form: { action, content } }) {
    return say(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
}

function choices() {
    const titled = titles => titles.map((title, index) => ({ const: `value${index + 1}`, title }));
    const plain = ['option1', 'option2', 'option3'];
    return {
        untitledSingle: { type: 'string', enum: plain },
        titledSingle: { type: 'string', oneOf: titled(['First Option', 'Second Option', 'Third Option']) },
        legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three']
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
        titledMulti: { type: 'array', items: { anyOf: titled(['First Choice', 'Second Choice', 'Third Choice']) } }
    };
}

function nameForm() {
    return form('What is your name?', { name: { type: 'string' } });
}

function form(message, properties, required = Object.keys(properties)) {
    return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
}

function sampling(question, maxTokens) {
    return inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens });
}

function from(...contents) {
    return { messages: contents.map(content => ({ role: 'user', content })) };
}

function say(words) {
    return { content: [text(words)] };
}

function text(text) {
    return { type: 'text', text };
}

function embedded(uri, mimeType, text) {
    return { type: 'resource', resource: { uri, mimeType, text } };
}

function sleep(milliseconds) {
    return new Promise(wake => setTimeout(wake, milliseconds));
}
