"""`workbench pattern`: what agents learned to do, with where it applies and what speaks for it."""

import json
import os
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from workbench.cli.output import cut, moment, table, warn
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
from workbench.core.files.fresh import read_named
from workbench.core.record import InvalidQuery, InvalidRecord, UnreadableFile
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.matching import LeftOut, Match, Task
    from workbench.core.agents.patterns.pattern import Application, Pattern, Tree
    from workbench.core.agents.patterns.statistics import Validation
    from workbench.services.agents.patterns import Found, Patterns
    from workbench.services.open import Workbench

LARGEST = 64 << 20
"""Bytes of a file of patterns, at the most."""

WHY_NOT = {
    "held": "held back for what the text says",
    "unapproved": "left out: agents.serve gives this agent only what a person wrote or approved",
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
        raise InvalidRecord("There is no pattern in it.", _NOTHING)
    made = call.bench.patterns.add(docs)
    flagged = {held.record.id for held in call.bench.safety.speaking(made)}
    return Answer(
        [{"id": one.id, "status": one.status, "flagged": one.id in flagged} for one in made],
        [f"Added {one.id} ({one.status.replace('_', ' ')}): {one.name}" for one in made],
        [
            f"{id} is flagged and held back from agents; `workbench scan` says why."
            for id in sorted(flagged)
        ],
    )


def edit_pattern(call: Call) -> Answer:
    patch = _read(call.session)
    if not isinstance(patch, Mapping):
        raise InvalidRecord("A patch is a JSON object of the fields that change.", _NOTHING)
    before = call.bench.patterns.get(call.args.id)
    after = call.bench.patterns.update(before.id, patch)
    done = f"Changed {after.id}: it is version {after.edition} now."
    return Answer(
        {"id": after.id, "version": after.edition, "changed": after != before},
        [f"{after.id} says that already." if after == before else done],
    )


def record_application(call: Call) -> Answer:
    args, patterns = call.args, call.bench.patterns
    done = patterns.record(
        args.id,
        args.episode,
        args.outcome,
        task=args.task,
        note=args.note,
        time=args.time,
        cost=args.cost,
    )
    used = patterns.get(args.id).usage_count
    return Answer(
        {
            "pattern": done.pattern,
            "episode": done.episode,
            "outcome": done.outcome,
            "usage_count": used,
        },
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
        return (
            one.before.id,
            moved,
            f"{counted(found.episodes, 'application')} of the 5 that it needs",
        )
    share = f"{found.successes} of {found.episodes} succeeded"
    return (
        one.before.id,
        moved,
        f"{share}, p = {found.p_value:.3g}, confidence {found.confidence:.2f}",
    )


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


def decide_pattern(call: Call) -> Answer:
    from workbench.core.agents.patterns.statistics import NAMES

    one = DECISIONS[call.args.verb](call.bench.patterns, call.args)
    by = f", superseded by {one.superseded_by}" if one.superseded_by else ""
    doc = {
        "id": one.id,
        "status": one.status,
        "reason": one.status_reason,
        "superseded_by": one.superseded_by,
    }
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
        raise InvalidQuery(
            "IDs are for --deprecate.", "Without it, every pattern that is worth little is listed."
        )
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
    return Answer(rows, lines, [] if weak else ["No pattern is worth little."])


def import_patterns(call: Call) -> Answer:
    """Take in a file of patterns; exit code 1 when something of it could not be read."""
    from workbench.services.files.paths import as_named

    dry = call.args.dry_run
    intake = call.bench.pattern_intake.plan(as_named(call.args.file, call.session.cwd))
    written = 0 if dry else call.bench.pattern_intake.carry_out(intake)
    lost = [call.shown(text) for text in intake.problems]
    new = [{"id": one.id, "name": one.name, "status": one.status} for one in intake.patterns]
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
    try:
        before = read_named(path, LARGEST) if path.exists() else None
        original = None if before is None else before.decode("utf-8")
    except OSError as error:
        raise UnreadableFile(f"{args.file} cannot be read: {error.strerror}.", _NOTHING) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{args.file} is no text in UTF-8.", _NOTHING) from error
    text = call.bench.pattern_intake.written(args.ids, original, call.bench.safety)
    if text != original:
        replace_file(path, text, before)
    done = "Wrote" if text != original else "Nothing to write: the same stands in"
    return Answer({"file": str(path), "changed": text != original}, [f"{done} {args.file}."])


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
        what = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"{shown} is no text in UTF-8: {what}.", _NOTHING) from error


def _read(session: Session) -> object:
    """Return the JSON of a file or of stdin; raises `UnreadableFile`."""
    text = read_text(session, session.args.file)
    shown = "stdin" if session.args.file == "-" else os.fsdecode(session.args.file)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"{shown}:{error.lineno}: no JSON: {error.msg}.", _NOTHING) from error
    except RecursionError as error:
        raise UnreadableFile(
            f"{shown} holds no JSON in UTF-8 that can be read.", _NOTHING
        ) from error


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
    none = "The store has no patterns yet; `workbench pattern add FILE` adds some, `pattern import` those of a file."
    return Answer(
        lambda: [_row_json(call.bench, one) for one in chosen],
        lambda: table([_row(call, one) for one in chosen], right=(3, 4)),
        [] if wanted else ["No pattern is like that." if every else none],
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
        "applications": [application_json(one) for one in done],
        **review_json(call.bench, stored),
    }
    return Answer(lambda: {**pattern_doc(stored), **told}, lines)


def _opened_to_find(session: Session) -> "AbstractContextManager[Workbench]":
    args = session.args
    if args.actor is not None and (args.explain or args.candidates):
        raise InvalidQuery(
            "Agents are served what is in use.",
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
        hint = "Say what is to be done, or give --type, --domain, --category or --fact."
        raise InvalidQuery("The task is empty.", hint)
    return task_of(
        args.task, args.type, args.domain, args.complexity, args.capability, args.category, facts
    )


def _serve(call: Call) -> Answer:
    args = call.args
    if not call.bench.trust.standing.trusted:
        return Answer([])
    with as_agent(call) as api:
        found = api.find_patterns(
            args.task, args.type, args.domain, args.complexity, args.capability, dict(args.fact), args.category,
            args.limit,
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
        [] if found else ["No other pattern resembles it."],
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
    said = one.support
    return {
        "id": one.id, "name": one.name, "category": one.category, "status": one.status,
        "summary": one.line, "confidence": said.confidence_score, "success_rate": said.success_rate,
        "usage_count": one.usage_count, "last_updated": one.last_updated, "version": one.edition,
        **review_json(bench, one),
    }  # fmt: skip


def application_json(one: "Application") -> dict[str, object]:
    names = ("episode", "outcome", "at", "task", "note", "time", "cost", "actor", "basis", "counts")
    return {name: getattr(one, name) for name in names}


def _found_json(bench: "Workbench", found: "Found", explain: bool) -> Mapping[str, object]:
    task = found.task
    rows = [
        {**_row_json(bench, one.pattern), "score": round(one.score, 4), "parts": one.parts, "weighted": one.weighted,
         "met": [{"what": kind, "name": name} for kind, name in one.met]}
        for one in found.matches
    ]  # fmt: skip
    features = {"problem_types": sorted(task.problem_types), "domains": sorted(task.domains),
                "complexity": task.complexity, "capabilities": task.capabilities and sorted(task.capabilities),
                "facts": task.facts}  # fmt: skip
    fits = [{"what": one.about, "name": one.name, "why": one.why} for one in found.fits]
    left_out = [
        {"id": pattern.id, "because": why.obstacle, "asked": why.asked, "unknown": why.unknown}
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
    "complexity": "it is for complexity {}", "category": "it is of the category {}",
    "problem_type": "it is for problems of the type {}", "domain": "it is for the domain {}",
    "capability": "it needs {}", "condition": "it asks that {}", "anti_condition": "it does not apply when {}",
}  # fmt: skip


def _why(why: "LeftOut") -> str:
    asked = (" to " if why.obstacle == "complexity" else ", ").join(why.asked)
    said = _OBSTACLES.get(why.obstacle, "it is {}").format(asked)
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
        raise ArgumentTypeError(f"“{text}” is no amount")
    return value


OPTIONS: Mapping[str, Option] = {
    "ids": {"metavar": "ID"},
    "ids*:all": {"metavar": "ID", "help": "which ones (otherwise: all that are not deprecated)"},
    "file:in": {"type": file_or_stdin}, "file:out": {"help": "the file they came from, or a new one"},
    "--status": {"choices": STATUSES, "help": "only those that stand so (default: all but deprecated)"},
    "--category": {"choices": CATEGORIES, "help": "only those of one category"},
    "task": {"default": "", "help": "what is to be done, in words"},
    "--type": several("T", "the type of problem; several times"),
    "--domain": several("D", "the domain; several times"),
    "--complexity": {"metavar": "N", "type": float, "help": "how hard it is, from 0 to 10"},
    "--capability": several("C", "what is at hand; several times (without one, nobody is asked for it)"),
    "--fact": several("NAME=VALUE", "a fact that conditions ask about; several times") | {"type": fact},
    "--candidates": flag("look among the candidates, too"),
    "--explain": flag("show the parts of each score, and why others are missing"),
    "values": {"metavar": "NAME=VALUE", "type": fact, "help": "a value of a parameter"},
    "episode": {"help": "what names the episode"},
    "--outcome": {"choices": OUTCOMES, "help": "how it went"},
    "--task": text("what was to be done"), "--note": text("what to know about it"),
    "--time": {"metavar": "SECONDS", "type": amount, "help": "how long it took"},
    "--cost": {"metavar": "N", "type": amount, "help": "what it cost, in the unit of the baseline"},
    "--dry-run": flag("say what would come of it, and change nothing"),
    "--dry-run:in": flag("say what it would bring, and change nothing"),
    "--reason": text("why"), "by": {"help": "the pattern that takes its place"},
    "relation": {"metavar": "RELATION", "choices": RELATIONS, "help": ", ".join(RELATIONS)},
    "other": {"metavar": "ID"}, "--remove": flag("say it no longer"), "--deprecate": flag("take them out of use"),
}  # fmt: skip

_VERBS = (
    Verb("list", list_patterns, "list patterns, the surest first", "--status --category limit=50 --show-secrets --json",
         example="--status validated"),
    Verb("show", show_pattern, "show a pattern with its evidence and applications", "id --show-secrets --json",
         example=_ID),
    Verb("find", find_patterns, "find the patterns that fit a task",
         "task? --type --domain --complexity --capability --category --fact --candidates --explain --for-agent"
         " --session:agent limit=5 --show-secrets --json", _FIND, None, _opened_to_find),
    Verb("similar", similar_patterns, "show patterns that resemble one", "id --show-secrets --json", example=_ID),
    Verb("fill", fill_template, "fill the template of a pattern", "id values* --show-secrets --json", _FILL, None),
    Verb("tree", show_tree, "show the decision tree over the patterns in use", "--json"),
    Verb("add", add_patterns, "add patterns", "file:in --json", _ADD, "patterns.json", making),
    Verb("edit", edit_pattern, "change what a pattern says", "id file:in --json", _EDIT, f"{_ID} change.json",
         changing),
    Verb("apply", record_application, "record how applying a pattern went",
         "id episode --outcome! --task --note --time --cost --json", _APPLY, None, changing),
    Verb("validate", validate_patterns, "weigh the evidence of patterns", "ids* --dry-run --json", _VALIDATE,
         "--dry-run", unless_dry),
    Verb("approve", decide_pattern, "take a candidate into use on your word", "id --reason --json", "", _ID, changing),
    Verb("refine", decide_pattern, "take one that is under review back into use; its evidence begins anew",
         "id --reason --json", "", f'{_ID} --reason "the cause is mended"', changing),
    Verb("deprecate", decide_pattern, "take a pattern out of use for good", "id --reason! --json", "",
         f'{_ID} --reason "it is gone"', changing),
    Verb("restore", decide_pattern, "make a deprecated pattern a candidate again", "id --json", "", _ID, changing),
    Verb("supersede", decide_pattern, "deprecate one in favour of another", "id by --reason --json", "", _TWO,
         changing),
    Verb("merge", merge_patterns, "make one pattern of several", "ids+ --json", _MERGE, _TWO, changing),
    Verb("relate", relate_patterns, "relate two patterns", "id relation other --remove", "",
         f"{_ID} specializes pat-20261124-0000002", changing),
    Verb("prune", prune_patterns, "list patterns that are worth little", "ids* --deprecate --json", _PRUNE,
         "--deprecate", lambda session: session.changing() if session.args.deprecate else session.reading()),
    Verb("import", import_patterns, "import a file of patterns", "file --dry-run:in --json", _IMPORT,
         "patterns.json --dry-run",
         making_unless_dry),
    Verb("export", export_patterns, "write them into agent-playbook's file", "file:out ids*:all --json", _EXPORT,
         "patterns.json", lambda session: session.reading(approved=True)),
)  # fmt: skip

VERBS = (
    Verb(
        "pattern",
        list_patterns,
        "keep and find what agents learned",
        "",
        _PATTERN,
        None,
        below=_VERBS,
    ),
)
