"""A pattern in words: what it says to do, as an agent and a person read it."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from workbench.core.agents.patterns.pattern import Application, Body, Pattern, Template
from workbench.core.record import minute
from workbench.core.text import counted, one_line


def text_of(pattern: Pattern) -> str:
    """Return a pattern as plain lines: its name and what it says, when and how, and what to mind."""
    return "\n".join(_lines(pattern))


def _lines(pattern: Pattern) -> Iterator[str]:
    yield pattern.name
    yield from dict.fromkeys(text for text in (pattern.summary, pattern.description) if text)
    where, guidance = pattern.applicability, pattern.guidance
    if pattern.detailed_explanation:
        yield pattern.detailed_explanation
    if guidance.when_to_apply:
        yield f"When: {guidance.when_to_apply}"
    for condition in where.context_conditions:
        yield f"Only when: {condition}"
    for condition in where.anti_conditions:
        yield f"Not when: {condition}"
    if guidance.how_to_apply:
        yield f"How: {guidance.how_to_apply}"
    if pattern.body is not None:
        yield from body_lines(pattern.body)
    for benefit in guidance.expected_benefits:
        yield f"Benefit: {benefit}"
    for risk in guidance.potential_risks:
        yield f"Risk: {risk}"


def body_lines(body: Body) -> Iterator[str]:
    """Yield what a pattern says to do, a line each."""
    if body.strategy is not None:
        yield f"Approach: {body.strategy.approach}"
        yield from (f"- {principle}" for principle in body.strategy.key_principles)
        if body.strategy.trade_offs:
            yield f"Trade-offs: {body.strategy.trade_offs}"
    if body.heuristic is not None:
        when = f"If {body.heuristic.condition}: " if body.heuristic.condition else ""
        yield f"{when}{body.heuristic.action}"
        if body.heuristic.rationale:
            yield f"Because: {body.heuristic.rationale}"
    if body.procedure is not None:
        for number, step in enumerate(body.procedure.steps, 1):
            after = f" (after {', '.join(step.depends_on)})" if step.depends_on else ""
            yield f"{number}. {f'[{step.id}] ' if step.id else ''}{step.text}{after}"
        yield from (f"If {branch.when}: go to {branch.go_to}" for branch in body.procedure.branching_logic)
        yield from (f"Done when: {condition}" for condition in body.procedure.termination_conditions)
    if body.template is not None:
        yield from _template(body.template)


def _template(template: Template) -> Iterator[str]:
    for one in template.parameters:
        default = "" if one.default is None else f", {json.dumps(one.default, ensure_ascii=False)} unless given"
        about = f": {one.about}" if one.about else ""
        choices = f" ({', '.join(one.choices)})" if one.choices else ""
        yield f"Parameter {one.name}, a {one.type}{choices}{default}{about}"
    yield from json.dumps(template.structure, ensure_ascii=False, indent=2).splitlines()


_REASONS = {
    "evidence": "by its evidence", "refined": "refined by a person", "approved": "approved by a person",
    "restored": "restored by a person", "imported": "as a file brought it", "merged": "merged",
    "superseded": "superseded", "low value": "worth little",
}  # fmt: skip
"""Reasons of a status that are no person's words, as they are told."""

_BASES = {
    "recorded": "", "named": "names it", "followed": "served, at least half of it done",
    "served": "served only, not counted", "unproven": "outcome unknown, not counted",
    "mined": "mined from it, not counted",
}  # fmt: skip
"""What is told of why an episode is among the applications."""

APPLICATIONS = 10
"""Applications that are told of one by one."""


def in_full(pattern: Pattern, done: Sequence[Application], when: Callable[[datetime], str] = minute) -> Iterator[str]:
    """Yield all that is known of a pattern, a line each: where it stands, what it says, and its latest applications.

    `when` writes a time.
    """
    said = pattern.support
    reason = _REASONS.get(pattern.status_reason, pattern.status_reason)
    yield f"{pattern.id} · {pattern.category} · {pattern.status.replace('_', ' ')}{f', {reason}' if reason else ''}"
    yield f"version {pattern.edition} of {when(pattern.last_updated)} · made {when(pattern.created_at)}"
    if pattern.superseded_by:
        yield f"superseded by {pattern.superseded_by}"
    yield ""
    yield text_of(pattern)
    yield ""
    yield from _asked(pattern)
    yield _evidence(pattern, when)
    saved = (("time", said.avg_time_saving, " s"), ("cost", said.avg_cost_saving, ""))
    for name, value, unit in saved:
        if value is not None:
            yield f"saves {name}: {value:+.4g}{unit} on average, against the baseline"
    if said.success_rate_improvement is not None:
        yield f"succeeds more often by {said.success_rate_improvement:+.0%} than without"
    used = "never used" if pattern.last_used is None else f"last {when(pattern.last_used)}"
    yield f"used {pattern.usage_count:,} times, {used}" if pattern.usage_count else "never used"
    for relation, others in _relations(pattern):
        yield f"{relation}: {', '.join(others)}"
    if mined := pattern.support.mined_from:
        shown = f"{', '.join(mined[:APPLICATIONS])}{', …' if len(mined) > APPLICATIONS else ''}"
        yield f"mined from {counted(len(mined), 'episode')}, which do not validate it: {shown}"
    for one in done[:APPLICATIONS]:
        basis = "mined" if one.episode in mined else one.basis
        note = "".join(f" · {text}" for text in (_BASES.get(basis, basis), one_line(one.note or one.task, 100)) if text)
        yield f"  {when(one.at)}  {one.outcome:<8} {one.episode}{note}"
    if len(done) > APPLICATIONS:
        yield f"  and {len(done) - APPLICATIONS:,} more"


def _asked(pattern: Pattern) -> Iterator[str]:
    where = pattern.applicability
    if where.problem_types:
        yield f"for problems: {', '.join(where.problem_types)}"
    if where.task_features.domain:
        yield f"in domains: {', '.join(where.task_features.domain)}"
    hard = where.task_features.complexity
    if hard is not None:
        yield f"for complexity {hard.min:g} to {hard.max:g} (of 10)"
    if where.task_features.required_capabilities:
        yield f"needs: {', '.join(where.task_features.required_capabilities)}"


def _evidence(pattern: Pattern, when: Callable[[datetime], str]) -> str:
    said = pattern.support
    if not said.num_applications and said.last_validated is None:
        return "evidence: none yet"
    at = "as it was brought along" if said.last_validated is None else f"validated {when(said.last_validated)}"
    many = counted(said.num_applications, "application")
    return (
        f"evidence: {many}, {said.success_rate:.0%} succeeded, "
        f"p = {said.statistical_significance:.3g}, confidence {said.confidence_score:.2f}, {at}"
    )


def _relations(pattern: Pattern) -> Iterator[tuple[str, tuple[str, ...]]]:
    known = pattern.relationships
    if known.specializes:
        yield "specializes", (known.specializes,)
    for name, others in (
        ("generalizes", known.generalizes), ("contradicts", known.contradicts), ("complements", known.complements),
        ("alternatives", pattern.guidance.alternative_patterns),
    ):  # fmt: skip
        if others:
            yield name, others
