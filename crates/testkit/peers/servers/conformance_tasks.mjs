// The tasks extension of 2026-07-28, which the package leaves to its users, with the tools that the
// official conformance suite asks for. A client that does not know tasks gets their results at once.

import { randomUUID } from 'node:crypto';

import {
    CLIENT_CAPABILITIES_META_KEY,
    MissingRequiredClientCapabilityError,
    ProtocolError,
    ProtocolErrorCode,
    acceptedContent,
    inputRequired
} from '@modelcontextprotocol/server';
import { z } from 'zod';

export const TASKS = 'io.modelcontextprotocol/tasks';

const JOB_MS = 200;

// Stands in for a task where a call is answered at once.
const NO_TASK = {
    ask() {
        throw new Error('only a task can ask');
    }
};

// Every modern request has a server of its own, and each may ask for a task.
const tasks = new Map();

export function addTasks(server) {
    addTools(server);
    const params = z.object({ taskId: z.string() });
    server.server.setRequestHandler('tasks/get', { params }, ({ taskId }, ctx) => taskOf(taskId, ctx).state);
    server.server.setRequestHandler('tasks/cancel', { params }, ({ taskId }, ctx) => {
        taskOf(taskId, ctx).settle('cancelled', {});
        return {};
    });
    server.server.setRequestHandler('tasks/update', { params }, ({ taskId }, ctx) => {
        // The package has lifted the answers out of the parameters.
        taskOf(taskId, ctx).take(ctx.mcpReq.inputResponses ?? {});
        return {};
    });
}

function addTools(server) {
    const named = { description: 'Never a task', inputSchema: z.object({ name: z.string() }) };
    server.registerTool('greet', named, ({ name }) => say(`Hello, ${name}!`));

    const timed = z.object({ seconds: z.number(), label: z.string().optional() });
    register(server, 'slow_compute', timed, async (_, { seconds, label }) => {
        await sleep(seconds * 1000);
        return say(`${label} took ${seconds} s`);
    });
    register(server, 'failing_job', z.object({}), async () => {
        await sleep(JOB_MS);
        return { ...say('failed on purpose'), isError: true };
    });
    register(server, 'protocol_error_job', z.object({}), async () => {
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'broke on purpose');
    });
    register(server, 'confirm_delete', z.object({ filename: z.string() }), async (task, { filename }) => {
        await task.ask({ confirm: confirmation(`Delete ${filename}?`) });
        return say(`${filename} is deleted`);
    });
    register(server, 'multi_input', z.object({}), async task => {
        await task.ask({ first: confirmation('The first?'), second: confirmation('The second?') });
        return say('both are answered');
    });
    server.registerTool('test_tool_with_task', { description: 'Asks, then is a task' }, ctx => {
        const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_name');
        if (answer) return start(async () => say(`Hello, ${answer.name}!`));
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        const user_name = inputRequired.elicit({ message: 'What is your name?', requestedSchema });
        return inputRequired({ inputRequests: { user_name } });
    });
}

function register(server, name, inputSchema, work) {
    server.registerTool(name, { description: 'A task for those who know tasks', inputSchema }, (values, ctx) =>
        knowsTasks(ctx) ? start(task => work(task, values)) : work(NO_TASK, values)
    );
}

class Task {
    id = randomUUID();
    #created = now();
    #updated = this.#created;
    #status = 'working';
    #outcome = {};
    #asked = {};
    #answered = () => {};

    get state() {
        const inputRequests = this.#status === 'input_required' ? { inputRequests: this.#asked } : {};
        return {
            taskId: this.id,
            status: this.#status,
            createdAt: this.#created,
            lastUpdatedAt: this.#updated,
            ttlMs: 60_000,
            pollIntervalMs: 100,
            ...inputRequests,
            ...this.#outcome
        };
    }

    // Resolves when every question is answered.
    ask(inputRequests) {
        this.#asked = inputRequests;
        this.#become('input_required');
        return new Promise(answered => (this.#answered = answered));
    }

    take(responses) {
        for (const key of Object.keys(responses)) delete this.#asked[key];
        if (this.#status !== 'input_required' || Object.keys(this.#asked).length > 0) return;
        this.#become('working');
        this.#answered();
    }

    // The first end counts: what was cancelled stays so.
    settle(status, outcome) {
        if (['completed', 'failed', 'cancelled'].includes(this.#status)) return;
        this.#outcome = outcome;
        this.#become(status);
    }

    #become(status) {
        this.#status = status;
        this.#updated = now();
    }
}

function start(work) {
    const task = new Task();
    tasks.set(task.id, task);
    work(task).then(
        result => task.settle('completed', { result }),
        ({ code, message }) => task.settle('failed', { error: { code, message } })
    );
    const { inputRequests: _, ...created } = task.state;
    return { resultType: 'task', ...created };
}

function taskOf(id, ctx) {
    if (!knowsTasks(ctx)) {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
    }
    const task = tasks.get(id);
    if (!task) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no task ${id}`);
    return task;
}

function knowsTasks(ctx) {
    return ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions?.[TASKS] !== undefined;
}

function confirmation(message) {
    const requestedSchema = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
    return inputRequired.elicit({ message, requestedSchema });
}

function say(text) {
    return { content: [{ type: 'text', text }] };
}

function now() {
    return new Date().toISOString();
}

function sleep(milliseconds) {
    return new Promise(wake => setTimeout(wake, milliseconds));
}
