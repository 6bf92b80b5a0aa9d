"""How often the floor calls a query empty: answered ones, off-topic ones, and plausible ones
without an answer.

The stores are the demo, the LoCoMo conversations and, below a folder that is named, judged
collections: folders with `memories.jsonl` and `queries.jsonl`. None of the off-topic questions is
among the background questions.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean

from tests.benchmarks import locomo
from workbench.config.paths import shipped
from workbench.core.tuning.profile import WORKBENCH
from workbench.retrieval.floor import background
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.floors import against
from workbench.services.tuning.queries import JudgedSet, from_file

HERE = Path(__file__).parent
BARS = {"answered": 2.0, "off_topic": 90.0, "answered_worst": 5.0, "off_topic_worst": 85.0}


@dataclass(frozen=True, eq=False)
class Store:
    """A store to measure on, its judged queries, and plausible questions that nothing in it
    answers, by their kind.
    """

    name: str
    bench: Workbench
    judged: JudgedSet
    no_answer: dict[str, list[str]]


def run(small: bool, folder: Path | None = None) -> dict[str, object]:
    """Return, per store and on average, the share of each kind of question that is called empty, in
    percent.
    """
    with tempfile.TemporaryDirectory() as name:
        stores: dict[str, dict[str, object]] = {}
        for store in _stores(Path(name), folder, small):
            stores[store.name] = _measured(store)
            store.bench.close()
    answered, off = (
        [_number(found[kind]) for found in stores.values()] for kind in ("answered", "off_topic")
    )
    return {
        "stores": stores,
        "mean": {"answered": round(fmean(answered), 2), "off_topic": round(fmean(off), 2)},
        "worst": {"answered": max(answered), "off_topic": min(off)},
        "bars": BARS,
    }


def _stores(place: Path, folder: Path | None, small: bool) -> Iterator[Store]:
    plausible = [
        json.loads(line) for line in (HERE / "no_answer.jsonl").read_text("utf-8").splitlines()
    ]

    def without_answer(store: str) -> list[str]:
        return [one["query"] for one in plausible if one["store"] == store]

    asked_of_demo = shipped("fixtures/demo") / "queries.jsonl"
    demo = _opened(place / "demo", shipped("fixtures/demo") / "memories.jsonl")
    rows = [json.loads(line) for line in asked_of_demo.read_text("utf-8").splitlines()]
    judged_empty = [row["query"] for row in rows if not any(row["relevant"].values())]
    yield Store(
        "demo",
        demo,
        from_file(demo.context, asked_of_demo),
        {"plausible": without_answer("demo"), "judged_to_have_none": judged_empty},
    )
    if small:
        return
    for file in locomo.conversations():
        bench, _, queries = locomo.open_conversation(file, place / file.stem)
        asked = [
            qa["question"]
            for qa in json.loads(file.read_text("utf-8"))["qa"]
            if qa.get("category") == 5
        ]
        name = f"locomo {file.stem}"
        yield Store(name, bench, queries, {"plausible": without_answer(name), "adversarial": asked})
    for queries_file in sorted(folder.rglob("queries.jsonl")) if folder is not None else ():
        name = queries_file.parent.name
        bench = _opened(place / name, queries_file.with_name("memories.jsonl"))
        yield Store(
            name, bench, from_file(bench.context, queries_file), {"plausible": without_answer(name)}
        )


def _opened(place: Path, memories: Path) -> Workbench:
    bench = open_workbench(place / "store", profiles=place / "profiles")
    bench.importer.carry_out(bench.importer.plan(memories))
    bench.retriever.load()
    return bench


def _measured(store: Store) -> dict[str, object]:
    standard = store.bench.tuning.floors.settled()
    assert standard.floor is not None
    lines = (HERE / "off_topic.jsonl").read_text("utf-8").splitlines()
    off = [json.loads(line)["query"] for line in lines]
    assert not set(off) & set(background()["en"])
    answered, agents = _answered(store)
    kinds = {kind: asked for kind, asked in store.no_answer.items() if asked}
    return {
        "memories": len(store.bench.library.memories),
        "floor": round(standard.floor.query, 4),
        "weak_below": round(standard.floor.memory, 4),
        "answered": answered,
        "off_topic": _empty(store, off),
        "without_answer": {
            kind: [len(asked), _empty(store, asked)] for kind, asked in kinds.items()
        },
        "agents": agents,
    }


def _answered(store: Store) -> tuple[float, dict[str, float]]:
    """Return the share of answered queries called empty, and what agents are given."""
    empty: list[bool] = []
    whole, given, rows = [], [], []
    for query in store.judged.queries:
        relevant = {id for id, grade in query.relevant.items() if grade > 0}
        if not relevant:
            continue
        ids, strong, is_empty = _asked(store, query.text, query.now)
        if relevant & set(ids):
            empty.append(is_empty)
        whole.append(len(relevant & set(ids)) / len(relevant))
        given.append(len(relevant & set(strong)) / len(relevant))
        rows.append(len(strong))
    figures = {
        "recall@10": fmean(whole),
        "recall@10_given": fmean(given),
        "rows_given": fmean(rows),
    }
    agents = {name: round(value, 3) for name, value in figures.items()}
    return round(100 * fmean(empty), 2), agents


def _asked(
    store: Store, query: str, now: datetime | None
) -> tuple[tuple[str, ...], list[str], bool]:
    """Return the ten best, those of them that an agent is given, and whether the query is empty."""
    tuning = store.bench.tuning
    question = tuning.question(query)
    scores, ranking = (
        question.scores,
        question.rank(WORKBENCH, now or store.bench.context.now(), 10),
    )
    found = against(tuning.floors.settled(query), scores, ranking)
    strong = [] if found.empty else [id for id in ranking.ids if not found.is_weak(id)]
    return ranking.ids, strong, found.empty


def _empty(store: Store, questions: Sequence[str]) -> float:
    return round(100 * fmean(_asked(store, q, None)[2] for q in questions), 2)


def _number(value: object) -> float:
    assert isinstance(value, float)
    return value
