"""How well English memories are found, in percent of R@10 and nDCG@10, by the default profile.

The stores are the demo as it was before it had memories in other languages, the LoCoMo
conversations, and, below a folder that is named, judged collections: folders with `memories.jsonl`
and `queries.jsonl`.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.benchmarks import locomo
from workbench.config.paths import shipped
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.open import open_workbench
from workbench.services.tuning.evaluation import Evaluator
from workbench.services.tuning.queries import JudgedSet, from_file

BARS = {
    "demo": [78.5, 78.5], "locomo": [82.5, 68.8], "xquad": [98.2, 89.0], "trecqa": [83.2, 69.0],
    "cranfield": [40.0, 38.5],
}  # fmt: skip
OTHERS = "language"
"""The tag of the demo's queries in other languages; what they judge is left out with them."""


def run(small: bool = False, folder: Path | None = None) -> dict[str, object]:
    """Return each store's figures, those of the conversations on average."""
    with tempfile.TemporaryDirectory() as name:
        found = {"demo": demo(Path(name) / "demo")}
        talks = (
            []
            if small
            else [_talk(file, Path(name) / file.stem) for file in locomo.conversations()]
        )
        if talks:
            found["locomo"] = [round(fmean(each), 1) for each in zip(*talks, strict=True)]
        for queries in sorted(folder.rglob("queries.jsonl")) if folder is not None else ():
            found[queries.parent.name] = collection(
                queries.parent, Path(name) / queries.parent.name
            )
    return {"found": found, "bars": BARS}


def demo(place: Path) -> list[float]:
    """Return the figures of the demo without what is in other languages."""
    shipped_demo, place = shipped("fixtures/demo"), place / "files"
    queries = list(_lines(shipped_demo / "queries.jsonl"))
    others = {id for query in queries if OTHERS in query["tags"] for id in query["relevant"]}
    place.mkdir(parents=True)
    for name, docs in (
        (
            "memories",
            [doc for doc in _lines(shipped_demo / "memories.jsonl") if doc["id"] not in others],
        ),
        ("queries", [query for query in queries if OTHERS not in query["tags"]]),
    ):
        (place / f"{name}.jsonl").write_text(
            "".join(json.dumps(doc) + "\n" for doc in docs), "utf-8"
        )
    return collection(place, place.parent)


def collection(folder: Path, place: Path) -> list[float]:
    """Return the figures of a folder's judged queries on a store of its memories, made in `place`."""
    with closing(open_workbench(place / "store", profiles=place / "profiles")) as bench:
        bench.importer.carry_out(bench.importer.plan(folder / "memories.jsonl"))
        return _figures(bench.evaluator, from_file(bench.context, folder / "queries.jsonl"))


def _talk(file: Path, place: Path) -> list[float]:
    bench, evaluator, judged = locomo.open_conversation(file, place)
    with closing(bench):
        return _figures(evaluator, judged)


def _figures(evaluator: Evaluator, judged: JudgedSet) -> list[float]:
    mean = evaluator.evaluate(judged, [WORKBENCH]).results[0].mean
    return [round(100 * mean[name], 1) for name in ("recall@10", "ndcg@10")]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())
