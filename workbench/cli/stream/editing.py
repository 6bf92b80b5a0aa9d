"""`workbench edit`, `pin`, `forget` and `unforget`: the daily care of single memories and bullets.

Inside an agent, or with --actor, nothing is changed at once: another text and a forgetting become proposals that wait
in Review, as over MCP; the rest is for a person.
"""

import os
import sys
from argparse import BooleanOptionalAction, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli.naming import UNCHANGED, memories, records
from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import (
    Commands,
    Parser,
    add_actor,
    add_command,
    add_json,
    add_keep,
    level,
    points,
    time,
    wants_json,
)
from workbench.cli.safety.flags import Shown
from workbench.cli.session import CLI_ACTOR, Session, actor_of, keeps
from workbench.cli.stream.append import (
    SKIPPED,
    add_observation,
    archived,
    observed,
    remarks_on,
    returned,
    stored,
    tags_of,
    text_of,
)
from workbench.cli.worddiff import word_diff
from workbench.core.agents.actors import require_person
from workbench.core.playbook.book import Bullet
from workbench.core.record import Conflict, InvalidQuery, UnknownRecord, WorkbenchError
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, STATUSES, Memory
from workbench.core.stream.times import instant
from workbench.core.text import clean_for_store, counted, one_line

if TYPE_CHECKING:
    from workbench.services.agents.served_lately import Given
    from workbench.services.files.exporting import ExportPreview, Written
    from workbench.services.open import Workbench
    from workbench.services.promotion.copies import Copy, Correction, Obstacle
    from workbench.services.stream.fields import FieldEdit
    from workbench.services.stream.ingest import Ingested
    from workbench.services.stream.replacing import Elsewhere, Misfit, NameKind, Place, Wanted
    from workbench.services.stream.stream import ArchivePlan


# `workbench ingest`: single observations, by people and by agents' hooks.


_INGEST = """A text that repeats one of the last ten memories is skipped; a sure duplicate is counted on the
memory it repeats; a likely one is stored and waits in Review as a merge. What differs in a negation, opposite words, a
number, an identifier or a content word is stored and not merged; where it contradicts a confirmed memory, the question
whether that one still is true waits in Review.

A text that was archived is not new. One that a person forgot or rejected is not stored: a person is told, an agent's
sighting is counted, and from two sessions on Review asks whether to restore it. A pruned one comes back; one that was
merged or superseded counts for its successor. What was purged is not stored. --again stores all the same."""


def _add_ingest(commands: Commands) -> None:
    """Add `ingest`."""
    ingest = add_command(
        commands, "ingest", ingest_text, "add one observation", _INGEST,
        example='"Deploys need AUTH_SECRET in CI" --type gotcha',
    )  # fmt: skip
    add_observation(ingest)
    add_json(ingest)


def ingest_text(session: Session) -> int:
    """Store one observation and say what became of it."""
    args = session.args
    observation, kept = observed(args), keeps(args)
    with session.changing(actor_of(args), makes=True) as bench:
        done = bench.ingest.add(observation, bench.safety.keep if kept else None, again=args.again)
    if wants_json(args):
        write_json(_ingested_json(done))
    else:
        report(done)
    return 0


def report(done: "Ingested") -> None:
    """Say what became of an observation."""
    say(returned(done) or _outcome(done))
    if done.unwanted is not None:
        id = done.unwanted.id
        say(f"It resembles {id}, which you {archived(done.unwanted, done.at)}; `workbench unforget {id}` restores it.")


def _outcome(done: "Ingested") -> str:
    memory, other = done.memory, done.other
    if done.outcome == "skipped":
        return SKIPPED.format(memory.id)
    if done.outcome == "proposed" and other is not None:
        return f"Stored as {memory.id}. It resembles {other.id}; a merge waits in Review.{remarks_on(memory)}"
    if done.outcome == "contradicts" and other is not None:
        told = f"It contradicts {other.id}: {_against(done)}. Whether that still is true waits in Review."
        return f"Stored as {memory.id}. {told}{remarks_on(memory)}"
    if other is not None:
        return f"Stored as {memory.id}. It only looks like {other.id}: {_against(done)}.{remarks_on(memory)}"
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

FORMAT = "jsonl"

_DETAILS = """Archives every memory of a status that was made before DATE, in one action that `undo` takes back; pinned
ones stay. Signals and candidates are archived as pruned, confirmed and promoted memories as done. An archived memory is
served to no agent and kept in the store; `unforget` brings one back, `purge` erases it.
With --to the archived entries are also written to a file of learning entries (JSON lines), with those that it has;
`import` reads it. The file is replaced as by `export`: never one that was not read or written here. With --status
archived nothing changes, and the file gets what was archived before.

  workbench archive --before 2026-01-01 --status promoted --to memory-archive.jsonl"""


def _add_archive(commands: Commands) -> None:
    """Add `archive`."""
    parser = add_command(commands, "archive", archive, "archive old memories of a status", _DETAILS)
    about = "made before this: 3mo, 2026-01-01, …"
    parser.add_argument("--before", metavar="WHEN", type=time, required=True, help=about)
    parser.add_argument("--status", metavar="S", choices=STATUSES, required=True, help=", ".join(STATUSES))
    parser.add_argument("--to", metavar="FILE", type=Path, help="write them to this file, too: memory-archive.jsonl")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be archived")
    add_json(parser)


def archive(session: Session) -> int:
    args = session.args
    if args.status == "archived" and args.to is None:
        raise InvalidQuery("They are archived already.", "Nothing was changed; --to FILE writes them to a file.")
    path = None if args.to is None else session.cwd / args.to.expanduser()
    with session.reading() if args.dry_run else session.changing() as bench:
        plan = bench.archiving.plan(args.status, instant(args.before, session.clock()))
        if args.dry_run or not plan.memories:
            _show(session, bench, plan)
            return 0
        if path is not None:
            _require_room(bench, plan, path)
        bench.archiving.carry_out(plan)
        written = None if path is None else _write(bench, plan, path)
    _report(session, plan, written)
    return 0


def _require_room(bench: "Workbench", plan: "ArchivePlan", path: Path) -> None:
    """Raise, before anything is changed, when the file may not be written or a text may not leave the store."""
    from workbench.services.files.overwriting import NotReplaced

    bench.safety.require_outgoing(plan.memories)
    obstacle = _preview(bench, plan, path).obstacle
    if obstacle is not None:
        raise NotReplaced(obstacle, "Nothing was archived; name another file.")


def _preview(bench: "Workbench", plan: "ArchivePlan", path: Path) -> "ExportPreview":
    from workbench.services.files.exporting import Choice

    rendered = bench.exporter.render(FORMAT, Choice(memories=bench.archiving.for_file(plan, path)), path)
    return bench.exporter.preview(path, rendered.text, rendered.remarks, kind=rendered.export_format)


def _write(bench: "Workbench", plan: "ArchivePlan", path: Path) -> "Written":
    written = bench.exporter.write(_preview(bench, plan, path))
    from workbench.cli.files.export import report_written

    report_written(written)
    return written


def _show(session: Session, bench: "Workbench", plan: "ArchivePlan") -> None:
    """Say what a plan is about; it is carried out by nobody."""
    if wants_json(session.args):
        write_json(_archived_json(plan, dry=session.args.dry_run))
        return
    shown = Shown(bench, how="`workbench show` tells them")
    rows = [(shown(m).id, moment(m.created_at), m.observation_type, shown(m.line)) for m in plan.memories[:LISTED]]
    for line in table(rows) if rows else ():
        say(line)
    if len(plan.memories) > LISTED:
        say(f"… {len(plan.memories) - LISTED:,} more")
    shown.remark()
    what = counted(len(plan.memories), "memory", "memories")
    say(f"{what} of status {plan.status} from before {moment(plan.before)}. Nothing was changed.")
    _remark(plan)


def _report(session: Session, plan: "ArchivePlan", written: "Written | None") -> None:
    if wants_json(session.args):
        write_json({**_archived_json(plan, dry=False), "file": None if written is None else written.path})
        return
    what = counted(len(plan.memories), "memory", "memories")
    if plan.changes:
        say(f"Archived {what}. `workbench undo` brings them back.")
    if written is not None:
        say(f"{written.path} holds them; `workbench import` reads it.")
    _remark(plan)


def _remark(plan: "ArchivePlan") -> None:
    if plan.pinned:
        warn(f"{counted(plan.pinned, 'memory', 'memories')} of that age stay{'s' if plan.pinned == 1 else ''}: pinned.")


def _archived_json(plan: "ArchivePlan", *, dry: bool) -> dict[str, object]:
    return {
        "dry_run": dry,
        "status": plan.status,
        "before": plan.before,
        "ids": [memory.id for memory in plan.memories],
        "pinned": plan.pinned,
    }


# What `edit` and `replace` say and ask about the copies of what they correct.


WHY: "dict[Obstacle, str]" = {
    "rewritten": "has different wording by now and stays",
    "changed": "was changed by hand since and stays",
    "held": "stays: the new text is held back from files",
    "cites": "cites it and stays: check it",
    "whole": "stays until it is exported again",
}

QUERY = 48
"""Characters of an agent's question that are shown."""


class Told(NamedTuple):
    """What became of copies: those that were `updated`, those that say the old words still, and who had the memory."""

    updated: "tuple[Copy, ...]"
    left: "tuple[Copy, ...]"
    given: "tuple[Given, ...]"

    def values(self, bench: "Workbench") -> dict[str, object]:
        """Return them for JSON, without secrets."""
        mask = bench.safety.masked
        states = [*((copy, True) for copy in self.updated), *((copy, False) for copy in self.left)]
        return {
            "copies": [
                {"kind": copy.kind, "name": mask(copy.name), "updated": done, "obstacle": copy.obstacle}
                for copy, done in states
            ],
            "given": [
                {
                    "agent": mask(one.agent),
                    "sessions": one.sessions,
                    "query": mask(one.query),
                    "place": one.place or None,
                }
                for one in self.given
            ],
        }


NOTHING_TOLD = Told((), (), ())
"""There are no copies, and nobody had it."""


def with_copies(
    session: Session, bench: "Workbench", corrected: "Iterable[Correction]", write: Callable[[], object], label: str
) -> Told | None:
    """Write a correction, with its copies where `--copies` or a person's answer says so; return what became of them.

    `None` where none were looked for: an agent's change, or one that leaves every text. Raises `Conflict` when a copy
    was changed meanwhile; then nothing is written.
    """
    pairs = [(before, after) for before, after in corrected if before.content != after.content]
    if bench.context.actor != CLI_ACTOR or not pairs:
        write()
        return None
    plan = bench.copies.of(pairs)
    given = bench.given_lately.of(pairs[0][0].id) if len(pairs) == 1 else ()
    question = f"Update {counted(len(plan.updated), 'copy', 'copies')} too?"
    if plan.updated and are_wanted(session, bench, plan.updated, question):
        bench.copies.carry_out(plan, write, f"{label} and {counted(len(plan.updated), 'copy', 'copies')}")
        return Told(plan.updated, plan.left, given)
    write()
    return Told((), plan.copies, given)


def are_wanted(session: Session, bench: "Workbench", copies: "Sequence[Copy]", question: str) -> bool:
    """Tell whether copies are to be changed, too: what the option says, else what a person answers who saw them."""
    wanted = session.args.copies
    if wanted is not None or wants_json(session.args) or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return bool(wanted)
    for line in changed_lines(copies, bench.safety.masked):
        say(line)
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def changed_lines(copies: "Iterable[Copy]", mask: Callable[[str], str]) -> Iterator[str]:
    """Yield what changes in each copy, below its name."""
    for copy in copies:
        yield f"--- {mask(copy.name)}"
        yield from (mask(str(line)) for line in copy.lines if line.kind != "place")


def tell(bench: "Workbench", told: Told, again: str) -> None:
    """Say what became of the copies; `again` is what updates those that could be."""
    mask = bench.safety.masked
    could = [copy for copy in told.left if not copy.obstacle]
    if told.updated:
        say(f"Updated with it: {_names(told.updated, mask)}.")
    if could:
        warn(f"The old words still stand in {_names(could, mask)}. {again}")
    for why in dict.fromkeys(copy.obstacle for copy in told.left if copy.obstacle):
        warn(f"{_names([copy for copy in told.left if copy.obstacle == why], mask)} {WHY[why]}.")
    for one in told.given:
        asked = f"; #{one.place} for its last query “{one_line(mask(one.query), QUERY)}”" if one.query else ""
        say(f"Given to {mask(one.agent)} in {counted(one.sessions, 'session')} this week{asked}.")


def _names(copies: "Sequence[Copy]", mask: Callable[[str], str]) -> str:
    more = f" and {len(copies) - 5} more" if len(copies) > 5 else ""
    return ", ".join(mask(copy.name) for copy in copies[:5]) + more


# `workbench vote`: marks on single memories and bullets, by people and by agents' hooks.


_VOTE = """ID is a memory's or a bullet's (BOOK/ID when several playbooks have it). Everybody has one vote on
each; a second one replaces the first."""


def _add_vote(commands: Commands) -> None:
    """Add `vote`."""
    vote = add_command(
        commands, "vote", cast_vote, "mark a memory or a bullet as helpful or harmful", _VOTE,
        example='shr-00001 helpful --reason "it saved the release"',
    )  # fmt: skip
    vote.add_argument("id", metavar="ID")
    vote.add_argument("verdict", choices=("helpful", "harmful"))
    vote.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the vote")
    vote.add_argument("--session", metavar="S", default="", help="the agent session it is cast in")
    add_actor(vote, "the reason")
    add_json(vote)


def cast_vote(session: Session) -> int:
    """Cast one vote and say what it did."""
    from workbench.core.text import clean_for_store
    from workbench.services.stream import votes
    from workbench.services.stream.votable import find_votable

    args = session.args
    kept = keeps(args)
    with session.changing(actor_of(args)) as bench:
        record = find_votable(bench.context, args.id)
        reason, of = clean_for_store(args.reason).strip(), clean_for_store(args.session)
        keep = bench.safety.keep_typed if kept else None
        result = votes.cast(bench.context, record, args.verdict, reason=reason, session=of, keep=keep)
    if wants_json(args):
        write_json({"id": args.id, "verdict": args.verdict, "said": result.sentence})
    else:
        say(result.sentence)
    return 0


_EDIT = """Changes the text of a memory, and any field that says something of it; --also gives further memories the same
values, all of them or none. A bullet has a text and --section. Without anything to change the text opens in your editor
(`editor` in the config, else $VISUAL, $EDITOR). An empty value empties a field: --summary "". --status takes candidate
(it waits in Review then) and confirmed; `forget`, `review promote` and `undo` lead to the others. By an agent another
text becomes a question that waits in Review; the other fields are for a person. Where copies of the text stand
elsewhere (CLAUDE.md, a playbook, an insight), they are shown; on a terminal you are asked, else --copies updates them,
all as one action with one undo. A file that somebody changed since stays as it is.

  workbench edit mem-20261121-0000001 "Deploys need AUTH_SECRET in CI" --type gotcha
  workbench edit mem-20261121-0000001 --also mem-20261121-0000002 --add-tag ci
  git log -1 --format=%b | workbench edit mem-20261121-0000001 -"""

_PIN = """What is pinned does not decay, is never archived by age, and stands first in what an agent is served. IDs are
those of memories or bullets.

  workbench pin mem-20261121-0000001 shr-00004
  workbench pin shr-00004 --off"""

_FORGET = """Archives memories: they are served to no agent any more. Nothing is erased (`workbench purge` does that),
and `workbench undo` or `workbench unforget` brings them back. By an agent it is a question that waits in Review.

  workbench forget mem-20261121-0000001 mem-20261121-0000002 --reason "the job is gone\""""

_UNFORGET = """Brings archived memories back with the status they had: forgotten, rejected, pruned, superseded or done
ones. What was merged comes back by undoing the merge. (`restore` is another thing: it makes a store of a backup.)

  workbench unforget mem-20261121-0000001"""

_ACTOR = "the agent this is done by (otherwise: the agent that runs the command, or you)"


def add_commands(commands: Commands) -> None:
    _add_ingest(commands)
    _add_vote(commands)
    edit = add_command(commands, "edit", edit_records, "change the text or any field of a memory, or a bullet", _EDIT)
    edit.add_argument("id", metavar="ID", help="a memory's id, or a bullet's (BOOK/ID when several playbooks have it)")
    edit.add_argument("text", metavar="TEXT", nargs="?", help="the text, or - to read it from stdin")
    edit.mixes = True
    also = "update its copies too: files it was promoted or exported to, bullets and insights that say the same"
    edit.add_argument("--copies", action=BooleanOptionalAction, help=also)
    _add_fields(edit)
    add_actor(edit, "what is given")
    pin = add_command(commands, "pin", pin_records, "pin memories or bullets, so that they do not decay", _PIN)
    pin.add_argument("ids", metavar="ID", nargs="+")
    pin.add_argument("--off", action="store_true", help="unpin them")
    forget = add_command(commands, "forget", forget_memories, "archive memories; nothing is erased", _FORGET)
    forget.add_argument("ids", metavar="ID", nargs="+")
    forget.add_argument("--reason", metavar="TEXT", default="", help="why; a person sees it where an agent asks")
    add_keep(forget, "the reason")
    unforget = add_command(commands, "unforget", unforget_memories, "bring archived memories back", _UNFORGET)
    unforget.add_argument("ids", metavar="ID", nargs="+")
    for parser in (pin, forget, unforget):
        parser.add_argument("--actor", metavar="NAME", help=_ACTOR)
    for parser in (edit, pin, forget, unforget):
        add_json(parser)
    _add_archive(commands)
    _add_replace(commands)


def _add_fields(edit: Parser) -> None:
    edit.add_argument("--content", metavar="TEXT", help="the text, as after ID")
    edit.add_argument("--also", metavar="ID", action="append", default=[], help="another memory; several times")
    edit.add_argument("--summary", metavar="TEXT", help="the line that lists show")
    edit.add_argument("--type", metavar="T", choices=OBSERVATION_TYPES, help="observation type")
    edit.add_argument("--memory-type", metavar="M", choices=MEMORY_TYPES, help="memory type")
    edit.add_argument("--importance", metavar="N", type=points, help="0 to 10")
    edit.add_argument("--confidence", metavar="N", type=level, help="0 to 5")
    edit.add_argument("--tags", metavar="A,B", help="all tags, with commas between")
    edit.add_argument("--add-tag", metavar="T", action="append", default=[], help="one tag more; several times")
    edit.add_argument("--remove-tag", metavar="T", action="append", default=[], help="one tag less; several times")
    edit.add_argument("--category", metavar="C", help="command, convention, gotcha, …")
    edit.add_argument("--section", metavar="S", help="its section; a bullet moves to the end of it")
    edit.add_argument("--related", metavar="ID,ID", help="the memories it refers to, with commas between")
    edit.add_argument("--note", metavar="TEXT", help="a note for people; no agent reads it")
    edit.add_argument("--session", metavar="S", help="the agent session it comes from")
    edit.add_argument("--speaker", metavar="WHO", help="who said it: user, assistant, tool or a name")
    edit.add_argument("--status", metavar="S", choices=("candidate", "confirmed"), help="candidate or confirmed")


def edit_records(session: Session) -> int:
    """Change the text and fields, or open the text in an editor."""
    wanted = _wanted(session.args)
    with session.changing() as bench:
        found = records(bench, [session.args.id, *session.args.also])
        if not wanted.named:
            return _in_editor(session, bench, found)
        bullet = next((record for record in found if isinstance(record, Bullet)), None)
        if bullet is not None and (len(found) > 1 or set(wanted.named) - {"content", "section"}):
            raise InvalidQuery(f"{bullet.id} is a bullet: it has a text and a section, and is edited alone.", UNCHANGED)
        if bench.context.actor != CLI_ACTOR and wanted.named == ("content",) and isinstance(found[0], Memory):
            return _ask_to_replace(session, bench, found[0], wanted.content or "")
        changed, told = _edit(session, bench, found, wanted)
        return _report_edit(session, bench, found[0].id, changed, told)


def _edit(
    session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]", wanted: "FieldEdit"
) -> "tuple[Sequence[str], Told | None]":
    """Write new values, with the copies of what is corrected where that is wanted; return what differs now."""
    ids, places = [record.id for record in found], [_place(record) for record in found]
    changed: list[str] = []

    def write() -> None:
        one = found[0]
        changed[:] = bench.fields.edit(ids, wanted) if isinstance(one, Memory) else _edit_bullet(bench, one, wanted)

    if keeps(session.args) or _hides(bench, wanted.content):
        with bench.safety.keeping(f"edit {_named(ids)}", wanted.typed if keeps(session.args) else (), lambda: places):
            write()
        return changed, None
    corrected = [_as_edited(bench, record, wanted) for record in found]
    return changed, with_copies(session, bench, corrected, write, f"edit {_named(ids)}")


def _hides(bench: "Workbench", text: str | None) -> bool:
    """Tell whether a text is stored with a secret masked: then it is not what copies are to say."""
    return text is not None and bench.safety.masked(text) != clean_for_store(text)


def _as_edited(
    bench: "Workbench", record: Memory | Bullet, wanted: "FieldEdit"
) -> "tuple[Memory | Bullet, Memory | Bullet]":
    if isinstance(record, Memory):
        return record, bench.fields.edited(record, wanted)
    return bench.playbooks.edited(record.book, record.id, wanted.content or record.content)


def pin_records(session: Session) -> int:
    """Pin, or let go."""
    pinned = not session.args.off
    with session.changing() as bench:
        require_person(bench.context.actor, "pin or unpin anything")
        every = records(bench, session.args.ids)
        found = [record for record in every if record.pinned != pinned]
        with ExitStack() as stack:
            if found:
                label = f"{'pin' if pinned else 'unpin'} {_named([record.id for record in found])}"
                stack.enter_context(bench.library.transaction(bench.context.actor, label))
            for record in found:
                if isinstance(record, Memory):
                    bench.stream.pin([record.id], pinned)
                else:
                    bench.playbooks.pin(record.book, [record.id], pinned)
    ids, verb = [record.id for record in every], "Pinned" if pinned else "Unpinned"
    said = f"{verb} {_named(ids)}. `workbench undo` takes it back." if found else f"{verb} already: {_named(ids)}."
    return _tell(session, {"ids": ids, "pinned": pinned}, said)


def forget_memories(session: Session) -> int:
    """Archive, or ask for it as an agent."""
    args = session.args
    reason, kept = " ".join(clean_for_store(args.reason).split()), keeps(args)
    with session.changing() as bench:
        found = memories(bench, args.ids)
        if bench.context.actor != CLI_ACTOR:
            return _ask_to_forget(session, bench, found, reason)
        ids = [memory.id for memory in found]
        label = f"forget {_named(ids)}" + (f": {reason}" if reason else "")
        with bench.library.transaction(bench.context.actor, label):
            bench.stream.forget(ids)
            if kept:
                bench.safety.keep_typed(reason)
    return _tell(session, {"ids": ids}, f"Forgot {_named(ids)}. `workbench undo` takes it back.")


def unforget_memories(session: Session) -> int:
    """Bring back."""
    with session.changing() as bench:
        require_person(bench.context.actor, "bring anything back")
        ids = [memory.id for memory in memories(bench, session.args.ids)]
        bench.stream.restore(ids)
    return _tell(session, {"ids": ids}, f"Brought back {_named(ids)}. `workbench undo` takes it back.")


def _wanted(args: Namespace) -> "FieldEdit":
    from workbench.services.stream.fields import FieldEdit

    if args.text is not None and args.content is not None:
        raise InvalidQuery("The text was given twice.", f"{UNCHANGED} Leave out --content.")
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


def _in_editor(session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]") -> int:
    """Open the text of one record in the person's editor, and store what they saved."""
    from workbench.config import editor
    from workbench.services.stream.fields import FieldEdit

    if len(found) > 1:
        raise InvalidQuery("The editor opens one text at a time.", f"{UNCHANGED} Say which field is to change.")
    if bench.context.actor != CLI_ACTOR:
        raise WorkbenchError("An agent has no editor here.", f"{UNCHANGED} Give the text after the id.")
    setting = session.settings().settings.editor
    known = setting or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not known and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError("There is no terminal for an editor.", f"{UNCHANGED} Give the text after the id.")
    record = found[0]
    saved = editor.edit(record.content, setting)
    if saved is None:
        return _report_edit(session, bench, record.id, (), None)
    if records(bench, [_place(record)])[0].content != record.content:
        raise Conflict(f"{record.id} was changed by someone else meanwhile.", "Nothing was written.")
    changed, told = _edit(session, bench, found, FieldEdit(content=saved))
    return _report_edit(session, bench, record.id, changed, told)


def _edit_bullet(bench: "Workbench", bullet: Bullet, wanted: "FieldEdit") -> list[str]:
    require_person(bench.context.actor, "change a bullet")
    bench.playbooks.edit(bullet.book, bullet.id, wanted.content, section=wanted.section)
    now = bench.playbooks.bullet(bullet.book, bullet.id)
    return [] if now == bullet else [bullet.id]


def _ask_to_replace(session: Session, bench: "Workbench", memory: Memory, text: str) -> int:
    from workbench.services.agents.requests import AgentRequests
    from workbench.services.stream.observation import Observation

    same = Observation(text, memory.observation_type, memory.memory_type, memory.session_id, memory.tags)
    proposal = AgentRequests(bench.context).replace(memory, same)
    said = f"A person is asked whether this takes the place of {memory.id}; until then nothing changes."
    return _tell(session, {"id": memory.id, "changed": False, "ids": [], "proposed": proposal.id}, said)


def _ask_to_forget(session: Session, bench: "Workbench", found: Sequence[Memory], reason: str) -> int:
    from workbench.services.agents.requests import AgentRequests

    done = AgentRequests(bench.context).forget(found, (), bench.safety.masked(reason))
    return _tell(session, dict(done), "A person is asked; until then nothing changes.")


def _place(record: Memory | Bullet) -> str:
    return record.id if isinstance(record, Memory) else f"{record.book}/{record.id}"


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} records"


def _report_edit(session: Session, bench: "Workbench", id: str, changed: Sequence[str], told: Told | None) -> int:
    said = (
        f"Edited {_named(changed)}. `workbench undo` takes it back."
        if changed
        else "Nothing differs; nothing was changed."
    )
    copies = {} if told is None or told == NOTHING_TOLD else told.values(bench)
    code = _tell(session, {"id": id, "changed": bool(changed), "ids": list(changed), **copies}, said)
    if told is not None and changed and not wants_json(session.args):
        tell(bench, told, "`workbench undo`, then the same with --copies, updates them too.")
    return code


def _tell(session: Session, values: dict[str, object], sentence: str) -> int:
    if wants_json(session.args):
        write_json(values)
    else:
        say(sentence)
    return 0


# `workbench replace`: other words in every record that holds them, each one seen first.


_REPLACE = """Shows every memory and bullet that holds FIND, with its words in place, and asks about each: a takes it,
x leaves it, A takes all that are left, q stops there. What you took is written as one action with one undo; nothing
else changes. Archived memories are left out. Without a terminal --yes takes all places, --only some of them.
Tags, categories and titles of sections are places with --names; where else it stands and stays is said at the end.

  workbench replace authd gatekeeper --word --names
  workbench replace "npm run" "pnpm run" --filter type:command --dry-run
  workbench replace authd gatekeeper --only mem-20261121-0000001,main/ops-00002"""

_MISFITS: "dict[Misfit, str]" = {
    "long": "it would be too long", "empty": "nothing would be left of it",
    "taken": "a section has that title already",
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


def _add_replace(commands: Commands) -> None:
    """Add `replace`."""
    from argparse import BooleanOptionalAction

    title = "find and replace in all memories and bullets"
    command = add_command(commands, "replace", replace_words, title, _REPLACE)
    command.add_argument("find", metavar="FIND", help="the exact words to find")
    command.add_argument("replacement", metavar="REPLACEMENT", help="the replacement; may be empty")
    command.add_argument("--word", action="store_true", help="only where they are no part of a longer word")
    command.add_argument("--ignore-case", action="store_true", help="in whatever case")
    named = "also in tags, categories, and titles of sections"
    command.add_argument("--names", action="store_true", help=named)
    command.add_argument("--filter", metavar="F", help="only in these memories, and in no bullets")
    command.add_argument("--only", metavar="ID,ID", help="only in these, unasked; bullets as BOOK/ID")
    command.add_argument("--yes", action="store_true", help="in all of them, unasked")
    command.add_argument("--dry-run", action="store_true", help="only show the places")
    also = "in the files that hold these records too: those they were promoted or exported to"
    command.add_argument("--copies", action=BooleanOptionalAction, help=also)
    add_json(command)


def replace_words(session: Session) -> int:
    """Show the places, ask about them, and replace."""
    from workbench.services.stream.replacing import Wanted

    args = session.args
    wanted = Wanted(args.find, args.replacement, args.word, args.ignore_case, args.names)
    with session.reading() if args.dry_run else session.changing() as bench:
        if not args.dry_run:
            require_person(bench.context.actor, "replace words across the store")
        among = None if args.filter is None else bench.stream.view(args.filter).memories
        places = _only(args.only, bench.replacing.places(wanted, among))
        if args.dry_run or not places:
            return _show_places(session, bench, places, bench.replacing.elsewhere(wanted))
        chosen = _chosen(session, bench, places)
        plan = bench.replacing.copies(chosen)
        question = f"Replace in {counted(len(plan.updated), 'file')} too?"
        along = bool(plan.updated) and are_wanted(session, bench, plan.updated, question)
        if bench.safety.masked(args.replacement) != args.replacement:
            warn("The replacement holds a secret, which is stored masked.")
        bench.replacing.carry_out(wanted, chosen, plan if along else None)
        told = Told(plan.updated if along else (), plan.left if along else plan.copies, ())
        return _report_replaced(session, bench, wanted, chosen, told)


def _stays(elsewhere: "Sequence[Elsewhere]") -> None:
    """Say where else it stands, and what takes that along."""
    if not elsewhere:
        return
    said = ", ".join(counted(count, *_ELSEWHERE[kind]) for kind, count in elsewhere)
    more = " --names takes tags, categories and titles along." if any(e.kind in _NAMED for e in elsewhere) else ""
    stays = "which stays as it is" if sum(count for _, count in elsewhere) == 1 else "which stay as they are"
    warn(f"It stands in {said} too, {stays}.{more}")


def _only(names: str | None, places: "Sequence[Place]") -> "list[Place]":
    if names is None:
        return list(places)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    known = {place.name: place for place in places}
    if missing := [name for name in asked if name not in known]:
        raise UnknownRecord(f"{missing[0]} does not hold it.", f"{NOT_WRITTEN} --dry-run lists the places.")
    return [known[name] for name in dict.fromkeys(asked)]


def _chosen(session: Session, bench: "Workbench", places: "Sequence[Place]") -> "list[Place]":
    """Return the places to replace in: all, or those that a person takes."""
    fitting = [place for place in places if not place.misfit]
    for place in places:
        if place.misfit:
            warn(f"{place.name} stays: {_MISFITS[place.misfit]}.")
    if session.args.yes or session.args.only is not None:
        return fitting
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError("No terminal to ask in.", f"{NOT_WRITTEN} --yes takes all, --dry-run shows them.")
    return list(_asked(bench, fitting))


def _asked(bench: "Workbench", places: "Sequence[Place]") -> "Iterator[Place]":
    """Yield the places that a person takes, one after the other."""
    for at, place in enumerate(places):
        _print(bench, place)
        while True:
            sys.stdout.write(f"{at + 1} of {len(places)}: take, leave, all, quit [a/x/A/q]? ")
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


def _show_places(
    session: Session, bench: "Workbench", places: "Sequence[Place]", elsewhere: "Sequence[Elsewhere]"
) -> int:
    if wants_json(session.args):
        values = {"dry_run": session.args.dry_run, "places": [_place_json(bench, place) for place in places], "ids": []}
        write_json({**values, "elsewhere": dict(elsewhere)})
        return 0
    for place in places:
        _print(bench, place)
    say(f"{counted(len(places), 'place')}. {NOT_WRITTEN}")
    _stays(elsewhere)
    return 0


def _report_replaced(
    session: Session, bench: "Workbench", wanted: "Wanted", chosen: "Sequence[Place]", told: Told
) -> int:
    elsewhere = bench.replacing.elsewhere(wanted)
    if wants_json(session.args):
        values = {
            "dry_run": False,
            "places": [_place_json(bench, place) for place in chosen],
            "elsewhere": dict(elsewhere),
        }
        copies = {"copies": told.values(bench)["copies"]}
        write_json({**values, "ids": [place.name for place in chosen], **copies})
        return 0
    if not chosen:
        say(f"Taken nowhere. {NOT_WRITTEN}")
        return 0
    mask = bench.safety.masked
    what = chosen[0].name if len(chosen) == 1 else counted(len(chosen), "record")
    say(f"Replaced “{mask(wanted.find)}” in {what}. `workbench undo` takes it back.")
    tell(bench, told, "`workbench undo`, then the same with --copies, replaces there too.")
    _stays(elsewhere)
    return 0


def _print(bench: "Workbench", place: "Place") -> None:
    say(f"{place.name}  {counted(place.count, 'time')}")
    for line in _diff(place, bench.safety.masked).splitlines():
        say(f"  {line}")


def _diff(place: "Place", mask: Callable[[str], str]) -> str:
    return "\n".join(word_diff(mask(old), mask(new)) for old, new in place.texts)


def _place_json(bench: "Workbench", place: "Place") -> dict[str, object]:
    return {
        "id": place.name,
        "count": place.count,
        "diff": _diff(place, bench.safety.masked),
        "misfit": place.misfit,
    }
