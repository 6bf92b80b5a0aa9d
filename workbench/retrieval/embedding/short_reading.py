"""A model that splits no more of a text into tokens than it reads: keys and codes have many to a character."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model2vec import StaticModel
    from tokenizers import Tokenizer

_ENOUGH = 1200
"""Characters that mostly hold all tokens that are read, in a text of keys and codes."""

_GAPS = _ENOUGH // 9
"""Spaces among so many characters from which on they are words of a language, which need more."""

_BORDERS = " \n\t+/-_.,:;=\"'"
"""Characters at which a word ends, whatever follows."""

Tokens = list[list[int]]


@cache
def short_reading() -> "type[StaticModel]":
    """Return a static model over a tokenizer that splits at spaces and punctuation first; its vectors are the same."""
    from model2vec import StaticModel

    class ShortReading(StaticModel):
        def tokenize(self, sentences: Sequence[str]) -> Tokens:
            return _read(sentences, self.tokenizer, self.unk_token_id, super().tokenize)

    return ShortReading


def _read(
    texts: Sequence[str], tokenizer: "Tokenizer", unknown: int | None, whole: Callable[[Sequence[str]], Tokens]
) -> Tokens:
    """Return the known ones of the tokens of each text that are read; of a dense one the beginning is tried first."""
    begun = {at: start for at, text in enumerate(texts) if (start := _beginning(text))}
    most = (tokenizer.truncation or {}).get("max_length")
    split = tokenizer.encode_batch_fast(list(begun.values()), add_special_tokens=False) if begun else []
    found = {at: one.ids for at, one in zip(begun, split, strict=True) if len(one.ids) == most}
    rest = iter(whole([text for at, text in enumerate(texts) if at not in found]))
    return [[id for id in found[at] if id != unknown] if at in found else next(rest) for at in range(len(texts))]


def _beginning(text: str) -> str:
    """Return the first whole words of a long text that seems to be dense, else nothing."""
    if len(text) <= _ENOUGH * 3 // 2 or text.count(" ", 0, _ENOUGH) >= _GAPS:
        return ""
    return text[: max(text.rfind(border, 0, _ENOUGH) for border in _BORDERS) + 1]
