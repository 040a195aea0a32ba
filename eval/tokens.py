"""Counts tokens as a model sees them, in the encoding o200k."""

import json

import bpe_openai

ENCODING = bpe_openai.get_encoding("o200k_base")
# The tokenizer takes no more than a million characters at once; a cut costs a token at the most.
PIECE = 100_000


def count(text):
    starts = range(0, len(text), PIECE)
    return sum(len(ENCODING.encode_ordinary(text[start : start + PIECE])) for start in starts)


def count_json(value):
    return count(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
