"""What other tools read of a team's store: the memories that agents are served."""

from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from workbench.config import paths
from workbench.core.record import StoreProblem
from workbench.core.stream.memory import SERVED
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.text_keys import text_key
from workbench.services.open import Workbench
from workbench.services.safety.masking import served_name
from workbench.services.safety.provenance import provenances_of
from workbench.services.team.reach import connected
from workbench.services.tuning.retriever import Texts
from workbench.store.team import items
from workbench.store.team.items import DIMENSIONS, Index, Item
from workbench.store.team.log import connect


class Filled(NamedTuple):
    """How many memories and vectors other tools read, and the revision that they are of. Without
    the extension `vector` there are none, nor where the model makes others than it `takes`.
    """

    items: int
    vectors: int
    revision: int
    has_extension: bool
    takes: bool


def fill(bench: Workbench) -> Filled:
    """Let other tools read a team's store as it is now. Its secrets are masked; what gives orders
    or hides characters stays out, unless a person allowed it. Raises `StoreProblem`.
    """
    library = bench.library
    address = paths.team_address(library.folder)
    if not address:
        raise StoreProblem("This is a store of your own.", "Other tools read a team's.")
    if library.away is not None:
        raise library.away
    ranker = bench.retriever.load()
    rows = dict(_items(bench, ranker.pool))
    _, revision, mark = library.named_state
    with closing(connected(address, library.folder)) as log:
        has_extension, takes = items.has_vectors(log), ranker.vectors.shape[1] == DIMENSIONS
        vectors = {}
        if has_extension and takes:
            vectors = {item.key: ranker.vectors[row].tolist() for row, item in rows.items()}
        index = Index(revision, mark, bench.retriever.embedder.fingerprint)
        items.fill(log, index, [*rows.values()], vectors)
    return Filled(len(rows), len(vectors), revision, has_extension, takes)


def _items(bench: Workbench, pool: Pool) -> Iterator[tuple[int, Item]]:
    """Yield the memories that agents are served, by their rows."""
    served = [
        (row, memory)
        for row, memory in enumerate(pool.memories)
        if memory.status in SERVED and not bench.safety.held_from_agents(memory)
    ]
    known = provenances_of(bench.context, [memory for _, memory in served])
    texts = Texts(pool)
    for row, memory in served:
        text = texts[row]
        yield (
            row,
            Item(
                served_name(memory.id, bench.safety.findings),
                text,
                text_key(text),
                memory.memory_type,
                known["memories", memory.id].approved,
                memory.created_at,
                memory.last_accessed_at,
                memory.importance_score,
                float(memory.net_marks),
                memory.pinned,
            ),
        )


def lacks_extension(address: str) -> bool:
    """Tell whether the database of a team's store cannot take vectors. Raises `StoreProblem`."""
    with closing(connect(address)) as log:
        return not items.has_vectors(log)
