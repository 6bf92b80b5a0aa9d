"""What an agent asked for and was given: the record behind "why was this recalled", and what a
person judges it by.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.core.document import Record

# Who brought a text, and whether a person stands by it.


ProvenanceKind = Literal["person", "agent", "import", "reflection", "hook", "unknown"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who brought a text: what kind of source, and its name where it has one ("claude", a
    reflector's name).

    `approved` says that a person wrote the text as it is, or approved it since; `disputed` what
    contradicts it, or what it contradicts.
    """

    kind: ProvenanceKind
    name: str = ""
    approved: bool = False
    disputed: str = ""


UNKNOWN = Provenance("unknown")


About = Literal["", "context", "episodes", "patterns", "documents"]
"""What an agent's question was about, where it was not the memories alone."""


class AgentRead(Record, frozen=True):
    """One question of an agent, and the answer to it.

    Where it `is_question` no longer, it looked memories up by their ids, without scores; `query`
    then names what it read as a whole (`playbook`, `index`), or is empty.

    `agent` is what it calls itself, a label and no proof; `session` the agent session it was asked
    in, empty where nobody said. `door` says by which way it came: `cli`, `mcp` or `hook`. `query`
    is masked. `memories` are the ids that were given, best first, with their `scores` under
    `profile` and, in newer records, their `relevances`; none where `is_empty`, nothing being
    relevant. `documents` are the places in documents that were given, as they are cited, `episodes`
    the ids of those given. `held`, `unapproved` and `weak` count what was left out, as in
    `services.agents.serving.Served`. `about` says what was looked through; older records, and a
    search of the memories, leave it empty. `parent` names the process that started the one it was
    asked through, empty where nobody looked.
    """

    id: str
    agent: str
    at: datetime
    query: str
    session: str = ""
    door: str = "cli"
    profile: str = ""
    memories: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    is_empty: bool = False
    held: int = 0
    unapproved: int = 0
    weak: int = 0
    documents: tuple[str, ...] = ()
    version: int = 1
    is_question: bool = True
    parent: str = ""
    episodes: tuple[str, ...] = ()
    about: About = ""
    relevances: tuple[float, ...] = ()
