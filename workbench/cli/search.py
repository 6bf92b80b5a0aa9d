"""`workbench search`: what an agent is given for a query. Nothing counts as read unless an agent
asks.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from workbench.cli.describe import found_json
from workbench.cli.output import few, moment, say, table, warn
from workbench.cli.parsing import time
from workbench.cli.progress import read_memories
from workbench.cli.session import Session
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    flag,
    review_json,
    serving,
    sign,
    value,
)
from workbench.core.record import InvalidQuery
from workbench.core.text import counted, one_line
from workbench.core.tuning.floor import NoFloor
from workbench.core.tuning.profile import FACTORS, RELEVANCE, ProfileInUse, listed

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.core.tuning.profile import Profile
    from workbench.core.tuning.scoring import Scored, Share
    from workbench.services.agents.serving import Served
    from workbench.services.open import Workbench
    from workbench.services.tuning.floors import AgainstFloor
    from workbench.services.tuning.session import Question


def profile_of(call: Call) -> "Profile":
    """Return the profile of `--profile`, else the one in use; raises as that does."""
    named, tuning = call.args.profile, call.bench.tuning
    return tuning.default() if named is None else tuning.profiles.get(named)


def profile_in_use(call: Call) -> ProfileInUse:
    """Return which profile a command ranks with, and where that is said."""
    named = call.args.profile
    return ProfileInUse(named, "flag") if named else call.bench.tuning.used


# What `search` says about the floor: that nothing is relevant, which memories are weak, and by what
# figures.


_NONE: Mapping[NoFloor, str] = {
    "none": "no relevance floor: no memory can be served",
    "unknown": "no relevance floor: not computed yet",
    "off": "",
}


def _nothing_relevant(query: str, against: "AgainstFloor") -> str:
    """Return the sentence about a query that nothing is relevant to, and nothing for another one."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if not against.empty or floor is None or reach is None:
        return ""
    best = f"the best match reaches {reach.together:.2f}"
    asked = one_line(query, 60)
    return f"Nothing relevant to “{asked}”: {best}, while background questions reach {floor.query:.2f} here."


def _floor_said(against: "AgainstFloor") -> str:
    """Return what the query is held against; nothing where the floor is turned off."""
    (floor, why), reach = against.verdict.standard, against.verdict.reach
    if floor is None or reach is None:
        return "" if why is None else _NONE[why]
    query = f"the query reaches {_reached(reach.cosine, reach.lexical, reach.known)} = {reach.together:.4f}"
    return f"floor {floor.query:.4f}: {query} · a memory is weak below {floor.memory:.4f}"


def _reached(cosine: float, lexical: float, known: bool) -> str:
    return f"(cosine {cosine:.4f} + full text {lexical:.4f}) ÷ 2" if known else "full text alone"


def _floor_json(against: "AgainstFloor", id: str) -> dict[str, object]:
    """Return the floor and what the query and a memory reach, or why there is none."""
    (floor, why), reach = against.verdict.standard, against.verdict.reach
    if floor is None or reach is None:
        return {} if why == "off" else {"floor": None, "no_floor": why}
    cosine, lexical, known = against.scores_of(id)
    return {
        "floor": {
            "query": floor.query,
            "memory": floor.memory,
            "query_reaches": {
                "cosine": reach.cosine if reach.known else None,
                "lexical": reach.lexical,
            },
            "memory_reaches": {"cosine": cosine if known else None, "lexical": lexical},
        }
    }


_DETAILS = f"""Ranks by {listed()} under a retrieval profile, over what agents are served: no candidates, nothing
archived, nothing newer than --now (with --at: than that revision). Read-only, unless --for-agent
is given: then the access is counted, secrets are masked, and flagged text that you did not allow
is held back.

What you neither wrote nor approved is served to agents in a block that names its source:
[unreviewed MARK] … [end MARK], with a random mark per answer. agents.serve = "approved" in the
config file serves only what you wrote or approved.

The number is the relevance, whatever the profile: (own cosine + own full text) ÷ 2; full text
alone when the model does not know the language of the query or the memory. If a query scores no
higher than background questions in its script, no memory is relevant: the output says so, and
agents are served nothing. Weak memories are marked ("weak" in --json) and not served.
retrieval.floor = false in the config file turns this off."""


def _open(session: Session) -> "AbstractContextManager[Workbench]":
    """Raise for what does not go together, and open the store."""
    args = session.args
    if not args.query.strip():
        raise InvalidQuery(
            "The query is empty.", "Give a query; `workbench list` shows everything."
        )
    if args.actor is None and args.session:
        raise InvalidQuery("--session needs --for-agent.", "Name it: --for-agent NAME.")
    for option, given in (("--now", args.now), ("--at", args.at)):
        if args.actor is not None and given is not None:
            raise InvalidQuery(
                f"{option} is read-only and serves no agent.",
                f"Leave out {option} or --for-agent.",
            )
    return serving(session)


def search(call: Call) -> Answer:
    """Print the best memories, the best first."""
    args, bench, agent = call.args, call.bench, call.args.actor is not None
    if agent and not bench.trust.standing.trusted:
        # A hook goes on without: what nobody here has seen is no agent's to read.
        return Answer([])
    if agent:
        call.shown.leave()
    profile = profile_of(call)
    read_memories(bench)
    served = _served(call, profile)
    for remark in _remarks(bench, served, args):
        warn(remark)
    if nothing := _nothing_relevant(args.query, served.floor):
        # An agent that reads text takes it as the answer.
        (say if agent and not call.wants_json else warn)(nothing)
    found = _Found(call, served, bench.tuning.question(args.query) if args.explain else None)
    return Answer(found.json, found.lines)


def _served(call: Call, profile: "Profile") -> "Served":
    """Rank for a look, or serve an agent, and say what was not given to it."""
    from workbench.services.agents.reading_log import BY_COMMAND
    from workbench.services.agents.serving import look, serve

    args, bench = call.args, call.bench
    if args.actor is None:
        now = call.session.time(args.now) or bench.context.now()
        return look(bench.tuning, args.query, args.k, profile, now)
    by = BY_COMMAND._replace(session=args.session)
    served = serve(bench.context, bench.tuning, args.query, args.k, profile, bench.safety, by)
    if served.held:
        what = counted(served.held, "flagged memory was", "flagged memories were")
        warn(
            f"{what} held back from the agent; `workbench scan` shows why, `workbench allow` allows one."
        )
    if served.problem:
        warn(served.problem)
    if served.unapproved:
        what = counted(served.unapproved, "memory was", "memories were")
        warn(f"{what} left out: agents.serve limits this agent to what you wrote or approved.")
    if served.weak:
        what = counted(served.weak, "weak memory was", "weak memories were")
        warn(f"{what} left out: background questions score higher here.")
    return served


def _remarks(bench: "Workbench", found: "Served", args: "Namespace") -> Iterator[str]:
    """Say why there is nothing, why the order means little, and what waits that fits."""
    from workbench.core.words import only_stop_words

    ranking = found.ranking
    stored, served = len(bench.library.memories), len(ranking.candidates)
    whole = counted(stored, "memory", "memories")
    if not stored:
        yield "No memories yet; `workbench import` or `workbench ingest` adds some."
    elif not served and (only := ranking.profile.candidates):
        yield f"The candidate filter of {ranking.profile.name} ({only}) matches none of {whole}."
    elif not served:
        what = "no episode" if ranking.profile.scorer == "episodic" else "nothing"
        yield f"At that time agents are served {what}; the store has {whole}."
    else:
        if only_stop_words(args.query):
            yield "The query has only common words, so full text matches nothing."
        if RELEVANCE in ranking.dead and served > 1 and not found.floor.empty:
            others = listed(without=RELEVANCE)
            yield f"Every memory is equally relevant; {others} alone decide the order."
        if (args.k or 0) > served:
            yield f"Only {counted(served, 'memory', 'memories')} can be served at that time; these are all."
            if candidates := bench.review.waiting_candidates():
                wait = "waits" if candidates == 1 else "wait"
                yield f"{counted(candidates, 'candidate')} {wait} in Review: `workbench review` lists them."
    if args.now is None and args.at is None and found.clock:
        yield found.clock
    if args.actor is None and not args.json and (waiting := _waiting(bench, found)):
        yield waiting


def _waiting(bench: "Workbench", served: "Served") -> str:
    """Say which candidates fit the query, of which no agent is given one; empty where none does."""
    from workbench.services.stream.semantic import waiting_near

    near = [bench.safety.masked(memory.id) for memory in waiting_near(bench.tuning, served)]
    if not near:
        return ""
    wait = "fits and waits" if len(near) == 1 else "fit and wait"
    return f"{counted(len(near), 'candidate')} {wait} in Review: {few(near, 3)}. `workbench show ID` shows one."


class _Found:
    """What a search found, as rows and as JSON, for an agent in the blocks of what is unreviewed;
    with the question, if how each score came about is `explained`.
    """

    def __init__(self, call: Call, served: "Served", explained: "Question | None") -> None:
        self._call = call
        self._served = served
        self._top = tuple(call.shown(scored) for scored in served.top)
        self._explained = explained
        self._blocks = None if call.args.actor is None else served.blocks

    def json(self) -> list[dict[str, object]]:
        from workbench.services.tuning.session import term_parts

        served, bench, rows = self._served, self._call.bench, []
        used = profile_in_use(self._call)
        for place, (stored, scored) in enumerate(
            zip(served.ranking.ids, self._top, strict=True), 1
        ):
            terms = term_parts(served.ranking, stored, self._call.args.query)
            row = found_json(place, scored, terms) | {"relevance": served.floor.relevance(stored)}
            if served.floor.verdict.standard.why != "off":
                row["weak"] = served.floor.is_weak(stored)
            if (memory := bench.library.memories.find(stored)) is not None:
                row |= review_json(bench, memory)
            if self._explained is not None:
                row["explain"] = self._explain_json(self._explained, stored)
            if self._blocks is not None:
                row = self._blocks.json(scored.memory.id, row)
            rows.append({**row, "profile": used.name, "profile_from": used.origin})
        return rows

    def lines(self) -> Iterator[str]:
        served, blocks, asked = self._served, self._blocks, self._explained
        if not self._top:
            return
        text = f"text, ranked under {profile_in_use(self._call)}"
        rows = [self._row(place, scored) for place, scored in enumerate(self._top, 1)]
        header, *lines = table(
            [("", "relevance", "id", "created", "type", text), *rows], right=(0, 1)
        )
        if asked is not None:
            yield from filter(None, (_basis(served), _floor_said(served.floor)))
        yield header
        for line, scored, id in zip(lines, self._top, served.ranking.ids, strict=True):
            yield from (line,) if blocks is None else blocks.around(scored.memory.id, line)
            if asked is not None:
                yield from self._explain(scored, id, asked)

    def _row(self, place: int, scored: "Scored") -> tuple[str, ...]:
        memory, blocks, bench = scored.memory, self._blocks, self._call.bench
        stored = self._served.ranking.ids[place - 1]
        weak = "weak: " if self._served.floor.is_weak(stored) else ""
        # What is printed may have lost the secret that it is flagged for.
        flagged = sign(bench, bench.library.memories.find(memory.id))
        return (
            str(place),
            f"{self._served.floor.relevance(stored):.4f}",
            memory.id if blocks is None else blocks.name(memory.id),
            moment(memory.created_at, agent=blocks is not None),
            memory.observation_type,
            flagged + weak + memory.line,
        )

    def _name(self, id: str) -> str:
        """Tell how a memory is called that may be none of the answer's."""
        if self._blocks is None:
            return self._call.shown.name(id)
        from workbench.services.safety.masking import served_name

        return served_name(id, self._call.bench.safety.findings)

    def _explain(self, scored: "Scored", id: str, asked: "Question") -> Iterator[str]:
        """Yield the terms of an episode's score, or a line per factor with whose values bound it,
        and what the relevance is made of.

        What that comes from names others than the answer holds, so it is for a person, and masked.
        """
        from workbench.services.tuning.session import term_parts

        ranking, floor = self._served.ranking, self._served.floor
        weak = ", weak" if floor.is_weak(id) else ""
        figures = f"         {_reached(*floor.scores_of(id))} = {floor.relevance(id):.4f}{weak}"
        if terms := term_parts(ranking, id, asked.text):
            parts = [
                ("     ", t.term, f"{t.value:.4f}", t.note, f"× {t.weight:.3g}", f"= {t.weighted:.4f}")
                for t in terms
            ]  # fmt: skip
            yield from (*table(parts, right=(2,)), figures)
            return
        rows = []
        for factor in FACTORS:
            raw, norm, weighted = (
                part[factor.id] for part in (scored.raw, scored.norm, scored.weighted)
            )
            bounds = ranking.bounds[factor.id]
            low, high = (
                f"{value:.4f} ({self._name(id) or 'frozen'})"
                for value, id in ((bounds.low, bounds.low_id), (bounds.high, bounds.high_id))
            )
            span = "all are equal" if bounds.dead else f"of {low} … {high}"
            rows.append(
                ("     ", factor.label, f"{raw:.4f}", span, f"→ {norm:.4f}", f"× {ranking.weight(factor):.3g}",
                 f"= {weighted:.4f}")
            )  # fmt: skip
        shares = asked.shares(ranking, id)
        yield from table(rows, right=(2,))
        yield f"         relevance is {_made([s for s in shares if not s.idle])}"
        if self._blocks is None:
            mask = self._call.bench.safety.masked
            yield from (f"         {mask(share.said)}" for share in shares if share.said)
        yield figures
        yield f"         total {scored.total:.4f}"

    def _explain_json(self, asked: "Question", id: str) -> dict[str, object]:
        """Return the bounds of each factor, with the ids of who sets them, and what the relevance
        is made of.
        """
        ranking, name = self._served.ranking, self._name
        bounds = {
            factor: {
                "low": b.low,
                "high": b.high,
                "low_by": name(b.low_id) or None,
                "high_by": name(b.high_id) or None,
                "dead": b.dead,
            }
            for factor, b in ranking.bounds.items()
        }
        return {
            "bounds": bounds,
            "relevance": {s.part.id: s.value for s in asked.shares(ranking, id)},
            "candidates": len(ranking.candidates),
            **_floor_json(self._served.floor, id),
        }


def _basis(served: "Served") -> str:
    ranking = served.ranking
    p = ranking.profile
    weights = ", ".join(f"{f.label} {ranking.weight(f):.3g}" for f in FACTORS)
    what = "episodes" if p.scorer == "episodic" else "memories"
    only = f" · only {p.candidates}" if p.candidates else ""
    return f"profile {p.name}: {weights}{only} · {len(ranking.candidates):,} {what} are served"


def _made(shares: "Sequence[Share]") -> str:
    """Return what a relevance is made of: what is added, then what that is multiplied by."""
    added, times = list[str](), ""
    for share in shares:
        said = f"{share.part.label} {share.value:.4f}"
        if share.part.how == "adds":
            added.append(said if share.times is None else f"{said} × {share.times:.3g}")
        elif share.part.how == "multiplies":
            times += f" × {said}"
    return " + ".join(added) + times


OPTIONS: Mapping[str, Option] = {
    "--now": value("WHEN", "rank as of this time: 7d, 2026-11-21, …", type=time),
    "--explain": flag("show how each score is computed"),
}

VERBS = (
    Verb("search", search, "search memories as an agent does",
         "query -k --profile --now --for-agent --session:agent --explain --at --show-secrets --json", _DETAILS,
         '"why did the token refresh fail" -k 5 --explain', _open),
)  # fmt: skip
