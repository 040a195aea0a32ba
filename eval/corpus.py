"""The items of the corpus, captured: each is asked for once, directly and through Forebay."""

from dataclasses import dataclass

import peers
import tokens
from sources import Source

# Calls of the same tools that come before those of the corpus, so that there is a history.
EARLIER = {
    "git_log": {"max_count": 100},
    "list_directory": {"path": str(peers.ROOT / "node/node_modules/caniuse-db/region-usage-json")},
    "search_files": {"pattern": "**/*.d.mts"},
}
# Results of some 25 thousand tokens, beside those of the corpus.
MODULES = peers.ROOT / "node/node_modules"
FURTHER = {
    "js_protocol.json": ("read_text_file", {"path": MODULES / "devtools-protocol/json/js_protocol.json"}),
    "readme-legacy.json": ("read_text_file", {"path": MODULES / "@readme/oas-examples/3.0/json/readme-legacy.json"}),
    "directory_tree of zod": ("directory_tree", {"path": MODULES / "zod"}),
    "penguins.json": ("read_text_file", {"path": MODULES / "vega-datasets/data/penguins.json"}),
}


@dataclass
class Captured:
    """A result of a server, and what a model is shown in its place."""

    source: Source
    summary: str
    handle: str
    raw_tokens: int
    raw_bytes: int
    summary_tokens: int


def calls():
    """The calls that give the corpus, by the items' names; an earlier one is called `NAME before`."""
    found, unavailable = {}, {}
    installed = peers.install()
    # Before the others, which are then the latest of their tools.
    for name, (tool, arguments) in FURTHER.items():
        texts = {key: str(value) for key, value in arguments.items()}
        found[name] = {"name": name, "server": "filesystem", "tool": tool, "arguments": texts}
    for call in installed:
        name = call["name"]
        if "unavailable" in call:
            unavailable[name] = call["unavailable"]
            continue
        if name in EARLIER:
            found[f"{name} before"] = call | {"arguments": call["arguments"] | EARLIER[name]}
        found[name] = call
    return found, unavailable


async def capture(sessions, call):
    """Asks for an item both ways."""
    session = sessions[call["server"]]
    text = session.direct.call(call["tool"], call["arguments"])
    reply = await session.ask(call["tool"], call["arguments"])
    if reply.is_error or not reply.handle:
        raise SystemExit(f"{call['name']} was not captured: {reply.text[:500]}")
    return Captured(
        source=Source(text),
        summary=reply.text,
        handle=reply.handle,
        raw_tokens=tokens.count(text),
        raw_bytes=len(text.encode()),
        summary_tokens=reply.tokens,
    )
