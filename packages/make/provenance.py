"""Where the packages come from: an in-toto statement with a SLSA provenance. It is not signed."""

import hashlib
import json
import subprocess

from . import parts


def statement(packages, platform, tools, embedded):
    """The statement for packages, given as name and content; `tools` are names and versions, or
    `None` if the program was built elsewhere."""
    subjects = [
        {"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}
        for name, content in sorted(packages.items())
    ]
    lock = hashlib.sha256((parts.ROOT / "Cargo.lock").read_bytes()).hexdigest()
    materials = [
        {"name": "source", "digest": {"gitCommit": commit()}},
        {"name": "Cargo.lock", "digest": {"sha256": lock}},
    ]
    materials += [{"uri": part.purl, "digest": {"sha256": part.sha256}} for part in embedded]
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects,
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {
                "buildDefinition": {
                    "buildType": "urn:forebay:packages/build:1",
                    "externalParameters": {"target": platform.target},
                    "internalParameters": {"tools": tools, "changedFiles": changed_files()},
                    "resolvedDependencies": materials,
                },
                "runDetails": {"builder": {"id": "urn:forebay:packages/build:unsigned"}},
            },
        },
        indent=2,
    )


def commit():
    """The commit that is checked out."""
    return _git("rev-parse", "HEAD")


def commit_time():
    """Its time, in seconds."""
    return _git("show", "--no-patch", "--format=%ct", "HEAD")


def changed_files():
    """The files that are not as in the commit; packages that are given away have none."""
    return [line[3:] for line in _git("status", "--porcelain").splitlines()]


def _git(*arguments):
    command = ["git", "-C", str(parts.ROOT), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()
