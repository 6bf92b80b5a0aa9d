"""The text that stands for a memory in embeddings and in full text."""

from workbench.core.memory import Memory


def memory_text(memory: Memory) -> str:
    """Return the content, preceded by the summary when that says something the content does not contain."""
    summary = memory.summary.strip()
    if not summary or summary in memory.content:
        return memory.content
    return f"{summary}\n{memory.content}"
