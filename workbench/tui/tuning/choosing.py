"""What Tune asks in dialogs: queries, profiles, options, memories, grades, and files of queries."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from textual.content import Content

from workbench.config.writing import set_values
from workbench.core.duplicates.thresholds import Thresholds
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.served import hidden_because
from workbench.core.stream.memory import Memory
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import FEEDBACK_HALF_LIFE, LITERAL_FEEDBACK_HALF_LIFE, FrozenBounds, Profile
from workbench.services.files.overwriting import why_said
from workbench.services.tuning.profiles import ProfileProvenance
from workbench.services.tuning.queries import KINDS, run
from workbench.services.tuning.session import TuningSession, left_out_because
from workbench.tui.app.host import Host
from workbench.tui.files.exports import written_said
from workbench.tui.tuning.profiles import choose_side, name_prompt, remark, saved_sides, sentence_of
from workbench.tui.widgets.content import keyed
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.figures import absolute, amount
from workbench.tui.widgets.texts.prompt import Prompt

# What a ranking has besides numbers: how recency counts, whose minimum and maximum normalise, who takes part.


CANDIDATES = "candidates"
"""The option that asks for a filter."""

_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "hours": ("Recency by the hours since the last access", {"mode": "hours"}),
    "days": ("Recency by the days since it was made, exp(−age / τ)", {"mode": "days"}),
    "rank": ("Recency by rank, newest first", {"mode": "rank", "rank_order": "newest"}),
    "rank-oldest": ("Recency by rank, oldest first", {"mode": "rank", "rank_order": "oldest"}),
    "off": ("Recency off", {"mode": "off"}),
    "pinned-fresh": ("Pinned memories stay fresh", {"pinned": "fresh"}),
    "pinned-fades": ("Pinned memories fade as the others do", {"pinned": "fades"}),
    "votes-slow": ("Votes fade slower than recency, by half in 29 d", {"feedback_half_life": FEEDBACK_HALF_LIFE}),
    "votes-literal": (
        "Votes fade as ENGRAM prints it, × 0.99 an hour",
        {"feedback_half_life": LITERAL_FEEDBACK_HALF_LIFE},
    ),
    "lexical-bm25": ("Full text as BM25, against the mean length", {"lexical": "bm25"}),
    "lexical-absolute": ("Full text word by word, with words around", {"lexical": "absolute"}),
    "pool": ("0 to 1 over all served memories", {"scope": "pool"}),
    **{f"top-{n}": (f"0 to 1 over the {n} most relevant", {"scope": "top", "top_n": n}) for n in (20, 50, 100, 200)},
}


def options(profile: Profile, bounds: FrozenBounds | None) -> list[tuple[Choice, Profile]]:
    """Return every option with the settings that it makes; `bounds` are those of the present ranking."""
    every = dict(_OPTIONS)
    if profile.frozen is not None:
        every["frozen"] = ("0 to 1 by the frozen bounds", {"scope": "frozen"})
    if bounds is not None:
        how = "anew" if profile.frozen is not None else "for every query and moment"
        every["freeze"] = (f"Freeze the bounds of this ranking {how}", {"scope": "frozen", "frozen": bounds})
    found = []
    for id, (label, values) in every.items():
        made, said = replace(profile, **values), ""
        if id.startswith("pinned-") and not profile.fades:
            said = "recency does not fade with time"
        elif profile.scorer == "episodic" and ("scope" in values or id.startswith("votes-")):
            said = "episodes have neither votes nor a scale"
        elif made == profile:
            said = "now"
        found.append((Choice(id, label, said), made))
    only = f"Candidates: only {profile.candidates}" if profile.candidates else "Candidates: all that may be served"
    return [*found, (Choice(CANDIDATES, only, keyed("{tune.candidates} asks for a filter")), profile)]


async def choose_option(app: Host, session: TuningSession) -> Profile | None:
    """Ask how recency counts, what normalises and who takes part."""
    every = options(session.profile, session.bounds())
    chosen = await app.push_screen_wait(Choose("How the ranking works", [choice for choice, _ in every]))
    if chosen == CANDIDATES:
        return await choose_candidates(app, session)
    return next((made for choice, made in every if choice.id == chosen), None)


async def choose_candidates(app: Host, session: TuningSession) -> Profile | None:
    """Ask for the candidate filter; return the settings with it, whose candidates are known then."""
    title, hint = "Which memories take part? Nothing: all that may be served", "type:error,failure  -tag:wip  since:30d"
    check = sentence_of(lambda text: candidate_filter(text, session.now))
    text = await app.push_screen_wait(Prompt(title, session.profile.candidates, placeholder=hint, check=check))
    if text is None:
        return None
    if text and session.question is not None:
        # Every memory is looked at once, which takes a moment in a large store.
        await asyncio.to_thread(session.question.ranker.pool.matching, text, session.now)
    return replace(session.profile, candidates=text)


# Which query, which profile, which memory.


async def choose_query(
    app: Host, title: str, queries: Sequence[SavedQuery], current: SavedQuery | None
) -> SavedQuery | None:
    """Ask for a saved query; of those with the same words the moment tells them apart."""
    same, shown = len({query.text for query in queries}) < len(queries) > 1, app.bench.safety.shown

    def label(query: SavedQuery) -> str:
        at = "asked now" if query.now is None else f"asked at {absolute(query.now)}"
        return f"{query.text} · {at}" if same else query.text

    found = [Choice(q.id, label(shown(q)), ", ".join(shown(q).tags)) for q in queries]
    chosen = await app.push_screen_wait(Choose(title, found, current.id if current else ""))
    return next((query for query in queries if query.id == chosen), None)


async def choose_profile(app: Host, session: TuningSession) -> Profile | None:
    """Ask which profile to load, and whether unsaved settings may go; a broken one is a toast."""
    profiles = app.bench.tuning.profiles
    found = [Choice(side.name, side.name, remark(side)) for side in saved_sides(profiles)]
    chosen = await app.push_screen_wait(Choose("Load a profile", found, session.saved.name))
    if chosen is None:
        return None
    detail = Content(keyed("They are not saved in a profile; {tune.save} saves them."))
    question = f"Load {chosen} and discard the changed settings?"
    confirm = Confirm(question, clock=time.monotonic, detail=detail, yes="load", guard=0.0)
    if session.changed and not await app.push_screen_wait(confirm):
        return None
    with app.reporting():
        return profiles.get(chosen)
    return None


async def choose_memory(app: Host, session: TuningSession) -> str | None:
    """Ask for any memory of the store, by the filter language of the Stream; return its id."""

    def search(text: str) -> Sequence[Choice] | str:
        try:
            found = app.bench.stream.view(text).memories[:500]
        except InvalidQuery as error:
            return str(error)
        return [Choice(memory.id, memory.line, _place(session, memory)) for memory in found]

    return await app.push_screen_wait(Choose("Why not this one?", search=search, shown=app.bench.safety.masked))


def _place(session: TuningSession, memory: Memory) -> str:
    if session.ranking is None or memory.id not in session.ranking.pool.row_of:
        return hidden_because(memory, session.now) or "not ranked yet"
    return left_out_because(memory, session.ranking) or f"#{session.ranking.place_of(memory.id)}"


# Keeping settings.


async def save_profile(app: Host, session: TuningSession, birth: ProfileProvenance | None) -> Profile | None:
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


def keep_thresholds(app: Host, after: Thresholds) -> bool:
    """Write the thresholds of duplicates to the settings, and hold to them from now on; tell whether it worked."""
    path, retriever = app.options.config, app.bench.retriever
    if path is None:
        app.say("This store is for trying out: no settings are written. `workbench` alone has some.")
        return False
    with app.reporting():
        before = retriever.thresholds()
        set_values(path, {"thresholds.duplicate": after.flag, "thresholds.review": after.review})
        retriever.use_thresholds(after)
        pairs = (("duplicate", before.flag, after.flag), ("review", before.review, after.review))
        changed = ", ".join(f"thresholds.{name} {old:g} → {new:g}" for name, old, new in pairs if old != new)
        app.say(f"{changed}, in {path}. It applies from now on; save the old value to revert it.")
        return True
    return False


# Saved queries to a file.


FILES = {
    "jsonl": ("JSON lines", "queries with grades and moments", "queries.jsonl"),
    "qrels": ("TREC qrels", "the grades alone, by query id", "judgments.qrels"),
    "run": ("TREC run", "a profile ranks every query", "ranking.run"),
    "judgments": ("judgments", "every grade, by whom and when", "judgments.jsonl"),
}


async def export_queries(app: Host, current: str) -> None:
    """Write the saved queries, their judgments, or a profile's ranking of them to a file; replaced only after a yes."""
    bench = app.bench
    choices = [Choice(kind, label, about) for kind, (label, about, _) in FILES.items()]
    kind = await app.push_screen_wait(Choose("Export queries as", choices))
    if kind is None:
        return
    write = KINDS[kind].write
    if write is None:
        sides = saved_sides(bench.tuning.profiles)
        here = next((side.id for side in sides if side.name == current), "")
        side = await choose_side(app, "A run of which profile?", sides, here)
        if side is None or side.profile is None:
            return
        write = partial(run, tuning=bench.tuning, profile=side.profile)
    name = await app.push_screen_wait(Prompt("File to write", FILES[kind][2], check=sentence_of(_path)))
    if not name:
        return
    with app.reporting():
        text = await asyncio.to_thread(write, bench.context)
        preview = bench.exporter.preview(_path(name), text, kind=KINDS[kind].export_format)
        if not preview.changed:
            app.say(f"{preview.path} holds exactly that already.")
            return
        lines = amount(text.count("\n"), "line")
        if preview.present is not None:
            obstacle = preview.obstacle
            kept = "The store wrote it." if obstacle is None else f"{why_said(obstacle)} A copy of it is kept."
            question = f"Replace {preview.path} by {lines}?"
            confirm = Confirm(question, clock=time.monotonic, detail=Content(kept), yes="replace", guard=0.0)
            if not await app.push_screen_wait(confirm):
                return

        def written() -> None:
            with bench.exporter.turn():
                app.say(written_said(bench.exporter.write(preview, force=True)))

        app.change(written)


def _path(name: str) -> Path:
    """Return the file to write. Raises `WorkbenchError`."""
    if not name.strip():
        raise WorkbenchError("Name the file to write.")
    try:
        path = Path(name.strip()).expanduser()
    except RuntimeError as error:
        raise WorkbenchError(f"{name} names an unknown home folder.", "Nothing was written.") from error
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise WorkbenchError(f"{path} is a folder." if path.is_dir() else f"The folder of {path} does not exist.")
    return path
