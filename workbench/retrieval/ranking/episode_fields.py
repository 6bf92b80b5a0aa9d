"""What the score of episodes reads of each memory, beside the columns that every ranking needs."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from workbench.core.tuning.episodic import domains_of, success_of, use_of
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.memory_rows import MemoryRows


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeFields:
    """One value per memory: whether it is an episode, its success (NaN: unknown), its use, and what it is about.

    `domain` holds indexes into `domains`; each entry of those is a tuple of names.
    """

    episode: Mask
    success: Column
    use: Column
    domain: Rows
    domains: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, memories: MemoryRows) -> Self:
        """Read the fields of all memories."""
        count = len(memories)
        kinds = memories.values("memory_type")
        metadata = [found if isinstance(found, dict) else {} for found in memories.values("metadata")]
        success = (success_of(one) for one in metadata)
        reads = (found if isinstance(found, int) else 0 for found in memories.values("access_count"))
        names: dict[tuple[str, ...], int] = {}
        rows = zip(memories.values("category"), memories.values("section"), metadata, strict=True)
        about = (domains_of(str(category or ""), str(section or ""), one) for category, section, one in rows)
        return cls(
            np.fromiter(((kind or "episodic") == "episodic" for kind in kinds), np.bool_, count),
            np.fromiter((np.nan if value is None else value for value in success), np.float64, count),
            np.fromiter(map(use_of, reads), np.float64, count),
            np.fromiter((names.setdefault(name, len(names)) for name in about), np.intp, count),
            tuple(names),
        )
