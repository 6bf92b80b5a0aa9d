"""What a person can set, with its defaults: values, which everything that runs is given."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.agents.actors import AgentSettings
from workbench.core.agents.layers import ContextSettings
from workbench.core.limits import DedupThresholds, LifecycleLimits, LlmSettings, TriggerLimits
from workbench.core.stream.importance import GENERAL

if TYPE_CHECKING:
    from workbench.core.stream.confidence import SavedView


class MemorySettings(NamedTuple):
    """Whether the external memory of agents' sessions is looked through, and how many results are
    usual.
    """

    enabled: bool = True
    default_limit: int = 5


class Settings(NamedTuple):
    """All settings. `theme` "" means no theme of ours, `editor` "" the caller's `$VISUAL` or
    `$EDITOR`, `model` `None` the bundled embedding model. `importance` names the table that rates
    observations, `keys` maps action ids to comma-separated key names. `floor` says whether a query
    may have no relevant memory at all. `index_file` is where an overview is written after each
    reflection, empty for nowhere; `views` are those of the Stream that were saved. `capture` is
    "lessons" or "liberal". `still_true` says whether what memories name is looked for before a
    reflection.
    """

    theme: str = "workbench-dark"
    profile: str = "workbench"
    model: Path | None = None
    editor: str = ""
    importance: str = GENERAL.name
    floor: bool = True
    index_file: str = ""
    still_true: bool = True
    capture: str = "lessons"
    keys: Mapping[str, str] = MappingProxyType({})
    thresholds: DedupThresholds = DedupThresholds()
    reflection: TriggerLimits = TriggerLimits()
    lifecycle: LifecycleLimits = LifecycleLimits()
    claude: LlmSettings = LlmSettings()
    agents: AgentSettings = AgentSettings()
    memory: MemorySettings = MemorySettings()
    context: ContextSettings = ContextSettings()
    views: "tuple[SavedView, ...]" = ()


class Loaded(NamedTuple):
    """The settings that hold, a sentence for each thing that does not, and the keys the file really
    sets.

    `given` tells a chosen value from an equal default (dotted names such as
    `thresholds.duplicate`), since a model may bring thresholds of its own.
    """

    settings: Settings
    problems: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
