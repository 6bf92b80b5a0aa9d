"""`workbench hooks`: lets an agent run the workbench at its hooks, and takes that back."""

import difflib
import os
import shutil
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, wants_json
from workbench.cli.session import FOUND, Session, actor_of
from workbench.config import paths
from workbench.core.agents.actors import agent_in
from workbench.core.agents.hook_event import HOOK_FILES
from workbench.core.record import WorkbenchError

if TYPE_CHECKING:
    from workbench.services.agents.hooks import Plan


_DETAILS = """install lets an agent run `workbench capture` when a session begins and ends, at each prompt, and before
and after it is compacted: what it teaches is kept, and it begins with a brief of the project. The change of the agent's
settings is shown first, everything else in the file stays as it is, and a copy of the file is kept. remove takes the
hooks out again. status says what is installed, and what went wrong lately. --project means the settings of this folder
that are yours alone, --user those of all your projects. Inside an agent it is refused.

  workbench hooks install --agent claude-code --user"""


def add_commands(commands: Commands) -> None:
    parser = add_command(commands, "hooks", hooks, "install capture hooks", _DETAILS)
    parser.add_argument(
        "action", metavar="ACTION", choices=tuple(_ACTIONS), help=f"one of: {', '.join(_ACTIONS)}"
    )
    parser.add_argument(
        "--agent", choices=tuple(HOOK_FILES), default="claude-code", help="default: claude-code"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--project", action="store_true", help="in the settings of this folder (the default)"
    )
    where.add_argument("--user", action="store_true", help="in the settings of all your projects")
    parser.add_argument(
        "--yes", action="store_true", help="write without a question (not under an agent)"
    )
    add_json(parser)
    add_mcp(commands)


def hooks(session: Session) -> int:
    """Install or remove hooks, or say what is installed."""
    return _ACTIONS[session.args.action](session)


def _install(session: Session) -> int:
    from workbench.services.agents.hooks import plan_install

    code = _carry_out(session, plan_install(session.args.agent, _path(session), _program(session)))
    if code == 0 and not wants_json(session.args):
        say(
            f"To let it search and save as well: {_OFFERS[session.args.agent].format(program=_program(session)[0])}"
        )
        if session.args.agent == "codex":
            say(
                "Codex asks you once whether you trust its hooks; an older one runs none unless its config.toml says"
            )
            say("codex_hooks = true under [features].")
    return code


def _remove(session: Session) -> int:
    from workbench.services.agents.hooks import plan_removal

    return _carry_out(session, plan_removal(session.args.agent, _path(session)))


def _carry_out(session: Session, plan: "Plan") -> int:
    from workbench.services.agents.hooks import carry_out
    from workbench.services.files.replaced import Replaced

    args = session.args
    _require_person()
    if plan.is_done:
        return _told(session, plan, changed=False, said="Nothing to do: it is so already.")
    if not wants_json(args):
        say(_diff(plan))
    if not _agreed(yes=args.yes):
        say("Nothing was changed.")
        return FOUND
    copy = carry_out(plan, Replaced(paths.replaced_dir()))
    kept = f" What it held before is kept in {copy}." if copy is not None else ""
    return _told(session, plan, changed=True, said=f"Written: {plan.path}.{kept}")


def _told(session: Session, plan: "Plan", *, changed: bool, said: str) -> int:
    if wants_json(session.args):
        write_json({"agent": session.args.agent, "file": plan.path, "changed": changed})
    else:
        say(said)
    return 0


def _status(session: Session) -> int:
    from workbench.services.agents.capture.progress import failures
    from workbench.services.agents.hooks import file_of, hooked

    places = ((_home(), True), (session.cwd, False))
    found = {
        agent: [
            hooked(agent, file_of(agent, folder, of_user=of_user)) for folder, of_user in places
        ]
        for agent in HOOK_FILES
    }
    captures = paths.captures_dir()
    went_wrong = () if captures is None else failures(captures)
    if wants_json(session.args):
        listed = {
            agent: [
                {"file": one.path, "events": one.events, "missing": one.missing} for one in files
            ]
            for agent, files in found.items()
        }
        write_json({"agents": listed, "failures": [one._asdict() for one in went_wrong]})
        return 0
    for agent, files in found.items():
        for one in files:
            say(f"{agent}  {one.path}: {', '.join(one.events) or 'not installed'}")
            for program in one.missing:
                say(f"  {program} is not there any more; `workbench hooks install` names this one.")
    for failure in went_wrong:
        say(f"{failure.at}  {failure.agent} {failure.event}: {failure.problem}")
    if not went_wrong:
        say("No hook failed lately.")
    return 0


_ACTIONS = {"install": _install, "remove": _remove, "status": _status}


_OFFERS = {
    "claude-code": "claude mcp add memory -- {program} mcp --agent claude",
    "codex": "codex mcp add memory -- {program} mcp --agent codex",
    "cursor": 'put "memory": {{"command": "{program}", "args": ["mcp", "--agent", "cursor"]}} '
    'under "mcpServers" in ~/.cursor/mcp.json',
}
"""How each agent is given the server, in words."""


def _path(session: Session) -> Path:
    from workbench.services.agents.hooks import file_of

    of_user = session.args.user
    return file_of(session.args.agent, _home() if of_user else session.cwd, of_user=of_user)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise WorkbenchError(
            "Your home folder cannot be found.", "Set HOME to an absolute path."
        ) from error


def _program(session: Session) -> tuple[str, ...]:
    """Return how this workbench is called from anywhere, with the store that was named."""
    own = Path(sys.executable).with_name("workbench")
    called = str(own) if own.exists() else shutil.which("workbench")
    program = (called,) if called else (sys.executable, "-m", "workbench")
    named = session.args.store
    return (*program, "--store", str(session.cwd / named)) if named is not None else program


def _diff(plan: "Plan") -> str:
    before, after = (plan.before or "").splitlines(), plan.after.splitlines()
    return "\n".join(
        difflib.unified_diff(before, after, str(plan.path), str(plan.path), lineterm="", n=2)
    )


def _require_person() -> None:
    if agent := agent_in(os.environ):
        hint = "Nothing was changed; run it in a terminal of your own."
        raise WorkbenchError(f"An agent ({agent}) cannot decide what its hooks run.", hint)


def _agreed(*, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError(
            "No terminal to ask in.", "Nothing was changed; --yes writes it unasked."
        )
    sys.stdout.write("Write this? Type yes: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() == "yes"


# `workbench mcp`: a server for agents that speak the Model Context Protocol.


_MCP = """Serves this store to an agent over stdin and stdout, or with --http to several on this machine. The agent
searches, reads, saves signals, votes, and asks a person to replace or forget; what it wishes waits in Review, and what
it asked stands in area 5. It is served what `search --for-agent` prints: masked, held back, under the same profile and
floor.

  claude mcp add memory -- workbench mcp --agent claude
  {"mcpServers": {"memory": {"command": "workbench", "args": ["mcp"]}}}

Over HTTP a bearer token is needed; it lies in your state folder, for you alone. Needs the extra: pip install
'memory-workbench[mcp]'."""


TOOL_GROUPS = ("few", "working", "plan", "all")
"""What `--tools` takes; `services.agents.api` says which tool is in which group."""


def tool_groups(text: str) -> tuple[str, ...]:
    """Read groups of tools with commas between them."""
    groups = tuple(dict.fromkeys(name for name in text.replace(",", " ").split()))
    if wrong := [name for name in groups if name not in TOOL_GROUPS]:
        raise ArgumentTypeError(
            f"there is no group {wrong[0]}; groups are {', '.join(TOOL_GROUPS)}"
        )
    if not groups:
        raise ArgumentTypeError(f"name a group: {', '.join(TOOL_GROUPS)}")
    return groups


def add_mcp(commands: Commands) -> None:
    """Add `mcp`."""
    parser = add_command(
        commands,
        "mcp",
        serve,
        "serve the store to agents that speak MCP",
        _MCP,
        example="--http --agent claude",
    )
    parser.add_argument(
        "--http", action="store_true", help="over HTTP on 127.0.0.1, for several clients"
    )
    parser.add_argument(
        "--port", metavar="N", type=count, default=8765, help="with --http (default: 8765)"
    )
    about = "what the agent is called (otherwise: what it calls itself)"
    parser.add_argument("--agent", metavar="NAME", default="", help=about)
    about = f"groups of tools, with commas: {', '.join(TOOL_GROUPS)} (default: few)"
    parser.add_argument("--tools", metavar="GROUPS", type=tool_groups, default=("few",), help=about)
    parser.add_argument("--read-only", action="store_true", help="no tool that writes")
    about = "let an agent forget its own signals of this session at once, one at a time"
    parser.add_argument("--allow-forget", action="store_true", help=about)
    about = "let an agent's memory_reflect ask Claude, when there is a key"
    parser.add_argument("--allow-llm", action="store_true", help=about)


def serve(session: Session) -> int:
    """Serve until the client goes or a signal comes."""
    if session.serve_agents is None:
        raise WorkbenchError("This door cannot serve agents.")
    if session.args.port > 65_535:
        raise WorkbenchError(f"There is no port {session.args.port}.", "Choose one below 65,536.")
    bench = session.open(session.choice().folder, actor_of(session.args))
    if not bench.trust.standing.trusted:
        warn("Until then every tool answers with an error that says so.")
    return session.serve_agents(bench, session.args)
