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
