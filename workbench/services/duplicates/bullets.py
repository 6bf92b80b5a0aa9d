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
from workbench.services.duplicates.comparing import (
    BULLETS,
    LARGEST,
    Comparison,
    Group,
    Judge,
    Kind,
    Likeness,
    classes,
    equal_group,
)
from workbench.services.playbook.playbook import Playbooks, write_book

if TYPE_CHECKING:
    from workbench.services.tuning.retriever import Retriever


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
        return Judge(BULLETS, self._context.settings.thresholds)

    def same(self, book: str) -> tuple[Group[Bullet], ...]:
        """Return the groups with one text, and those with one text but for case; needs no model."""
        return _same(self._living(book), self._library.kept_apart())

    def likeness(self, book: str) -> Likeness[Bullet]:
        """Compare every bullet with every other; loads the model. Pairs that are kept both are left
        out.
        """
        every, is_kept = self._living(book), self._library.kept_apart()
        same, retriever = _same(every, is_kept), self._retriever()
        gone = {id for group in same for id in group.ids[1:]}
        bullets = [b for b in every if b.id not in gone]
        vectors = retriever.vectors([b.content for b in bullets])
        most = max(1, len(bullets)) * LARGEST
        found = Comparison(bullets, vectors, self._judge, is_kept, most=most)
        return Likeness(same, found, retriever.thresholds(), len(every), is_kept.count(every))

    def groups(self, book: str, threshold: float | None = None) -> tuple[Group[Bullet], ...]:
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
        with self._context.transaction(f"merge {len(bullets)} bullets into {keep}"):
            self._require_unchanged(book, bullets)
            self.merge(book, [b.id for b in bullets], content, keep)

    def merge_same(self, book: str, groups: Sequence[Group[Bullet]]) -> None:
        """Merge every group of equal texts, as one action.

        Raises `WorkbenchError` when a text changed since the groups were found.
        """
        operations: list[delta.Operation] = []
        for group in groups:
            self._require_unchanged(book, group.members)
            kept = group.members[0]
            operations.append(delta.Merge(group.ids, kept.content, kept.id))
        if operations:
            count = len(operations)
            self._playbooks.apply(
                book, f"merge {count} {'pair' if count == 1 else 'groups'} of equals", *operations
            )

    def keep_both(self, group: Group[Bullet]) -> None:
        """Note that the bullets of a group are to stay apart, with their true similarity, until a
        text changes.
        """
        now, actor = self._context.now(), self._context.actor
        with self._library.transaction(actor, f"keep {', '.join(group.ids)} apart") as tx:
            for pair in group.pairs:
                tx.put(kept_pair(pair.left, pair.right, pair.similarity, actor, now))

    def part(self, book: str, id: str) -> tuple[str, ...]:
        """Take the latest merge of a bullet apart; return the ids of all that are there again."""
        with self._context.transaction(f"split {id}") as tx:
            before = self._playbooks.open(book)
            after = split(before, id, self._context.now())
            write_book(tx, before, after)
        known = {b.id for b in before.bullets}
        return (id, *(b.id for b in after.bullets if b.id not in known))

    def _living(self, book: str) -> list[Bullet]:
        """Return the bullets that count: deprecated ones take no part."""
        return [b for b in self._playbooks.open(book).bullets if b.state != "deprecated"]

    def _require_unchanged(self, book: str, bullets: Sequence[Bullet]) -> None:
        for bullet in bullets:
            if self._playbooks.bullet(book, bullet.id).content != bullet.content:
                raise WorkbenchError(
                    f"{bullet.id} was changed meanwhile.", "Nothing was merged; look again."
                )


def _same(bullets: Sequence[Bullet], is_kept: KeptApart) -> tuple[Group[Bullet], ...]:
    """Return the groups with one text in one section, then those with one text but for case and
    white space, unless all of one are kept apart.
    """
    found, gone = list[Group[Bullet]](), set[str]()
    kinds: tuple[Kind, ...] = ("exact", "case")
    for kind, form in zip(kinds, BULLETS.forms, strict=True):
        rest = [b for b in bullets if b.id not in gone]
        groups = [
            equal_group(kind, part, BULLETS)
            for part in classes(rest, BULLETS, form)
            if len(part) > 1
        ]
        gone.update(id for group in groups for id in group.ids[1:])
        found += groups
    return tuple(g for g in found if not all(is_kept(p.left, p.right) for p in g.pairs))
