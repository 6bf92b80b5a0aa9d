"""`workbench review list` and `show`: what waits for a decision, and what it rests on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import cut, moment, plain, say, table, warn, write_json
from workbench.cli.parsing import wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.safety.flags import Shown, reasons, review_json, sign, unreviewed
from workbench.cli.session import Session
from workbench.core.record import InvalidQuery, UnknownRecord, WorkbenchError
from workbench.core.review.describe import describe
from workbench.core.review.kinds import KINDS, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.playbook.curation import Card
    from workbench.services.review.queue import Evidence

LONG = 2000
"""Texts above which embedding them shows its progress."""

SHOWN = 200
"""Cells of a text that is not the one that is asked about."""


def list_queue(session: Session) -> int:
    args = session.args
    with session.reading() as bench:
        waiting = len(bench.review.queue())
        found = matching(bench, " ".join(args.filter), args.kind, found=args.found)
        worked_out = frozenset(proposal.id for proposal in bench.review.found()) if args.found else frozenset()
    shown = cut(found, args.limit)
    if wants_json(args):
        printed = Shown(bench, secrets=args.show_secrets)
        rows = [_json(printed(proposal)) for proposal in shown]
        stored = [{"stored": proposal.id not in worked_out} if args.found else {} for proposal in shown]
        write_json([{**row, **more} for row, more in zip(rows, stored, strict=True)])
        printed.remark()
        return 0
    print_rows(bench, shown, secrets=args.show_secrets)
    if not waiting and not found:
        warn("Nothing waits. `workbench reflect` and `workbench upkeep` make proposals.")
    elif not found:
        warn(f"No proposal matches; {counted(waiting, 'proposal')} in all.")
    return 0


def matching(bench: "Workbench", text: str, kind: str | None, *, found: bool = False) -> tuple[Proposal, ...]:
    """Return what waits and a filter and a kind let through; with `found`, what is worked out now, too.

    Raises `InvalidQuery`.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidQuery(f"There is no kind “{kind}”.", f"There are: {', '.join(KINDS)}.")
    if found:
        work_out(bench, () if kind is None else (kind,))
    waiting = (*bench.review.queue(), *(bench.review.found() if found else ()))
    return tuple(p for p in bench.review.matching(waiting, text) if kind in (None, p.kind))


def work_out(bench: "Workbench", kinds: Sequence[str]) -> None:
    """Work out what waits without being stored, of these kinds or of all; what could not be is said."""
    looked = bench.working_out.run(lambda: False, only=kinds, asked=True, load=True)
    for _, problem in looked.problems:
        warn(problem)


def opened(bench: "Workbench", id: str) -> Proposal:
    """Return what waits under a name, worked out where nobody stored it; raises `UnknownRecord`."""
    try:
        return bench.review.open_one(id)
    except UnknownRecord:
        kind = bench.working_out.kind_of(id)
        if not kind or bench.library.proposals.find(id) is not None:
            raise
        work_out(bench, (kind,))
        return bench.review.open_one(id)


def print_rows(bench: "Workbench", proposals: Sequence[Proposal], *, secrets: bool = False) -> None:
    """Print proposals, a line each; `secrets` as they are stored."""
    from workbench.services.review.queue import is_put_off

    now, shown = bench.context.now(), Shown(bench, secrets=secrets)
    rows = [_row(shown(p), sign(bench, bench.review.memory(p)), later=is_put_off(p, now)) for p in proposals]
    for line in table(rows, right=(3,)):
        say(line)
    shown.remark()


def show_proposal(session: Session) -> int:
    """Print one proposal, the texts it is about, and everything that speaks for or against it."""
    args = session.args
    with session.reading() as bench:
        try:
            proposal = bench.review.get(opened(bench, args.id).id)
        except UnknownRecord as error:
            raise UnknownRecord(error.message, "`workbench review list` shows what waits.") from error
        memory = bench.review.memory(proposal)
        evidence = _evidence(bench, proposal, quick=args.quick)
        card = _card(bench, proposal)
    why = "" if memory is None else reasons(memory)
    shown = Shown(bench, secrets=args.show_secrets)
    proposal, memory, evidence = shown(proposal), shown(memory), shown(evidence)
    if wants_json(args):
        told = None if memory is None else {**memory_json(memory), **review_json(bench, memory)}
        about = {"memory": told, "evidence": _evidence_json(bench, evidence)}
        write_json({**_json(proposal), **about})
    else:
        _print(bench, proposal, memory, evidence, why)
        if card is not None:
            _print_card(card, shown)
    shown.remark()
    return 0


def show_merge(session: Session, bench: "Workbench", id: str, into: str, take: str) -> int:
    """Print what merging a candidate into a memory would leave, and how the two texts differ."""
    from workbench.cli.worddiff import word_diff

    candidate, target = bench.library.memories.get(id), bench.library.memories.get(into)
    text = candidate.content if take == "candidate" else None
    merged = bench.review.merged(bench.review.get(id), into, text)
    shown = Shown(bench, secrets=session.args.show_secrets)
    merged, difference = shown(merged), word_diff(shown(target.content), shown(candidate.content))
    if wants_json(session.args):
        write_json({"dry_run": True, "diff": difference, "merged": memory_json(merged)})
        shown.remark()
        return 0
    say(f"From {into} to {id}:")
    say(difference)
    say()
    whose = f"the text of {id}" if take == "candidate" else "its own text"
    say(f"{into} would stay {merged.status} and keep {whose}; {id} would be archived as merged. Nothing was changed.")
    shown.remark()
    return 0


def _card(bench: "Workbench", proposal: Proposal) -> "Card | None":
    """Return what a suggestion for a playbook would do to its bullets, as far as that can be told."""
    if not proposal.operation:
        return None
    try:
        return bench.curating.card_of(proposal)
    except WorkbenchError:
        return None


def _print_card(card: "Card", mask: Callable[[str], str]) -> None:
    """Print what would become of each bullet; `mask` goes over every text."""
    from workbench.cli.worddiff import word_diff

    if card.problem:
        _section("not possible now", [(card.problem,)])
    for bullet in card.touches:
        changed = card.after and card.after != bullet.content
        text = word_diff(mask(bullet.content), mask(card.after)) if changed else mask(bullet.content)
        say()
        say(f"{bullet.id}{' would change' if changed else ''}")
        say(f"  {text}")


def _evidence(bench: "Workbench", proposal: Proposal, *, quick: bool) -> "Evidence":
    if quick:
        return bench.review.known(proposal)
    line = ProgressLine("reading the memories", LONG)
    try:
        bench.retriever.load(line)
    except WorkbenchError as error:
        line.clear()
        warn(f"What is alike was not looked for: {error}")
        return bench.review.known(proposal)
    finally:
        line.clear()
    return bench.review.evidence(proposal)


def _row(proposal: Proposal, flagged: str, *, later: bool) -> tuple[str, ...]:
    flags = ", ".join((*(f"! {flag}" for flag in proposal.flags), *(("later",) if later else ())))
    label, at = describe(proposal).label, moment(proposal.created_at)
    return (proposal.id, label, at, f"{proposal.importance:g}", flags, flagged + one_line(proposal.title, SHOWN))


def _print(bench: "Workbench", proposal: Proposal, memory: "Memory | None", evidence: "Evidence", why: str) -> None:
    """Print a proposal and what speaks for and against it; `why` says why its memory is flagged."""
    words = describe(proposal)
    facts = [
        ("id", proposal.id),
        ("question", words.question),
        ("yes", words.yes),
        ("no", words.no),
        ("by", f"{proposal.actor}, {moment(proposal.created_at)}"),
        ("importance", f"{proposal.importance:g}"),
        ("similarity", "" if proposal.similarity is None else f"{proposal.similarity:.3f}"),
        *(("for", reason) for reason in words.pro),
        *(("!", flag) for flag in words.contra),
        ("⚑ flagged", why),
        ("put off until", moment(proposal.review_after) if proposal.review_after else ""),
    ]
    for text in table([(name, value) for name, value in facts if value]):
        say(text)
    say()
    say(_marked(bench, memory) if memory is not None else proposal.title)
    lines = proposal.operation.get("lines")
    for line in lines if isinstance(lines, list | tuple) else ():
        say(str(line))
    instead = proposal.operation.get("content")
    if isinstance(instead, str):
        say()
        say("proposed in its place:")
        say(instead)
    if not kind_of(proposal.kind).is_candidate and proposal.changes:
        _section("would change", [(c.id, ", ".join(c.fields)) for c in proposal.changes])
    _print_cited(bench, evidence)
    alike: tuple[tuple[Memory | Bullet, float], ...] = (*evidence.near, *evidence.near_bullets)
    _section("alike", [(one.id, f"{s:.2f}", one_line(_marked(bench, one), SHOWN)) for one, s in alike])
    rejected = [(t.rejected, t.similarity) for t in evidence.rejections]
    _section("rejected before", [(m.id, f"{s:.2f}", one_line(_marked(bench, m), SHOWN)) for m, s in rejected])
    against = [(c, bench.library.memories.find(c.other)) for c in evidence.against]
    marks = [(c, "" if other is None else unreviewed(bench, other)) for c, other in against]
    _section("may contradict", [(c.other, c.reason, one_line(mark + c.theirs, SHOWN)) for c, mark in marks])


def _marked(bench: "Workbench", record: "Memory | Bullet") -> str:
    """Return a text, for an agent with the mark of what nobody approved."""
    return unreviewed(bench, record) + record.content


def _print_cited(bench: "Workbench", evidence: "Evidence") -> None:
    for cited in evidence.cited:
        say()
        state = cited.gone or (f"now {cited.memory.id}" if cited.memory and cited.merged else "")
        say(f"rests on {cited.id}" + (f" · {state}" if state else ""))
        if cited.memory is not None:
            for text in _marked(bench, cited.memory).splitlines() or [""]:
                say(f"  {text}")
    deeper = [branch for branch in evidence.tree if branch.depth]
    if deeper:
        rows = [(_marked(bench, b.cited.memory) if b.cited.memory else b.cited.gone, b) for b in deeper]
        _section("which rest on", [("  " * (b.depth - 1) + b.cited.id, one_line(said, SHOWN)) for said, b in rows])


def _section(title: str, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say()
        say(title)
        for text in table(rows):
            say(f"  {text}")


def _json(proposal: Proposal) -> dict[str, object]:
    doc = plain(proposal)
    assert isinstance(doc, dict)
    words = describe(proposal)
    return {**doc, "label": words.label, "question": words.question}


def _evidence_json(bench: "Workbench", evidence: "Evidence") -> dict[str, object]:
    cited = [
        {"id": c.id, "gone": c.gone, "content": None}
        if c.memory is None
        else {"id": c.id, "gone": c.gone, "content": c.memory.content, **review_json(bench, c.memory)}
        for c in evidence.cited
    ]
    near: list[tuple[str, str, Memory | Bullet, float]] = [("memories", m.id, m, s) for m, s in evidence.near]
    near += [("bullets", f"{b.book}/{b.id}", b, s) for b, s in evidence.near_bullets]
    return {
        "cited": cited,
        "tree": [{"id": b.cited.id, "depth": b.depth, "gone": b.cited.gone} for b in evidence.tree],
        "searched": evidence.searched,
        "near": [
            {"table": table, "id": id, "content": one.content, "similarity": s, **review_json(bench, one)}
            for table, id, one, s in near
        ],
        "rejections": [
            {
                "id": t.rejected.id,
                "content": t.rejected.content,
                "similarity": t.similarity,
                **review_json(bench, t.rejected),
            }
            for t in evidence.rejections
        ],
        "contradictions": plain(evidence.against),
    }
