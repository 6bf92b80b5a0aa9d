"""Backups and the secrets in them: how many a store holds, and a backup of a copy without them."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from workbench.core.files.locks import locked
from workbench.core.health import Manifest, Migrated
from workbench.core.record import StoreProblem, WorkStopped, cannot_write
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import counted, singular
from workbench.safety.scanning import secrets_in
from workbench.services import caches
from workbench.services.open import Workbench, open_workbench
from workbench.services.safety.leaks import NothingToMask
from workbench.services.safety.secret_filter import SHORTEST, strings
from workbench.store.maintenance.backup import check_target, restore, write_backup

CHUNK = 16_384
"""Characters that are looked at together: many short texts in one go take a third less time than
one by one.
"""


def secrets_in_records(records: Iterable[Mapping[str, object]]) -> int:
    """Count the different secrets in every field of some records."""
    return len({chunk[f.start : f.end] for chunk in _chunks(records) for f in secrets_in(chunk)})


def back_up(
    bench: Workbench, target: Path, at: datetime, *, force: bool = False, progress: Progress | None = None,
    cancelled: Cancelled = lambda: False,
) -> tuple[Manifest, int]:  # fmt: skip
    """Write a backup of the store as it is now; return it, and how many secrets its records hold.

    `cancelled` is asked again and again while the file is written. Raises `StoreProblem`, or
    `WorkStopped`.
    """

    def tell(done: int, total: int) -> None:
        if cancelled():
            raise WorkStopped("Stopped.", "Nothing was written.")
        if progress is not None:
            progress(done, total)

    # Compressing and hashing leave the processor to others, so that looking for secrets takes no
    # time of its own.
    with ThreadPoolExecutor(1) as beside:
        looking = beside.submit(
            secrets_in_records, (doc for _, _, doc in bench.library.every_field_by_now())
        )
        made = bench.library.maintain(write_backup, target, at, force=force, progress=tell)
        return made, looking.result()


def held(counts: Mapping[str, int]) -> str:
    """Say in words how many records of each table a backup holds."""
    named = (
        counted(count, singular(table), table.replace("_", " ")) for table, count in counts.items()
    )
    return ", ".join(named) or "no records"


def write_masked(
    bench: Workbench,
    target: Path,
    at: datetime,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Manifest, int]:
    """Write a backup of a copy of which every secret was masked, in its whole history; return how
    many there were.

    The store itself is not touched. What a person allowed stays. Raises `StoreProblem`.
    """
    check_target(bench.library.folder, target, force=force)
    with _scratch(bench) as folder:
        bench.library.maintain(write_backup, folder / "whole", at)
        restore(folder / "whole", folder / "copy")
        copy = open_workbench(folder / "copy", profiles=folder / "none", clock=lambda: at)
        try:
            masked = copy.leaks.mask(copy.safety.flagged()).secrets
        except NothingToMask:
            masked = 0
        return copy.library.maintain(
            write_backup, target, at, force=force, progress=progress
        ), masked


def make_of(file: Path, folder: Path, progress: Progress | None = None) -> Manifest:
    """Make the new store `folder` of a backup, whole or not at all; return what it holds.

    Raises `UnreadableFile` when the file is no sound backup, and `StoreProblem` when the folder is
    there already or cannot be written.
    """
    return restore(file, folder, progress)


def migrate(old: Path, new: Path, heads: Path | None) -> Migrated:
    """Make the store `new` of one that a development version before 1.0 wrote, or of its backup.

    Raises `StoreProblem`, and then there is no new store.
    """
    from workbench.store.maintenance.migrate import migrate

    return migrate(old, new, heads)


@contextmanager
def _scratch(bench: Workbench) -> Iterator[Path]:
    """Give an empty folder (0700) that never stays.

    It lies among the store's caches, which a purge removes, and its name is always the same: the
    next one takes what a killed one left. Raises `StoreProblem`.
    """
    folder = bench.context.caches / caches.SCRATCH
    with ExitStack() as held:
        try:
            caches.begin(bench.context.caches, bench.library.folder)
            folder.mkdir(mode=0o700, exist_ok=True)
            alone = held.enter_context(locked(folder, folder=True))
        except OSError as error:
            raise cannot_write(folder, error) from error
        if not alone:
            raise StoreProblem(
                "Another process is masking a backup of this store right now.",
                "Nothing was written.",
            )
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _chunks(records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    texts, length = list[str](), 0
    for doc in records:
        found = [
            s
            for n, value in doc.items()
            if not n.endswith("_at")
            for s in strings(value)
            if len(s) >= SHORTEST
        ]
        texts += found
        length += sum(map(len, found))
        if length >= CHUNK:
            yield "\n\n".join(texts)
            texts, length = [], 0
    yield "\n\n".join(texts)
