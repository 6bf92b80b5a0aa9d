"""What every command works with: where it runs, the clock, the way to the app, and the store it opens."""

import contextlib
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench import paths
from workbench.cli.output import warn
from workbench.core.errors import StoreProblem

if TYPE_CHECKING:
    from workbench import config
    from workbench.bench.workbench import Workbench

Clock = Callable[[], datetime]

CLI_ACTOR = "cli"
"""The person at this machine, by this door."""

REPLAYED = 200
"""Revisions after which a command leaves a checkpoint behind; replaying fewer costs less than writing one."""


class OpenApp(Protocol):
    """Runs the app on a store and returns its exit code."""

    def __call__(self, store: Path, *, origin: str, demo: bool = False) -> int:
        """Open `store`; `origin` says what led to it."""


@dataclass(frozen=True, slots=True)
class Session:
    """One run of the command line: its arguments, its surroundings and the person's settings, read when asked for."""

    args: Namespace
    cwd: Path
    clock: Clock
    open_app: OpenApp
    settings: "Callable[[], config.Loaded]"

    def choice(self) -> paths.StoreChoice:
        """Return the store that `--store` or the working directory means; raises `StoreProblem`."""
        return paths.find_store(self.cwd, self.args.store)

    @contextmanager
    def reading(self, *, remarks: bool = True) -> "Iterator[Workbench]":
        """Open the store without writing to it; one that is not there yet reads as an empty one."""
        folder = self.choice().folder
        if is_there(folder):
            yield self.open(folder, remarks=remarks)
            return
        import tempfile

        with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as empty:
            yield self.open(Path(empty))

    @contextmanager
    def changing(
        self, actor: str = CLI_ACTOR, *, checkpoint: bool = False, remarks: bool = True
    ) -> "Iterator[Workbench]":
        """Open or create the store to change it; a folder that was made for nothing is taken away again."""
        folder = self.choice().folder
        was_there = is_there(folder)
        try:
            bench = self.open(folder, actor, remarks=remarks)
            yield bench
            if checkpoint or bench.library.journal.revisions_since_checkpoint >= REPLAYED:
                # What was done is in the journal already, so a checkpoint that fails is no failure.
                with contextlib.suppress(StoreProblem):
                    bench.close()
        finally:
            if not was_there:
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def open(self, folder: Path, actor: str = CLI_ACTOR, *, remarks: bool = True) -> "Workbench":
        """Open a store folder; what it has to say about itself goes to stderr, unless `remarks` is off."""
        from workbench.bench.workbench import open_workbench

        settings = self.settings()
        bench = open_workbench(
            folder,
            profiles=paths.config_dir() / "profiles",
            settings=settings.settings,
            given=settings.given,
            actor=actor,
            clock=self.clock,
        )
        if remarks:
            for remark in (*bench.library.journal.notices, *bench.library.journal.damage):
                warn(str(remark))
        return bench


def is_there(folder: Path) -> bool:
    """Tell whether a store folder exists; raises `StoreProblem` when that cannot be found out."""
    try:
        return folder.exists()
    except OSError as error:
        message = f"The store {folder} cannot be reached: {(error.strerror or str(error)).lower()}."
        raise StoreProblem(message, "Nothing was changed.") from error


def actor_of(args: Namespace) -> str:
    """Return who acts: the person, or the agent that `--actor` names."""
    name: str = (args.actor or "").strip()
    return CLI_ACTOR if not name else name if name.startswith("agent:") else f"agent:{name}"
