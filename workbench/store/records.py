"""The kinds of records: where each is kept, how it is found, and what the rest of the workbench
does with it.

A line only names the record's class (`core.runtime`): a hook that adds one memory does not load the
others.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.core.runtime import implementation


class Waits(NamedTuple):
    """In which `states` a record waits for something: the `field` that says so, and what goes
    without saying.
    """

    field: str
    states: tuple[str, ...]
    default: str

    def state_of(self, fields: Mapping[str, object]) -> str | None:
        """Return the state of a record in which it waits, `None` when it does not."""
        state = fields.get(self.field, self.default)
        return state if isinstance(state, str) and state in self.states else None


class InBlob(NamedTuple):
    """What of a record lies beside the store (`store.blobs`), as a JSON object: the `field` with
    its hash.

    `words` are the parts of that object that say what the record says in words of its own: a purge
    takes those out of whatever else quotes them. What the others quote of somebody else is let
    alone.
    """

    field: str
    words: tuple[str, ...] = ()


class RecordType(NamedTuple):
    """A kind of record. `type` names its class, which has an `id` and a `version`; its documents
    lie in `table`.
    """

    type: str
    table: str
    word: str = ""
    """What one is called where those that a purge takes along are counted; one without is not
    mentioned.
    """
    within: tuple[str, str] | None = None
    """The field whose value stands before the id in its key, and that field's default."""
    refs: tuple[str, ...] = ()
    """The fields that name the records it is about: it is purged together with them."""
    counters: tuple[str, ...] = ()
    """The fields that change by increments, so that two actors who count at once do not clash."""
    is_named: bool = False
    """Whether its ids may be typed; those of others are put together from such."""
    is_copy: bool = False
    """Whether it says byte for byte what stands in a file: nothing in it is masked on the way in."""
    is_total: bool = False
    """Whether it is a running total: taking back a change takes its share out, whatever came on top
    since.
    """
    is_witness: bool = False
    """Whether it says what was seen outside the store. Where such a record was renewed since,
    taking back a change forgets it: what it says is then true of neither moment, and no reason to
    keep somebody from an undo.
    """
    is_numbered: bool = False
    """Whether two that were made under one id are two; elsewhere an id says what it is about."""
    waits: "Waits | None" = None
    """The states in which it waits for something: those are found by it."""
    made: str | None = None
    """The field that says when it was made, where those that were made last are looked for first."""
    blob: InBlob | None = None
    """What of it lies beside the store; without it, nothing does."""


_BOOK = ("book", "main")
_BY_AGENTS = ("helpful_by_agents", "harmful_by_agents")
_VOTES = (
    "helpful_imported",
    "helpful_absorbed",
    "helpful_votes",
    "harmful_imported",
    "harmful_votes",
)

RECORDS = (
    RecordType(
        "workbench.core.stream.memory:Memory", "memories",
        counters=(*_VOTES, *_BY_AGENTS, "helpful_created", "access_count"),
        is_named=True, is_numbered=True,
        waits=Waits("status", ("candidate",), "signal"), made="created_at",
    ),
    RecordType(
        "workbench.core.playbook.book:Bullet", "bullets",
        within=_BOOK, counters=(*_VOTES, "neutral_count"), is_named=True, is_numbered=True,
    ),
    RecordType("workbench.core.playbook.book:Section", "sections", within=_BOOK, is_named=True),
    RecordType("workbench.core.playbook.book:Book", "books", is_named=True),
    RecordType("workbench.core.stream.memory:Vote", "votes", "vote", refs=("target",)),
    RecordType("workbench.core.tuning.judgment:SavedQuery", "queries", is_named=True, is_numbered=True),
    RecordType("workbench.core.tuning.judgment:Judgment", "judgments", "judgment", refs=("memory",)),
    RecordType(
        "workbench.core.review.proposal:Proposal", "proposals", "proposal", refs=("evidence", "changes"),
        is_numbered=True, waits=Waits("state", ("open", "rejected"), "open"),
    ),
    RecordType(
        "workbench.core.reflection.trigger:ReflectionState", "reflection",
        counters=("accumulated_importance", "observations_since_last"), is_total=True,
    ),
    RecordType("workbench.core.safety:Override", "overrides", "permission", refs=("target",)),
    RecordType("workbench.core.promotion:Placement", "placements", refs=("memory",), is_copy=True),
    RecordType("workbench.core.reflection.llm:LlmRun", "runs", is_numbered=True),
    RecordType(
        "workbench.core.duplicates.groups:KeptPair", "kept_pairs", "kept-apart pair", refs=("left", "right"),
    ),
    RecordType("workbench.core.playbook.usage:UsageTally", "tallies"),
    RecordType("workbench.core.tuning.profile:StoreSetting", "settings"),
    RecordType("workbench.core.file_state:FileState", "files", is_witness=True),
    RecordType("workbench.core.agents.read:AgentRead", "reads", "reading", refs=("memories",), made="at"),
    RecordType("workbench.core.agents.document:Document", "documents", is_named=True, made="changed_at"),
    RecordType("workbench.core.agents.document:FollowedFolder", "folders"),
    RecordType("workbench.core.agents.document:EditedFile", "edited_files"),
    RecordType(
        "workbench.core.agents.episodes.episode:Episode", "episodes", is_named=True, is_numbered=True, made="at",
        blob=InBlob("hash", ("task", "reflection")),
    ),
    RecordType(
        "workbench.core.agents.episodes.episode:EpisodeNote", "episode_notes", "note", refs=("episode",), made="at",
    ),
    RecordType(
        "workbench.core.agents.episodes.episode:EpisodeUse", "episode_uses", "count of uses", refs=("episode",),
        counters=("access_count",),
    ),
    RecordType(
        "workbench.core.agents.episodes.criteria:EpisodeCluster", "episode_clusters", "cluster of episodes",
        refs=("representative", "members"),
    ),
    RecordType(
        "workbench.core.agents.patterns.pattern:Pattern", "patterns",
        counters=("usage_count",), is_named=True, is_numbered=True,
    ),
    RecordType(
        "workbench.core.agents.patterns.pattern:Application", "applications", "application", refs=("pattern",),
    ),
    RecordType("workbench.core.agents.working:Variable", "working", is_named=True),
    RecordType("workbench.core.agents.consolidation:ConsolidationRun", "consolidations", made="begun_at"),
    RecordType("workbench.core.health:PurgedRecord", "purged"),
)  # fmt: skip
"""The kinds of records that a store knows."""

TABLES = frozenset(kind.table for kind in RECORDS)
"""The tables of all kinds."""

COUNTERS = frozenset(name for kind in RECORDS for name in kind.counters)
"""The fields of any kind that change by increments, so that two actors who count at once do not
clash.
"""

COUNTERS_OF = {kind.table: frozenset(kind.counters) for kind in RECORDS}

NAMED = frozenset(kind.table for kind in RECORDS if kind.is_named)
COPIES = frozenset(kind.table for kind in RECORDS if kind.is_copy)
TOTALS = frozenset(kind.table for kind in RECORDS if kind.is_total)
WITNESSES = frozenset(kind.table for kind in RECORDS if kind.is_witness)
NUMBERED = frozenset(kind.table for kind in RECORDS if kind.is_numbered)

IN_BLOBS = {kind.table: kind.blob for kind in RECORDS if kind.blob is not None}
"""The tables of records of which a part lies beside the store."""

_BY_TABLE = {kind.table: kind for kind in RECORDS}
_TABLE_OF = {kind.type: kind.table for kind in RECORDS}


def table_of(kind: type) -> str:
    """Return the table of a kind of record; raises `KeyError` for one that is not known."""
    return _TABLE_OF[f"{kind.__module__}:{kind.__qualname__}"]


def kind_in(table: str) -> type:
    """Return the class of the records in a table; raises `KeyError` for one that is not known."""
    kind: type = implementation(_BY_TABLE[table].type)
    return kind


def key_of(table: str, doc: Mapping[str, Any]) -> str | None:
    """Return the key of a record: its id, and for parts of a playbook the book's id before it."""
    known = _BY_TABLE.get(table)
    name = doc.get("id")
    if not isinstance(name, str):
        return None
    return name if known is None or known.within is None else f"{doc.get(*known.within)}/{name}"


def key_of_record(table: str, record: Any) -> str:
    """Return the key of a record that is not written as a document (see `key_of`)."""
    within = _BY_TABLE[table].within
    return str(record.id) if within is None else f"{getattr(record, within[0])}/{record.id}"


def place_of(record: Any) -> tuple[str, str]:
    """Return the table and the key of a record; raises `KeyError` for one of a kind that is not
    known.
    """
    table = table_of(type(record))
    return table, key_of_record(table, record)


def state_in(table: str, fields: Mapping[str, object]) -> str | None:
    """Return the state of a record in which it waits for something, `None` when it does not."""
    return marks_of(table, fields)[0]


def marks_of(table: str, fields: Mapping[str, object]) -> tuple[str | None, str | None]:
    """Return the state of a record in which it waits for something, if it does, and when it was
    made.
    """
    known = _BY_TABLE.get(table)
    if known is None:
        return None, None
    at = None if known.made is None else fields.get(known.made)
    return None if known.waits is None else known.waits.state_of(fields), at if isinstance(
        at, str
    ) else None
