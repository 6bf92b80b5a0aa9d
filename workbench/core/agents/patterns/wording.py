"""A pattern in words: what it says to do, as an agent and a person read it."""

import json
from collections.abc import Iterator

from workbench.core.agents.patterns.pattern import Body, Pattern, Template


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
