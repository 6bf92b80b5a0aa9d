"""Looking after a store: what is wrong with it, what to do about it, and packing its past.

What only a look at every line needs is imported by it: the app asks for the notices behind its
first screen.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.config.recent import last_backup
from workbench.core.agents.actors import require_person
from workbench.core.files.atomic import left_in
from workbench.core.files.locks import is_free
from workbench.core.health import Gone, MendedIndex
from workbench.core.playbook.book import Bullet
from workbench.core.record import ABSENT, StoreProblem, WorkbenchError, parse_time
from workbench.core.stream.memory import Memory
from workbench.core.text import MAX_KEPT
from workbench.services import caches
from workbench.services.context import Service
from workbench.services.folder import is_open_to_git
from workbench.store.entry import DocChange
from workbench.store.maintenance import checkpoint_writer
from workbench.store.records import place_of

if TYPE_CHECKING:
    from workbench.core.health import Diagnosis, Recovery, Unfinished
    from workbench.core.team import TeamState
    from workbench.services.promotion.placements import HalfDone
    from workbench.store.maintenance.backup import Packed

QUIET = timedelta(seconds=30)
"""How long nothing is written before an unfinished import counts as stopped: chunks follow within a
second.
"""


class EditedField(NamedTuple):
    """One field that another program changed: its record, and its value here and there (`None`:
    absent).
    """

    table: str
    key: str
    field: str
    before: object
    after: object


class OutsideEdit(NamedTuple):
    """A file that another program changed, the revision it started from, how many records, and
    their fields.
    """

    file: str
    base: int
    records: int
    fields: tuple[EditedField, ...]


class CacheState(NamedTuple):
    """A cache folder and its size in bytes."""

    name: str
    files: int
    size: int


class Findings(NamedTuple):
    """What there is to say about a store. `unfinished` pairs groups with their labels.

    `leavings` are temporary files: those of a killed process, unless somebody is writing them;
    `outside` are those that nobody writes in the person's state folder and beside the last backup,
    and copies of the store outside it. `open_to_git`: `git add` would take the memories in, though
    the store was not made to be shared. `old_caches` lie in the store's folder, where none is read
    any more. `mended` says that the read index differed, and was made anew. `later`
    memories are dated after this machine's clock, and so served to nobody yet. `unreadable` are
    files of working memories. `too_long` are memories and bullets longer than the store takes in:
    they are shown cut. `team` is how the store of a team is reached.
    """

    diagnosis: "Diagnosis"
    unfinished: tuple[tuple[str, str], ...]
    edit: OutsideEdit | None
    caches: tuple[CacheState, ...]
    leavings: tuple[str, ...] = ()
    open_to_git: bool = False
    half_done: "tuple[HalfDone, ...]" = ()
    old_caches: tuple[CacheState, ...] = ()
    outside: tuple[Path, ...] = ()
    mended: MendedIndex | None = None
    later: int = 0
    unreadable: tuple[str, ...] = ()
    too_long: tuple[str, ...] = ()
    team: "TeamState | None" = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing waits for a person."""
        broken = self.unfinished or self.half_done or self.diagnosis.purges or self.diagnosis.blobs
        return self.diagnosis.is_sound and not broken and self.edit is None


def examine(folder: Path, heads: Path | None = None) -> "Diagnosis":
    """Check every line of a store that may be too damaged to be opened; nothing is changed.

    `heads` is where this machine remembers what it stored. Raises `StoreProblem`.
    """
    from workbench.store.maintenance import doctor

    if not folder.is_dir():
        raise StoreProblem(f"There is no store in {folder}.", "Nothing was changed.")
    return doctor.examine(folder, heads)


def recover(folder: Path, at: datetime) -> "Recovery":
    """Save everything that can be read into a new store beside the old one, which stays as it is."""
    from workbench.store.maintenance import doctor

    return doctor.recover(folder, at)


class Doctor(Service):
    """Looks after an open store."""

    def findings(self, diagnosis: "Diagnosis", state: Path | None = None) -> Findings:
        """Return all there is to say, of the person's `state` folder, too; nothing is changed but
        spoilt caches.
        """
        from workbench.services.agents.working import unreadable

        mended = self._library.check_index()
        folder, memories = self._library.folder, self._library.memories.all()
        texts: list[Memory | Bullet] = [*memories, *self._library.bullets.all()]
        in_use = self._library.surroundings.common_texts.name
        beside = _caches(self._library.surroundings.caches)
        return Findings(
            diagnosis,
            self.unfinished(),
            self.edit(),
            (*_caches(self._context.caches), *(part for part in beside if part.name == in_use)),
            tuple(path.name for path in left_in(folder)),
            is_open_to_git(folder),
            self.half_done(),
            tuple(part for part in beside if part.name != in_use),
            (*self._left_in(state), *self._half_made()),
            mended,
            sum(memory.created_at > self._context.now() for memory in memories),
            tuple(unreadable(self._library)),
            tuple(place_of(one)[1] for one in texts if len(one.content) > MAX_KEPT),
            self._team(),
        )

    def _team(self) -> "TeamState | None":
        if self._library.shared is None:
            return None
        from workbench.services.team.admin import look

        return look(self._library)

    def _left_in(self, state: Path | None) -> Iterator[Path]:
        """Yield what a killed process left in the person's `state` folder and beside the last
        backup.
        """
        if state is None:
            return
        from workbench.store.maintenance import backup

        yield from left_in(state)
        if (last := last_backup(state, self._library.folder)) is not None:
            yield from backup.abandoned(last.file.parent)

    def _half_made(self) -> Iterator[Path]:
        """Yield the copies of this store that a killed process left outside it."""
        from workbench.store.maintenance import backup as restore

        scratch = self._context.caches / caches.SCRATCH
        if is_free(scratch, folder=True):
            yield scratch
        yield from restore.left_beside(self._library.folder)

    def half_done(self) -> "tuple[HalfDone, ...]":
        """Return the changes of files that were broken off, and what would settle each."""
        from workbench.services.promotion.placements import Placing

        believed = self._library.standing.trusted
        return (
            Placing(self._library).half_done()
            if believed and self._library.surroundings.notes()
            else ()
        )

    def finish(self, shown: "HalfDone") -> None:
        """Settle a broken change of files just as it was shown (see `Placing.finish`)."""
        from workbench.services.promotion.placements import Placing

        Placing(self._library).finish(shown)

    def broken_purges(self) -> "tuple[Unfinished, ...]":
        """Return the purges that were broken off, the latest first; reads the whole journal. Raises
        `StoreProblem`.
        """
        from workbench.store.maintenance.purge import unfinished

        return self._library.maintain(unfinished)

    def unfinished(self) -> tuple[tuple[str, str], ...]:
        """Return the groups whose last part has not come, with their labels."""
        return tuple(self._library.unfinished.items())

    def edit(self) -> OutsideEdit | None:
        """Return what another program changed in `memory.json`, when that waits for a decision."""
        found = self._library.outside_edit
        if found is None:
            return None
        changes = [change for change in found.changes if change.doc]
        fields = tuple(field for change in changes for field in self._fields(change))
        return OutsideEdit(found.file.name, found.base, len(changes), fields)

    def accept_edit(self) -> int:
        """Take over what another program changed, as one transaction; return how many records that
        were.

        Raises `Conflict` when the same fields were changed here, and `WorkbenchError` when nothing
        waits.
        """
        require_person(self._context.actor, "take over what another program changed")
        from workbench.store.maintenance import doctor

        found = self._waiting()
        self._library.maintain(doctor.accept_edit, found)
        return sum(1 for change in found.changes if change.doc)

    def dismiss_edit(self) -> Path:
        """Turn down what another program changed; return the file in which it is kept."""
        require_person(self._context.actor, "turn down what another program changed")
        from workbench.store.maintenance import doctor

        return self._library.maintain(doctor.dismiss_edit, self._waiting())

    def accept(self) -> tuple[Gone, ...]:
        """Take the journal as it is, with what is missing from it; return what was missed. Raises
        `StoreProblem`.
        """
        require_person(self._context.actor, "accept that changes are gone")
        return self._library.accept_losses()

    def compact(self) -> "list[Packed]":
        """Pack the closed journal files; the history reads them as before. Raises `StoreProblem`."""
        from workbench.store.maintenance import backup

        return self._library.maintain(backup.compact)

    def notices(self) -> tuple[str, ...]:
        """Return what the app says once: damage, what was not finished, an outside edit, each with
        its command.

        An import that may still be running is not named yet.
        """
        damage, edit = self._library.damage, self.edit()
        # Its own sentence, below, says more of an edit that waits for a decision.
        said = [str(one) for one in self._library.notices if edit is None or not is_edit(one)]
        if damage:
            more = f" and {len(damage) - 1} more places" if len(damage) > 1 else ""
            said.append(
                f"The journal is damaged ({damage[0]}{more}). Everything else is here; "
                "`workbench doctor --recover` saves it into a new store."
            )
        unfinished = (
            self.unfinished()
        )  # asked first: whether it is quiet takes reading the last change, however long
        for group, label in unfinished if unfinished and self._is_quiet() else ():
            said.append(
                f"“{label}” was not finished. `workbench undo --group {group}` takes back what was written."
            )
        if edit is not None:
            said.append(
                f"{edit.file} was changed by another program ({edit.records} records). "
                "`workbench doctor` shows it and can accept it."
            )
        return tuple(said)

    def _is_quiet(self) -> bool:
        """Tell whether nothing was written for a while."""
        last = next(self._library.changes_back(), None)
        return last is None or self._context.now() - parse_time(last.at) >= QUIET

    def _waiting(self) -> checkpoint_writer.OutsideEdit:
        found = self._library.outside_edit
        if found is None:
            raise WorkbenchError(
                "No other program has changed memory.json.", "Nothing was changed."
            )
        return found

    def _fields(self, change: DocChange) -> list[EditedField]:
        key = self._library.key_of(change)
        return [
            EditedField(change.table, key, name, _plain(before), _plain(after))
            for name, (before, after) in change.fields.items()
        ]


def size_of(folder: Path) -> int:
    """Return the bytes of a store's own files, its caches left out; what cannot be looked at counts
    nothing.
    """
    try:
        return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    except OSError:
        return 0


def is_edit(notice: checkpoint_writer.Notice) -> bool:
    """Tell whether a notice is about an edit of another program."""
    return isinstance(notice, checkpoint_writer.ForeignFile) and not notice.unplaced


def _plain(value: object) -> object:
    return None if value is ABSENT else value


def _caches(folder: Path) -> list[CacheState]:
    """Return the parts of a cache folder; links in it, and one that cannot be looked at, are like
    none.
    """
    states: list[CacheState] = []
    try:
        for part in () if folder.is_symlink() else sorted(folder.iterdir()):
            if part.is_dir() and not part.is_symlink() and part.name != caches.SCRATCH:
                sizes = [file.lstat().st_size for file in part.rglob("*") if file.is_file()]
                states.append(CacheState(part.name, len(sizes), sum(sizes)))
    except OSError:
        return states
    return states
