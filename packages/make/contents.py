"""What every package brings beside the program: the README, licences, the bill of materials, and what the program
writes about itself."""

import hashlib
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import notices, parts, sbom
from .archive import File

# The file that each shell looks for.
COMPLETIONS = {"bash": "forebay", "zsh": "_forebay", "fish": "forebay.fish", "powershell": "forebay.ps1"}


@dataclass(frozen=True)
class Contents:
    """The program and what goes with it."""

    version: str
    platform: object
    program: bytes
    # Names and contents.
    documents: dict[str, bytes]
    embedded: list
    manual: dict[str, bytes] = field(default_factory=dict)
    completions: dict[str, bytes] = field(default_factory=dict)

    def documents_in(self, folder):
        """The documents as files of an archive."""
        return [File(f"{folder}/{name}", content) for name, content in self.documents.items()]


def of(program, platform):
    """All that a package of `program` holds."""
    version = parts.version()
    crates = parts.crates(platform.target)
    embedded = parts.embedded(platform)
    content = program.read_bytes()
    bill = sbom.bill(version, platform, crates, embedded, hashlib.sha256(content).hexdigest())
    documents = {
        "README.md": (parts.ROOT / "README.md").read_bytes(),
        "CHANGELOG.md": (parts.ROOT / "CHANGELOG.md").read_bytes(),
        "LICENSE-MIT": (parts.ROOT / "LICENSE-MIT").read_bytes(),
        "LICENSE-APACHE": (parts.ROOT / "LICENSE-APACHE").read_bytes(),
        "THIRD-PARTY-LICENSES.txt": notices.texts(crates, embedded).encode(),
        "forebay.cdx.json": bill.encode(),
    }
    return Contents(
        version, platform, content, documents, embedded, _manual(program), _completions(program)
    )


def _manual(program):
    """The manual pages by the names of their files; none if the program cannot write them."""
    if not _has_command(program, "man"):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "man", "--out", folder], check=True, stdout=subprocess.DEVNULL)
        return {page.name: page.read_bytes() for page in sorted(Path(folder).iterdir())}


def _completions(program):
    """What each shell needs; nothing if the program cannot write it."""
    if not _has_command(program, "completions"):
        return {}
    return {
        shell: subprocess.run([program, "completions", shell], check=True, stdout=subprocess.PIPE).stdout
        for shell in COMPLETIONS
    }


def _has_command(program, name):
    asked = subprocess.run([program, name, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return asked.returncode == 0
