"""What the dialogs around reflecting say."""

from collections.abc import Sequence
from datetime import datetime
from textwrap import wrap

from textual.content import Content

from workbench.core.reflection.llm_run import STAGES
from workbench.core.reflection.reflector import Step
from workbench.core.reflection.trigger import Gauge
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.reflection.reflection import CLAUDE, Outcome, Plan
from workbench.tui.widgets.bars import behind
from workbench.tui.widgets.bars import gauge as gauge_line
from workbench.tui.widgets.content import MUTED, assemble, key_of, keyed, line
from workbench.tui.widgets.figures import amount, number

RAISE = "a higher claude.monthly_tokens in the config, or 0 for no limit, lets it."

_LABEL = 11
_CELLS = 24


def plan_text(plan: Plan, gauge: Gauge, now: datetime, unread: int, width: int) -> Content:
    """Return what would be read, by whom, and what it would cost, and every condition that makes it due."""
    leading = gauge.leading
    remark = f" · due ({', '.join(gauge.reached)})" if gauge.reached else " · not due yet"
    stands = gauge_line(leading.value, leading.limit, leading.name) + Content.styled(remark, MUTED)
    lines = [_row("gauge", stands), _row("", behind(gauge)[3:]), _row("reads", _reads(plan, now))]
    if plan.reflector == CLAUDE:
        lines += [_row("reflector", Content.styled("Claude", "bold")), _row("costs", _costs(plan))]
    else:
        lines.append(_row("reflector", Content("extractive: what recurs and what users state, word for word")))
    lines += _wrapped(plan.preview.remark, width)
    if over_budget(plan):
        spent = keyed(
            "✗ More than is left of this month: nothing would be sent. {reflect.reflector} reflects "
            "on this machine instead;"
        )
        lines += [Content.styled(part, "$text-warning") for part in wrap(f"{spent} {RAISE}", max(20, width))]
    if not plan.request.memories:
        empty = "No memories yet. Import some (workbench import FILE), or let an agent add them."
        lines = [Content.styled(empty, "bold")]
    if unread:
        replies = amount(unread, "earlier reply", "earlier replies")
        lines.append(
            Content.styled(f"{replies} could not be read: {key_of('reflect.unread')} shows them.", "$text-warning")
        )
    return Content("\n").join(lines)


def over_budget(plan: Plan) -> bool:
    """Tell whether the month's limit does not hold what a plan would send and get back."""
    return plan.reflector == CLAUDE and 0 < plan.limit < plan.spent + plan.preview.estimate.total


def step_text(step: Step, stopping: bool) -> Content:
    """Return how far a reflection is."""
    if stopping:
        return Content.styled("Stopping. What was found is kept; esc again leaves it alone.", "bold")
    about = STAGES.get(step.stage, step.stage)
    if not step.total:
        return Content(f"{about[:1].upper()}{about[1:]} …")
    return gauge_line(step.done, step.total, about, _CELLS)


def outcome_text(outcome: Outcome, width: int) -> Content:
    """Return what came of a reflection: the candidates in a line each, what it used, why it stopped."""
    reflection = outcome.reflection
    by_person = outcome.problem is None and reflection.by_person
    count = len(outcome.candidates)
    said = f"You stopped it; {number(count) if count else 'nothing was'} found." if by_person else ""
    lines = [Content.styled(said or sentence(count, len(outcome.unread)), "bold")]
    if outcome.problem is not None:
        lines.append(Content.styled(f"✗ {printable(str(outcome.problem))}", "$text-error"))
    elif not reflection.complete and not by_person:
        lines.append(Content.styled(f"It is not complete: {printable(reflection.stopped)}", "$text-warning"))
    if outcome.afterwards is not None:
        lines.append(Content.styled(f"✗ {printable(str(outcome.afterwards))}", "$text-warning"))
    if reflection.usage.total:
        used = f"{number(reflection.usage.input)} tokens in, {number(reflection.usage.output)} out"
        lines.append(Content.styled(f"Used {used}.", MUTED))
    if outcome.unread:
        parts = "A part of a reply" if len(outcome.unread) == 1 else f"{number(len(outcome.unread))} parts of replies"
        lines.append(Content.styled(f"{parts} could not be read; see below.", "$text-warning"))
    if outcome.again:
        insights = amount(len(outcome.again), "insight says", "insights say")
        lines.append(Content.styled(f"{insights} what was confirmed, waits, or was rejected already.", MUTED))
    if outcome.candidates:
        lines += [Content(""), *_candidates(outcome.candidates, width)]
    return Content("\n").join(lines)


def sentence(candidates: int, unread: int) -> str:
    """Say in a sentence what came of a reflection."""
    if candidates:
        return f"{amount(candidates, 'candidate waits', 'candidates wait')} in Review."
    if unread:
        return "No candidate yet: the reply could not be read."
    return "Nothing recurs often enough to be proposed, or all of it is known already."


def _reads(plan: Plan, now: datetime) -> Content:
    count = len(plan.request.memories)
    since = plan.since
    if since is None:
        return Content("nothing")
    days = max(0, (now - since).days)
    ago = "today" if days == 0 else "since yesterday" if days == 1 else f"of the last {number(days)} days"
    reflections = sum(memory.is_synthetic for memory in plan.request.memories)
    plural = "" if reflections == 1 else "s"
    among = f", among them {number(reflections)} reflection{plural}" if reflections else ""
    return assemble([(f"{amount(count, 'memory', 'memories')} {ago}", "bold"), (among, MUTED)])


def _row(label: str, value: Content) -> Content:
    return Content.styled(f"{label:<{_LABEL}}", MUTED) + value


def _wrapped(text: str, width: int) -> list[Content]:
    """Return text below the values of the rows above it."""
    lines = wrap(printable(text), max(20, width - _LABEL))
    return [Content.styled(" " * _LABEL + part, MUTED) for part in lines]


def _costs(plan: Plan) -> Content:
    about = f"about {number(plan.preview.estimate.total)} tokens"
    month = f" · {number(plan.spent)} of {number(plan.limit)} this month" if plan.limit else ""
    return assemble([(about, "bold"), (month, "$text-warning" if over_budget(plan) else MUTED)])


def _candidates(candidates: Sequence[Memory], width: int) -> list[Content]:
    lines = []
    for memory in candidates:
        why = printable(str(memory.metadata.get("why", "") or "no evidence"))
        lines.append(Content.styled("◆ ", "$text-accent") + line(memory.content, max(1, width - 2)))
        lines.append(Content.styled(f"  {why}", MUTED))
    return lines
