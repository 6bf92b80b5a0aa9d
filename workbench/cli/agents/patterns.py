"""`workbench pattern`: what agents learned to do, with where it applies and what speaks for it."""

import json
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import cut, moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, add_limit, file_or_stdin, wants_json
from workbench.cli.safety.flags import FLAG, Shown, add_secrets, review_json, unreviewed
from workbench.cli.session import FOUND, Session, actor_of
from workbench.core.agents.patterns.pattern import CATEGORIES, OUTCOMES, RELATIONS, STATUSES, Status
from workbench.core.files.fresh import read_named
from workbench.core.record import InvalidQuery, InvalidRecord, StoreProblem, UnreadableFile
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.matching import LeftOut, Match, Task
    from workbench.core.agents.patterns.pattern import Application, Node, Pattern
    from workbench.core.agents.patterns.statistics import Validation
    from workbench.services.agents.patterns import Found, Patterns
    from workbench.services.open import Workbench


# Changing patterns: adding, editing, recording, validating, deciding, merging, taking in files.


LARGEST = 64 << 20
"""Bytes of a file of patterns, at the most."""

_NOTHING = "Nothing was written."


def add_patterns(session: Session) -> int:
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


DECISIONS: Mapping[str, Callable[["Patterns", Namespace], "Pattern"]] = {
    "approve": lambda patterns, args: patterns.approve(args.id, args.reason),
    "refine": lambda patterns, args: patterns.refine(args.id, args.reason),
    "deprecate": lambda patterns, args: patterns.deprecate(args.id, args.reason),
    "restore": lambda patterns, args: patterns.restore(args.id),
    "supersede": lambda patterns, args: patterns.supersede(args.id, args.by, args.reason),
}
"""What a person decides about one pattern, by the verb for it."""


def decide_pattern(session: Session) -> int:
    with session.changing() as bench:
        return _told(session, DECISIONS[session.args.verb](bench.patterns, session.args))


def _told(session: Session, pattern: "Pattern") -> int:
    if wants_json(session.args):
        write_json({"id": pattern.id, "status": pattern.status, "reason": pattern.status_reason,
                    "superseded_by": pattern.superseded_by})  # fmt: skip
    else:
        from workbench.core.agents.patterns.statistics import NAMES

        by = f", superseded by {pattern.superseded_by}" if pattern.superseded_by else ""
        say(f"{pattern.id} is {NAMES[pattern.status]}{by}.")
    return 0


def merge_patterns(session: Session) -> int:
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
    from workbench.services.files.paths import as_named

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
    from workbench.services.files.paths import as_named

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


def read_text(session: Session, name: str) -> str:
    """Return the text of a file or of stdin; raises `UnreadableFile`."""
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
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{shown} is no text in UTF-8.", _NOTHING) from error


def _read(session: Session) -> object:
    """Return the JSON of a file or of stdin; raises `UnreadableFile`."""
    text = read_text(session, session.args.file)
    shown = "stdin" if session.args.file == "-" else os.fsdecode(session.args.file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"{shown}:{error.lineno}: no JSON: {error.msg}.", _NOTHING) from error
    except RecursionError as error:
        raise UnreadableFile(f"{shown} holds no JSON in UTF-8 that can be read.", _NOTHING) from error


# Looking at patterns: lists, one in full, those that fit a task, those alike, a filled template, the tree.


LEFT_OUT = 20
"""Patterns that do not apply of which is said why."""


def list_patterns(session: Session) -> int:
    """Print patterns, a line each."""
    args = session.args
    with session.reading() as bench:
        shown = Shown(bench, secrets=args.show_secrets)
        wanted = [p for p in bench.patterns.all() if _is_wanted(p, args.status, args.category)]
        chosen = cut(wanted, args.limit)
        if wants_json(args):
            write_json([_row_json(shown(pattern)) | review_json(bench, pattern) for pattern in chosen])
        else:
            signs = _signs(bench, chosen)
            rows = [_row(shown(pattern), sign) for pattern, sign in zip(chosen, signs, strict=True)]
            for line in table(rows, right=(3, 4)) if rows else ():
                say(line)
            if not wanted:
                warn(_empty(bench))
        shown.remark()
    return 0


def _empty(bench: "Workbench") -> str:
    if bench.patterns.all():
        return "No pattern is like that."
    return "The store has no patterns yet; `workbench pattern add FILE` adds some, `pattern import` those of a file."


def _is_wanted(pattern: "Pattern", status: str | None, category: str | None) -> bool:
    stands = pattern.status == status if status else pattern.status != "deprecated"
    return stands and category in (None, pattern.category)


def show_pattern(session: Session) -> int:
    """Print one pattern in full."""
    args = session.args
    with session.reading() as bench:
        from workbench.core.agents.patterns.schema import pattern_doc

        shown = Shown(bench, secrets=args.show_secrets)
        stored = bench.patterns.get(args.id)
        pattern, done = shown(stored), shown(bench.patterns.applications(args.id))
        if wants_json(args):
            told = {"applications": [application_json(one) for one in done], **review_json(bench, stored)}
            write_json({**pattern_doc(pattern), **told})
        else:
            from workbench.core.agents.patterns.matching import in_full

            reasons = {f.reason for held in bench.safety.unpermitted([stored]) for f in held.findings}
            for reason in sorted(reasons):
                say(f"{FLAG} flagged: {reason}")
            if mark := unreviewed(bench, stored):
                say(mark.rstrip())
            for line in in_full(pattern, done, moment):
                say(line)
        shown.remark()
    return 0


def find_patterns(session: Session) -> int:
    """Print the patterns that fit a task; exit code 1 when none does."""
    args = session.args
    if args.actor is not None and args.show_secrets:
        raise InvalidQuery("Agents are not shown secrets.", "Leave out --show-secrets or --for-agent.")
    if args.actor is not None and (args.explain or args.candidates):
        raise InvalidQuery("Agents are served what is in use.", "Leave out --explain and --candidates, or --for-agent.")
    with session.reading() if args.actor is None else session.changing(actor_of(args), trusted=False) as bench:
        return _serve(session, bench) if args.actor is not None else _look(session, bench)


def _task(session: Session) -> "Task":
    from workbench.core.agents.patterns.matching import task_of

    args = session.args
    facts = dict(args.fact)
    if not (args.task.strip() or args.type or args.domain or args.category or facts):
        raise InvalidQuery(
            "The task is empty.", "Say what is to be done, or give --type, --domain, --category or --fact."
        )
    return task_of(args.task, args.type, args.domain, args.complexity, args.capability, args.category, facts)


def _look(session: Session, bench: "Workbench") -> int:
    args = session.args
    statuses: frozenset[Status] = frozenset(("validated", "candidate") if args.candidates else ("validated",))
    found = bench.patterns.find(_task(session), args.limit or None, statuses=statuses, explain=args.explain)
    shown = Shown(bench, secrets=args.show_secrets)
    if wants_json(args):
        write_json(shown(_found_json(bench, found, args.explain)))
    else:
        _print_found(found, shown, _signs(bench, [one.pattern for one in found.matches]), explain=args.explain)
    shown.remark()
    return 0 if found.matches else FOUND


def _serve(session: Session, bench: "Workbench") -> int:
    from workbench.services.agents.giving import reading_of, served
    from workbench.services.agents.reading_log import Asked, keep

    args, task = session.args, _task(session)
    if not bench.trust.standing.trusted:
        if wants_json(args):
            write_json([])
        return 0
    given = served(
        bench.context, bench.safety, bench.patterns.find(task, None), args.limit or len(bench.patterns.all())
    )
    try:
        keep(bench.context, [reading_of(bench.context, given, task.text, Asked("cli", args.session), bench.safety)])
    except StoreProblem as error:
        warn(f"The reads were not counted. {error}")
    rows = given.rows
    if wants_json(args):
        write_json(rows)
    for row in () if wants_json(args) else rows:
        say(f"{row['id']} · {row['category']} · confidence {row['confidence']}\n{row['text']}\n")
    if given.held:
        warn(f"{counted(given.held, 'flagged pattern')} held back; `workbench scan` says why.")
    if given.unapproved:
        warn(f"{counted(given.unapproved, 'pattern')} left out: this agent is served only what a person approved.")
    return 0


def similar_patterns(session: Session) -> int:
    """Print patterns that resemble one."""
    args = session.args
    with session.reading() as bench:
        shown = Shown(bench, secrets=args.show_secrets)
        found = bench.patterns.similar(args.id)
        if wants_json(args):
            rows = [
                {
                    **_row_json(shown(one.pattern)), "likeness": round(one.score, 4), "parts": one.parts,
                    **review_json(bench, one.pattern),
                }
                for one in found
            ]  # fmt: skip
            write_json(rows)
        else:
            signs = _signs(bench, [one.pattern for one in found])
            rows_ = [
                (f"{one.score:.2f}", *_row(shown(one.pattern), sign)) for one, sign in zip(found, signs, strict=True)
            ]
            for line in table(rows_, right=(0, 4, 5)) if rows_ else ():
                say(line)
            if not found:
                warn("No other pattern resembles it.")
        shown.remark()
    return 0


def fill_template(session: Session) -> int:
    """Print a template with its parameters filled in."""
    args = session.args
    with session.reading() as bench:
        shown = Shown(bench, secrets=args.show_secrets)
        write_json(shown(bench.patterns.filled(args.id, dict(args.values))))
        shown.remark()
    return 0


def show_tree(session: Session) -> int:
    """Print the decision tree."""
    with session.reading() as bench:
        from workbench.core.agents.patterns.pattern import tree_json

        tree = bench.patterns.tree()
        if wants_json(session.args):
            write_json(tree_json(tree))
        else:
            for line in _tree_lines(tree, ""):
                say(bench.safety.masked(line))
    return 0


def _tree_lines(tree: "Node", indent: str) -> Iterator[str]:
    from workbench.core.agents.patterns.pattern import Leaf

    if isinstance(tree, Leaf):
        yield f"{indent}{', '.join(tree.patterns) or '(none)'}"
        return
    yield f"{indent}{tree.about.replace('_', ' ')}?"
    for answer, node in tree.answers:
        yield f"{indent}  {answer}:"
        yield from _tree_lines(node, f"{indent}    ")
    if tree.about != "category":
        yield f"{indent}  anything else:"
        yield from _tree_lines(tree.otherwise, f"{indent}    ")


def _signs(bench: "Workbench", patterns: Sequence["Pattern"]) -> list[str]:
    """Return before each pattern's name: the sign of one that is held back from agents, or nothing."""
    flagged = {held.id for held in bench.safety.unpermitted(patterns)}
    return [unreviewed(bench, one) + (f"{FLAG} " if one.id in flagged else "") for one in patterns]


def _row(pattern: "Pattern", sign: str) -> tuple[str, ...]:
    said = pattern.support
    used = f"{pattern.usage_count:,}×"
    name = f"{pattern.name} — {pattern.line}" if pattern.line != pattern.name else pattern.name
    standing = pattern.status.replace("_", " ")
    return (pattern.id, pattern.category, standing, f"{said.confidence_score:.2f}", used, sign + one_line(name, 200))


def _row_json(pattern: "Pattern") -> dict[str, object]:
    said = pattern.support
    return {
        "id": pattern.id, "name": pattern.name, "category": pattern.category, "status": pattern.status,
        "summary": pattern.line, "confidence": said.confidence_score, "success_rate": said.success_rate,
        "usage_count": pattern.usage_count, "last_updated": pattern.last_updated, "version": pattern.edition,
    }  # fmt: skip


def application_json(one: "Application") -> dict[str, object]:
    return {"episode": one.episode, "outcome": one.outcome, "at": one.at, "task": one.task, "note": one.note,
            "time": one.time, "cost": one.cost, "actor": one.actor, "basis": one.basis,
            "counts": one.counts}  # fmt: skip


def _found_json(bench: "Workbench", found: "Found", explain: bool) -> Mapping[str, object]:
    rows = [
        {**_row_json(one.pattern), "score": round(one.score, 4), "parts": dict(one.parts), "weighted": one.weighted,
         "met": [{"what": kind, "name": name} for kind, name in one.met], **review_json(bench, one.pattern)}
        for one in found.matches
    ]  # fmt: skip
    task = found.task
    features = {"problem_types": sorted(task.problem_types), "domains": sorted(task.domains),
                "complexity": task.complexity, "capabilities": task.capabilities and sorted(task.capabilities),
                "facts": dict(task.facts)}  # fmt: skip
    fits = [{"what": one.about, "name": one.name, "why": one.why} for one in found.fits]
    answer: dict[str, object] = {"features": features, "fits": fits, "patterns": rows}
    if explain:
        answer["left_out"] = [
            {"id": pattern.id, "because": why.obstacle, "asked": list(why.asked), "unknown": why.unknown}
            for pattern, why in found.left_out
        ]
    return answer


def _print_found(found: "Found", shown: Shown, signs: Sequence[str], *, explain: bool) -> None:
    for one, sign in zip(found.matches, signs, strict=True):
        pattern = shown(one.pattern)
        say(f"{one.score:.4f}  {pattern.id}  {sign}{one_line(f'{pattern.name} — {pattern.line}', 200)}")
        if explain:
            say(_explained(one, shown))
    for fit in found.fits:
        say("   of    " + one_line(shown(f"{fit.about.replace('_', ' ')} {fit.name}: {fit.why}"), 200))
    if not found.matches:
        warn("No pattern in use fits this task." + ("" if explain else " --explain says why."))
    for pattern, why in found.left_out[:LEFT_OUT]:
        # What is cut before it is masked may show how a secret begins.
        say(f"   not   {pattern.id}  {one_line(shown(pattern.name), 80)}: {shown(_why(why))}")
    if len(found.left_out) > LEFT_OUT:
        say(f"   not   {len(found.left_out) - LEFT_OUT:,} more; --json has all of them")


def _explained(one: "Match", shown: "Callable[[str], str]") -> str:
    parts = " + ".join(f"{name} {value:.4f}" for name, value in one.weighted.items())
    met = "; ".join(f"{kind.replace('_', ' ')} {name}" for kind, name in one.met)
    return shown(f"        {parts}" + (f"\n        fits: {met}" if met else ""))


def _why(why: "LeftOut") -> str:
    asked = ", ".join(why.asked)
    if why.obstacle == "complexity":
        return f"it is for complexity {' to '.join(why.asked)}"
    words = {
        "category": f"it is of the category {asked}",
        "problem_type": f"it is for problems of the type {asked}",
        "domain": f"it is for the domain {asked}",
        "capability": f"it needs {asked}",
        "condition": f"it asks that {asked}",
        "anti_condition": f"it does not apply when {asked}",
    }
    said = words.get(why.obstacle, f"it is {asked.replace('_', ' ')}")
    return f"{said}, and the task does not say" if why.unknown else said


_PATTERN = """Patterns: strategies, decompositions, sequences, tool choices, failures, recoveries, optimizations and
conventions that proved themselves, each with where it applies and what speaks for it. A candidate gathers evidence
(`apply`), `validate` takes it into use, `find` gives those that fit a task.

  workbench pattern find "the API runs into a timeout" --domain python

An agent adds candidates and records how applying went; deciding is for a person. `workbench undo` takes each back."""

_ADD = """FILE holds a pattern as JSON, or a list of them (- reads stdin). What is wrong is named by its path. Secrets
are masked; an id that a pattern brings is kept. `workbench pattern show ID --json` prints the shape.

  echo '{"name": "Ask first", "category": "strategy", "summary": "Ask before a deploy."}' | workbench pattern add -

Conditions are texts such as: complexity >= 5 and not (domain in [legacy, cobol]). Facts are compared with ==, !=, <,
<=, >, >=, in [a, b], has x; `exists` asks whether a fact is known; and, or, not and parentheses join them."""

_EDIT = """FILE holds a JSON merge patch (- reads stdin): the fields that change, null for one that goes. Where the
pattern stands, what speaks for it and how often it was used stay.

  echo '{"summary": "Ask before any deploy."}' | workbench pattern edit pat-20261124-0000001 -"""

_FIND = """Only patterns that are in use (validated) are found: those that ask for nothing the task does not have. What
the text names counts as type and domain where none is given. A condition on a fact that nobody gave does not hold; a
warning against a fact that nobody gave does not warn. The score is 0.4 confidence + 0.3 success + 0.15 use +
0.1 recency + 0.05 match; --explain shows its parts, and why the others do not apply.

  workbench pattern find "retry the upload" --type api_timeout --fact attempts=2 --explain"""

_APPLY = """Says that the pattern was applied in an episode, and how that went; said again for the same episode, the
last word counts. It speaks for or against the pattern at the next `validate`, for 90 days.

  workbench pattern apply pat-20261124-0000001 ep-20261124-0000007 --outcome success --time 95"""

_FILL = """Fills the template of a pattern; values are JSON, or else a text. Nothing is stored.

  workbench pattern fill pat-20261124-0000001 name=search endpoints='["list", "get"]'"""

_VALIDATE = """Without IDs every pattern is looked at. Of the last 90 days 5 applications are needed; 7 of 10 have to
succeed, more than chance (one-sided exact binomial test, p below 0.05), with a confidence above 0.7. A candidate is
taken into use then; a pattern in use that fails comes under review: `refine` or `deprecate` decides."""

_MERGE = """Makes one pattern of several of the same category: it applies where one of them did, keeps the conditions
they share and every warning, and has the applications of all. They are deprecated in its favour, as one action."""

_PRUNE = """Lists patterns of low confidence (below 0.4), that nobody applied for 90 days, or that more speaks against
than for; with --deprecate those, or the IDs, are taken out of use as one action."""

_IMPORT = """FILE is agent-playbook's semantic-patterns.json. Its confidence stays on its scale (0–1), applications are
counted, and every entry is kept as it was in the pattern's metadata. With enough behind it (5 applications, confidence
above 0.7) a pattern is in use at once, else it is a candidate."""

_EXPORT = """Patterns go back to where they came from (agent-playbook's semantic-patterns.json): of an entry only what
the pattern says otherwise is written, confidence and applications among it; new ones come at the end; whatever else
the file says stays byte for byte. Secrets were masked when they came in; what gives orders goes out only when it is
allowed. Without the file a new one is made."""

_ID = "pat-20261124-0000001"


def add_commands(commands: Commands) -> None:
    """Add `pattern` and what is below it."""
    pattern = add_command(commands, "pattern", list_patterns, "keep and find what agents learned", _PATTERN)
    pattern.set_defaults(status=None, category=None, limit=50, json=False, show_secrets=False)
    verbs = pattern.add_subparsers(title="what to do", metavar="VERB", prog=pattern.prog, parser_class=Parser)
    _add_reading(verbs)
    _add_writing(verbs)
    _add_deciding(verbs)
    _add_files(verbs)


def _add_reading(verbs: Commands) -> None:
    listing = add_command(verbs, "list", list_patterns, "list patterns, the surest first", example="--status validated")
    listing.add_argument("--status", choices=STATUSES, help="only those that stand so (default: all but deprecated)")
    listing.add_argument("--category", choices=CATEGORIES, help="only those of one category")
    add_limit(listing, 50)
    showing = add_command(verbs, "show", show_pattern, "show a pattern with its evidence and applications", example=_ID)
    showing.add_argument("id")
    finding = add_command(verbs, "find", find_patterns, "find the patterns that fit a task", _FIND)
    finding.add_argument("task", nargs="?", default="", help="what is to be done, in words")
    finding.add_argument("--type", metavar="T", action="append", default=[], help="the type of problem; several times")
    finding.add_argument("--domain", metavar="D", action="append", default=[], help="the domain; several times")
    finding.add_argument("--complexity", metavar="N", type=float, help="how hard it is, from 0 to 10")
    about = "what is at hand; several times (without one, nobody is asked for it)"
    finding.add_argument("--capability", metavar="C", action="append", default=[], help=about)
    finding.add_argument("--category", choices=CATEGORIES, help="only those of one category")
    about = "a fact that conditions ask about; several times"
    finding.add_argument("--fact", metavar="NAME=VALUE", type=fact, action="append", default=[], help=about)
    finding.add_argument("--candidates", action="store_true", help="look among the candidates, too")
    finding.add_argument(
        "--explain", action="store_true", help="show the parts of each score, and why others are missing"
    )
    about = "serve this agent: what it is served is kept as read by it"
    finding.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    finding.add_argument("--session", metavar="S", default="", help="with --for-agent: the agent's session")
    add_limit(finding, 5)
    alike = add_command(verbs, "similar", similar_patterns, "show patterns that resemble one", example=_ID)
    alike.add_argument("id")
    filling = add_command(verbs, "fill", fill_template, "fill the template of a pattern", _FILL)
    filling.add_argument("id")
    filling.add_argument("values", metavar="NAME=VALUE", nargs="*", type=fact, help="a value of a parameter")
    tree = add_command(verbs, "tree", show_tree, "show the decision tree over the patterns in use", example="")
    for parser in (listing, showing, finding, alike, filling):
        add_secrets(parser)
    for parser in (listing, showing, finding, alike, filling, tree):
        add_json(parser)


def _add_writing(verbs: Commands) -> None:
    adding = add_command(verbs, "add", add_patterns, "add patterns", _ADD, example="patterns.json")
    adding.add_argument("file", type=file_or_stdin)
    editing = add_command(
        verbs, "edit", edit_pattern, "change what a pattern says", _EDIT, example=f"{_ID} change.json"
    )
    editing.add_argument("id")
    editing.add_argument("file", type=file_or_stdin)
    applying = add_command(verbs, "apply", record_application, "record how applying a pattern went", _APPLY)
    applying.add_argument("id")
    applying.add_argument("episode", help="what names the episode")
    applying.add_argument("--outcome", choices=OUTCOMES, required=True, help="how it went")
    applying.add_argument("--task", metavar="TEXT", default="", help="what was to be done")
    applying.add_argument("--note", metavar="TEXT", default="", help="what to know about it")
    applying.add_argument("--time", metavar="SECONDS", type=amount, help="how long it took")
    applying.add_argument("--cost", metavar="N", type=amount, help="what it cost, in the unit of the baseline")
    validating = add_command(
        verbs, "validate", validate_patterns, "weigh the evidence of patterns", _VALIDATE, example="--dry-run"
    )
    validating.add_argument("ids", metavar="ID", nargs="*")
    validating.add_argument("--dry-run", action="store_true", help="say what would come of it, and change nothing")
    for parser in (adding, editing, applying, validating):
        add_json(parser)


def _add_deciding(verbs: Commands) -> None:
    for verb, about, why in (
        ("approve", "take a candidate into use on your word", ""),
        ("refine", "take one that is under review back into use; its evidence begins anew", "the cause is mended"),
        ("deprecate", "take a pattern out of use for good", "it is gone"),
        ("restore", "make a deprecated pattern a candidate again", ""),
    ):
        example = _ID + (f' --reason "{why}"' if why else "")
        parser = add_command(verbs, verb, decide_pattern, about, example=example)
        parser.set_defaults(verb=verb)
        parser.add_argument("id")
        if verb != "restore":
            parser.add_argument("--reason", metavar="TEXT", default="", required=verb == "deprecate", help="why")
        add_json(parser)
    superseding = add_command(
        verbs, "supersede", decide_pattern, "deprecate one in favour of another",
        example=f"{_ID} pat-20261124-0000002",
    )  # fmt: skip
    superseding.set_defaults(verb="supersede")
    superseding.add_argument("id")
    superseding.add_argument("by", help="the pattern that takes its place")
    superseding.add_argument("--reason", metavar="TEXT", default="", help="why")
    merging = add_command(
        verbs, "merge", merge_patterns, "make one pattern of several", _MERGE,
        example=f"{_ID} pat-20261124-0000002",
    )  # fmt: skip
    merging.add_argument("ids", metavar="ID", nargs="+")
    relating = add_command(
        verbs, "relate", relate_patterns, "relate two patterns",
        example=f"{_ID} specializes pat-20261124-0000002",
    )  # fmt: skip
    relating.add_argument("id")
    relating.add_argument("relation", metavar="RELATION", choices=RELATIONS, help=", ".join(RELATIONS))
    relating.add_argument("other", metavar="ID")
    relating.add_argument("--remove", action="store_true", help="say it no longer")
    pruning = add_command(
        verbs, "prune", prune_patterns, "list patterns that are worth little", _PRUNE, example="--deprecate"
    )
    pruning.add_argument("ids", metavar="ID", nargs="*")
    pruning.add_argument("--deprecate", action="store_true", help="take them out of use")
    for parser in (superseding, merging, pruning):
        add_json(parser)


def _add_files(verbs: Commands) -> None:
    importing = add_command(
        verbs, "import", import_patterns, "import a file of patterns", _IMPORT,
        example="patterns.json --dry-run",
    )  # fmt: skip
    importing.add_argument("file")
    importing.add_argument("--dry-run", action="store_true", help="say what it would bring, and change nothing")
    writing = add_command(
        verbs, "export", export_patterns, "write them into agent-playbook's file", _EXPORT,
        example="patterns.json",
    )  # fmt: skip
    writing.add_argument("file", help="the file they came from, or a new one")
    writing.add_argument("ids", metavar="ID", nargs="*", help="which ones (otherwise: all that are not deprecated)")
    for parser in (importing, writing):
        add_json(parser)


def fact(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; a value that is no JSON is a text."""
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise ArgumentTypeError(f"“{text}” is not NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except (ValueError, RecursionError):
        return name.strip(), value


def amount(text: str) -> float:
    """Read a number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e15:
        raise ArgumentTypeError(f"“{text}” is no amount")
    return value
