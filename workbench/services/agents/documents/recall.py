"""Recall: the places in documents, raw messages and memories that speak of something, with
citations.

Literal hits come first; when they are few, those that share words with the query. What was found is
ranked by words, over at most `MOST` places (source 002, sections 5 to 8). Messages are searched
where they lie.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from workbench.core.agents.document import Document, citation
from workbench.core.agents.read import UNKNOWN, AgentRead, Provenance
from workbench.core.files.lint import lines as lines_of
from workbench.core.record import UnreadableFile
from workbench.core.safety import Finding
from workbench.core.text import clean_for_store, one_line
from workbench.core.tuning.profile import ProfileInUse
from workbench.core.words import cased, folded, stop_words, words
from workbench.formats.external import spoken
from workbench.retrieval.fulltext.large_file import Place, lines_with, needles
from workbench.services.agents.blocks import Blocks, Guard, Json
from workbench.services.agents.documents.documents import Documents, read_documents
from workbench.services.agents.documents.instructions import (
    DocumentFolder,
    Entry,
    Seen,
    decoded,
    read_document,
)
from workbench.services.agents.reading_log import Asked, checked_query, reading
from workbench.services.agents.serving import Served, give, look, read_of
from workbench.services.context import Context
from workbench.services.safety.masking import alias_of
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning

Scope = Literal["all", "overview", "detail", "messages", "stream"]
"""What is searched: `all` is detail and messages; the stream is what the memories say."""

Source = Literal["overview", "detail", "messages", "stream"]

MOST, LIMIT, SNIPPET = 10_000, 5, 300
"""Places that are ranked, results that are given where nobody says how many, and characters of one."""

MOST_GIVEN = 50
"""Results that an agent is given at once, at the most."""

LONGEST_QUERY = 1_000
_WORDS = 4
"""Words of a query that are looked for one by one, the longest."""

_LONGEST_LINE = 8 << 20
_BROKEN = 100
"""Line numbers of messages that are no JSON that are told."""

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Hit:
    """One place: where it is and what it says, and all that decides whether an agent may have it.

    `file_path` is the document's path, empty for a memory; `session` names the folder it is of
    where that is not the one that goes without saying. `unreviewed` is told to agents. `whole` is
    the section or message around it, and `rows` says which lines of that the text is. `record` is a
    document of the store. `end` is the byte of the file at which a line of messages ends, and
    `broken` says that such a line is no message.
    """

    source: Source
    file_path: str
    line_number: int
    text: str
    citation: str
    score: float = 0.0
    speaker: str = ""
    session: str = ""
    relevance: float | None = None
    unreviewed: bool | None = None
    literal: bool = True
    broken: bool = False
    whole: str = field(default="", repr=False)
    rows: tuple[int, int] | None = None
    record: Document | None = field(default=None, repr=False)
    folder: DocumentFolder | None = field(default=None, repr=False)
    end: int = 0


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a search came to: the hits, the best first, how many places were `found`, and why better
    ones were left out.

    `broken` are the lines that hold what was looked for and are no message, by file; `unread`
    documents could not be read, `problems` are folders that cannot be opened. `served` is how
    memories were ranked, under the profile `used`.
    """

    query: str
    scope: Scope
    rows: tuple[Hit, ...]
    found: int
    folders: tuple[DocumentFolder, ...] = ()
    broken: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()
    problems: tuple[UnreadableFile, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    served: Served | None = None
    used: ProfileInUse | None = None

    @property
    def without_detail(self) -> tuple[str, ...]:
        """The sessions that have no folder for details."""
        return tuple(one.name for one in self.folders if not one.has_detail)


def recall(
    context: Context, query: str, scope: Scope = "all", limit: int = LIMIT, *, every: bool = False
) -> Recalled:
    """Search documents and messages; every hit is returned, ranked, so that a caller may leave some
    out.

    `every` searches all sessions of the project. Raises `InvalidQuery`. The stream is not searched
    here.
    """
    text, documents = checked_query(query, LONGEST_QUERY), Documents(context)
    folders, problems = documents.folders(every=every)
    search = _Search(text, limit)
    asked = ("detail", "messages") if scope == "all" else (scope,)
    for folder in folders:
        read, unread = read_documents([one for one in folder.documents if one.scope in asked])
        search.unread += [path for path, _ in unread]
        for one in read:
            search.document(one.document, folder, cast(Source, one.entry.scope))
        if "messages" in asked and folder.messages is not None:
            search.messages(folder, folder.messages)
    for document in documents.stored() if "detail" in asked else ():
        search.document(document, None, "detail")
    usual = folders[0].root if folders and folders[0].kind == "session" else None
    hits = tuple(
        hit
        if hit.folder is None or hit.folder.root == usual
        else replace(hit, session=hit.folder.name, citation=f"{hit.folder.name}/{hit.citation}")
        for hit in search.ranked()
    )
    broken = tuple(dict.fromkeys(search.broken))[:_BROKEN]
    return Recalled(
        text, scope, hits, search.found, folders, broken, tuple(search.unread), problems
    )


class _Search:
    """One query, and what it has found so far."""

    def __init__(self, query: str, limit: int) -> None:
        self._query, self._limit = query, limit
        self._low = query.lower()
        # They are looked for in texts as they are written: those that folding changes, as they are.
        said = (
            *(word for word in words(query) if word in self._low),
            *(w for w in cased(self._low) if folded(w) != w),
        )
        asked = dict.fromkeys(word for word in said if word not in stop_words() and len(word) > 1)
        self._words = tuple(sorted(asked, key=len, reverse=True)[:_WORDS])
        self._any = re.compile("|".join(map(re.escape, (self._low, *self._words))))
        self.hits: list[Hit] = []
        self.found = 0
        self.broken: list[tuple[str, int]] = []
        self.unread: list[str] = []

    def document(self, document: Document, folder: DocumentFolder | None, source: Source) -> None:
        if self._any.search(document.content.lower()) is None:
            return
        rows, parts = list(lines_of(document.content)), document.sections
        texts, told = [row.text for row in rows], (False, -1)
        for place, row in enumerate(rows):
            line = row.text.lower()
            word = self._any.search(line)
            literal = self._low in line
            if word is None or (place <= told[1] and told[0] >= literal):
                continue  # or it stands in the snippet of a hit that is as good
            first, last = _around(texts, place)
            told = literal, last
            text = cut(
                "\n".join(texts[first : last + 1]),
                line.find(self._low) if literal else word.start(),
            )
            begin, end = first, last
            part = next((one for one in reversed(parts) if one.line <= row.number), None)
            if part is not None:
                begin, end = min(first, part.line - 1), max(last, part.end - 1)
            self.found += 1
            self.hits.append(
                Hit(
                    source,
                    document.path,
                    row.number,
                    text,
                    citation(document.path, row.number),
                    literal=literal,
                    whole="\n".join(texts[begin : end + 1]),
                    rows=(first - begin, last - begin + 1),
                    record=document if folder is None else None,
                    folder=folder,
                )
            )

    def messages(self, folder: DocumentFolder, entry: Entry) -> None:
        """Search raw messages where they lie: what is literally there, and by words when that is
        little.
        """
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

    def _said(
        self, folder: DocumentFolder, entry: Entry, texts: Sequence[str], most: int
    ) -> tuple[list[Hit], int]:
        """Return the messages that hold one of some texts, and how many lines more than are looked
        at.
        """
        places: dict[int, Place] = {}
        more = 0
        for text in texts:
            lines = lines_with(entry.file, needles(text), most)
            more += lines.found - len(lines.last)
            places |= {place.number: place for place in lines.last}
        hits = list[Hit]()
        lows = [text.lower() for text in texts]
        with entry.file.open("rb") as file:
            for number in sorted(places):
                start = places[number].start
                file.seek(start)
                raw = file.readline(_LONGEST_LINE)
                line = decoded(raw)[0].rstrip("\r\n")
                said = spoken(line)
                if said is None:
                    self.broken.append((entry.path, number))
                speaker, text = said if said is not None else ("", line)
                low = text.lower()
                at = next((found for one in lows if (found := low.find(one)) >= 0), -1)
                if at < 0:
                    continue  # what was looked for stands beside the text of the message
                hits.append(
                    Hit(
                        "messages",
                        entry.path,
                        number,
                        cut(text, at),
                        citation(entry.path, number),
                        speaker=speaker,
                        literal=self._low in low,
                        broken=said is None,
                        whole=text,
                        folder=folder,
                        end=start + len(raw),
                    )
                )
        return hits, more

    def ranked(self) -> list[Hit]:
        """Return what was found: messages before what is none, literal hits first, then by how well
        the words fit.
        """
        some = sorted(self.hits, key=lambda hit: not hit.literal)[:MOST]
        if not some:
            return []
        from workbench.retrieval.fulltext.lexical import (
            LexicalIndex,
        )  # numbers are loaded when there is something

        scores = LexicalIndex.build([hit.text for hit in some]).scores(self._query)
        scored = [
            replace(hit, score=round(float(score), 6))
            for hit, score in zip(some, scores, strict=True)
        ]
        return sorted(
            scored,
            key=lambda one: (
                one.broken,
                not one.literal,
                -one.score,
                one.file_path,
                -one.line_number,
            ),
        )


def _around(rows: Sequence[str], place: int) -> tuple[int, int]:
    """Return the first and the last of the lines around one that fit into a snippet with it."""
    first = last = place
    size = len(rows[place])
    while steps := [step for step in (last + 1, first - 1) if 0 <= step < len(rows)]:
        step = min(steps, key=lambda one: abs(one - place))
        size += len(rows[step]) + 1
        if size > SNIPPET:
            break
        first, last = min(first, step), max(last, step)
    told = [step for step in range(first, last + 1) if step == place or rows[step].strip()]
    return told[0], told[-1]


def cut(text: str, at: int) -> str:
    """Return the part of a text around a place, as long as a snippet is."""
    if len(text) <= SNIPPET:
        return text
    begin = max(0, min(at - SNIPPET // 3, len(text) - SNIPPET))
    end = begin + SNIPPET
    return ("…" if begin else "") + text[begin:end].strip() + ("…" if end < len(text) else "")


# What recall gives: to a person all that was found, to an agent what it may have, masked and with
# its origin.


class Recalling:
    """Answers recall for the context's actor."""

    def __init__(self, context: Context, tuning: Callable[[], Tuning], safety: Safety) -> None:
        self._context, self._tuning, self._safety = context, tuning, safety
        self._guard = Guard(context, safety)
        self._seen: dict[Path, Seen] = {}
        self._trusted: dict[tuple[Path, str], int] = {}

    def look(
        self,
        query: str,
        scope: Scope = "all",
        limit: int = LIMIT,
        *,
        every: bool = False,
        secrets: bool = False,
    ) -> Recalled:
        """Return what a person finds; secrets are masked unless they are asked for. Raises
        `InvalidQuery`.
        """
        show = (lambda text: text) if secrets else self._safety.masked
        if scope == "stream":
            return self._stream(query, limit, show)
        found = recall(self._context, query, scope, limit, every=every)
        return replace(found, rows=tuple(_shown(hit, show, query) for hit in found.rows[:limit]))

    def give(
        self, query: str, scope: Scope = "all", limit: int = LIMIT, *, every: bool = False
    ) -> Recalled:
        """Return what an agent is given: trusted, nothing held back, masked. Raises `InvalidQuery`."""
        limit = min(limit, MOST_GIVEN)
        if scope == "stream":
            return self._stream(query, limit, None)
        found = recall(self._context, query, scope, limit, every=every)
        rows, out, origins = list[Hit](), Counter[str](), dict[str, Provenance]()
        blocks = Blocks(origins)
        for hit in found.rows:
            if len(rows) == limit:
                break
            if not self._is_shown(hit, query):
                continue
            known = UNKNOWN if hit.record is None else self._guard.origin(hit.record)
            if why := self._refused(hit, known):
                out[why] += 1
                continue
            shown = _shown(hit, self._safety.masked, query)
            origins[shown.citation] = known
            names: dict[str, Any] = {
                name: plain_name(getattr(shown, name), self._safety.findings)
                for name in ("file_path", "session", "speaker", "citation")
            }
            text = blocks.enclosed(shown.citation, shown.text)
            shown = replace(shown, text=text, unreviewed=not known.approved, **names)
            rows.append(replace(shown, whole="", record=None, folder=None))
        # An agent is told of no more than it is given: what is masked could be found out by
        # counting.
        return replace(
            found, rows=tuple(rows), found=len(rows) + out.total(), broken=(), left_out=dict(out)
        )

    def reading_of(self, given: Recalled, asked: Asked) -> AgentRead:
        """Return what is kept of an answer."""
        served, out = given.served, given.left_out
        left = {name: out.get(name, 0) for name in ("held", "unapproved", "weak")}
        query, is_empty = self._safety.masked(given.query), not given.rows
        if served is not None:
            return replace(
                read_of(self._context, served, given.query, asked, self._safety), is_empty=is_empty
            )
        cited = tuple(row.citation for row in given.rows)
        return reading(
            self._context,
            asked,
            query,
            is_empty=is_empty,
            documents=cited,
            about="documents",
            **left,
        )

    def _stream(self, query: str, limit: int, show: Callable[[str], str] | None) -> Recalled:
        """Return what the ranking of the memories finds, for a person where there is a way to
        `show` it.
        """
        text, tuning = checked_query(query, LONGEST_QUERY), self._tuning()
        if show is not None:
            served = look(tuning, text, limit, tuning.default(), self._context.now())
        else:
            served = give(self._context, tuning, text, limit, tuning.default(), self._safety)
        blocks, rows = served.blocks, list[Hit]()
        given = () if served.floor.empty else served.top
        for one, relevance in zip(given, served.relevances, strict=False):
            id, said = one.memory.id, one.memory.content
            if show is not None:
                name, shown, unreviewed = show(id), cut(show(said), 0), None
            else:
                name, shown = blocks.name(id), blocks.enclosed(id, cut(said, 0))
                unreviewed = not blocks.origins[id].approved
            hit = Hit("stream", "", 0, shown, name, one.total, relevance=relevance)
            rows.append(replace(hit, unreviewed=unreviewed))
        out = ("held", "unapproved", "weak")
        left_out = {why: count for why in out if (count := getattr(served, why))}
        return Recalled(
            text, "stream", tuple(rows), len(rows), left_out=left_out, served=served, used=tuning.used
        )  # fmt: skip

    def _refused(self, hit: Hit, origin: Provenance) -> str:
        """Return why an agent is not given a hit; empty when it is."""
        if hit.folder is not None and not self._is_trusted(hit, hit.folder):
            return "untrusted"
        return self._guard.refused(hit.record, [hit.whole], origin) or ""

    def _is_shown(self, hit: Hit, query: str) -> bool:
        """Tell whether what was looked for still stands there when secrets are masked."""
        whole = self._safety.masked(hit.whole)
        if whole == clean_for_store(hit.whole) or self._guard.allows(hit.record):
            return True
        low = folded(whole)
        return folded(query.strip()) in low or (
            not hit.literal and any(word in low for word in words(query))
        )

    def _is_trusted(self, hit: Hit, folder: DocumentFolder) -> bool:
        """Tell whether a person has looked at a file up to the end of a hit; of documents they look
        at all.
        """
        place = folder.root, hit.file_path
        if place not in self._trusted:
            if folder.root not in self._seen:
                self._seen[folder.root] = Documents(self._context).seen(folder)
            seen, entry = self._seen[folder.root], folder.find(hit.file_path)
            self._trusted[place] = -1
            with suppress(UnreadableFile):
                if entry is not None and hit.source == "messages":
                    self._trusted[place] = seen.trusted_bytes(entry)
                elif entry is not None and seen.trusts(read_document(entry)):
                    self._trusted[place] = 0
        return hit.end <= self._trusted[place]


_FIELDS = ("source", "file_path", "line_number", "text", "citation", "score", "speaker", "session")
_ONCE_KNOWN = ("relevance", "unreviewed")


def answer_json(given: Recalled) -> Json:
    """Return an answer as JSON: the rows with the fields of source 002, and the sources that were
    searched.
    """
    rows = list[Json]()
    for hit in given.rows:
        row = {name: getattr(hit, name) for name in _FIELDS}
        row |= {name: found for name in _ONCE_KNOWN if (found := getattr(hit, name)) is not None}
        rows.append(
            {
                name: round(value, 4) if type(value) is float else value
                for name, value in row.items()
            }
        )
    answer: Json = {
        "query": given.query,
        "sources": ["detail", "messages"] if given.scope == "all" else [given.scope],
        "found": given.found,
        "results": rows,
        "left_out": dict(given.left_out),
        "broken_lines": [{"file": file, "line": line} for file, line in given.broken],
        "unreadable": [*given.unread, *map(str, given.problems)],
    }
    if given.used is not None:
        answer |= {"profile": given.used.name, "profile_from": given.used.origin}
    return answer


def answer_text(query: str, rows: Sequence[Hit]) -> str:
    """Return an answer as text, in the form of source 002, section 5.2."""
    parts = [f'Found {len(rows)} result(s) for: "{query}"']
    for number, row in enumerate(rows, 1):
        places = {"messages": f"Line: {row.line_number}", "stream": ""}
        where = places.get(row.source, f"File: {row.file_path}:{row.line_number}")
        session = f"Session: {row.session}" if row.session else ""
        content = row.text.replace("\n", "\n             ")
        lines = [where, session, f"Content: {content}", f"Citation: {row.citation}"]
        parts.append("\n    ".join([f"[{number}] Source: {row.source}", *filter(None, lines)]))
    return "\n\n".join(parts)


def _shown(hit: Hit, show: Callable[[str], str], query: str) -> Hit:
    """Return a hit as it is shown; where there is a secret near it, all around it is masked before
    it is cut.
    """
    whole, text = show(hit.whole), show(hit.text)
    if whole != clean_for_store(hit.whole):
        near = whole if hit.rows is None else "\n".join(whole.split("\n")[slice(*hit.rows)])
        text = cut(near, max(0, near.lower().find(query.strip().lower())))
    names: dict[str, Any] = {
        name: show(getattr(hit, name)) for name in ("file_path", "citation", "session", "speaker")
    }
    return replace(hit, text=text, whole=whole, **names)


def plain_name(name: str, look: Callable[[str], tuple[Finding, ...]]) -> str:
    """Return a name of a file or a session as an agent may see it."""
    return name if name == one_line(name, _LONGEST_NAME) and not look(name) else alias_of(name)
