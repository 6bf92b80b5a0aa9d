"""How a model reads a text: no more of it than counts, and nothing where it does not know the most of it."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbench.core.words import script_of

if TYPE_CHECKING:
    from model2vec import StaticModel
    from tokenizers import Tokenizer

EDITION = b"2"
"""To be changed whenever a text is read in another way, as its vector is another then."""

UNKNOWN = 1 / 3
"""The share of a text from which on the model does not know it: of the unknown letters, and those it spells."""

_LATIN = 1 / 3
"""What a Latin letter counts beside one of another script."""

_SPELT = -1.0
"""The weight of a token that is a single letter."""

_ENOUGH = 1200
"""Characters that mostly hold all tokens that are read, in a text of keys and codes."""

_GAPS = _ENOUGH // 9
"""Spaces among so many characters from which on they are words of a language, which need more."""

_BORDERS = " \n\t+/-_.,:;=\"'"
"""Characters at which a word ends, whatever follows."""

_MARKS = "##", "▁", "Ġ"
"""What tokenizers put before a token that goes on with a word, or begins one."""

_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_FOREIGN = re.compile(r"[^\W\d_A-Za-z\u00aa\u00ba\u00c0-\u02af\u1e00-\u1eff]")
"""A letter that is not Latin."""


@cache
def reading_model() -> "type[StaticModel]":
    """Return a static model that reads this way; a text that it does not know has no tokens, and so no vector."""
    from model2vec import StaticModel
    from tokenizers.pre_tokenizers import BertPreTokenizer

    class ReadingModel(StaticModel):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._weights = _Weights(self.tokenizer)
            # Only where words end at spaces and punctuation the beginning of a text can be split alone.
            self._parts = isinstance(self.tokenizer.pre_tokenizer, BertPreTokenizer)

        def tokenize(self, sentences: Sequence[str]) -> list[list[int]]:
            split = _split(sentences, self.tokenizer) if self._parts else _whole(sentences, self.tokenizer)
            return [self._read(text, ids) for text, ids in zip(sentences, split, strict=True)]

        def _read(self, text: str, ids: list[int]) -> list[int]:
            known = [id for id in ids if id != self.unk_token_id]
            foreign = 0 if text.isascii() else len(_FOREIGN.findall(text))
            # What is no letter may be unknown, too: an emoji says nothing about the script.
            unknown = min(len(ids) - len(known), foreign)
            return [] if foreign and self._weights.share(known, unknown) >= UNKNOWN else known

    return ReadingModel


class _Weights(dict[int, float]):
    """What each token counts, worked out when it is first met: its letters, none for digits and punctuation."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    def __missing__(self, id: int) -> float:
        word = self._tokenizer.id_to_token(id) or ""
        for mark in _MARKS:
            word = word.removeprefix(mark)
        script = script_of(word)
        if script in ("none", "latin"):
            weight = len(word) * _LATIN if script == "latin" else 0.0
        else:
            # An ideograph is a word; of other scripts a single letter is what is left of one that was spelled.
            weight = _SPELT if len(word) == 1 and (script != "cjk" or _KANA.match(word)) else float(len(word))
        self[id] = weight
        return weight

    def share(self, ids: Sequence[int], unknown: int) -> float:
        """Return the share of a text that is unknown, or spelled: two single letters and more, side by side."""
        weights = [self[id] for id in ids]
        known = sum(weight for weight in weights if weight > 0)
        pairs = [a == b == _SPELT for a, b in pairwise(weights)]
        lost = unknown + sum(a or b for a, b in zip([False, *pairs], [*pairs, False], strict=True))
        return lost / (known + lost) if lost else 0.0


Tokens = list[list[int]]


def _whole(texts: Sequence[str], tokenizer: "Tokenizer") -> Tokens:
    return [one.ids for one in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def _split(texts: Sequence[str], tokenizer: "Tokenizer") -> Tokens:
    """Return the tokens of each text that are read; of a dense one the beginning is tried first."""
    begun = {at: start for at, text in enumerate(texts) if (start := _beginning(text))}
    most = (tokenizer.truncation or {}).get("max_length")
    split = _whole(list(begun.values()), tokenizer) if begun else []
    found = {at: ids for at, ids in zip(begun, split, strict=True) if len(ids) == most}
    rest = iter(_whole([text for at, text in enumerate(texts) if at not in found], tokenizer))
    return [found[at] if at in found else next(rest) for at in range(len(texts))]


def _beginning(text: str) -> str:
    """Return the first whole words of a long text that seems to be dense, else nothing."""
    if len(text) <= _ENOUGH * 3 // 2 or text.count(" ", 0, _ENOUGH) >= _GAPS:
        return ""
    return text[: max(text.rfind(border, 0, _ENOUGH) for border in _BORDERS) + 1]
