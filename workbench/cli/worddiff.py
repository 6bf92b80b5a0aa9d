"""The difference of two texts word by word, in the marks of `git diff --word-diff`."""

import re
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")

LONGEST = 20_000
"""Characters of a text that are compared at most."""


def word_diff(old: str, new: str) -> str:
    """Return `new` with what it adds as {+…+} and what it takes from `old` as [-…-]."""
    before, after = (_TOKEN.findall(text[:LONGEST]) for text in (old, new))
    pieces = []
    for tag, left, until, right, to in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        removed, added = "".join(before[left:until]), "".join(after[right:to])
        if tag == "equal":
            pieces.append(added)
            continue
        pieces += [f"[-{removed}-]" if removed else "", f"{{+{added}+}}" if added else ""]
    if max(len(old), len(new)) > LONGEST:
        pieces.append("\n… the rest is not compared")
    return "".join(pieces)
