"""`workbench help` and `workbench completion`: the pages of the manual, and a script that lets a
shell complete commands, options, choices and files.
"""

import os
import shutil
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Mapping
from pathlib import Path

from workbench.cli.output import table
from workbench.cli.parsing import file_or_stdin, folder, path_of
from workbench.cli.verbs import Answer, Call, Option, Verb, unopened
from workbench.services.manual import find_page, pages, plain

_HELP = """Without a topic: the list of pages. TOPIC is the name or title of a page, or how it begins. In a
terminal the page opens in $PAGER, otherwise in less. `workbench COMMAND --help` explains one
command."""

_WIDEST, _PIPED = 100, 80
"""Columns of a page in a terminal at most, and where there is none."""


def show_help(call: Call) -> Answer:
    """Print a page, or the list of pages."""
    topic = " ".join(call.args.topic)
    if not topic:
        return Answer(lines=table([(page.name, page.about) for page in pages()]))
    in_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size().columns, _WIDEST) if in_terminal else _PIPED
    text = plain(find_page(topic), width)
    if not in_terminal:
        return Answer(lines=[text.rstrip("\n")])
    import pydoc

    os.environ.setdefault("LESS", "FRX")  # as git has it: what fits on the screen is printed
    pydoc.pager(text)
    return Answer()


_WITH_SPACES = """_workbench_files() { compgen -f -- "$1"; }
_workbench_dirs() { compgen -d -- "$1"; }"""
"""What names files and folders for bash; shtab's own lose a name at its first space."""

_COMPLETION = """Prints a script to stdout; nothing is installed. To have it always, add its line to the shell's own
file:

  ~/.bashrc                     eval "$(workbench completion bash)"
  ~/.zshrc (after compinit)     eval "$(workbench completion zsh)"
  ~/.config/fish/config.fish    workbench completion fish | source"""


def completion(call: Call) -> Answer:
    """Print the script of a shell."""
    import shtab

    from workbench.cli.main import build_parser

    parser, shell = build_parser(listed=True), call.args.shell
    _complete_files(parser)
    preamble = _WITH_SPACES if shell == "bash" else ""
    sys.stdout.write(shtab.complete(parser, shell, preamble=preamble) + "\n")
    return Answer()


def _complete_files(parser: ArgumentParser) -> None:
    """Tell shtab which arguments of a parser, and of the commands below it, name files and folders."""
    import shtab

    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner)
        elif action.type is folder or action.metavar == "DIR":
            action.complete = shtab.DIRECTORY | {"bash": "_workbench_dirs"}  # type: ignore[attr-defined]
        elif action.type in (Path, path_of, file_or_stdin):
            action.complete = shtab.FILE | {"bash": "_workbench_files"}  # type: ignore[attr-defined]


OPTIONS: Mapping[str, Option] = {
    "topic": {"help": "a page, such as stream or undo"},
    "shell": {"choices": ("bash", "zsh", "fish"), "help": "whose script"},
}

VERBS = (
    Verb("completion", completion, "print a script that completes workbench", "shell", _COMPLETION,
         "bash > ~/.workbench.bash", unopened),
    Verb("help", show_help, "read the manual", "topic*", _HELP, "getting started", unopened),
)  # fmt: skip
