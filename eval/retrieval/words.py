"""What two texts have in common by their words, as the search sees words."""

import re
import sqlite3
from pathlib import Path

STOP_WORDS = set((Path(__file__).parent / "stop-words.txt").read_text().split())
TOKENIZER = "porter unicode61 remove_diacritics 2"


def telling(text):
    """The words of a question that are looked for."""
    return [word for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS]


def shared(question, text):
    """The words of a question that a text has too, in any of their forms."""
    index = sqlite3.connect(":memory:")
    index.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, tokenize='{TOKENIZER}')")
    index.execute("INSERT INTO words VALUES (?)", [text])
    found = "SELECT count(*) FROM words WHERE words MATCH ?"
    return [word for word in telling(question) if index.execute(found, [f'"{word}"']).fetchone()[0]]
