"""The text that stands for a memory, or for what else can be searched, in embeddings and in full text."""

from workbench.core.searchable import Searchable


def searched_text(item: Searchable) -> str:
    """Return the content, preceded by the summary when that says something the content does not contain."""
    return text_of(*content_and_summary(item))


def content_and_summary(item: Searchable) -> tuple[str, str]:
    """Return what its text is made of; what is no memory mostly has no summary."""
    return item.content, getattr(item, "summary", "")


def text_of(content: str, summary: str) -> str:
    """Return the text of something with this content and summary (see `searched_text`)."""
    summary = summary.strip()
    if not summary or summary in content:
        return content
    return f"{summary}\n{content}"
