"""What every command works with: where it runs, the clock, the way to the app, and the store it
opens.
"""

import contextlib
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from workbench.cli.output import moment, warn
from workbench.config import paths
from workbench.core.agents.actors import agent_in, stands_by
from workbench.core.record import StoreProblem, WorkbenchError, why_failed
from workbench.core.stream.times import instant
from workbench.core.team import hidden_store, last_state
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.config import loading
    from workbench.core.first_run import FirstRun, FirstStep
    from workbench.core.health import PastView
    from workbench.services.open import Workbench


# The exit codes of every command, and what they mean: one table for the commands, the help and the
# tests.


DONE, FOUND, PROBLEM, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 70, 130, 141

MEANINGS: Mapping[int, str] = {
    DONE: "success",
    FOUND: "success, with findings: "
    "doctor, lint, watch, export, scan, check, trust, purge, tune --save",
    PROBLEM: "failed, nothing was changed; stderr says why",
    UNEXPECTED: "internal error; stored data is safe",
    INTERRUPTED: "interrupted; what was done before is kept",
    BROKEN_PIPE: "the reader of the output is gone",
}


def exit_code_table() -> str:
    """Return the table as it stands in the help."""
    return "\n".join(
        ["exit codes:", *(f"  {code:<4}{meaning}" for code, meaning in MEANINGS.items())]
    )


Clock = Callable[[], datetime]

CLI_ACTOR = "cli"
"""The person at this machine, by this door."""


class OpenApp(Protocol):
    """Runs the app on a store and returns its exit code."""

    def __call__(
        self,
        store: Path,
        *,
        origin: str,
        demo: bool = False,
        begin: str = "",
        at: int | None = None,
    ) -> int:
        """Open `store`; `origin` says what led to it, `begin` names the action that it begins with
        (none: nothing).

        With `at` it is looked at as it was right after that revision.
        """


class Welcome(Protocol):
    """Asks a person who has no store yet what to do, and writes nothing."""

    def __call__(self, first: "FirstRun") -> "FirstStep | None":
        """Return what they chose, `None` for leaving."""


class ServeAgents(Protocol):
    """Serves an open store to agents, and returns the exit code."""

    def __call__(self, bench: "Workbench", args: Namespace) -> int:
        """Serve until the client goes."""


class Session(NamedTuple):
    """One run of the command line: its arguments, its surroundings and the person's settings, read
    when asked for.
    """

    args: Namespace
    cwd: Path
    clock: Clock
    open_app: OpenApp
    settings: "Callable[[], loading.Loaded]"
    serve_agents: ServeAgents | None = None
    welcome: Welcome | None = None

    def time(self, text: str | None, *, last: bool = False) -> datetime | None:
        """Return the time that an argument means, by the clock of this run; of a day its beginning,
        or its end.
        """
        return instant(text, self.clock(), last=last) if text else None

    def at(self) -> int | None:
        """Return the revision that `--at` names: of a time, the last one by then."""
        at: int | str | None = getattr(self.args, "at", None)
        if not isinstance(at, str):
            return at
        with self.reading(remarks=False, whole=True) as bench:
            return bench.history.revision_at(instant(at, self.clock(), last=True))

    def choice(self, *, by_agent: bool | None = None) -> paths.StoreChoice:
        """Return the store that `--store` or the working directory means; raises `StoreProblem`."""
        return paths.find_store(self.cwd, self.args.store, by_agent=by_agent)

    @contextmanager
    def reading(
        self,
        *,
        remarks: bool = True,
        planning: bool = False,
        at: int | None = None,
        whole: bool = False,
        approved: bool = False,
        waits: bool = True,
    ) -> "Iterator[Workbench]":
        """Open the store without writing to it; the default one reads as an empty one while it is
        not there yet.

        With `at` it is the store as it was right after that revision, which is said. Raises
        `StoreProblem` when `--store` names none, unless it is only asked what a change would do
        (`planning`), and `UnknownRecord` for a revision that there is not.

        An agent sees only what it may have, or what is `approved` of that; all of it where no text
        of a record is printed, or the caller looks after that (`whole`). Of a team's store what is
        on this machine is read, where nobody `waits` for a connection.
        """
        folder = self.choice().folder if planning else self.known_store()
        if is_there(folder):
            bench = self.open(folder, remarks=remarks, at=at, waits=waits)
            if remarks and waits and bench.library.away is not None:
                warn(last_state(bench.library.away))
            if (standpoint := bench.library.standpoint) is not None:
                warn(f"As it was right after revision {told(standpoint)}.")
            if not (whole or stands_by(bench.context.actor)):
                bench.narrow(approved=approved)
                if remarks and bench.view is not None and (out := len(bench.view.hidden)):
                    warn(f"Hidden from the agent: {out:,} records, held back or not approved.")
            yield bench
            bench.keep_caches()
            return
        import tempfile

        with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as empty:
            yield self.open(Path(empty), at=at)

    def known_store(self) -> Path:
        """Return the store's folder; raises `StoreProblem` when `--store` names none, for that is a
        typo.
        """
        choice = self.choice()
        if choice.origin == "option":
            _check_store(choice.folder)
        return choice.folder

    def has_store(self) -> bool:
        """Tell whether there is a store where this command looks for one; raises `StoreProblem` if
        unknown.
        """
        from workbench.services.folder import holds_store

        return holds_store(self.choice().folder)

    @contextmanager
    def changing(
        self,
        actor: str = "",
        *,
        checkpoint: bool = False,
        remarks: bool = True,
        trusted: bool = True,
        makes: bool = False,
    ) -> "Iterator[Workbench]":
        """Open the store to change it; a folder that was made for nothing is taken away again.

        Who changes it is the `actor`, else the agent in whose surroundings this runs, else the
        person. Only what brings something in (`makes`) may make the store that `--store` names:
        otherwise raises `StoreProblem`. Raises `NotTrusted` for a store from elsewhere, unless the
        caller looks itself whether it is `trusted`.
        """
        folder = self.choice().folder if makes else self.known_store()
        was_there = is_there(folder)
        try:
            bench = self.open(folder, actor, remarks=remarks)
            if trusted:
                if bench.library.away is not None:
                    raise bench.library.away
                bench.library.require_trust()
            before = bench.library.revision
            try:
                yield bench
            finally:
                self.args.stored = bench.library.revision != before
            if bench.gate.masked:
                warn(
                    f"Secrets were masked before anything was written: {', '.join(dict.fromkeys(bench.gate.masked))}."
                )
            if checkpoint or bench.library.starts_slowly:
                # What was done is in the journal already, so a checkpoint that fails is no failure.
                with contextlib.suppress(StoreProblem):
                    bench.close()
            if not was_there and self.choice().origin != "global":
                say_made(folder)
        finally:
            if not was_there:
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def open(
        self,
        folder: Path,
        actor: str = "",
        *,
        remarks: bool = True,
        at: int | None = None,
        waits: bool = True,
    ) -> "Workbench":
        """Open a store folder; what it has to say about itself goes to stderr, unless `remarks` is
        off.

        With `at` it is opened as it was right after that revision, and unless it `waits`, a team's
        as far as it was copied.
        """
        from workbench.services.context import DocumentPlaces
        from workbench.services.open import open_workbench
        from workbench.services.team.reach import offline

        settings = _strictest(self.settings())
        if sys.stderr.isatty() and paths.team_address(folder) and not _is_begun(folder):
            warn("Copying the team's store to this machine; this is done once.")
        bench = open_workbench(
            folder,
            profiles=paths.config_dir() / "profiles",
            replaced=paths.replaced_dir(),
            cache=paths.cache_dir(),
            settings=settings.settings,
            given=settings.given,
            actor=actor or actor_of(self.args),
            clock=self.clock,
            heads=paths.heads_dir(),
            believed=paths.is_believed(folder),
            documents=DocumentPlaces(paths.documents_dir(), None, paths.sessions_dir(), self.cwd),
            at=at,
            shared=None if waits or not _is_begun(folder) else offline(folder),
        )
        if remarks:
            if not (standing := bench.library.standing).trusted:
                warn(untrusted(standing.foreign))
            if (hidden := self.choice().hidden) is not None:
                warn(hidden_store(hidden))
            for remark in (*bench.library.notices, *bench.library.damage):
                warn(str(remark))
        return bench


def _is_begun(copy: Path) -> bool:
    return (copy / "journal.jsonl").exists()


def _strictest(loaded: "loading.Loaded") -> "loading.Loaded":
    """Return the settings under which the agent that runs this is served, whatever name it gives
    itself.
    """
    agent, settings = agent_in(os.environ), loaded.settings
    if not agent or not settings.agents.only_approved(f"agent:{agent}"):
        return loaded
    return loaded._replace(
        settings=settings._replace(agents=settings.agents._replace(serve="approved"))
    )


def told(standpoint: "PastView") -> str:
    """Return where somebody stands who looks back: the revision, of how many, and when it was made."""
    when = "" if standpoint.at is None else f", {moment(standpoint.at)}"
    return f"{standpoint.rev:,} of {standpoint.latest:,}{when}"


def untrusted(foreign: int) -> str:
    """Say that a store is not trusted; `foreign` changes of it are not known on this machine."""
    what = "What it holds" if not foreign else counted(foreign, "change")
    return f"This store is not trusted: {what} came from elsewhere. `workbench trust` shows it and asks."


def say_made(folder: Path) -> None:
    """Say that a store was made, which whoever mistyped its name did not mean; and that git does
    not see it.
    """
    from workbench.services.folder import holds_store, kept_out_by

    if holds_store(folder):
        ignored = "; git ignores it" if kept_out_by(folder) else ""
        warn(f"Created a new store in {folder}{ignored}.")


def is_there(folder: Path) -> bool:
    """Tell whether a store folder exists; raises `StoreProblem` when that cannot be found out."""
    try:
        return folder.exists()
    except OSError as error:
        message = f"The store {folder} cannot be opened: {why_failed(error)}."
        raise StoreProblem(message, "Nothing was changed.") from error


# A store that was asked for and is not there: what was probably meant.


def _check_store(folder: Path) -> None:
    """Raise `StoreProblem` when there is no store in a folder, with the nearest one that there is."""
    from workbench.services.folder import holds_store

    if holds_store(folder):
        return
    near = _nearest(folder)
    hint = (
        f"Did you mean {near}?" if near is not None else "`workbench init --store DIR` creates one."
    )
    raise StoreProblem(f"There is no store in {folder}.", hint)


def _nearest(folder: Path) -> Path | None:
    """Return the store inside the folder, else the one whose name is nearest: beside it, or opened
    lately.
    """
    if _holds(folder / paths.PROJECT_STORE):
        return folder / paths.PROJECT_STORE
    # A store that is there is not to wait for these.
    import difflib

    from workbench.config import recent

    known = {str(store): store for store in (*_beside(folder), *recent.recent(paths.state_dir()))}
    names: dict[str, Path] = {store.name: store for store in reversed(known.values())}
    close = difflib.get_close_matches(str(folder), known, n=1, cutoff=0.8)
    if close:
        return known[close[0]]
    close = difflib.get_close_matches(folder.name, names, n=1, cutoff=0.6)
    return names[close[0]] if close else None


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the stores in the folder above, and the project stores in its folders."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found.extend(islice(folder.parent.iterdir(), 1_000))
    for place in sorted(found):
        for store in (
            (place, place / folder.name) if folder.name == paths.PROJECT_STORE else (place,)
        ):
            if _holds(store):
                yield store


def _holds(folder: Path) -> bool:
    from workbench.services.folder import holds_store

    try:
        return holds_store(folder)
    except StoreProblem:
        return False


def actor_of(args: Namespace) -> str:
    """Return who acts: the agent that `--actor` names, else the one that runs this command, else
    the person.
    """
    name: str = (getattr(args, "actor", None) or "").strip() or agent_in(os.environ)
    return CLI_ACTOR if not name else name if name.startswith("agent:") else f"agent:{name}"


def require_secrets_for_people(args: Namespace) -> None:
    """Raise `WorkbenchError` when secrets are to be printed as they are, and an agent asks."""
    if getattr(args, "show_secrets", False) and actor_of(args) != CLI_ACTOR:
        raise WorkbenchError("Agents are not shown secrets.", "Leave out --show-secrets.")


def keeps(args: Namespace) -> bool:
    """Tell whether a person wants a secret to stay as it is typed; raises `WorkbenchError` for an
    agent.
    """
    if args.keep and actor_of(args) != CLI_ACTOR:
        raise WorkbenchError("--keep is not available to agents.", "Nothing was written.")
    return bool(args.keep)
