"""What an MCP tool answered."""

from typing import Any

from mcp.types import CallToolResult, TextContent


def text_of(result: Any) -> str:
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def said(result: Any) -> dict[str, Any]:
    assert isinstance(result, CallToolResult)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def ask(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return what it answered, in values."""
    return said(await client.call_tool(tool, arguments))


async def words(client: Any, tool: str, **arguments: Any) -> str:
    """Call a tool and return its answer as text, also when it failed."""
    return text_of(await client.call_tool(tool, arguments))
