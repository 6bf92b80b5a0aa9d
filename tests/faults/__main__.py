"""`python -m tests.faults [--fast] [NUMBER…]` seeds faults, one at a time, and says which are
caught.

Every fault is seeded in a copy of the checkout, and its named test is run there; before, all named
tests have to pass without a fault. With `--fast` the tests of its floor that are not slow are run
instead, up to the first that fails. Exit code: 0 when all are caught, 1 when one is not. `python -m
tests.faults mutants` is about mutants (`mutants.py`).
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.faults import mutants
from tests.faults.table import Fault, Lost, catcher, copied, faults, place, run

CAUGHT = 1
"""What pytest returns when tests failed; anything above is no verdict."""

BESIDE = ("config", "config_write", "paths", "drafts", "recent", "clipboard")
"""What the tests of the floor `others` are called, wherever they stand."""


def main(args: list[str]) -> int:
    """Seed what is asked for, print a line for each, and return the exit code."""
    fast, wanted = "--fast" in args, {int(arg) for arg in args if arg != "--fast"}
    chosen = [fault for fault in faults() if not wanted or fault.number in wanted]
    with tempfile.TemporaryDirectory(prefix="workbench-faults-") as folder:
        copy = copied(Path(folder) / "checkout")
        sound = run(copy, [catcher(fault, copy) for fault in chosen])
        if sound.returncode:
            sys.stdout.write(f"{sound.stdout}Without any fault these tests have to pass.\n")
            return 1
        missed = [fault.number for fault in chosen if not _is_caught(fault, copy, fast=fast)]
    sys.stdout.write(
        f"{len(chosen) - len(missed)} of {len(chosen)} caught{f'; not: {missed}' if missed else ''}.\n"
    )
    return int(bool(missed))


def _is_caught(fault: Fault, copy: Path, *, fast: bool) -> bool:
    path = place(fault, copy)
    sound = path.read_bytes()
    path.write_text(sound.decode().replace(fault.before, fault.after), "utf-8")
    begun = time.monotonic()
    try:
        tests = _floor(fault, copy) if fast else [catcher(fault, copy)]
        done = run(copy, [*tests, "-x", "-m", "not slow"] if fast else tests)
    finally:
        path.write_bytes(sound)
    said = {0: "NOT caught", CAUGHT: "caught"}.get(
        done.returncode, f"no verdict (pytest {done.returncode})"
    )
    by = next(
        (line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith("FAILED ")), ""
    )
    seconds = time.monotonic() - begun
    sys.stdout.write(
        f"{fault.number:>2} {fault.floor:<9} {said} in {seconds:.0f} s: {fault.name}  {by}\n"
    )
    sys.stdout.flush()
    return done.returncode == CAUGHT


def _floor(fault: Fault, copy: Path) -> list[str]:
    """Return where the tests of a fault's floor are."""
    folder = copy / "tests" / fault.floor
    if folder.is_dir():
        return [str(folder.relative_to(copy))]
    named = {catcher(fault, copy).partition("::")[0]}
    named |= {
        str(path.relative_to(copy))
        for name in BESIDE
        for path in (copy / "tests").rglob(f"test_{name}.py")
    }
    return sorted(named)


if __name__ == "__main__":
    try:
        sys.exit(mutants.main(sys.argv[2:]) if sys.argv[1:2] == ["mutants"] else main(sys.argv[1:]))
    except (Lost, ValueError) as error:
        sys.exit(f"{error}\n\n{__doc__}")
