"""The methods of `AgentApi` as tools of a server."""

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from msgspec import Meta
from pydantic import Field

from workbench.core.record import WorkbenchError
from workbench.mcp.clients import Clients
from workbench.services.agents.api import TOOLS, ToolEntry
from workbench.services.agents.blocks import Json

Ctx = Context[Any, Any]

ALIASES = (
    ("k", "limit"),
    ("id", "memory_id"),
    ("bullet", "bullet_id"),
    ("text", "content", "observation"),
    ("kind", "observation_type", "type"),
)
"""Names of arguments that mean the same; a tool takes each for the one that it has."""


def renamed(arguments: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the arguments of a call under the names that its tool has; one that is null counts as left out."""
    same = {name: next((one for one in names if one in known), name) for names in ALIASES for name in names}
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        meant = name if name in known else same.get(name, name)
        if value is not None:
            found[name if meant in found else meant] = value
    return found


def add_tools(server: "MCPServer[Any]", clients: Clients, groups: Collection[str], *, reads_only: bool) -> None:
    """Register the tools of some groups; those that write only where that is allowed."""
    for entry in TOOLS:
        if entry.offered(groups) and not (entry.writes and reads_only):
            hints = ToolAnnotations(read_only_hint=not entry.writes, destructive_hint=False, open_world_hint=False)
            server.add_tool(_for_clients(clients, entry), name=entry.name, annotations=hints)


def _for_clients(clients: Clients, entry: ToolEntry) -> Callable[..., Any]:
    """Return what carries out the calls of all clients, each on a thread that nobody waits for when the server ends.

    What cannot be done reaches the model as a sentence.
    """

    async def run(ctx: Ctx, **arguments: Any) -> dict[str, Any]:
        try:
            clients.admit()
            call = partial(entry.call, clients.of(ctx), **arguments)
            return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        except WorkbenchError as error:
            raise ToolError(clients.bench.safety.masked(str(error))) from error

    hints = get_type_hints(entry.call, include_extras=True)
    given = list(inspect.signature(entry.call).parameters.values())[1:]
    asked = [one.replace(kind=one.KEYWORD_ONLY, annotation=_field(hints[one.name])) for one in given]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Ctx)
    signature = inspect.Signature([context, *asked], return_annotation=Json)
    run.__name__, run.__doc__ = entry.name, entry.call.__doc__
    run.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()} | {"return": Json}
    vars(run)["__signature__"] = signature
    return run


def _field(annotation: Any) -> Any:
    """Return the type of an argument with what is said of it in the words of the library."""
    if get_origin(annotation) is not Annotated:
        return annotation
    wanted, said = get_args(annotation)
    assert isinstance(said, Meta)
    names = ("description", "ge", "le", "min_length", "max_length")
    return Annotated[wanted, Field(**{name: found for name in names if (found := getattr(said, name)) is not None})]
