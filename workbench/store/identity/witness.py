"""What this machine knows of a store from outside it, beside an open journal: what was stored, and what was checked."""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.core.damage import Damage, Gone
from workbench.store.files import Standstill
from workbench.store.identity import heads
from workbench.store.identity.heads import Head, Range
from workbench.store.identity.trust import stand, trust
from workbench.store.journal import chain
from workbench.store.journal.segments import Position, new_store_id
from workbench.store.journal.tail import Tail


class Witness:
    """Holds an open journal against its head, and notes a new head after each change.

    `store` is the store's id; one is made for a store without any, and the next header carries it. Without a folder
    of heads nothing is remembered. Methods raise `OSError` where they read the journal.
    """

    def __init__(self, heads_folder: Path | None, folder: Path) -> None:
        self.store = ""
        self.gone: tuple[Gone, ...] = ()
        self.highest = 0
        """The highest revision that is known to have been stored, whether it is still there or not."""
        self._heads = heads_folder
        self._folder = folder
        self._place = os.path.realpath(folder)
        self._head: Head | None = None
        self._found: Head | None = None
        self._written = b""
        self._unsure = 0
        self._sound = False
        self._closed = ""
        self._none_closed = Standstill(folder)
        self._trusted = False
        self._strange = False

    @property
    def accepted(self) -> frozenset[Range]:
        """The gaps that somebody accepted, as first and last revision."""
        return frozenset(() if self._head is None else self._head.accepted)

    @property
    def unsure(self) -> int:
        """The revision that may be stored or not, 0 for none."""
        return max(self._unsure, 0 if self._head is None else self._head.unsure)

    def open(self, tail: Tail) -> None:
        """Find the head of the store whose journal was read."""
        found = heads.read(self._heads, tail.store, self._folder)
        self._found = self._head = found
        self._written, self._strange = b"", False
        self.store = tail.store or (found.store if found is not None else "") or self.store or new_store_id()
        self._closed = heads.look_at_closed(self._folder) if self._heads is not None else ""

    def before_writing(self, trusted: bool) -> None:
        """Look, under the write lock, whether what stands there now is trusted: what is written next is then, too."""
        if self._heads is None:
            return
        present = self._present(self._heads)
        if present is None and self._head is not None:
            # Nothing can be kept there, so nothing is to be looked up for it again and again.
            return
        here = present is not None and present.trusted and self._looks_as_in(present)
        # A store that is believed for what a person said outside it holds strange lines as long as nobody trusts it:
        # that takes reading it whole to find out, so it is found out once.
        self._trusted = here or (trusted and not self._strange and stand(self._folder, self._heads)[0].trusted)
        self._strange = trusted and not self._trusted

    def trust(self, rev: int, tail: Tail) -> None:
        """Remember that all that stands there now is trusted, under the write lock."""
        if self._heads is None:
            return
        place, known = tail.place, self._head or Head(self._place, self.store, rev, tail.mark)
        trust(self._folder, self._heads, self.store)
        self._closed = heads.look_at_closed(self._folder)
        self._head = known._replace(
            store=self.store, rev=rev, mark=tail.mark, start=place.start, offset=place.offset,
            edition=tail.edition, look=heads.look_at(self._folder), closed=self._closed, gone=self.gone, trusted=True,
        )  # fmt: skip
        self._keep()

    def doubts(self, place: Position, damage: list[Damage]) -> bool:
        """Tell whether something before `place`, where replaying began, is damaged or out of order.

        Files that look as they did when they were found sound are not read again.
        """
        if self._heads is None:
            return False
        head = self._head
        known = (
            head is not None
            and head.sound
            and (head.look, head.closed) == (heads.look_at(self._folder), self._closed)
        )  # fmt: skip
        doubted = not known and not chain.is_sound(self._folder, place, self.accepted)
        self._sound = not doubted and not damage
        return doubted

    def compare(self, rev: int, checkpoint_rev: int, *, is_sound: bool) -> None:
        """Find out what is gone from a journal that ends at revision `rev`, by the head and the newest checkpoint."""
        self._sound = self._sound and is_sound
        head = self._head
        gone = [] if head is None else list(head.gone)
        known = max(checkpoint_rev, 0 if head is None else head.rev)
        if known > rev:
            now = Gone(rev + 1, known)
            gone = [one for one in gone if one.replaced or not (now.first <= one.first and one.last <= now.last)]
            gone.append(now)
        elif head is not None and not self._holds(head):
            gone.append(Gone(head.rev, head.rev, replaced=True))
        self.highest = max([known, *(one.last for one in gone)])
        self.gone = tuple(dict.fromkeys(gone))

    def expect(self, lines: Iterable[bytes]) -> None:
        """Remember lines that are about to be written: they are this machine's own, whatever ends this process."""
        heads.note_lines(self._heads, self.store, map(heads.fingerprint_of, lines))

    def note(self, rev: int, tail: Tail, seen: os.stat_result | None) -> None:
        """Remember a change right after its line was appended to `tail`."""
        if self._heads is None:
            return
        before = self._head
        place = tail.place
        self._head = Head(
            self._place, self.store, rev, tail.mark, place.start, place.offset, tail.edition,
            heads.look_of(seen), self._closed, self._sound, self.gone,
            () if before is None else before.accepted,
            trusted=self._trusted,
        )  # fmt: skip
        self._keep()

    def note_files(self, tail: Tail) -> None:
        """Remember what the files look like, after they were made or rewritten without a change.

        Whether they are trusted was found out by `before_writing`, when the lock was taken.
        """
        if self._heads is None or self.gone:
            return
        self._closed = heads.look_at_closed(self._folder)
        known = self._head or Head(self._place, self.store, 0, "", edition=tail.edition)
        if known.edition != tail.edition:
            place = tail.place
            known = known._replace(rev=tail.rev, mark=tail.mark, start=place.start, offset=place.offset)
            if self._trusted:
                trust(self._folder, self._heads, self.store)
        self._head = known._replace(
            store=self.store, edition=tail.edition, trusted=self._trusted,
            look=heads.look_at(self._folder), closed=self._closed, sound=self._sound,
        )  # fmt: skip
        self._keep()

    def note_unsure(self, rev: int) -> None:
        """Remember that revision `rev` may be stored or not."""
        self._unsure = rev
        if self._heads is not None:
            known = self._head or Head(self._place, self.store, rev - 1, "")
            self._head = known._replace(unsure=rev)
            self._keep()

    def settle_unsure(self) -> None:
        """Forget that a revision was not sure: it was looked at."""
        self._unsure = 0
        if self._head is not None:
            self._head = self._head._replace(unsure=0)
            self._keep()

    def accept(self, rev: int, mark: str, tail: Tail, gaps: tuple[Range, ...]) -> None:
        """Remember that a person takes the journal as it is, up to revision `rev`."""
        lost = tuple((one.first, one.last) for one in self.gone if not one.replaced)
        place = tail.place
        known = Head(
            self._place, self.store, rev, mark, place.start, place.offset, tail.edition,
            accepted=self._head.accepted if self._head is not None else (),
        )  # fmt: skip
        if heads.accept(self._heads, known, (*gaps, *lost)):
            heads.forget_others(self._heads, known)
        self._head, self._written = heads.read(self._heads, self.store, self._folder), b""
        self.gone, self.highest = (), rev

    def _looks_as_in(self, head: Head) -> bool:
        """Tell what `looks_the_same` does; that there are no closed segments is asked only when something came."""
        if head.look != heads.look_at(self._folder):
            return False
        if self._none_closed.holds():
            return head.closed == heads.NONE_CLOSED
        moment, closed = self._none_closed.moment(), heads.look_at_closed(self._folder)
        self._none_closed.note(moment if closed == heads.NONE_CLOSED else -1)
        return head.closed == closed

    def _present(self, folder: Path) -> Head | None:
        """Return the head that is kept now; it is not read for that when it is the one noted here last."""
        if self._written and self._head is not None and heads.still_says(folder, self._head, self._written):
            return self._head
        return heads.read(folder, self.store, self._folder)

    def _keep(self) -> None:
        assert self._head is not None
        self._written = heads.note(self._heads, self._head)
        if self._written and self._found is not None and self._found.path != self._place:
            heads.forget_others(self._heads, self._head)
        self._found = self._head

    def _holds(self, head: Head) -> bool:
        """Tell whether the journal holds the head's line; a rewritten one holds another line for the same change."""
        if not head.mark or chain.fits(self._folder, head.position, head.mark):
            return True
        return chain.holds(self._folder, head.mark, head.edition)
