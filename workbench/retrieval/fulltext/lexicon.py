"""The distinct words of texts that are not English, where those that are alike are found: by stem, part or letters.

The words of the texts are what is indexed. Which of them a word of a query stands for is decided when it is asked for,
so that a stem or a part takes room once for a word and not once for each text.
"""

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from os.path import commonprefix

from workbench.core.words import bare
from workbench.retrieval.fulltext.stemming import stem_in

COMPOUNDING = frozenset({"de", "nl", "sv", "ar", "he"})
"""Languages that write words together, or articles and prepositions with them."""

_NO_SHARE, _MOST_SHARE = 64, 63

_LAST = "\U0010ffff"
_SAME, _CHANGED = 3, 2
"""Letters at the beginning that a word has in common with its stem: so many, or all but the last ones."""

_MANY = 500
"""Words that are looked at for one that is asked for."""


class Lexicon:
    """Words, each with the languages that it was met in and its stems in them; sorted by their bare form.

    A line has a word, its bare form where that is another one, and for each language its stem where that is another
    one, too; of a language that compounds words at least its name.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        self._words, self._bare, self._stems = [], [], []
        for line in lines:
            word, _, rest = line.partition("\t")
            plain, _, stems = rest.partition("\t")
            self._words.append(word)
            self._bare.append(plain or word)
            self._stems.append(stems)

    @classmethod
    def of(cls, words: Mapping[str, Collection[str]]) -> "Lexicon":
        """Make it of words and the languages that each was met in."""
        found = []
        for word, languages in words.items():
            plain = bare(word)
            stems = " ".join(stem for language in sorted(languages) if (stem := _stem_of(word, plain, language)))
            found.append((plain, word, f"{word}\t{plain if plain != word else ''}\t{stems}".rstrip("\t")))
        return cls([line for _, _, line in sorted(found)])

    @classmethod
    def from_bytes(cls, content: bytes) -> "Lexicon":
        """Read what `to_bytes` wrote; raises `ValueError` for anything else."""
        try:
            text = zlib.decompress(content).decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise ValueError(f"no lexicon: {error}") from error
        lines, last = [], ""
        for cut in text.split("\n") if text else ():
            last = last[: ord(cut[0]) - _NO_SHARE] + cut[1:]
            lines.append(last)
        return cls(lines)

    def to_bytes(self) -> bytes:
        """Return it as it is stored: of each line what it does not share with the one before, and how much it does."""
        cut, last = [], ""
        for line in self.lines:
            share = len(commonprefix((last, line[:_MOST_SHARE])))  # noqa: RUF071 - no paths
            cut.append(chr(_NO_SHARE + share) + line[share:])
            last = line
        return zlib.compress("\n".join(cut).encode("utf-8", "replace"), 9)

    def __len__(self) -> int:
        return len(self._words)

    def like(self, plain: str) -> Iterator[str]:
        """Yield the words with a bare form."""
        yield from (self._words[at] for at in self._range(plain, plain + "\0"))

    def is_of(self, word: str, languages: Collection[str]) -> bool:
        """Tell whether a word of it was met in one of some languages."""
        at = self._words.index(word, bisect_left(self._bare, bare(word)))
        return any(stem.partition(":")[0] in languages for stem in self._stems[at].split(" "))

    def beginning(self, plain: str) -> Iterator[tuple[str, str]]:
        """Yield the words whose bare form begins so, and that form."""
        yield from ((self._words[at], self._bare[at]) for at in islice(self._range(plain, plain + _LAST), _MANY))

    def stemmed(self, stem: str) -> Iterator[str]:
        """Yield the words that have a stem, as `stem_in` returns it, or are it."""
        own = stem.partition(":")[2]
        yield from self.like(own)
        begin = own[: max(_SAME, len(own) - _CHANGED)]
        yield from (
            self._words[at]
            for at in self._range(begin, begin + _LAST)
            if stem in self._stems[at] and stem in self._stems[at].split(" ")
        )

    def holding(self, part: str, *, at_end: bool = False) -> Iterator[str]:
        """Yield the words in whose bare form a part stands, or that end with it."""
        text, starts = self._text
        wanted, place = (part + "\n" if at_end else part), -1
        for _ in range(_MANY):
            place = text.find(wanted, place + 1)
            if place < 0:
                return
            number = bisect_left(starts, place + 1) - 1
            yield self._words[number]
            place = text.find("\n", place)

    @cached_property
    def _text(self) -> tuple[str, list[int]]:
        starts, end = [], 0
        for word in self._bare:
            starts.append(end)
            end += len(word) + 1
        return "".join(f"{word}\n" for word in self._bare), starts

    def _range(self, first: str, end: str) -> range:
        return range(bisect_left(self._bare, first), bisect_left(self._bare, end))


def _stem_of(word: str, plain: str, language: str) -> str:
    stem = stem_in(word, language)
    return stem if stem and stem != f"{language}:{plain}" else language if language in COMPOUNDING else ""
