"""Who brought a text, and whether a person stands by it."""

from dataclasses import dataclass
from typing import Literal

ProvenanceKind = Literal["person", "agent", "import", "reflection", "hook", "unknown"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who brought a text: what kind of source, and its name where it has one ("claude", a reflector's name).

    `approved` says that a person wrote the text as it is, or approved it since; `disputed` what contradicts it, or what
    it contradicts.
    """

    kind: ProvenanceKind
    name: str = ""
    approved: bool = False
    disputed: str = ""


UNKNOWN = Provenance("unknown")
