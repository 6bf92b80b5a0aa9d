"""`workbench review`: the queue of proposals on the command line, and the ways to decide on them."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.cli.describe import memory_json
from workbench.cli.output import cut, moment, plain, say, say_table, table, warn
from workbench.cli.parsing import Commands, Parser, add_command, add_keep, add_limit, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.safety.flags import Shown, reasons, review_json, sign, unreviewed
from workbench.cli.session import keeps
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    add_verb,
    add_words,
    changing,
    flag,
    text,
)
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


def list_queue(call: Call) -> Answer:
    args, bench = call.args, call.bench
    waiting = len(bench.review.queue())
    found = matching(bench, " ".join(args.filter), args.kind, found=args.found)
    worked_out = (
        frozenset(proposal.id for proposal in bench.review.found()) if args.found else frozenset()
    )
    shown = cut(found, args.limit)
    stored = [{"stored": proposal.id not in worked_out} if args.found else {} for proposal in shown]
    json = [
        {**_json(call.shown(proposal)), **more}
        for proposal, more in zip(shown, stored, strict=True)
    ]
    remarks = [] if found else [f"No proposal matches; {counted(waiting, 'proposal')} in all."]
    if not waiting and not found:
        remarks = ["Nothing waits. `workbench reflect` and `workbench upkeep` make proposals."]
    return Answer(
        json, lambda: rows_of(bench, shown, call.shown), () if wants_json(args) else remarks
    )


def matching(
    bench: "Workbench", text: str, kind: str | None, *, found: bool = False
) -> tuple[Proposal, ...]:
    """Return what waits and a filter and a kind let through; with `found`, what is worked out now,
    too.

    Raises `InvalidQuery`.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidQuery(f"There is no kind “{kind}”.", f"There are: {', '.join(KINDS)}.")
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

    now = bench.context.now()
    rows = [
        _row(shown(p), sign(bench, bench.review.memory(p)), later=is_put_off(p, now))
        for p in proposals
    ]
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
    card = _card(bench, proposal)
    why = "" if memory is None else reasons(memory)
    proposal, memory, evidence = shown(proposal), shown(memory), shown(evidence)
    if not wants_json(args):
        _print(bench, proposal, memory, evidence, why)
        if card is not None:
            _print_card(card, shown)
        return Answer()
    told = None if memory is None else {**memory_json(memory), **review_json(bench, memory)}
    return Answer({**_json(proposal), "memory": told, "evidence": _evidence_json(bench, evidence)})


def show_merge(call: Call, id: str) -> Answer:
    """Print what merging a candidate into a memory would leave, and how the two texts differ."""
    from workbench.cli.worddiff import word_diff

    bench, shown, into, take = call.bench, call.shown, call.args.into, call.args.text
    candidate, target = bench.library.memories.get(id), bench.library.memories.get(into)
    text = candidate.content if take == "candidate" else None
    merged = shown(bench.review.merged(bench.review.get(id), into, text))
    difference = word_diff(shown(target.content), shown(candidate.content))
    whose = f"the text of {id}" if take == "candidate" else "its own text"
    last = f"{into} would stay {merged.status} and keep {whose}; {id} would be archived as merged. Nothing was changed."
    json = {"dry_run": True, "diff": difference, "merged": memory_json(merged)}
    return Answer(json, [f"From {into} to {id}:", difference, "", last])


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
        text = (
            word_diff(mask(bullet.content), mask(card.after)) if changed else mask(bullet.content)
        )
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
    return (
        proposal.id,
        label,
        at,
        f"{proposal.importance:g}",
        flags,
        flagged + one_line(proposal.title, SHOWN),
    )


def _print(
    bench: "Workbench", proposal: Proposal, memory: "Memory | None", evidence: "Evidence", why: str
) -> None:
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
    _section(
        "alike", [(one.id, f"{s:.2f}", one_line(_marked(bench, one), SHOWN)) for one, s in alike]
    )
    rejected = [(t.rejected, t.similarity) for t in evidence.rejections]
    _section(
        "rejected before",
        [(m.id, f"{s:.2f}", one_line(_marked(bench, m), SHOWN)) for m, s in rejected],
    )
    against = [(c, bench.library.memories.find(c.other)) for c in evidence.against]
    marks = [(c, "" if other is None else unreviewed(bench, other)) for c, other in against]
    _section(
        "may contradict",
        [(c.other, c.reason, one_line(mark + c.theirs, SHOWN)) for c, mark in marks],
    )


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
        rows = [
            (_marked(bench, b.cited.memory) if b.cited.memory else b.cited.gone, b) for b in deeper
        ]
        _section(
            "which rest on",
            [("  " * (b.depth - 1) + b.cited.id, one_line(said, SHOWN)) for said, b in rows],
        )


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
        else {
            "id": c.id,
            "gone": c.gone,
            "content": c.memory.content,
            **review_json(bench, c.memory),
        }
        for c in evidence.cited
    ]
    near: list[tuple[str, str, Memory | Bullet, float]] = [
        ("memories", m.id, m, s) for m, s in evidence.near
    ]
    near += [("bullets", f"{b.book}/{b.id}", b, s) for b, s in evidence.near_bullets]
    return {
        "cited": cited,
        "tree": [{"id": b.cited.id, "depth": b.depth, "gone": b.cited.gone} for b in evidence.tree],
        "searched": evidence.searched,
        "near": [
            {
                "table": table,
                "id": id,
                "content": one.content,
                "similarity": s,
                **review_json(bench, one),
            }
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


_OPTIONS: Mapping[str, Option] = {
    "id": {},
    "into": {},
    "ids": {"metavar": "ID"},
    "ids+:promoted": {"metavar": "ID", "help": "candidates, signals or confirmed memories"},
    "filter": {"help": "which ones (default: all)"},
    "limit": lambda parser: add_limit(parser, DEFAULT),
    "--kind:list": {"metavar": "KIND", "help": "only these: reflection, merge, prune, confirm, …"},
    "--found:list": flag(f"and {_FOUND}"),
    "--quick": flag("leave out what the search model would find"),
    "--filter": text("in place of ids: every proposal that this filter lets through, as in `review list`"),
    "--kind": {"metavar": "KIND", "help": "in place of ids: every proposal of this kind"},
    "--found": flag(f"with --filter and --kind: {_FOUND}, too"),
    "--yes": flag("decide all that --filter and --kind name"),
    "--reason": text("why; it is kept in the history"),
    "keep": partial(add_keep, what="the reason"),
    "keep:promoted": partial(add_keep, what="the reason, the title and --about"),
    "--text": {
        "choices": ("target", "candidate"), "default": "target",
        "help": "whose text is left: the memory's own (target, the default) or the candidate's",
    },
    "--dry-run": flag("only show the difference between both texts"),
    "--to": {"metavar": "TARGET", "help": "where to, one of those listed above"},
    "--section": text("a file: the heading that the entry goes under, or those that lead to it, parted by >",
                      "HEADING"),
    "--title": text("memory, skill: its title"),
    "--name": text("memory, skill: its file's or folder's name", "NAME"),
    "--about": text("memory, skill: one line on what it is about"),
    "--outside": flag("agree to a file outside the project"),
    "--dry-run:promoted": flag("only show what would be written"),
}  # fmt: skip

_DECISION = "ids* --filter --kind --found --yes --reason keep --json"


def add_commands(commands: Commands) -> None:
    """Add `review` and what is below it."""
    from workbench.cli.promotion import promote

    top = Verb(
        "review",
        list_queue,
        "decide on what waits in Review",
        "",
        _REVIEW,
        "approve mem-20261121-0000001",
    )
    review = add_verb(commands, top, _OPTIONS)
    review.set_defaults(
        filter=[], limit=DEFAULT, kind=None, found=False, json=False, show_secrets=False
    )
    below = review.add_subparsers(
        title="what to do", metavar="VERB", prog=review.prog, parser_class=Parser
    )
    verbs = (
        Verb("list", list_queue, "list what waits, in the order of the queue",
             "filter* limit --kind:list --found:list --show-secrets --json", _LIST, "type:error --found"),
        Verb("show", show_proposal, "print a proposal in full, with its evidence",
             "id --quick --show-secrets --json", "", "mem-20261121-0000001"),
        Verb("approve", approve, "accept proposals: a candidate is confirmed, a merge is made", _DECISION, "", _ONE,
             changing),
        Verb("reject", reject, "reject proposals; what is rejected stays archived and is not proposed again",
             _DECISION, "", _MANY, changing),
        Verb("keep-old", keep_old, "keep the old one of two memories, and archive the newer", _DECISION, "", _ONE,
             changing),
        Verb("later", put_off, "put decisions off for a week", _DECISION, "", _ONE, changing),
        Verb("merge", merge, "merge a candidate into a memory, which stays what it is",
             "id into --text --dry-run --show-secrets --reason keep --json", _MERGE,
             "mem-20261121-0000002 mem-20261121-0000001 --dry-run",
             lambda session: session.reading() if session.args.dry_run else session.changing()),
    )  # fmt: skip
    for verb in verbs:
        add_verb(below, verb, _OPTIONS).takes_filter = verb.name == "list"
    promoting = add_command(
        below, "promote", promote, "approve and write to where agents read", _PROMOTE,
        example="mem-20261121-0000001 --to CLAUDE.md --dry-run",
    )  # fmt: skip
    words = "ids+:promoted --to! --section --title --name --about --outside --dry-run:promoted --reason keep:promoted"
    add_words(promoting, f"{words} --json", _OPTIONS)


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
        with bench.library.transaction(bench.context.actor, f"{label}: {said}", group=group):
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
            f"Left out: {counted(len(alone), 'memory', 'memories')} of importance 8 or more; archive those by ID."
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
            f"Nothing was decided yet: this is about {what}{more}.",
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
        return f"That proposal was {decided.state} already."
    near = difflib.get_close_matches(id, [p.id for p in bench.review.queue()], n=1)
    return f"Did you mean {near[0]}?" if near else "`workbench review list` shows what waits."


def _done(done: str, ids: Sequence[str], **more: str) -> Answer:
    said = f"{done} {ids[0] if len(ids) == 1 else counted(len(ids), 'proposal')}. `workbench undo` takes it back."
    return Answer({"done": done.removesuffix(":").lower(), "ids": ids, **more}, [said])
