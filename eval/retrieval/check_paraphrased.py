"""Proves that no paraphrased question shares a word with its answer, stop words aside.

    python check_paraphrased.py

A word is what SQLite's FTS5 takes for one: without accents, and by its stem. What is known of the
answer beside its text, the server and the tool, must share no word either.
"""

import sys

import paraphrased
import words


def main():
    pairs = paraphrased.pairs()
    bad = [
        (pair["question"], common)
        for pair in pairs
        if (common := words.shared(pair["question"], " ".join([pair["server"], pair["tool"], pair["answer"]])))
    ]
    for question, common in bad:
        print(f"{question} shares {', '.join(common)}", file=sys.stderr)
    print(f"{len(pairs) - len(bad)} of {len(pairs)} questions share no word with their answers")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
