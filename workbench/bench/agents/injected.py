"""What an agent is given by its hooks, without asking: nothing yet."""

from pathlib import Path

from workbench.core.agents.hook_event import HookEvent


def injected(event: HookEvent, store: Path, agent: str) -> str:  # noqa: ARG001 - what is given depends on them
    """Return the text that an agent is given at an event, by the store that it works with; empty for none.

    Asked at SessionStart and UserPromptSubmit. Nothing heavy may be imported here: an agent waits for it.
    """
    return ""
