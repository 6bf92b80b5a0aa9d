"""What the side panel says about a bullet besides its text: the outcomes of runs, and why it is deprecated."""

from datetime import datetime

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.usage import LEAST, BulletUsage, Rate
from workbench.core.record import parse_time
from workbench.core.text import one_line, printable
from workbench.services.playbook.playbook import REASON, REPLACED_BY, SINCE, WARNS_OF
from workbench.tui.widgets.bars import interval_bar
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.figures import number, since

BAR = 20
LABEL = 11
WARN = "bold $text-warning"

_VERDICTS = {"helps": "$text-success", "hurts": "$text-error", "unclear": MUTED}


def usage_lines(usage: BulletUsage | None, disputed: bool) -> list[Content]:
    """Return how often runs were right with a bullet and without it, and what follows from that."""
    if usage is None:
        return []
    lines = [Content(""), Content.styled("Outcomes of runs", "bold")]
    if disputed:
        side = (
            "harmful, but runs are right more often with it"
            if usage.verdict == "helps"
            else ("helpful, but runs are right less often with it")
        )
        lines.append(Content.styled(f"⇅ Disputed: mostly voted {side}.", WARN))
    lines += [*_rate("used", usage.used), *_rate("not used", usage.unused)]
    said = f"It {usage.verdict}." if usage.verdict != "unclear" else f"Unclear: {_why_unclear(usage)}."
    if usage.difference is not None:
        band = f" ({usage.low:+.2f} … {usage.high:+.2f})".replace("-", "−")
        lines.append(assemble([(f"{'difference':<{LABEL}}", MUTED), (f"{usage.difference:+.2f}".replace("-", "−"), ""),
                               (band, MUTED)]))  # fmt: skip
    lines.append(assemble([(" " * LABEL, ""), (said, _VERDICTS[usage.verdict])]))
    return lines


def _rate(label: str, rate: Rate) -> list[Content]:
    if rate.share is None:
        return [assemble([(f"{label:<{LABEL}}", MUTED), ("no runs", MUTED)])]
    figures = f"{rate.share:.2f} ({rate.low:.2f}–{rate.high:.2f})"
    count = f"  {number(rate.correct)}/{number(rate.runs)} right"
    head = assemble([(f"{label:<{LABEL}}", MUTED), (figures, ""), (count, MUTED)])
    return [head, Content(" " * LABEL) + interval_bar(rate.low, rate.share, rate.high, BAR)]


def _why_unclear(usage: BulletUsage) -> str:
    if min(usage.used.runs, usage.unused.runs) < LEAST:
        return f"at least {LEAST} runs on either side are needed"
    return "it spans zero"


def deprecated_lines(bullet: Bullet, replacement: str, now: datetime, key: str) -> list[Content]:
    """Return why a bullet is deprecated, since when, and what stands in its place; nothing for an active one."""
    if bullet.state != "deprecated":
        return []
    told = bullet.metadata
    parts = [("× Deprecated", WARN), (f"{_since(told.get(SINCE), now)}: not exported, not counted.", MUTED)]
    lines = [assemble(parts)]
    if told.get(REASON):
        lines.append(Content.styled("because  ", MUTED) + body(str(told[REASON])[:500]))
    if told.get(REPLACED_BY):
        name = one_line(str(told[REPLACED_BY])[:200], 40)
        gone = "which is gone" if not replacement else one_line(replacement[:400], 160)
        lines.append(assemble([("instead  ", MUTED), (name, "bold"), (f"  {gone}", "")]))
    lines.append(assemble([(key, "bold $text-accent"), (" makes it count again.", MUTED)]))
    return [*lines, Content("")]


def warning_line(bullet: Bullet) -> list[Content]:
    """Return which rule a warning was made of, if it was made of one."""
    rule = bullet.metadata.get(WARNS_OF)
    return [assemble([("warns of ", MUTED), (printable(str(rule)[:60]), "")])] if rule else []


def _since(at: object, now: datetime) -> str:
    try:
        return f" {since(parse_time(str(at)), now)}" if at else ""
    except ValueError:
        return ""
