"""Reports of errors that nobody foresaw: a file that says where they arose, and nothing of what was
held.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

from workbench import __version__

FOLDER = "crashes"
TRACEBACK = "WORKBENCH_TRACEBACK"
"""Environment variable that lets an unexpected error show where it arose."""

KEPT = 10
"""How many reports are kept; older ones go."""


def report(error: BaseException, state: Path) -> Path | None:
    """Write a report (mode 0600) below the `state` folder and return where it is, `None` when that
    is impossible.

    It names the kinds of the errors and the lines of code they came through. Their messages, which
    may quote stored text, and the values of variables are left out.
    """
    folder = state / FOLDER
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z-{os.getpid()}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"memory workbench {__version__}\n{described(error)}")
        for old in sorted(folder.glob("*.txt"))[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return folder / name


def sentence(error: BaseException) -> str:
    """Write a report; say in one line of ASCII that something nobody foresaw came up, and where the
    report is.
    """
    from workbench.config import paths
    from workbench.core.record import WorkbenchError

    try:
        where = report(error, paths.state_dir())
    except WorkbenchError:
        where = None
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    seen = (
        f"where it happened stands in {where}"
        if where
        else f"set {TRACEBACK}=1 to see where it happened"
    )
    return ascii(f"internal error ({what}). What was stored before is safe; {seen}.")[1:-1]


def described(error: BaseException) -> str:
    """Return the way of an error and of those it came from, the first one first: code, no values,
    no messages.
    """
    import traceback  # a hook never needs it, and is not to wait for it

    parts: list[str] = []
    seen: set[int] = set()
    now: BaseException | None = error
    while now is not None and id(now) not in seen:
        seen.add(id(now))
        frames = "".join(traceback.format_tb(now.__traceback__))
        parts.append(f"{frames}{type(now).__module__}.{type(now).__qualname__}\n")
        now = now.__cause__ or now.__context__
    return "\nwhich led to\n\n".join(reversed(parts))
