"""Looking at patterns: lists, one in full, those that fit a task, those alike, a filled template, the tree."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.cli.exit_codes import FOUND
from workbench.cli.output import cut, moment, say, table, warn, write_json
from workbench.cli.parsing import wants_json
from workbench.cli.safety.flags import FLAG, Shown, review_json, unreviewed
from workbench.cli.session import Session, actor_of
from workbench.core.agents.patterns.names import Status
from workbench.core.errors import InvalidQuery, StoreProblem
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.patterns.matching import LeftOut, Match, Task
    from workbench.core.agents.patterns.pattern import Application, Pattern
    from workbench.core.agents.patterns.tree import Node
    from workbench.services.agents.patterns.patterns import Found
    from workbench.services.open import Workbench

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
    """Return what to say where no pattern is listed; memories that are patterns are offered to move."""
    if bench.patterns.all():
        return "No pattern is like that."
    movable = len(bench.pattern_intake.movable())
    if movable:
        many = counted(movable, "memory", "memories")
        return f"The store has no patterns yet, but {many} that came in from a pattern file: `workbench pattern move`."
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
            from workbench.core.agents.patterns.wording import in_full

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
        raise InvalidQuery("Agents are given what is in use.", "Leave out --explain and --candidates, or --for-agent.")
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
    from workbench.services.agents.patterns.serving import reading_of, served
    from workbench.services.agents.reads import Asked, keep

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
        warn(f"{counted(given.unapproved, 'pattern')} left out: this agent is given only what a person approved.")
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
        from workbench.core.agents.patterns.tree import tree_json

        tree = bench.patterns.tree()
        if wants_json(session.args):
            write_json(tree_json(tree))
        else:
            for line in _tree_lines(tree, ""):
                say(bench.safety.masked(line))
    return 0


def _tree_lines(tree: "Node", indent: str) -> Iterator[str]:
    from workbench.core.agents.patterns.tree import Leaf

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
    """Return an application as JSON has it."""
    return {"episode": one.episode, "outcome": one.outcome, "at": one.at, "task": one.task, "note": one.note,
            "time": one.time, "cost": one.cost, "actor": one.actor}  # fmt: skip


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
    answer: dict[str, object] = {"features": features, "patterns": rows}
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
