"""Mutants: changes of one operator, drawn by seed over the layers, and what share of them the tests
catch.

    python -m tests.faults record [OPTION…]   # run the quick tests, note which lines each of them runs
    python -m tests.faults draw [--layer L]   # draw what is missing of the two hundred, and their tests
    python -m tests.faults run [--layer L]    # seed each in a copy of the checkout and run its tests
    python -m tests.faults report [--keep]    # the share caught in each layer, beside that of day 0

A mutant is kept in `mutants.jsonl` as a text that stands once in the package (`before`) and what it
becomes (`after`), with its layer and the quickest of the tests that run its line. `draw` replaces
one whose text is gone by the next of the same seed and layer, names both, and looks anew for the
tests of what is kept. `run` goes on where it was stopped; what takes too long counts as caught, and
a test that fails without the mutant as well catches nothing. `report --keep` makes these shares
those of day 0. What is recorded lies in `.coverage-mutants/` and is not committed. The options of
`record` are those of pytest.
"""

import argparse
import ast
import hashlib
import json
import math
import re
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tests.faults.changes import Source
from tests.faults.checkout import ROOT, copied, named_tests, run, sources
from tests.faults.recorded import FOLDER, Recorded, record

SEED, COUNT, LEAST = 42, 200, 4
"""`LEAST` is how many the smallest layer gets."""

KEPT = Path(__file__).with_name("mutants.jsonl")
RESULTS = FOLDER / "results.jsonl"
LAYERS = {"mcp": "agents", "agent": "agents"}
"""Packages that are one layer under another name; modules and small packages beside the layers are
`others`.
"""

BESIDE = ("config", "evaluation")
PATIENCE_S = 240.0
"""How long the tests of a mutant may run."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change at one place; `tests` are names of functions by their file, `caught` is the
    verdict of day 0.
    """

    layer: str
    kind: str
    before: str
    after: str
    tests: dict[str, list[str]] = field(default_factory=dict)
    caught: bool | None = None

    @property
    def id(self) -> str:
        """What its results are kept under."""
        return hashlib.sha256(f"{self.before}\n{self.after}".encode()).hexdigest()[:12]


# Drawing


def layer_of(path: Path) -> str:
    """Return the layer of a module."""
    parts = path.relative_to(ROOT / "workbench").parts
    return "others" if len(parts) == 1 or parts[0] in BESIDE else LAYERS.get(parts[0], parts[0])


def draw(only: str | None) -> int:
    """Draw what is missing, and the tests of all anew; what was lost is named."""
    recorded, every = Recorded(), [Source(path) for path in sources(ROOT)]
    package = b"\n".join(source.data for source in every)
    layers: dict[str, list[Source]] = defaultdict(list)
    for source in every:
        layers[layer_of(source.path)].append(source)
    day0, old = read()
    kept = [mutant for mutant in old if package.count(mutant.before.encode()) == 1]
    _say("gone", (mutant for mutant in old if mutant not in kept))
    found = [replace(mutant, tests=recorded.tests(*_place(mutant, every))) for mutant in kept]
    for layer, count in _shares(layers, old).items():
        taken = {mutant.before for mutant in found if mutant.layer == layer}
        for mutant in _ranked(layer, layers[layer], package) if only in (None, layer) else ():
            if len(taken) >= count:
                break
            tests = recorded.tests(*_place(mutant, layers[layer]))
            if tests and mutant.before not in taken:
                taken.add(mutant.before)
                found.append(replace(mutant, tests=tests))
    _say("drawn", found[len(kept) :] if old else [])
    write(day0, found)
    print(f"{len(found)} mutants: {dict(Counter(mutant.layer for mutant in found))}")
    return 0


def _say(what: str, mutants: Iterable[Mutant]) -> None:
    for mutant in mutants:
        print(
            f"{what}: {mutant.layer}, {mutant.kind}: {mutant.before.strip()!r} -> {mutant.after.strip()!r}"
        )


def _shares(layers: dict[str, list[Source]], old: list[Mutant]) -> dict[str, int]:
    """Return how many mutants each layer has: as it had, at first by its size."""
    if len(old) >= COUNT:
        return dict(Counter(mutant.layer for mutant in old))
    sizes = {
        layer: sum(len(list(ast.walk(source.tree))) for source in held)
        for layer, held in layers.items()
    }
    rest, total = COUNT - LEAST * len(sizes), sum(sizes.values())
    exact = {layer: rest * size / total for layer, size in sizes.items()}
    shares = {layer: LEAST + math.floor(share) for layer, share in exact.items()}
    for layer in sorted(exact, key=lambda layer: math.floor(exact[layer]) - exact[layer])[
        : COUNT - sum(shares.values())
    ]:
        shares[layer] += 1
    return shares


def _ranked(layer: str, held: list[Source], package: bytes) -> Iterator[Mutant]:
    """Yield the mutants of a layer in the order of the seed, the kinds in turn; the order is that
    of their texts.
    """
    kinds: dict[str, list[tuple[str, int]]] = defaultdict(list)
    pairs = [(source, change) for source in held for change in source.changes()]
    for number, (source, change) in enumerate(pairs):
        kind, start, end, new = change
        line = source.data[source.data.rfind(b"\n", 0, start) + 1 :].partition(b"\n")[0]
        name = hashlib.sha256(f"{SEED} {kind} {line!r} {new!r} {end - start}".encode()).hexdigest()
        kinds[kind].append((name, number))
    turns = sorted(
        (place, row) for rows in kinds.values() for place, row in enumerate(sorted(rows))
    )
    for _, (_, number) in turns:
        source, change = pairs[number]
        if texts := source.texts(change, package):
            yield Mutant(layer, change[0], *texts)


def _place(mutant: Mutant, every: list[Source]) -> tuple[Source, int]:
    """Return the module that holds a mutant, and the line that it changes."""
    source = next(source for source in every if mutant.before.encode() in source.data)
    same = next(
        at
        for at, (old, new) in enumerate(zip(mutant.before + "\0", mutant.after, strict=False))
        if old != new
    )
    before = (
        source.data[: source.data.index(mutant.before.encode())].decode() + mutant.before[:same]
    )
    return source, before.count("\n") + 1


def read() -> tuple[dict[str, list[int]], list[Mutant]]:
    """Return how many of each layer were caught on day 0, of how many, and the mutants."""
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.exists() else ["{}"]
    return json.loads(lines[0]), [Mutant(**json.loads(line)) for line in lines[1:]]


def write(day0: dict[str, list[int]], mutants: Iterable[Mutant]) -> None:
    """Keep the mutants, sorted by layer, and the shares of day 0."""
    rows = [
        asdict(mutant) for mutant in sorted(mutants, key=lambda mutant: (mutant.layer, mutant.id))
    ]
    KEPT.write_text(
        "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in [day0, *rows]), "utf-8"
    )


# Running


def seed_all(only: str | None, *, again: bool) -> int:
    """Seed what has no result yet, each in turn, in a copy of the checkout; then see that the
    catchers pass without.
    """
    FOLDER.mkdir(exist_ok=True)
    if again:
        RESULTS.unlink(missing_ok=True)
    done = results()
    chosen = [
        mutant for mutant in read()[1] if only in (None, mutant.layer) and mutant.id not in done
    ]
    with tempfile.TemporaryDirectory(prefix="workbench-mutants-") as folder:
        copy = copied(Path(folder) / "checkout")
        for number, mutant in enumerate(chosen, 1):
            begun = time.monotonic()
            said, by = _seeded(mutant, copy)
            row = {"id": mutant.id, "layer": mutant.layer, "said": said, "by": by}
            _note(row | {"seconds": round(time.monotonic() - begun, 1)})
            print(
                f"{number}/{len(chosen)} {mutant.layer}: {said}: {mutant.after.strip()}  {by}",
                flush=True,
            )
        _prove(copy)
    return 0


def _seeded(mutant: Mutant, copy: Path) -> tuple[str, str]:
    """Return what became of a mutant, and the test that failed."""
    holding = [path for path in sources(copy) if mutant.before in path.read_text("utf-8")]
    if len(holding) != 1:
        return "gone", ""
    tests = standing(mutant.tests, copy)
    if not tests:
        return "no test left", ""
    sound = holding[0].read_bytes()
    holding[0].write_bytes(sound.replace(mutant.before.encode(), mutant.after.encode()))
    try:
        done = run(copy, [*tests, "-x", "-m", "not slow", "--hypothesis-seed=0"], PATIENCE_S)
    except subprocess.TimeoutExpired:
        return "caught", "the time"
    finally:
        holding[0].write_bytes(sound)
    found = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", done.stdout, re.MULTILINE)
    return {0: "missed", 5: "no test left"}.get(done.returncode, "caught"), found[
        1
    ] if found else ""


def standing(tests: dict[str, list[str]], root: Path) -> list[str]:
    """Return those tests that are still there: in their file, or under their name in one other."""
    every = {
        name: [str(path.relative_to(root)) for path in paths]
        for name, paths in named_tests(root).items()
    }
    found = []
    for file, names in tests.items():
        for name in names:
            places = [file] if file in every.get(name, ()) else every.get(name, [])
            found += [f"{places[0]}::{name}"] if len(places) == 1 else []
    return found


def _prove(copy: Path) -> None:
    """Run what caught something once more without any mutant; whatever fails then has caught
    nothing.
    """
    rows = list(results().values())
    tests = {
        row["by"]
        for row in rows
        if "::" in row["by"] and row["said"] == "caught" and not row.get("proved")
    }
    if not tests:
        return
    done = run(copy, [*sorted(tests), "-m", "not slow"])
    failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", done.stdout, re.MULTILINE))
    for row in (row for row in rows if row["by"] in tests):
        _note(row | ({"said": "doubtful"} if row["by"] in failed else {"proved": True}))
    print(f"{len(tests)} tests caught something; without a mutant fail: {sorted(failed) or 'none'}")


def _note(row: Mapping[str, object]) -> None:
    with RESULTS.open("a", encoding="utf-8") as out:
        out.write(f"{json.dumps(row)}\n")


def results() -> dict[str, dict[str, str]]:
    """Return the last result of each mutant."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    return {row["id"]: row for row in map(json.loads, lines)}


def report(*, keep: bool) -> int:
    """Print the share caught per layer beside that of day 0, and what is newly missed; 1 when a
    layer is worse.
    """
    (day0, mutants), done = read(), results()
    caught = {
        mutant.id: done[mutant.id]["said"] == "caught" for mutant in mutants if mutant.id in done
    }
    shares: dict[str, list[int]] = {}
    for layer in sorted({mutant.layer for mutant in mutants}):
        held = [
            caught[mutant.id] for mutant in mutants if mutant.layer == layer and mutant.id in caught
        ]
        shares[layer] = [sum(held), len(held)]
        before = day0.get(layer, [0, 0])
        print(
            f"{layer:<10} {sum(held):>3} of {len(held):>3} caught ({_share(shares[layer])}), day 0: {_share(before)}"
        )
    total = [sum(column) for column in zip(*shares.values(), strict=True)]
    print(f"{'all':<10} {total[0]:>3} of {total[1]:>3} caught ({_share(total)})")
    for mutant in mutants:
        if mutant.id in done and not caught[mutant.id]:
            news = "NEWLY missed" if mutant.caught else done[mutant.id]["said"]
            print(
                f"  {mutant.layer}: {news}: {mutant.before.strip()!r} -> {mutant.after.strip()!r}"
            )
    if keep:
        write(shares, (replace(mutant, caught=caught.get(mutant.id)) for mutant in mutants))
    worse = [
        layer
        for layer, (n, of) in shares.items()
        if layer in day0 and n * day0[layer][1] < day0[layer][0] * of
    ]
    print(
        f"Worse than on day 0: {', '.join(worse)}" if worse else "No layer is worse than on day 0."
    )
    return int(bool(worse))


def _share(counts: list[int]) -> str:
    return f"{100 * counts[0] / counts[1]:.0f} %" if counts[1] else "-"


def main(arguments: list[str]) -> int:
    """Do what is asked; see the module."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("what", choices=("record", "draw", "run", "report"))
    parser.add_argument("--layer", help="draw, run: of this layer only")
    parser.add_argument("--again", action="store_true", help="run: forget the results so far")
    parser.add_argument(
        "--keep", action="store_true", help="report: these shares are those of day 0"
    )
    asked, rest = parser.parse_known_args(arguments)
    if asked.what == "record":
        return record(rest)
    if rest:
        parser.error(f"only `record` hands something on to pytest: {' '.join(rest)}")
    if asked.what == "draw":
        return draw(asked.layer)
    return (
        seed_all(asked.layer, again=asked.again) if asked.what == "run" else report(keep=asked.keep)
    )
