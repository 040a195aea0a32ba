"""A fixture upstream with large results and strict output schemas, on the Python SDK (mcp 2.x).

    python servers/py_large.py

Over stdio, both eras. Its tools have the names of those of ts_large.mjs. In the modern era `job` is
answered as a task.
"""

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp_types import CallToolResult, ImageContent, TextContent
from py_server import Tasks
from pydantic import BaseModel, ConfigDict, Field

server = MCPServer("py-large-fixture", version="1.0.0", extensions=[Tasks()], log_level="ERROR")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Order(Strict):
    id: int
    customer: str
    status: Literal["open", "paid", "sent"]
    total: float


class Orders(Strict):
    orders: list[Order]


class Category(Strict):
    """Refers to itself by `$defs`."""

    name: str
    orders: list[Order]
    children: list["Category"]


class Catalogue(Strict):
    version: Literal[1]
    root: Category


class Count(Strict):
    # The bound is listed, but not checked by the server.
    count: int = Field(json_schema_extra={"maximum": 1})


@server.tool()
def orders() -> Orders:
    return make_orders(1_000)


@server.tool()
def catalogue() -> Catalogue:
    return Catalogue(version=1, root=make_category())


@server.tool()
def tree() -> Category:
    return make_category()


@server.tool(structured_output=False)
def listing() -> str:
    return make_orders(1_000).model_dump_json()


@server.tool()
def illustrated() -> Annotated[CallToolResult, Orders]:
    return CallToolResult(
        content=[
            TextContent(text="see the picture"),
            ImageContent(data="iVBORw0KGgo=", mime_type="image/png"),
        ],
        structured_content=make_orders(1_000).model_dump(),
        _meta={"example.test/extra": {"kept": True}},
    )


@server.tool()
def job() -> Orders:
    """Its result is fetched by `tasks/get`."""
    return make_orders(1_000)


@server.tool()
def few() -> Orders:
    return make_orders(2)


@server.tool()
def broken() -> Count:
    """Its result breaks its schema."""
    return Count(count=2)


def make_orders(count: int) -> Orders:
    states = ["open", "paid", "sent"]
    return Orders(
        orders=[
            Order(id=place + 1, customer=f"Customer {place % 97}", status=states[place % 3], total=place * 1.25)
            for place in range(count)
        ]
    )


def make_category() -> Category:
    parts = [Category(name=f"part {place}", orders=make_orders(100).orders, children=[]) for place in range(10)]
    return Category(name="all", orders=make_orders(10).orders, children=parts)


if __name__ == "__main__":
    server.run()
