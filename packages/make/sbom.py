"""The bill of materials: what the program is made of, as CycloneDX 1.6."""

import datetime
import json
import uuid

from .archive import source_date

# Of what the number of a bill is made.
_NAMESPACE = uuid.UUID("5d0f8f4e-6f0f-4f43-9a0c-6a1f8f2f2b57")


def bill(version, platform, crates, embedded, program_sha256):
    """The bill for the program of a platform. The same program has the same bill."""
    program = f"pkg:cargo/forebay@{version}"
    when = datetime.datetime.fromtimestamp(source_date(), datetime.UTC)
    components = [_crate(crate) for crate in crates if crate.name != "forebay"]
    components += [_embedded(part) for part in embedded]
    purls = {(crate.name, crate.version): _purl(crate) for crate in crates}
    needs = [
        {"ref": _purl(crate), "dependsOn": [purls[need] for need in crate.needs]} for crate in crates
    ]
    for entry in needs:
        if entry["ref"] == program:
            entry["dependsOn"] += [part.purl for part in embedded]
    needs += [{"ref": part.purl, "dependsOn": []} for part in embedded]
    return json.dumps(
        {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, program_sha256)}",
            "version": 1,
            "metadata": {
                "timestamp": when.isoformat(),
                "component": {
                    "type": "application",
                    "bom-ref": program,
                    "name": "forebay",
                    "version": version,
                    "purl": program,
                    "licenses": [{"expression": "MIT OR Apache-2.0"}],
                    "hashes": [{"alg": "SHA-256", "content": program_sha256}],
                    "properties": [{"name": "forebay:target", "value": platform.target}],
                },
            },
            "components": components,
            "dependencies": needs,
        },
        indent=2,
    )


def _purl(crate):
    return f"pkg:cargo/{crate.name}@{crate.version}"


def _crate(crate):
    component = {
        "type": "library",
        "bom-ref": _purl(crate),
        "name": crate.name,
        "version": crate.version,
        "purl": _purl(crate),
    }
    if crate.licence:
        # Old crates write a slash for "or".
        component["licenses"] = [{"expression": crate.licence.replace("/", " OR ")}]
    if crate.sha256:
        component["hashes"] = [{"alg": "SHA-256", "content": crate.sha256}]
    return component


def _embedded(part):
    return {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "description": part.what,
        "purl": part.purl,
        "licenses": [{"license": {"id": part.licence}}],
        "hashes": [{"alg": "SHA-256", "content": part.sha256}],
    }
