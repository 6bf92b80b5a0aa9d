"""A factor and a part of relevance that nobody else knows: everything that shows or tunes rankings has them.

The toy factor prefers short texts; the toy parts make what shouts less relevant, one by feeding the other.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.oracle.cases import Candidate, PartCase, RuleCase
from tests.oracle.ranking import rank
from tests.tui.support import DEMO, NOW, app_over, screen_text
from tests.tui.tune_host import keys, opened, ranked, row, settled, slider, tune, why
from workbench.bench.demo import fill
from workbench.bench.open import Workbench, open_workbench
from workbench.bench.tuning.pairwise import begin
from workbench.bench.tuning.profile_diff import Changed, changes
from workbench.bench.tuning.queries.sets import from_store
from workbench.cli.main import run
from workbench.core.errors import InvalidRecord
from workbench.core.named import implementation
from workbench.core.served import is_served
from workbench.core.tuning.factors import RECIPE, Factor, Knob, Recipe, RelevancePart
from workbench.core.tuning.measure import NDCG10
from workbench.core.tuning.profile import CONVERSATION, FrozenBounds, Profile, check_profile, value_of, with_value
from workbench.core.tuning.scoring import Share
from workbench.evaluation.objective import values
from workbench.evaluation.settings import settings_around
from workbench.retrieval.arrays import Column
from workbench.retrieval.ranking.cases import ColumnCase, Columns, PartColumnCase, PartColumns, ShareCase
from workbench.tui.tuning.rows import Row, legend

QUERY = "deploy to production fails"


def _brevity(text: str, length: float) -> float:
    return 1 / (1 + len(text) / length)


def brevity_rule(case: RuleCase) -> list[float]:
    length = value_of(case.profile, "brevity_length", 100.0) or 1.0
    return [_brevity(c.memory.content, length) for c in case.pool]


def _brevity_column(case: ColumnCase) -> Column:
    length = value_of(case.profile, "brevity_length", 100.0) or 1.0
    texts = (case.pool.memories.text(row)[0] for row in case.chosen.rows.tolist())
    return np.array([_brevity(text, length) for text in texts])


BREVITY = Columns(lambda case: (case.pool, value_of(case.profile, "brevity_length", 100.0)), _brevity_column)


def loud_rule(case: PartCase) -> list[float]:
    return [float("!" in c.memory.content) for c in case.pool]


def quiet_rule(case: PartCase) -> list[float]:
    return [1 - (value_of(case.profile, "quiet") or 0.0) * loud for loud in case.fed["loud"]]


def _loud_column(case: PartColumnCase) -> Column:
    memories = case.case.pool.memories
    return np.array([float("!" in memories.text(row)[0]) for row in case.chosen.rows.tolist()])


def _quiet_column(case: PartColumnCase) -> Column | None:
    quiet = value_of(case.profile, "quiet") or 0.0
    return 1 - quiet * np.asarray(case.fed["loud"]) if quiet else None


LOUD, QUIET = PartColumns(_loud_column, lambda case: case.pool), PartColumns(_quiet_column)


def loud_share(case: ShareCase) -> Share:
    loud = float("!" in case.pool.memories.text(case.row)[0])
    return Share(case.part, loud, None, loud)


def quiet_share(case: ShareCase) -> Share:
    times = 1 - (value_of(case.profile, "quiet") or 0.0) * case.before[-1].value
    marks = case.pool.memories.text(case.row)[0].count("!")
    return Share(case.part, times, None, times, {"marks": marks} if marks else {})


TOY_RULES = {"brevity": brevity_rule, "loud": loud_rule, "quiet": quiet_rule}

HERE = "tests.plug.test_factor"

TOY = Factor(
    "brevity", "brevity", f"{HERE}:BREVITY", weight="brevity", glyph="▒",
    words="How much a short text counts.",
    knobs=(
        Knob("brevity-length", "brevity_length", "length", "brevity", "Characters of half a point.",
             high=500.0, step=50.0, fine=10.0, default=100.0),
    ),
)  # fmt: skip

PARTS = (
    RelevancePart("loud", "loud", "feeds", f"{HERE}:LOUD", f"{HERE}:loud_share"),
    RelevancePart(
        "quiet", "quiet", "multiplies", f"{HERE}:QUIET", f"{HERE}:quiet_share",
        parameters=(Knob("quiet", "quiet", "quiet", "relevance", "What shouting takes."),),
        words="shouts {marks} times",
    ),
)  # fmt: skip

AT = [part.id for part in RECIPE.parts].index("contiguity")

WITH_TOYS = Recipe(
    # Not at the end, so that nothing can rely on the order that the three have today.
    factors=(RECIPE.factors[0], TOY, *RECIPE.factors[1:]),
    parts=(*RECIPE.parts[:AT], *PARTS, *RECIPE.parts[AT:]),
)

PLAIN = Profile("plain", 0.05, 0.05, 0.9, blend=0.5, contiguity=0.5)

SHORT = replace(PLAIN, name="short", others=(("brevity", 2.0), ("quiet", 0.5)))
"""A profile under which short texts come first."""


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    opened = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", clock=lambda: NOW, recipe=WITH_TOYS)
    fill(opened, DEMO)
    return opened


@pytest.mark.slow
def test_it_ranks_as_its_plain_rule(bench: Workbench) -> None:
    pool, scores = bench.retriever.ranker().pool, bench.tuning.question(QUERY).scores
    candidates = [
        Candidate(memory, float(scores.dense[at]), float(scores.lexical[at]), known=scores.knows(at))
        for at, memory in enumerate(pool.memories)
        if is_served(memory, NOW)
    ]
    frozen = FrozenBounds((0, 1), (0, 1), (0, 1), (("brevity", (0.1, 0.6)),))
    for profile in (
        SHORT, PLAIN, with_value(SHORT, "brevity_length", 30.0, 100.0), replace(SHORT, scope="top", top_n=20),
        replace(SHORT, scope="frozen", frozen=frozen), replace(SHORT, scorer="episodic"),
    ):  # fmt: skip
        fast = bench.tuning.rank(QUERY, profile, NOW, 1000)
        plain = rank(candidates, profile, NOW, QUERY, WITH_TOYS, TOY_RULES)
        assert [s.memory.id for s in plain] == list(fast.ids)
        for one, other in zip(plain, fast.top, strict=True):
            assert one.raw == pytest.approx(other.raw, abs=1e-9)
            assert one.total == pytest.approx(other.total, abs=1e-9)
            assert other.total == pytest.approx(sum(other.weighted.values()), abs=1e-12)
    texts = [len(s.memory.content) for s in bench.tuning.rank(QUERY, SHORT, NOW, 10).top]
    assert max(texts) < np.mean([len(c.memory.content) for c in candidates])
    # Without a say it changes nothing.
    usual = bench.tuning.rank(QUERY, PLAIN, NOW, 1000)
    assert list(usual.ids) == [s.memory.id for s in rank(candidates, PLAIN, NOW, QUERY)]


@pytest.mark.slow
async def test_its_sliders_move_the_ranking_and_the_panes_explain_it(bench: Workbench) -> None:
    app = app_over(bench)
    async with app.run_test(size=(140, 60)) as pilot:
        await opened(pilot)
        before = ranked(app)
        weight = slider(app, "brevity")
        weight.focus()
        assert weight.ticks  # where the order changes along it
        await keys(pilot, *["right"] * 12)
        await settled(pilot)
        assert ranked(app) != before
        assert tune(app).session.profile.others == tuple(sorted((*CONVERSATION, ("brevity", 0.6))))
        shown = screen_text(app)
        assert TOY.words in shown
        assert "▒▒ brevity" in shown
        assert re.search(r"▒ brevity +0\.\d{4} → +[01]\.\d{4} × +0\.60 = ", why(app))
        assert "▒▒" in legend(200, "x", WITH_TOYS.factors).plain
        assert row(app, 1).standing.scored.weighted["brevity"] > 0  # type: ignore[union-attr]
        by_length = slider(app, "brevity-length")
        assert by_length.value == 100.0
        by_length.value = 20.0
        slider(app, "quiet").value = 0.5
        await settled(pilot)
        profile = tune(app).session.profile
        assert dict(profile.others) == {**dict(CONVERSATION), "brevity": 0.6, "brevity_length": 20.0, "quiet": 0.5}
        rows = tune(app).rows
        rows.focus()
        rows.cursor = next(
            at for at, one in enumerate(rows.rows) if isinstance(one, Row) and "!" in one.standing.memory.content
        )
        await settled(pilot)
        assert "× quiet" in why(app)
        by_length.focus()
        # Taken back move by move, the profile is the saved one again.
        await keys(pilot, "u", "u", "u")
        await settled(pilot)
        assert tune(app).session.profile == tune(app).session.saved


@pytest.mark.slow
def test_a_part_says_what_it_did_to_one_memory(bench: Workbench) -> None:
    question = bench.tuning.question(QUERY)
    ranking = question.rank(SHORT, NOW, 1000)
    loud = next(s for s in ranking.top if "!" in s.memory.content)
    shares = {share.part.id: share for share in question.shares(ranking, loud.memory.id)}
    assert (shares["loud"].value, shares["quiet"].amount) == (1.0, 0.5)
    assert shares["quiet"].said == f"shouts {loud.memory.content.count('!')} times"
    made = (shares["dense"].amount + shares["lexical"].amount) * 0.5 + shares["contiguity"].amount
    assert made == pytest.approx(loud.raw["relevance"])


@pytest.mark.slow
def test_the_tuner_finds_its_weight_and_profiles_keep_it(bench: Workbench, tmp_path: Path) -> None:
    ranker = bench.retriever.ranker()
    evaluator, profiles = bench.evaluator, bench.tuning.profiles
    judged = from_store(bench.context)
    assert len(judged.queries) > 1
    found = evaluator.score(judged).tune(PLAIN)
    assert found.tried > 231
    assert {m.parameter for m in found.moved} <= {"recency", "brevity", "importance", "relevance", "half-life"}
    settings, asked = settings_around(SHORT, recipe=WITH_TOYS), evaluator.score(judged).queries[0]
    table = values(ranker, asked, settings, NDCG10)
    for number in range(0, len(settings), 97):
        ids = ranker.rank(asked.scores, settings.profile(number), asked.now, 10).ids
        assert table[number] == pytest.approx(NDCG10.of(ids, asked.grades))
    assert len(begin(ranker, [(asked.scores, asked.now)], SHORT).answered("a").spread) == 4
    path = profiles.save(SHORT, NOW, "workbench")
    lines = path.read_text("utf-8").splitlines()
    assert {"brevity = 2.0", "quiet = 0.5"} <= set(lines)
    assert "brevity_length" not in path.read_text("utf-8")
    assert profiles.get("short") == SHORT
    assert changes(PLAIN, SHORT) == (Changed("brevity", None, 2.0), Changed("quiet", None, 0.5))
    snapshot = bench.tuning.snapshots.take(SHORT, NOW)
    assert bench.tuning.snapshots.all()[-1].profile == snapshot.profile
    only = replace(PLAIN, recency=0.0, importance=0.0, relevance=0.0, others=(("brevity", 1.0),))
    check_profile(only, WITH_TOYS)
    with pytest.raises(InvalidRecord, match="all three weights are zero"):
        check_profile(only)
    with pytest.raises(InvalidRecord, match="all four weights are zero"):
        check_profile(replace(only, others=()), WITH_TOYS)
    elsewhere = open_workbench(tmp_path / "other", profiles=tmp_path / "profiles")
    with pytest.raises(InvalidRecord, match="unknown parameter: brevity"):
        elsewhere.tuning.profiles.get("short")
    assert ranker.recipe is WITH_TOYS


@pytest.mark.slow
def test_frozen_bounds_hold_it_in_a_profile_file(bench: Workbench) -> None:
    ranking = bench.tuning.rank(QUERY, SHORT, NOW)
    bounds = {name: (column.low, column.high) for name, column in ranking.factors.items()}
    frozen = replace(SHORT, scope="frozen", frozen=FrozenBounds.by_factor(bounds))
    path = bench.tuning.profiles.save(frozen, NOW, "workbench")
    assert re.search(r"^brevity = \[0\.\d+, 0\.\d+\]$", path.read_text("utf-8"), re.MULTILINE)
    assert bench.tuning.profiles.get("short") == frozen


@pytest.mark.slow
def test_the_command_line_explains_it(
    bench: Workbench, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.config.paths.config_dir", lambda: tmp_path)
    bench.tuning.profiles.save(SHORT, NOW, "workbench")
    bench.close()

    def said(*options: str) -> str:
        arguments = ["--store", str(tmp_path / "store"), "search", QUERY, "-k", "3", "--profile", "short", *options]
        assert run(arguments, open_app=_no_app, cwd=tmp_path, clock=lambda: NOW, recipe=WITH_TOYS) == 0
        return capsys.readouterr().out

    lines = said("--explain").splitlines()
    assert "recency 0.05, brevity 2, importance 0.05, relevance 0.9" in lines[0]
    assert sum(bool(re.match(r" +brevity +0\.\d{4} +of .* × 2 +=", line)) for line in lines) == 3
    assert sum("relevance is dense" in line for line in lines) == 3
    every = json.loads(said("--json", "--explain"))
    loud = [found["explain"]["relevance"]["quiet"] < 1 for found in every]
    assert ["× quiet" in line for line in lines if "relevance is dense" in line] == loud
    for found in every:
        assert list(found["parts"]["weighted"]) == ["recency", "brevity", "importance", "relevance"]
        assert set(found["explain"]["bounds"]) == set(found["parts"]["raw"])
        assert list(found["explain"]["relevance"]) == ["dense", "lexical", "loud", "quiet", "contiguity"]


def test_every_entry_names_what_is_there() -> None:
    for factor in RECIPE.factors:
        assert isinstance(implementation(factor.columns), Columns)
    for part in RECIPE.parts:
        assert callable(implementation(part.explain))
        assert isinstance(implementation(part.columns), PartColumns)
    assert len({factor.glyph for factor in RECIPE.factors}) == len(RECIPE.factors)


@pytest.mark.parametrize("listing", ["workbench.core.tuning.factors", "workbench.bench.open"])
def test_to_list_the_factors_loads_no_numbers(listing: str) -> None:
    code = f"import sys, {listing}\nassert 'numpy' not in sys.modules, sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def _no_app(store: Path, *, origin: str, demo: bool = False, **more: object) -> int:
    raise AssertionError(store, origin, demo)
