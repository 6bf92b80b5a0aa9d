"""`kill -9` of the real app in a terminal of its own, while it stores what a person does, or ends.

What it had said is there, nothing is there by half, and the next write leaves nothing lying about.
WORKBENCH_KILLS says how often it is killed in all.
"""

import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

from tests.tui.doings import DOINGS, DRAFT, ENDED, Doing, Step, drafts, make, reopened
from tests.tui.support import drain, in_a_terminal
from workbench.config.drafts import FOLDER as DRAFTS
from workbench.config.paths import config_dir, heads_dir, state_dir
from workbench.core.files.atomic import left_in
from workbench.services.health import doctor
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation, append
from workbench.store.journal.engine import utc_now

KILLS = int(os.environ.get("WORKBENCH_KILLS", "40"))
EACH = -(-KILLS // len(DOINGS))
PATIENCE = 180
"""Seconds for anything that is waited for; a slow machine needs some of them."""

CODES = re.compile(r"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07]*\x07|[=>NOc]|P[^\x1b]*\x1b\\)")
"""What is sent to a terminal beside the text."""


@dataclass(frozen=True)
class Killed:
    """What the app had said when it was killed, which drafts were kept then, and what it was at."""

    said: frozenset[str]
    drafts: tuple[str, ...]
    at: str


class Hand:
    """Presses the keys of an app in a terminal, and reads what it paints."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.child = in_a_terminal(store, (40, 120))
        self.painted = ""

    def read(self, seconds: float = 0.001) -> None:
        """Take what was painted, if anything."""
        self.painted += CODES.sub("", drain(self.child, seconds))

    def press(self, keys: str) -> int:
        """Press keys; return where what is painted from now on begins."""
        begin = len(self.painted)
        with suppress(OSError):  # it has ended
            self.child.send(keys)
        return begin

    def wait(self, step: Step, begin: int, broken_off: Callable[[], bool] = lambda: False) -> None:
        """Wait until a step is done."""
        deadline = time.monotonic() + PATIENCE
        while not (self._is_done(step.seen, begin) or broken_off()):
            assert time.monotonic() < deadline, (step, self.painted[begin:][-3000:])
            self.read()

    def _is_done(self, wanted: str, begin: int) -> bool:
        if wanted == ENDED:
            return not self.child.isalive()
        assert self.child.isalive(), self.painted[-3000:]
        if wanted == DRAFT:
            return bool(drafts())
        return not wanted or re.search(wanted, self.painted[begin:]) is not None

    def kill(self) -> None:
        """End the app as no handler sees it, and read the rest."""
        self.child.kill(signal.SIGKILL)
        with suppress(pexpect.TIMEOUT, pexpect.EOF):
            while True:
                self.painted += CODES.sub("", self.child.read_nonblocking(100_000, timeout=0.2))
        self.child.close()


def moments(store: Path, chance: random.Random) -> Callable[[], bool]:
    """Return what tells that the moment has come: some time, a changed journal, a file that is
    being made, or never.
    """
    end, journal = time.monotonic() + chance.random() / 10, store / "journal.jsonl"
    size = journal.stat().st_size

    def at_hand() -> Iterator[Path]:
        for folder in (store, store.parent, config_dir() / "profiles", state_dir() / DRAFTS):
            yield from (path for path in folder.glob(".*") if path.suffix == ".tmp")

    return chance.choice(
        (
            lambda: time.monotonic() > end,
            lambda: not journal.exists() or journal.stat().st_size != size,
            lambda: any(at_hand()),
            lambda: False,
        )
    )


def killed(store: Path, doing: Doing, chance: random.Random) -> Killed:
    """Let the app make some changes, and kill it after any step of the next one, or in the middle
    of it.
    """
    hand = Hand(store)
    for step in doing.to:
        hand.wait(step, hand.press(step.keys))
    whole = chance.randint(*doing.whole)
    for step in (step for number in range(whole) for step in doing.change(number)):
        hand.wait(step, hand.press(step.keys))
    steps = doing.change(whole)
    storing = [step for step in steps if step.stores]
    last = chance.choice(storing if chance.random() < 0.75 else steps)
    for step in steps[: steps.index(last)]:
        hand.wait(step, hand.press(step.keys))
    come = moments(store, chance)
    hand.wait(last, hand.press(last.keys), come)
    time.sleep(chance.choice((0, 0, 0.001, 0.01)))
    kept = drafts()
    hand.kill()
    return Killed(frozenset(re.findall(doing.said, hand.painted)), kept, f"{whole}, {last}")


@pytest.mark.slow
@pytest.mark.parametrize("name", DOINGS)
def test_what_a_killed_app_leaves(tmp_path: Path, name: str) -> None:
    seed = random.randrange(1 << 32)
    chance, said = random.Random(seed), 0
    for number in range(EACH):
        store = make(tmp_path / f"project-{number}")
        was = killed(store, DOINGS[name], chance)
        said += len(was.said) + len(was.drafts)
        about = (seed, number, was)
        bench = reopened(store)
        there = DOINGS[name].there(bench)
        assert was.said <= there, (about, there)
        check_drafts(bench, was)
        assert [e.rev for e in bench.library.journal.entries_back()] == list(
            range(bench.library.journal.rev, 0, -1)
        )
        diagnosis = doctor.examine(store, heads_dir())
        assert bench.care.findings(diagnosis).is_clean, (about, diagnosis)
        append(
            store,
            Observation(f"what came after kill {number}", "error"),
            "agent:x",
            utc_now,
            heads=heads_dir(),
        )
        bench.stream.vote(["k-39"], "harmful")
        DOINGS[name].again(bench)
        bench.close()
        assert left_in(tmp_path) == left_in(state_dir()) == left_in(config_dir()) == (), about
    assert said


def check_drafts(bench: Workbench, was: Killed) -> None:
    """See that what was kept as a draft is a draft still, or was stored."""
    stored = [m.content for m in bench.library.memories.all()] + [
        b.content for b in bench.library.bullets.all()
    ]
    for text in was.drafts:
        assert any(one.startswith(text) for one in (*drafts(), *stored)), (was, drafts())
