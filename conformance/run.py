"""Runs the official conformance suite at a server, with and without Forebay before it, and compares.

    python run.py --peers DIRECTORY --node PROGRAM --forebay PROGRAM

The exit status is 1 if a check that passes without Forebay does not pass with it, and is not excused,
or if fewer checks pass without Forebay than there should be.
"""

import argparse
import itertools
import json
import os
import re
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import report
from processes import DidNotStart, Processes

# How many checks pass at the server itself. With fewer, the suite or the server is not what it was.
REVISIONS = {"2025-11-25": 84, "2026-07-28": 194}

# Several times what the slowest run needs.
SUITE_SECONDS = 180


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("conformance: stopped"))
    with (
        tempfile.TemporaryDirectory(prefix="forebay-conformance-") as directory,
        # The suite waits for some answers half a second at most, so it must not be crowded.
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        bench = Bench(options, Path(directory))
        try:
            runs = {
                (revision, way): pool.submit(bench.run, revision, way)
                for revision, way in itertools.product(REVISIONS, report.WAYS)
            }
            outcomes = {key: run.result() for key, run in runs.items()}
        except DidNotStart as error:
            sys.exit(f"conformance: {error}")
        finally:
            bench.processes.end()
    required = {revision: bench.required(revision) for revision in REVISIONS}
    sys.exit(0 if report.show(outcomes, required, REVISIONS) else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, required=True, help="where the packages are installed")
    parser.add_argument("--node", required=True, help="a Node that the suite can run with")
    parser.add_argument("--forebay", required=True, help="the program that is looked at")
    return parser.parse_args()


class Bench:
    """Where a run of the suite is set up: each has a server, and a Forebay, of its own."""

    def __init__(self, options, directory):
        self.node = options.node
        self.forebay = options.forebay
        self.suite = options.peers / "conformance/node_modules/@modelcontextprotocol/conformance"
        self.server = [self.node, options.peers / "node/servers/conformance.mjs"]
        self.directory = directory
        self.processes = Processes()

    def run(self, revision, way):
        """Returns the checks of each scenario, as the suite has written them."""
        url = self.endpoint(way, self.directory / f"home-{revision}-{way}")
        results = self.directory / f"results-{revision}-{way}"
        suite = [self.node, self.suite / "dist/index.js", "server", "--url", url]
        self.processes.run([*suite, "--requirements", revision, "--output-dir", results], SUITE_SECONDS)
        return {scenario_of(file): json.loads(file.read_text()) for file in results.glob("*/checks.json")}

    def endpoint(self, way, home):
        if way == report.STDIO:
            # On stdio the server cannot end a stream; its tool that would is late, and Forebay ends it.
            return self.serve(home, "--poll-after", "2", "--", *self.server, "--stdio")
        if way == report.GROUP_OF_COMMAND:
            program, *arguments = [str(word) for word in self.server]
            return self.gateway(home, {"command": program, "args": [*arguments, "--stdio"]})
        url = f"http://{self.processes.start(self.server, 'stdout')}/mcp"
        if way == report.GROUP_OF_URL:
            return self.gateway(home, {"url": url})
        return url if way == report.DIRECT else self.serve(home, "--url", url)

    def gateway(self, home, server):
        """Many servers of which there is one, whose tools keep their names."""
        home.mkdir()
        (home / "forebay.toml").write_text('[gateway]\nprefix = "where_needed"\n')
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"one": server}}))
        return self.serve(home, "--poll-after", "2", "--servers", home / "mcp.json")

    def serve(self, home, *upstream):
        command = [self.forebay, "serve", "--listen", "127.0.0.1:0", *upstream]
        return self.processes.start(command, "stderr", {**os.environ, "FOREBAY_HOME": str(home)})

    def required(self, revision):
        """The scenarios that a server of this revision has to pass; others run for information."""
        text = (self.suite / f"requirements/{revision}.yaml").read_text()
        section = re.search(r"^server:\n((?:  - .+\n)+)", text, re.MULTILINE)
        return set(re.findall(r"- (.+)", section[1]))


def scenario_of(file):
    return re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", file.parent.name)[1]


if __name__ == "__main__":
    main()
