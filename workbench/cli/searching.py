"""`workbench search`: what an agent is given for a query. Nothing counts as read unless an agent asks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.describe import found_json
from workbench.cli.flags import held_back, sign
from workbench.cli.output import counted, moment, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, time, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.session import Session, actor_of
from workbench.core.errors import InvalidQuery

if TYPE_CHECKING:
    from workbench.bench.workbench import Workbench
    from workbench.core.profile import Profile
    from workbench.core.scoring import Scored
    from workbench.retrieval.ranking import Ranking

LONG = 2000
"""Texts above which embedding them shows its progress."""

_DETAILS = """Ranks by recency, importance and relevance under a retrieval profile, over what agents are served:
no candidates, nothing archived, nothing from after --now. It only looks: no access is counted,
unless an agent asks with --for-agent; then secrets are masked, and flagged text that nobody allowed is held back."""


def add_commands(commands: Commands) -> None:
    """Add `search`."""
    parser = add_command(commands, "search", search, "rank the memories for a query, as an agent gets them", _DETAILS)
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("-k", metavar="N", type=count, help="how many to show (default: the profile's k)")
    parser.add_argument("--profile", metavar="P", help="the retrieval profile (default: the one in your settings)")
    parser.add_argument("--now", metavar="ISO", type=time, help="rank as at this time (without an offset: UTC)")
    about = "serve this agent: what it is given counts as read by it now"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument("--explain", action="store_true", help="show how each score came about")
    add_json(parser)


def search(session: Session) -> int:
    """Print the best memories, the best first."""
    from workbench.bench.episode_terms import term_parts

    args = session.args
    if not args.query.strip():
        raise InvalidQuery("The query is empty.", "Say what to look for; `workbench list` shows everything.")
    if args.actor is not None and args.now is not None:
        raise InvalidQuery("--now only looks, so it serves no agent.", "Leave out --now or --for-agent.")
    with session.reading() if args.actor is None else session.changing(actor_of(args)) as bench:
        tuning = bench.tuning
        profile = tuning.default() if args.profile is None else tuning.profiles.get(args.profile)
        line = ProgressLine("reading the memories", LONG)
        try:
            bench.retriever.load(line)
        finally:
            line.clear()
        ranking, top = _ranking(session, bench, profile)
        for remark in _remarks(bench, ranking, args.query):
            warn(remark)
        if wants_json(args):
            terms = [term_parts(ranking, scored.memory.id, args.query) for scored in top]
            found = zip(top, terms, strict=True)
            write_json([found_json(place, scored, parts) for place, (scored, parts) in enumerate(found, 1)])
        else:
            _print(bench, ranking, top, args.query if args.explain else None)
    return 0


def _ranking(session: Session, bench: "Workbench", profile: "Profile") -> "tuple[Ranking, tuple[Scored, ...]]":
    """Rank for a look, or serve an agent; return the ranking and what is printed of it."""
    from workbench.bench.serving import serve

    args, tuning = session.args, bench.tuning
    if args.actor is None:
        ranking = tuning.rank(tuning.ask(args.query), profile, args.now or session.clock(), args.k)
        return ranking, ranking.top
    served = serve(bench.context, tuning, args.query, args.k, profile, bench.safety)
    if served.held:
        warn(held_back(served.held))
    if served.problem:
        warn(served.problem)
    return served.ranking, served.top


def _remarks(bench: "Workbench", ranking: "Ranking", query: str) -> list[str]:
    """Say why there is nothing, or why the order means little."""
    from workbench.core.text import words
    from workbench.retrieval.stopwords import STOP_WORDS

    stored, served = len(bench.library.memories), len(ranking.candidates)
    if not stored:
        return ["The store has no memories yet; `workbench import` or `workbench ingest` adds some."]
    if not served and ranking.profile.scorer == "episodic":
        return [f"Agents are served no episode at that time; the store holds {counted(stored, 'memory', 'memories')}."]
    if not served:
        return [f"Agents are served nothing at that time; the store holds {counted(stored, 'memory', 'memories')}."]
    remarks = []
    asked = words(query)
    if not asked or all(word in STOP_WORDS for word in asked):
        remarks.append("The query has only common words, so full text finds nothing in it.")
    if "relevance" in ranking.dead and served > 1:
        remarks.append("Every memory is equally relevant; recency and importance alone decide the order.")
    return remarks


def _print(bench: "Workbench", ranking: "Ranking", top: "Sequence[Scored]", explained: str | None) -> None:
    """Print the rows; with the query that is `explained`, how each score came about."""
    rows = [_row(place, scored, sign(bench, scored.memory)) for place, scored in enumerate(top, 1)]
    lines = table(rows, right=(0, 1)) if rows else []
    if explained is not None and lines:
        say(_basis(ranking))
    for line, scored in zip(lines, top, strict=True):
        say(line)
        if explained is not None:
            for part in _terms(ranking, scored, explained) or _parts(ranking, scored):
                say(part)


def _row(place: int, scored: "Scored", flagged: str) -> tuple[str, ...]:
    memory = scored.memory
    return (
        str(place),
        f"{scored.total:.4f}",
        memory.id,
        moment(memory.created_at),
        memory.observation_type,
        flagged + memory.line,
    )


def _basis(ranking: "Ranking") -> str:
    p = ranking.profile
    weights = f"recency {p.recency:.3g}, importance {p.importance:.3g}, relevance {p.relevance:.3g}"
    what = "episodes" if p.scorer == "episodic" else "memories"
    return f"profile {p.name}: {weights} · {len(ranking.candidates):,} {what} are served"


def _terms(ranking: "Ranking", scored: "Scored", query: str) -> list[str]:
    """Return the terms of an episode's score; none when it is not scored as one."""
    from workbench.bench.episode_terms import term_parts

    parts = term_parts(ranking, scored.memory.id, query)
    rows = [("     ", t.term, f"{t.value:.4f}", t.note, f"× {t.weight:.3g}", f"= {t.weighted:.4f}") for t in parts]
    return table(rows, right=(2,)) if rows else []


def _parts(ranking: "Ranking", scored: "Scored") -> list[str]:
    p = ranking.profile
    rows = []
    for name, weight in (("recency", p.recency), ("importance", p.importance), ("relevance", p.relevance)):
        raw, norm, weighted = (getattr(part, name) for part in (scored.raw, scored.norm, scored.weighted))
        bounds = ranking.bounds[name]  # type: ignore[index]
        span = "all are equal" if bounds.dead else f"of {bounds.low:.4f} … {bounds.high:.4f}"
        rows.append(("     ", name, f"{raw:.4f}", span, f"→ {norm:.4f}", f"× {weight:.3g}", f"= {weighted:.4f}"))
    return table(rows, right=(2,))
