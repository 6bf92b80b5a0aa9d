"""Reflecting from R to Review: plan, run, look at what came of it, deal with what could not be read."""

import asyncio
from dataclasses import replace
from functools import partial

from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step
from workbench.core.stream.memory import Memory
from workbench.services.reflection.reflection import CLAUDE, Outcome, Reflecting, Waiting
from workbench.tui.app.host import Host
from workbench.tui.reflection.dialog import Chosen, Make, ReflectDialog, ResultDialog, RunDialog
from workbench.tui.widgets.texts.editor import TextEditor

LONGEST = 100_000
"""Characters of a reply that can be edited."""


async def reflect(app: Host) -> None:
    """Lead a person through a reflection."""
    reflecting = app.bench.reflecting
    asked = await app.push_screen_wait(ReflectDialog(reflecting, app.bench.context.now()))
    if asked is None:
        return
    if asked.plan is None:
        await _deal_with(app, reflecting, None, reflecting.runs.waiting())
        return
    stage: Step = Step("questions" if asked.plan.reflector == CLAUDE else "cluster")
    outcome = await _run(app, partial(reflecting.reflect, asked.plan), stage)
    if outcome is not None:
        await _deal_with(app, reflecting, outcome, outcome.unread)


async def _run(app: Host, make: Make[Outcome], first: Step) -> Outcome | None:
    return await app.push_screen_wait(RunDialog(make, first))


async def _deal_with(app: Host, reflecting: Reflecting, outcome: Outcome | None, waiting: tuple[Waiting, ...]) -> None:
    """Show what came of a reflection until nothing is left to decide about it."""
    problem = ""
    while True:
        chosen = await app.push_screen_wait(ResultDialog(outcome, waiting, problem))
        problem = ""
        if chosen is None:
            return
        if chosen.next == "review":
            app.switch_mode("review")
            return
        if chosen.next == "again" and chosen.reply is not None:
            again = await _run(app, partial(reflecting.ask_again, chosen.reply), Step("insights"))
            outcome = again or outcome
        else:
            problem = await _settle(app, reflecting, chosen)
        kept = {one.reply for one in waiting} | {one.reply for one in (outcome.unread if outcome else ())}
        waiting = tuple(one for one in reflecting.runs.waiting() if one.reply in kept)
        outcome = None if outcome is None else replace(outcome, unread=waiting)
        if not waiting and outcome is None:
            return


async def _settle(app: Host, reflecting: Reflecting, chosen: Chosen) -> str:
    """Edit a reply into candidates, or let go of it; return why that was not done, or nothing."""
    reply = chosen.reply
    if reply is None:
        return ""
    if chosen.next == "dismiss":
        try:
            await asyncio.to_thread(reflecting.dismiss, reply)
        except WorkbenchError as error:
            return str(error)
        return ""
    title = "Edit into candidates: a list of insights (because of 1, 2), or one in each paragraph"
    stored: list[Memory] = []

    def read(text: str) -> None:
        stored.extend(reflecting.read_again(reply, text))

    draft = app.draft(f"llm_runs/{reply.run}", f"reply-{reply.place}")
    await app.push_screen_wait(TextEditor(title, reply.reply.reply, limit=LONGEST, check=read, draft=draft))
    if stored:
        app.say(f"{len(stored)} candidate{' waits' if len(stored) == 1 else 's wait'} in Review.")
    return ""
