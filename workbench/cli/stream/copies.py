"""What `edit` and `replace` say and ask about the copies of what they correct."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.cli.output import say, warn
from workbench.cli.parsing import wants_json
from workbench.cli.session import CLI_ACTOR, Session
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.agents.served_lately import Given
    from workbench.services.open import Workbench
    from workbench.services.promotion.copies import Copy, Correction, Obstacle

WHY: "dict[Obstacle, str]" = {
    "rewritten": "has different wording by now and stays",
    "changed": "was changed by hand since and stays",
    "held": "stays: the new text is held back from files",
    "cites": "cites it and stays: check it",
    "whole": "stays until it is exported again",
}

QUERY = 48
"""Characters of an agent's question that are shown."""


class Told(NamedTuple):
    """What became of copies: those that were `updated`, those that say the old words still, and who had the memory."""

    updated: "tuple[Copy, ...]"
    left: "tuple[Copy, ...]"
    given: "tuple[Given, ...]"

    def values(self, bench: "Workbench") -> dict[str, object]:
        """Return them for JSON, without secrets."""
        mask = bench.safety.masked
        states = [*((copy, True) for copy in self.updated), *((copy, False) for copy in self.left)]
        return {
            "copies": [
                {"kind": copy.kind, "name": mask(copy.name), "updated": done, "obstacle": copy.obstacle}
                for copy, done in states
            ],
            "given": [
                {
                    "agent": mask(one.agent),
                    "sessions": one.sessions,
                    "query": mask(one.query),
                    "place": one.place or None,
                }
                for one in self.given
            ],
        }


NOTHING_TOLD = Told((), (), ())
"""There are no copies, and nobody had it."""


def with_copies(
    session: Session, bench: "Workbench", corrected: "Iterable[Correction]", write: Callable[[], object], label: str
) -> Told | None:
    """Write a correction, with its copies where `--copies` or a person's answer says so; return what became of them.

    `None` where none were looked for: an agent's change, or one that leaves every text. Raises `Conflict` when a copy
    was changed meanwhile; then nothing is written.
    """
    pairs = [(before, after) for before, after in corrected if before.content != after.content]
    if bench.context.actor != CLI_ACTOR or not pairs:
        write()
        return None
    plan = bench.copies.of(pairs)
    given = bench.given_lately.of(pairs[0][0].id) if len(pairs) == 1 else ()
    question = f"Update {counted(len(plan.updated), 'copy', 'copies')} too?"
    if plan.updated and are_wanted(session, bench, plan.updated, question):
        bench.copies.carry_out(plan, write, f"{label} and {counted(len(plan.updated), 'copy', 'copies')}")
        return Told(plan.updated, plan.left, given)
    write()
    return Told((), plan.copies, given)


def are_wanted(session: Session, bench: "Workbench", copies: "Sequence[Copy]", question: str) -> bool:
    """Tell whether copies are to be changed, too: what the option says, else what a person answers who saw them."""
    wanted = session.args.copies
    if wanted is not None or wants_json(session.args) or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return bool(wanted)
    for line in changed_lines(copies, bench.safety.masked):
        say(line)
    sys.stdout.write(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def changed_lines(copies: "Iterable[Copy]", mask: Callable[[str], str]) -> Iterator[str]:
    """Yield what changes in each copy, below its name."""
    for copy in copies:
        yield f"--- {mask(copy.name)}"
        yield from (mask(str(line)) for line in copy.lines if line.kind != "place")


def tell(bench: "Workbench", told: Told, again: str) -> None:
    """Say what became of the copies; `again` is what updates those that could be."""
    mask = bench.safety.masked
    could = [copy for copy in told.left if not copy.obstacle]
    if told.updated:
        say(f"Updated with it: {_names(told.updated, mask)}.")
    if could:
        warn(f"The old words still stand in {_names(could, mask)}. {again}")
    for why in dict.fromkeys(copy.obstacle for copy in told.left if copy.obstacle):
        warn(f"{_names([copy for copy in told.left if copy.obstacle == why], mask)} {WHY[why]}.")
    for one in told.given:
        asked = f"; #{one.place} for its last query “{one_line(mask(one.query), QUERY)}”" if one.query else ""
        say(f"Given to {mask(one.agent)} in {counted(one.sessions, 'session')} this week{asked}.")


def _names(copies: "Sequence[Copy]", mask: Callable[[str], str]) -> str:
    more = f" and {len(copies) - 5} more" if len(copies) > 5 else ""
    return ", ".join(mask(copy.name) for copy in copies[:5]) + more
