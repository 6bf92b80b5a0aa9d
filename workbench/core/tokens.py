"""An estimate of how many tokens a text costs, without any model's tokenizer."""

CHARACTERS_PER_TOKEN = 4
"""The usual rule of thumb for English text; it is stated wherever an estimate is shown."""


def estimated_tokens(characters: int) -> int:
    """Return a number of characters as tokens: one per four, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def tokens_of(text: str) -> int:
    """Return how many tokens a text is taken to cost: one per four bytes of UTF-8, rounded up."""
    return estimated_tokens(len(text.encode("utf-8", "surrogatepass")))
