"""Writes the sets that searches are scored on.

    python sets.py FOLDER [--cranfield FOLDER]

Writes FOLDER/SET/documents.jsonl with lines of {id, title, text, server, tool} and
FOLDER/SET/queries.jsonl with lines of {id, text, relevant: {document: grade}}. The sets are `corpus`,
`paraphrased`, `lee` and, where the files of the collection are at hand, `cranfield`; see README.md.
"""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402 (lies in the folder above)

import corpus_questions  # noqa: E402
import cranfield  # noqa: E402
import lee  # noqa: E402
import paraphrased  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Writes the sets that searches are scored on.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cranfield", type=Path, help="holds cran.all.1400, cran.qry and cranqrel")
    options = parser.parse_args()
    calls = peers.install()
    write(options.folder / "paraphrased", *paraphrased.read(peers.ROOT))
    write(options.folder / "corpus", *corpus_questions.read(peers, calls))
    write(options.folder / "lee", *lee.read(install_judgements()))
    if options.cranfield:
        write(options.folder / "cranfield", *cranfield.read(options.cranfield))
    else:
        print("cranfield is left out: --cranfield does not say where its files are")


def install_judgements():
    """Where the package lies that holds judgements; it is installed once."""
    directory, requirements = peers.ROOT / "judgements", HERE / "requirements.txt"
    with peers.unless_installed(directory, requirements) as is_wanted:
        if is_wanted:
            pip = [peers.python_of("python"), "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"]
            peers.run(*pip, "--target", directory, "--requirement", requirements)
    return directory


def write(folder, documents, queries):
    ids = {document["id"] for document in documents}
    strangers = {name for query in queries for name in query["relevant"]} - ids
    if strangers:
        raise SystemExit(f"{folder.name}: there is no document {', '.join(sorted(strangers))}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in (("documents", documents), ("queries", queries)):
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    print(f"{folder.name}: {len(documents)} documents, {len(queries)} queries")


if __name__ == "__main__":
    main()
