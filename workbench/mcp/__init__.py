"""The front door for agents: a server that speaks MCP, over stdio or over HTTP on this machine."""
