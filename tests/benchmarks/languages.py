"""How well an agent finds memories in many languages, and how well talks between a user and an
assistant are ranked.

`language_data/memories` has a file for each language. In its memories, literal terms stand in
brackets; `inflected` and `compounds` name a query and the word of a memory that it stands for; none
of the memories answers the questions under `unrelated` and `sharing`, but the latter share function
words and a noun with them. `language_data/talks` has talks, each with a bank of paragraphs from
which long answers are made. Every third term, form and question is held out: rules and constants
are chosen on the others. `before.json` has the figures from before such rules were chosen.
"""

import json
import re
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from workbench.core.tuning.measure import NDCG10, Measure
from workbench.core.tuning.profile import WORKBENCH, Profile
from workbench.retrieval.fulltext.lexical import LexicalCache
from workbench.services.agents.serving import give
from workbench.services.open import Workbench, open_workbench
from workbench.services.tuning.queries import from_file

DATA = Path(__file__).with_name("language_data")
BARS = {
    "terms": "0.95", "inflected": "0.85", "scripts": "at most 0.10 answered", "index": "at most 1.5 times, en 1.02",
    "talks": "recall@10 of workbench at least 0.9, and at least that of bm25 and dense",
}  # fmt: skip
NOW = datetime(2026, 4, 1, tzinfo=UTC)
SIZES = (64, 500)
TEXTS = 3_000
_TERM = re.compile(r"\[(.+?)\]")
_MEASURES = (Measure("recall", 10), NDCG10)
_PROFILES = (
    WORKBENCH,
    Profile("bm25", 0.0, 0.0, 1.0, mode="off", blend=0.0, feedback=0.0),
    Profile("dense", 0.0, 0.0, 1.0, mode="off", blend=1.0, feedback=0.0),
)


@dataclass(frozen=True, slots=True)
class Language:
    """A language's memories by id, its queries of each kind with the ids that they are to find, and
    its questions.
    """

    name: str
    script: str
    memories: dict[str, str]
    queries: dict[str, list[tuple[str, set[str]]]]
    unrelated: list[str]


def run(small: bool = False) -> dict[str, object]:
    """Return each figure as it was before and as it is now, over all and over what is held out."""
    spoken = [read(path) for path in sorted((DATA / "memories").glob("*.toml"))]
    measured = [one for one in spoken if one.name in ("en", "zh")] if small else spoken
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        found = {
            one.name: {
                f"{size}": _found(one, spoken, place / f"{one.name}{size}", size)
                for size in SIZES[: 2 - small]
            }
            for one in measured
        }
        some = [
            pair
            for row in zip(*(one.memories.items() for one in spoken), strict=True)
            for pair in row
        ]
        with closing(_opened(place / "mixed", _rows(some[: SIZES[0]]))) as bench:
            for one in measured:
                found[one.name]["mixed"] = {
                    "unrelated": [bool(_given(bench, asked)) for asked in one.unrelated]
                }
        now = {"languages": _shares(found), "talks": _talks(place / "talks")}
        now |= (
            {} if small else {"scripts": _scripts(measured, found), "index": _index(spoken, place)}
        )
    before = json.loads((DATA / "before.json").read_text("utf-8"))
    return {"bars": BARS, "before | now": _beside(before, now)}


def read(path: Path) -> Language:
    """Read a language's file; every query must have one or a few memories that it is to find."""
    data = tomllib.loads(path.read_text("utf-8"))
    memories = {
        f"{path.stem}-{number:02}": _TERM.sub(r"\1", text)
        for number, text in enumerate(data["memories"].splitlines())
    }
    asked = {"terms": [(term, term) for term in _TERM.findall(data["memories"])]}
    for kind in [kind for kind in ("inflected", "compounds") if kind in data]:
        asked[kind] = [
            (query, word)
            for query, _, word in (line.partition(" = ") for line in data[kind].splitlines())
        ]
    queries = {
        kind: [
            (query, {id for id, text in memories.items() if word in text}) for query, word in pairs
        ]
        for kind, pairs in asked.items()
    }
    assert all(
        1 <= len(ids) <= (2 if kind == "terms" else 3)
        for kind, rows in queries.items()
        for _, ids in rows
    )
    pairs = zip(data["unrelated"].splitlines(), data["sharing"].splitlines(), strict=True)
    return Language(
        path.stem,
        data["script"],
        memories,
        queries,
        [question for pair in pairs for question in pair],
    )


def _found(
    one: Language, spoken: Sequence[Language], place: Path, size: int
) -> dict[str, list[bool]]:
    """Tell of each query whether it found its memory in a store that other languages fill up, and
    what was answered.
    """
    random = Random(one.name)
    others = [pair for other in spoken if other is not one for pair in other.memories.items()]
    memories = [*one.memories.items(), *random.sample(others, size - len(one.memories))]
    random.shuffle(memories)
    with closing(_opened(place, _rows(memories))) as bench:
        found = {
            kind: [bool(ids & _given(bench, asked)) for asked, ids in rows]
            for kind, rows in one.queries.items()
        }
        return {**found, "unrelated": [bool(_given(bench, asked)) for asked in one.unrelated]}


def _given(bench: Workbench, query: str) -> set[str]:
    """Return what an agent is given in the first ten."""
    agent = replace(bench.context, actor="agent:bench")
    return set(
        give(agent, bench.tuning, query, 10, bench.tuning.default(), bench.safety).ranking.ids
    )


def _rows(memories: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    at = NOW - timedelta(days=30)
    return [
        {"id": id, "text": text, "timestamp": (at + timedelta(minutes=number)).isoformat()}
        for number, (id, text) in enumerate(memories)
    ]


def _opened(place: Path, rows: Iterable[dict[str, str]]) -> Workbench:
    """Import lines into a new store."""
    place.mkdir()
    _write(place / "memories.jsonl", rows)
    bench = open_workbench(place / "store", profiles=place / "none", clock=lambda: NOW)
    bench.importer.carry_out(bench.importer.plan(place / "memories.jsonl"))
    bench.retriever.load()
    return bench


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _shares(found: dict[str, Any]) -> dict[str, Any]:
    """Return the mean of each list, and that of the third of it that is held out."""
    return {
        name: _shares(value)
        if isinstance(value, dict)
        else [round(fmean(each), 3) for each in (value, value[2::3])]
        for name, value in found.items()
    }


def _scripts(measured: Sequence[Language], found: dict[str, Any]) -> dict[str, Any]:
    """Return the share of unrelated questions that is answered, by script and store."""
    answered: dict[str, dict[str, list[bool]]] = {}
    for one in measured:
        for store, kinds in found[one.name].items():
            answered.setdefault(one.script, {}).setdefault(store, []).extend(kinds["unrelated"])
    return _shares(answered)


def _index(spoken: Sequence[Language], place: Path) -> dict[str, int]:
    """Return the bytes of the full-text index of as many texts in each language, made of parts of
    its memories.

    Parts are words, and four letters each of what is written without spaces, so that no run of
    those comes twice.
    """
    sizes = {}
    for one in spoken:
        random, close = Random(one.name), one.script in ("CJK", "Thai")
        memories = list(one.memories.values())
        found = re.findall(r"(?:\w[^\w\s]*|\W){1,4}" if close else r"\S+", " ".join(memories))
        texts = [("" if close else " ").join(random.choices(found, k=8)) for _ in range(TEXTS)]
        LexicalCache(place / f"index-{one.name}").index(texts)
        sizes[one.name] = sum(
            path.stat().st_size for path in (place / f"index-{one.name}").rglob("*.npz")
        )
    return sizes


def _talks(place: Path) -> dict[str, Any]:
    """Return how well the turns that answer a question are ranked, by profile."""
    turns, queries = talks()
    with closing(_opened(place, turns)) as bench:
        _write(place / "queries.jsonl", queries)
        results = bench.evaluator.evaluate(
            from_file(bench.context, place / "queries.jsonl"), _PROFILES
        ).results
    values = {
        one.profile.name: {measure.name: one.values(measure) for measure in _MEASURES}
        for one in results
    }
    return _shares(values)


def talks() -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return the turns of all talks, and the questions with the turns that answer them."""
    banks, told = (
        tomllib.loads((DATA / "talks" / f"{name}.toml").read_text("utf-8"))
        for name in ("banks", "talks")
    )
    turns, queries = [], []
    for number, talk in enumerate(told["talk"]):
        bank, at = banks[talk["bank"]], talk["began"]
        for place, turn in enumerate(talk["turns"]):
            first, count = 2 * number + 3 * place, 7 + (number + place) % 4
            more = (
                bank[(first + step) % len(bank)].replace("{about}", turn["about"])
                for step in range(count)
            )
            said = {"user": turn["user"], "assistant": "\n\n".join([turn["answer"], *more])}
            assert 2_000 <= len(said["assistant"]) <= 5_000
            for role, text in said.items():
                at += timedelta(minutes=3)
                id, session = f"{number}-{place}-{role}", f"talk-{number}"
                turns.append(
                    {
                        "id": id,
                        "session_id": session,
                        "role": role,
                        "text": text,
                        "timestamp": at.isoformat(),
                    }
                )
            for kind, role in (("ask", "user"), ("recall", "assistant")):
                if kind in turn:
                    queries.append(
                        {"query": turn[kind], "relevant": {f"{number}-{place}-{role}": 1}}
                    )
    return turns, queries


def _beside(before: Any, now: Any) -> Any:
    """Return both figures in one text, wherever there are figures."""
    if isinstance(now, dict):
        return {key: _beside(before.get(key, {}), value) for key, value in now.items()}
    return f"{before} | {now}"
