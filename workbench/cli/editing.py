"""`workbench edit`, `pin`, `forget` and `unforget`: the daily care of single memories and bullets.

Inside an agent, or with --actor, nothing is changed at once: another text and a forgetting become
proposals that wait in Review, as over MCP; the rest is for a person.
"""

import os
import sys
from argparse import BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli.append import (
    OBSERVATION,
    SKIPPED,
    archived,
    observed,
    remarks_on,
    returned,
    stored,
    tags_of,
    text_of,
)
from workbench.cli.append import OPTIONS as OF_OBSERVATIONS
from workbench.cli.describe import UNCHANGED, memories, records
from workbench.cli.output import answered, asks, few, moment, picked, say, table, warn, word_diff
from workbench.cli.parsing import (
    add_actor,
    add_keep,
    level,
    points,
    time,
)
from workbench.cli.session import Session, actor_of, keeps
from workbench.cli.verbs import (
    UNDO,
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    several,
    text,
    unless_dry,
    value,
)
from workbench.core.agents.actors import require_person, stands_by
from workbench.core.playbook.book import Bullet
from workbench.core.record import Conflict, InvalidQuery, UnknownRecord, WorkbenchError
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, STATUSES, Memory
from workbench.core.stream.times import instant
from workbench.core.text import clean_for_store, counted, named, one_line

if TYPE_CHECKING:
    from workbench.services.agents.served_lately import Given
    from workbench.services.files.exporting import ExportPreview
    from workbench.services.open import Workbench
    from workbench.services.promotion.copies import Copy, Correction, Obstacle
    from workbench.services.stream.archiving import ArchivePlan
    from workbench.services.stream.fields import FieldEdit
    from workbench.services.stream.ingest import Ingested
    from workbench.services.stream.replacing import Elsewhere, Misfit, NameKind, Place


# `workbench ingest`: single observations, by people and by agents' hooks.


_INGEST = """A repeat of one of the last ten memories is skipped. A certain duplicate is counted on the memory
it repeats; a likely one is stored, and a merge is proposed in Review. A text that differs in a
negation, an opposite word, a number, an identifier or a content word is stored and never merged;
if it contradicts a confirmed memory, Review asks whether that is still true.

An archived text is not new. If you forgot or rejected it, it is not stored: you are told so; for
an agent it counts as seen again, and after two sessions Review asks whether to restore it. A
pruned memory comes back; a merged or superseded one counts for its successor. A purged text is
not stored. --again stores the text anyway."""


def ingest_text(call: Call) -> Answer:
    """Store one observation and say what became of it."""
    kept = keeps(call.args)
    done = call.bench.ingest.add(
        observed(call.args), call.bench.safety.keep if kept else None, again=call.args.again
    )
    return Answer(lambda: _ingested_json(done), _ingested(done))


def _ingested(done: "Ingested") -> Iterator[str]:
    yield returned(done) or _outcome(done)
    if done.unwanted is not None:
        id = done.unwanted.id
        yield f"It resembles {id}, which you {archived(done.unwanted, done.at)}; `workbench unforget {id}` restores it."


def _outcome(done: "Ingested") -> str:
    memory, other = done.memory, done.other
    if done.outcome == "skipped":
        return SKIPPED.format(memory.id)
    if done.outcome == "proposed" and other is not None:
        return f"Stored as {memory.id}. It resembles {other.id}; a merge waits in Review.{remarks_on(memory)}"
    if done.outcome == "contradicts" and other is not None:
        told = (
            f"It contradicts {other.id}: {_against(done)}. Review asks whether that is still true."
        )
        return f"Stored as {memory.id}. {told}{remarks_on(memory)}"
    if other is not None:
        return f"Stored as {memory.id}. It resembles {other.id} but differs: {_against(done)}.{remarks_on(memory)}"
    return stored(memory)


def _ingested_json(done: "Ingested") -> dict[str, object]:
    from workbench.services.safety.suspicion import flags_of

    other = None if done.other is None else done.other.id
    verdict = done.verdict
    return {
        "outcome": done.outcome, "id": done.memory.id, "other": other, "flags": flags_of(done.memory),
        "for": () if verdict is None else verdict.reasons_for,
        "against": () if verdict is None else verdict.reasons_against,
        "archived_at": done.at, "resembles_forgotten": None if done.unwanted is None else done.unwanted.id,
    }  # fmt: skip


def _against(done: "Ingested") -> str:
    """Return what parts it from the memory it resembles."""
    return "" if done.verdict is None else "; ".join(done.verdict.conflicts)


# `workbench archive`: old memories out of the way, and into a file if wanted.


LISTED = 20
"""Memories that a dry run lists."""

_DETAILS = """Archives every memory of a status that is older than WHEN, as one action that `undo` takes back;
pinned ones stay. Signals and candidates are archived as pruned, confirmed and promoted memories
as done. An archived memory is kept but no longer served; `unforget` brings it back, `purge`
erases it. --to also writes them to a file of learning entries (JSON lines), adding to those
already in it; `import` reads it. As with `export`, a file that was never read or written here is
not replaced. With --status archived nothing changes, and the file gets what was archived before.

  workbench archive --before 2026-01-01 --status promoted --to memory-archive.jsonl"""


def archive(call: Call) -> Answer:
    """Archive what is old, and write it to a file if wanted."""
    from workbench.cli.export import told_of
    from workbench.services.files.overwriting import NotReplaced

    args, bench = call.args, call.bench
    if args.status == "archived" and args.to is None:
        raise InvalidQuery(
            "They are already archived.", "Nothing was changed; --to FILE writes them to a file."
        )
    path = None if args.to is None else call.path(args.to)
    plan = bench.archiving.plan(args.status, instant(args.before, call.session.clock()))
    dry = args.dry_run or not plan.memories
    json = {
        "dry_run": args.dry_run,
        **picked(plan, "status", "before"),
        "ids": [memory.id for memory in plan.memories],
        "pinned": plan.pinned,
    }
    pinned = counted(plan.pinned, "memory", "memories")
    stay = f"{pinned} of that age {'stays' if plan.pinned == 1 else 'stay'} because of a pin."
    remarks = [stay] if plan.pinned else []
    if dry:
        return Answer(json, lambda: _would_archive(call, plan), remarks)
    if path is not None:
        bench.safety.require_outgoing(plan.memories)
        obstacle = _preview(bench, plan, path).obstacle
        if obstacle is not None:
            raise NotReplaced(obstacle, "Nothing was archived; name another file.")
    bench.archiving.carry_out(plan)
    lines = []
    if plan.changes:
        archived = counted(len(plan.memories), "memory", "memories")
        lines.append(f"Archived {archived}. `workbench undo` brings them back.")
    if path is not None:
        written = bench.exporter.write(_preview(bench, plan, path))
        lines += [*told_of(written), f"{path} holds them; `workbench import` reads it."]
    return Answer({**json, "file": path}, lines, remarks)


def _preview(bench: "Workbench", plan: "ArchivePlan", path: Path) -> "ExportPreview":
    from workbench.services.files.exporting import Choice

    choice = Choice(memories=bench.archiving.for_file(plan, path))
    rendered = bench.exporter.render("jsonl", choice, path)
    return bench.exporter.preview(path, rendered.text, kind=rendered.export_format)


def _would_archive(call: Call, plan: "ArchivePlan") -> Iterator[str]:
    shown, found = call.shown, plan.memories
    yield from table(
        [(shown(m).id, moment(m.created_at), m.observation_type, shown(m.line)) for m in found[:LISTED]]
    )  # fmt: skip
    if len(found) > LISTED:
        yield f"… {len(found) - LISTED:,} more"
    what = counted(len(found), "memory", "memories")
    yield f"{what} of status {plan.status} from before {moment(plan.before)}. Nothing was changed."


# What `edit` and `replace` say and ask about the copies of what they correct.


WHY: "dict[Obstacle, str]" = {
    "rewritten": "has different wording now and stays",
    "changed": "was changed by hand since and stays",
    "held": "stays: the new text is held back from files",
    "cites": "cites it and stays: please check",
    "whole": "stays until it is exported again",
}

QUERY = 48
"""Characters of an agent's question that are shown."""


class Told(NamedTuple):
    """What became of copies: those that were `updated`, those that say the old words still, and who
    had the memory.
    """

    updated: "tuple[Copy, ...]"
    left: "tuple[Copy, ...]"
    given: "tuple[Given, ...]"

    def json(self) -> dict[str, object]:
        states = [(copy, True) for copy in self.updated] + [(copy, False) for copy in self.left]
        return {
            "copies": [
                {**picked(copy, "kind", "name"), "updated": done, "obstacle": copy.obstacle}
                for copy, done in states
            ],
            "given": [
                {**picked(one, "agent", "sessions", "query"), "place": one.place or None}
                for one in self.given
            ],
        }


NOTHING_TOLD = Told((), (), ())
"""There are no copies, and nobody had it."""


def with_copies(
    session: Session,
    bench: "Workbench",
    corrected: "Iterable[Correction]",
    write: Callable[[], object],
    label: str,
) -> Told | None:
    """Write a correction, with its copies where `--copies` or a person's answer says so; return
    what became of them.

    `None` where none were looked for: an agent's change, or one that leaves every text. Raises
    `Conflict` when a copy was changed meanwhile; then nothing is written.
    """
    pairs = [(before, after) for before, after in corrected if before.content != after.content]
    if not stands_by(bench.context.actor) or not pairs:
        write()
        return None
    plan = bench.copies.of(pairs)
    given = bench.given_lately.of(pairs[0][0].id) if len(pairs) == 1 else ()
    question = f"Update {counted(len(plan.updated), 'copy', 'copies')} too?"
    if plan.updated and are_wanted(session, bench, plan.updated, question):
        bench.copies.carry_out(
            plan, write, f"{label} and {counted(len(plan.updated), 'copy', 'copies')}"
        )
        return Told(plan.updated, plan.left, given)
    write()
    return Told((), plan.copies, given)


def are_wanted(
    session: Session, bench: "Workbench", copies: "Sequence[Copy]", question: str
) -> bool:
    """Tell whether copies are to be changed, too: what the option says, else what a person answers
    who saw them.
    """
    args, mask = session.args, bench.safety.masked
    if args.copies is not None or args.json or not asks():
        return bool(args.copies)
    for copy in copies:
        say(f"--- {mask(copy.name)}")
        for line in copy.lines:
            if line.kind != "place":
                say(mask(str(line)))
    return answered(f"{question} [y/N] ").lower() in ("y", "yes")


def told_lines(bench: "Workbench", told: Told, again: str) -> tuple[list[str], list[str]]:
    """Return what became of the copies, in lines and remarks; `again` is what updates those that
    could be.
    """
    mask = bench.safety.masked
    could = [copy for copy in told.left if not copy.obstacle]
    lines = [f"Updated with it: {_names(told.updated, mask)}."] if told.updated else []
    remarks = [f"The old words still stand in {_names(could, mask)}. {again}"] if could else []
    for why in dict.fromkeys(copy.obstacle for copy in told.left if copy.obstacle):
        remarks.append(
            f"{_names([copy for copy in told.left if copy.obstacle == why], mask)} {WHY[why]}."
        )
    for one in told.given:
        asked = (
            f"; #{one.place} for its last query “{one_line(mask(one.query), QUERY)}”"
            if one.query
            else ""
        )
        lines.append(
            f"Given to {mask(one.agent)} in {counted(one.sessions, 'session')} this week{asked}."
        )
    return lines, remarks


def _names(copies: "Sequence[Copy]", mask: Callable[[str], str]) -> str:
    return few([mask(copy.name) for copy in copies], 5)


# `workbench vote`: marks on single memories and bullets, by people and by agents' hooks.


_VOTE = """ID is the id of a memory or bullet (BOOK/ID when several playbooks have it). You have one vote on
each; a new one replaces the old one."""


def cast_vote(call: Call) -> Answer:
    """Cast one vote and say what it did."""
    from workbench.services.stream import votes
    from workbench.services.stream.votable import find_votable

    args, bench = call.args, call.bench
    keep = bench.safety.keep_typed if keeps(args) else None
    record = find_votable(bench.context, args.id)
    reason, of = clean_for_store(args.reason).strip(), clean_for_store(args.session)
    done = votes.cast(bench.context, record, args.verdict, reason=reason, session=of, keep=keep)
    said = done.told()
    return Answer({"id": args.id, "verdict": args.verdict, "said": said}, [said])


_EDIT = """Changes the text or fields of a memory; --also gives further memories the same values, all or
none. A bullet has a text and --section. Without any change given, the text opens in your editor
(`editor` in the config, else $VISUAL, $EDITOR). An empty value clears a field: --summary "".
--status accepts candidate (back to Review) and confirmed; use `forget`, `review promote` and
`undo` for the others. When an agent changes a text, the change waits in Review; other fields are
for you alone. Copies of the text elsewhere (CLAUDE.md, a playbook, an insight) are shown, and you
are asked whether to update them; --copies does so without a terminal. Text and copies are one
action with one undo. A file that was edited since is left alone.

  workbench edit mem-20261121-0000001 "Deploys need AUTH_SECRET in CI" --type gotcha
  workbench edit mem-20261121-0000001 --also mem-20261121-0000002 --add-tag ci
  git log -1 --format=%b | workbench edit mem-20261121-0000001 -"""

_PIN = """Pinned memories and bullets do not decay, are never archived by age, and are served to agents
first.

  workbench pin mem-20261121-0000001 shr-00004
  workbench pin shr-00004 --off"""

_FORGET = """Archived memories are no longer served to agents. Nothing is erased (`workbench purge` does that);
`workbench undo` and `workbench unforget` bring them back. When an agent runs it, the request
waits in Review.

  workbench forget mem-20261121-0000001 mem-20261121-0000002 --reason "the job is gone\""""

_UNFORGET = """Restores archived memories (forgotten, rejected, pruned, superseded or done) with the status they
had. To restore a merged one, undo the merge. (`restore` is different: it creates a store from a
backup.)

  workbench unforget mem-20261121-0000001"""


def edit_records(call: Call) -> Answer:
    """Change the text and fields, or open the text in an editor."""
    bench, session = call.bench, call.session
    wanted = _wanted(call.args)
    found = records(bench, [call.args.id, *call.args.also])
    if not wanted.named:
        return _in_editor(session, bench, found)
    bullet = next((record for record in found if isinstance(record, Bullet)), None)
    if bullet is not None and (len(found) > 1 or set(wanted.named) - {"content", "section"}):
        raise InvalidQuery(
            f"{bullet.id} is a bullet: only its text and section can be edited, one bullet at a time.",
            UNCHANGED,
        )
    if (
        not stands_by(bench.context.actor)
        and wanted.named == ("content",)
        and isinstance(found[0], Memory)
    ):
        return _ask_to_replace(bench, found[0], wanted.content or "")
    return _edited(bench, found[0].id, *_edit(session, bench, found, wanted))


def _edit(
    session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]", wanted: "FieldEdit"
) -> "tuple[Sequence[str], Told | None]":
    """Write new values, with the copies of what is corrected where that is wanted; return what
    differs now.
    """
    ids, places = [record.id for record in found], [_place(record) for record in found]
    changed: list[str] = []

    def write() -> None:
        one = found[0]
        changed[:] = (
            bench.fields.edit(ids, wanted)
            if isinstance(one, Memory)
            else _edit_bullet(bench, one, wanted)
        )

    if keeps(session.args) or _hides(bench, wanted.content):
        with bench.safety.keeping(
            f"edit {named(ids, 'records')}",
            wanted.typed if keeps(session.args) else (),
            lambda: places,
        ):
            write()
        return changed, None
    corrected = [_as_edited(bench, record, wanted) for record in found]
    return changed, with_copies(session, bench, corrected, write, f"edit {named(ids, 'records')}")


def _hides(bench: "Workbench", text: str | None) -> bool:
    """Tell whether a text is stored with a secret masked: then it is not what copies are to say."""
    return text is not None and bench.safety.masked(text) != clean_for_store(text)


def _as_edited(
    bench: "Workbench", record: Memory | Bullet, wanted: "FieldEdit"
) -> "tuple[Memory | Bullet, Memory | Bullet]":
    if isinstance(record, Memory):
        return record, bench.fields.edited(record, wanted)
    return bench.playbooks.edited(record.book, record.id, wanted.content or record.content)


def pin_records(call: Call) -> Answer:
    """Pin, or let go."""
    pinned, bench = not call.args.off, call.bench
    require_person(bench.context.actor, "pin or unpin anything")
    every = records(bench, call.args.ids)
    found = [record for record in every if record.pinned != pinned]
    with ExitStack() as stack:
        if found:
            label = f"{'pin' if pinned else 'unpin'} {named([record.id for record in found], 'records')}"
            stack.enter_context(bench.context.transaction(label))
        for record in found:
            if isinstance(record, Memory):
                bench.stream.pin([record.id], pinned)
            else:
                bench.playbooks.pin(record.book, [record.id], pinned)
    ids, verb = [record.id for record in every], "Pinned" if pinned else "Unpinned"
    said = (
        f"{verb} {named(ids, 'records')}. {UNDO}"
        if found
        else f"{verb} already: {named(ids, 'records')}."
    )
    return Answer({"ids": ids, "pinned": pinned}, [said])


def forget_memories(call: Call) -> Answer:
    """Archive, or ask for it as an agent."""
    bench = call.bench
    reason, kept = " ".join(clean_for_store(call.args.reason).split()), keeps(call.args)
    found = memories(bench, call.args.ids)
    if not stands_by(bench.context.actor):
        from workbench.services.agents.requests import AgentRequests

        done = AgentRequests(bench.context).forget(found, (), bench.safety.masked(reason))
        return Answer(
            dict(done), ["The request waits in Review; nothing changes until it is approved."]
        )
    ids = [memory.id for memory in found]
    label = f"forget {named(ids, 'records')}" + (f": {reason}" if reason else "")
    with bench.context.transaction(label):
        bench.stream.forget(ids)
        if kept:
            bench.safety.keep_typed(reason)
    return Answer({"ids": ids}, [f"Forgot {named(ids, 'records')}. {UNDO}"])


def unforget_memories(call: Call) -> Answer:
    """Bring back."""
    require_person(call.bench.context.actor, "restore memories")
    ids = [memory.id for memory in memories(call.bench, call.args.ids)]
    call.bench.stream.restore(ids)
    return Answer({"ids": ids}, [f"Restored {named(ids, 'records')}. {UNDO}"])


def _wanted(args: Namespace) -> "FieldEdit":
    from workbench.services.stream.fields import FieldEdit

    if args.text is not None and args.content is not None:
        raise InvalidQuery(
            "TEXT and --content were both given.", f"{UNCHANGED} Leave out --content."
        )
    text = args.content if args.text is None else args.text
    return FieldEdit(
        content=None if text is None else text_of(text), summary=args.summary,
        observation_type=args.type, memory_type=args.memory_type, importance=args.importance,
        confidence=args.confidence, tags=_listed(args.tags), added=tags_of(args.add_tag),
        removed=tags_of(args.remove_tag), category=args.category, section=args.section,
        related=_listed(args.related), note=args.note, session=args.session, speaker=args.speaker, status=args.status,
    )  # fmt: skip


def _listed(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tags_of(given.split(","))


def _in_editor(session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]") -> Answer:
    """Open the text of one record in the person's editor, and store what they saved."""
    from workbench.config import editor
    from workbench.services.stream.fields import FieldEdit

    if len(found) > 1:
        raise InvalidQuery(
            "The editor opens one memory at a time.", f"{UNCHANGED} Give the field to change."
        )
    if not stands_by(bench.context.actor):
        raise WorkbenchError(
            "Agents cannot use the editor.", f"{UNCHANGED} Give the text after the id."
        )
    setting = session.settings().settings.editor
    known = setting or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not known and not asks():
        raise WorkbenchError(
            "No terminal for an editor.", f"{UNCHANGED} Give the text after the id."
        )
    record = found[0]
    saved = editor.edit(record.content, setting)
    if saved is None:
        return _edited(bench, record.id, (), None)
    if records(bench, [_place(record)])[0].content != record.content:
        raise Conflict(
            f"{record.id} was changed by someone else meanwhile.", "Nothing was written."
        )
    return _edited(bench, record.id, *_edit(session, bench, found, FieldEdit(content=saved)))


def _edit_bullet(bench: "Workbench", bullet: Bullet, wanted: "FieldEdit") -> list[str]:
    require_person(bench.context.actor, "change a bullet")
    bench.playbooks.edit(bullet.book, bullet.id, wanted.content, section=wanted.section)
    now = bench.playbooks.bullet(bullet.book, bullet.id)
    return [] if now == bullet else [bullet.id]


def _ask_to_replace(bench: "Workbench", memory: Memory, text: str) -> Answer:
    from workbench.services.agents.requests import AgentRequests
    from workbench.services.stream.observation import Observation

    same = Observation(
        text, memory.observation_type, memory.memory_type, memory.session_id, memory.tags
    )
    proposal = AgentRequests(bench.context).replace(memory, same)
    said = f"The change of {memory.id} waits in Review; nothing changes until it is approved."
    return Answer({"id": memory.id, "changed": False, "ids": [], "proposed": proposal.id}, [said])


def _place(record: Memory | Bullet) -> str:
    return record.id if isinstance(record, Memory) else f"{record.book}/{record.id}"


def _edited(bench: "Workbench", id: str, changed: Sequence[str], told: Told | None) -> Answer:
    said = (
        f"Edited {named(changed, 'records')}. {UNDO}"
        if changed
        else "No difference; nothing was changed."
    )
    copies = {} if told is None or told == NOTHING_TOLD else told.json()
    again = "`workbench undo`, then the same with --copies, updates them too."
    more, remarks = told_lines(bench, told, again) if told is not None and changed else ([], [])
    return Answer(
        {"id": id, "changed": bool(changed), "ids": list(changed), **copies}, [said, *more], remarks
    )


# `workbench replace`: other words in every record that holds them, each one seen first.


_REPLACE = """Shows each memory and bullet that contains FIND, and asks: a replaces, x skips, A replaces all
that are left, q stops. The replacements are written as one action with one undo. Archived
memories are skipped. Without a terminal, use --yes for all places or --only for some. --names
includes tags, categories and section titles; other places that contain FIND and stay are listed
at the end.

  workbench replace authd gatekeeper --word --names
  workbench replace "npm run" "pnpm run" --filter type:command --dry-run
  workbench replace authd gatekeeper --only mem-20261121-0000001,main/ops-00002"""

_MISFITS: "dict[Misfit, str]" = {
    "long": "it would be too long", "empty": "it would be empty",
    "taken": "another section has that title",
}  # fmt: skip

_ELSEWHERE: "dict[NameKind, tuple[str, str]]" = {
    "tag": ("tag", "tags"), "category": ("category", "categories"),
    "section": ("title of a section", "titles of sections"), "query": ("saved query", "saved queries"),
    "view": ("saved view", "saved views"), "pattern": ("pattern", "patterns"),
}  # fmt: skip
"""What a name stands in besides the texts, one and several."""

_NAMED = ("tag", "category", "section")
"""What --names takes along."""

NOT_WRITTEN = "Nothing was changed."


def replace_words(call: Call) -> Answer:
    """Show the places, ask about them, and replace."""
    from workbench.services.stream.replacing import Wanted

    args, bench, session = call.args, call.bench, call.session
    wanted = Wanted(args.find, args.replacement, args.word, args.ignore_case, args.names)
    among = None if args.filter is None else bench.stream.view(args.filter).memories
    places = _only(args.only, bench.replacing.places(wanted, among))
    if args.dry_run or not places:
        elsewhere = bench.replacing.elsewhere(wanted)
        json = {
            "dry_run": args.dry_run,
            "places": _places_json(bench, places),
            "ids": [],
        }
        lines = [line for place in places for line in _place_lines(bench, place)]
        last = f"{counted(len(places), 'place')}. {NOT_WRITTEN}"
        return Answer({**json, "elsewhere": dict(elsewhere)}, [*lines, last], _stays(elsewhere))
    chosen = _chosen(session, bench, places)
    plan = bench.replacing.copies(chosen)
    question = f"Replace in {counted(len(plan.updated), 'file')} too?"
    along = bool(plan.updated) and are_wanted(session, bench, plan.updated, question)
    if bench.safety.masked(args.replacement) != args.replacement:
        warn("The replacement holds a secret, which is stored masked.")
    bench.replacing.carry_out(wanted, chosen, plan if along else None)
    told = Told(plan.updated if along else (), plan.left if along else plan.copies, ())
    elsewhere = bench.replacing.elsewhere(wanted)
    json = {
        "dry_run": False,
        "places": _places_json(bench, chosen),
        "elsewhere": dict(elsewhere),
    }
    json |= {"ids": [place.name for place in chosen], "copies": told.json()["copies"]}
    if not chosen:
        return Answer(json, [f"No place was replaced. {NOT_WRITTEN}"])
    what = named([place.name for place in chosen], "records")
    more, remarks = told_lines(
        bench, told, "`workbench undo`, then the same with --copies, replaces there too."
    )
    said = f"Replaced “{bench.safety.masked(wanted.find)}” in {what}. {UNDO}"
    return Answer(json, [said, *more], [*remarks, *_stays(elsewhere)])


def _stays(elsewhere: "Sequence[Elsewhere]") -> list[str]:
    """Say where else it stands, and what takes that along."""
    if not elsewhere:
        return []
    said = ", ".join(counted(count, *_ELSEWHERE[kind]) for kind, count in elsewhere)
    more = (
        " --names includes tags, categories and titles."
        if any(e.kind in _NAMED for e in elsewhere)
        else ""
    )
    stays = (
        "which stays as it is"
        if sum(count for _, count in elsewhere) == 1
        else "which stay as they are"
    )
    return [f"It stands in {said} too, {stays}.{more}"]


def _only(names: str | None, places: "Sequence[Place]") -> "list[Place]":
    if names is None:
        return list(places)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    known = {place.name: place for place in places}
    if missing := [name for name in asked if name not in known]:
        raise UnknownRecord(
            f"{missing[0]} does not contain it.", f"{NOT_WRITTEN} --dry-run lists the places."
        )
    return [known[name] for name in dict.fromkeys(asked)]


def _chosen(session: Session, bench: "Workbench", places: "Sequence[Place]") -> "list[Place]":
    """Return the places to replace in: all, or those that a person takes."""
    fitting = [place for place in places if not place.misfit]
    for place in places:
        if place.misfit:
            warn(f"{place.name} stays: {_MISFITS[place.misfit]}.")
    if session.args.yes or session.args.only is not None:
        return fitting
    if not asks():
        raise WorkbenchError(
            "No terminal to ask in.", f"{NOT_WRITTEN} --yes replaces all, --dry-run shows them."
        )
    return list(_asked(bench, fitting))


def _asked(bench: "Workbench", places: "Sequence[Place]") -> "Iterator[Place]":
    """Yield the places that a person takes, one after the other."""
    for at, place in enumerate(places):
        for line in _place_lines(bench, place):
            say(line)
        while True:
            sys.stdout.write(f"{at + 1} of {len(places)}: replace, skip, all, quit [a/x/A/q]? ")
            sys.stdout.flush()
            answer = sys.stdin.readline()
            if answer.strip() in ("a", "x", "A", "q") or not answer:
                break
        if answer.strip() == "A":
            yield from places[at:]
        if answer.strip() not in ("a", "x"):
            return
        if answer.strip() == "a":
            yield place


def _place_lines(bench: "Workbench", place: "Place") -> Iterator[str]:
    yield f"{place.name}  {counted(place.count, 'time')}"
    yield from (f"  {line}" for line in _diff(bench, place).splitlines())


def _diff(bench: "Workbench", place: "Place") -> str:
    mask = bench.safety.masked
    return "\n".join(word_diff(mask(old), mask(new)) for old, new in place.texts)


def _places_json(bench: "Workbench", places: "Sequence[Place]") -> list[dict[str, object]]:
    return [
        {**picked(one, "id:name", "count"), "diff": _diff(bench, one), "misfit": one.misfit}
        for one in places
    ]


OPTIONS: Mapping[str, Option] = {
    **OF_OBSERVATIONS,
    "ids": {"metavar": "ID"},
    "id:record": {"help": "a memory's id, or a bullet's (BOOK/ID when several playbooks have it)"},
    "verdict": {"choices": ("helpful", "harmful")},
    "--actor": value(
        "NAME", "the agent that does this (default: the agent that runs the command, or you)"
    ),
    "actor:reason": partial(add_actor, typed="the reason"),
    "actor:given": partial(add_actor, typed="what is given"),
    "keep": partial(add_keep, what="the reason"),
    "--reason:vote": text("why; kept with the vote"),
    "--session:vote": text("the agent session it is cast in", "S"),
    "--reason": text("why; shown in Review when an agent asks"),
    "--off": flag("unpin them"),
    "--copies": {
        "action": BooleanOptionalAction,
        "help": "also update copies: files it was promoted or exported to, bullets and insights with the same text",
    },
    "--content": value("TEXT", "the text, as after ID"),
    "--also": several("ID", "another memory; repeatable"),
    "--summary": value("TEXT", "the summary shown in lists"),
    "--type": value("T", "observation type", choices=OBSERVATION_TYPES),
    "--memory-type": value("M", "memory type", choices=MEMORY_TYPES),
    "--importance": value("N", "0 to 10", type=points),
    "--confidence": value("N", "0 to 5", type=level),
    "--tags": value("A,B", "all tags, separated by commas"),
    "--add-tag": several("T", "a tag to add; repeatable"),
    "--remove-tag": several("T", "a tag to remove; repeatable"),
    "--category": value("C", "command, convention, gotcha, …"),
    "--section": value("S", "the section; a bullet goes to its end"),
    "--related": value("ID,ID", "related memories, separated by commas"),
    "--note": value("TEXT", "a note, never served to agents"),
    "--session": value("S", "the agent session it comes from"),
    "--speaker": value("WHO", "who said it: user, assistant, tool or a name"),
    "--status:edit": value("S", "candidate or confirmed", choices=("candidate", "confirmed")),
    "--before": value("WHEN", "created before: 3mo, 2026-01-01, …", type=time),
    "--status": value("S", ", ".join(STATUSES), choices=STATUSES),
    "--to": value("FILE", "also write them to this file: memory-archive.jsonl", type=Path),
    "--dry-run": flag("show what would be archived, without archiving it"),
    "find": {"help": "the exact words to find"},
    "replacement": {"help": "the replacement; may be empty"},
    "--word": flag("match whole words only"),
    "--ignore-case": flag("ignore case"),
    "--names": flag("also in tags, categories, and titles of sections"),
    "--filter": value("F", "only in memories that match this filter"),
    "--only": value("ID,ID", "only in these, without asking; bullets as BOOK/ID"),
    "--yes": flag("in all places, without asking"),
    "--dry-run:replace": flag("show the places without replacing"),
    "--copies:replace": {
        "action": BooleanOptionalAction,
        "help": "also in files these records were promoted or exported to",
    },
}

_FIELDS = (
    "--content --also --summary --type --memory-type --importance --confidence --tags --add-tag --remove-tag "
    "--category --section --related --note --session --speaker --status:edit"
)

VERBS = (
    Verb("ingest", ingest_text, "add one observation", OBSERVATION, _INGEST,
         '"Deploys need AUTH_SECRET in CI" --type gotcha',
         lambda session: session.changing(actor_of(session.args), makes=True)),
    Verb("vote", cast_vote, "mark a memory or a bullet as helpful or harmful",
         "id verdict --reason:vote --session:vote actor:reason --json", _VOTE,
         'shr-00001 helpful --reason "it saved the release"',
         lambda session: session.changing(actor_of(session.args))),
    Verb("edit", edit_records, "change the text or any field of a memory, or a bullet",
         f"id:record text? --copies {_FIELDS} actor:given mixed --json", _EDIT, None, changing),
    Verb("pin", pin_records, "pin memories or bullets", "ids+ --off --actor --json",
         _PIN, None, changing),
    Verb("forget", forget_memories, "archive memories; nothing is erased", "ids+ --reason keep --actor --json",
         _FORGET, None, changing),
    Verb("unforget", unforget_memories, "restore archived memories", "ids+ --actor --json", _UNFORGET, None,
         changing),
    Verb("archive", archive, "archive old memories by status", "--before! --status! --to --dry-run --json",
         _DETAILS, None, unless_dry),
    Verb("replace", replace_words, "find and replace in memories and bullets",
         "find replacement --word --ignore-case --names --filter --only --yes --dry-run:replace --copies:replace "
         "--json", _REPLACE, None, unless_dry),
)  # fmt: skip
