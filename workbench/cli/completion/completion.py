"""`workbench completion`: a script that lets a shell complete commands, options, choices and files."""

import sys
from collections.abc import Mapping

from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import Session
from workbench.core.named import implementation

SHELLS: Mapping[str, str] = {
    "bash": "workbench.cli.completion.bash:script",
    "zsh": "workbench.cli.completion.zsh:script",
    "fish": "workbench.cli.completion.fish:script",
}
"""What writes the script of each shell."""

_DETAILS = """Prints a script to stdout; nothing is installed. To have it always, add its line to the shell's own file:

  ~/.bashrc                     eval "$(workbench completion bash)"
  ~/.zshrc (after compinit)     source <(workbench completion zsh)
  ~/.config/fish/config.fish    workbench completion fish | source"""


def add_commands(commands: Commands) -> None:
    """Add `completion`."""
    about = "print a script that completes workbench"
    parser = add_command(commands, "completion", completion, about, _DETAILS, example="bash > ~/.workbench.bash")
    parser.add_argument("shell", choices=tuple(SHELLS), help="whose script")


def completion(session: Session) -> int:
    """Print the script of a shell."""
    from workbench.cli.completion.places import places
    from workbench.cli.main import build_parser

    script = implementation(SHELLS[session.args.shell])
    sys.stdout.write(script(tuple(places(build_parser()))))
    return 0
