"""Why a file is not replaced, in words: the same at the command line and in the app."""

from workbench.core.errors import Conflict
from workbench.core.text import counted
from workbench.services.files.overwriting import Obstacle, Why

NOTHING = "Nothing was written."

_WHY: dict[Why, str] = {
    "unknown": "exists, and was never read or written here",
    "kind": "exists, and is a file of another kind",
    "changed": "was changed by somebody else since it was read or written here",
    "uncarried": "holds more than this format can write back",
}


class NotReplaced(Conflict):
    """A file holds what the store cannot write back, and nobody said that it may go; `obstacle` says what."""

    def __init__(self, obstacle: Obstacle, hint: str) -> None:
        super().__init__(why_said(obstacle), f"{NOTHING} {hint}")
        self.obstacle = obstacle


def why_said(obstacle: Obstacle) -> str:
    """Say why a file stays as it is, and what would go."""
    kind = f" ({obstacle.title})" if obstacle.why == "kind" and obstacle.title else ""
    return f"{obstacle.path} {_WHY[obstacle.why]}{kind}; {loss_said(obstacle)}."


def loss_said(obstacle: Obstacle) -> str:
    """Say in lines and records what replacing a file would take away."""
    if not obstacle.lines and not obstacle.records:
        return "none of its lines would go"
    lines = counted(obstacle.lines, "line")
    records = counted(obstacle.records, "record")
    return f"{lines} and {records} in it would go"
