"""Grow-and-refine (source 003, ACE): bullets that say the same, found, merged, kept both, and parted again."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from workbench.bench.context import Context
from workbench.bench.playbook import Playbooks, write_book
from workbench.core import delta
from workbench.core.dedup import DedupThresholds, PairVerdict, judge_pair
from workbench.core.duplicates import complete_groups
from workbench.core.errors import WorkbenchError
from workbench.core.kept_pair import kept_pair, pair_id, texts_mark
from workbench.core.playbook import Bullet
from workbench.core.split import split

if TYPE_CHECKING:
    from workbench.bench.retriever import Retriever

LARGEST = 12
"""Members of a group of near-duplicates at most."""

Kind = Literal["exact", "case", "near"]


@dataclass(frozen=True, slots=True)
class BulletPair:
    """Two bullets, their cosine (−1…1), and what speaks for and against making one of them."""

    left: Bullet
    right: Bullet
    similarity: float
    verdict: PairVerdict


@dataclass(frozen=True, slots=True)
class BulletGroup:
    """Bullets that may be one: byte for byte the same, the same but for case, or near each other.

    The first one is proposed to be kept: the most helpful, of those the first in the file.
    """

    kind: Kind
    bullets: tuple[Bullet, ...]
    pairs: tuple[BulletPair, ...]

    @property
    def similarity(self) -> float:
        """The cosine of the two that are least alike."""
        return min(pair.similarity for pair in self.pairs)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What lets two of them say different things, in short words, each once."""
        return tuple(dict.fromkeys(text for pair in self.pairs for text in pair.verdict.conflicts))


class BookRefiner:
    """Finds and settles duplicates in a playbook."""

    def __init__(self, context: Context, playbooks: Playbooks, retriever: "Callable[[], Retriever]") -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._retriever = retriever

    def same(self, book: str) -> tuple[BulletGroup, ...]:
        """Return the groups with one text, and those with one text but for case; needs no model."""
        bullets = _living(self._playbooks.open(book).bullets)
        exact = [group for group in _by(bullets, lambda b: b.content) if len(group) > 1]
        inside = {b.id for group in exact for b in _ranked(group)[1:]}
        folded = _by([b for b in bullets if b.id not in inside], lambda b: " ".join(b.content.casefold().split()))
        found = [_equal("exact", group) for group in exact]
        found += [_equal("case", group) for group in folded if len(group) > 1]
        return tuple(group for group in found if not self._kept(group))

    def groups(self, book: str, threshold: float | None = None) -> tuple[BulletGroup, ...]:
        """Return every group of duplicates: equal texts first, then those above a cosine, the closest first.

        `threshold` is the model's own for a flag unless given. Pairs that are kept both are left out.
        """
        same = self.same(book)
        retriever = self._retriever()
        limit = threshold if threshold is not None else retriever.thresholds().flag
        gone = {b.id for group in same for b in group.bullets[1:]}
        bullets = [b for b in _living(self._playbooks.open(book).bullets) if b.id not in gone]
        near = sorted(self._near(bullets, retriever, limit), key=lambda group: -group.similarity)
        return (*same, *near)

    def _near(self, bullets: Sequence[Bullet], retriever: "Retriever", limit: float) -> list[BulletGroup]:
        from workbench.retrieval.close_pairs import close_pairs
        from workbench.retrieval.fuzzy import order_similarity

        if len(bullets) < 2:
            return []
        vectors = retriever.vectors([b.content for b in bullets])
        found = close_pairs(vectors, limit, len(bullets) * LARGEST, lambda _done, _of: None)
        cosine = {
            (min(a, b), max(a, b)): float(c)
            for a, b, c in zip(found.left.tolist(), found.right.tolist(), found.cosines.tolist(), strict=True)
        }
        free = {pair: c for pair, c in cosine.items() if not self._is_kept(bullets[pair[0]], bullets[pair[1]])}

        def judged(a: int, b: int) -> BulletPair:
            one, other = bullets[a], bullets[b]
            order = order_similarity(one.content, other.content)
            limits = DedupThresholds(flag=min(limit, free[a, b]), order=self._context.settings.thresholds.order)
            return BulletPair(one, other, free[a, b], judge_pair(other.content, one.content, free[a, b], order, limits))

        ranked = sorted(free, key=lambda pair: (-free[pair], pair))
        members = complete_groups(ranked, lambda a, b: (min(a, b), max(a, b)) in free, LARGEST)
        return [
            BulletGroup(
                "near", _ranked([bullets[i] for i in group]), tuple(judged(a, b) for a, b in combinations(group, 2))
            )
            for group in members
        ]

    def merge(self, book: str, ids: Sequence[str], content: str, keep: str) -> None:
        """Make one bullet of several, with a text of the person's choice; votes are summed once, ids become aliases."""
        self._playbooks.apply(book, delta.Merge(tuple(ids), content, keep), f"merge {', '.join(ids)} into {keep}")

    def merge_same(self, book: str, groups: Sequence[BulletGroup]) -> int:
        """Merge every group of equal texts, as one action; return how many bullets that saves.

        Raises `WorkbenchError` when a text changed since the groups were found.
        """
        operations: list[delta.Operation] = []
        for group in groups:
            for bullet in group.bullets:
                if self._playbooks.bullet(book, bullet.id).content != bullet.content:
                    raise WorkbenchError(f"{bullet.id} was changed meanwhile.", "Nothing was merged; look again.")
            kept = group.bullets[0]
            operations.append(delta.Merge(tuple(b.id for b in group.bullets), kept.content, kept.id))
        if operations:
            count = len(operations)
            self._playbooks.apply_all(book, operations, f"merge {count} {'pair' if count == 1 else 'groups'} of equals")
        return sum(len(group.bullets) - 1 for group in groups)

    def keep_both(self, group: BulletGroup) -> None:
        """Note that the bullets of a group are to stay apart, with their true similarity, until a text changes."""
        now, actor = self._context.now(), self._context.actor
        names = ", ".join(b.id for b in group.bullets)
        with self._library.transaction(actor, f"keep {names} apart") as tx:
            for pair in group.pairs:
                tx.put(kept_pair(pair.left, pair.right, pair.similarity, actor, now))

    def part(self, book: str, id: str) -> tuple[str, ...]:
        """Take the latest merge of a bullet apart; return the ids of all that are there again."""
        with self._library.transaction(self._context.actor, f"split {id}") as tx:
            before = self._playbooks.open(book)
            after = split(before, id, self._context.now())
            write_book(tx, before, after)
        known = {b.id for b in before.bullets}
        return (id, *(b.id for b in after.bullets if b.id not in known))

    def _kept(self, group: BulletGroup) -> bool:
        return all(self._is_kept(pair.left, pair.right) for pair in group.pairs)

    def _is_kept(self, one: Bullet, other: Bullet) -> bool:
        found = self._library.kept_pairs.find(pair_id(one, other))
        return found is not None and found.texts == texts_mark(one, other)


def _living(bullets: Sequence[Bullet]) -> list[Bullet]:
    return [b for b in bullets if b.state != "deprecated"]


def _equal(kind: Kind, bullets: Sequence[Bullet]) -> BulletGroup:
    ranked = _ranked(bullets)
    verdict = PairVerdict("absorb", ("the same text" if kind == "exact" else "the same text but for case and blanks",))
    return BulletGroup(kind, ranked, tuple(BulletPair(ranked[0], other, 1.0, verdict) for other in ranked[1:]))


def _ranked(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    return tuple(sorted(bullets, key=lambda b: (not b.pinned, b.harmful_count - b.helpful_count)))


def _by(bullets: Sequence[Bullet], key: Callable[[Bullet], str]) -> list[list[Bullet]]:
    found: defaultdict[str, list[Bullet]] = defaultdict(list)
    for bullet in bullets:
        found[key(bullet)].append(bullet)
    return list(found.values())
