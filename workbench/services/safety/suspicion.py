"""Why a text should not be shown, or sent, before a person looked."""

from collections.abc import Callable

from workbench.core.safety import Finding
from workbench.core.stream.memory import Memory
from workbench.services.safety.flagging import findings_of


def suspicions(memory: Memory, look: Callable[[str], tuple[Finding, ...]]) -> tuple[str, ...]:
    """Return the reasons to fold a memory's text away as sentences, each once; none when there are none."""
    return tuple(dict.fromkeys(finding.reason for finding in findings_of(memory, look)))
