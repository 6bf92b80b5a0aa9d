"""`workbench completion`: a script that lets a shell complete commands, options, choices and files."""

import sys
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

from workbench.cli.parsing import Commands, add_command, file_or_stdin, folder, path_of
from workbench.cli.session import Session

_WITH_SPACES = """_workbench_files() { compgen -f -- "$1"; }
_workbench_dirs() { compgen -d -- "$1"; }"""
"""What names files and folders for bash; shtab's own lose a name at its first space."""

_DETAILS = """Prints a script to stdout; nothing is installed. To have it always, add its line to the shell's own file:

  ~/.bashrc                     eval "$(workbench completion bash)"
  ~/.zshrc (after compinit)     eval "$(workbench completion zsh)"
  ~/.config/fish/config.fish    workbench completion fish | source"""


def add_commands(commands: Commands) -> None:
    """Add `completion`."""
    about = "print a script that completes workbench"
    parser = add_command(
        commands, "completion", completion, about, _DETAILS, example="bash > ~/.workbench.bash"
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script")


def completion(session: Session) -> int:
    """Print the script of a shell."""
    import shtab

    from workbench.cli.main import build_parser

    parser = build_parser()
    _complete_files(parser)
    shell = session.args.shell
    sys.stdout.write(
        shtab.complete(parser, shell, preamble=_WITH_SPACES if shell == "bash" else "") + "\n"
    )
    return 0


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
