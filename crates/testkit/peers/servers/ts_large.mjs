// A fixture upstream with large results and strict output schemas, over stdio.
//
//   node servers/ts_large.mjs server   on @modelcontextprotocol/server 2.x, both eras
//   node servers/ts_large.mjs sdk      on @modelcontextprotocol/sdk 1.x, legacy only
//
// Its tools have the names of those of py_large.py; `job`, which is answered as a task, is there with
// the second only.

import { z } from 'zod';

const IMAGE = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const ORDER = z.strictObject({
    id: z.number().int(),
    customer: z.string(),
    status: z.enum(['open', 'paid', 'sent']),
    total: z.number()
});
const ORDERS = z.strictObject({ orders: z.array(ORDER) });

if (process.argv[2] === 'server') {
    const { McpServer } = await import('@modelcontextprotocol/server');
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    serveStdio(() => {
        const server = build(McpServer);
        addRows(server);
        return server;
    });
} else {
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const { InMemoryTaskStore } = await import('@modelcontextprotocol/sdk/experimental/tasks');
    const capabilities = { tasks: { requests: { tools: { call: {} } } } };
    const server = build(McpServer, { capabilities, taskStore: new InMemoryTaskStore() });
    addJob(server);
    await server.connect(new StdioServerTransport());
}

function build(McpServer, options) {
    const server = new McpServer({ name: 'ts-large-fixture', version: '1.0.0' }, options);
    addLarge(server);
    addSmall(server);
    return server;
}

function addLarge(server) {
    const orders = { outputSchema: ORDERS };
    server.registerTool('orders', orders, () => structured({ orders: makeOrders(1_000) }));

    // Refers to itself by `$defs`, two levels below the root.
    const category = z.strictObject({
        name: z.string(),
        orders: z.array(ORDER),
        get children() {
            return z.array(category);
        }
    });
    const catalogue = { outputSchema: z.strictObject({ version: z.literal(1), root: category }) };
    server.registerTool('catalogue', catalogue, () => structured({ version: 1, root: makeCategory() }));

    // The root refers to itself: such a schema cannot be put inside another one.
    server.registerTool('tree', { outputSchema: category }, () => structured(makeCategory()));

    server.registerTool('listing', {}, () => ({
        content: [{ type: 'text', text: JSON.stringify(makeOrders(1_000)) }]
    }));

    server.registerTool('illustrated', orders, () => ({
        content: [{ type: 'text', text: 'see the picture' }, IMAGE],
        structuredContent: { orders: makeOrders(1_000) },
        _meta: { 'example.test/extra': { kept: true } }
    }));
}

function addSmall(server) {
    server.registerTool('few', { outputSchema: ORDERS }, () => structured({ orders: makeOrders(2) }));

    // The bound is listed, but not checked by the server, so that this result breaks its schema.
    const broken = { outputSchema: z.strictObject({ count: z.number().meta({ maximum: 1 }) }) };
    server.registerTool('broken', broken, () => structured({ count: 2 }));
}

/** Arrays as structured content, which the modern era alone knows. */
function addRows(server) {
    const rows = { outputSchema: z.array(ORDER) };
    server.registerTool('rows', rows, () => structured(makeOrders(1_000)));
    server.registerTool('few_rows', rows, () => structured(makeOrders(2)));
}

/** A large result that is fetched by `tasks/result`. */
function addJob(server) {
    server.experimental.tasks.registerToolTask('job', { outputSchema: ORDERS }, {
        async createTask({ taskStore }) {
            const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 20 });
            await taskStore.storeTaskResult(task.taskId, 'completed', structured({ orders: makeOrders(1_000) }));
            return { task };
        },
        getTask: ({ taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: ({ taskId, taskStore }) => taskStore.getTaskResult(taskId)
    });
}

function makeOrders(count) {
    return Array.from({ length: count }, (_, place) => ({
        id: place + 1,
        customer: `Customer ${place % 97}`,
        status: ['open', 'paid', 'sent'][place % 3],
        total: place * 1.25
    }));
}

function makeCategory() {
    const child = place => ({ name: `part ${place}`, orders: makeOrders(100), children: [] });
    return { name: 'all', orders: makeOrders(10), children: Array.from({ length: 10 }, (_, place) => child(place)) };
}

function structured(value) {
    return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}
