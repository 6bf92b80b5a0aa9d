"""The file of the MCP memory server."""
