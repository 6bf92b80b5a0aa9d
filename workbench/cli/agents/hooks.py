"""`workbench hooks`: lets an agent run the workbench at its hooks, and takes that back."""

import difflib
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import picked, say, typed_yes, warn
from workbench.cli.parsing import count
from workbench.cli.session import DONE, FOUND, actor_of
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, text, unopened, value
from workbench.config import paths
from workbench.core.agents.hook_event import HOOK_FILES
from workbench.core.record import WorkbenchError

if TYPE_CHECKING:
    from workbench.services.agents.capture.progress import HookFailure
    from workbench.services.agents.hooks import Plan


_DETAILS = """`install` makes an agent run `workbench capture` when a session starts and ends, at each prompt,
and before and after compaction: lessons are stored, and each session starts with a brief of the
project. You see the change of the agent's settings first; the rest of the file stays as it is,
and a copy is kept. `remove` takes the hooks out again. `status` shows what is installed and
recent failures. --project means your own settings for this folder, --user those for all your
projects. Refused when an agent runs it.

  workbench hooks install --agent claude-code --user"""


def hooks(call: Call) -> Answer:
    """Install or remove hooks, or say what is installed."""
    from workbench.services.agents.hooks import plan_install, plan_removal, program, server
    from workbench.services.files.replaced import Replaced

    args = call.args
    if args.action == "status":
        return _status(call)
    replaced = Replaced(paths.replaced_dir())
    if args.action == "remove":
        return _carry_out(call, plan_removal(args.agent, _path(call), replaced))
    words = program(None if args.store is None else call.session.cwd / args.store)
    done = _carry_out(call, plan_install(args.agent, _path(call), words, replaced))
    lines = [*done.lines]  # type: ignore[misc]
    if done.code == DONE:
        lines.append(f"To let the agent search and save too: {server(args.agent, words)}")
        if args.agent == "codex":
            lines.append(
                "Codex asks once whether you trust the hooks; older versions need this in config.toml:"
            )
            lines.append("codex_hooks = true under [features].")
    return done._replace(lines=lines)


def _carry_out(call: Call, plan: "Plan") -> Answer:
    from workbench.services.agents.hooks import carry_out, require_no_agent
    from workbench.services.files.replaced import Replaced

    require_no_agent()
    json = {"agent": call.args.agent, "file": plan.path, "changed": not plan.is_done}
    if plan.is_done:
        return Answer(json, ["Nothing to do: already done."])
    before, after = (plan.before or "").splitlines(), (plan.after or "").splitlines()
    name = str(plan.path)
    diff = difflib.unified_diff(before, after, name, name, lineterm="", n=2)
    call.say("\n".join(diff))
    if not (call.args.yes or typed_yes("Write this?", "--yes writes without asking.")):
        say("Nothing was changed.")
        return Answer(code=FOUND)
    copy = carry_out(plan, Replaced(paths.replaced_dir()))
    kept = f" The previous version is kept in {copy}." if copy is not None else ""
    done = "Removed, as it was not there before" if plan.after is None else "Written"
    return Answer(json, [f"{done}: {plan.path}.{kept}"])


def _status(call: Call) -> Answer:
    from workbench.services.agents.capture.progress import failures
    from workbench.services.agents.hooks import file_of, hooked

    places = ((_home(), True), (call.session.cwd, False))
    found = [
        (agent, hooked(agent, file_of(agent, folder, of_user=of_user)))
        for agent in HOOK_FILES
        for folder, of_user in places
    ]
    captures = paths.captures_dir()
    failed = () if captures is None else failures(captures)
    listed: dict[str, list[object]] = {agent: [] for agent in HOOK_FILES}
    lines = []
    for agent, one in found:
        listed[agent].append({"file": one.path, **picked(one, "events", "missing")})
        lines.append(f"{agent}  {one.path}: {', '.join(one.events) or 'not installed'}")
        for program in one.missing:
            lines.append(f"  {program} no longer exists; `workbench hooks install` uses this one.")
    return Answer({"agents": listed, "failures": failed}, [*lines, *failure_lines(failed)])


def failure_lines(failed: "Sequence[HookFailure]") -> list[str]:
    """Say what went wrong at hooks lately."""
    lines = [f"{one.at}  {one.agent} {one.event}: {one.problem}" for one in failed]
    return lines or ["No recent failures."]


_ACTIONS = ("install", "remove", "status")


def _path(call: Call) -> Path:
    from workbench.services.agents.hooks import file_of

    of_user, agent = call.args.user, call.args.agent
    return file_of(agent, _home() if of_user else call.session.cwd, of_user=of_user)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise WorkbenchError(
            "Your home folder cannot be found.", "Set HOME to an absolute path."
        ) from error


# `workbench mcp`: a server for agents that speak the Model Context Protocol.


_MCP = """Serves this store to an agent over stdin and stdout, or with --http to several agents on this
machine. The agent can search, read, save signals, vote, and request that a memory be replaced or
forgotten; requests wait in Review, and area 5 shows what it asked. It is served what `search
--for-agent` prints: same masking, profile and relevance floor.

  claude mcp add memory -- workbench mcp --agent claude
  {"mcpServers": {"memory": {"command": "workbench", "args": ["mcp", "--agent", "NAME"]}}}

HTTP needs a bearer token; it is in your state folder, readable only by you. Needs the extra: pip
install 'memory-workbench[mcp]'."""


TOOL_GROUPS = ("few", "working", "plan", "all")
"""What `--tools` takes; `services.agents.api` says which tool is in which group."""


def tool_groups(text: str) -> tuple[str, ...]:
    """Read groups of tools with commas between them."""
    groups = tuple(dict.fromkeys(name for name in text.replace(",", " ").split()))
    if wrong := [name for name in groups if name not in TOOL_GROUPS]:
        raise ArgumentTypeError(
            f"there is no group {wrong[0]}; choose from {', '.join(TOOL_GROUPS)}"
        )
    if not groups:
        raise ArgumentTypeError(f"name a group: {', '.join(TOOL_GROUPS)}")
    return groups


def serve(call: Call) -> Answer:
    """Serve until the client goes or a signal comes."""
    session, args = call.session, call.args
    if session.serve_agents is None:
        raise WorkbenchError("The MCP server cannot be started.")
    if args.port > 65_535:
        raise WorkbenchError(f"There is no port {args.port}.", "Choose one below 65,536.")
    bench = session.open(session.choice(by_agent=True).folder, actor_of(args))
    if not bench.trust.standing.trusted:
        warn("Until then every tool answers with an error that says so.")
    return Answer(code=session.serve_agents(bench, args))


OPTIONS: Mapping[str, Option] = {
    "action": value("ACTION", f"one of: {', '.join(_ACTIONS)}", choices=_ACTIONS),
    "--agent:hooks": {"choices": tuple(HOOK_FILES), "default": "claude-code", "help": "default: claude-code"},
    "--project": flag("in the settings of this folder (the default)"),
    "--user": flag("in the settings of all your projects"),
    "--yes": flag("write without asking (not when run by an agent)"),
    "--http": flag("over HTTP on 127.0.0.1, for several clients"),
    "--port": value("N", "with --http (default: 8765)", type=count, default=8765),
    "--agent": text("the agent's name (default: as it introduces itself)", "NAME"),
    "--tools": value(
        "GROUPS",
        f"groups of tools, with commas: {', '.join(TOOL_GROUPS)} (default: few)",
        type=tool_groups,
        default=("few",),
    ),
    "--read-only": flag("offer no tool that writes"),
    "--allow-forget": flag("let an agent forget its own signals of this session at once, one at a time"),
    "--allow-llm": flag("let an agent's memory_reflect ask Claude, when there is a key"),
}  # fmt: skip

VERBS = (
    Verb("hooks", hooks, "install capture hooks", "action --agent:hooks --project|--user --yes --json", _DETAILS, None,
         unopened),
    Verb("mcp", serve, "serve the store to agents that speak MCP",
         "--http --port --agent --tools --read-only --allow-forget --allow-llm", _MCP, "--http --agent claude",
         unopened),
)  # fmt: skip
