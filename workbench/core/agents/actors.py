"""What a person lets agents have, and how the agent is known in whose surroundings a command runs."""

from collections.abc import Mapping
from typing import NamedTuple

from workbench.core.record import WorkbenchError

SERVE = ("all", "approved")
"""Whether agents are given everything that is not held back, or only what a person wrote or
approved.
"""

ENVIRONMENT: Mapping[str, str] = {
    "CLAUDECODE": "claude",
    "CLAUDE_CODE_ENTRYPOINT": "claude",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "CODEX_CI": "codex",
    "GEMINI_CLI": "gemini",
    "QWEN_CODE": "qwen",
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "AI_AGENT": "agent",
}
"""Variables that agents set for the commands they run, and which agent that is; none that a person
would set.
"""


def agent_in(environment: Mapping[str, str]) -> str:
    """Return the agent that runs a command with these variables; empty for a person."""
    return next(
        (agent for name, agent in ENVIRONMENT.items() if environment.get(name, "").strip()), ""
    )


OWN_TERMINAL = "that is for a person, in a terminal of their own."
"""What an agent is told that wanted to give a person's word."""

_PEOPLE = ("human", "cli")


def stands_by(actor: str) -> bool:
    """Tell whether an actor is a person who gives their own word, by the app or the command line."""
    return actor.partition(":")[0] in _PEOPLE


def require_person(actor: str, what: str, lost: str = "Nothing was changed") -> None:
    """Raise `WorkbenchError` unless a person acts; `what` is what an agent cannot do, `lost` what
    was left alone.
    """
    if not stands_by(actor):
        raise WorkbenchError(f"An agent cannot {what}.", f"{lost}; {OWN_TERMINAL}")


def agent_name(actor: str) -> str:
    """Return the name of the agent that an actor is, `agent:NAME` or `agent:MEMBER/NAME`; another
    actor as it is.
    """
    return actor[6:].rpartition("/")[2] if actor.startswith("agent:") else actor


class AgentSettings(NamedTuple):
    """How agents are served: `serve` is one of `SERVE`.

    The agents in `approved_only` get approved texts only, in any case. With `recall` an agent's
    hook answers each prompt with what the store holds on it.
    """

    serve: str = "all"
    approved_only: tuple[str, ...] = ()
    recall: bool = False

    def only_approved(self, actor: str) -> bool:
        """Tell whether an actor is given only what a person wrote or approved."""
        return self.serve == "approved" or agent_name(actor) in self.approved_only


# Why a pattern stands where it does, where no person says why: the numbers of its evidence, or what
# was done.


EVIDENCE, REFINED, APPROVED, RESTORED = "evidence", "refined", "approved", "restored"
IMPORTED, MERGED, SUPERSEDED, LOW_VALUE = "imported", "merged", "superseded", "low value"
