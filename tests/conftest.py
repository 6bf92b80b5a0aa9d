"""Pins what would make a run depend on the machine, before Textual is imported."""

import gc
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.compiling import share
from tests.reflect.server import NO_RETRY, MessagesServer, Reply, Seen, error_reply, messages_server
from workbench.core.agents.actors import ENVIRONMENT

CHECKOUT = Path(__file__).parent.parent
CACHES = (".*", "__pycache__", "*.egg-info")
"""What tools and editors may leave in the checkout's root."""

_FOUND = pytest.StashKey[list[str]]()

_OF_THE_MACHINE = (
    "NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "TEXTUAL_THEME", "ANTHROPIC_API_KEY", "VISUAL",
    "EDITOR", "DISPLAY", "WAYLAND_DISPLAY", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", *ENVIRONMENT,
)  # fmt: skip
for name in _OF_THE_MACHINE:
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm-256color"
os.environ["TZ"] = "UTC"
time.tzset()
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.umask(0o022)
# Hundreds of processes are started, and each worker reads every test: what is compiled once serves
# them all.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A run holds all of its tests, which never are garbage: looking through them for some takes a fifth
# of its time.
gc.set_threshold(20_000, 10, 10)


# New examples in every run, wherever it is: Hypothesis would fix them on its own where CI is set;
# what those of one run miss, those of another find. How long one takes says something about the
# machine, not about the code.
settings.register_profile(
    "any machine",
    derandomize=False,
    max_examples=60,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose what the random examples begin with, unless told; workers of xdist get the same with
    their options.
    """
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(1 << 32))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Print the seed where every log has it, also one of a run that never ends, and see what lies
    in the checkout.

    A worker compiles its share of what all of them read.
    """
    session.config.stash[_FOUND] = _in_the_checkout()
    share(session.config, CHECKOUT)
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(
            f"random examples: --hypothesis-seed={session.config.option.hypothesis_seed}"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left something in the checkout: a test wrote to the folder that it was
    started in.

    What is in memory goes with the process: pytest would look through it five times more, and a
    worker that is still at that when the run ends is interrupted.
    """
    gc.freeze()
    before: list[str] = session.config.stash[_FOUND]
    left = [name for name in _in_the_checkout() if name not in before]
    if not left or hasattr(session.config, "workerinput"):
        return
    session.exitstatus = pytest.ExitCode.TESTS_FAILED
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"the tests left in {CHECKOUT}: {', '.join(left)}", red=True)


def _in_the_checkout() -> list[str]:
    every = (path.name for path in CHECKOUT.iterdir())
    return sorted(name for name in every if not any(fnmatch(name, kind) for kind in CACHES))


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.TempPathFactory]:
    """Count new folders: pytest lists all that it made before for each, and there are thousands."""
    made: Counter[str] = Counter()
    once = tmp_path_factory.mktemp

    def mktemp(basename: str, numbered: bool = True) -> Path:
        while numbered:
            made[basename] += 1
            with suppress(FileExistsError):
                return once(f"{basename}{made[basename] - 1}", numbered=False)
        return once(basename, numbered=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tmp_path_factory, "mktemp", mktemp)
        yield tmp_path_factory


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the machine nine hours ahead of UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the person's own folders."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for kind in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
    return home


@pytest.fixture(autouse=True, scope="module")
def _room_for_the_next() -> Iterator[None]:
    """Give back what a file's stores and apps held: frozen garbage is never collected."""
    yield
    gc.unfreeze()


@pytest.fixture
def script() -> list[Reply]:
    """The replies of Claude, which a test fills in."""
    return []


@pytest.fixture
def server(script: list[Reply]) -> Iterator[MessagesServer]:
    """A Claude on this machine; when the replies are used up it fails, and is not asked again."""

    def answer(_seen: Seen) -> Reply:
        return script.pop(0) if script else error_reply(500, "api_error", "no more", NO_RETRY)

    with messages_server(answer) as made:
        yield made


@pytest.fixture
def claude(server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
    """That Claude, with a key for it in the environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    return server
