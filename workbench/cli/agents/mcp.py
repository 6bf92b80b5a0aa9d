"""`workbench mcp`: a server for agents that speak the Model Context Protocol."""

from argparse import ArgumentTypeError

from workbench.cli.output import warn
from workbench.cli.parsing import Commands, add_command, count
from workbench.cli.session import Session, actor_of
from workbench.core.record import WorkbenchError

_DETAILS = """Serves this store to an agent over stdin and stdout, or with --http to several on this machine. The agent
searches, reads, saves signals, votes, and asks a person to replace or forget; what it wishes waits in Review, and what
it asked stands in area 5. It is served what `search --for-agent` prints: masked, held back, under the same profile and
floor.

  claude mcp add memory -- workbench mcp --agent claude
  {"mcpServers": {"memory": {"command": "workbench", "args": ["mcp"]}}}

Over HTTP a bearer token is needed; it lies in your state folder, for you alone. Needs the extra: pip install
'memory-workbench[mcp]'."""


TOOL_GROUPS = ("few", "working", "plan", "all")
"""What `--tools` takes; `mcp.tools` says which tool is in which group."""


def tool_groups(text: str) -> tuple[str, ...]:
    """Read groups of tools with commas between them."""
    groups = tuple(dict.fromkeys(name for name in text.replace(",", " ").split()))
    if wrong := [name for name in groups if name not in TOOL_GROUPS]:
        raise ArgumentTypeError(f"there is no group {wrong[0]}; groups are {', '.join(TOOL_GROUPS)}")
    if not groups:
        raise ArgumentTypeError(f"name a group: {', '.join(TOOL_GROUPS)}")
    return groups


def add_commands(commands: Commands) -> None:
    """Add `mcp`."""
    parser = add_command(
        commands, "mcp", serve, "serve the store to agents that speak MCP", _DETAILS, example="--http --agent claude"
    )
    parser.add_argument("--http", action="store_true", help="over HTTP on 127.0.0.1, for several clients")
    parser.add_argument("--port", metavar="N", type=count, default=8765, help="with --http (default: 8765)")
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
