"""Changing patterns: adding, editing, recording, validating, deciding, merging, taking in files."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.cli.exit_codes import FOUND
from workbench.cli.output import say, table, warn, write_json
from workbench.cli.parsing import wants_json
from workbench.cli.session import Session
from workbench.core.errors import InvalidQuery, InvalidRecord, UnreadableFile
from workbench.core.files.handles import read_named
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.agents.patterns.lifecycle import Validation
    from workbench.core.agents.patterns.pattern import Pattern

LARGEST = 64 << 20
"""Bytes of a file of patterns, at the most."""

_NOTHING = "Nothing was written."


def add_patterns(session: Session) -> int:
    """Add the patterns of a file."""
    given = _read(session)
    docs = given if isinstance(given, list) else [given]
    if not docs:
        raise InvalidRecord("There is no pattern in it.", _NOTHING)
    with session.changing(makes=True) as bench:
        made = bench.patterns.add(docs)
        flagged = {held.record.id for held in bench.safety.speaking(made)}
    if wants_json(session.args):
        write_json([{"id": one.id, "status": one.status, "flagged": one.id in flagged} for one in made])
        return 0
    for one in made:
        say(f"Added {one.id} ({one.status.replace('_', ' ')}): {one.name}")
    for one in made:
        if one.id in flagged:
            warn(f"{one.id} is flagged and held back from agents; `workbench scan` says why.")
    return 0


def edit_pattern(session: Session) -> int:
    """Change fields of a pattern."""
    patch = _read(session)
    if not isinstance(patch, Mapping):
        raise InvalidRecord("A patch is a JSON object of the fields that change.", _NOTHING)
    with session.changing() as bench:
        before = bench.patterns.get(session.args.id)
        after = bench.patterns.update(session.args.id, patch)
    if wants_json(session.args):
        write_json({"id": after.id, "version": after.edition, "changed": after != before})
    elif after == before:
        say(f"{after.id} says that already.")
    else:
        say(f"Changed {after.id}: it is version {after.edition} now.")
    return 0


def record_application(session: Session) -> int:
    """Record how applying a pattern went."""
    args = session.args
    with session.changing() as bench:
        done = bench.patterns.record(
            args.id, args.episode, args.outcome, task=args.task, note=args.note, time=args.time, cost=args.cost
        )
        pattern = bench.patterns.get(args.id)
    if wants_json(args):
        write_json({"pattern": done.pattern, "episode": done.episode, "outcome": done.outcome,
                    "usage_count": pattern.usage_count})  # fmt: skip
    else:
        say(f"Recorded: {done.pattern} in {done.episode}, {done.outcome}; used {pattern.usage_count:,} times.")
    return 0


def validate_patterns(session: Session) -> int:
    """Hold patterns against their evidence."""
    args = session.args
    if args.dry_run:
        with session.reading() as bench:
            done = bench.patterns.validations(args.ids)
    else:
        with session.changing() as bench:
            done = bench.patterns.validate(args.ids)
    if wants_json(args):
        write_json([_validation_json(one) for one in done])
        return 0
    told = [one for one in done if args.ids or one.outlook != "insufficient"]
    for line in table([_validation(one) for one in told]) if told else ():
        say(line)
    few = len(done) - len(told)
    if few:
        warn(f"{counted(few, 'pattern')} with fewer than 5 applications in the last 90 days: unchanged.")
    if not done:
        warn("The store has no patterns yet.")
    elif args.dry_run:
        warn("Nothing was changed: --dry-run.")
    return 0


def _validation(one: "Validation") -> tuple[str, ...]:
    found = one.finding
    stands = one.after.status.replace("_", " ")
    moved = f"{one.before.status.replace('_', ' ')} → {stands}" if one.moves else stands
    if one.outlook == "insufficient":
        return one.before.id, moved, f"{counted(found.episodes, 'application')} of the 5 that it needs"
    share = f"{found.successes} of {found.episodes} succeeded"
    return one.before.id, moved, f"{share}, p = {found.p_value:.3g}, confidence {found.confidence:.2f}"


def _validation_json(one: "Validation") -> dict[str, object]:
    found = one.finding
    return {
        "id": one.before.id, "outlook": one.outlook, "before": one.before.status, "after": one.after.status,
        "applications": found.episodes, "successes": found.successes, "success_rate": found.success_rate,
        "p_value": found.p_value, "confidence": found.confidence, "since": found.since,
    }  # fmt: skip


def _approve(session: Session) -> int:
    with session.changing() as bench:
        return _told(session, bench.patterns.approve(session.args.id, session.args.reason))


def _refine(session: Session) -> int:
    with session.changing() as bench:
        return _told(session, bench.patterns.refine(session.args.id, session.args.reason))


def _deprecate(session: Session) -> int:
    with session.changing() as bench:
        return _told(session, bench.patterns.deprecate(session.args.id, session.args.reason))


def _restore(session: Session) -> int:
    with session.changing() as bench:
        return _told(session, bench.patterns.restore(session.args.id))


DECISIONS: Mapping[str, Callable[[Session], int]] = {
    "approve": _approve, "refine": _refine, "deprecate": _deprecate, "restore": _restore,
}  # fmt: skip
"""What a person decides about one pattern, by the verb for it."""


def supersede_pattern(session: Session) -> int:
    """Deprecate a pattern in favour of another one."""
    args = session.args
    with session.changing() as bench:
        return _told(session, bench.patterns.supersede(args.id, args.by, args.reason))


def _told(session: Session, pattern: "Pattern") -> int:
    if wants_json(session.args):
        write_json({"id": pattern.id, "status": pattern.status, "reason": pattern.status_reason,
                    "superseded_by": pattern.superseded_by})  # fmt: skip
    else:
        from workbench.core.agents.patterns.lifecycle import NAMES

        by = f", superseded by {pattern.superseded_by}" if pattern.superseded_by else ""
        say(f"{pattern.id} is {NAMES[pattern.status]}{by}.")
    return 0


def merge_patterns(session: Session) -> int:
    """Make one pattern of several."""
    with session.changing() as bench:
        made = bench.patterns.merge(session.args.ids)
    if wants_json(session.args):
        write_json({"id": made.id, "status": made.status, "merged": list(dict.fromkeys(session.args.ids))})
    else:
        say(f"Merged into {made.id} ({made.status}): {made.name}. The others are deprecated in its favour.")
    return 0


def relate_patterns(session: Session) -> int:
    """Say how two patterns stand to each other."""
    args = session.args
    with session.changing() as bench:
        bench.patterns.relate(args.id, args.relation, args.other, remove=args.remove)
    say(f"{args.id} {args.relation} {args.other}{' no longer' if args.remove else ''}.")
    return 0


def prune_patterns(session: Session) -> int:
    """List patterns that are worth little, and take them out of use where that is asked."""
    args = session.args
    if args.ids and not args.deprecate:
        raise InvalidQuery("IDs are for --deprecate.", "Without it, every pattern that is worth little is listed.")
    with session.changing() if args.deprecate else session.reading() as bench:
        weak = bench.patterns.weak()
        if args.deprecate:
            chosen = tuple(args.ids) or tuple(pattern.id for pattern, _ in weak)
            gone = bench.patterns.prune(chosen) if chosen else ()
            weak = tuple((pattern, why) for pattern, why in weak if pattern.id in chosen)
        mask = bench.safety.masked
        if wants_json(args):
            write_json(
                [{"id": p.id, "name": mask(p.name), "why": list(why), "deprecated": args.deprecate} for p, why in weak]
            )
            return 0
        words = {
            "low_confidence": "low confidence",
            "unused": "not applied for 90 days",
            "contradicted": "contradicted",
        }
        rows = [(p.id, ", ".join(words[one] for one in why), mask(p.name)) for p, why in weak]
    for line in table(rows) if rows else ():
        say(line)
    if args.deprecate and weak:
        say(f"Deprecated {counted(len(gone), 'pattern')}; `workbench undo` takes that back.")
    elif not weak:
        warn("No pattern is worth little.")
    return 0


def import_patterns(session: Session) -> int:
    """Take in a file of patterns; exit code 1 when something of it could not be read."""
    from workbench.services.files.imports.paths import as_named

    args, path = session.args, as_named(session.args.file, session.cwd)
    with session.reading(planning=True) if args.dry_run else session.changing(makes=True) as bench:
        intake = bench.pattern_intake.plan(path)
        written = 0 if args.dry_run else bench.pattern_intake.carry_out(intake)
        mask = bench.safety.masked
        lost = [*(str(issue) for issue in intake.issues), *(f"{id}: {why}" for id, why in intake.refused)]
        if wants_json(args):
            new = [{"id": one.id, "name": mask(one.name), "status": one.status} for one in intake.new]
            write_json(
                {"new": new, "present": list(intake.present), "written": written, "problems": list(map(mask, lost))}
            )
            return FOUND if lost else 0
        for one in intake.new if args.dry_run else ():
            say(mask(f"{one.id}  {one.status}  {one.name}"))
    there = f", {counted(len(intake.present), 'one')} there already" if intake.present else ""
    what = (
        f"{counted(len(intake.new), 'pattern')} to import"
        if args.dry_run
        else f"Imported {counted(written, 'pattern')}"
    )
    say(f"{what}{there}.")
    for line in lost:
        warn(mask(line))
    return FOUND if lost else 0


def export_patterns(session: Session) -> int:
    """Write patterns into agent-playbook's file."""
    from workbench.core.files.replacing import replace_file
    from workbench.services.files.imports.paths import as_named

    args, path = session.args, as_named(session.args.file, session.cwd)
    try:
        before = read_named(path, LARGEST) if path.exists() else None
        original = None if before is None else before.decode("utf-8")
    except OSError as error:
        raise UnreadableFile(f"{args.file} cannot be read: {error.strerror}.", _NOTHING) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{args.file} is no text in UTF-8.", _NOTHING) from error
    with session.reading(approved=True) as bench:
        text = bench.pattern_intake.written(args.ids, original, bench.safety)
    if text != original:
        replace_file(path, text, before)
    if wants_json(args):
        write_json({"file": str(path), "changed": text != original})
    else:
        say(f"{'Wrote' if text != original else 'Nothing to write: the same stands in'} {args.file}.")
    return 0


def move_memories(session: Session) -> int:
    """Make patterns of memories that came in from pattern files."""
    args = session.args
    with session.changing() if args.yes else session.reading() as bench:
        moves = bench.pattern_intake.movable()
        done = bench.pattern_intake.move(moves) if args.yes else 0
        mask = bench.safety.masked
        rows = [
            {"id": one.memory.id, "name": mask(one.pattern.name), "status": one.pattern.status,
             "memory_confidence": one.memory.confidence, "confidence": one.pattern.support.confidence_score,
             "applications": one.pattern.support.num_applications}
            for one in moves
        ]  # fmt: skip
    if wants_json(args):
        write_json({"moved": args.yes, "memories": rows})
        return 0
    for row in () if args.yes else rows:
        say(f"{row['id']}  {row['name']}")
        say(f"  confidence {row['memory_confidence']} of 5 → {row['confidence']:.2f}, "
            f"{row['applications']} applications counted, as {row['status']}")  # fmt: skip
    if args.yes and rows:
        say(f"Moved {counted(done, 'memory', 'memories')} to the patterns; they are archived as superseded.")
    elif rows:
        warn(
            f"{counted(len(rows), 'memory', 'memories')} can become patterns; --yes does it, and `undo` takes it back."
        )
    else:
        warn("No memory came in from a pattern file.")
    return 0


def _read(session: Session) -> object:
    """Return the JSON of a file or of stdin; raises `UnreadableFile`."""
    name = session.args.file
    shown = "stdin" if name == "-" else os.fsdecode(name)
    try:
        if name == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            data = read_named(session.cwd / os.fsdecode(name), LARGEST)
    except OSError as error:
        raise UnreadableFile(f"{shown} cannot be read: {error.strerror}.", _NOTHING) from error
    if len(data) > LARGEST:
        raise UnreadableFile(f"{shown} is larger than {LARGEST >> 20} MB.", _NOTHING)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"{shown}:{error.lineno}: no JSON: {error.msg}.", _NOTHING) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(f"{shown} holds no JSON in UTF-8 that can be read.", _NOTHING) from error
