"""`workbench review`: the queue of proposals on the command line, and the ways to decide on them."""

import difflib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import cut, moment, plain, say, say_table, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_keep, add_limit, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.safety.flags import Shown, add_secrets, reasons, review_json, sign, unreviewed
from workbench.cli.session import Session, keeps
from workbench.core.record import InvalidQuery, UnknownRecord, WorkbenchError
from workbench.core.review.describe import describe
from workbench.core.review.kinds import IMPORTANT, KINDS, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.text import clean_for_store, counted, one_line

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.playbook.curation import Card
    from workbench.services.review.queue import Evidence


# `workbench review list` and `show`: what waits for a decision, and what it rests on.


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
    say_table(rows, right=(3,))
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
    say_table([(name, value) for name, value in facts if value])
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


DEFAULT = 50

LISTED = 10
"""Proposals of a filter that are listed before somebody agrees."""

_REVIEW = """What reflections, agents and upkeep propose waits in one queue. Nothing of it is served to an agent until
somebody approves it. Several ids are decided together: all of them, or none when one cannot be."""

_FOUND = "what is worked out now and stored nowhere: near copies, prunes, files that changed, what is not trusted yet"

_LIST = """FILTER is the filter language of the Stream, on the memories; other words are looked for in the text, the
tags, the kind and the flags. Flagged ones come first, then the important, then the oldest, then
prunes, the least important first; put-off ones last."""

_MERGE = """INTO keeps its id, text, status and date. The candidate ID adds its votes, tags and citations, and is
archived as merged; its id goes on as another name of INTO. `workbench undo` separates them."""

_PROMOTE = """TARGET is one of
  playbook:SECTION   a bullet in that section of the playbook (BOOK/SECTION when there are several)
  CLAUDE.md          an entry in the managed block of that file of the project; AGENTS.md likewise
  memory             a memory file of its own, with its line in MEMORY.md (memory:DIR says where)
  skill              .claude/skills/NAME/SKILL.md (skill:DIR puts it elsewhere)
  PATH               an entry in the managed block of any Markdown file, from the working directory
What a candidate or a signal says is approved first. Nothing outside the managed block is touched. `workbench undo`
takes back both the record and the files."""


_ONE, _MANY = "mem-20261121-0000001", '--kind prune --found --yes --reason "still used"'


def add_commands(commands: Commands) -> None:
    """Add `review` and what is below it."""

    review = add_command(
        commands, "review", list_queue, "decide on what waits in Review", _REVIEW,
        example="approve mem-20261121-0000001",
    )  # fmt: skip
    review.set_defaults(filter=[], limit=DEFAULT, kind=None, found=False, json=False, show_secrets=False)
    verbs = review.add_subparsers(title="what to do", metavar="VERB", prog=review.prog, parser_class=Parser)
    listing = add_command(
        verbs, "list", list_queue, "list what waits, in the order of the queue", _LIST, example="type:error --found"
    )
    listing.add_argument("filter", metavar="FILTER", nargs="*", help="which ones (default: all)")
    listing.takes_filter = True
    add_limit(listing, DEFAULT)
    listing.add_argument("--kind", metavar="KIND", help="only these: reflection, merge, prune, confirm, …")
    listing.add_argument("--found", action="store_true", help=f"and {_FOUND}")
    show = add_command(
        verbs, "show", show_proposal, "print a proposal in full, with its evidence", example="mem-20261121-0000001"
    )
    show.add_argument("id", metavar="ID")
    show.add_argument("--quick", action="store_true", help="leave out what the search model would find")
    _add_decision(verbs, "approve", approve, "accept proposals: a candidate is confirmed, a merge is made", _ONE)
    _add_decision(
        verbs, "reject", reject, "reject proposals; what is rejected stays archived and is not proposed again", _MANY
    )
    _add_decision(verbs, "keep-old", keep_old, "keep the old one of two memories, and archive the newer", _ONE)
    _add_decision(verbs, "later", put_off, "put decisions off for a week", _ONE)
    _add_merge(verbs)
    _add_promotion(verbs)
    for verb in (listing, show):
        add_secrets(verb)
        add_json(verb)


def _add_promotion(verbs: Commands) -> None:
    from workbench.cli.promotion import promote

    promoting = add_command(
        verbs, "promote", promote, "approve and write to where agents read", _PROMOTE,
        example="mem-20261121-0000001 --to CLAUDE.md --dry-run",
    )  # fmt: skip
    promoting.add_argument("ids", metavar="ID", nargs="+", help="candidates, signals or confirmed memories")
    promoting.add_argument("--to", metavar="TARGET", required=True, help="where to, one of those listed above")
    section = "a file: the heading that the entry goes under, or those that lead to it, parted by >"
    promoting.add_argument("--section", metavar="HEADING", default="", help=section)
    promoting.add_argument("--title", metavar="TEXT", default="", help="memory, skill: its title")
    promoting.add_argument("--name", metavar="NAME", default="", help="memory, skill: its file's or folder's name")
    promoting.add_argument("--about", metavar="TEXT", default="", help="memory, skill: one line on what it is about")
    promoting.add_argument("--outside", action="store_true", help="agree to a file outside the project")
    promoting.add_argument("--dry-run", action="store_true", help="only show what would be written")
    _add_reason(promoting, "the reason, the title and --about")
    add_json(promoting)


def _add_merge(verbs: Commands) -> None:
    merging = add_command(
        verbs, "merge", merge, "merge a candidate into a memory, which stays what it is", _MERGE,
        example="mem-20261121-0000002 mem-20261121-0000001 --dry-run",
    )  # fmt: skip
    merging.add_argument("id", metavar="ID")
    merging.add_argument("into", metavar="INTO")
    about = "whose text is left: the memory's own (target, the default) or the candidate's"
    merging.add_argument("--text", choices=("target", "candidate"), default="target", help=about)
    merging.add_argument("--dry-run", action="store_true", help="only show the difference between both texts")
    add_secrets(merging)
    _add_reason(merging)
    add_json(merging)


def approve(session: Session) -> int:
    return _decide(session, "Approved", lambda bench, ids: bench.review.approve(ids), approving=True)


def reject(session: Session) -> int:
    """Turn down."""
    reason, kept = _reason(session), keeps(session.args)
    with session.changing() as bench:
        ids = _asked(session, bench)
        names = _names(bench, ids)
        group = bench.review.reject(ids, reason, bench.safety.keep_typed if kept else None)
    return _report(session, "Rejected", names, group=group)


def keep_old(session: Session) -> int:
    """Keep the older one of two that contradict each other."""
    return _decide(session, "Kept the older one of", lambda bench, ids: bench.review.keep_old(ids))


def put_off(session: Session) -> int:
    return _decide(session, "Put off", lambda bench, ids: bench.review.later(ids))


def merge(session: Session) -> int:
    """Merge a candidate into a memory, or only show what that would do to its text."""
    into, id, take = session.args.into, session.args.id, session.args.text
    if session.args.dry_run:
        with session.reading() as bench:
            (id,) = _waiting(bench, [id])
            _require_target(bench, into)
            return show_merge(session, bench, id, into, take)

    def carry_out(bench: "Workbench", ids: Sequence[str]) -> None:
        _require_target(bench, into)
        text = bench.library.memories.get(ids[0]).content if take == "candidate" else None
        bench.review.merge_into(ids[0], into, text)

    return _decide(session, f"Merged into {into}:", carry_out, [session.args.id])


def _require_target(bench: "Workbench", into: str) -> None:
    if into not in bench.library.memories:
        raise UnknownRecord(f"There is no memory {into} to merge into.", "Nothing was changed.")


def _add_decision(verbs: Commands, name: str, handler: Callable[[Session], int], help: str, example: str) -> None:
    parser = add_command(verbs, name, handler, help, example=example)
    parser.add_argument("ids", metavar="ID", nargs="*")
    about = "in place of ids: every proposal that this filter lets through, as in `review list`"
    parser.add_argument("--filter", metavar="TEXT", default="", help=about)
    parser.add_argument("--kind", metavar="KIND", help="in place of ids: every proposal of this kind")
    parser.add_argument("--found", action="store_true", help=f"with --filter and --kind: {_FOUND}, too")
    parser.add_argument("--yes", action="store_true", help="decide all that --filter and --kind name")
    _add_reason(parser)
    add_json(parser)


def _add_reason(parser: Parser, typed: str = "the reason") -> None:
    parser.add_argument("--reason", metavar="TEXT", default="", help="why; it is kept in the history")
    add_keep(parser, typed)


def _decide(
    session: Session,
    done: str,
    carry_out: "Callable[[Workbench, Sequence[str]], None]",
    asked: Sequence[str] | None = None,
    *,
    approving: bool = False,
) -> int:
    """Carry a decision out as one action, whose label names the reason."""
    reason, verb, kept = _reason(session), carry_out, keeps(session.args)
    with session.changing() as bench:
        ids = _asked(session, bench, approving=approving) if asked is None else _waiting(bench, asked)
        names = _names(bench, ids)
        if not reason:
            verb(bench, ids)
        else:
            what = done.removesuffix(":")
            what = what[:1].lower() + what[1:]
            label = f"{what} {names[0] if len(names) == 1 else counted(len(names), 'proposal')}"
            group = bench.review.origin(ids) if approving else ""
            # Nothing is masked in what comes from a file, so the reason is before.
            said = bench.safety.masked(reason) if group else reason
            with bench.library.transaction(bench.context.actor, f"{label}: {said}", group=group):
                verb(bench, ids)
                if kept:
                    bench.safety.keep_typed(reason)
    return _report(session, done, names)


def _asked(session: Session, bench: "Workbench", *, approving: bool = False) -> list[str]:
    """Return the ids that were given, or those of a filter; raises `WorkbenchError` for a filter nobody agreed to.

    What is approved one by one only is left out of those of a filter.
    """

    args = session.args
    chosen = bool(args.filter.strip() or args.kind)
    if chosen == bool(args.ids):
        raise InvalidQuery("Name ids, or --filter and --kind, and not both.", "Nothing was changed.")
    if not chosen:
        return _waiting(bench, args.ids)
    every = matching(bench, args.filter, args.kind, found=args.found)
    alone = [p for p in every if approving and group_of(p) == IMPORTANT.id]
    found = [p for p in every if p not in alone]
    if alone:
        warn(f"Left out: {counted(len(alone), 'memory', 'memories')} of importance 8 or more; archive those by ID.")
    if not found:
        raise InvalidQuery("No proposal matches.", "Nothing was changed; `workbench review list` shows what waits.")
    if not args.yes:
        print_rows(bench, found[:LISTED])
        what = counted(len(found), "proposal")
        more = f", of which the first {LISTED} are listed" if len(found) > LISTED else ""
        raise InvalidQuery(f"Nothing was decided yet: this is about {what}{more}.", "Add --yes to decide all of them.")
    return [proposal.id for proposal in found]


def _reason(session: Session) -> str:
    return " ".join(clean_for_store(session.args.reason).split())


def _waiting(bench: "Workbench", asked: Sequence[str]) -> list[str]:
    """Return the ids, each once, of what is called so; raises `UnknownRecord` for what waits for nothing."""

    ids = []
    for id in asked:
        try:
            ids.append(opened(bench, id).id)
        except UnknownRecord as error:
            raise UnknownRecord(error.message, f"Nothing was changed. {_hint(bench, id)}") from error
    return list(dict.fromkeys(ids))


def _names(bench: "Workbench", ids: Sequence[str]) -> list[str]:
    from workbench.services.safety.masking import masked_name

    return [masked_name(id, bench.safety.masked) for id in ids]


def _hint(bench: "Workbench", id: str) -> str:
    """Say what an id that is not in the queue may be."""
    memory = bench.library.memories.find(id)
    if memory is not None:
        why = f" ({memory.archived_reason})" if memory.archived_reason else ""
        return f"That memory is {memory.status}{why}."
    decided = bench.library.proposals.find(id)
    if decided is not None:
        return f"That proposal was {decided.state} already."
    near = difflib.get_close_matches(id, [p.id for p in bench.review.queue()], n=1)
    return f"Did you mean {near[0]}?" if near else "`workbench review list` shows what waits."


def _report(session: Session, done: str, ids: Sequence[str], **more: str) -> int:
    if wants_json(session.args):
        write_json({"done": done.removesuffix(":").lower(), "ids": ids, **more})
    else:
        say(f"{done} {ids[0] if len(ids) == 1 else counted(len(ids), 'proposal')}. `workbench undo` takes it back.")
    return 0
