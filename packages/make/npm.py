"""Two npm packages: `forebay`, a launcher, and one with the program for a platform, which npm chooses.

The second is in a scope, `@forebay/linux-x64`: nobody else can publish under names in it.
"""

import json
import re

from . import parts
from .archive import File, tar_gz
from .platforms import PLATFORMS

_DESCRIPTION = "Keeps large MCP tool results out of a model's context, whole and queryable"


def name_of(platform):
    """The package that has the program for a platform."""
    return "@forebay/" + "-".join(platform.node)


def make(contents):
    """Both packages by the names of their files, as `npm pack` would name them."""
    return {
        _file_name("forebay", contents.version): _launcher(contents),
        _file_name(name_of(contents.platform), contents.version): _program(contents),
    }


def _file_name(name, version):
    return f"{name.replace('@', '').replace('/', '-')}-{version}.tgz"


def _common(contents):
    return {"version": contents.version, "description": _DESCRIPTION, "license": "MIT OR Apache-2.0"}


def _launcher(contents):
    launcher = (parts.ROOT / "packages/npm/forebay.js").read_bytes()
    # The launcher says which platforms there are, so that there is one list.
    named = set(re.findall(r"'(@forebay/[a-z0-9-]+)'", launcher.decode()))
    known = {name_of(platform) for platform in PLATFORMS.values()}
    if not named <= known:
        raise ValueError(f"packages/npm/forebay.js names packages that are not made: {named - known}")
    manifest = {
        "name": "forebay",
        **_common(contents),
        "bin": {"forebay": "forebay.js"},
        "optionalDependencies": dict.fromkeys(sorted(named), contents.version),
        "engines": {"node": ">=18"},
    }
    documents = {name: contents.documents[name] for name in ("README.md", "LICENSE-MIT", "LICENSE-APACHE")}
    files = [_manifest(manifest), File("package/forebay.js", launcher, 0o755)]
    files += [File(f"package/{name}", content) for name, content in documents.items()]
    return tar_gz(files)


def _program(contents):
    system, processor = contents.platform.node
    manifest = {
        "name": name_of(contents.platform),
        **_common(contents),
        "os": [system],
        "cpu": [processor],
        # Yarn unpacks it then, instead of reading it inside an archive.
        "preferUnplugged": True,
    }
    if contents.platform.is_linux:
        manifest["libc"] = ["glibc"]
    files = [_manifest(manifest), File(f"package/{contents.platform.program}", contents.program, 0o755)]
    files += contents.documents_in("package")
    return tar_gz(files)


def _manifest(manifest):
    return File("package/package.json", json.dumps(manifest, indent=2).encode() + b"\n")
