// What the TypeScript clients share: how they report, wait and end.

import { createHash } from 'node:crypto';

export const PATIENCE_MS = 20_000;

/** Notes progress as it arrives: the SDK forgets what it reads in one go with the result. */
export function recordProgress(transport, seen) {
    const { onmessage } = transport;
    const known = new Set();
    transport.onmessage = (message, extra) => {
        const { method, params } = message;
        const text = JSON.stringify(params);
        // Over HTTP, a client that comes back for more may be sent again what it has seen.
        if (method === 'notifications/progress' && !known.has(text)) seen.push([params.progress, params.total]);
        known.add(text);
        onmessage(message, extra);
    };
}

/** What came of a request, be it a result or an error. */
export async function outcome(promise) {
    try {
        return brief(await promise);
    } catch (error) {
        return brief({ error: { name: error.name, code: error.code, message: error.message, data: error.data } });
    }
}

/** Shortens long strings to their digest and blanks what differs from run to run. */
export function brief(value) {
    if (typeof value === 'string') {
        const text = value
            .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g, '<id>')
            .replace(/\d{1,2}:\d\d:\d\d( ?[AP]M)?/g, '<time>')
            // Over HTTP, server-everything names the session; on stdio there is none to name.
            .replace(/(for|from) session (<id>|undefined)/g, '');
        return text.length <= 400 ? text : digest(text);
    }
    if (Array.isArray(value)) return value.map(brief);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => {
            // The blob of a dynamic resource says when it was made.
            if (key === 'blob') return [key, brief(Buffer.from(inner, 'base64').toString('latin1'))];
            return [key, brief(inner)];
        })
    );
}

export function digest(text) {
    return { chars: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}

/** Waits until `condition` gives something truthy, and returns it. */
export async function until(condition) {
    for (const start = Date.now(); Date.now() - start < PATIENCE_MS; await new Promise(wake => setTimeout(wake, 10))) {
        const value = condition();
        if (value) return value;
    }
    throw new Error(`waited in vain for: ${condition}`);
}

/** Reads `[--era ERA] -- COMMAND ARGS…` or `[--era ERA] -- URL`. */
export function commandLine(words, eras) {
    const dashes = words.indexOf('--');
    const flag = words.slice(0, Math.max(dashes, 0)).indexOf('--era');
    const era = flag < 0 ? 'legacy' : words[flag + 1];
    if (dashes < 0 || dashes === words.length - 1 || !eras.includes(era)) {
        fail(new Error(`usage: [--era ${eras.join('|')}] -- COMMAND ARGS… | URL`));
    }
    const [command, ...args] = words.slice(dashes + 1);
    const isUrl = args.length === 0 && command.startsWith('http://');
    return isUrl ? { era, url: new URL(command) } : { era, command, args };
}

export function fail(error) {
    console.error(error);
    process.exit(1);
}
