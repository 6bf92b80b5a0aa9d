"""What the dialog that asks the Curator says."""

from datetime import datetime
from textwrap import wrap

from textual.content import Content

from workbench.core.text import one_line, printable
from workbench.services.playbook.curation_asking import Asked, CurationPlan
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.keys import key_of, keyed

_LABEL = 11
NOTHING = "No memory is confirmed yet. Approve candidates in Review (2) first."


def plan_text(plan: CurationPlan, now: datetime, unread: int, width: int) -> Content:
    """Return what would be told about which playbook, and what it would cost."""
    told = [_row("memories", _memories(plan, now))] if plan.run is None else _run(plan, width)
    lines = [*told, _row("playbook", _playbook(plan))]
    if plan.told or plan.run:
        lines.append(_row("costs", _costs(plan)))
        room = max(20, width - _LABEL)
        lines += [Content.styled(" " * _LABEL + part, MUTED) for part in wrap(printable(plan.preview.remark), room)]
    else:
        lines.append(Content.styled(_nothing(plan), "bold"))
    if unread:
        replies = amount(unread, "earlier reply", "earlier replies")
        lines.append(
            Content.styled(f"{replies} could not be read: {key_of('ask.unread')} shows them.", "$text-warning")
        )
    return Content("\n").join(lines)


def asked_text(asked: Asked) -> Content:
    """Return what came of asking: the tokens it took, and what went wrong."""
    used = f"Used {number(asked.usage.input)} tokens in, {number(asked.usage.output)} out."
    lines = [Content.styled(used, MUTED)]
    if asked.problem is not None:
        kept = keyed(" What came is kept: {ask.unread} shows it.") if asked.unread else ""
        lines.insert(0, Content.styled(f"✗ {printable(asked.problem.message)}{kept}", "$text-error"))
    return Content("\n").join(lines)


def _memories(plan: CurationPlan, now: datetime) -> Content:
    count = len(plan.told)
    word = "memory" if count == 1 else "memories"
    if plan.lessons.chosen:
        return assemble([(f"{number(count)} {word}", "bold"), (" marked in the Stream", MUTED)])
    if plan.since is not None:
        new = f" confirmed since the last curation, {since(plan.since, now)}"
        more = f"; {number(plan.lessons.left_out)} more are too many" if plan.lessons.left_out else ""
        return assemble([(f"{number(count)} {word}", "bold"), (new + more, MUTED)])
    more = f" of {number(count + plan.lessons.left_out)}" if plan.lessons.left_out else ""
    return assemble([(f"the latest {number(count)}{more}", "bold"), (" that were confirmed", MUTED)])


def _run(plan: CurationPlan, width: int) -> list[Content]:
    """Name the run's question and the bullets it used, also those that are not in the playbook."""
    assert plan.run is not None
    room = max(20, width - _LABEL)
    used = amount(len(plan.used), "bullet")
    unknown = f"; not in the playbook: {', '.join(plan.unknown)}" if plan.unknown else ""
    rest = one_line(unknown, max(0, room - len(used)))
    question = Content.styled(one_line(plan.run.task, room), "bold")
    return [_row("a run", question), _row("it used", assemble([(used, ""), (rest, "$text-warning")]))]


def _nothing(plan: CurationPlan) -> str:
    return NOTHING if plan.since is None else keyed("Nothing new to tell. {ask.lessons} takes the latest ones again.")


def _playbook(plan: CurationPlan) -> Content:
    count = len(plan.playbook.bullets)
    room = "" if plan.room is None else f" · may grow by {number(plan.room)} tokens"
    return assemble([(amount(count, "bullet"), "bold"), (room, MUTED)])


def _costs(plan: CurationPlan) -> Content:
    estimate = plan.preview.estimate.total
    month = f" · {number(plan.spent)} of {number(plan.limit)} this month" if plan.limit else ""
    over = 0 < plan.limit < plan.spent + estimate
    return assemble([(f"about {number(estimate)} tokens", "bold"), (month, "$text-warning" if over else MUTED)])


def _row(label: str, value: Content) -> Content:
    return Content.styled(f"{label:<{_LABEL}}", MUTED) + value
