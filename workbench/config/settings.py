"""What a person can set, with its defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.agents import AgentSettings
from workbench.core.duplicates.dedup import DedupThresholds
from workbench.core.reflection.llm import LlmSettings
from workbench.core.reflection.trigger import TriggerLimits
from workbench.core.review.lifecycle import LifecycleLimits
from workbench.core.stream.importance import GENERAL


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `theme` "" means no theme of ours, `editor` "" the caller's `$VISUAL` or `$EDITOR`,
    `model` `None` the bundled embedding model. `importance` names the table that rates observations, `keys` maps
    action ids to comma-separated key names.
    """

    theme: str = "workbench-dark"
    profile: str = "workbench"
    model: Path | None = None
    editor: str = ""
    importance: str = GENERAL.name
    keys: Mapping[str, str] = field(default_factory=dict)
    thresholds: DedupThresholds = field(default_factory=DedupThresholds)
    reflection: TriggerLimits = field(default_factory=TriggerLimits)
    lifecycle: LifecycleLimits = field(default_factory=LifecycleLimits)
    claude: LlmSettings = field(default_factory=LlmSettings)
    agents: AgentSettings = field(default_factory=AgentSettings)
