"""What is flagged, where records are printed: the sign in a row, the reasons in a sentence, secrets
masked.
"""

from typing import TYPE_CHECKING, TypeVar

from workbench.cli.output import warn
from workbench.core.text import counted

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.open import Workbench
    from workbench.services.safety.texts import Outward

Value = TypeVar("Value")

FLAG = "⚑"


def add_secrets(parser: "ArgumentParser") -> None:
    """Add `--show-secrets`; `Shown` obeys it."""
    about = "print secrets as they are stored (otherwise they are masked, in --json too)"
    parser.add_argument("--show-secrets", action="store_true", help=about)


class Shown:
    """Makes records what may be printed of them: secrets are masked unless the person asked for
    them.
    """

    def __init__(
        self, bench: "Workbench", *, secrets: bool = False, how: str = "--show-secrets shows them"
    ) -> None:
        self._mask = None if secrets else bench.safety.masked
        self._how = how
        self._masked = False

    def __call__(self, value: Value) -> Value:
        """Return a record, a text or a JSON value as it may be printed."""
        if self._mask is None:
            return value
        from workbench.services.safety.masking import masked

        shown = masked(value, self._mask)
        self._masked |= shown != value
        return shown

    def name(self, id: str) -> str:
        """Return an id as it may be printed."""
        if self._mask is None:
            return id
        from workbench.services.safety.masking import masked_name

        return masked_name(id, self._mask)

    def remark(self) -> None:
        """Say on stderr that something was masked, if it was."""
        if self._masked:
            warn(f"Secrets are masked; {self._how}.")


def sign(bench: "Workbench", memory: "Memory | None") -> str:
    """Return the signs of a memory, each with a space behind it: flagged, and for an agent
    unreviewed; mostly none.
    """
    if memory is None:
        return ""
    return unreviewed(bench, memory) + (f"{FLAG} " if bench.safety.flags(memory) else "")


def unreviewed(bench: "Workbench", record: "Outward") -> str:
    """Return what an agent is told before a text that no person wrote or approved; nothing for a
    person.
    """
    return "[unreviewed] " if is_unreviewed(bench, record) else ""


def is_unreviewed(bench: "Workbench", record: "Outward") -> bool:
    """Tell whether an agent looks at a record that no person wrote or approved."""
    return bench.view is not None and bench.view.is_unreviewed(record)


def review_json(bench: "Workbench", record: "Outward") -> dict[str, object]:
    """Return what an agent is told of a record in JSON beside its fields; nothing for a person."""
    return {} if bench.view is None else {"unreviewed": is_unreviewed(bench, record)}


def reasons(record: "Memory | Bullet") -> str:
    """Return why a record is flagged, in sentences; nothing when it is not."""
    from workbench.services.safety.suspicion import findings_of

    return " ".join(dict.fromkeys(finding.reason for finding in findings_of(record)))


def flagged_in(memory: "Memory") -> str:
    """Return "Flagged: …" for a memory that just came in, with a space before; mostly nothing."""
    found = reasons(memory)
    return f" Flagged: {found}" if found else ""


def held_back(number: int) -> str:
    """Return what to say about memories that an agent was not given."""
    what = counted(number, "flagged memory was", "flagged memories were")
    return f"{what} held back from the agent; `workbench scan` says why, `workbench allow` lets one pass."


def not_approved(number: int) -> str:
    """Return what to say about memories that this agent is not given because no person stands by
    them.
    """
    what = counted(number, "memory was", "memories were")
    return f"{what} left out: agents.serve gives this agent only what a person wrote or approved."
