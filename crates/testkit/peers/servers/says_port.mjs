// Loaded before a server that does not say which port it was given: says so, as soon as it listens.
//
//   PORT=0 node --import servers/says_port.mjs …

import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
    // Before whatever the server itself says then.
    this.once('listening', () => console.error(`listening on port ${this.address().port}`));
    return listen.apply(this, args);
};
