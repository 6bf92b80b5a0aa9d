"""Where agents are told which hooks to run, and which of them the workbench wants: an entry for each agent."""

from collections.abc import Mapping
from typing import NamedTuple


class HookFile(NamedTuple):
    """The settings of one agent: the file of a project, that of a user (below their home), and the hooks.

    `events` gives each the seconds that it may take at the most; 0 leaves that to the agent. Where it `is_flat`, a
    command stands in the list of its event, and not in a group of that list. `told_at` names the events, as Claude
    Code calls them, at which the agent takes text for its context.
    """

    project: str
    user: str
    events: Mapping[str, int]
    is_flat: bool = False
    told_at: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})


_EVENTS = {"SessionStart": 10, "UserPromptSubmit": 10, "Stop": 60, "PreCompact": 60, "PostCompact": 30}

HOOK_FILES: Mapping[str, HookFile] = {
    # The command names this machine's workbench, which is no business of those who share the project's own file.
    "claude-code": HookFile(".claude/settings.local.json", ".claude/settings.json", {**_EVENTS, "SessionEnd": 0}),
    "codex": HookFile(".codex/hooks.json", ".codex/hooks.json", _EVENTS),
    # What it keeps of a session is no transcript that could be read, so that each use of a tool is told.
    "cursor": HookFile(
        ".cursor/hooks.json", ".cursor/hooks.json",
        {"sessionStart": 10, "beforeSubmitPrompt": 10, "postToolUse": 10, "postToolUseFailure": 10},
        is_flat=True, told_at=frozenset({"SessionStart"}),
    ),
}  # fmt: skip
"""The agents whose hooks can be installed."""
