"""Processes that are all ended, whatever happens."""

import os
import re
import signal
import subprocess
import threading

# A process that does not end when it is told to is killed after this long.
ENDING_SECONDS = 5


class DidNotStart(Exception):
    """A server ended, or closed its output, before it said what it is listening on."""


class Processes:
    """What was started. Each has a process group of its own, and ends with all that it has started."""

    def __init__(self):
        self._lock = threading.Lock()
        self._started = []
        self._is_ending = False

    def start(self, command, stream, environment=None):
        """Starts a server, and returns what it says it is listening on, on stdout or stderr."""
        process = self._spawn(command, env=environment, **{stream: subprocess.PIPE})
        lines = getattr(process, stream)
        said = []
        for line in lines:
            said.append(line)
            if match := re.search(r"listening on (\S+)", line):
                # It must not block on a full pipe.
                threading.Thread(target=lines.read, daemon=True).start()
                return match[1]
        raise DidNotStart(f"`{command[0]}` did not start: {''.join(said).strip()}")

    def run(self, command, seconds):
        """Runs a program to its end; its exit status is not looked at."""
        process = self._spawn(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(process)

    def end(self):
        with self._lock:
            self._is_ending = True
        for process in self._started:
            end(process)

    def _spawn(self, command, **options):
        with self._lock:
            if self._is_ending:
                raise DidNotStart("everything is being ended")
            words = [str(word) for word in command]
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, text=True, start_new_session=True, **options
            )
            self._started.append(process)
            return process


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
