"""The licences of all that is in the program, each text once, with the names of what it is for."""

from . import parts

_NAMES = ("license", "licence", "copying", "notice", "copyright", "unlicense")

_OPENING = """\
Forebay is MIT OR Apache-2.0: LICENSE-MIT and LICENSE-APACHE. This file has what others have written and is part
of the program: their names, versions and licences, and then each text once with the names that it is for.
The standard library of Rust, which is MIT OR Apache-2.0, is part of it, too.
"""


def texts(crates, embedded):
    """The file of notices."""
    foreign = [crate for crate in crates if not crate.is_ours]
    lines = [_OPENING]
    lines += [f"{part.name} {part.version}: {part.licence}; {part.what}" for part in embedded]
    lines += [f"{crate.name} {crate.version}: {crate.licence or 'see its text'}" for crate in foreign]
    owners = {}
    for part in embedded:
        text = (parts.ROOT / part.licence_file).read_text()
        owners.setdefault(text.strip(), []).append(f"{part.name} {part.version}")
    for crate in foreign:
        for text in _texts_of(crate.folder):
            owners.setdefault(text, []).append(f"{crate.name} {crate.version}")
    for text, names in owners.items():
        lines += ["", "=" * 80, "For " + ", ".join(names) + ":", "", text]
    return "\n".join(lines) + "\n"


def _texts_of(folder):
    """The licences that lie in a crate, and in the source of others that it brings."""
    found = (
        path
        for pattern in ("*", "*/*", "*/*/*")
        for path in sorted(folder.glob(pattern))
        if path.name.lower().startswith(_NAMES) and path.suffix not in (".rs", ".py") and path.is_file()
    )
    texts = (path.read_text(errors="replace").replace("\r\n", "\n").strip() for path in found)
    return list(dict.fromkeys(text for text in texts if text))
