"""What an agent is given by its hooks, without asking: a brief when a session begins, and where wanted at prompts."""

import sys
from pathlib import Path

from workbench.core.agents.hook_event import HookEvent
from workbench.services.agents.capture.place import Place

PATIENCE_S = 2.0
"""Seconds that an agent waits for a brief that has to be made first; without it the session begins without one."""


def injection(event: HookEvent, place: Place) -> str:
    """Return the text that an agent is given at an event, by the store that it works with; empty for none.

    A brief that is kept costs a look at the store; any other is made in a process of its own, which ends by itself and
    has it ready for the next session. A session that goes on was given it before. Raises `StoreProblem`.
    """
    if event.name == "UserPromptSubmit":
        return _recalled(event, place)
    if event.name != "SessionStart" or event.source in ("resume", "fork"):
        return ""
    from workbench.store.presence import is_store

    if not is_store(place.store):
        return ""
    from workbench.services.agents.briefs.giving import given  # a session begins once, other events do without

    found = given(event, place)
    if found is None and _make(place.store, place.actor):
        found = given(event, place)
    return found or ""


def _recalled(event: HookEvent, place: Place) -> str:
    """Return what the store holds on a prompt, where the settings want that: mostly they do not speak of it."""
    from workbench.config import paths
    from workbench.store.presence import is_store

    config = paths.config_dir() / "config.toml"
    try:
        if b"recall" not in config.read_bytes() or not is_store(place.store):
            return ""
    except OSError:
        return ""
    from workbench.config import loading

    loaded = loading.load(config)
    if not loaded.settings.agents.recall:
        return ""
    from workbench.services.agents.parent_process import parent_process
    from workbench.services.agents.prompted import recalled
    from workbench.services.agents.reading_log import Asked
    from workbench.services.open import open_workbench

    bench = open_workbench(
        place.store, profiles=paths.config_dir() / "profiles", cache=paths.cache_dir(), settings=loaded.settings,
        given=loaded.given, actor=place.actor, clock=place.clock, heads=place.heads,
        believed=paths.is_believed(place.store),
    )  # fmt: skip
    try:
        return recalled(bench, event.text, Asked("hook", event.session, parent_process()))
    finally:
        bench.close()


def _make(store: Path, actor: str) -> bool:
    """Let the brief be made; tell whether it is there in time."""
    import select
    import subprocess

    name, whole = actor.removeprefix("agent:"), Path.cwd() / store
    # Nothing of the folder that the agent works in is imported, and nothing of the agent's waits for its end: it says
    # that the brief is kept, and goes on with what makes the next question fast.
    command = [sys.executable, "-P", "-m", "workbench", "--store", str(whole), "capture", "brief", "--for-agent", name]
    made = subprocess.Popen(
        [*command, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True, cwd=whole.anchor,
    )  # fmt: skip
    assert made.stdout is not None
    with made.stdout as told:
        return bool(select.select([told], [], [], PATIENCE_S)[0] and told.readline())
