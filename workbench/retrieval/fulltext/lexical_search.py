"""Finding texts by how a word begins or by any part of them, as a person types."""

import re
from collections.abc import Callable

from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.fulltext.lexical_file import folded

TextOf = Callable[[int], str]
"""Returns the text of a row; the index itself does not keep the texts."""


def substring(index: LexicalIndex, text_of: TextOf, text: str, limit: int) -> list[int]:
    """Return at most `limit` rows whose text contains `text`, case ignored, the last rows first.

    Three characters or more are looked up; fewer are searched for in every text. An empty text matches nothing.
    """
    wanted = folded(text)
    return _found(index, text_of, wanted, limit, lambda line: wanted in line) if wanted else []


def prefix(index: LexicalIndex, text_of: TextOf, word: str, limit: int) -> list[int]:
    """Return at most `limit` rows with a word that begins like `word`, case ignored, the last rows first.

    Words are runs of letters and digits, so `auth` finds `AUTH_SECRET` and `src/auth`, not `oauth`; a final
    asterisk does not count.
    """
    wanted = folded(word).rstrip("*")
    begins = re.compile(rf"(?<![^\W_]){re.escape(wanted)}").search
    return _found(index, text_of, wanted, limit, lambda line: begins(line) is not None) if wanted else []


def _found(index: LexicalIndex, text_of: TextOf, wanted: str, limit: int, matches: Callable[[str], bool]) -> list[int]:
    found: list[int] = []
    for row in reversed(index.may_contain(wanted).tolist()):
        if len(found) >= limit:
            break
        if matches(folded(text_of(row))):
            found.append(row)
    return found
