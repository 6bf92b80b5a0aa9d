"""`workbench help`: the pages of the manual."""

import os
import shutil
import sys

from workbench.cli.output import say, say_table
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import DONE, Session
from workbench.services.manual import find_page, pages, plain

_DETAILS = """Without a topic it lists the pages. A topic is the name or the title of a page, or the beginning of one.
In a terminal the page is shown by $PAGER, otherwise by less. `workbench COMMAND --help` explains one command."""

_WIDEST, _PIPED = 100, 80
"""Columns of a page in a terminal at most, and where there is none."""


def add_commands(commands: Commands) -> None:
    """Add `help`."""
    parser = add_command(
        commands, "help", show_help, "read the manual", _DETAILS, example="getting started"
    )
    parser.add_argument("topic", metavar="TOPIC", nargs="*", help="a page, such as stream or undo")


def show_help(session: Session) -> int:
    """Print a page, or the list of pages."""
    topic = " ".join(session.args.topic)
    if not topic:
        say_table([(page.name, page.about) for page in pages()])
        return DONE
    in_terminal = sys.stdout.isatty()
    text = plain(
        find_page(topic),
        min(shutil.get_terminal_size().columns, _WIDEST) if in_terminal else _PIPED,
    )
    if not in_terminal:
        say(text.rstrip("\n"))
        return DONE
    import pydoc

    os.environ.setdefault("LESS", "FRX")  # as git has it: what fits on the screen is printed
    pydoc.pager(text)
    return DONE
