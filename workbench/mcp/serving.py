"""From the arguments of the command to a server that runs."""

import sys
from argparse import Namespace

from workbench.bench.agents.door import DoorRules
from workbench.bench.open import Workbench
from workbench.config import paths
from workbench.mcp.clients import Clients, cleaned_name


def serve(bench: Workbench, args: Namespace) -> int:
    """Serve an open store as the arguments say; ends the process when the client goes. Raises `WorkbenchError`."""
    agent = cleaned_name(args.agent) if args.agent else ""
    clients = Clients(bench, agent, DoorRules(args.read_only, args.allow_forget))
    options = {"every": args.tools == "all", "reads_only": args.read_only, "asks_claude": args.allow_llm}
    if not args.http:
        from workbench.mcp.running import serve_stdio

        serve_stdio(bench, clients, **options)
        return 0
    from workbench.mcp.http import HOST, TOKEN, serve_http, token_in

    token = token_in(paths.state_dir())
    sys.stderr.write(f"Serving http://{HOST}:{args.port}/mcp; the bearer token is in {paths.state_dir() / TOKEN}.\n")
    sys.stderr.flush()
    serve_http(bench, clients, args.port, token, **options)
    return 0
