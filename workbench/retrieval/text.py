"""The text that stands for a memory in embeddings and in full text."""

from workbench.core.stream.memory import Memory


def searched_text(memory: Memory) -> str:
    """Return the content, preceded by the summary when that says something the content does not contain."""
    return text_of(*content_and_summary(memory))


def content_and_summary(memory: Memory) -> tuple[str, str]:
    """Return what its text is made of."""
    return memory.content, memory.summary


def text_of(content: str, summary: str) -> str:
    """Return the text of something with this content and summary (see `searched_text`)."""
    summary = summary.strip()
    if not summary or summary in content:
        return content
    return f"{summary}\n{content}"
