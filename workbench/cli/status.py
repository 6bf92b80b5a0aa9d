"""`workbench status`: one line for a shell prompt, which is printed again and again and is not to
wait.
"""

from collections.abc import Mapping

from workbench.cli.output import picked
from workbench.cli.verbs import Answer, Call, Option, Verb, reading_at_once
from workbench.config import paths, recent

_STATUS = """For a shell prompt or tmux: how many proposals wait in Review, whether a reflection is due, and
how many memories arrived since you last opened the app on this store (unseen)."""


def show_status(call: Call) -> Answer:
    look = recent.last_look(paths.state_dir(), call.session.known_store())
    status = call.bench.overview.status(None if look is None else look.rev)
    about = {
        **picked(status, "line", "pending", "unseen:new"),
        "reflection_due": status.due is not None,
    }
    return Answer({**about, "revision": status.revision}, [status.line])


OPTIONS: Mapping[str, Option] = {}

VERBS = (
    Verb("status", show_status, "print one line for a shell prompt", "--json", _STATUS, "", reading_at_once),
)  # fmt: skip
