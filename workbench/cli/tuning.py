"""`workbench check`, `eval`, `tune`, `queries` and `model`: how well a store answers, and how it
would answer better.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.describe import nearest
from workbench.cli.output import fail, moment, picked, table, warn
from workbench.cli.parsing import count, zone
from workbench.cli.progress import ProgressLine, progressing, read_memories
from workbench.cli.search import profile_in_use, profile_of
from workbench.cli.session import DONE, FOUND, INTERRUPTED, Session, actor_of
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    reading,
    unopened,
    value,
)
from workbench.config import loading, paths
from workbench.config.writing import set_values
from workbench.core.agents.actors import require_person
from workbench.core.record import InvalidQuery, InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.stream.memory import hidden_because
from workbench.core.text import counted, one_line
from workbench.core.tuning.measure import (
    Checked,
    Expected,
    QualityExpected,
    Shortfall,
    Why,
    parse_measure,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from workbench.core.tuning.autotune import Moved, TunedProfile, Verdict
    from workbench.core.tuning.profile import Profile
    from workbench.services.open import Workbench
    from workbench.services.tuning.evaluation import (
        Compared,
        Evaluation,
        Model,
        ProfileResult,
    )
    from workbench.services.tuning.queries import JudgedSet


# `workbench check`: does the store still answer as it is expected to? For CI.


_CHECK = """Asks the store as an agent is served: what is held back, waits for review or is below the floor is not
found. An id that was merged into another memory stands for that. FILE is TOML, or JSON lines, one such object a line:

  [[expect]]
  query = "why did the token refresh fail"
  finds = ["mem-20260209-0000015"]      # within the first `top` (default: 5)
  never = ["mem-20260206-0000008"]
  now = 2026-03-20T18:00:00Z            # asked then (default: now); name = "what the report calls it"

  [[expect]]
  query = "recipe for lasagne"
  nothing = true                        # nothing here is relevant

  [[expect]]
  queries = "queries.jsonl"             # as `workbench eval` reads them, from the folder of FILE
  ndcg = 0.7                            # nDCG@10; or metric = "recall@5" (mrr@K, p@K) and at_least = 0.6

Times without an offset are UTC, or of --tz. It only looks: nothing counts as read.
In CI, WORKBENCH_TRUST=PATH says that the store is trusted.
Exit code: 0 when all pass, 1 when some fail, 2 when it cannot be checked.

  workbench check expectations.toml"""

_WORDS: Mapping[Why, str] = {
    "below": "{id} ranks {place:,}; expected within the first {top:,}",
    "weak": "{id} ranks {place:,}, below the floor; expected within the first {top:,}",
    "held": "{id} is not served: held back because of its text",
    "unapproved": "{id} is not served to such an agent: not written or approved by a human",
    "hidden": "{id} is not served: {hidden}",
    "unknown": "{id} is not served: not in the store{near}",
    "left out": "{id} is not served: excluded by the profile",
    "irrelevant": "{id} is not served: nothing is relevant to the query",
    "unwanted": "{id} ranks {place:,}; expected never within the first {top:,}",
    "relevant": "{id} is served; expected nothing relevant",
    "low": "{metric} is {value:.4f}; expected at least {least:g}",
}

_KINDS: Mapping[Why, str] = {
    "below": "low", "weak": "low", "unwanted": "found", "relevant": "something", "low": "metric",
}  # fmt: skip
"""What `--json` calls a shortfall; a memory that is given to nobody is `absent`."""


def check(call: Call) -> Answer:
    """Check every expectation and say which are not met, and why."""
    from workbench.services.tuning.checks import Checking, read_expectations

    args, bench = call.args, call.bench
    path = call.path(args.file)
    expectations = read_expectations(path, args.tz)
    profile = profile_of(call)
    context = replace(bench.context, actor=f"agent:{args.for_agent}")
    checking = Checking(context, bench.tuning, bench.evaluator, profile, path.parent)
    done: tuple[Checked, ...] = ()
    stopped, asking = True, ProgressLine("checking", 20)
    with progressing(asking) as cancelled, suppress(WorkStopped):
        read_memories(bench)
        done = checking.check(expectations, asking, cancelled)
        stopped = cancelled()
    for remark in checking.remarks:
        warn(remark)
    if stopped:
        warn(f"Stopped by ctrl+c after {len(done):,} of {len(expectations):,} expectations.")
    passed = DONE if all(one.passes for one in done) else FOUND
    return Answer(
        [_checked_json(bench, one) for one in done],
        _checked_lines(call, done),
        code=INTERRUPTED if stopped else passed,
    )


def _checked_lines(call: Call, done: Sequence[Checked]) -> Iterator[str]:
    for one in done:
        line = one.expected.line
        place = f" ({call.args.file}:{line})" if line and not one.passes else ""
        yield f"{'✓' if one.passes else '✗'} {_title(call.bench, one.expected)}{place}"
        yield from (f"    {_reason(call.bench, one, short)}" for short in one.shortfalls)
    failed = sum(not one.passes for one in done)
    rest = f"{failed:,} failed" if failed else "all pass"
    yield f"{counted(len(done), 'expectation')} under {profile_in_use(call)}, {rest}."


def _title(bench: "Workbench", expected: Expected) -> str:
    about = expected.queries if isinstance(expected, QualityExpected) else expected.query
    return bench.safety.masked(one_line(expected.name or about, 80))


def _reason(bench: "Workbench", one: Checked, short: Shortfall) -> str:
    expected = one.expected
    facts: dict[str, object] = {"id": one_line(short.id, 60), **picked(short, "place", "value")}
    if isinstance(expected, QualityExpected):
        facts |= {"metric": expected.measure.title, "least": expected.at_least}
    else:
        memories = bench.library.memories
        memory, at = memories.find(short.id), expected.now or bench.context.now()
        facts |= {"top": expected.top, "hidden": memory and hidden_because(memory, at)}
        if short.why == "unknown":
            close = nearest(short.id, [memory.id for memory in memories.all()])
            facts["near"] = f" (did you mean {close}?)" if close else ""
    return bench.safety.masked(_WORDS[short.why].format(**facts))


def _checked_json(bench: "Workbench", one: Checked) -> dict[str, object]:
    misses = [
        {"kind": _KINDS.get(short.why, "absent"), **picked(short, "id", "place", "value"),
         "reason": short.why, "why": _reason(bench, one, short)}
        for short in one.shortfalls
    ]  # fmt: skip
    about = {"name": _title(bench, one.expected), "line": one.expected.line or None}
    return {**about, "holds": one.passes, "value": one.value, "misses": misses}


# `workbench eval` and `workbench tune`: how good profiles are on judged queries, and what a better
# one would be.


_EVAL = """QUERIES is a query set, one {"query", "relevant": {"ID": grade}, "tags", "now"} per line, or TREC
qrels of queries saved in the store; without it, the store's own judged queries are used. Profiles
are compared with the first one named (without --profile: with the one in use, and all built-in
and own profiles are measured). Metrics are cut at 10, recall also at 5, and at the profile's own
k if it differs. Read-only: no access is counted."""

_TUNE = """Searches a grid of weights and half-lives, starting from --profile, and measures the best setting
on held-out queries (cross-validation). Without QUERIES the store's own judged queries are used.
The result is a proposal; --save keeps it as a profile of your own.

--use NAME does not search: it selects a profile for this store, for agents too, until you select
another one or `workbench undo`. Order of precedence: --profile, WORKBENCH_PROFILE, the store, the
config file."""


def evaluate(call: Call) -> Answer:
    """Print each profile's means and the verdicts between them."""
    args, tuning = call.args, call.bench.tuning
    used = None if args.profile else tuning.default()
    names = dict.fromkeys(args.profile or ())
    chosen = [tuning.profiles.get(name) for name in names] if used is None else _every(call, used)
    judged, line = _judged(call), ProgressLine("evaluating", 1)
    with progressing(line) as cancelled:
        found = call.bench.evaluator.evaluate(
            judged, chosen, base=used.name if used else "", progress=line, cancelled=cancelled
        )
    return Answer(lambda: _evaluation_json(found), _evaluation_lines(call, found))


def tune(call: Call) -> Answer:
    """Print a proposal and what it is worth; save it when asked to."""
    from workbench.core.tuning.autotune import Search

    args, profiles = call.args, call.bench.tuning.profiles
    measure = parse_measure(args.metric)
    if args.use is not None:
        if args.queries is not None or args.save is not None or args.profile is not None:
            raise InvalidQuery(
                "--use cannot be combined with other options.", "Nothing was changed."
            )
        return use(call.bench, args.use)
    start = profile_of(call)
    if args.save is not None:
        profiles.check_name(args.save, args.save if args.force else start.name)
    judged, evaluator = _judged(call), call.bench.evaluator
    line, scoring = ProgressLine("tuning", 1), ProgressLine("asking the queries", 1)
    with progressing(scoring, line) as cancelled:
        scored = evaluator.score(judged, progress=scoring, cancelled=cancelled)
        scoring.clear()
        found = scored.tune(start, Search(measure, args.folds), line, cancelled, profiles)
    held = args.save is not None and found.keeps and not args.force
    saved = None
    if args.save is not None and not held:
        saved = evaluator.save(found, judged, args.save, replacing=args.force)
    if held:
        better = "inconclusive whether the proposal is" if found.beaten else "the proposal is not"
        warn(f"On held-out queries {better} better, so it was not saved. --force saves it.")
    return Answer(
        lambda: _proposal_json(found, judged, saved),
        _proposal_lines(call, found, judged, saved),
        code=FOUND if held else DONE,
    )


def _opened_to_tune(session: Session) -> "AbstractContextManager[Workbench]":
    return reading(session) if session.args.use is None else changing(session)


def use(bench: "Workbench", name: str) -> Answer:
    """Let the store be ranked under a profile, or without a name that of the settings, and say
    which is in use.
    """
    before, used = bench.tuning.used, bench.tuning.use(name)
    if name and used.origin != "store":
        said = f"The store uses {name}, but {used} overrides it here."
    elif used == before:
        said = f"{used} is already in use."
    else:
        said = f"{used} is in use from now on, for agents too; `workbench undo` takes that back."
    return Answer({"profile": used.name, "profile_from": used.origin}, [said])


def _every(call: Call, used: "Profile") -> "list[Profile]":
    """Return the built-in profiles and the person's own, and the one in use; what cannot be read is
    said, left out.
    """
    profiles = call.bench.tuning.profiles
    found = [] if used.name in profiles.names() else [used]
    for name in profiles.names():
        try:
            found.append(profiles.get(name))
        except WorkbenchError as error:
            fail(error)
    return found


def _judged(call: Call) -> "JudgedSet":
    """Take the query set that is named, else the store's own, and load the memories."""
    from workbench.services.tuning.queries import from_file, from_store

    context, named = call.bench.context, call.args.queries
    judged = from_store(context) if named is None else from_file(context, call.path(named))
    for remark in judged.remarks:
        warn(remark)
    read_memories(call.bench)
    return judged


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
        {**picked(q, "query", "now", "tags"), **q.values, **picked(q, "unjudged", "top:ids", "scores")}
        for q in result.queries
    ]  # fmt: skip
    return {**picked(result, "mean", "unjudged"), "queries": queries}


def _set_json(judged: "JudgedSet") -> dict[str, object]:
    return {
        **picked(judged, "name", "digest"),
        "queries": len(judged.queries),
        **picked(judged, "judgments", "unknown_ids:unknown", "queries_left_out:empty"),
    }


def _verdict_json(verdict: "Verdict") -> dict[str, object]:
    return {
        "metric": verdict.metric.lower(),
        **picked(verdict, "better:wins", "worse:losses", "same:ties", "delta"),
        "interval": [verdict.low, verdict.high],
        **picked(verdict, "p", "verdict:outcome", "more_queries:more", "provisional", "sentence"),
    }


def _proposal_json(
    found: "TunedProfile", judged: "JudgedSet", saved: Path | None
) -> dict[str, object]:
    from workbench.core.tuning.profile import parameters_of

    keeps, verdict = found.keeps and saved is None, found.verdict
    return {
        "keep": found.keeps,
        "contender": found.contender or None,
        "profile": parameters_of(found.start if keeps else found.profile),
        "start": parameters_of(found.start),
        **picked(found, "metric", "before", "after"),
        "gain": verdict.delta,
        "interval": [verdict.low, verdict.high],
        **picked(found, "fitted", "folds", "settings_tried:tried", "tuned_on_these:seen", "left_alone:dead"),
        "moved": () if keeps else found.moved,
        "verdict": _verdict_json(verdict),
        "query_set": _set_json(judged),
        "saved": saved,
    }  # fmt: skip


def _counted(call: Call, judged: "JudgedSet") -> str:
    """Count the queries and grades that were measured with, and say when they are the store's own."""
    text = f"{counted(len(judged.queries), 'query', 'queries')}, {counted(judged.judgments, 'judgment')}"
    return f"{text}: the store's own" if call.args.queries is None else text


def _evaluation_lines(call: Call, found: "Evaluation") -> Iterator[str]:
    first = found.results[0]
    rows = [("profile", *first.mean, "unjudged")]
    rows += [
        (r.profile.name, *(f"{value:.3f}" for value in r.mean.values()), f"{r.unjudged:,}")
        for r in found.results
    ]
    yield from table(rows, right=range(1, len(rows[0])))
    yield _counted(call, found.judged)
    if first.unjudged:
        served = sum(len(query.ids) for query in first.queries)
        yield (
            f"Of {served:,} places that {first.profile.name} fills, {first.unjudged:,} hold a memory without a grade, "
            "which counts as 0; v in Tune grades them."
        )
    if found.verdicts:
        yield ""
        yield from table(
            [
                (f"{one.new.profile.name} against {one.base.profile.name}", one.verdict.sentence)
                for one in found.verdicts
            ]
        )
    yield from _seen(found.seen)
    if not call.args.profile:
        yield f"{call.bench.tuning.used} is in use."


def _seen(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield f"{name} was tuned on these queries, so its score on them is no evidence."


def _proposal_lines(
    call: Call, found: "TunedProfile", judged: "JudgedSet", saved: Path | None
) -> Iterator[str]:
    used = profile_in_use(call)
    if call.args.queries is None:
        yield _counted(call, judged)
    if found.keeps:
        known = "is known to beat" if found.beaten else "beats"
        best = "the best of them" if found.moved else "what there is"
        rest = " Keep it." if saved is None else f" --force saves {best} anyway."
        yield f"None of {found.tried:,} settings {known} {used} on held-out queries.{rest}"
    if found.moved and not (found.keeps and saved is None):
        contender = f": your profile {found.contender}" if found.contender else ""
        yield f"{'Saved' if found.keeps else 'Proposal'}, from {used}{contender}:"
        yield from table(
            [
                (f"  {m.parameter}", _parameter(m, m.before), "→", _parameter(m, m.after))
                for m in found.moved
            ],
            right=(1, 3),
        )
    yield f"Cross-validated {found.verdict.metric}: {found.before:.3f} → {found.after:.3f}"
    yield found.verdict.sentence
    for name in found.dead:
        yield f"On these queries {name} distinguishes no two memories, so its weight was left alone."
    yield from _seen(found.seen)
    if saved:
        yield f"Saved as {saved}."
        name = shlex.quote(saved.stem)
        yield f"`workbench tune --use {name}` uses it in this store, for agents too."
    else:
        how = "" if found.keeps else "; --save NAME keeps the proposal as a profile"
        yield f"Nothing was changed{how}."


def _parameter(moved: "Moved", value: float | None) -> str:
    if moved.parameter != "half-life":
        return f"{value:.3f}"
    return "no decay" if value is None else f"{value:.1f} days"


# `workbench queries`: the saved queries with their judgments, out to files and measured against
# runs.


_QUERIES = """list                saved queries with the number of grades of each
export FILE         write them: --format jsonl (queries with grades), qrels (grades),
                    run (a profile's rankings), judgments (who gave which grade, and when)
measure FILE        score the run of another system by the grades of this store

An existing file is left alone unless --force is given; “-” writes to stdout. `workbench import
FILE` reads query sets and qrels, and `workbench eval FILE` measures profiles on them."""


def _opened_for_queries(session: Session) -> "AbstractContextManager[Workbench]":
    """Raise for options that do not go together, and open the store; an export is noted in it."""
    args = session.args
    what, exports = args.what, args.what == "export"
    if what == "list" and args.file is not None:
        raise WorkbenchError("`queries list` takes no file.", "`queries export FILE` writes one.")
    if what != "list" and args.file is None:
        raise WorkbenchError(f"`queries {what}` needs a FILE.", "Nothing was done.")
    if not exports and (args.format or args.profile or args.force):
        raise WorkbenchError(
            "--format, --profile and --force go with `queries export`.", "Nothing was done."
        )
    if args.profile and args.format != "run":
        raise WorkbenchError("--profile goes with --format run.", "Nothing was written.")
    if exports and args.json:
        raise WorkbenchError(
            "--json does not go with `queries export`.", "--format jsonl writes JSON lines."
        )
    notes = exports and str(args.file) != "-" and session.has_store()
    return changing(session) if notes else reading(session)


def queries(call: Call) -> Answer:
    """List, export or measure."""
    from workbench.services.tuning.queries import score_run

    if call.args.what == "export":
        return _export_queries(call)
    if call.args.what == "list":
        return _list_queries(call)
    found = score_run(call.bench.context, call.path(call.args.file))
    if found.unknown:
        warn(
            f"{counted(found.unknown, 'topic')} of the run are not saved queries and were ignored."
        )
    return Answer(found, [f"Run “{found.tag}”: {found.sentence}"])


def _list_queries(call: Call) -> Answer:
    grades: dict[str, int] = {}
    for judgment in call.bench.library.judgments.all():
        grades[judgment.query] = grades.get(judgment.query, 0) + 1
    saved = call.shown(list(call.bench.tuning.queries()))
    json = [
        {**picked(q, "id", "query:text", "now", "tags", "created_at"), "judgments": grades.get(q.id, 0)}
        for q in saved
    ]  # fmt: skip
    if not saved:
        none = "No queries are saved yet; Q saves one in Tune, and `workbench import FILE` reads a query set."
        return Answer(json, remarks=[none])
    rows = [(q.id, str(grades.get(q.id, 0)), moment(q.now) if q.now else "", q.text) for q in saved]
    return Answer(json, table([("id", "graded", "asked at", "query"), *rows], right=(1,)))


def _export_queries(call: Call) -> Answer:
    from workbench.cli.export import to_stdout, told_of
    from workbench.core.files.replacing import present_bytes
    from workbench.services.tuning.queries import KINDS, run

    args, bench = call.args, call.bench
    to_file, path = str(args.file) != "-", call.path(args.file)
    if to_file and present_bytes(path) is not None and not args.force:
        raise WorkbenchError(f"{path} already exists.", "Nothing was written; --force replaces it.")
    kind = KINDS[args.format or "jsonl"]
    if kind.write is not None:
        text = kind.write(bench.context)
    else:
        profile = profile_of(call)
        warn(f"Ranked under {profile_in_use(call)}.")
        read_memories(bench)
        line = ProgressLine("asking the queries", 1)
        with progressing(line) as cancelled:
            text = run(bench.context, bench.tuning, profile, progress=line, cancelled=cancelled)
    if not to_file:
        to_stdout(text)
        return Answer()
    preview = bench.exporter.preview(path, text, kind=kind.export_format)
    done = bench.exporter.write(preview, force=args.force)
    lines = counted(text.count("\n"), "line")
    said = f"has {lines} now" if preview.changed else "is already up to date"
    return Answer(lines=[f"{path} {said}.", *told_of(done)])


# `workbench model`: which embedding model this machine uses, and using another one.


BUNDLED = "bundled"

MOST = 5
"""Queries that are named in each direction."""

_MODEL = """`show` (the default) prints which embedding model is used. `use DIR` selects the model2vec model
in a folder, such as a multilingual one; `use bundled` selects the one that comes with the
workbench. The choice is a setting of this machine, in its config file, for all stores. Memories
of the store that opens here are embedded again at once, those of other stores in the background
when they are next searched; going back costs nothing. The effect on the store's judged queries is
shown. Running programs keep their model. Agents cannot change it."""


def model(call: Call) -> Answer:
    """Say which model is used, or use another one."""
    from workbench.services.tuning.evaluation import model_at

    args = call.args
    if args.what == "use":
        return _use_model(call)
    if args.folder is not None:
        raise InvalidRecord(
            "`model show` takes nothing else.", "`workbench model use DIR` uses another model."
        )
    found = model_at(call.session.settings().settings.model)
    return Answer(_model_json(found), [f"{_model_said(found)}."])


def _use_model(call: Call) -> Answer:
    """Write the setting, and rank the judged queries with both models."""
    from workbench.services.tuning.evaluation import model_at

    session, args, path = call.session, call.args, paths.config_dir() / loading.FILE_NAME
    require_person(actor_of(args), "choose the embedding model")
    if args.folder is None:
        raise InvalidRecord(
            "`model use` needs a folder.",
            f"`workbench model use {BUNDLED}` goes back to the bundled one.",
        )
    folder = None if args.folder == BUNDLED else call.path(Path(args.folder)).absolute()
    before, found = session.settings().settings.model, model_at(folder)
    set_values(path, {"model": "" if folder is None else str(folder)})
    call.say(f"{_model_said(found)}.")
    call.say(f"That is set in {path}, for all stores.")
    json = {**_model_json(found), "path": path}
    if folder == before:
        return Answer({**json, "queries": None})
    with session.reading(remarks=False) as bench:
        return _compared(bench, found, json)


def _compared(bench: "Workbench", found: "Model", json: dict[str, object]) -> Answer:
    from workbench.services.tuning.evaluation import try_model

    line, folder = (
        ProgressLine("embedding the memories", 2_000),
        None if found.is_bundled else found.folder,
    )
    tuning = bench.tuning
    try:
        with progressing(line) as cancelled:
            change = try_model(
                bench.context, bench.retriever, tuning.profiles, tuning.default(), folder, line, cancelled
            )  # fmt: skip
    except WorkStopped as stopped:
        fail(stopped)
        warn("The model is set anyway.")
        return Answer(code=INTERRUPTED)
    memories = len(bench.library.memories)
    json |= {"memories": memories, "queries": None}
    lines = [f"{counted(memories, 'memory', 'memories')} of this store embedded."]
    if change is None:
        lines.append("No judged queries yet to compare the models (v in Tune grades results).")
    else:
        changed = sorted(_differences(bench, change))
        json["queries"] = _change_json(change, changed)
        lines += _change_lines(change, changed)
    return Answer(json, lines)


def _change_lines(
    change: "Compared", changed: "Sequence[tuple[float, str, float, float]]"
) -> Iterator[str]:
    before, now = (result.mean["ndcg@10"] for result in (change.base, change.new))
    queries = counted(change.verdict.queries, "judged query", "judged queries")
    yield f"{queries} under {change.new.profile.name}: nDCG@10 {before:.3f} → {now:.3f}"
    yield change.verdict.sentence
    down = [row for row in changed if row[0] < 0][:MOST]
    up = [row for row in changed if row[0] > 0][-MOST:]
    rows = [
        (f"  {one_line(query, 60)}", f"{was:.2f}", "→", f"{is_now:.2f}")
        for _, query, was, is_now in (*reversed(up), *reversed(down))
    ]
    yield from table(rows, right=(1, 3))


def _differences(
    bench: "Workbench", change: "Compared"
) -> "Iterator[tuple[float, str, float, float]]":
    """Yield how much each query gained, the query, and its nDCG@10 before and now."""
    for was, now in zip(change.base.queries, change.new.queries, strict=True):
        values = was.values["ndcg@10"], now.values["ndcg@10"]
        yield (values[1] - values[0], bench.safety.masked(now.query), *values)


def _model_said(found: "Model") -> str:
    which = "the bundled one" if found.is_bundled else str(found.folder)
    return f"The embedding model is {which}: {found.dim:,} dimensions, {found.tokens:,} tokens"


def _model_json(found: "Model") -> dict[str, object]:
    names = ("folder", "bundled:is_bundled", "dimensions:dim", "tokens", "fingerprint")
    return picked(found, *names)


def _change_json(
    change: "Compared", changed: "Sequence[tuple[float, str, float, float]]"
) -> dict[str, object]:
    names = ("better:wins", "worse:losses", "same:ties", "verdict:outcome", "sentence")
    return {
        "profile": change.new.profile.name,
        "before": change.base.mean,
        "now": change.new.mean,
        **picked(change.verdict, *names),
        "changed": [
            {"query": query, "before": was, "now": now} for gain, query, was, now in changed if gain
        ],
    }


OPTIONS: Mapping[str, Option] = {
    "file": value("FILE", "the expectations", type=Path),
    "--for-agent": value("NAME", "check as this agent, if settings differ between agents", default="check"),
    "--tz": value("ZONE", "time zone of times without one: Asia/Tokyo (default: UTC)", type=zone, default="UTC"),
    "queries": value("QUERIES", "the query set (otherwise: the store's own judged queries)", type=Path),
    "--profile:eval": value("P", "a profile; repeatable", action="append"),
    "--profile:tune": value("P", "the profile to start from (default: the one in use)"),
    "--metric": value("M", "ndcg@K, mrr@K, recall@K or p@K (ndcg@10)", default="ndcg@10"),
    "--folds": value("N", "folds of the cross-validation (5)", type=count, default=5),
    "--save": value("NAME", "save the proposal as a profile with this name"),
    "--use": value("NAME", "use this profile in this store, also for agents"),
    "--force:tune": flag("save it even if it is not better, and replace your own profile of this name"),
    "what": {"choices": ("list", "export", "measure"), "help": "see above"},
    "file?": value("FILE", "the file to write or read", type=Path),
    "--format": {"choices": ("jsonl", "qrels", "run", "judgments"), "help": "export: what to write (jsonl)"},
    "--profile:run": value("P", "export, run: whose rankings (the one in use)"),
    "--force": flag("export: replace an existing file"),
    "what?": value("ACTION", "show or use", choices=("show", "use"), default="show"),
    "folder": value(
        "DIR", f"use: a folder with model.safetensors, tokenizer.json and config.json, or “{BUNDLED}”"
    ),
}  # fmt: skip

VERBS = (
    Verb("eval", evaluate, "measure retrieval profiles on judged queries", "queries? --profile:eval mixed --json",
         _EVAL, "queries.jsonl --profile workbench"),
    Verb("tune", tune, "optimise weights and half-lives on judged queries",
         "queries? --profile:tune --metric --folds --save --use --force:tune mixed --json", _TUNE,
         "queries.jsonl --save mine", _opened_to_tune),
    Verb("queries", queries, "list, export and measure saved queries",
         "what file? --format --profile:run --force mixed --json", _QUERIES, "export queries.jsonl",
         _opened_for_queries),
    Verb("check", check, "check search results against expectations, for CI", "file --profile --for-agent --tz --json",
         _CHECK, None),
    Verb("model", model, "show or change the embedding model", "what? folder? --json", _MODEL,
         "use ~/models/multilingual", unopened),
)  # fmt: skip
