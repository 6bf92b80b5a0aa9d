"""`workbench eval` and `workbench tune`: how good profiles are on judged queries, and what a better
one would be.
"""

import shlex
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, say, say_table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, count, wants_json
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import FOUND, Session
from workbench.cli.tuning.profile import profile_in_use, profile_of, use
from workbench.core.record import InvalidQuery, WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.tuning.autotune import Moved, TunedProfile
    from workbench.core.tuning.profile import Profile, ProfileInUse
    from workbench.core.tuning.verdict import Verdict
    from workbench.services.open import Workbench
    from workbench.services.tuning.evaluation import Compared, Evaluation, Evaluator, ProfileResult
    from workbench.services.tuning.profiles import Profiles
    from workbench.services.tuning.queries import JudgedSet

LONG = 2000
"""Texts above which embedding them shows its progress."""

_EVAL = """QUERIES is a query set, one {"query", "relevant": {"ID": grade}, "tags", "now"} a line, or TREC qrels
of queries saved in the store; without it the store's own judged queries are taken. Every profile is compared
with the first one named (without --profile: the one in use, and all are measured, built-in ones and
your own). Metrics are cut at 10, recall also at 5; a profile that serves another number is measured at that
too. It only looks: no access is counted."""

_TUNE = """Tries every point of a grid over the weights and half-lives, starting from --profile, and measures the
choice on held-out queries (cross-validation). Without QUERIES the store's own judged queries are
taken. The result is a proposal: nothing is changed, unless --save keeps it as a profile of its own.

--use NAME searches nothing: it puts a profile to use in this store, for agents too, until another one is, or `workbench
undo`. WORKBENCH_PROFILE and --profile go before the store's profile, that before the one in the config file."""


def add_commands(commands: Commands) -> None:
    """Add `eval` and `tune`."""
    parser = add_command(
        commands, "eval", evaluate, "measure retrieval profiles on judged queries", _EVAL,
        example="queries.jsonl --profile workbench",
    )  # fmt: skip
    _add_queries(parser)
    parser.add_argument(
        "--profile", metavar="P", action="append", help="a profile; may be given several times"
    )
    add_json(parser)
    parser = add_command(
        commands, "tune", tune, "search better weights and half-lives on judged queries", _TUNE,
        example="queries.jsonl --save mine",
    )  # fmt: skip
    _add_queries(parser)
    parser.add_argument(
        "--profile", metavar="P", help="the profile to start from (default: the one in use)"
    )
    parser.add_argument(
        "--metric", metavar="M", default="ndcg@10", help="ndcg@K, mrr@K, recall@K or p@K (ndcg@10)"
    )
    parser.add_argument(
        "--folds", metavar="N", type=count, default=5, help="folds of the cross-validation (5)"
    )
    parser.add_argument(
        "--save", metavar="NAME", help="save the proposal as a profile with this name"
    )
    parser.add_argument(
        "--use", metavar="NAME", help="use this profile in this store, for agents too"
    )
    about = (
        "save it although it is not better, and replace a profile of your own that has this name"
    )
    parser.add_argument("--force", action="store_true", help=about)
    add_json(parser)


def evaluate(session: Session) -> int:
    """Print each profile's means and the verdicts between them."""
    args = session.args
    with session.reading() as bench:
        profiles = bench.tuning.profiles
        used = None if args.profile else bench.tuning.default()
        chosen = (
            [profiles.get(name) for name in dict.fromkeys(args.profile or ())]
            if used is None
            else _every(profiles, used)
        )
        base, said = ("", "") if used is None else (used.name, f"{bench.tuning.used} is in use.")
        judged = _judged(session, bench)
        line = ProgressLine("evaluating", 1)
        with progressing(line) as cancelled:
            found = _evaluator(bench).evaluate(
                judged, chosen, base=base, progress=line, cancelled=cancelled
            )
    if wants_json(args):
        from workbench.services.safety.masking import masked, masked_text

        write_json(
            masked(_evaluation_json(found), cache(masked_text))
        )  # each query stands there once for a profile
    else:
        _print_evaluation(found, own=args.queries is None)
        if said:
            say(said)
    return 0


def tune(session: Session) -> int:
    """Print a proposal and what it is worth; save it when asked to."""
    from workbench.core.tuning.autotune import Search
    from workbench.core.tuning.measure import parse_measure

    args, measure = session.args, parse_measure(session.args.metric)
    if args.use is not None:
        return _use(session)
    with session.reading() as bench:
        profiles = bench.tuning.profiles
        start, used = profile_of(session, bench), profile_in_use(session, bench)
        if args.save is not None:
            profiles.check_name(args.save, args.save if args.force else start.name)
        judged = _judged(session, bench)
        evaluator, line = _evaluator(bench), ProgressLine("tuning", 1)
        scoring = ProgressLine("asking the queries", 1)
        with progressing(scoring, line) as cancelled:
            scored = evaluator.score(judged, progress=scoring, cancelled=cancelled)
            scoring.clear()
            found = scored.tune(start, Search(measure, args.folds), line, cancelled, profiles)
        held = args.save is not None and found.keeps and not args.force
        saved = (
            None
            if args.save is None or held
            else evaluator.save(found, judged, args.save, replacing=args.force)
        )
    if wants_json(args):
        write_json(_proposal_json(found, judged, saved))
    else:
        _print_proposal(
            found, saved, used, _counted(judged, own=True) if args.queries is None else ""
        )
    if held:
        worth = (
            "inconclusive whether the proposal is better"
            if found.beaten
            else "the proposal is not better"
        )
        warn(f"On queries it was not chosen on, {worth}: it was not saved. --force saves it.")
        return FOUND
    return 0


def _use(session: Session) -> int:
    """Put a profile to use in the store."""
    args = session.args
    if args.queries is not None or args.save is not None or args.profile is not None:
        raise InvalidQuery(
            "--use goes alone: it puts a saved profile to use.", "Nothing was changed."
        )
    with session.changing() as bench:
        use(session, bench, args.use)
    return 0


def _every(profiles: "Profiles", used: "Profile") -> "list[Profile]":
    """Return the built-in profiles and the person's own, and the one in use; what cannot be read is
    said, left out.
    """
    found = [] if used.name in profiles.names() else [used]
    for name in profiles.names():
        try:
            found.append(profiles.get(name))
        except WorkbenchError as error:
            fail(error)
    return found


def _add_queries(parser: Parser) -> None:
    about = "the query set (otherwise: the store's own judged queries)"
    parser.add_argument("queries", metavar="QUERIES", nargs="?", type=Path, help=about)
    parser.mixes = True


def _judged(session: Session, bench: "Workbench") -> "JudgedSet":
    """Take the query set and load the memories, so that what is wrong with the set is said at once."""
    judged = _query_set(session, bench)
    for remark in judged.remarks:
        warn(remark)
    line = ProgressLine("reading the memories", LONG)
    with progressing(line) as cancelled:
        bench.retriever.load(line, cancelled)
    return judged


def _query_set(session: Session, bench: "Workbench") -> "JudgedSet":
    """Read the query set that is named; without a name take the store's own."""
    from workbench.services.tuning.queries import from_file, from_store

    if session.args.queries is not None:
        return from_file(bench.context, session.cwd / session.args.queries.expanduser())
    return from_store(bench.context)


def _evaluator(bench: "Workbench") -> "Evaluator":
    from workbench.services.tuning.evaluation import Evaluator

    return Evaluator(bench.context, bench.retriever, bench.tuning.profiles)


def _evaluation_json(found: "Evaluation") -> dict[str, object]:
    return {
        "profiles": {result.profile.name: _result_json(result) for result in found.results},
        "verdicts": [
            {
                "base": one.base.profile.name,
                "profile": one.new.profile.name,
                **_verdict_json(one.verdict),
            }
            for one in found.verdicts
        ],
        "query_set": _set_json(found.judged),
        "tuned_on_these": found.seen,
    }


def _result_json(result: "ProfileResult") -> dict[str, object]:
    queries = [
        {
            "query": q.query, "now": q.now, "tags": q.tags, **q.values, "unjudged": q.unjudged,
            "top": q.ids, "scores": q.scores,
        }
        for q in result.queries
    ]  # fmt: skip
    return {"mean": result.mean, "unjudged": result.unjudged, "queries": queries}


def _set_json(judged: "JudgedSet") -> dict[str, object]:
    return {
        "name": judged.name,
        "digest": judged.digest,
        "queries": len(judged.queries),
        "judgments": judged.judgments,
        "unknown_ids": judged.unknown,
        "queries_left_out": judged.empty,
    }


def _verdict_json(verdict: "Verdict") -> dict[str, object]:
    return {
        "metric": verdict.metric.lower(),
        "better": verdict.wins,
        "worse": verdict.losses,
        "same": verdict.ties,
        "delta": verdict.delta,
        "interval": [verdict.low, verdict.high],
        "p": verdict.p,
        "verdict": verdict.outcome,
        "more_queries": verdict.more,
        "provisional": verdict.provisional,
        "sentence": verdict.sentence,
    }


def _proposal_json(
    found: "TunedProfile", judged: "JudgedSet", saved: Path | None
) -> dict[str, object]:
    from workbench.core.tuning.profile import parameters_of

    keeps = found.keeps and saved is None
    return {
        "keep": found.keeps,
        "contender": found.contender or None,
        "profile": parameters_of(found.start if keeps else found.profile),
        "start": parameters_of(found.start),
        "metric": found.metric,
        "before": found.before,
        "after": found.after,
        "gain": found.verdict.delta,
        "interval": [found.verdict.low, found.verdict.high],
        "fitted": found.fitted,
        "folds": found.folds,
        "settings_tried": found.tried,
        "tuned_on_these": found.seen,
        "left_alone": found.dead,
        "moved": () if keeps else found.moved,
        "verdict": _verdict_json(found.verdict),
        "query_set": _set_json(judged),
        "saved": saved,
    }


def _counted(judged: "JudgedSet", own: bool) -> str:
    """Count the queries and grades that were measured with, and say when they are the store's
    `own`.
    """
    text = f"{counted(len(judged.queries), 'query', 'queries')}, {counted(judged.judgments, 'judgment')}"
    return f"{text}: the store's own, as no file was named" if own else text


def _print_evaluation(found: "Evaluation", own: bool) -> None:
    names = list(found.results[0].mean)
    rows = [("profile", *names, "unjudged")]
    rows += [
        (r.profile.name, *(f"{value:.3f}" for value in r.mean.values()), f"{r.unjudged:,}")
        for r in found.results
    ]
    say_table(rows, right=range(1, len(names) + 2))
    say(_counted(found.judged, own))
    if (first := found.results[0]).unjudged:
        served = sum(len(query.ids) for query in first.queries)
        say(
            f"Of {served:,} places that {first.profile.name} fills, {first.unjudged:,} hold a memory without a grade, "
            "which counts as 0; J in Tune grades them."
        )
    if found.verdicts:
        say()
        say_table([_verdict_row(one) for one in found.verdicts])
    _print_seen(found.seen)


def _print_seen(names: Iterable[str]) -> None:
    for name in names:
        say(f"{name} was tuned on these queries: what it reaches on them is no evidence.")


def _verdict_row(one: "Compared") -> tuple[str, str]:
    return (f"{one.new.profile.name} against {one.base.profile.name}", one.verdict.sentence)


def _print_proposal(
    found: "TunedProfile", saved: Path | None, used: "ProfileInUse", measured: str
) -> None:
    if measured:
        say(measured)
    keeps = found.keeps and saved is None
    if found.keeps:
        known = "is known to beat" if found.beaten else "beats"
        best = "the best of them" if found.moved else "what there is"
        forced = "" if saved is None else f" --force saves {best} anyway."
        say(
            f"None of {found.tried:,} settings {known} {used} on held-out queries.{forced or ' Keep it.'}"
        )
    if found.moved and not keeps:
        rows = [
            (m.parameter, *(_value(m, value) for value in (m.before, m.after))) for m in found.moved
        ]
        contender = f": your profile {found.contender}" if found.contender else ""
        say(f"{'Saved' if found.keeps else 'Proposal'}, from {used}{contender}:")
        say_table([(f"  {name}", before, "→", after) for name, before, after in rows], right=(1, 3))
    metric = found.verdict.metric
    say(f"Cross-validated {metric}: {found.before:.3f} → {found.after:.3f}")
    say(found.verdict.sentence)
    for name in found.dead:
        say(f"On these queries {name} tells no two memories apart: its weight was left alone.")
    _print_seen(found.seen)
    if saved:
        say(f"Saved as {saved}.")
        say(
            f"`workbench tune --use {shlex.quote(saved.stem)}` uses it in this store, for agents too."
        )
    else:
        say(
            "Nothing was changed"
            + ("." if found.keeps else "; --save NAME keeps the proposal as a profile.")
        )


def _value(moved: "Moved", value: float | None) -> str:
    if moved.parameter != "half-life":
        return f"{value:.3f}"
    return "no decay" if value is None else f"{value:.1f} days"
