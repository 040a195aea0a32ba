"""Installs the real peers, as the tests do and where they do, and says which calls give the corpus.

The marks and locks are those of `crates/testkit/src/real.rs`: what a test has installed is not
installed again, and the other way round.
"""

import fcntl
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", WORKSPACE / "target")).resolve()
ROOT = (TARGET / "peers").resolve()
SOURCES = WORKSPACE / "crates/testkit/peers"


def install():
    """The calls of the corpus that can be made here, as `gather.py` prints them."""
    install_node()
    python = install_python()
    install_data(python)
    with turn(ROOT / "corpus.lock"):
        gathered = run(python, "-B", SOURCES / "corpus/gather.py", ROOT, python)
    return json.loads(gathered)


def python_of(name):
    return ROOT / name / "bin/python"


def install_node():
    directory = ROOT / "node"
    with unless_installed(directory, SOURCES / "package-lock.json") as is_wanted:
        if is_wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SOURCES / name, directory / name)
            run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=directory)


def install_python():
    directory, requirements = ROOT / "python", SOURCES / "requirements.txt"
    with unless_installed(directory, requirements) as is_wanted:
        if is_wanted:
            run("python3", "-m", "venv", "--clear", directory)
            run(python_of("python"), "-m", "pip", "install", "--quiet", "--requirement", requirements)
    return python_of("python")


def install_data(python):
    directory, requirements = ROOT / "data", SOURCES / "corpus/requirements.txt"
    with unless_installed(directory, requirements) as is_wanted:
        if is_wanted:
            pip = [python, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"]
            run(*pip, "--target", directory, "--requirement", requirements)


@contextmanager
def unless_installed(directory, lock):
    """Tells whether `directory` is not yet what the file `lock` asks for; marks it when done."""
    directory.mkdir(parents=True, exist_ok=True)
    mark, wanted = directory / "installed", lock.read_bytes()
    with turn(directory.with_name(directory.name + ".lock")):
        is_wanted = not mark.exists() or mark.read_bytes() != wanted
        yield is_wanted
        if is_wanted:
            mark.write_bytes(wanted)


@contextmanager
def turn(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"`{words[0]}` failed: {done.stderr.strip()[-1000:]}")
    return done.stdout
