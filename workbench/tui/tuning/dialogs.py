"""What the tuning screen asks: which query, which profile, which memory, under what name."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from textual.content import Content

from workbench.core.errors import InvalidQuery
from workbench.core.served import hidden_because
from workbench.core.stream.memory import Memory
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.profile import Profile
from workbench.services.tuning.provenance import ProfileProvenance
from workbench.services.tuning.question import left_out_because
from workbench.services.tuning.session import TuningSession
from workbench.tui.app.host import Host
from workbench.tui.tuning.options import CANDIDATES, choices, with_option
from workbench.tui.tuning.profiles.saving import name_prompt, sentence_of
from workbench.tui.tuning.profiles.sides import remark, saved_sides
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.texts.prompt import Prompt

SHOWN = 500
"""How many memories are listed at most."""

SEEN, LOOKED_AT = 400, 4_000
"""Characters of a line that are shown at most, and those that are looked at for secrets before."""


async def choose_profile(app: Host, session: TuningSession) -> Profile | None:
    """Ask which profile to load, and whether unsaved settings may go; a broken one is a toast."""
    profiles = app.bench.tuning.profiles
    found = [Choice(side.name, side.name, remark(side)) for side in saved_sides(profiles)]
    chosen = await app.push_screen_wait(Choose("Load a profile", found, session.saved.name))
    if chosen is None:
        return None
    detail = Content(keyed("They are in no profile yet; {tune.save} saves them."))
    question = f"Load {chosen} and drop the changed settings?"
    if session.changed and not await app.push_screen_wait(
        Confirm(question, clock=time.monotonic, detail=detail, yes="load", guard=0.0)
    ):
        return None
    with app.reporting():
        return profiles.get(chosen)
    return None


async def choose_option(app: Host, session: TuningSession) -> Profile | None:
    """Ask how recency counts, what normalises and who takes part."""
    bounds = session.bounds()
    chosen = await app.push_screen_wait(Choose("How the ranking works", choices(session.profile, bounds)))
    if chosen == CANDIDATES:
        return await choose_candidates(app, session)
    return None if chosen is None else with_option(session.profile, chosen, bounds)


async def choose_candidates(app: Host, session: TuningSession) -> Profile | None:
    """Ask for the candidate filter; return the settings with it, whose candidates are known then."""

    def check(text: str) -> None:
        candidate_filter(text, session.now)

    title = "Which memories take part? Nothing: all that may be served"
    hint = "type:error,failure  memory:semantic  -tag:wip  since:30d"
    text = await app.push_screen_wait(
        Prompt(title, session.profile.candidates, placeholder=hint, check=sentence_of(check))
    )
    if text is None:
        return None
    if text and session.question is not None:
        # Every memory is looked at once, which takes a moment in a large store.
        await asyncio.to_thread(session.question.ranker.pool.matching, text, session.now)
    return replace(session.profile, candidates=text)


async def choose_memory(app: Host, session: TuningSession) -> str | None:
    """Ask for any memory of the store, by the filter language of the Stream; return its id."""

    def search(text: str) -> Sequence[Choice] | str:
        try:
            found = app.bench.stream.view(text).memories[:SHOWN]
        except InvalidQuery as error:
            return str(error)
        return [Choice(memory.id, memory.line[:LOOKED_AT], _place(session, memory)) for memory in found]

    def shown(label: str) -> str:
        return app.bench.safety.masked(label)[:SEEN]

    return await app.push_screen_wait(Choose("Why not this one?", search=search, shown=shown))


async def save_profile(app: Host, session: TuningSession, birth: ProfileProvenance | None = None) -> Profile | None:
    """Ask for a name and save the settings under it, with their birth certificate; return them as saved."""
    tuning, parent = app.bench.tuning, session.saved.name
    name = await app.push_screen_wait(
        name_prompt(
            "" if tuning.profiles.is_built_in(parent) else parent,
            lambda name: tuning.profiles.check_name(name, parent),
            lambda name: tuning.save(session.profile, name, parent, birth),
        )
    )
    return None if name is None else tuning.profiles.get(name)


def _place(session: TuningSession, memory: Memory) -> str:
    if session.ranking is None or memory.id not in session.ranking.pool.row_of:
        return hidden_because(memory, session.now) or "not ranked yet"
    return left_out_because(memory, session.ranking) or f"#{session.ranking.place_of(memory.id)}"
