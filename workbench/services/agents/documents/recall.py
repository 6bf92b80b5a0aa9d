"""Recall: the places in documents, raw messages and memories that speak of something, with citations.

Literal hits come first; when they are few, those that share words with the query. What was found is ranked by words,
over at most `MOST` places (source 002, sections 5 to 8). Messages are searched where they lie.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast, get_args

from workbench.core.agents.document import Document, citation
from workbench.core.agents.read import UNKNOWN, AgentRead, Provenance
from workbench.core.files.lint import lines as lines_of
from workbench.core.record import InvalidQuery, UnreadableFile
from workbench.core.runtime import Cancelled
from workbench.core.safety import Finding
from workbench.core.text import clean_for_store, one_line
from workbench.core.tuning.profile import ProfileInUse
from workbench.core.words import cased, folded, stop_words, words
from workbench.formats.external import spoken
from workbench.retrieval.fulltext.large_file import Place, lines_with, needles, rg
from workbench.services.agents.aliases import alias_of
from workbench.services.agents.blocks import Blocks, Json
from workbench.services.agents.documents.documents import Documents, read_documents
from workbench.services.agents.documents.instructions import DocumentFolder, Entry, Seen, decoded, read_document
from workbench.services.agents.reading_log import Asked, new_id
from workbench.services.agents.serving import Served, give, look
from workbench.services.context import Context
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning
from workbench.store.records import place_of

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
    cancelled: Cancelled = lambda: False,
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

    def __init__(self, query: str, limit: int, program: str | None, cancelled: Cancelled) -> None:
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
        read, unread = read_documents(entries)
        self.unread += [entry.path for entry in unread]
        for one in read:
            self._document(one.document, folder, cast(Source, one.entry.scope), one.entry.file)

    def stored(self, documents: Sequence[Document]) -> None:
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


# What recall gives: to a person all that was found, to an agent what it may have, masked and with its origin.


MOST_GIVEN = 50
"""Results that are given at once, at the most."""

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One result as it is shown, with the fields of source 002, section 4.1; `id` names it among the others."""

    id: str
    source: str
    file_path: str
    line_number: int
    text: str
    citation: str
    score: float
    speaker: str = ""
    session: str = ""
    hit: Hit | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """An answer: its rows, the best first, what was found, and why better ones were `left_out` ("held", …).

    `blocks` encloses what nobody stands by, for an agent; `served` is how memories were ranked,
    under the profile `used`.
    """

    rows: tuple[Row, ...]
    found: Found
    left_out: dict[str, int]
    blocks: Blocks | None = None
    served: Served | None = None
    used: ProfileInUse | None = None


class Recalling:
    """Answers recall for the context's actor."""

    def __init__(self, context: Context, tuning: Callable[[], Tuning], safety: Safety) -> None:
        self._context, self._tuning, self._safety = context, tuning, safety
        self._seen: dict[Path, Seen] = {}
        self._trusted: dict[str, bool | int] = {}

    def look(
        self,
        query: str,
        scope: Scope = "all",
        limit: int = LIMIT,
        *,
        every: bool = False,
        secrets: bool = False,
        cancelled: Cancelled = lambda: False,
    ) -> Recalled:
        """Return what a person finds; secrets are masked unless they are asked for. Raises `InvalidQuery`."""
        show = (lambda text: text) if secrets else self._safety.masked
        if scope == "stream":
            return self._stream(query, limit, show)
        found = recall(self._context, query, scope, limit, every=every, cancelled=cancelled)
        rows = tuple(_row(str(n), hit, show, query) for n, hit in enumerate(found.hits[:limit], 1))
        return Recalled(rows, found, {})

    def give(self, query: str, scope: Scope = "all", limit: int = LIMIT, *, every: bool = False) -> Recalled:
        """Return what an agent is given: trusted, nothing held back, masked. Raises `InvalidQuery`."""
        limit = min(limit, MOST_GIVEN)
        if scope == "stream":
            return self._stream(query, limit, None)
        found = recall(self._context, query, scope, limit, every=every)
        taken, out = list[tuple[Hit, Provenance]](), Counter[str]()
        for hit in found.hits:
            if len(taken) == limit:
                break
            if not self._is_shown(hit, query):
                continue
            known = self._provenance(hit)
            why = self._refused(hit, known)
            if why:
                out[why] += 1
            else:
                taken.append((hit, known))
        names = [str(number) for number in range(1, len(taken) + 1)]
        blocks = Blocks({}, {name: known for name, (_, known) in zip(names, taken, strict=True)})
        rows = tuple(self._served(name, hit, blocks, query) for name, (hit, _) in zip(names, taken, strict=True))
        # An agent is told of no more than it is given: what is masked could be found out by counting.
        told = replace(found, found=len(rows) + out.total(), broken=())
        return Recalled(rows, told, dict(out), blocks)

    def reading_of(self, given: Recalled, asked: Asked) -> AgentRead:
        """Return what is kept of an answer."""
        context, served = self._context, given.served
        agent, query = context.actor.removeprefix("agent:"), self._safety.masked(given.found.query)
        ids = () if served is None else served.ranking.ids
        scores = () if served is None else tuple(round(one.total, 6) for one in served.top)
        cited = () if served is not None else tuple(row.citation for row in given.rows)
        profile = "" if served is None else served.ranking.profile.name
        out = given.left_out
        return AgentRead(
            new_id(), agent, context.now(), query, asked.session, asked.door, profile, ids, scores, not given.rows,
            out.get("held", 0), out.get("unapproved", 0), out.get("weak", 0), cited,
            about="documents" if served is None else "",
            relevances=() if served is None else tuple(round(value, 6) for value in served.relevances),
        )  # fmt: skip

    def _stream(self, query: str, limit: int, show: Callable[[str], str] | None) -> Recalled:
        """Return what the ranking of the memories finds, for a person where there is a way to `show` it."""
        text, tuning = checked(query, limit), self._tuning()
        if show is not None:
            served = look(tuning, text, limit, tuning.default(), self._context.now())
        else:
            served = give(self._context, tuning, text, limit, tuning.default(), self._safety)
        blocks = None if show is not None else Blocks(served.names, served.provenance)
        top = () if served.floor.empty else served.top
        rows = tuple(
            replace(_of_memory(one.memory.id, one.memory.content, one.total, blocks, show), relevance=relevance)
            for one, relevance in zip(top, served.relevances, strict=False)
        )
        found = Found(text, "stream", (), len(rows))
        out = {"held": served.held, "unapproved": served.unapproved, "weak": served.weak}
        return Recalled(rows, found, {why: n for why, n in out.items() if n}, blocks, served, tuning.used)

    def _refused(self, hit: Hit, known: Provenance) -> str:
        """Return why an agent is not given a hit; empty when it is."""
        if hit.folder is not None and not self._is_trusted(hit, hit.folder):
            return "untrusted"
        if self._context.settings.agents.only_approved(self._context.actor) and not known.approved:
            return "unapproved"
        kinds = {finding.kind for finding in self._safety.sorts(hit.whole or hit.text)}
        allowed = hit.record is not None and self._safety.override(hit.record) is not None
        return "held" if kinds & {"injection", "hidden"} and not allowed else ""

    def _is_shown(self, hit: Hit, query: str) -> bool:
        """Tell whether what was looked for still stands there when secrets are masked."""
        if hit.record is not None and self._safety.override(hit.record) is not None:
            return True
        whole = self._safety.masked(hit.whole)
        if whole == clean_for_store(hit.whole):
            return True
        low = folded(whole)
        return folded(query.strip()) in low or (not hit.literal and any(word in low for word in words(query)))

    def _is_trusted(self, hit: Hit, folder: DocumentFolder) -> bool:
        seen = self._seen.get(folder.root)
        if seen is None:
            seen = self._seen[folder.root] = Documents(self._context).seen(folder)
        key = f"{folder.root}\0{hit.file_path}"
        if key not in self._trusted:
            entry = folder.find(hit.file_path)
            self._trusted[key] = False
            if entry is not None and hit.source == "messages":
                self._trusted[key] = seen.trusted_bytes(entry)
            elif entry is not None:
                try:
                    self._trusted[key] = seen.trusts(read_document(entry))
                except UnreadableFile:
                    self._trusted[key] = False
        known = self._trusted[key]
        return hit.end <= known if hit.source == "messages" else bool(known)

    def _provenance(self, hit: Hit) -> Provenance:
        if hit.record is None:
            return UNKNOWN
        return provenances_of(self._context, [hit.record]).get(place_of(hit.record), UNKNOWN)

    def _served(self, name: str, hit: Hit, blocks: Blocks, query: str) -> Row:
        row, findings = _row(name, hit, self._safety.masked, query), self._safety.findings
        return replace(
            row,
            text=blocks.enclosed(name, row.text),
            file_path=plain_name(row.file_path, findings),
            session=plain_name(row.session, findings),
            speaker=plain_name(row.speaker, findings),
            citation=plain_name(row.citation, findings),
            hit=None,
        )


def answer_json(given: Recalled) -> Json:
    """Return an answer as JSON: the rows with the fields of source 002, and the sources that were searched."""
    found = given.found
    sources = ["detail", "messages"] if found.scope == "all" else [found.scope]
    blocks = given.blocks
    rows: list[Json] = [
        {
            "source": row.source,
            "file_path": row.file_path,
            "line_number": row.line_number,
            "text": row.text,
            "citation": row.citation,
            "score": round(row.score, 4),
            "speaker": row.speaker,
            "session": row.session,
            **({} if row.relevance is None else {"relevance": round(row.relevance, 4)}),
            **({} if blocks is None else {"unreviewed": not blocks.provenance(row.id).approved}),
        }
        for row in given.rows
    ]
    answer: Json = {
        "query": found.query,
        "sources": sources,
        "found": found.found,
        "results": rows,
        "left_out": given.left_out,
        "broken_lines": [{"file": file, "line": line} for file, line in found.broken],
        "unreadable": [*found.unread, *(str(problem) for problem in found.problems)],
    }
    if given.used is not None:
        answer |= {"profile": given.used.name, "profile_from": given.used.origin}
    return answer


def answer_text(query: str, rows: Sequence[Row]) -> str:
    """Return an answer as text, in the form of source 002, section 5.2."""
    parts = [f'Found {len(rows)} result(s) for: "{query}"']
    for number, row in enumerate(rows, 1):
        where = {"messages": f"Line: {row.line_number}", "stream": ""}.get(
            row.source, f"File: {row.file_path}:{row.line_number}"
        )
        session = f"Session: {row.session}" if row.session else ""
        content = row.text.replace("\n", "\n             ")
        lines = [where, session, f"Content: {content}", f"Citation: {row.citation}"]
        parts.append("\n    ".join([f"[{number}] Source: {row.source}", *(line for line in lines if line)]))
    return "\n\n".join(parts)


def _row(name: str, hit: Hit, show: Callable[[str], str], query: str) -> Row:
    """Return a hit as it is shown; where there is a secret near it, all around it is masked before it is cut."""
    whole, text = show(hit.whole), show(hit.text)
    if whole != clean_for_store(hit.whole):
        shown = whole if hit.rows is None else "\n".join(whole.split("\n")[slice(*hit.rows)])
        text = cut(shown, max(0, shown.lower().find(query.strip().lower())))
    path, cite, session = show(hit.file_path), show(hit.citation), show(hit.session)
    return Row(name, hit.source, path, hit.line_number, text, cite, hit.score, show(hit.speaker), session, hit)


def _of_memory(id: str, content: str, score: float, blocks: Blocks | None, show: Callable[[str], str] | None) -> Row:
    text = cut(content if show is None else show(content), 0)
    if blocks is not None:
        return Row(id, "stream", "", 0, blocks.enclosed(id, text), blocks.name(id), score)
    return Row(id, "stream", "", 0, text, id if show is None else show(id), score)


def plain_name(name: str, look: Callable[[str], tuple[Finding, ...]]) -> str:
    """Return a name of a file or a session as an agent may see it."""
    return name if name == one_line(name, _LONGEST_NAME) and not look(name) else alias_of(name)
