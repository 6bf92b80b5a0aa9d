"""What is flagged, where single records are printed: the sign in a row, the reasons in a sentence."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.bench.workbench import Workbench
    from workbench.core.memory import Memory
    from workbench.core.playbook import Bullet

FLAG = "⚑"


def sign(bench: "Workbench", memory: "Memory | None") -> str:
    """Return the sign of a flagged memory with a space behind it, or nothing."""
    return f"{FLAG} " if memory is not None and bench.safety.flags(memory) else ""


def reasons(record: "Memory | Bullet") -> str:
    """Return why a record is flagged, in sentences; nothing when it is not."""
    from workbench.bench.flagging import findings_of

    return " ".join(dict.fromkeys(finding.reason for finding in findings_of(record)))


def flagged_in(memory: "Memory") -> str:
    """Return "Flagged: …" for a memory that just came in, with a space before; mostly nothing."""
    found = reasons(memory)
    return f" Flagged: {found}" if found else ""


def held_back(number: int) -> str:
    """Return what to say about memories that an agent was not given."""
    what = "1 flagged memory was" if number == 1 else f"{number:,} flagged memories were"
    return f"{what} held back from the agent; `workbench scan` says why, `workbench allow` lets one pass."
