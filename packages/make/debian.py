"""A Debian package, made with `dpkg-deb`."""

import gzip
import os
import subprocess
import tempfile
from pathlib import Path

from .archive import source_date
from .platforms import GLIBC

# The library of DuckDB is written in C++; GCC 6 is the oldest whose library has what it needs.
_CONTROL = """\
Package: forebay
Version: {version}
Architecture: {architecture}
Maintainer: The Forebay authors <forebay@localhost>
Installed-Size: {kilobytes}
Depends: libc6 (>= {glibc}), libstdc++6 (>= 6)
Section: utils
Priority: optional
Description: keeps large MCP tool results out of a model's context
 Forebay stands between an MCP client and its servers. A tool result that
 would flood a model's context is kept whole on disk; the model gets a short
 summary, and tools to ask the whole.
"""

_COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: forebay

Files: *
Copyright: The Forebay authors, and those in THIRD-PARTY-LICENSES.txt.gz beside this file
License: MIT or Apache-2.0
 MIT is in LICENSE-MIT beside this file, Apache-2.0 in
 /usr/share/common-licenses/Apache-2.0.
"""

_COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/forebay",
    "zsh": "usr/share/zsh/vendor-completions/_forebay",
    "fish": "usr/share/fish/vendor_completions.d/forebay.fish",
}


def make(contents):
    """The package's name and content; nothing for a platform that Debian has not."""
    architecture = contents.platform.debian
    if architecture is None:
        return {}
    files = _files(contents)
    control = _CONTROL.format(
        version=contents.version,
        architecture=architecture,
        kilobytes=sum(len(content) for content in files.values()) // 1024,
        glibc=".".join(map(str, GLIBC)),
    )
    files["DEBIAN/control"] = control.encode()
    name = f"forebay_{contents.version}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755 if path == "usr/bin/forebay" else 0o644)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (source_date(), source_date()))
        package = Path(folder, name)
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(package)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: package.read_bytes()}


def _files(contents):
    """What is installed, by its path."""
    documents = "usr/share/doc/forebay"
    files = {"usr/bin/forebay": contents.program, f"{documents}/copyright": _COPYRIGHT.encode()}
    for name, content in contents.documents.items():
        # Debian's own has the text of Apache-2.0.
        if name == "LICENSE-MIT":
            files[f"{documents}/{name}"] = content
        elif name != "LICENSE-APACHE":
            files[f"{documents}/{name}.gz"] = gzip.compress(content, mtime=0)
    for name, page in contents.manual.items():
        files[f"usr/share/man/man1/{name}.gz"] = gzip.compress(page, mtime=0)
    for shell, text in contents.completions.items():
        if shell in _COMPLETIONS:
            files[_COMPLETIONS[shell]] = text
    return files
