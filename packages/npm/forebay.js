#!/usr/bin/env node
// Starts the program that came with the package for this platform, and is as if it were not there: the program has
// the same input, output and arguments, gets every signal, and its exit status is ours.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { isatty } = require('node:tty');

const PACKAGES = {
  'linux x64': '@forebay/linux-x64',
  'linux arm64': '@forebay/linux-arm64',
  'darwin arm64': '@forebay/darwin-arm64',
  'darwin x64': '@forebay/darwin-x64',
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];

// A terminal sends these to the program as well as to us. Sent on, it would get them twice, and a second Ctrl-C may
// mean more than the first.
const FROM_TERMINAL = ['SIGINT', 'SIGHUP', 'SIGQUIT'];

function fail(message) {
  process.stderr.write(`forebay: ${message}\n`);
  process.exit(1);
}

function program() {
  const platform = `${process.platform} ${process.arch}`;
  const name = PACKAGES[platform];
  if (name === undefined) {
    fail(`there is no package for ${platform}; there is one for ${Object.keys(PACKAGES).join(', ')}`);
  }
  try {
    return require.resolve(`${name}/forebay`);
  } catch {
    fail(
      `the package ${name}, which has the program, is not installed. npm leaves it out with --omit=optional or ` +
        '--no-optional, where a lock file was made on another platform, and on Linux without glibc (Alpine). ' +
        'Install forebay again without those, or take another package: see the README.',
    );
  }
}

// `process.stdin` would take input that is the program's.
const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
// Before the program is started, so that an early signal does not end us and leave it behind. They are called later.
for (const signal of SIGNALS) {
  const isSentOn = !(hasTerminal && FROM_TERMINAL.includes(signal));
  process.on(signal, () => isSentOn && child.kill(signal));
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });

child.on('error', (error) => fail(`the program could not be started: ${error.message}`));

child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Whoever started us sees what ended the program. If that is not possible, what a shell would say.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
