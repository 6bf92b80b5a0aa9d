"""What questions reach over the memories that may be served: the best cosine and the best full-text score."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path

from workbench.core.errors import WorkStopped
from workbench.core.tuning.floor import ENOUGH, OF_OTHERS, Floor, Reach, floor_of, written
from workbench.core.words import ENGLISH, script_of
from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.fulltext import lexical_file
from workbench.retrieval.ranking.cases import AskedScores
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text import text_of

BACKGROUND = Path(__file__).with_name("background")
"""Questions from many fields, a file for each language, one a line; a store has nothing to do with nearly all."""

CELLS = 1 << 21
"""Cosines held at a time (8 MB): as many questions as have room are put in one matrix product."""

Cancelled = Callable[[], bool]


@cache
def background() -> Mapping[str, tuple[str, ...]]:
    """Return the background questions of each language."""
    files = sorted(BACKGROUND.glob("*.txt"))
    return {file.stem: tuple(file.read_text("utf-8").splitlines()) for file in files}


@cache
def edition() -> str:
    """Name the background questions, and how texts are searched, by their content: 16 hexadecimal digits."""
    asked = "\n".join((lexical_file.edition(), *chain.from_iterable(background().values())))
    return blake2b(asked.encode(), digest_size=8).hexdigest()


def reach_of(scores: AskedScores, served: Mask) -> Reach | None:
    """Return what a query reaches over the rows of a mask, `None` when it has none."""
    if not served.any():
        return None
    known = scores.known is None or bool((scores.known & served).any())
    cosine, lexical, memory = (float(c[served].max()) for c in (scores.dense, scores.lexical, scores.relevance))
    return Reach(cosine, lexical, memory, known)


def weak_rows(floor: Floor, scores: AskedScores, rows: Rows) -> Mask:
    """Tell of each of some rows whether it is weak: the fast form of `Floor.is_weak`."""
    found: Mask = (scores.relevance[rows] < floor.memory) & (scores.lexical[rows] < ENOUGH)
    return found


def floors_of(ranker: Ranker, served: Mask, cancelled: Cancelled | None = None) -> dict[str, Floor]:
    """Return the floor of each script in which enough is written: the highest of its languages.

    Languages in Latin letters have one each, those that the store has; so has English, where it has any of them.
    Raises `WorkStopped` when `cancelled()` becomes true.
    """
    scripts = written(text_of(*text) for text, taken in zip(ranker.pool.memories.texts(), served, strict=True) if taken)
    floors: dict[str, Floor] = {}
    for language, questions in background().items():
        script = script_of(questions[0])
        name, is_other = (language, language != ENGLISH) if script == "latin" else (script, False)
        if script in scripts and (not is_other or language in ranker.lexical.languages):
            found = list(reached(ranker, served, questions, cancelled))
            floor = floor_of(found, OF_OTHERS) if is_other else floor_of(found)
            floors[name] = max(floors.get(name, floor), floor, key=lambda one: one.query)
    return floors


def reached(
    ranker: Ranker, served: Mask, questions: Sequence[str], cancelled: Cancelled | None = None
) -> Iterator[Reach]:
    """Yield what each question reaches over the rows of a mask, which has at least one.

    Raises `WorkStopped` when `cancelled()` becomes true.
    """
    for scores in ranker.relevances(questions, max(1, CELLS // len(served))):
        if cancelled is not None and cancelled():
            raise WorkStopped("The background questions were stopped.", "The floor is computed next time.")
        if (reach := reach_of(scores, served)) is not None:
            yield reach
