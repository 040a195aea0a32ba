"""A fixture upstream on the Python SDK (mcp 2.x), both eras, over stdio or HTTP.

    python servers/py_server.py
    python servers/py_server.py --port N     prints `listening on 127.0.0.1:PORT`

The first message of a connection picks the era: 2026-07-28 when it carries the modern
`_meta`, else the legacy handshake, where the SDK turns questions to the client into real
requests. Tools, resources and prompts have the names of ts_modern.mjs; `job` and the tasks
extension are here only, because the TypeScript client refuses results of type "task".
"""

import socket
import sys
import uuid
import warnings
from datetime import datetime, timezone
from typing import Annotated, Any

import anyio
import uvicorn
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import (
    Context,
    Elicit,
    Extension,
    ListRoots,
    MethodBinding,
    Resolve,
    Sample,
    require_client_extension,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    INVALID_PARAMS,
    AudioContent,
    CallToolResult,
    Completion,
    CreateMessageResult,
    EmbeddedResource,
    ImageContent,
    ListRootsResult,
    RequestParams,
    ResourceLink,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

COUNTER = "counter://value"
TASKS = "io.modelcontextprotocol/tasks"

# Logging is deprecated in the modern era; it is here to be tested.
warnings.simplefilter("ignore", MCPDeprecationWarning)

counter = 0
cancelled = 0


class TaskParams(RequestParams):
    task_id: str = Field(alias="taskId")


class Tasks(Extension):
    """The tasks extension (SEP-2663) for the tool `job`; the SDK has no runtime of its own."""

    identifier = TASKS

    def __init__(self) -> None:
        self.tasks: dict[str, dict[str, Any]] = {}

    def methods(self) -> list[MethodBinding]:
        return [
            MethodBinding("tasks/get", TaskParams, self.get),
            MethodBinding("tasks/cancel", TaskParams, self.cancel),
        ]

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        if params.name != "job":
            return await call_next(ctx)
        require_client_extension(ctx, TASKS)
        result = await call_next(ctx)
        now = datetime.now(timezone.utc).isoformat()
        task = {"taskId": uuid.uuid4().hex, "status": "working", "createdAt": now, "lastUpdatedAt": now}
        task |= {"ttlMs": 60_000, "pollIntervalMs": 20}
        # Progress is counted in polls, not in time, so that every run looks the same.
        self.tasks[task["taskId"]] = {"task": task, "polls": 0, "result": result}
        return {"resultType": "task", **task}

    async def get(self, ctx: Any, params: TaskParams) -> dict[str, Any]:
        entry = self.find(params)
        entry["polls"] += 1
        if entry["polls"] < 3 or entry["task"]["status"] == "cancelled":
            return {"resultType": "complete", **entry["task"]}
        entry["task"]["status"] = "completed"
        result = entry["result"].model_dump(by_alias=True, mode="json", exclude_none=True)
        return {"resultType": "complete", **entry["task"], "result": result}

    async def cancel(self, ctx: Any, params: TaskParams) -> dict[str, Any]:
        self.find(params)["task"]["status"] = "cancelled"
        return {"resultType": "complete"}

    def find(self, params: TaskParams) -> dict[str, Any]:
        if params.task_id not in self.tasks:
            raise MCPError(INVALID_PARAMS, "no such task")
        return self.tasks[params.task_id]


server = MCPServer(
    "py-fixture",
    title="Python fixture",
    version="1.0.0",
    instructions="Use `echo` first. Ünïcode ✓",
    extensions=[Tasks()],
    cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="public")},
    log_level="ERROR",
)


# ---- Tools that just answer ----


class Weather(BaseModel):
    city: str
    celsius: float
    tags: list[str]


class Row(BaseModel):
    id: int
    name: str


@server.tool(structured_output=False)
def echo(message: str) -> str:
    """Gives the message back."""
    return message


@server.tool()
def weather(city: str) -> Weather:
    """An object as structured content."""
    return Weather(city=city, celsius=-3.5, tags=["snow", "wind"])


@server.tool()
def rows(count: int) -> list[Row]:
    """A list as structured content."""
    return [Row(id=number, name=f"row {number}") for number in range(count)]


@server.tool()
def media() -> CallToolResult:
    """One block of every kind."""
    return CallToolResult(
        content=[
            TextContent(text="see below"),
            ImageContent(data="iVBORw0KGgo=", mime_type="image/png"),
            AudioContent(data="UklGRg==", mime_type="audio/wav"),
            ResourceLink(uri=COUNTER, name="counter"),
            EmbeddedResource(resource=TextResourceContents(uri="note://inline", text="inline")),
        ],
        _meta={"example.test/extra": {"kept": True}},
    )


@server.tool(structured_output=False)
def fail() -> str:
    """An error result."""
    raise ToolError("failed on purpose")


@server.tool(structured_output=False)
def job() -> str:
    """Answered as a task."""
    return "the job is done"


@server.tool(structured_output=False)
async def log(ctx: Context) -> str:
    """Logs one line."""
    await ctx.log("info", {"line": "from the log tool"}, logger_name="fixture")
    return "logged"


# ---- Slow calls ----


@server.tool(structured_output=False)
async def slow(steps: int, stepMs: float, ctx: Context) -> str:
    """Takes steps × stepMs, with progress."""
    global cancelled
    try:
        for step in range(1, steps + 1):
            await anyio.sleep(stepMs / 1000)
            await ctx.report_progress(step, steps, f"step {step}")
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise
    return f"{steps} steps done"


@server.tool()
def stats() -> dict[str, int]:
    """How many calls of `slow` were cancelled."""
    return {"cancelled": cancelled}


# ---- Questions to the client ----


class Name(BaseModel):
    name: str


class Colour(BaseModel):
    colour: str


def ask_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


def ask_colour(name: Annotated[Name, Resolve(ask_name)]) -> Elicit[Colour]:
    # Depends on the first answer, so that state has to travel through the client and back.
    return Elicit(f"Your colour, {name.name}?", Colour)


@server.tool(structured_output=False)
def ask(name: Annotated[Name, Resolve(ask_name)], colour: Annotated[Colour, Resolve(ask_colour)]) -> str:
    """Asks the user twice."""
    return f"{name.name} likes {colour.colour}"


def ask_model() -> Sample:
    question = SamplingMessage(role="user", content=TextContent(text="a haiku, please"))
    return Sample([question], max_tokens=10)


@server.tool(structured_output=False)
def sample(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Uses the client's model."""
    return f"the model said: {answer.content.text}"


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def roots(answer: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
    """Lists the client's roots."""
    return " ".join(str(root.uri) for root in answer.roots)


# ---- What changes ----


@server.tool(structured_output=False)
async def bump(ctx: Context) -> str:
    """Changes the counter resource."""
    global counter
    counter += 1
    await ctx.notify_resource_updated(COUNTER)
    return f"counter is {counter}"


@server.tool(structured_output=False)
async def announce(ctx: Context) -> str:
    """Says that the list of tools changed."""
    await ctx.notify_tools_changed()
    return "announced"


# ---- Resources and prompts ----


@server.resource(COUNTER, name="counter", mime_type="text/plain")
def read_counter() -> str:
    return str(counter)


@server.resource("bytes://all", name="bytes", mime_type="application/octet-stream")
def read_bytes() -> bytes:
    return bytes(range(256))


@server.resource("note://{name}", name="note", mime_type="text/plain")
def read_note(name: str) -> str:
    return f"a note on {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greets someone."""
    return f"Greet {name}."


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    names = [name for name in ("Ada", "Alan", "Grace") if name.startswith(argument.value)]
    return Completion(values=names, total=len(names), has_more=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--port"]:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(server.streamable_http_app(), log_level="error")
        uvicorn.Server(config).run(sockets=[listener])
    else:
        server.run()
