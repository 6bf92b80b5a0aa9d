"""What the dialog that promotes has to show: what would be written where, and what changes.

Planning it reads whole files and playbooks, so it is made on a thread; it holds no widget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.core.errors import AlreadyPromoted, WorkbenchError
from workbench.services.files.diff import DiffLine
from workbench.services.open import Workbench
from workbench.services.promotion.plan import PromotionPlan, Target
from workbench.tui.widgets.keys import keyed

TO_MOVE = (
    "To move it, take that back first: {app.back} leaves, {stream.history} shows its history, {history.undo} there "
    "takes a change back."
)

Changes = Sequence[tuple[str, Sequence[DiffLine]]]
"""The files or playbooks that change, by name, with their differences."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which memories are to go where; without a target `problem` says why there is none.

    `misses` says that the person has yet to say something, and nothing is wrong.
    """

    ids: tuple[str, ...]
    target: Target | None = None
    problem: str = ""
    misses: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see of a promotion: the plan, what changes, and the lines that are shown of it.

    Without a `plan` nothing can be written, and `problem` says why.
    """

    asked: Asked
    plan: PromotionPlan | None = None
    changes: Changes = ()
    lines: Sequence[DiffLine] = ()
    problem: str = ""


def look(bench: Workbench, asked: Asked) -> Look:
    """Plan the promotion and find what changes; on any thread."""
    if asked.target is None:
        return Look(asked, problem=asked.problem)
    try:
        plan = bench.promotion.plan(asked.ids, asked.target)
    except AlreadyPromoted as error:
        return Look(asked, problem=f"{error.message} {keyed(TO_MOVE)}")
    except WorkbenchError as error:
        return Look(asked, problem=str(error))
    changes = tuple(plan.changes())
    return Look(asked, plan, changes, _lines(changes, bench.safety.masked if plan.flagged else str))


def _lines(changes: Changes, masked: Callable[[str], str]) -> list[DiffLine]:
    """Return the changes of every file, each below its name; secrets are masked while nobody let them pass."""
    shown: list[DiffLine] = []
    for name, lines in changes:
        shown.append(DiffLine("place", name))
        kept = lines if len(lines) > 1 and lines[0].number > 1 else lines[1:]
        shown += [DiffLine(part.kind, masked(part.text), part.number) for part in kept]
    return shown
