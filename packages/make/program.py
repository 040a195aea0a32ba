"""Builds the program for machines other than this one.

On Linux it is linked with zig against an old glibc, whatever this machine has; elsewhere cargo builds it as usual.
No path of this machine is left in it.
"""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

from . import parts
from .platforms import GLIBC

# From PyPI.
TOOLS = {"ziglang": "0.17.0", "cargo-zigbuild": "0.24.0"}


class TooNew(Exception):
    """A file needs a newer glibc than what is promised."""


def build(platform, target_folder):
    """The program for a platform, built into cargo's `target_folder`."""
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target_folder),
        # Without DuckDB or the model it is not built, and it looks for neither on this machine.
        "FOREBAY_PACKAGE": "1",
        # What stands in for DuckDB is an archive, and zig takes one only if it is asked for one.
        "DUCKDB_STATIC": "1",
    }
    # Of two that fit, the later one counts.
    prefixes = {_cargo_home(): "/cargo", parts.ROOT: "/forebay", target_folder: "/target"}
    shout = platform.target.upper().replace("-", "_")
    environment[f"CARGO_TARGET_{shout}_RUSTFLAGS"] = " ".join(
        f"--remap-path-prefix={path}={name}" for path, name in prefixes.items()
    )
    command = ["cargo", "build"]
    target = platform.target
    if platform.is_linux:
        tools = _tools(target_folder)
        environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
        environment["CFLAGS_" + target.replace("-", "_")] = " ".join(
            f"-ffile-prefix-map={path}={name}" for path, name in prefixes.items()
        )
        command = [str(tools / "cargo-zigbuild"), "zigbuild"]
        target += ".{}.{}".format(*GLIBC)
    command += ["--release", "--locked", "--package", "forebay", "--target", target]
    subprocess.run(command, cwd=parts.ROOT, env=environment, check=True)
    return target_folder / platform.target / "release" / platform.program


def tool_versions(platform):
    """What builds it for a platform, for the provenance."""
    rustc = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    return {"rustc": rustc.stdout.strip(), **(TOOLS if platform.is_linux else {})}


def require_old_glibc(file):
    """Fails if a program or library needs a newer glibc than is promised; gives the newest that it needs."""
    said = subprocess.run(
        ["readelf", "--version-info", "--wide", str(file)], check=True, stdout=subprocess.PIPE, text=True
    )
    found = re.findall(r"Name: GLIBC_([0-9.]+)", said.stdout)
    needed = max(tuple(map(int, version.split("."))) for version in found)
    if needed > GLIBC:
        raise TooNew(f"{file} needs glibc {'.'.join(map(str, needed))}")
    return needed


def library(platform, target_folder):
    """DuckDB's library as the build has fetched it."""
    duckdb = parts.duckdb(platform)
    folder = target_folder / platform.target / f"duckdb-{duckdb.version}"
    return folder / "node_modules" / duckdb.name / "libduckdb.so"


def _tools(target_folder):
    """The folder of zig and cargo-zigbuild, which are fetched once."""
    folder = target_folder / ("package-tools-" + "-".join(TOOLS.values()))
    scripts = folder / "bin"
    if not (scripts / "cargo-zigbuild").exists():
        venv.create(folder, with_pip=True)
        wanted = [f"{name}=={version}" for name, version in TOOLS.items()]
        command = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *wanted], check=True, stdout=sys.stderr)
    return scripts


def _cargo_home():
    return Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
