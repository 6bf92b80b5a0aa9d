"""Health: what hooks and transcripts of agents' sessions brought, what was passed over, and which hooks failed."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

from textual.content import Content

from workbench.config import paths
from workbench.services.agents.capture.hooks import Past, past
from workbench.services.agents.capture.log import HookFailure
from workbench.services.open import Workbench
from workbench.tui.health.reflection import Facts, Row, Section, Watch, figures, remark
from workbench.tui.widgets.content import MUTED, assemble, body

ID = "captures"
BAD, ERROR = "✗", "$text-error"
LISTED = 5
"""Failures that are listed; the text beside the heading has all that are kept."""


def gather(bench: Workbench, _watch: Watch) -> Past:
    """Read how far sessions were followed, and the log of hooks."""
    captures = paths.captures_dir()
    return Past(0, Counter(), ()) if captures is None else past(captures, bench.library.folder)


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for the sessions, one for what was passed over, and one for each of the latest failures."""
    found, mask = cast(Past, facts.found[ID].value), facts.bench.safety.masked
    if not found.sessions and not found.failures:
        return [remark(ID, "nothing", "No session of an agent was followed yet: `workbench capture --help`.")]
    shown = [figures(ID, "sessions", f"{found.sessions:,}", "sessions of agents followed")]
    if passed := found.passed.total():
        shown.append(figures(ID, "passed", f"{passed:,}", "things passed over in them"))
    for number, failure in enumerate(found.failures[:LISTED]):
        text = mask(f"{failure.event or 'a hook'} failed: {failure.problem}")
        shown.append(figures(ID, f"failure-{number}", BAD, text, item=failure, style=ERROR, more=failure.at[:16]))
    return shown


def detail(row: Row, facts: Facts) -> Content:
    """Return what was passed over and why, or a failure in full."""
    mask = facts.bench.safety.masked
    known = facts.found.get(ID)
    if isinstance(row.item, HookFailure):
        where = assemble([(f"{row.item.at} · {mask(row.item.agent)} · {mask(row.item.event)}", MUTED)])
        return Content("\n").join([body(mask(row.item.problem)), where, Content(""), _never()])
    if known is None or not isinstance(known.value, Past):
        return Content("")
    lines = [Content.styled("What agents' sessions taught, and what they did not", "bold"), Content("")]
    lines += [body(f"  {words}") for words in known.value.passed_words] or [Content("Nothing was passed over.")]
    return Content("\n").join([*lines, Content(""), _never()])


def _never() -> Content:
    return Content.styled("A hook that fails stops no agent: it is noted here; what it missed is read later.", MUTED)


SECTION = Section(ID, "Capture", gather, rows, detail, when="once")
