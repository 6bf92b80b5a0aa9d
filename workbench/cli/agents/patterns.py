"""`workbench pattern`: what agents learned to do, with where it applies and what speaks for it."""

import json
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from workbench.cli.output import cut, moment, picked, table, warn
from workbench.cli.parsing import file_or_stdin
from workbench.cli.session import DONE, FOUND, Session
from workbench.cli.verbs import (
    FLAG,
    Answer,
    Call,
    Option,
    Verb,
    as_agent,
    changing,
    exporting,
    flag,
    making,
    making_unless_dry,
    review_json,
    serving,
    several,
    text,
    unless_dry,
    unreviewed,
)
from workbench.core.agents.patterns.pattern import CATEGORIES, OUTCOMES, RELATIONS, STATUSES, Status
from workbench.core.files.fresh import read_text_of, text_in
from workbench.core.record import InvalidQuery, InvalidRecord, UnreadableFile
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.matching import LeftOut, Match, Task
    from workbench.core.agents.patterns.pattern import Pattern, Tree
    from workbench.core.agents.patterns.statistics import Validation
    from workbench.services.agents.patterns import Found, Patterns
    from workbench.services.open import Workbench

LARGEST = 64 << 20
"""Bytes of a file of patterns, at the most."""

WHY_NOT = {
    "held": "held back because of the text",
    "unapproved": "left out: agents.serve limits this agent to what you wrote or approved",
}
"""Why an agent is not served something."""

LEFT_OUT = 20
"""Patterns that do not apply of which is said why."""

_NOTHING = "Nothing was written."


# Changing patterns: adding, editing, recording, validating, deciding, merging, taking in files.


def add_patterns(call: Call) -> Answer:
    given = _read(call.session)
    docs = given if isinstance(given, list) else [given]
    if not docs:
        raise InvalidRecord("It contains no pattern.", _NOTHING)
    made = call.bench.patterns.add(docs)
    flagged = {held.record.id for held in call.bench.safety.speaking(made)}
    return Answer(
        [{"id": one.id, "status": one.status, "flagged": one.id in flagged} for one in made],
        [f"Added {one.id} ({one.status.replace('_', ' ')}): {one.name}" for one in made],
        [
            f"{id} is flagged and held back from agents; `workbench scan` shows why."
            for id in sorted(flagged)
        ],
    )


def edit_pattern(call: Call) -> Answer:
    patch = _read(call.session)
    if not isinstance(patch, Mapping):
        raise InvalidRecord("A patch is a JSON object of the fields that change.", _NOTHING)
    before = call.bench.patterns.get(call.args.id)
    after = call.bench.patterns.update(before.id, patch)
    done = f"Changed {after.id} (version {after.edition})."
    return Answer(
        {"id": after.id, "version": after.edition, "changed": after != before},
        [f"{after.id} already says so." if after == before else done],
    )


def record_application(call: Call) -> Answer:
    args, patterns = call.args, call.bench.patterns
    more = {name: getattr(args, name) for name in ("task", "note", "time", "cost")}
    done = patterns.record(args.id, args.episode, args.outcome, **more)
    used = patterns.get(args.id).usage_count
    return Answer(
        {**picked(done, "pattern", "episode", "outcome"), "usage_count": used},
        [f"Recorded: {done.pattern} in {done.episode}, {done.outcome}; used {used:,} times."],
    )


def validate_patterns(call: Call) -> Answer:
    args = call.args
    done = (
        call.bench.patterns.validations(args.ids)
        if args.dry_run
        else call.bench.patterns.validate(args.ids)
    )
    told = [one for one in done if args.ids or one.outlook != "insufficient"]
    remarks = []
    if few := len(done) - len(told):
        remarks.append(
            f"{counted(few, 'pattern')} with fewer than 5 applications in the last 90 days: unchanged."
        )
    if not done:
        remarks.append("The store has no patterns yet.")
    elif args.dry_run:
        remarks.append("Nothing was changed: --dry-run.")
    return Answer(
        [_validation_json(one) for one in done], table([_validation(one) for one in told]), remarks
    )


def _validation(one: "Validation") -> tuple[str, ...]:
    found = one.finding
    before, after = (each.status.replace("_", " ") for each in (one.before, one.after))
    moved = f"{before} → {after}" if one.moves else after
    if one.outlook == "insufficient":
        said = f"{counted(found.episodes, 'application')} of the required 5"
    else:
        share = f"{found.successes} of {found.episodes} succeeded"
        said = f"{share}, p = {found.p_value:.3g}, confidence {found.confidence:.2f}"
    return one.before.id, moved, said


def _validation_json(one: "Validation") -> dict[str, object]:
    found = one.finding
    return {
        "id": one.before.id, "outlook": one.outlook, "before": one.before.status, "after": one.after.status,
        **picked(found, "applications:episodes", "successes", "success_rate", "p_value", "confidence", "since"),
    }  # fmt: skip


DECISIONS: Mapping[str, Callable[["Patterns", Namespace], "Pattern"]] = {
    "approve": lambda patterns, args: patterns.approve(args.id, args.reason),
    "refine": lambda patterns, args: patterns.refine(args.id, args.reason),
    "deprecate": lambda patterns, args: patterns.deprecate(args.id, args.reason),
    "restore": lambda patterns, args: patterns.restore(args.id),
    "supersede": lambda patterns, args: patterns.supersede(args.id, args.by, args.reason),
}
"""What a person decides about one pattern, by the verb for it."""


def decide_pattern(call: Call) -> Answer:
    from workbench.core.agents.patterns.statistics import NAMES

    one = DECISIONS[call.args.verb](call.bench.patterns, call.args)
    by = f", superseded by {one.superseded_by}" if one.superseded_by else ""
    doc = picked(one, "id", "status", "reason:status_reason", "superseded_by")
    return Answer(doc, [f"{one.id} is {NAMES[one.status]}{by}."])


def merge_patterns(call: Call) -> Answer:
    made = call.bench.patterns.merge(call.args.ids)
    return Answer(
        {"id": made.id, "status": made.status, "merged": list(dict.fromkeys(call.args.ids))},
        [
            f"Merged into {made.id} ({made.status}): {made.name}. The others are deprecated in its favour."
        ],
    )


def relate_patterns(call: Call) -> Answer:
    args = call.args
    call.bench.patterns.relate(args.id, args.relation, args.other, remove=args.remove)
    return Answer(
        lines=[f"{args.id} {args.relation} {args.other}{' no longer' if args.remove else ''}."]
    )


_WEAK = {
    "low_confidence": "low confidence", "unused": "not applied for 90 days", "contradicted": "contradicted",
}  # fmt: skip


def prune_patterns(call: Call) -> Answer:
    args = call.args
    if args.ids and not args.deprecate:
        raise InvalidQuery("IDs need --deprecate.", "Without it, all weak patterns are listed.")
    weak = call.bench.patterns.weak()
    chosen = (tuple(args.ids) or tuple(pattern.id for pattern, _ in weak)) if args.deprecate else ()
    if chosen:
        call.bench.patterns.prune(chosen)
        weak = tuple((pattern, why) for pattern, why in weak if pattern.id in chosen)
    lines = table(
        [(p.id, ", ".join(_WEAK[one] for one in why), call.shown(p.name)) for p, why in weak]
    )
    if chosen and weak:
        lines.append(
            f"Deprecated {counted(len(chosen), 'pattern')}; `workbench undo` takes that back."
        )
    rows = [
        {"id": p.id, "name": p.name, "why": why, "deprecated": args.deprecate} for p, why in weak
    ]
    return Answer(rows, lines, [] if weak else ["No weak patterns."])


def import_patterns(call: Call) -> Answer:
    """Take in a file of patterns; exit code 1 when something of it could not be read."""
    from workbench.services.files.paths import as_named

    dry = call.args.dry_run
    intake = call.bench.pattern_intake.plan(as_named(call.args.file, call.session.cwd))
    written = 0 if dry else call.bench.pattern_intake.carry_out(intake)
    lost = [call.shown(text) for text in intake.problems]
    new = [picked(one, "id", "name", "status") for one in intake.patterns]
    there = f", {counted(len(intake.present), 'one')} there already" if intake.present else ""
    done = (
        f"{counted(len(new), 'pattern')} to import"
        if dry
        else f"Imported {counted(written, 'pattern')}"
    )
    lines = (
        [call.shown(f"{one.id}  {one.status}  {one.name}") for one in intake.patterns]
        if dry
        else []
    )
    return Answer(
        {"new": new, "present": intake.present, "written": written, "problems": lost},
        [*lines, f"{done}{there}."],
        lost,
        FOUND if lost else DONE,
    )


def export_patterns(call: Call) -> Answer:
    """Write patterns into agent-playbook's file."""
    from workbench.core.files.replacing import replace_file
    from workbench.services.files.paths import as_named

    args, path = call.args, as_named(call.args.file, call.session.cwd)
    original = read_text_of(path, LARGEST, _NOTHING, args.file) if path.exists() else None
    text = call.bench.pattern_intake.written(args.ids, original, call.bench.safety)
    if text != original:
        replace_file(path, text, None if original is None else original.encode())
    done = "Wrote" if text != original else "Nothing to write: the same stands in"
    return Answer({"file": path, "changed": text != original}, [f"{done} {args.file}."])


def read_exactly(session: Session, name: str, most: int) -> str:
    """Return the text of a file or of stdin; raises `UnreadableFile`."""
    if name == "-":
        return text_in(sys.stdin.buffer.read(most + 1), most, _NOTHING, "stdin")
    path = os.fsdecode(name)
    return read_text_of(session.cwd / path, most, _NOTHING, path)


def read_text(session: Session, name: str) -> str:
    """Return the text of a file, or of stdin for `-`, without a byte order mark."""
    return read_exactly(session, name, LARGEST).removeprefix("\ufeff")


def _read(session: Session) -> object:
    """Return the JSON of a file or of stdin; raises `UnreadableFile`."""
    text = read_text(session, session.args.file)
    shown = "stdin" if session.args.file == "-" else os.fsdecode(session.args.file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"{shown}:{error.lineno}: no JSON: {error.msg}.", _NOTHING) from error
    except RecursionError as error:
        raise UnreadableFile(f"{shown} holds no readable UTF-8 JSON.", _NOTHING) from error


# Looking at patterns: lists, one in full, those that fit a task, those alike, a filled template,
# the tree.


def list_patterns(call: Call) -> Answer:
    args, every = call.args, call.bench.patterns.all()
    stands = [
        one
        for one in every
        if (one.status == args.status if args.status else one.status != "deprecated")
    ]
    wanted = [one for one in stands if args.category in (None, one.category)]
    chosen = cut(wanted, args.limit)
    none = "The store has no patterns yet; `workbench pattern add FILE` and `pattern import FILE` add some."
    return Answer(
        lambda: [_row_json(call.bench, one) for one in chosen],
        lambda: table([_row(call, one) for one in chosen], right=(3, 4)),
        [] if wanted else ["No pattern matches." if every else none],
    )


def show_pattern(call: Call) -> Answer:
    from workbench.core.agents.patterns.matching import in_full
    from workbench.core.agents.patterns.schema import pattern_doc

    stored = call.bench.patterns.get(call.args.id)
    done = call.bench.patterns.applications(stored.id)

    def lines() -> Iterator[str]:
        reasons = {
            finding.reason
            for held in call.bench.safety.unpermitted([stored])
            for finding in held.findings
        }
        yield from (f"{FLAG} flagged: {reason}" for reason in sorted(reasons))
        yield from (mark.rstrip() for mark in (unreviewed(call.bench, stored),) if mark)
        yield from in_full(call.shown(stored), call.shown(done), moment)

    told = {
        "applications": [picked(one, *_APPLICATION) for one in done],
        **review_json(call.bench, stored),
    }
    return Answer(lambda: {**pattern_doc(stored), **told}, lines)


def _opened_to_find(session: Session) -> "AbstractContextManager[Workbench]":
    args = session.args
    if args.actor is not None and (args.explain or args.candidates):
        raise InvalidQuery(
            "Agents are served patterns in use only.",
            "Leave out --explain and --candidates, or --for-agent.",
        )
    return serving(session)


def find_patterns(call: Call) -> Answer:
    """Print the patterns that fit a task; exit code 1 when none does."""
    args, task = call.args, _task(call.args)
    if args.actor is not None:
        return _serve(call)
    statuses: frozenset[Status] = frozenset(
        ("validated", "candidate") if args.candidates else ("validated",)
    )
    found = call.bench.patterns.find(
        task, args.limit or None, statuses=statuses, explain=args.explain
    )
    none = "No pattern in use fits this task." + ("" if args.explain else " --explain says why.")
    return Answer(
        lambda: _found_json(call.bench, found, args.explain),
        lambda: _found_lines(call, found),
        [] if found.matches else [none],
        DONE if found.matches else FOUND,
    )


def _task(args: Namespace) -> "Task":
    from workbench.core.agents.patterns.matching import task_of

    facts = dict(args.fact)
    if not (args.task.strip() or args.type or args.domain or args.category or facts):
        hint = "Give a task, or --type, --domain, --category or --fact."
        raise InvalidQuery("The task is empty.", hint)
    return task_of(
        args.task, args.type, args.domain, args.complexity, args.capability, args.category, facts
    )


def _serve(call: Call) -> Answer:
    from workbench.services.agents.api import MOST_GOT

    args = call.args
    if not call.bench.trust.standing.trusted:
        return Answer([])
    with as_agent(call) as api:
        found = api.find_patterns(
            args.task, args.type, args.domain, args.complexity, args.capability, dict(args.fact), args.category,
            args.limit or MOST_GOT,
        )  # fmt: skip
    for why, number in found["left_out"].items():
        warn(f"{counted(number, 'pattern')} {WHY_NOT[why.removesuffix('_back')]}.")
    told = "{id} · {category} · confidence {confidence}\n{text}\n"
    return Answer(found["patterns"], [told.format(**row) for row in found["patterns"]])


def similar_patterns(call: Call) -> Answer:
    found = call.bench.patterns.similar(call.args.id)
    return Answer(
        lambda: [
            {
                **_row_json(call.bench, one.pattern),
                "likeness": round(one.score, 4),
                "parts": one.parts,
            }
            for one in found
        ],
        lambda: table(
            [(f"{one.score:.2f}", *_row(call, one.pattern)) for one in found], right=(0, 4, 5)
        ),
        [] if found else ["No similar pattern."],
    )


def fill_template(call: Call) -> Answer:
    filled = call.shown(call.bench.patterns.filled(call.args.id, dict(call.args.values)))
    return Answer(filled, [json.dumps(filled, indent=2)])


def show_tree(call: Call) -> Answer:
    tree = call.bench.patterns.tree()
    return Answer(tree, lambda: map(call.shown, _tree_lines(tree, "")))


def _tree_lines(tree: "Tree", indent: str) -> Iterator[str]:
    if "patterns" in tree:
        yield f"{indent}{', '.join(tree['patterns']) or '(none)'}"
        return
    yield f"{indent}{tree['question'].replace('_', ' ')}?"
    others = {} if tree["question"] == "category" else {"anything else": tree["otherwise"]}
    for answer, below in {**tree["answers"], **others}.items():
        yield f"{indent}  {answer}:"
        yield from _tree_lines(below, f"{indent}    ")


def _sign(bench: "Workbench", pattern: "Pattern") -> str:
    """Return the sign of a pattern that is held back from agents, and for an agent of one nobody
    looked at.
    """
    return unreviewed(bench, pattern) + (
        f"{FLAG} " if any(bench.safety.unpermitted([pattern])) else ""
    )


def _said(pattern: "Pattern") -> str:
    return f"{pattern.name} — {pattern.line}" if pattern.line != pattern.name else pattern.name


def _row(call: Call, stored: "Pattern") -> tuple[str, ...]:
    one = call.shown(stored)
    said = _sign(call.bench, stored) + one_line(_said(one), 200)
    sure, used = f"{one.support.confidence_score:.2f}", f"{one.usage_count:,}×"
    return one.id, one.category, one.status.replace("_", " "), sure, used, said


def _row_json(bench: "Workbench", one: "Pattern") -> dict[str, object]:
    return {
        **picked(one, "id", "name", "category", "status", "summary:line"),
        **picked(one.support, "confidence:confidence_score", "success_rate"),
        **picked(one, "usage_count", "last_updated", "version:edition"), **review_json(bench, one),
    }  # fmt: skip


_APPLICATION = ("episode", "outcome", "at", "task", "note", "time", "cost", "actor", "basis", "counts")  # fmt: skip


def _found_json(bench: "Workbench", found: "Found", explain: bool) -> Mapping[str, object]:
    task = found.task
    rows = [
        {**_row_json(bench, one.pattern), "score": round(one.score, 4), **picked(one, "parts", "weighted"),
         "met": [{"what": kind, "name": name} for kind, name in one.met]}
        for one in found.matches
    ]  # fmt: skip
    features = {"problem_types": sorted(task.problem_types), "domains": sorted(task.domains),
                "complexity": task.complexity, "capabilities": task.capabilities and sorted(task.capabilities),
                "facts": task.facts}  # fmt: skip
    fits = [picked(one, "what:about", "name", "why") for one in found.fits]
    left_out = [
        {"id": pattern.id, **picked(why, "because:obstacle", "asked", "unknown")}
        for pattern, why in found.left_out
    ]
    return {"features": features, "fits": fits, "patterns": rows} | (
        {"left_out": left_out} if explain else {}
    )


def _found_lines(call: Call, found: "Found") -> Iterator[str]:
    for one in found.matches:
        pattern = call.shown(one.pattern)
        yield f"{one.score:.4f}  {pattern.id}  {_sign(call.bench, one.pattern)}{one_line(_said(pattern), 200)}"
        if call.args.explain:
            yield call.shown(_explained(one))
    for fit in found.fits:
        yield "   of    " + one_line(
            call.shown(f"{fit.about.replace('_', ' ')} {fit.name}: {fit.why}"), 200
        )
    for pattern, why in found.left_out[:LEFT_OUT]:
        # What is cut before it is masked may show how a secret begins.
        yield f"   not   {pattern.id}  {one_line(call.shown(pattern.name), 80)}: {call.shown(_why(why))}"
    if len(found.left_out) > LEFT_OUT:
        yield f"   not   {len(found.left_out) - LEFT_OUT:,} more; --json has all of them"


def _explained(one: "Match") -> str:
    parts = " + ".join(f"{name} {value:.4f}" for name, value in one.weighted.items())
    met = "; ".join(f"{kind.replace('_', ' ')} {name}" for kind, name in one.met)
    return f"        {parts}" + (f"\n        fits: {met}" if met else "")


_OBSTACLES = {
    "complexity": "for complexity {}", "category": "category {}",
    "problem_type": "for the problem type {}", "domain": "for the domain {}",
    "capability": "it needs {}", "condition": "requires {}", "anti_condition": "does not apply when {}",
}  # fmt: skip


def _why(why: "LeftOut") -> str:
    asked = (" to " if why.obstacle == "complexity" else ", ").join(why.asked)
    said = _OBSTACLES.get(why.obstacle, "it is {}").format(asked)
    return f"{said}, not stated in the task" if why.unknown else said


_PATTERN = """A pattern is a strategy, decomposition, sequence, tool choice, failure, recovery, optimization or
convention that has worked before, with the conditions under which it applies and the evidence for
it. `apply` records evidence for a candidate, `validate` takes it into use, `find` lists the
patterns that fit a task.

  workbench pattern find "the API runs into a timeout" --domain python

Agents add candidates and record applications; decisions are yours. `workbench undo` takes each
one back."""

_ADD = """FILE holds a pattern as JSON, or a list of them (- reads stdin). If anything is invalid its path
is named. Secrets are masked; ids in the file are kept. `workbench pattern show ID --json` prints
the shape.

  echo '{"name": "Ask first", "category": "strategy", "summary": "Ask before a deploy."}' | workbench pattern add -

A condition looks like: complexity >= 5 and not (domain in [legacy, cobol]). Comparisons: ==, !=,
<, <=, >, >=, in [a, b], has x, exists (the fact is known). Join them with and, or, not and
parentheses."""

_EDIT = """FILE holds a JSON merge patch (- reads stdin): the fields to change, null to remove one. Status,
evidence and use counts stay.

  echo '{"summary": "Ask before any deploy."}' | workbench pattern edit pat-20261124-0000001 -"""

_FIND = """Finds patterns in use (validated) whose requirements the task meets. Type and domain are read from
the text unless given. A condition on an unknown fact does not hold; a warning on an unknown fact
does not apply. Score: 0.4 confidence + 0.3 success + 0.15 use + 0.1 recency + 0.05 match.
--explain shows its parts, and why other patterns do not apply.

  workbench pattern find "retry the upload" --type api_timeout --fact attempts=2 --explain"""

_APPLY = """Records that a pattern was applied in an episode, and the outcome. If recorded again for the same
episode, the last outcome counts. It counts as evidence at the next `validate`, for 90 days.

  workbench pattern apply pat-20261124-0000001 ep-20261124-0000007 --outcome success --time 95"""

_FILL = """Fills in the template of a pattern. Values are JSON, or plain text. Nothing is stored.

  workbench pattern fill pat-20261124-0000001 name=search endpoints='["list", "get"]'"""

_VALIDATE = """Without IDs: all patterns. A candidate is taken into use when at least 5 applications in the last
90 days are known, 70 % of them succeeded, more than by chance (one-sided exact binomial test, p <
0.05), and its confidence is above 0.7. A pattern in use that no longer meets this is marked
“under review”: `refine` or `deprecate` decides."""

_MERGE = """Merges patterns of one category into one: it applies where any of them did, keeps the conditions
they share and every warning, and takes over all applications. The originals are deprecated in its
favour, as one action."""

_PRUNE = """Lists patterns with a confidence below 0.4, without an application in the last 90 days, or with
more evidence against than for them. --deprecate takes them, or the given IDs, out of use as one
action."""

_IMPORT = """FILE is agent-playbook's semantic-patterns.json. Its confidence (0–1) is kept, applications are
counted, and each entry is kept unchanged in the pattern's metadata. With 5 applications and a
confidence above 0.7 a pattern is in use at once, otherwise it is a candidate."""

_EXPORT = """Writes patterns back to agent-playbook's semantic-patterns.json: in each entry only what changed
(confidence and applications too), new ones at the end; everything else stays byte for byte.
Secrets were masked when the patterns were stored; flagged text is written only when you allow it.
A missing file is created."""

_ID = "pat-20261124-0000001"
_TWO = f"{_ID} pat-20261124-0000002"


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
        raise ArgumentTypeError(f"“{text}” is not a number")
    return value


OPTIONS: Mapping[str, Option] = {
    "ids": {"metavar": "ID"},
    "ids*:all": {"metavar": "ID", "help": "which ones (otherwise: all that are not deprecated)"},
    "file:in": {"type": file_or_stdin}, "file:out": {"help": "the file they came from, or a new one"},
    "--status": {"choices": STATUSES, "help": "only this status (default: all but deprecated)"},
    "--category": {"choices": CATEGORIES, "help": "only this category"},
    "task": {"default": "", "help": "the task, in words"},
    "--type": several("T", "the problem type; repeatable"),
    "--domain": several("D", "the domain; repeatable"),
    "--complexity": {"metavar": "N", "type": float, "help": "its complexity, 0 to 10"},
    "--capability": several("C", "a capability at hand; repeatable (default: not checked)"),
    "--fact": several("NAME=VALUE", "a fact for conditions; repeatable") | {"type": fact},
    "--candidates": flag("include candidates"),
    "--explain": flag("show the parts of each score, and why others do not apply"),
    "values": {"metavar": "NAME=VALUE", "type": fact, "help": "a value of a parameter"},
    "episode": {"help": "the episode's id"},
    "--outcome": {"choices": OUTCOMES, "help": "how it went"},
    "--task": text("the task"), "--note": text("a note"),
    "--time": {"metavar": "SECONDS", "type": amount, "help": "how long it took"},
    "--cost": {"metavar": "N", "type": amount, "help": "its cost, in the unit of the baseline"},
    "--dry-run": flag("show the result without changing anything"),
    "--dry-run:in": flag("show what would be imported"),
    "--reason": text("why"), "by": {"help": "the replacement"},
    "relation": {"metavar": "RELATION", "choices": RELATIONS, "help": ", ".join(RELATIONS)},
    "other": {"metavar": "ID"}, "--remove": flag("remove the relation"), "--deprecate": flag("take them out of use"),
}  # fmt: skip

_VERBS = (
    Verb("list", list_patterns, "list patterns, the surest first", "--status --category limit=50 --show-secrets --json",
         example="--status validated"),
    Verb("show", show_pattern, "show a pattern, its evidence and applications", "id --show-secrets --json",
         example=_ID),
    Verb("find", find_patterns, "find the patterns that fit a task",
         "task? --type --domain --complexity --capability --category --fact --candidates --explain --for-agent"
         " --session:agent limit=5 --show-secrets --json", _FIND, None, _opened_to_find),
    Verb("similar", similar_patterns, "show patterns that resemble one", "id --show-secrets --json", example=_ID),
    Verb("fill", fill_template, "fill the template of a pattern", "id values* --show-secrets --json", _FILL, None),
    Verb("tree", show_tree, "show the decision tree over the patterns in use", "--json"),
    Verb("add", add_patterns, "add patterns", "file:in --json", _ADD, "patterns.json", making),
    Verb("edit", edit_pattern, "edit a pattern", "id file:in --json", _EDIT, f"{_ID} change.json",
         changing),
    Verb("apply", record_application, "record how applying a pattern went",
         "id episode --outcome! --task --note --time --cost --json", _APPLY, None, changing),
    Verb("validate", validate_patterns, "decide candidates by their evidence", "ids* --dry-run --json", _VALIDATE,
         "--dry-run", unless_dry),
    Verb("approve", decide_pattern, "take a candidate into use without evidence",
         "id --reason --json", "", _ID, changing),
    Verb("refine", decide_pattern, "take a pattern under review back into use; its evidence starts over",
         "id --reason --json", "", f'{_ID} --reason "the cause is mended"', changing),
    Verb("deprecate", decide_pattern, "take a pattern out of use", "id --reason! --json", "",
         f'{_ID} --reason "it is gone"', changing),
    Verb("restore", decide_pattern, "make a deprecated pattern a candidate again", "id --json", "", _ID, changing),
    Verb("supersede", decide_pattern, "deprecate one in favour of another", "id by --reason --json", "", _TWO,
         changing),
    Verb("merge", merge_patterns, "merge patterns", "ids+ --json", _MERGE, _TWO, changing),
    Verb("relate", relate_patterns, "relate two patterns", "id relation other --remove", "",
         f"{_ID} specializes pat-20261124-0000002", changing),
    Verb("prune", prune_patterns, "list weak patterns", "ids* --deprecate --json", _PRUNE,
         "--deprecate", lambda session: session.changing() if session.args.deprecate else session.reading()),
    Verb("import", import_patterns, "import a file of patterns", "file --dry-run:in --json", _IMPORT,
         "patterns.json --dry-run",
         making_unless_dry),
    Verb("export", export_patterns, "write patterns to agent-playbook's file", "file:out ids*:all --json", _EXPORT,
         "patterns.json", exporting),
)  # fmt: skip

VERBS = (
    Verb(
        "pattern",
        list_patterns,
        "manage and find patterns agents learned",
        "",
        _PATTERN,
        None,
        below=_VERBS,
    ),
)
