"""Recall: the places in documents, raw messages and memories that speak of something, with citations.

Literal hits come first; when they are few, those that share words with the query. What was found is ranked by words,
over at most `MOST` places (source 002, sections 5 to 8). Messages are searched where they lie.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast, get_args

from workbench.core.agents.document import Document, citation
from workbench.core.errors import InvalidQuery, UnreadableFile
from workbench.core.files.textedit import lines as lines_of
from workbench.core.words import cased, folded, stop_words, words
from workbench.formats.external.messages import spoken
from workbench.retrieval.fulltext.large_file import Place, lines_with, needles, rg
from workbench.services.agents.documents.documents import Documents, read_documents
from workbench.services.agents.documents.reading import DocumentFolder, Entry, decoded
from workbench.services.context import Context

Scope = Literal["all", "overview", "detail", "messages", "stream"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""What is searched: `all` is detail and messages; the stream is what the memories say."""

Source = Literal["overview", "detail", "messages", "stream"]

MOST, LIMIT, SNIPPET = 10_000, 5, 300
"""Places that are ranked, results that are given where nobody says how many, and characters of one."""

LONGEST_QUERY = 1_000
_WORDS = 4
"""Words of a query that are looked for one by one, the longest."""

_LONGEST_LINE = 8 << 20
_KEPT = 2 * SNIPPET
"""Characters around a hit that it is ranked by."""

_BROKEN = 100
"""Line numbers of messages that are no JSON that are told."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One place: where it is, its text with what is around it, and all that decides whether an agent may have it.

    `file_path` is the document's path, empty for a memory; `session` names the folder it is of where that is not the
    one that goes without saying. `whole` is the section or message around it, and `rows` says which lines of that the
    text is. `record` is a document of the store. `end` is the byte of the file at which a line of messages ends, and
    `broken` says that such a line is no message.
    """

    source: Source
    file_path: str
    line_number: int
    text: str
    citation: str
    literal: bool = True
    score: float = 0.0
    speaker: str = ""
    session: str = ""
    place: Path | None = None
    whole: str = field(default="", repr=False)
    record: Document | None = field(default=None, repr=False)
    folder: DocumentFolder | None = field(default=None, repr=False)
    end: int = 0
    rows: tuple[int, int] | None = None
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: the hits, the best first, and how many places were found in all.

    `broken` are the lines that hold what was looked for and are no message, by file; `unread` documents could not be
    read, `problems` are folders that cannot be opened. `without_detail` are sessions that have no details yet.
    """

    query: str
    scope: Scope
    hits: tuple[Hit, ...]
    found: int
    folders: tuple[DocumentFolder, ...] = ()
    broken: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()
    problems: tuple[UnreadableFile, ...] = ()

    @property
    def without_detail(self) -> tuple[str, ...]:
        """The sessions that have no folder for details."""
        return tuple(one.name for one in self.folders if not one.has_detail)


def checked(query: str, limit: int) -> str:
    """Return a query that can be looked for; raises `InvalidQuery`."""
    text = query.strip()
    if not text:
        raise InvalidQuery("The query is empty.", "Say what to look for, in a few words.")
    if len(text) > LONGEST_QUERY:
        raise InvalidQuery(f"The query has {len(text):,} characters; {LONGEST_QUERY:,} are looked for.", "Shorten it.")
    if limit < 1:
        raise InvalidQuery("At least one result is asked for.", "Give a limit of 1 or more.")
    return text


def recall(
    context: Context,
    query: str,
    scope: Scope = "all",
    limit: int = LIMIT,
    *,
    every: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    program: str | None = "",
) -> Found:
    """Search documents and messages; every hit is returned, ranked, so that a caller may leave some out.

    `every` searches all sessions of the project. `program` is the `rg` to ask, `None` for none; the one that is
    installed, unless it is given. Raises `InvalidQuery`. The stream is not searched here (see `answers`).
    """
    text = checked(query, limit)
    documents = Documents(context)
    folders, problems = documents.folders(every=every)
    search = _Search(text, limit, rg() if program == "" else program, cancelled)
    asked = ("detail", "messages") if scope == "all" else (scope,)
    if "overview" in asked or "detail" in asked:
        for folder in folders:
            search.documents(folder, [one for one in folder.documents if one.scope in asked])
        if "detail" in asked:
            search.stored(documents.stored())
    if "messages" in asked:
        for folder in folders:
            if folder.messages is not None:
                search.messages(folder, folder.messages)
    hits = _named(search.ranked(), folders)
    broken = tuple(dict.fromkeys(search.broken))[:_BROKEN]
    return Found(text, scope, hits, search.found, folders, broken, tuple(search.unread), problems)


class _Search:
    """One query, and what it has found so far."""

    def __init__(self, query: str, limit: int, program: str | None, cancelled: Callable[[], bool]) -> None:
        self._query, self._limit, self._program, self._cancelled = query, limit, program, cancelled
        self._low = query.lower()
        # They are looked for in texts as they are written: those that folding changes, as they are.
        said = (*(word for word in words(query) if word in self._low), *(w for w in cased(self._low) if folded(w) != w))
        asked = dict.fromkeys(word for word in said if word not in stop_words() and len(word) > 1)
        self._words = tuple(sorted(asked, key=len, reverse=True)[:_WORDS])
        begins = "|".join(map(re.escape, self._words))
        self._any = re.compile(begins) if begins else None
        self.hits: list[Hit] = []
        self.found = 0
        self.broken: list[tuple[str, int]] = []
        self.unread: list[str] = []

    def documents(self, folder: DocumentFolder, entries: Sequence[Entry]) -> None:
        """Search documents on disk."""
        read, unread = read_documents(entries)
        self.unread += [entry.path for entry in unread]
        for one in read:
            self._document(one.document, folder, cast(Source, one.entry.scope), one.entry.file)

    def stored(self, documents: Sequence[Document]) -> None:
        """Search documents of the store."""
        for one in documents:
            self._document(one, None, "detail", None)

    def _document(self, document: Document, folder: DocumentFolder | None, source: Source, file: Path | None) -> None:
        low = document.content.lower()
        if self._low not in low and (self._any is None or self._any.search(low) is None):
            return
        rows, parts = list(lines_of(document.content)), document.sections
        texts, told = [row.text for row in rows], (False, -1)
        for place, row in enumerate(rows):
            line = row.text.lower()
            literal = self._low in line
            if not literal and (self._any is None or self._any.search(line) is None):
                continue
            if place <= told[1] and told[0] >= literal:
                continue  # it stands in the snippet of a hit that is as good
            first, last = _around(texts, place)
            told = literal, last
            around = cut("\n".join(texts[first : last + 1]), _at(line, self._low, self._any))
            part = next((one for one in reversed(parts) if one.line <= row.number), None)
            begin, end = (first, last) if part is None else (min(first, part.line - 1), max(last, part.end - 1))
            whole = "\n".join(texts[begin : end + 1])
            self.found += 1
            self.hits.append(
                Hit(source, document.path, row.number, around, citation(document.path, row.number), literal,
                    place=file, whole=whole, record=document if file is None else None, folder=folder,
                    rows=(first - begin, last - begin + 1))
            )  # fmt: skip

    def messages(self, folder: DocumentFolder, entry: Entry) -> None:
        """Search raw messages where they lie: what is literally there, and by words when that is little."""
        try:
            hits, more = self._said(folder, entry, [self._query], MOST)
            if len(hits) < self._limit and self._words and self._words != (self._low,):
                found, more = self._said(folder, entry, self._words, MOST // len(self._words))
                known = {hit.line_number for hit in hits}
                hits += [hit for hit in found if hit.line_number not in known]
        except OSError:
            self.unread.append(entry.path)
            return
        self.hits += hits
        self.found += len(hits) + more

    def _said(self, folder: DocumentFolder, entry: Entry, texts: Sequence[str], most: int) -> tuple[list[Hit], int]:
        """Return the messages that hold one of some texts, and how many lines more than are looked at."""
        places: dict[int, Place] = {}
        more = 0
        for text in texts:
            lines = lines_with(entry.file, needles(text), most, self._cancelled, self._program)
            more += lines.found - len(lines.last)
            places |= {place.number: place for place in lines.last}
        hits = []
        lows = [text.lower() for text in texts]
        with entry.file.open("rb") as file:
            for number in sorted(places):
                file.seek(places[number].start)
                raw = file.readline(_LONGEST_LINE)
                hit = self._message(folder, entry, places[number], raw, lows)
                hits += [hit] if hit is not None else []
        return hits, more

    def _message(
        self, folder: DocumentFolder, entry: Entry, place: Place, raw: bytes, lows: Sequence[str]
    ) -> Hit | None:
        """Return the hit of a line; `None` where what was looked for stands beside the text of a message."""
        line = decoded(raw)[0].rstrip("\r\n")
        said = spoken(line)
        if said is None:
            self.broken.append((entry.path, place.number))
        speaker, text = said if said is not None else ("", line)
        low = text.lower()
        at = next((found for one in lows if (found := low.find(one)) >= 0), -1)
        if at < 0:
            return None
        cite = citation(entry.path, place.number)
        return Hit(
            "messages", entry.path, place.number, cut(text, at), cite, self._low in low, speaker=speaker,
            place=entry.file, whole=text if len(text) <= _LONGEST_LINE else "", folder=folder,
            end=place.start + len(raw), broken=said is None,
        )  # fmt: skip

    def ranked(self) -> tuple[Hit, ...]:
        """Return what was found, literal hits first, each kind by how well its words fit."""
        some = sorted(self.hits, key=lambda hit: not hit.literal)[:MOST]
        if not some:
            return ()
        from workbench.retrieval.fulltext.lexical import LexicalIndex  # numbers are loaded when there is something

        scores = LexicalIndex.build([hit.text[:_KEPT] for hit in some]).scores(self._query)
        scored = [replace(hit, score=round(float(score), 6)) for hit, score in zip(some, scores, strict=True)]
        return tuple(sorted(scored, key=_rank))


def _rank(hit: Hit) -> tuple[bool, bool, float, str, int]:
    """Return what puts hits in order: messages before what is none, literal ones first, then what fits."""
    return hit.broken, not hit.literal, -hit.score, hit.file_path, -hit.line_number


def _named(hits: Sequence[Hit], folders: Sequence[DocumentFolder]) -> tuple[Hit, ...]:
    """Name the folder of each hit that is not of the first session, in its citation, too."""
    usual = folders[0].root if folders and folders[0].kind == "session" else None
    return tuple(
        hit
        if hit.folder is None or hit.folder.root == usual
        else replace(hit, session=hit.folder.name, citation=f"{hit.folder.name}/{hit.citation}")
        for hit in hits
    )


def _at(line: str, low: str, any_word: "re.Pattern[str] | None") -> int:
    at = line.find(low)
    if at >= 0 or any_word is None:
        return max(at, 0)
    found = any_word.search(line)
    return found.start() if found else 0


def _around(rows: Sequence[str], place: int) -> tuple[int, int]:
    """Return the first and the last of the lines around one that fit into a snippet with it."""
    first = last = place
    size = len(rows[place])
    for step in _outward(len(rows), place):
        if size + len(rows[step]) + 1 > SNIPPET:
            break
        size += len(rows[step]) + 1
        first, last = min(first, step), max(last, step)
    while first < place and not rows[first].strip():
        first += 1
    while last > place and not rows[last].strip():
        last -= 1
    return first, last


def _outward(count: int, place: int) -> Iterator[int]:
    """Yield the places around one, the nearest first."""
    for step in range(1, count):
        if place + step >= count and place - step < 0:
            return
        if place + step < count:
            yield place + step
        if place - step >= 0:
            yield place - step


def cut(text: str, at: int) -> str:
    """Return the part of a text around a place, as long as a snippet is."""
    if len(text) <= SNIPPET:
        return text
    begin = max(0, min(at - SNIPPET // 3, len(text) - SNIPPET))
    end = begin + SNIPPET
    return ("…" if begin else "") + text[begin:end].strip() + ("…" if end < len(text) else "")
