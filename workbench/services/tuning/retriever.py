"""Keeps the ranking in step with the store.

Loading the model and the vectors takes a moment, so it happens when `load` is called (on any
thread); everything else works meanwhile. Changes of the store are noted as they happen and taken
over when somebody next asks.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from workbench.core.limits import DedupThresholds, Thresholds
from workbench.core.playbook.book import Bullet
from workbench.core.runtime import Cancelled, Progress, may_stop
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store
from workbench.retrieval.arrays import Rows, Vectors
from workbench.retrieval.embedding.close_pairs import VERSION, unknown, with_words, worded
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.embedding.vectors import GrowingMatrix, VectorCache, near_pairs, nearest
from workbench.retrieval.fulltext.lexical import OVERLAY, LexicalCache, LexicalIndex
from workbench.retrieval.fulltext.thesaurus import Near
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text_keys import Keys, searched_text, text_keys
from workbench.safety.scanning import mask
from workbench.services import caches
from workbench.services.context import Changed, Context, Service
from workbench.store.library import Library

if TYPE_CHECKING:
    from workbench.services.agents.episode_finding import EpisodePools
    from workbench.services.agents.patterns import PatternIndexes


# The pool of a large store as it is kept between two questions.


class KeptPool:
    """Reads and keeps the columns of a store's pool, in a `folder` of its caches; only of a store
    that is indexed.

    What is kept is of the state that `memory.json` is of; what was changed since is put on top.
    """

    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self._folder = folder
        self._of = ""

    @property
    def is_due(self) -> bool:
        """Whether the store is in another state than the one that was read or kept last."""
        return self._library.saved not in ("", self._of)

    def read(self) -> Pool | None:
        """Return the pool of the store as it is now; `None` where memories have to be read for it."""
        since = self._library.since_saved(Memory)
        if since is None or since.removed:
            return None
        pool = Pool.kept(
            self._folder, since.saved, lambda doc_id: self._library.memories.at([doc_id])[0]
        )
        if pool is None:
            return None
        self._of = since.saved
        changed = self._library.memories.at(since.changed)
        if len(changed) != len(since.changed):
            return None
        known = [memory for memory in changed if memory.id in pool.row_of]
        new = [memory for memory in changed if memory.id not in pool.row_of]
        pool = pool.with_replaced(known) if known else pool
        pool = pool.with_added(new) if new else pool
        return pool if len(pool) == len(self._library.memories) else None

    def write(self, pool: Pool) -> None:
        """Keep a pool that all memories of the store as it is now were read for."""
        saved = self._of = self._library.saved
        places = [self._library.memories.doc_id_of(id) for id in pool.row_of] if saved else []
        if saved and len(pool) == len(self._library.memories):
            found = [place for place in places if place is not None]
            if len(found) == len(places):
                pool.keep(self._folder, saved, found)


class Retriever:
    """The store's ranker, its model and its vectors; loads on demand and follows the store."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._lock = threading.RLock()
        self._changed = Changed(context.library, "memories")
        self._embedder: Embedder | None = None
        self._cache: VectorCache | None = None
        self._texts = LexicalCache(context.caches / "text")
        self._kept = KeptPool(context.library, context.caches / "columns")
        self._ranker: Ranker | None = None
        self._thresholds: Thresholds | None = None
        self._matrix = GrowingMatrix(np.zeros((0, 1), np.float32))
        self._compared = (np.zeros((0, 1), np.float32), np.zeros((0, 1), np.float32))

    @property
    def ready(self) -> bool:
        """Whether the model and the index are loaded."""
        return self._ranker is not None

    def load(self, progress: Progress | None = None, cancelled: Cancelled | None = None) -> Ranker:
        """Load whatever is not loaded yet.

        `progress` is told how many of the texts that the caches do not know are embedded, then how
        many are indexed. Raises `UnreadableFile` when the model cannot be loaded, `WorkStopped` or
        `Stopped`.
        """
        with self._lock:
            if self._ranker is None:
                self._changed.take()
                self._ranker = self._loaded(self._pool(), progress, cancelled)
            return self.ranker()

    def ranker(self) -> Ranker:
        """Return the ranker for the store as it is now."""
        with self._lock:
            if self._ranker is None:
                return self.load()
            if self._changed:
                self._follow(self._ranker)
            return self._ranker

    def ranker_of(self, memories: Sequence[Memory], cancelled: Cancelled | None = None) -> Ranker:
        """Return a ranker over other memories than those of now, such as those of a past revision.

        Raises as `load` does.
        """
        pool = Pool.build(memories)
        texts = [*Texts(pool)]  # each is masked once
        pool.take_keys(text_keys(texts))
        with self._lock:
            vectors = self._vectors(texts, pool.text_keys, cancelled=cancelled)
        index = LexicalIndex.build(texts)
        return Ranker(pool, vectors, index, self.embedder.embed, related=self.related)

    def follow(self) -> None:
        """Take over what changed, so that the next question does not wait for that; nothing where
        none was asked.
        """
        if self._ranker is not None:
            self.ranker()

    def vouched(self) -> Pool:
        """Return the memories as columns, as they are now, without waiting for the model or for who
        is loading it.
        """
        return self._pool() if self._ranker is None else self.ranker().pool

    def keep(self) -> None:
        """Keep what was read of a large store for the next question, if it was read and is not kept
        yet.
        """
        with self._lock:
            if self._ranker is not None and self._kept.is_due:
                self._kept.write(self.ranker().pool)

    def close(self) -> None:
        """Let go of what was loaded; does not wait for who is still loading."""
        self._ranker = None

    @cached_property
    def episodes(self) -> "EpisodePools":
        """What is searched of the store's episodes; it follows the store on its own."""
        from workbench.services.agents.episode_finding import EpisodePools

        return EpisodePools(self._context, self.vectors)

    @cached_property
    def patterns(self) -> "PatternIndexes":
        """The indexes over the store's patterns; they follow the store on their own."""
        from workbench.services.agents.patterns import PatternIndexes

        return PatternIndexes(self._library)

    @property
    def embedder(self) -> Embedder:
        """The embedding model, loaded when first asked for."""
        with self._lock:
            if self._embedder is None:
                self._embedder = Embedder(self._context.settings.model)
                # What cannot be written is kept in memory.
                with contextlib.suppress(OSError):
                    caches.begin(self._context.caches, self._library.folder)
                folder = self._context.caches / "vectors"
                self._cache = VectorCache(folder, self._embedder.fingerprint, self._embedder.dim)
            return self._embedder

    def use_thresholds(self, thresholds: Thresholds) -> None:
        """Hold these from now on: a person has just chosen them."""
        self._thresholds = thresholds

    def thresholds(self) -> Thresholds:
        """Return where similarity is worth a flag or a look: the settings' values, else the model's
        own.
        """
        if self._thresholds is not None:
            return self._thresholds
        own, chosen = (
            self.embedder.thresholds(self.ranker().vectors),
            self._context.settings.thresholds,
        )
        given = self._context.given
        return Thresholds(
            chosen.flag if "thresholds.duplicate" in given else own.flag,
            chosen.review if "thresholds.review" in given else own.review,
        )

    def limits(self) -> DedupThresholds:
        """Return those thresholds with the settings' ordered similarity, from which a duplicate may
        be absorbed.
        """
        found = self.thresholds()
        return DedupThresholds(found.flag, found.review, self._context.settings.thresholds.order)

    def vector(self, text: str) -> Vectors:
        vector: Vectors = self.embedder.embed([text])[0]
        return vector

    def nearest_memories(
        self, text: str, k: int = 10, exclude: Iterable[str] = ()
    ) -> tuple[tuple[Memory, float], ...]:
        """Return the memories most similar to a text, archived ones too, with their cosine."""
        ranker = self.ranker()
        mask = np.ones(len(ranker.pool), np.bool_)
        for id in exclude:
            row = ranker.pool.row_of.get(id)
            if row is not None:
                mask[row] = False
        rows, cosines = nearest(self._worded(text), self._matrix_compared(ranker), k, mask)
        return tuple(
            (ranker.pool.memories[r], float(c))
            for r, c in zip(rows.tolist(), cosines.tolist(), strict=True)
        )

    def vectors(
        self,
        texts: Sequence[str],
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Vectors:
        """Return the vectors of texts that are no memories, or not yet, shape (n, dim); raises
        `WorkStopped`.
        """
        with self._lock:
            return self._vectors(
                [clean_for_store(text) for text in texts], None, progress, cancelled
            )

    def near_memories(self, vectors: Vectors, least: float) -> list[list[tuple[Memory, float]]]:
        """Return for each of the `comparable` vectors the memories, archived too, with a cosine of
        `least` or more.
        """
        ranker = self.ranker()
        found: list[list[tuple[Memory, float]]] = [[] for _ in vectors]
        for text, row, cosine in zip(
            *(part.tolist() for part in near_pairs(vectors, self._matrix_compared(ranker), least)),
            strict=True,
        ):
            found[text].append((ranker.pool.memories[row], cosine))
        return found

    def nearest_bullets(
        self, text: str, k: int = 3, shown: Callable[[str], str] = str
    ) -> tuple[tuple[Bullet, float], ...]:
        """Return the playbook bullets most similar to a text, with their cosine; by their texts as
        they are `shown`.
        """
        bullets = self._library.bullets.all()
        if not bullets:
            return ()
        texts = [shown(b.content) for b in bullets]
        vectors = with_words(self._vectors(texts), texts)
        rows, cosines = nearest(self._worded(text), vectors, k, np.ones(len(bullets), np.bool_))
        return tuple(
            (bullets[r], float(c)) for r, c in zip(rows.tolist(), cosines.tolist(), strict=True)
        )

    def comparable(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts for finding what is close; by words where the model does not
        know them.
        """
        return with_words(self.vectors(texts), texts)

    def comparable_memories(self, rows: Sequence[int]) -> Vectors:
        """Return the vectors of some of the ranker's memories for the same."""
        return self._matrix_compared(self.ranker())[np.array(rows, np.intp)]

    def _worded(self, text: str) -> Vectors:
        """Return one text's vector for the same; it is not kept."""
        vector: Vectors = with_words(self.vector(text)[None], [text])[0]
        return vector

    def _matrix_compared(self, ranker: Ranker) -> Vectors:
        with self._lock:
            known, compared = self._compared
            if known is ranker.vectors:
                return compared
            compared, rows = ranker.vectors, unknown(ranker.vectors)
            if len(rows):
                compared = np.array(compared)
                dim, texts = compared.shape[1], Texts(ranker.pool, rows)
                cache = VectorCache(self._context.caches / "vectors", f"{VERSION}-{dim}", dim)
                compared[rows] = cache.vectors_for(
                    texts, partial(worded, dim=dim), keys=ranker.pool.text_keys[rows]
                )
            self._compared = (ranker.vectors, compared)
            return compared

    def _pool(self) -> Pool:
        """Return the pool of all memories that can be read."""
        return self._kept.read() or Pool.build(self._library.memories.all())

    def _loaded(
        self, pool: Pool, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> Ranker:
        """Put a ranker together; the caches give what they know and are told the rest."""
        may_stop()
        texts = Texts(pool)
        if not pool.has_keys:
            pool.take_keys(text_keys(texts))
        keys = pool.text_keys
        may_stop()
        vectors = self._vectors(texts, keys, progress, cancelled)
        may_stop()
        index = self._texts.index(texts, keys, progress, cancelled)
        self._matrix = GrowingMatrix(vectors)
        return Ranker(pool, vectors, index, self.embedder.embed, related=self.related)

    def related(self, stem: str) -> Near:
        """Return the stems that mean nearly the same as one."""
        return self.embedder.thesaurus(self._context.caches / "words").near(stem)

    def _vectors(
        self,
        texts: Sequence[str],
        keys: Keys | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Vectors:
        embedder = self.embedder
        assert self._cache is not None
        return self._cache.vectors_for(texts, embedder.embed, progress, cancelled, keys)

    def _follow(self, old: Ranker) -> None:
        """Take over what changed: new values in place, new rows at the end; a removed row means
        building anew.
        """
        now = {id: self._library.memories.find(id) for _, id in sorted(self._changed.take())}
        if any(m is None and id in old.pool.row_of for id, m in now.items()):
            self._ranker = None
            self.load()
            return
        known = [m for m in now.values() if m is not None and m.id in old.pool.row_of]
        fresh = [m for m in now.values() if m is not None and m.id not in old.pool.row_of]
        ranker = self._with_replaced(old, known) if known else old
        self._ranker = self._with_added(ranker, fresh) if fresh else ranker

    def _with_replaced(self, old: Ranker, memories: list[Memory]) -> Ranker:
        pool = old.pool.with_replaced(memories)
        texts = {old.pool.row(m.id): _text(m) for m in memories}
        _name_as_masked(pool, list(texts), list(texts.values()))
        rows = [row for row in texts if (pool.text_keys[row] != old.pool.text_keys[row]).any()]
        changed = {row: texts[row] for row in rows}
        if not changed:
            return old.moved_to(pool)
        vectors = old.vectors.copy()
        vectors[list(changed)] = self._vectors(list(changed.values()))
        self._matrix = GrowingMatrix(vectors)
        return old.moved_to(pool, vectors, old.lexical.with_replaced(changed))

    def _with_added(self, old: Ranker, memories: list[Memory]) -> Ranker:
        pool, texts = old.pool.with_added(memories), [_text(m) for m in memories]
        _name_as_masked(pool, range(len(old.pool), len(pool)), texts)
        vectors = self._matrix.add(self._vectors(texts))
        if len(texts) <= OVERLAY:
            return old.moved_to(pool, vectors, old.lexical.with_added(texts))
        # So many texts, as of an import, are worth being written to the cache now.
        return old.moved_to(pool, vectors, self._texts.index(Texts(pool), pool.text_keys))


class Texts(Sequence[str]):
    """The searched texts of a pool's memories, or of some of its rows, each made when it is asked
    for.

    Their secrets are masked: by how near a question comes, an agent could find one out.
    """

    def __init__(self, pool: Pool, rows: Rows | None = None) -> None:
        self._memories = pool.memories
        self._rows = range(len(self._memories)) if rows is None else rows.tolist()

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        return _text(self._memories[self._rows[row]])


def _name_as_masked(pool: Pool, rows: Sequence[int], texts: Sequence[str]) -> None:
    """Let the caches know rows by what is searched of them, which differs from what is stored where
    that is secret.
    """
    keys = pool.text_keys.copy()
    keys[rows] = text_keys(texts)
    if (keys != pool.text_keys).any():
        pool.take_keys(keys)


def _text(memory: Memory) -> str:
    return mask(clean_for_store(searched_text(memory)))


class Comparing(Service):
    """Something that compares memories; the vectors are loaded when they are asked for."""

    def __init__(self, context: Context, retriever: Callable[[], Retriever]) -> None:
        super().__init__(context)
        self._retriever = retriever
