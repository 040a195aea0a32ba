"""A client of both eras: the Python SDK (mcp 2.x), over stdio or HTTP.

    python clients/py_client.py --era legacy -- COMMAND ARGS…   with server-everything
    python clients/py_client.py --era modern -- COMMAND ARGS…   with servers/py_server.py
    python clients/py_client.py --era auto -- COMMAND ARGS…     with either: it finds out

In place of COMMAND there may be a URL, `http://…/mcp`. In the last two eras the SDK asks
`server/discover` first, on the same connection, and in the last goes back to `initialize` when
that fails.

It prints one line of JSON: what it saw. The same server must give the same line with and
without a proxy in between, so times, ids and the number of repeated notifications are left
out of it.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    Implementation,
    ListRootsResult,
    PromptReference,
    Request,
    RequestParams,
    Result,
    Root,
    TextContent,
)
from pydantic import BaseModel, Field

PATIENCE_SECS = 20

# What the modern era deprecates is part of what is tested here.
warnings.simplefilter("ignore", MCPDeprecationWarning)


# ---- The tasks extension (SEP-2663), for which the SDK has hooks but no runtime ----


class TaskResult(Result):
    """What a server may answer `tools/call` with in place of the result."""

    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")
    status: str
    poll_interval_ms: int = Field(alias="pollIntervalMs")


class TaskState(Result):
    task_id: str = Field(alias="taskId")
    status: str
    result: dict[str, Any] | None = None


class TaskParams(RequestParams):
    task_id: str = Field(alias="taskId")


class TaskRequest(Request[TaskParams, str]):
    # Over HTTP the header `Mcp-Name` says it too.
    name_param = "taskId"


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskResult, resolve=self.resolve)]

    async def resolve(self, task: TaskResult, context: ClaimContext) -> CallToolResult:
        """Polls until the task is done; its result lies in the answer to `tasks/get`."""
        self.seen.append(task.status)
        while True:
            await anyio.sleep(task.poll_interval_ms / 1000)
            state = await context.session.send_request(task_request("tasks/get", task.task_id), TaskState)
            self.seen.append(state.status)
            if state.result is not None:
                return CallToolResult.model_validate(state.result)


def task_request(method: str, task_id: str) -> TaskRequest:
    return TaskRequest(method=method, params=TaskParams(taskId=task_id))


# ---- The client ----


class Peer:
    """One connection, with what the server asked and told on it."""

    def __init__(self, era: str, command: list[str]) -> None:
        self.era = era
        self.asked: dict[str, list[str]] = {"elicitation": [], "sampling": []}
        self.logs: list[dict[str, Any]] = []
        self.updates: list[str] = []
        self.roots = ["file:///one"]
        self.tasks = Tasks()
        self.client = Client(
            server_at(command),
            # "modern" too begins with the probe; the era that comes of it is checked below.
            mode="legacy" if era == "legacy" else "auto",
            client_info=Implementation(name="py-client-peer", version="1.0.0"),
            read_timeout_seconds=PATIENCE_SECS,
            elicitation_callback=self.on_elicitation,
            sampling_callback=self.on_sampling,
            list_roots_callback=self.on_list_roots,
            logging_callback=self.on_log,
            message_handler=self.on_message,
            extensions=[self.tasks],
        )

    async def on_elicitation(self, context: Any, params: Any) -> ElicitResult:
        self.asked["elicitation"].append(params.message)
        if params.mode == "url":
            return ElicitResult(action="decline")
        answers = {"name": "Ada Lovelace ✓", "colour": "blue", "check": True, "integer": 42}
        fields = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={key: value for key, value in answers.items() if key in fields})

    async def on_sampling(self, context: Any, params: Any) -> CreateMessageResult:
        self.asked["sampling"].append(params.messages[0].content.text)
        content = TextContent(text="sampled ✓")
        return CreateMessageResult(role="assistant", model="stub", stop_reason="endTurn", content=content)

    async def on_list_roots(self, context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=uri, name=uri.rsplit("/")[-1]) for uri in self.roots])

    async def on_log(self, params: Any) -> None:
        self.logs.append(plain(params))

    async def on_message(self, message: Any) -> None:
        if getattr(message, "method", None) == "notifications/resources/updated":
            self.updates.append(str(message.params.uri))

    async def report(self) -> dict[str, Any]:
        async with self.client as client:
            modern = client.protocol_version == "2026-07-28"
            if self.era == "modern" and not modern:
                raise RuntimeError(f"the server speaks {client.protocol_version}")
            report: dict[str, Any] = {"era": self.era, "version": client.protocol_version}
            report["server"] = brief(
                {
                    "info": plain(client.server_info),
                    "capabilities": plain(client.server_capabilities),
                    "instructions": client.instructions,
                }
            )
            return report | (await self.modern() if modern else await self.legacy())

    # ---- Legacy, with server-everything ----

    async def legacy(self) -> dict[str, Any]:
        client = self.client
        return {
            "tools": {
                **await self.tool_list(),
                "echo": await self.call("echo", {"message": 'héllo ✓ \0 "quoted" \\ 😀'}),
                "echoLarge": await self.call("echo", {"message": "x" * 200_000}),
                "sum": await self.call("get-sum", {"a": 1.5, "b": 2**40}),
                "structured": await self.call("get-structured-content", {"location": "Chicago"}),
                "image": await self.call("get-tiny-image"),
                "annotated": await self.call("get-annotated-message", {"messageType": "error", "includeImage": True}),
                "links": await self.call("get-resource-links", {"count": 3}),
                "badArguments": await self.call("get-sum", {"a": "one"}),
                "unknown": await self.call("no-such-tool"),
            },
            "resources": {
                **await self.resource_lists(),
                "document": await self.read("demo://resource/static/document/features.md"),
                "text": await self.read("demo://resource/dynamic/text/1"),
                "blob": await self.read("demo://resource/dynamic/blob/2"),
                "missing": await self.read("demo://resource/none"),
            },
            "prompts": {
                "list": brief(plain(await client.list_prompts())),
                "simple": await self.prompt("simple-prompt"),
                "withArguments": await self.prompt("args-prompt", {"city": "Zürich"}),
                "missing": await self.prompt("no-such-prompt"),
            },
            "completion": await self.complete("completable-prompt", "department", "S"),
            "progress": await self.progress("trigger-long-running-operation", {"duration": 0.5, "steps": 5}),
            "cancellation": await self.cancellation("trigger-long-running-operation", {"duration": 20, "steps": 100}),
            "sampling": {
                "result": await self.call("trigger-sampling-request", {"prompt": "a haiku", "maxTokens": 10}),
                "asked": self.asked["sampling"],
            },
            "elicitation": await self.legacy_elicitation(),
            "logging": await self.legacy_logging(),
            "subscriptions": await self.legacy_subscriptions(),
            "roots": await self.legacy_roots(),
            "ping": await outcome(client.send_ping()),
        }

    async def legacy_elicitation(self) -> dict[str, Any]:
        url = {"url": "https://example.invalid/sign-in", "elicitationId": "fixed-id"}
        return {
            "form": await self.call("trigger-elicitation-request"),
            "url": await self.call("trigger-url-elicitation", url),
            "urlRequired": await self.call("trigger-url-elicitation", url | {"errorPath": True}),
            "asked": self.asked["elicitation"],
        }

    async def legacy_logging(self) -> dict[str, Any]:
        set_level = await outcome(self.client.set_logging_level("debug"))
        # The level of a simulated message is random: only that one came is a fact.
        await self.call("toggle-simulated-logging")
        await until(lambda: any(re.search("level.message", log["data"]) for log in self.logs))
        await self.call("toggle-simulated-logging")
        return {"setLevel": set_level, "received": True}

    async def legacy_subscriptions(self) -> dict[str, Any]:
        uri = "demo://resource/dynamic/text/1"
        subscribe = await outcome(self.client.subscribe_resource(uri))
        await self.call("toggle-subscriber-updates")
        await until(lambda: uri in self.updates)
        await self.call("toggle-subscriber-updates")
        unsubscribe = await outcome(self.client.unsubscribe_resource(uri))
        return {"subscribe": subscribe, "updated": sorted(set(self.updates)), "unsubscribe": unsubscribe}

    async def legacy_roots(self) -> dict[str, Any]:
        first = await self.call("get-roots-list")
        self.roots.append("file:///two")
        await self.client.send_roots_list_changed()
        # The server asks again and logs it.
        await until(lambda: any("2 root(s)" in log["data"] for log in self.logs))
        return {"first": first, "second": await self.call("get-roots-list")}

    # ---- Modern, with servers/py_server.py ----

    async def modern(self) -> dict[str, Any]:
        return {
            "discover": brief(plain(self.client.session.discover_result)),
            "tools": {
                **await self.tool_list(),
                "echo": await self.call("echo", {"message": 'héllo ✓ \0 "quoted" \\ 😀'}),
                "echoLarge": await self.call("echo", {"message": "x" * 200_000}),
                "object": await self.call("weather", {"city": "Zürich"}),
                "array": await self.call("rows", {"count": 3}),
                "media": await self.call("media"),
                "failure": await self.call("fail"),
                "badArguments": await self.call("weather", {"city": 1}),
                "unknown": await self.call("no-such-tool"),
            },
            "resources": {
                **await self.resource_lists(),
                "text": await self.read("counter://value"),
                "blob": await self.read("bytes://all"),
                "template": await self.read("note://tea"),
                "missing": await self.read("none://here"),
            },
            "prompts": {
                "list": brief(plain(await self.client.list_prompts())),
                "withArguments": await self.prompt("greet", {"name": "Zoë"}),
                "missing": await self.prompt("no-such-prompt"),
            },
            "completion": await self.complete("greet", "name", "A"),
            "progress": await self.progress("slow", {"steps": 5, "stepMs": 50}),
            "cancellation": {
                **await self.cancellation("slow", {"steps": 1_000, "stepMs": 50}),
                "seenByServer": await self.seen_by_server(),
            },
            "elicitation": {"result": await self.call("ask"), "asked": self.asked["elicitation"]},
            "sampling": {"result": await self.call("sample"), "asked": self.asked["sampling"]},
            "roots": await self.call("roots"),
            "inputRequired": await self.by_hand(),
            "subscriptions": await self.modern_subscriptions(),
            "logging": await self.modern_logging(),
            "tasks": await self.modern_tasks(),
        }

    async def seen_by_server(self) -> Any:
        with anyio.fail_after(PATIENCE_SECS):
            while True:
                stats = await self.client.call_tool("stats")
                if stats.structured_content["cancelled"] > 0:
                    return stats.structured_content

    async def by_hand(self) -> dict[str, Any]:
        """The first round of `ask`, to see what the server really sends."""
        result = await self.client.session.call_tool("ask", {}, allow_input_required=True)
        # The state is opaque, and may be encrypted: only its presence is a fact.
        return brief({"requests": plain(result.input_requests), "state": type(result.request_state).__name__})

    async def modern_subscriptions(self) -> dict[str, Any]:
        uri = "counter://value"
        async with self.client.listen(tools_list_changed=True, resource_subscriptions=[uri]) as subscription:
            events = []
            for tool in ("bump", "announce"):
                await self.call(tool)
                with anyio.fail_after(PATIENCE_SECS):
                    events.append(repr(await anext(subscription)))
            honoured = plain(subscription.honored)
            value = await self.read(uri)
        # The SDK tells the server of the end in the background: an update may still come after it.
        return {"honoured": honoured, "events": events, "value": value, "afterwards": await self.call("bump")}

    async def modern_logging(self) -> dict[str, Any]:
        # In this era a request asks for logs itself, by a key of its `_meta`.
        quiet = await self.call("log")
        level = {"io.modelcontextprotocol/logLevel": "debug"}
        result = await outcome(self.client.call_tool("log", meta=level))
        await until(lambda: self.logs)
        return {"quiet": quiet, "result": result, "logs": brief(self.logs)}

    async def modern_tasks(self) -> Any:
        if "io.modelcontextprotocol/tasks" not in (self.client.server_capabilities.extensions or {}):
            return "not offered"
        result = await self.call("job")
        task = await self.client.session.call_tool("job", {}, allow_claimed=True)
        cancel = await outcome(self.client.session.send_request(task_request("tasks/cancel", task.task_id), Result))
        after = await self.client.session.send_request(task_request("tasks/get", task.task_id), TaskState)
        unknown = await outcome(self.client.session.send_request(task_request("tasks/get", "none"), TaskState))
        return {"seen": self.tasks.seen, "result": result, "cancel": cancel, "after": after.status, "unknown": unknown}

    # ---- Both eras ----

    async def tool_list(self) -> dict[str, Any]:
        listing = plain(await self.client.list_tools())
        tools = listing.pop("tools")
        definitions = {tool["name"]: digest(json.dumps(tool, ensure_ascii=False)) for tool in tools}
        return {"names": [tool["name"] for tool in tools], "definitions": definitions, "rest": brief(listing)}

    async def resource_lists(self) -> dict[str, Any]:
        resources = (await self.client.list_resources()).resources
        templates = (await self.client.list_resource_templates()).resource_templates
        return {"list": sorted(str(resource.uri) for resource in resources), "templates": plain(templates)}

    async def progress(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        values: list[list[float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            values.append([progress, total])

        result = await outcome(self.client.call_tool(name, arguments, progress_callback=note))
        # The SDK runs the callbacks beside the call, in any order.
        await until(lambda: len(values) == 5)
        return {"values": sorted(values), "result": result}

    async def cancellation(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Cancels once the call is known to be under way."""
        with anyio.CancelScope() as scope:

            async def cancel(progress: float, total: float | None, message: str | None) -> None:
                scope.cancel()

            await self.client.call_tool(name, arguments, progress_callback=cancel)
        return {"cancelled": scope.cancelled_caught, "afterwards": await self.call("echo", {"message": "still here"})}

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        return await outcome(self.client.call_tool(name, arguments or {}))

    async def read(self, uri: str) -> Any:
        return await outcome(self.client.read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str] | None = None) -> Any:
        return await outcome(self.client.get_prompt(name, arguments))

    async def complete(self, prompt: str, name: str, value: str) -> Any:
        ref = PromptReference(name=prompt)
        return await outcome(self.client.complete(ref, {"name": name, "value": value}))


def server_at(words: list[str]) -> StdioServerParameters | str:
    if len(words) == 1 and words[0].startswith("http://"):
        return words[0]
    # The whole environment goes on: the SDK would hand down a handful of variables only.
    return StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))


async def outcome(request: Awaitable[BaseModel]) -> Any:
    """What came of a request, be it a result or an error."""
    try:
        return brief(plain(await request))
    except MCPError as error:
        return brief({"error": {"code": error.code, "message": error.message, "data": plain(error.data)}})


def plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return value


def brief(value: Any) -> Any:
    """Shortens long strings to their digest and blanks what differs from run to run."""
    if isinstance(value, str):
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b", "<id>", value)
        text = re.sub(r"\d{1,2}:\d\d:\d\d( ?[AP]M)?", "<time>", text)
        return text if len(text) <= 400 else digest(text)
    if isinstance(value, list):
        return [brief(inner) for inner in value]
    if isinstance(value, dict):
        # The blob of a dynamic resource says when it was made.
        return {key: brief(from_base64(inner) if key == "blob" else inner) for key, inner in value.items()}
    return value


def from_base64(blob: str) -> str:
    return base64.b64decode(blob).decode("latin1")


def digest(text: str) -> dict[str, Any]:
    return {"chars": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


async def until(condition: Callable[[], Any]) -> None:
    with anyio.fail_after(PATIENCE_SECS):
        while not condition():
            await anyio.sleep(0.01)


async def main() -> None:
    # The command may hold a `--` of its own, so it is cut off before the rest is parsed.
    words, command = sys.argv[1:], []
    if "--" in words:
        words, command = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = argparse.ArgumentParser(usage="%(prog)s [--era legacy|modern|auto] -- COMMAND ARGS… | URL")
    parser.add_argument("--era", choices=["legacy", "modern", "auto"], default="legacy")
    options = parser.parse_args(words)
    if not command:
        parser.error("no command")
    # A hang must end as a failed run, not as a stuck test.
    with anyio.fail_after(60):
        report = await Peer(options.era, command).report()
    print(json.dumps(report, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    try:
        anyio.run(main)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
