"""The text that stands for a memory in embeddings and in full text."""

from workbench.core.stream.memory import Memory


def searched_text(memory: Memory) -> str:
    """Return the content, preceded by the summary when that says something the content does not contain."""
    content, summary = memory.content, memory.summary.strip()
    return content if not summary or summary in content else f"{summary}\n{content}"
