"""From the arguments of the command to a server that runs."""

import contextlib
import sys
import threading
from argparse import Namespace
from typing import Any

from workbench.config import paths
from workbench.core.record import WorkbenchError
from workbench.core.runtime import share_memory
from workbench.mcp.server import Clients, cleaned_name, serve_stdio
from workbench.services.agents.reading_log import DoorRules, parent_process
from workbench.services.open import Workbench

_SETTLED_S = 3.0
"""How long after its start a server begins to get ready: the first question is not to share the
machine with that.
"""


def _get_ready(bench: Workbench, writes: bool) -> None:
    """Find out meanwhile what later questions would wait for; what goes wrong is met again by them,
    and said.

    A server that `writes` then compares what hooks captured, too.
    """
    from workbench.services.safety.provenance import learn_all

    with contextlib.suppress(WorkbenchError):
        bench.retriever.load()
        learn_all(bench.context)
        bench.safety.prepare()
        if writes:
            bench.catch_up.run()
        bench.keep_caches()  # a client that kills its server leaves the next one a fast start all the same


def serve(bench: Workbench, args: Namespace) -> int:
    """Serve an open store as the arguments say; ends the process when the client goes. Raises
    `WorkbenchError`.
    """
    share_memory()
    agent = cleaned_name(args.agent) if args.agent else ""
    ready = threading.Timer(_SETTLED_S, _get_ready, (bench, not args.read_only))
    ready.daemon = True
    ready.start()
    # Over HTTP the parent is whoever started the server, and of no client.
    parent = "" if args.http else parent_process()
    clients = Clients(
        bench, agent, DoorRules(args.read_only, args.allow_forget, args.allow_llm), parent=parent
    )
    options: dict[str, Any] = {"groups": args.tools, "reads_only": args.read_only}
    if not args.http:
        serve_stdio(bench, clients, **options)
        return 0
    from workbench.mcp.http import HOST, serve_http, token_in

    state = paths.state_dir()
    token = token_in(state)
    sys.stderr.write(
        f"Serving http://{HOST}:{args.port}/mcp; the bearer token is in {state / paths.MCP_TOKEN}.\n"
    )
    sys.stderr.flush()
    serve_http(bench, clients, args.port, token, **options)
    return 0
