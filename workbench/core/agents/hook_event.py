"""What an agent's hook says on stdin, as one value whatever the agent calls its parts."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.core.agents.transcript.events import cut
from workbench.core.record import as_object, parse_time

AGENTS: Mapping[str, str] = {"claude-code": "claude", "codex": "codex", "cursor": "cursor"}
"""The agents whose hooks are understood, and the names that they act by."""

_ALIASES = {
    "BeforeStart": "SessionStart", "AfterComplete": "Stop", "OnError": "Error", "SubagentStop": "Stop",
    "BeforeSubmitPrompt": "UserPromptSubmit",
}  # fmt: skip
"""Other names of events: those of source 001, section 1.3, and those that some agents have."""


class HookEvent(NamedTuple):
    """One event: `name` is that of Claude Code for it, `called` the one that was given.

    Texts are cut to what is looked at. `failed` says that a tool use came to nothing. `at` is when it
    was taken.
    """

    name: str
    called: str
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    source: str = ""
    text: str = ""
    tool: str = ""
    tool_use: str = ""
    given: Mapping[str, object] = MappingProxyType({})
    response: str = ""
    failed: bool = False
    at: str = ""

    @property
    def when(self) -> datetime | None:
        return parse_time(self.at) if self.at else None


def event_of(doc: Mapping[str, Any]) -> HookEvent:
    """Read an event; what is missing or of another kind counts as empty."""
    called = _text(doc, "hook_event_name", "event", "hook", "type")
    name = name_of(called)
    response, failed = _response(doc)
    # The transcripts of Cursor leave out what tools answered.
    transcript = "" if "cursor_version" in doc else _text(doc, "transcript_path")
    return HookEvent(
        name, called, _text(doc, "session_id", "sessionId", "conversation_id", "thread_id"),
        _text(doc, "cwd") or _first(doc.get("workspace_roots")),
        transcript, _text(doc, "source", "reason", "trigger"),
        cut(_text(doc, "prompt", "compact_summary", "summary", "error_message", "message", "text")),
        _text(doc, "tool_name"), _text(doc, "tool_use_id", "tool_call_id", "call_id", "generation_id"),
        as_object(doc.get("tool_input")), cut(response), failed or name == "PostToolUseFailure",
    )  # fmt: skip


def name_of(called: str) -> str:
    """Return what Claude Code calls an event."""
    name = re.sub(r"(?:\A|_)([a-z])", lambda letter: letter[1].upper(), called)
    return _ALIASES.get(name, name)


def _response(doc: Mapping[str, Any]) -> tuple[str, bool]:
    """Return what a tool answered, and whether that says that it failed."""
    found = _parsed(doc.get("tool_response", doc.get("tool_output")))
    error = doc.get("error", doc.get("error_message"))
    said = error if isinstance(error, str) else _told(error)
    if not isinstance(found, Mapping):
        return "\n".join(part for part in (_told(found), said) if part), bool(said)
    code = found.get("exit_code", found.get("exitCode", 0))
    failed = bool(found.get("is_error") or found.get("interrupted")) or (
        isinstance(code, int) and code != 0
    )
    return "\n".join(part for part in (_told(found), said) if part), failed or bool(said)


def _parsed(value: object) -> object:
    """Return what a tool answered, which some agents give as JSON in a text."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _first(value: object) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _told(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        parts = (
            value.get(name)
            for name in ("output", "stdout", "stderr", "content", "text", "message", "error")
        )
        return "\n".join(told for part in parts if part and (told := _told(part)))
    if isinstance(value, list):
        return "\n".join(told for part in value if (told := _told(part)))
    return ""


def _text(doc: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := doc.get(name), str) and value), "")


# Where agents are told which hooks to run, and which of them the workbench wants: an entry for each
# agent.


class HookFile(NamedTuple):
    """The settings of one agent: the file of a project, that of a user (below their home), and the
    hooks.

    `events` gives each the seconds that it may take at the most; 0 leaves that to the agent. Where
    it `is_flat`, a command stands in the list of its event, and not in a group of that list.
    `told_at` names the events, as Claude Code calls them, at which the agent takes text for its
    context.
    """

    project: str
    user: str
    events: Mapping[str, int]
    is_flat: bool = False
    told_at: frozenset[str] = frozenset({"SessionStart", "UserPromptSubmit"})


_EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 10,
    "Stop": 60,
    "PreCompact": 60,
    "PostCompact": 30,
}

HOOK_FILES: Mapping[str, HookFile] = {
    # The command names this machine's workbench, which is no business of those who share the
    # project's own file.
    "claude-code": HookFile(".claude/settings.local.json", ".claude/settings.json", {**_EVENTS, "SessionEnd": 0}),
    "codex": HookFile(".codex/hooks.json", ".codex/hooks.json", _EVENTS),
    # Its sessions are followed by their hooks alone.
    "cursor": HookFile(
        ".cursor/hooks.json", ".cursor/hooks.json",
        {
            "sessionStart": 10, "beforeSubmitPrompt": 10, "postToolUse": 10, "postToolUseFailure": 10,
            "afterAgentResponse": 10, "stop": 60, "sessionEnd": 60,
        },
        is_flat=True, told_at=frozenset({"SessionStart"}),
    ),
}  # fmt: skip
"""The agents whose hooks can be installed."""

EVENTS_DO: Mapping[str, str] = {
    "SessionStart": "gives the agent a brief of the project",
    "UserPromptSubmit": "keeps what you correct",
    "Stop": "reads on in the session, after each turn",
    "PreCompact": "reads on before a compaction",
    "PostCompact": "keeps the summary of a compaction",
    "SessionEnd": "reads the rest of the session",
    "PostToolUse": "keeps what resolved a failure",
    "PostToolUseFailure": "keeps the failure",
    "AfterAgentResponse": "notes what the agent said, for the episode",
}
"""What the workbench does at an event, by the name of Claude Code for it."""
