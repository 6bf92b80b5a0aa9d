"""The brief that a session begins with, where it is kept of the store as it is now, and that it was given."""

import contextlib

from workbench.config import loading, paths
from workbench.core.agents.hook_event import HookEvent
from workbench.core.files.locks import Patience, waiting
from workbench.core.record import StoreProblem
from workbench.services import caches
from workbench.services.agents.briefs.kept import basis_of, discard, kept
from workbench.services.agents.capture.place import Place
from workbench.services.agents.parent_process import parent_process
from workbench.services.agents.reading_log import Asked, keep, looked_up
from workbench.services.context import Context
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.library import STANDARD, Library

_PATIENCE_S = 1.0
"""Seconds that a session waits for the store to note a reading; without them there is none."""


def given(event: HookEvent, place: Place) -> str | None:
    """Return the brief of the store as it is now, `None` when it has to be made; of what is not trusted, nothing.

    What is given is kept as a reading, where the store can be written. Raises `StoreProblem`.
    """
    settings = loading.load(paths.config_dir() / loading.FILE_NAME).settings
    cache = caches.place(paths.cache_dir(), place.store)
    # Who waits for a session to begin is not to wait for a checkpoint.
    library = Library(
        place.store, place.clock, STANDARD._replace(checkpoint_every=0), place.heads, SecretFilter(),
        believed=paths.is_believed(place.store), cache=cache,
    )  # fmt: skip
    if not library.standing.trusted:
        discard(cache)
        return ""
    context = Context(library, place.clock, settings, cache, place.actor)
    found = kept(cache, basis_of(library, place.actor, context.profile.name, settings.agents))
    if found is not None and found.text:
        read = looked_up(context, "brief", found.memories, Asked("hook", event.session, parent_process()))
        with contextlib.suppress(StoreProblem), waiting(Patience(_PATIENCE_S)):
            keep(context, [read])
    return None if found is None else found.text
