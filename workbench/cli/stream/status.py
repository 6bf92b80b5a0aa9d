"""`workbench status`: one line for a shell prompt, which is printed again and again and is not to
wait.
"""

from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.config import paths, recent

_STATUS = """For a shell prompt or tmux: what waits in Review, whether a reflection is due, how many memories came in
since you last opened the app on this store (unseen)."""


def add_commands(commands: Commands) -> None:
    """Add `status`."""
    add_json(
        add_command(
            commands,
            "status",
            print_status,
            "print one line for a shell prompt",
            _STATUS,
            example="",
        )
    )


def print_status(session: Session) -> int:
    look = recent.last_look(paths.state_dir(), session.known_store())
    with session.reading(whole=True) as bench:
        status = bench.overview.status(None if look is None else look.rev)
    if wants_json(session.args):
        write_json(
            {
                "line": status.line,
                "pending": status.pending,
                "unseen": status.new,
                "reflection_due": status.due.due,
                "revision": status.revision,
            }
        )
    else:
        say(status.line)
    return 0
