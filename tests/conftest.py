"""Pins what would make a run depend on the machine, before Textual is imported."""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

for name in ("NO_COLOR", "TEXTUAL_THEME", "ANTHROPIC_API_KEY", "VISUAL", "EDITOR", "COLORTERM"):
    os.environ.pop(name, None)
os.environ["TZ"] = "UTC"
time.tzset()
os.environ["TEXTUAL_ANIMATIONS"] = "none"


# The same examples in every run of the check; at a desk, new ones each time.
settings.register_profile("check", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("check")


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
    """Give back what a file's stores and apps held: the app freezes objects, and frozen garbage is never collected."""
    yield
    gc.unfreeze()
    gc.collect()
