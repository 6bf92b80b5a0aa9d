"""What a call of the Messages API brings, as values that cross threads."""

from dataclasses import dataclass, field

from workbench.core.reflection.reflector import Usage
from workbench.reflect.claude.trouble import Trouble


@dataclass(frozen=True, slots=True)
class Reach:
    """How to reach Claude. Without a key the SDK looks for one; times are in seconds."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    connect_timeout: float = 10.0
    retries: int = 3


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that came in."""

    text: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens as the API counts them; `None` for what it did not say."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a call: the API's reason to stop ("" if it gave none), or the trouble."""

    reason: str = ""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call brought: all text that came in, the tokens, why it stopped or what went wrong."""

    text: str
    usage: Usage
    reason: str = ""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The API took the request: the headers of an answer that is no error came in."""


Event = Delta | Counted | Accepted | Ended
