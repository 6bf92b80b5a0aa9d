"""The text that stands for a memory in embeddings and in full text."""

from workbench.core.stream.memory import Memory


def memory_text(memory: Memory) -> str:
    """Return the content, preceded by the summary when that says something the content does not contain."""
    return text_of(memory.content, memory.summary)


def text_of(content: str, summary: str) -> str:
    """Return the text of a memory with this content and summary (see `memory_text`)."""
    summary = summary.strip()
    if not summary or summary in content:
        return content
    return f"{summary}\n{content}"
