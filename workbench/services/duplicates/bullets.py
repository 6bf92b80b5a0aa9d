"""Grow-and-refine (source 003, ACE): bullets that say the same, found, merged, kept both, and
parted again.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.core.duplicates.groups import KeptApart, kept_pair
from workbench.core.playbook import operations as delta
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.operations import split
from workbench.core.record import WorkbenchError
from workbench.services.context import Context
from workbench.services.duplicates.bullet_groups import (
    BULLETS,
    LARGEST,
    BulletGroup,
    Comparison,
    Judge,
    Likeness,
    equal_groups,
    living,
)
from workbench.services.playbook.playbook import Playbooks, write_book

if TYPE_CHECKING:
    from workbench.services.tuning.retriever import Retriever


REMEMBERED = 8192
"""Verdicts about two texts that are kept."""


class BulletDuplicates:
    """Finds and settles duplicates in a playbook. What only reads may be called from any thread."""

    def __init__(
        self, context: Context, playbooks: Playbooks, retriever: "Callable[[], Retriever]"
    ) -> None:
        self._context = context
        self._library = context.library
        self._playbooks = playbooks
        self._retriever = retriever

    @cached_property
    def _judge(self) -> Judge[Bullet]:
        return Judge(BULLETS, self._context.settings.thresholds, REMEMBERED)

    def same(self, book: str) -> tuple[BulletGroup, ...]:
        """Return the groups with one text, and those with one text but for case; needs no model."""
        return self._same(living(self._playbooks.open(book).bullets), self._library.kept_apart())

    def likeness(self, book: str) -> Likeness:
        """Compare every bullet with every other; loads the model. Pairs that are kept both are left
        out.
        """
        every, is_kept, retriever = (
            living(self._playbooks.open(book).bullets),
            self._library.kept_apart(),
            self._retriever(),
        )
        same, kept = self._same(every, is_kept), is_kept.count(every)
        gone = {b.id for group in same for b in group.bullets[1:]}
        bullets = [b for b in every if b.id not in gone]
        flag = retriever.thresholds().flag
        if len(bullets) < 2:
            return Likeness(same, None, flag, kept)
        vectors, most = retriever.vectors([b.content for b in bullets]), len(bullets) * LARGEST
        return Likeness(
            same, Comparison(bullets, vectors, self._judge, is_kept, most=most), flag, kept
        )

    def groups(self, book: str, threshold: float | None = None) -> tuple[BulletGroup, ...]:
        """Return every group of duplicates: equal texts first, then those above a cosine, the
        closest first.

        `threshold` is the model's own for a flag unless given. Pairs that are kept both are left
        out.
        """
        return self.likeness(book).groups(threshold)

    def merge(self, book: str, ids: Sequence[str], content: str, keep: str) -> None:
        """Make one bullet of several, with a text of the person's choice; votes are summed once,
        ids become aliases.
        """
        label = (
            f"merge {len(ids)} bullets into {keep}"
            if len(ids) > 3
            else f"merge {', '.join(ids)} into {keep}"
        )
        self._playbooks.apply(book, label, delta.Merge(tuple(ids), content, keep))

    def outcome(self, book: str, ids: Sequence[str], content: str, keep: str) -> Bullet:
        """Return the bullet that a merge would leave; writes nothing. Raises `WorkbenchError` when
        it is impossible.
        """
        after = delta.apply(
            self._playbooks.open(book), delta.Merge(tuple(ids), content, keep), self._context.now()
        )
        return delta.find_bullet(after, keep)

    def merge_unchanged(
        self, book: str, bullets: Sequence[Bullet], content: str, keep: str
    ) -> None:
        """Merge bullets that a person has looked at; raises `WorkbenchError` when a text changed
        since.
        """
        with self._library.transaction(
            self._context.actor, f"merge {len(bullets)} bullets into {keep}"
        ):
            self._require_unchanged(book, bullets)
            self.merge(book, [b.id for b in bullets], content, keep)

    def merge_same(self, book: str, groups: Sequence[BulletGroup]) -> int:
        """Merge every group of equal texts, as one action; return how many bullets that saves.

        Raises `WorkbenchError` when a text changed since the groups were found.
        """
        operations: list[delta.Operation] = []
        for group in groups:
            self._require_unchanged(book, group.bullets)
            kept = group.bullets[0]
            operations.append(delta.Merge(group.ids, kept.content, kept.id))
        if operations:
            count = len(operations)
            self._playbooks.apply(
                book, f"merge {count} {'pair' if count == 1 else 'groups'} of equals", *operations
            )
        return sum(len(group.bullets) - 1 for group in groups)

    def keep_both(self, group: BulletGroup) -> None:
        """Note that the bullets of a group are to stay apart, with their true similarity, until a
        text changes.
        """
        now, actor = self._context.now(), self._context.actor
        with self._library.transaction(actor, f"keep {', '.join(group.ids)} apart") as tx:
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

    def _same(self, bullets: Sequence[Bullet], is_kept: KeptApart) -> tuple[BulletGroup, ...]:
        found = equal_groups(bullets, self._judge)
        return tuple(
            group
            for group in found
            if not all(is_kept(pair.left, pair.right) for pair in group.pairs)
        )

    def _require_unchanged(self, book: str, bullets: Sequence[Bullet]) -> None:
        for bullet in bullets:
            if self._playbooks.bullet(book, bullet.id).content != bullet.content:
                raise WorkbenchError(
                    f"{bullet.id} was changed meanwhile.", "Nothing was merged; look again."
                )
