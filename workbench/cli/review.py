"""`workbench review`: the queue of proposals on the command line, and the ways to decide on them."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import cut, moment, picked, plain, say, shortened, table, warn, word_diff
from workbench.cli.parsing import add_keep, path_of
from workbench.cli.progress import read_memories
from workbench.cli.session import keeps
from workbench.cli.verbs import (
    UNDO,
    Answer,
    Call,
    Option,
    Shown,
    Verb,
    changing,
    flag,
    reasons,
    review_json,
    sign,
    text,
    unless_dry,
    unreviewed,
    value,
)
from workbench.core.record import InvalidQuery, UnknownRecord, WorkbenchError, as_list
from workbench.core.review.describe import describe
from workbench.core.review.kinds import IMPORTANT, KINDS, group_of, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.team import is_address
from workbench.core.text import clean_for_store, counted, one_line

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.promotion.promotion import PromotionPlan, Target
    from workbench.services.review.queue import Evidence


# `workbench review list` and `show`: what waits for a decision, and what it rests on.


SHOWN = 200
"""Cells of a text that is not the one that is asked about."""


def list_queue(call: Call) -> Answer:
    args, bench, shown = call.args, call.bench, call.shown
    found = matching(bench, " ".join(args.filter), args.kind, found=args.found)
    worked_out = {proposal.id for proposal in bench.review.found()} if args.found else set()
    listed = cut(found, args.limit)
    json = [
        {**_json(shown(p)), **({"stored": p.id not in worked_out} if args.found else {})}
        for p in listed
    ]
    remarks = []
    if not found and (waiting := len(bench.review.queue())):
        remarks = [f"No proposal matches; {counted(waiting, 'proposal')} in all."]
    elif not found:
        remarks = [
            "Nothing waits in Review. `workbench reflect` and `workbench upkeep` make proposals."
        ]
    return Answer(json, lambda: rows_of(bench, listed, shown), remarks)


def matching(
    bench: "Workbench", text: str, kind: str | None, *, found: bool = False
) -> tuple[Proposal, ...]:
    """Return what waits and a filter and a kind let through; with `found`, what is worked out now,
    too.

    Raises `InvalidQuery`.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidQuery(f"Unknown kind “{kind}”.", f"There are: {', '.join(KINDS)}.")
    if found:
        work_out(bench, () if kind is None else (kind,))
    waiting = (*bench.review.queue(), *(bench.review.found() if found else ()))
    return tuple(p for p in bench.review.matching(waiting, text) if kind in (None, p.kind))


def work_out(bench: "Workbench", kinds: Sequence[str]) -> None:
    """Work out what waits without being stored, of these kinds or of all; what could not be is
    said.
    """
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


def rows_of(bench: "Workbench", proposals: Sequence[Proposal], shown: Shown) -> list[str]:
    """Return proposals, a line each."""
    from workbench.services.review.queue import is_put_off

    now, rows = bench.context.now(), []
    for stored in proposals:
        p, signs = shown(stored), sign(bench, bench.review.memory(stored))
        later = ("later",) if is_put_off(stored, now) else ()
        flags = ", ".join((*(f"! {flag}" for flag in p.flags), *later))
        about = (describe(p).label, moment(p.created_at), f"{p.importance:g}", flags)
        rows.append((p.id, *about, signs + one_line(p.title, SHOWN)))
    return table(rows, right=(3,))


def show_proposal(call: Call) -> Answer:
    """Print one proposal, the texts it is about, and everything that speaks for or against it."""
    args, bench, shown = call.args, call.bench, call.shown
    try:
        proposal = bench.review.get(opened(bench, args.id).id)
    except UnknownRecord as error:
        raise UnknownRecord(error.message, "`workbench review list` shows what waits.") from error
    memory = bench.review.memory(proposal)
    evidence = _evidence(bench, proposal, quick=args.quick)

    def json() -> dict[str, object]:
        told = (
            None if memory is None else {**memory_json(shown(memory)), **review_json(bench, memory)}
        )
        found = _evidence_json(bench, shown(evidence))
        return {**_json(shown(proposal)), "memory": told, "evidence": found}

    return Answer(json, lambda: _lines(call, proposal, memory, evidence))  # fmt: skip


def show_merge(call: Call, id: str) -> Answer:
    """Print what merging a candidate into a memory would leave, and how the two texts differ."""
    bench, shown, into, take = call.bench, call.shown, call.args.into, call.args.text
    candidate, target = bench.library.memories.get(id), bench.library.memories.get(into)
    text = candidate.content if take == "candidate" else None
    merged = shown(bench.review.merged(bench.review.get(id), into, text))
    difference = word_diff(shown(target.content), shown(candidate.content))
    whose = f"the text of {id}" if take == "candidate" else "its own text"
    last = f"{into} would stay {merged.status} and keep {whose}; {id} would be archived as merged. Nothing was changed."
    json = {"dry_run": True, "diff": difference, "merged": memory_json(merged)}
    return Answer(json, [f"From {into} to {id}:", difference, "", last])


def _card_lines(call: Call, proposal: Proposal) -> Iterator[str]:
    """Yield what a suggestion for a playbook would do to its bullets, as far as that can be told."""
    if not proposal.operation:
        return
    try:
        card = call.bench.curating.card_of(proposal)
    except WorkbenchError:
        return
    if card.problem:
        yield from _section("not possible now", [(card.problem,)])
    for bullet in card.touches:
        now, then = call.shown(bullet.content), call.shown(card.after)
        changed = card.after and card.after != bullet.content
        yield ""
        yield f"{bullet.id}{' would change' if changed else ''}"
        yield f"  {word_diff(now, then) if changed else now}"


def _evidence(bench: "Workbench", proposal: Proposal, *, quick: bool) -> "Evidence":
    if quick:
        return bench.review.known(proposal)
    try:
        read_memories(bench)
    except WorkbenchError as error:
        warn(f"Similar memories were not searched: {error}")
        return bench.review.known(proposal)
    return bench.review.evidence(proposal)


def _lines(
    call: Call, stored: Proposal, about: "Memory | None", known: "Evidence"
) -> Iterator[str]:
    """Yield a proposal and what speaks for and against it."""
    bench, shown = call.bench, call.shown
    proposal, memory, evidence = shown(stored), shown(about), shown(known)
    find, words = bench.library.memories.find, describe(proposal)
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
        ("⚑ flagged", "" if about is None else reasons(about)),
        ("put off until", moment(proposal.review_after) if proposal.review_after else ""),
    ]
    yield from table([(name, value) for name, value in facts if value])
    yield ""
    yield proposal.title if memory is None else _marked(bench, memory)
    yield from map(str, as_list(proposal.operation.get("lines")))
    instead = proposal.operation.get("content")
    if isinstance(instead, str):
        yield from ("", "proposed in its place:", instead)
    if not kind_of(proposal.kind).is_candidate:
        yield from _section("would change", [(c.id, ", ".join(c.fields)) for c in proposal.changes])
    yield from _cited_lines(bench, evidence)
    alike: tuple[tuple[Memory | Bullet, float], ...] = (*evidence.near, *evidence.near_bullets)
    rejected = [(t.rejected, t.similarity) for t in evidence.rejections]
    for title, some in (("alike", alike), ("rejected before", rejected)):
        rows = [(one.id, f"{s:.2f}", one_line(_marked(bench, one), SHOWN)) for one, s in some]
        yield from _section(title, rows)
    rows = []
    for against in evidence.against:
        other = find(against.other)
        mark = "" if other is None else unreviewed(bench, other)
        rows.append((against.other, against.reason, one_line(mark + against.theirs, SHOWN)))
    yield from _section("may contradict", rows)
    yield from _card_lines(call, stored)


def _marked(bench: "Workbench", record: "Memory | Bullet") -> str:
    """Return a text, for an agent with the mark of what nobody approved."""
    return unreviewed(bench, record) + record.content


def _cited_lines(bench: "Workbench", evidence: "Evidence") -> Iterator[str]:
    for cited in evidence.cited:
        state = cited.gone or (f"now {cited.memory.id}" if cited.memory and cited.merged else "")
        yield ""
        yield f"cites {cited.id}{' · ' if state else ''}{state}"
        if cited.memory is not None:
            for text in _marked(bench, cited.memory).splitlines() or [""]:
                yield f"  {text}"
    rows = []
    for branch in evidence.tree:
        memory = branch.cited.memory
        said = _marked(bench, memory) if memory else branch.cited.gone
        if branch.depth:
            rows.append(("  " * (branch.depth - 1) + branch.cited.id, one_line(said, SHOWN)))
    yield from _section("which cite", rows)


def _section(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from (f"  {line}" for line in table(rows))


def _json(proposal: Proposal) -> dict[str, object]:
    doc = plain(proposal)
    assert isinstance(doc, dict)
    words = describe(proposal)
    return {**doc, "label": words.label, "question": words.question}


def _evidence_json(bench: "Workbench", evidence: "Evidence") -> dict[str, object]:
    def row(one: "Memory | Bullet", **more: object) -> dict[str, object]:
        return {**picked(one, "id", "content"), **more, **review_json(bench, one)}

    near = [{"table": "memories", **row(one, similarity=s)} for one, s in evidence.near]
    for bullet, s in evidence.near_bullets:
        name = {"id": f"{bullet.book}/{bullet.id}"}
        near.append({"table": "bullets", **row(bullet, similarity=s), **name})
    return {
        "cited": [
            {**picked(c, "id", "gone"), "content": None}
            | (review_json(bench, c.memory) | picked(c.memory, "content") if c.memory else {})
            for c in evidence.cited
        ],
        "tree": [{"id": b.cited.id, "depth": b.depth, "gone": b.cited.gone} for b in evidence.tree],
        "searched": evidence.searched,
        "near": near,
        "rejections": [row(t.rejected, similarity=t.similarity) for t in evidence.rejections],
        "contradictions": evidence.against,
    }


LISTED = 10
"""Proposals of a filter that are listed before somebody agrees."""

_REVIEW = """Proposals of reflections, agents and upkeep wait in one queue; agents are not served any of them
until you approve them. Several ids are decided together: all of them, or none if one cannot be."""

_FOUND = "suggestions computed now and not stored: near duplicates, prunes, changed files, untrusted data"

_LIST = """FILTER is the filter language of the Stream, applied to the memories; other words are searched for
in the text, tags, kind and flags. Order: flagged, important, oldest, prunes (least important
first), and last those put off."""

_MERGE = """INTO keeps its id, text, status and date. The candidate ID adds its votes, tags and citations, and
is archived as merged; its id becomes an alias of INTO. `workbench undo` separates them."""

_PROMOTE = """TARGET is one of
  playbook:SECTION   a bullet in that section of the playbook (BOOK/SECTION when there are several)
  CLAUDE.md          an entry in the managed block of that file of the project; AGENTS.md likewise
  memory             a memory file of its own, with its line in MEMORY.md (memory:DIR says where)
  skill              .claude/skills/NAME/SKILL.md (skill:DIR puts it elsewhere)
  PATH               an entry in the managed block of any Markdown file, relative to the working directory
  team               a candidate in the Review of your team's store (its address when there are several)

A candidate or signal is approved first. Nothing outside the managed block changes. `workbench undo` takes back both
the record and the files."""


def approve(call: Call) -> Answer:
    return _decide(call, "Approved", call.bench.review.approve, approving=True)


def reject(call: Call) -> Answer:
    """Turn down."""
    reason, bench = _reason(call), call.bench
    kept = keeps(call.args)
    ids = _asked(call)
    names = _names(bench, ids)
    group = bench.review.reject(ids, reason, bench.safety.keep_typed if kept else None)
    return _done("Rejected", names, group=group)


def keep_old(call: Call) -> Answer:
    """Keep the older one of two that contradict each other."""
    return _decide(call, "Kept the older one of", call.bench.review.keep_old)


def put_off(call: Call) -> Answer:
    return _decide(call, "Put off", call.bench.review.later)


def merge(call: Call) -> Answer:
    """Merge a candidate into a memory, or only show what that would do to its text."""
    bench, into, id = call.bench, call.args.into, call.args.id
    if call.args.dry_run:
        (id,) = _waiting(bench, [id])
        _require_target(bench, into)
        return show_merge(call, id)

    def carry_out(ids: Sequence[str]) -> None:
        _require_target(bench, into)
        text = bench.library.memories.get(ids[0]).content if call.args.text == "candidate" else None
        bench.review.merge_into(ids[0], into, text)

    return _decide(call, f"Merged into {into}:", carry_out, [id])


def _require_target(bench: "Workbench", into: str) -> None:
    if into not in bench.library.memories:
        raise UnknownRecord(f"There is no memory {into} to merge into.", "Nothing was changed.")


def _decide(
    call: Call,
    done: str,
    carry_out: Callable[[Sequence[str]], None],
    asked: Sequence[str] | None = None,
    *,
    approving: bool = False,
) -> Answer:
    """Carry a decision out as one action, whose label names the reason."""
    reason, kept, bench = _reason(call), keeps(call.args), call.bench
    ids = _asked(call, approving=approving) if asked is None else _waiting(bench, asked)
    names = _names(bench, ids)
    if not reason:
        carry_out(ids)
    else:
        what = done.removesuffix(":")
        what = what[:1].lower() + what[1:]
        label = f"{what} {names[0] if len(names) == 1 else counted(len(names), 'proposal')}"
        group = bench.review.origin(ids) if approving else ""
        # Nothing is masked in what comes from a file, so the reason is before.
        said = bench.safety.masked(reason) if group else reason
        with bench.context.transaction(f"{label}: {said}", group=group):
            carry_out(ids)
            if kept:
                bench.safety.keep_typed(reason)
    return _done(done, names)


def _asked(call: Call, *, approving: bool = False) -> list[str]:
    """Return the ids that were given, or those of a filter; raises `WorkbenchError` for a filter
    nobody agreed to.

    What is approved one by one only is left out of those of a filter.
    """
    args, bench = call.args, call.bench
    chosen = bool(args.filter.strip() or args.kind)
    if chosen == bool(args.ids):
        raise InvalidQuery(
            "Name ids, or --filter and --kind, and not both.", "Nothing was changed."
        )
    if not chosen:
        return _waiting(bench, args.ids)
    every = matching(bench, args.filter, args.kind, found=args.found)
    alone = [p for p in every if approving and group_of(p) == IMPORTANT.id]
    found = [p for p in every if p not in alone]
    if alone:
        warn(
            f"Skipped: {counted(len(alone), 'memory', 'memories')} of importance 8 or more; archive them by ID."
        )
    if not found:
        raise InvalidQuery(
            "No proposal matches.", "Nothing was changed; `workbench review list` shows what waits."
        )
    if not args.yes:
        for line in rows_of(bench, found[:LISTED], call.shown):
            say(line)
        call.shown.remark()
        what = counted(len(found), "proposal")
        more = f", of which the first {LISTED} are listed" if len(found) > LISTED else ""
        raise InvalidQuery(
            f"Nothing was decided yet: this concerns {what}{more}.",
            "Add --yes to decide all of them.",
        )
    return [proposal.id for proposal in found]


def _reason(call: Call) -> str:
    return " ".join(clean_for_store(call.args.reason).split())


def _waiting(bench: "Workbench", asked: Sequence[str]) -> list[str]:
    """Return the ids, each once, of what is called so; raises `UnknownRecord` for what waits for
    nothing.
    """

    ids = []
    for id in asked:
        try:
            ids.append(opened(bench, id).id)
        except UnknownRecord as error:
            raise UnknownRecord(
                error.message, f"Nothing was changed. {_hint(bench, id)}"
            ) from error
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
        return f"That proposal was already {decided.state}."
    near = difflib.get_close_matches(id, [p.id for p in bench.review.queue()], n=1)
    return f"Did you mean {near[0]}?" if near else "`workbench review list` shows what waits."


def _done(done: str, ids: Sequence[str], **more: str) -> Answer:
    what = ids[0] if len(ids) == 1 else counted(len(ids), "proposal")
    json = {"done": done.removesuffix(":").lower(), "ids": ids, **more}
    return Answer(json, [f"{done} {what}. {UNDO}"])


# `workbench review promote`: from Review to a playbook, to the files that agents read, or to a
# skill.


DIFF_SHOWN = 40
"""Lines of a difference that are shown after writing; a dry run shows all."""

_NOTHING = "Nothing was written."


def promote(call: Call) -> Answer:
    """Show what is written, and write it unless it is a dry run."""
    args, bench = call.args, call.bench
    kept, dry = keeps(args), args.dry_run
    plan = bench.promotion.plan([_memory(bench, id) for id in args.ids], _target(call))
    if not dry:
        if plan.outside and not args.outside:
            hint = f"{_NOTHING[:-1]}; --outside allows that."
            raise WorkbenchError(f"{plan.outside[0]} lies outside the project.", hint)
        typed = (_reason(call), args.title, args.about) if kept else ()
        bench.promotion.carry_out(plan, outside=args.outside, reason=_reason(call), keep=typed)
    asks = [f"{path} lies outside the project; --outside allows that." for path in plan.outside]
    asks += [f"{held.line} `workbench allow {held.id}` allows it." for held in plan.flagged]
    asks += [f"{id} is approved by this." for id in plan.approves]
    return Answer(
        _promotion_json(plan, dry=dry),
        _promotion_lines(plan, dry=dry),
        [*plan.warnings, *(asks if dry else ())],
    )


def _target(call: Call) -> "Target":
    from workbench.services.promotion.promotion import Target

    args = call.args
    kind, colon, where = args.to.partition(":")
    titles = {"title": args.title, "slug": args.name, "about": args.about}
    if args.to == "team" or is_address(args.to):
        return Target("team", _team(args.to))
    if kind in ("memory", "skill") and (colon or not where):
        if args.section:
            raise WorkbenchError("--section needs an existing file.", _NOTHING)
        folder = str(call.path(path_of(where))) if where else ""
        return Target(kind, folder, **titles, kept=bool(args.keep))
    if kind == "playbook" and colon:
        if args.section:
            raise WorkbenchError(
                "--section is for files.",
                "For a playbook use playbook:SECTION. Nothing was written.",
            )
        target = Target("playbook", where)
    else:
        target = Target("block", _file(call), section=args.section)
    if any(titles.values()):
        raise WorkbenchError("--title and --name are for memory files and skills.", _NOTHING)
    return target


def _team(named: str) -> str:
    """Return the address of the team's store that is meant."""
    from workbench.services.team.reach import addresses

    known = addresses()
    if named != "team":
        return named
    if len(known) != 1:
        hint = "Give its address." if known else "Connect once: workbench --store ADDRESS."
        raise WorkbenchError(f"This machine knows {counted(len(known), 'store')} of a team.", hint)
    return known[0]


def _file(call: Call) -> str:
    """Return the file that is meant: the project's own by its usual name, any other from the
    working directory.
    """
    from workbench.services.promotion.promotion import USUAL_FILES

    name = call.args.to
    if name in USUAL_FILES and call.bench.promotion.places.project is not None:
        return str(name)
    try:
        return str(call.path(path_of(name)))
    except RuntimeError as error:
        raise WorkbenchError(f"{name} names an unknown home folder.", _NOTHING) from error


def _memory(bench: "Workbench", id: str) -> str:
    """Return the memory that an id means: its own, or that of the one a proposal is about."""
    if id in bench.library.memories:
        return id
    try:
        memory = bench.review.memory(bench.review.get(id))
    except UnknownRecord as error:
        hint = "Nothing was changed; `workbench review list` and `workbench list` list them."
        raise UnknownRecord(f"There is no memory or proposal {id}.", hint) from error
    if memory is None:
        raise WorkbenchError(
            f"The proposal {id} does not concern a memory.", "Nothing was changed."
        )
    return memory.id


def _promotion_lines(plan: "PromotionPlan", *, dry: bool) -> Iterator[str]:
    from workbench.services.promotion.promotion import size_said

    for edit in plan.edits:
        yield f"--- {edit.name}"
        yield f"+++ {edit.name}, promoted to"
        yield from shortened(edit.lines(), None if dry else DIFF_SHOWN)
    yield from map(size_said, plan.sizes)
    many = counted(len(plan.ids), "memory", "memories")
    what, to = plan.ids[0] if len(plan.ids) == 1 else many, ", ".join(plan.to)
    if dry:
        yield f"{what} would be promoted to {to}. {_NOTHING}"
    else:
        yield f"Promoted {what} to {to}. {UNDO}"


def _promotion_json(plan: "PromotionPlan", *, dry: bool) -> dict[str, object]:
    return {
        "dry_run": dry,
        **picked(plan, "ids", "to", "approves", "text"),
        "changes": [
            {"name": edit.name, "diff": [str(line) for line in edit.lines()]} for edit in plan.edits
        ],
        "outside": plan.outside,
        "flagged": [held.id for held in plan.flagged],
        "warnings": plan.warnings,
        "sizes": [
            {
                **picked(size, "file", "tokens"),
                "limit": size.most // 4 or None,
                "bytes": size.bytes,
                "limit_bytes": size.most or None,
            }
            for size in plan.sizes
        ],
    }


OPTIONS: Mapping[str, Option] = {
    "ids": {"metavar": "ID"},
    "ids+:promoted": value("ID", "candidates, signals or confirmed memories"),
    "--kind:list": value("KIND", "only these: reflection, merge, prune, confirm, …"),
    "--found:list": flag(f"and {_FOUND}"),
    "--quick": flag("skip the search for similar memories"),
    "--filter": text("instead of ids: every proposal that matches this filter, as in `review list`"),
    "--kind": value("KIND", "instead of ids: every proposal of this kind"),
    "--found": flag(f"with --filter and --kind: {_FOUND}, too"),
    "--yes": flag("decide all that match --filter and --kind"),
    "--reason": text("why; kept in the history"),
    "keep": partial(add_keep, what="the reason"),
    "keep:promoted": partial(add_keep, what="the reason, the title and --about"),
    "--text": {
        "choices": ("target", "candidate"), "default": "target",
        "help": "which text to keep: the memory's (target, the default) or the candidate's",
    },
    "--dry-run": flag("show the difference between the texts, without merging"),
    "--to": value("TARGET", "the target, one of those listed above"),
    "--section": text("files: the heading for the entry, or a path of headings separated by >",
                      "HEADING"),
    "--title": text("memory, skill: its title"),
    "--name": text("memory, skill: the name of its file or folder", "NAME"),
    "--about": text("memory, skill: a one-line description"),
    "--outside": flag("allow a file outside the project"),
    "--dry-run:promoted": flag("show what would be written, without writing it"),
}  # fmt: skip

_DECISION = "ids* --filter --kind --found --yes --reason keep --json"

_ONE, _MANY = "mem-20261121-0000001", '--kind prune --found --yes --reason "still used"'

_VERBS = (
    Verb("list", list_queue, "list proposals in queue order",
         "filter limit=50 --kind:list --found:list --show-secrets --json", _LIST, "type:error --found"),
    Verb("show", show_proposal, "print a proposal in full, with its evidence",
         "id --quick --show-secrets --json", "", "mem-20261121-0000001"),
    Verb("approve", approve, "accept proposals: confirm candidates, carry out merges", _DECISION, "", _ONE,
         changing),
    Verb("reject", reject, "reject proposals; they are archived and not proposed again",
         _DECISION, "", _MANY, changing),
    Verb("keep-old", keep_old, "keep the older of two memories and archive the newer", _DECISION, "", _ONE,
         changing),
    Verb("later", put_off, "postpone decisions for a week", _DECISION, "", _ONE, changing),
    Verb("merge", merge, "merge a candidate into a memory",
         "id into --text --dry-run --show-secrets --reason keep --json", _MERGE,
         "mem-20261121-0000002 mem-20261121-0000001 --dry-run", unless_dry),
    Verb("promote", promote, "approve and write to files agents read",
         "ids+:promoted --to! --section --title --name --about --outside --dry-run:promoted --reason keep:promoted "
         "--json", _PROMOTE, "mem-20261121-0000001 --to CLAUDE.md --dry-run", unless_dry),
)  # fmt: skip

VERBS = (
    Verb("review", list_queue, "decide proposals in Review", "", _REVIEW, "approve mem-20261121-0000001",
         below=_VERBS),
)  # fmt: skip
