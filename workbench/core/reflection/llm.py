"""What a person sets for reflections by a language model."""

from typing import NamedTuple


class LlmSettings(NamedTuple):
    """How Claude is asked.

    `temperature` (0–1) is sent only when it is set: not every model takes one. `max_tokens` bounds one reply,
    `monthly_tokens` everything sent and received in a calendar month (UTC; 0 means no bound). `memories` is how
    many of the latest memories one reflection reads. With `rate_importance` the model rates each insight 1–10;
    otherwise every insight gets importance 8 (source 000, algorithm 8). `rounds` bounds a refinement.
    The key is never part of the settings: the SDK finds it itself.
    """

    model: str = "claude-sonnet-5-5"
    temperature: float | None = None
    max_tokens: int = 2_000
    monthly_tokens: int = 1_000_000
    memories: int = 100
    rounds: int = 3
    rate_importance: bool = False
