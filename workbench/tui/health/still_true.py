"""Health: what memories and bullets name that is not in the working tree any more."""

import asyncio
from collections.abc import Sequence
from typing import cast

from textual.content import Content

from workbench.core.claims import why
from workbench.services.claims.checking import Stale, TruePlan
from workbench.services.open import Workbench
from workbench.tui.health.reflection import Facts, Hands, Row, Section, Watch, figures, remark
from workbench.tui.widgets.content import MUTED, assemble, body, undo
from workbench.tui.widgets.figures import amount, number

ID = "still-true"
LISTED = 300
"""Findings that are listed at most."""

RENAMED, GONE = "→", "✗"


def gather(bench: Workbench, watch: Watch) -> TruePlan:
    """Look for everything that is named."""
    return bench.still_true.plan(cancelled=watch.cancelled)


def rows(facts: Facts) -> Sequence[Row]:
    """Return what was found, or how to look."""
    key = facts.keys["health.still-true"]
    if ID in facts.running:
        return [remark(ID, "running", f"Looking through the working tree. {facts.keys['app.back']} stops it.")]
    if ID not in facts.found:
        return [remark(ID, "unknown", f"Not looked at yet. {key} looks for what memories name in the working tree.")]
    plan, mask = cast(TruePlan, facts.found[ID].value), facts.bench.safety.masked
    shown = [remark(ID, "summary", _summary(plan), item=plan)]
    for stale in plan.found[:LISTED]:
        renamed = all(one.now for one in stale.gone)
        line = mask(stale.proposal.title)
        names = mask(", ".join(one.name.written for one in stale.gone))
        style = "" if renamed else "$text-warning"
        sign = RENAMED if renamed else GONE
        shown.append(figures(ID, stale.proposal.id, sign, line, item=stale, more=names, style=style))
    return shown


def detail(row: Row, facts: Facts) -> Content:
    """Return a finding with its evidence and the text there would be, or what is looked for."""
    mask, keys = facts.bench.safety.masked, facts.keys
    if isinstance(row.item, Stale):
        stale = row.item
        parts = [body(mask(stale.record.content)), Content("")]
        parts += [body(mask(why(one)), "$text-warning") for one in stale.gone]
        after = stale.proposal.operation.get("content")
        if isinstance(after, str):
            parts += [Content(""), Content.styled("with the new names", MUTED), body(mask(after))]
        return Content("\n").join([*parts, Content(""), _key(keys["health.apply"], "puts all of it into Review")])
    found = facts.found.get(ID)
    parts = [Content.styled("Is it still true?", "bold"), Content("")]
    if found is not None and isinstance(found.value, TruePlan):
        parts += [*map(Content, _numbers(found.value)), Content("")]
    parts += [
        Content("Paths, symbols, scripts and targets that bullets, instructions and knowledge name are looked for in "
                "the working tree, and in its past where git knows one. Reports of what happened are left alone."),
        Content("Nothing of the repository runs, and nothing is changed."),
        Content(""),
        _key(keys["health.still-true"], "looks"),
        _key(keys["health.apply"], "puts what was found into Review"),
    ]  # fmt: skip
    return Content("\n").join(parts)


async def look(health: Hands, row: Row) -> None:
    """Start looking, and go to where it is shown."""
    del row
    health.go_to(ID)
    health.gather(ID)


async def apply(health: Hands, row: Row) -> None:
    """Put what was found into Review; look first where nobody has."""
    found = health.facts.found.get(ID)
    if found is None or not isinstance(found.value, TruePlan):
        await look(health, row)
        return
    plan, bench = found.value, health.bench
    done = await asyncio.to_thread(lambda: bench.still_true.carry_out(plan))
    count = len(done.found)
    if done.is_empty:
        health.workbench_app.say("Nothing new: all that is named is there, waits in Review, or was decided.")
        return
    wait, back = ("proposal waits", "it") if count == 1 else ("proposals wait", "them")
    health.workbench_app.say(f"{count} {wait} in Review now (key 2); {undo()} takes {back} back.")
    health.gather(ID)


def _summary(plan: TruePlan) -> str:
    if not plan.found:
        return f"Nothing new: {number(plan.names)} names in {number(plan.checked)} texts were looked for."
    count = len(plan.found)
    text = amount(count, "text names", "texts name")
    return f"{text} what is not there any more:"


def _numbers(plan: TruePlan) -> list[str]:
    lines = [f"{number(plan.names)} names in {number(plan.checked)} texts were looked for."]
    if plan.open:
        lines.append(f"{number(len(plan.open))} of an earlier look wait in Review.")
    if plan.decided:
        lines.append(f"{number(plan.decided)} you decided on before.")
    if not plan.with_git:
        lines.append("There is no git repository, or no git: only paths were looked for.")
    if not plan.is_whole:
        lines.append("The folder holds so many files that not all of them were looked at.")
    return lines


def _key(key: str, what: str) -> Content:
    return assemble([(key, "bold $text-accent"), (f"  {what}", "")])


SECTION = Section(ID, "Still true?", gather, rows, detail, "asked", {"apply": apply, "still_true": look})
