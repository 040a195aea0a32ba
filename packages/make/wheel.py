"""A wheel with the program among its scripts, where pip and uv put it on the path."""

import base64
import hashlib

from .archive import File, zip_of

_METADATA = """\
Metadata-Version: 2.4
Name: forebay
Version: {version}
Summary: Keeps large MCP tool results out of a model's context, whole and queryable
License-Expression: MIT OR Apache-2.0
{licence_files}
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""

_WHEEL = """\
Wheel-Version: 1.0
Generator: forebay packages/build
Root-Is-Purelib: false
Tag: {tag}
"""


def make(contents):
    """The wheel's name and content."""
    tag = f"py3-none-{contents.platform.wheel}"
    name = f"forebay-{contents.version}"
    info = f"{name}.dist-info"
    licences = [name for name in contents.documents if "LICENSE" in name]
    metadata = _METADATA.format(
        version=contents.version,
        licence_files="\n".join(f"License-File: {name}" for name in licences),
        readme=contents.documents["README.md"].decode(),
    )
    files = [
        File(f"{name}.data/scripts/{contents.platform.program}", contents.program, 0o755),
        File(f"{info}/METADATA", metadata.encode()),
        File(f"{info}/WHEEL", _WHEEL.format(tag=tag).encode()),
        # Where tools that look for a bill of materials expect it.
        File(f"{info}/sboms/forebay.cdx.json", contents.documents["forebay.cdx.json"]),
    ]
    files += [File(f"{info}/licenses/{name}", contents.documents[name]) for name in licences]
    files += [
        File(f"{name}.data/data/share/man/man1/{page}", text) for page, text in contents.manual.items()
    ]
    record = "".join(f"{file.path},{_digest(file.content)},{len(file.content)}\n" for file in files)
    files.append(File(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    return {f"{name}-{tag}.whl": zip_of(files)}


def _digest(content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return "sha256=" + digest.decode().rstrip("=")
