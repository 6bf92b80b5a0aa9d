"""`workbench search`: what an agent is given for a query. Nothing counts as read unless an agent
asks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli.describe import found_json
from workbench.cli.output import moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_at, add_command, add_json, count, time, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.safety.flags import (
    Shown,
    add_secrets,
    held_back,
    not_approved,
    review_json,
    sign,
)
from workbench.cli.session import Session, actor_of
from workbench.cli.tuning.profile import profile_in_use, profile_of
from workbench.core.record import InvalidQuery
from workbench.core.text import counted, one_line
from workbench.core.tuning.floor import NoFloor
from workbench.core.tuning.profile import FACTORS, RELEVANCE, listed

if TYPE_CHECKING:
    from argparse import Namespace

    from workbench.core.tuning.profile import Profile, ProfileInUse
    from workbench.core.tuning.scoring import Scored, Share
    from workbench.services.agents.blocks import Blocks
    from workbench.services.agents.serving import Served
    from workbench.services.open import Workbench
    from workbench.services.tuning.floors import AgainstFloor
    from workbench.services.tuning.session import Question


# What `search` says about the floor: that nothing is relevant, which memories are weak, and by what
# figures.


_LONGEST = 60

_NONE: Mapping[NoFloor, str] = {
    "none": "no floor: no memory can be served",
    "unknown": "no floor: it is not computed yet",
    "off": "",
}


def nothing_relevant(query: str, against: "AgainstFloor") -> str:
    """Return the sentence about a query that nothing is relevant to, and nothing for another one."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if not against.empty or floor is None or reach is None:
        return ""
    best = f"the best match reaches {reach.together:.2f}"
    asked = one_line(query, _LONGEST)
    return f"Nothing here is relevant to “{asked}”: {best}, background questions reach {floor.query:.2f} here."


def left_out(number: int) -> str:
    """Return what to say about memories that an agent was not given because they are weak."""
    what = counted(number, "weak memory was", "weak memories were")
    return f"{what} left out: background questions find better ones here."


def basis(against: "AgainstFloor") -> str:
    """Return what the query is held against; nothing where the floor is turned off."""
    floor, reach = against.verdict.standard.floor, against.verdict.reach
    if floor is None or reach is None:
        why = against.verdict.standard.why
        return "" if why is None else _NONE[why]
    query = f"the query reaches {_chosen_floor(reach.cosine, reach.lexical, reach.known)} = {reach.together:.4f}"
    return f"floor {floor.query:.4f}: {query} · a memory is weak below {floor.memory:.4f}"


def of_memory(against: "AgainstFloor", id: str) -> tuple[str, ...]:
    """Return what a memory's relevance is made of, and whether it is weak."""
    weak = ", weak" if against.is_weak(id) else ""
    return (f"{_chosen_floor(*against.scores_of(id))} = {against.relevance(id):.4f}{weak}",)


def _chosen_floor(cosine: float, lexical: float, known: bool) -> str:
    return f"(cosine {cosine:.4f} + full text {lexical:.4f}) ÷ 2" if known else "full text alone"


def weak_json(against: "AgainstFloor", id: str) -> dict[str, object]:
    """Return a memory's relevance and, unless the floor is turned off, whether it is weak, as
    fields of its row.
    """
    weak = {} if against.verdict.standard.why == "off" else {"weak": against.is_weak(id)}
    return {"relevance": against.relevance(id), **weak}


def floor_json(against: "AgainstFloor", id: str) -> dict[str, object]:
    """Return the floor and what the query and a memory reach, or why there is none, as fields of an
    explanation.
    """
    floor, reach, why = (
        against.verdict.standard.floor,
        against.verdict.reach,
        against.verdict.standard.why,
    )
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


LONG = 2000
"""Texts above which embedding them shows its progress."""

_NAMED = 3
"""How many candidates are named that fit a query."""

_DETAILS = f"""Ranks by {listed()} under a retrieval profile, over what agents are served:
no candidates, nothing archived, nothing from after --now (with --at: after that revision). It only looks: no
access is counted, unless an agent asks with --for-agent; then secrets are masked, and flagged text that nobody
allowed is held back.
What no person wrote or approved is served to an agent in a block that names its source: [unreviewed MARK] … [end MARK],
with a mark drawn for this answer. agents.serve = "approved" in the config file gives agents only what a person wrote
or approved.
The number is the relevance: (own cosine + own full text) ÷ 2, whatever the profile; full text alone where the model
does not know the language of the query or of the memory. A query that reaches no more than background questions in its
script reach in this store has no relevant memory: that is said, and nothing is served to an agent. A weak memory is
marked so ("weak" in --json) and served to no agent. retrieval.floor = false in the config file turns this off."""


_HEADER = ("", "relevance", "id", "created", "type")


def add_commands(commands: Commands) -> None:
    """Add `search`."""
    parser = add_command(
        commands, "search", search, "rank the memories for a query, as an agent gets them", _DETAILS,
        example='"why did the token refresh fail" -k 5 --explain',
    )  # fmt: skip
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument(
        "-k", metavar="N", type=count, help="how many to show (default: the profile's k)"
    )
    parser.add_argument(
        "--profile", metavar="P", help="the retrieval profile (default: the one in use)"
    )
    parser.add_argument(
        "--now", metavar="WHEN", type=time, help="rank as at this time: 7d, 2026-11-21, …"
    )
    about = "serve this agent: what it is served counts as read by it now"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument(
        "--session", metavar="S", default="", help="with --for-agent: the agent's session"
    )
    parser.add_argument("--explain", action="store_true", help="show how each score came about")
    add_at(parser)
    add_secrets(parser)
    add_json(parser)


def search(session: Session) -> int:
    """Print the best memories, the best first."""
    args = session.args
    _check(args)
    looks = args.actor is None
    with (
        session.reading(at=session.at())
        if looks
        else session.changing(actor_of(args), trusted=False) as bench
    ):
        if args.actor is not None and not bench.trust.standing.trusted:
            # A hook goes on without: what nobody here has seen is no agent's to read.
            return nothing_served(session)
        profile = profile_of(session, bench)
        line = ProgressLine("reading the memories", LONG)
        try:
            bench.retriever.load(line)
        finally:
            line.clear()
        served = _served(session, bench, profile)
        blocks = None if args.actor is None else _blocks(served)
        for remark in _remarks(bench, served, args.query, args.k or 0):
            warn(remark)
        if args.now is None and args.at is None and served.clock:
            warn(served.clock)
        if args.actor is None and not wants_json(args) and (waiting := _waiting(bench, served)):
            warn(waiting)
        _say_nothing_relevant(args, served)
        # An agent's answer comes masked already, but for what a person allowed.
        shown = Shown(bench, secrets=args.show_secrets or args.actor is not None)
        top, name = (
            tuple(shown(scored) for scored in served.top),
            _namer(bench, shown, agent=args.actor is not None),
        )
        used = profile_in_use(session, bench)
        if wants_json(args):
            asked = bench.tuning.question(args.query) if args.explain else None
            about = {"profile": used.name, "profile_from": used.origin}
            write_json(
                [
                    {**row, **about}
                    for row in _rows_json(bench, served, top, asked, blocks, args.query, name)
                ]
            )
        else:
            _print(bench, served, top, args.query if args.explain else None, blocks, name, used)
        shown.remark()
    return 0


def _blocks(served: "Served") -> "Blocks":
    from workbench.services.agents.blocks import Blocks

    return Blocks(served.names, served.provenance)


def _rows_json(
    bench: "Workbench",
    served: "Served",
    top: "Sequence[Scored]",
    explained: "Question | None",
    blocks: "Blocks | None",
    query: str,
    name: Callable[[str], str],
) -> list[dict[str, object]]:
    """Return the answer's rows, for an agent in their blocks; with a question, how each score came
    about.
    """
    from workbench.services.tuning.session import term_parts

    rows = []
    for place, (stored, scored) in enumerate(zip(served.ranking.ids, top, strict=True), 1):
        id = scored.memory.id  # as it may be printed
        terms = term_parts(served.ranking, stored, query)
        row = found_json(place, scored, terms) | weak_json(served.floor, stored)
        if (memory := bench.library.memories.find(stored)) is not None:
            row |= review_json(bench, memory)
        if explained is not None:
            row["explain"] = _explain_json(served, explained, stored, name)
        rows.append(row if blocks is None else blocks.json(id, row))
    return rows


def _check(args: "Namespace") -> None:
    if not args.query.strip():
        raise InvalidQuery(
            "The query is empty.", "Say what to look for; `workbench list` shows everything."
        )
    if args.actor is None and args.session:
        raise InvalidQuery(
            "--session is the session of an agent that is served.", "Name it: --for-agent NAME."
        )
    if args.actor is not None and args.now is not None:
        raise InvalidQuery(
            "--now only looks, so it serves no agent.", "Leave out --now or --for-agent."
        )
    if args.actor is not None and args.at is not None:
        raise InvalidQuery(
            "--at only looks, so it serves no agent.", "Leave out --at or --for-agent."
        )


def nothing_served(session: Session) -> int:
    """Answer an agent from a store that is not trusted."""
    if wants_json(session.args):
        write_json([])
    return 0


def _served(session: Session, bench: "Workbench", profile: "Profile") -> "Served":
    """Rank for a look, or serve an agent, and say what was not given to it."""
    from workbench.services.agents.reading_log import BY_COMMAND
    from workbench.services.agents.serving import look, serve

    args, tuning = session.args, bench.tuning
    if args.actor is None:
        return look(
            tuning, args.query, args.k, profile, session.time(args.now) or bench.context.now()
        )
    served = serve(
        bench.context,
        tuning,
        args.query,
        args.k,
        profile,
        bench.safety,
        replace(BY_COMMAND, session=args.session),
    )
    if served.held:
        warn(held_back(served.held))
    if served.problem:
        warn(served.problem)
    if served.unapproved:
        warn(not_approved(served.unapproved))
    if served.weak:
        warn(left_out(served.weak))
    return served


def _say_nothing_relevant(args: "Namespace", served: "Served") -> None:
    """Say that nothing is relevant: beside the answer, and to an agent that reads text as its
    answer.
    """
    sentence = nothing_relevant(args.query, served.floor)
    if sentence:
        (warn if args.actor is None or wants_json(args) else say)(sentence)


def _remarks(bench: "Workbench", found: "Served", query: str, wanted: int) -> list[str]:
    """Say why there is nothing, or why the order means little."""
    from workbench.core.words import only_stop_words

    ranking = found.ranking
    stored, served = len(bench.library.memories), len(ranking.candidates)
    if not stored:
        return [
            "The store has no memories yet; `workbench import` or `workbench ingest` adds some."
        ]
    if not served and (only := ranking.profile.candidates):
        whom = counted(stored, "memory", "memories")
        return [
            f"The candidate filter of {ranking.profile.name} ({only}) leaves nothing of {whom}."
        ]
    if not served and ranking.profile.scorer == "episodic":
        return [
            f"Agents are served no episode at that time; the store holds {counted(stored, 'memory', 'memories')}."
        ]
    if not served:
        return [
            f"Agents are served nothing at that time; the store holds {counted(stored, 'memory', 'memories')}."
        ]
    remarks = []
    if only_stop_words(query):
        remarks.append("The query has only common words, so full text finds nothing in it.")
    if RELEVANCE in ranking.dead and served > 1 and not found.floor.empty:
        others = listed(without=RELEVANCE)
        remarks.append(f"Every memory is equally relevant; {others} alone decide the order.")
    if wanted > served:
        remarks.append(
            f"Only {counted(served, 'memory', 'memories')} can be served at that time; these are all."
        )
        if candidates := bench.review.waiting_candidates():
            wait = "waits" if candidates == 1 else "wait"
            remarks.append(
                f"{counted(candidates, 'candidate')} {wait} in Review: `workbench review` lists them."
            )
    return remarks


def _waiting(bench: "Workbench", served: "Served") -> str:
    """Say which candidates fit the query, of which no agent is given one; empty where none does."""
    from workbench.services.stream.semantic import waiting_near

    near = [bench.safety.masked(memory.id) for memory in waiting_near(bench.tuning, served)]
    if not near:
        return ""
    named, more = ", ".join(near[:_NAMED]), len(near) - _NAMED
    rest = f" and {more} more" if more > 0 else ""
    wait = "fits and waits" if len(near) == 1 else "fit and wait"
    return f"{counted(len(near), 'candidate')} {wait} in Review: {named}{rest}. `workbench show ID` shows one."


def _print(
    bench: "Workbench",
    served: "Served",
    top: "Sequence[Scored]",
    explained: str | None,
    blocks: "Blocks | None",
    name: Callable[[str], str],
    used: "ProfileInUse",
) -> None:
    """Print the rows, ranked under the profile that is `used`, for an agent in their blocks.

    With the query that is `explained` it says how each score came about.
    """
    find = (
        bench.library.memories.find
    )  # what is printed may have lost the secret that it is flagged for
    rows = [
        _row(served, place, scored, scored.memory.id if blocks is None else blocks.name(scored.memory.id),
             sign(bench, find(scored.memory.id)), agent=blocks is not None)
        for place, scored in enumerate(top, 1)
    ]  # fmt: skip
    header, *lines = table([(*_HEADER, f"text, ranked under {used}"), *rows], right=(0, 1))
    if explained is not None and lines:
        for told in filter(None, (_basis(served), basis(served.floor))):
            say(told)
    asked = None if explained is None else bench.tuning.question(explained)
    # What a share comes from names others than the answer holds, so it is for a person, and masked.
    tell = bench.safety.masked if blocks is None else None
    stored = served.ranking.ids
    if lines:
        say(header)
    for line, scored, id in zip(lines, top, stored, strict=True):
        for text in (line,) if blocks is None else blocks.around(scored.memory.id, line):
            say(text)
        for part in () if asked is None else _explained(served, scored, id, asked, tell, name):
            say(part)


def _namer(bench: "Workbench", shown: Shown, *, agent: bool) -> Callable[[str], str]:
    """Return what tells how a memory is called that may be none of the answer's."""
    from workbench.services.agents.aliases import served_name

    return (lambda id: served_name(id, bench.safety.findings)) if agent else shown.name


def _explained(
    served: "Served",
    scored: "Scored",
    id: str,
    asked: "Question",
    tell: Callable[[str], str] | None,
    name: Callable[[str], str],
) -> list[str]:
    """Return the lines that say how the score of the memory with this id came about."""
    figures = [f"         {said}" for said in of_memory(served.floor, id)]
    if terms := _terms(served, id, asked.text):
        return terms + figures
    *lines, total = _parts(served, scored, id, asked, tell, name)
    return [*lines, *figures, total]


def _row(
    served: "Served", place: int, scored: "Scored", name: str, flagged: str, *, agent: bool
) -> tuple[str, ...]:
    memory, stored = scored.memory, served.ranking.ids[place - 1]
    weak = "weak: " if served.floor.is_weak(stored) else ""
    return (
        str(place),
        f"{served.floor.relevance(stored):.4f}",
        name,
        moment(memory.created_at, agent=agent),
        memory.observation_type,
        flagged + weak + memory.line,
    )


def _basis(served: "Served") -> str:
    ranking = served.ranking
    p = ranking.profile
    weights = ", ".join(f"{f.label} {ranking.weight(f):.3g}" for f in FACTORS)
    what = "episodes" if p.scorer == "episodic" else "memories"
    only = f" · only {p.candidates}" if p.candidates else ""
    return f"profile {p.name}: {weights}{only} · {len(ranking.candidates):,} {what} are served"


def _terms(served: "Served", id: str, query: str) -> list[str]:
    """Return the terms of an episode's score; none when it is not scored as one."""
    from workbench.services.tuning.session import term_parts

    parts = term_parts(served.ranking, id, query)
    rows = [
        ("     ", t.term, f"{t.value:.4f}", t.note, f"× {t.weight:.3g}", f"= {t.weighted:.4f}")
        for t in parts
    ]
    return table(rows, right=(2,)) if rows else []


def _parts(
    served: "Served",
    scored: "Scored",
    id: str,
    asked: "Question",
    tell: Callable[[str], str] | None,
    name: Callable[[str], str],
) -> list[str]:
    """Return a line per factor, with whose values bound it, and what the relevance is made of.

    What that comes from is said by `tell`, or left out; `name` tells who sets a bound.
    """
    ranking, rows = served.ranking, []
    for factor in FACTORS:
        raw, norm, weighted = (
            part[factor.id] for part in (scored.raw, scored.norm, scored.weighted)
        )
        bounds, weight = ranking.bounds[factor.id], ranking.weight(factor)
        span = f"of {_bound(bounds.low, bounds.low_id, name)} … {_bound(bounds.high, bounds.high_id, name)}"
        span = "all are equal" if bounds.dead else span
        rows.append(
            (
                "     ",
                factor.label,
                f"{raw:.4f}",
                span,
                f"→ {norm:.4f}",
                f"× {weight:.3g}",
                f"= {weighted:.4f}",
            )
        )
    shares = asked.shares(ranking, id)
    lines = [
        *table(rows, right=(2,)),
        f"         relevance is {_made([s for s in shares if not s.idle])}",
    ]
    lines += [f"         {tell(share.said)}" for share in shares if tell is not None and share.said]
    return [*lines, f"         total {scored.total:.4f}"]


def _made(shares: "Sequence[Share]") -> str:
    """Return what a relevance is made of: what is added, then what that is multiplied by."""
    added = (s for s in shares if s.part.how == "adds")
    times = (f" × {s.part.label} {s.value:.4f}" for s in shares if s.part.how == "multiplies")
    return " + ".join(map(_added, added)) + "".join(times)


def _added(share: "Share") -> str:
    times = "" if share.times is None else f" × {share.times:.3g}"
    return f"{share.part.label} {share.value:.4f}{times}"


def _bound(value: float, id: str, name: Callable[[str], str]) -> str:
    """Return a minimum or maximum and the memory that sets it."""
    return f"{value:.4f} ({name(id) or 'frozen'})"


def _explain_json(
    served: "Served", asked: "Question", id: str, name: Callable[[str], str]
) -> dict[str, object]:
    """Return the bounds of each factor, with the ids of who sets them, and what the relevance is
    made of.
    """
    ranking = served.ranking
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
        **floor_json(served.floor, id),
    }
