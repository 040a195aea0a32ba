"""Drives a realistic session with a real server, over the Python SDK (mcp 2.x), legacy era.

    python clients/py_session.py KIND WORKDIR -- COMMAND ARGS…

KIND is everything, filesystem, memory, git or time, and says which server COMMAND starts.
WORKDIR is an empty directory; the filesystem server must be allowed to use it. The script is
for tests that compare the bytes on both sides of a proxy, so its calls need not be the same
from run to run. It prints one line of JSON that counts what it did, and fails when a call
succeeds or fails against expectation.
"""

import argparse
import json
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

PATIENCE_SECS = 20

# Git as it comes, whatever the machine's own settings (signing, hooks) are.
PLAIN_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass
class Call:
    """One tool call, and whether an error is what it should give."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    fails: bool = False


def everything(workdir: Path) -> list[Call]:
    return [
        Call("echo", {"message": 'héllo ✓ \0 "quoted" \\ 😀\u2028'}),
        Call("echo", {"message": "x" * 300_000}),
        Call("get-sum", {"a": 0.1, "b": 2**53}),
        Call("get-sum", {"a": "one"}, fails=True),
        Call("get-structured-content", {"location": "New York"}),
        Call("get-tiny-image"),
        Call("get-annotated-message", {"messageType": "debug", "includeImage": True}),
        Call("get-resource-links", {"count": 10}),
        Call("get-resource-reference", {"resourceType": "Blob", "resourceId": 3}),
        Call("trigger-long-running-operation", {"duration": 0.3, "steps": 3}),
        Call("trigger-sampling-request", {"prompt": "a haiku", "maxTokens": 10}),
        Call("trigger-elicitation-request"),
        Call("get-roots-list"),
        Call("no-such-tool", fails=True),
        Call("echo", {"message": "once more"}),
    ]


def filesystem(workdir: Path) -> list[Call]:
    notes, big = str(workdir / "notes.txt"), str(workdir / "sub" / "big.csv")
    rows = "".join(f"{number},name {number},{number * number}\n" for number in range(14_000))
    return [
        Call("list_allowed_directories"),
        Call("create_directory", {"path": str(workdir / "sub")}),
        Call("write_file", {"path": notes, "content": "first\nsecond: Grüße ✓ 😀 日本語\nthird\n"}),
        Call("read_text_file", {"path": notes}),
        Call("edit_file", {"path": notes, "edits": [{"oldText": "third", "newText": 'fourth "quoted" \\ tab\t'}]}),
        Call("read_text_file", {"path": notes, "tail": 1}),
        Call("write_file", {"path": big, "content": rows}),
        Call("get_file_info", {"path": big}),
        Call("list_directory_with_sizes", {"path": str(workdir)}),
        Call("directory_tree", {"path": str(workdir)}),
        Call("search_files", {"path": str(workdir), "pattern": "**/*.csv"}),
        Call("read_multiple_files", {"paths": [notes, str(workdir / "missing.txt")]}),
        Call("read_text_file", {"path": "/etc/hostname"}, fails=True),
        Call("move_file", {"source": notes, "destination": str(workdir / "ünï códe.txt")}),
        Call("list_directory", {"path": str(workdir)}),
        Call("read_text_file", {"path": big}),
    ]


def memory(workdir: Path) -> list[Call]:
    people = [
        {"name": f"person {number}", "entityType": "person", "observations": ["likes ☕", "speaks 日本語"]}
        for number in range(50)
    ]
    knows = [{"from": "person 0", "to": f"person {number}", "relationType": "knows"} for number in range(1, 50)]
    return [
        Call("create_entities", {"entities": people}),
        Call("create_relations", {"relations": knows}),
        Call("add_observations", {"observations": [{"entityName": "person 1", "contents": ["x" * 20_000]}]}),
        Call("add_observations", {"observations": [{"entityName": "nobody", "contents": ["?"]}]}, fails=True),
        Call("search_nodes", {"query": "person 1"}),
        Call("open_nodes", {"names": ["person 1", "person 2"]}),
        Call("delete_relations", {"relations": knows[:10]}),
        Call("delete_entities", {"entityNames": ["person 49"]}),
        Call("read_graph"),
    ]


def git(workdir: Path) -> list[Call]:
    repo = {"repo_path": str(make_repository(workdir))}
    return [
        Call("git_status", repo),
        Call("git_diff_unstaged", repo),
        Call("git_add", repo | {"files": ["notes.txt"]}),
        Call("git_diff_staged", repo),
        Call("git_commit", repo | {"message": "Second: Grüße ✓"}),
        Call("git_show", repo | {"revision": "HEAD"}),
        Call("git_create_branch", repo | {"branch_name": "side"}),
        Call("git_checkout", repo | {"branch_name": "side"}),
        Call("git_branch", repo | {"branch_type": "local"}),
        Call("git_diff", repo | {"target": "HEAD~1"}),
        Call("git_show", repo | {"revision": "no-such-revision"}, fails=True),
        Call("git_log", repo),
    ]


def make_repository(workdir: Path) -> Path:
    """A repository of one commit, with a change that is not yet staged."""
    repo = workdir / "repo"
    repo.mkdir()

    def run(*words: str) -> None:
        subprocess.run(["git", *words], cwd=repo, env=dict(os.environ) | PLAIN_GIT, check=True, capture_output=True)

    run("init", "--initial-branch", "main")
    run("config", "user.name", "Test")
    run("config", "user.email", "test@example.invalid")
    (repo / "notes.txt").write_text("".join(f"line {number}\n" for number in range(100)))
    run("add", ".")
    run("commit", "-m", "First")
    (repo / "notes.txt").write_text("".join(f"line {number} ✓\n" for number in range(100)))
    return repo


def time(workdir: Path) -> list[Call]:
    def convert(source: str, target: str, clock: str = "12:34") -> dict[str, str]:
        return {"source_timezone": source, "target_timezone": target, "time": clock}

    return [
        Call("get_current_time", {"timezone": "Europe/Zurich"}),
        Call("get_current_time", {"timezone": "Asia/Kathmandu"}),
        Call("get_current_time", {"timezone": "Nowhere/At_All"}, fails=True),
        Call("convert_time", convert("America/New_York", "Asia/Tokyo")),
        Call("convert_time", convert("Europe/London", "Australia/Lord_Howe", "23:59")),
        Call("convert_time", convert("Europe/London", "Asia/Tokyo", "25:00"), fails=True),
        Call("convert_time", convert("Etc/UTC", "America/St_Johns")),
    ]


KINDS = {"everything": everything, "filesystem": filesystem, "memory": memory, "git": git, "time": time}


async def drive(kind: str, workdir: Path, command: list[str]) -> dict[str, Any]:
    # The whole environment goes on: the SDK would hand down a handful of variables only.
    # The memory server would else write beside its own code.
    environment = dict(os.environ) | PLAIN_GIT | {"MEMORY_FILE_PATH": str(workdir / "memory.jsonl")}
    client = Client(
        StdioServerParameters(command=command[0], args=command[1:], env=environment),
        mode="legacy",
        read_timeout_seconds=PATIENCE_SECS,
        elicitation_callback=on_elicitation,
        sampling_callback=on_sampling,
        # The filesystem server takes its allowed directories from the roots.
        list_roots_callback=lambda context: list_roots(workdir),
        logging_callback=on_anything,
        message_handler=on_anything,
    )
    async with client:
        report: dict[str, Any] = {"kind": kind, "version": client.protocol_version, "calls": 0, "errors": 0}
        report |= await listings(client)
        calls = KINDS[kind](workdir)
        for call in calls:
            report["errors"] += await perform(client, call)
        # The last call only reads: several at once interleave their ids.
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(perform, client, calls[-1])
        report["calls"] = len(calls) + 5
        return report


async def listings(client: Client) -> dict[str, int]:
    """Lists, and partly reads, all that the server says it has."""
    offered = client.server_capabilities
    tools = (await client.list_tools()).tools
    resources = (await client.list_resources()).resources if offered.resources else []
    templates = (await client.list_resource_templates()).resource_templates if offered.resources else []
    prompts = (await client.list_prompts()).prompts if offered.prompts else []
    for resource in resources:
        await client.read_resource(str(resource.uri))
    for prompt in prompts:
        if not prompt.arguments:
            await client.get_prompt(prompt.name)
    found = {"tools": tools, "resources": resources, "templates": templates, "prompts": prompts}
    return {name: len(items) for name, items in found.items()}


async def perform(client: Client, call: Call) -> bool:
    """Makes a call, and tells whether it failed: as a result or as a protocol error."""
    try:
        result = await client.call_tool(call.tool, call.arguments, progress_callback=on_progress)
        failed, answer = bool(result.is_error), repr(result.content)[:200]
    except MCPError as error:
        failed, answer = True, str(error)
    if failed != call.fails:
        raise RuntimeError(f"{call.tool} was to {'fail' if call.fails else 'succeed'}: {answer}")
    return failed


async def on_elicitation(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ada Lovelace ✓"})


async def on_sampling(context: Any, params: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", model="stub", content=TextContent(text="sampled ✓"))


async def list_roots(workdir: Path) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri=workdir.as_uri(), name="work")])


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    pass


async def on_anything(message: Any) -> None:
    pass


async def main() -> None:
    # The command may hold a `--` of its own, so it is cut off before the rest is parsed.
    words, command = sys.argv[1:], []
    if "--" in words:
        words, command = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = argparse.ArgumentParser(usage="%(prog)s KIND WORKDIR -- COMMAND ARGS…")
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("workdir", type=Path)
    options = parser.parse_args(words)
    if not command:
        parser.error("no command")
    # A hang must end as a failed run, not as a stuck test.
    with anyio.fail_after(60):
        report = await drive(options.kind, options.workdir.resolve(), command)
    print(json.dumps(report, separators=(",", ":")))


if __name__ == "__main__":
    try:
        anyio.run(main)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
