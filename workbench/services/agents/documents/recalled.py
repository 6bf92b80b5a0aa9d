"""What recall gives: to a person all that was found, to an agent what it may have, masked and with its origin."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.agents.provenance import UNKNOWN, Provenance
from workbench.core.agents.read import AgentRead
from workbench.core.errors import UnreadableFile
from workbench.core.safety import Finding
from workbench.core.text import clean_for_store, one_line
from workbench.core.tuning.profile import ProfileInUse
from workbench.core.words import folded, words
from workbench.services.agents.aliases import alias_of
from workbench.services.agents.answers import Json
from workbench.services.agents.blocks import Blocks
from workbench.services.agents.documents.documents import Documents
from workbench.services.agents.documents.reading import DocumentFolder, read
from workbench.services.agents.documents.recall import LIMIT, Found, Hit, Scope, checked, cut, recall
from workbench.services.agents.documents.seen import Seen
from workbench.services.agents.reads import Asked, new_id
from workbench.services.agents.serving import Served, give, look
from workbench.services.context import Context
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.tuning.tuning import Tuning
from workbench.store.records import place_of

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
        cancelled: Callable[[], bool] = lambda: False,
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
                    self._trusted[key] = seen.trusts(read(entry))
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
