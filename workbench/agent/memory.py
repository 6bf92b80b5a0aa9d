"""The memory of an agent in Python, by the names of source 004, section 4.4.

    memory = Memory.open(agent="planner", session="s1")
    memory.working.init("Add JWT authentication to auth.py. Tests must pass.")
    memory.get_context_for_task("add JWT authentication")
    memory.working.clear("SUCCESS")
    memory.close()

It has the rights of every agent: it is served what agents are served, and what it proposes waits
for a person. Everything raises `WorkbenchError`.
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from workbench.config import loading, paths
from workbench.core.agents.episodes.criteria import Criteria, Strategy
from workbench.core.agents.layers import USUAL
from workbench.core.agents.patterns.pattern import Outcome
from workbench.core.record import InvalidQuery
from workbench.services.agents.api import AgentApi
from workbench.services.agents.reading_log import ReadingLog
from workbench.services.agents.working import WorkingSession as WorkingMemory
from workbench.services.open import Workbench, open_workbench

__all__ = ["EpisodicMemory", "Memory", "PatternCache", "WorkingMemory"]

Json = Mapping[str, Any]


class EpisodicMemory:
    """What agents did. `filters` are those of a search for episodes: domain, type, outcome,
    session, since, …
    """

    def __init__(self, api: AgentApi) -> None:
        self._api = api

    def store_episode(self, episode: Json) -> Json:
        return self._api.keep_episode(episode)

    def retrieve_by_id(self, episode_id: str) -> Json:
        return self._api.episode_get(episode_id, trace=True)

    def search_semantic(
        self, query: str, k: int = 10, filters: Json | None = None
    ) -> Sequence[Json]:
        return self._find(query, "semantic", filters, k)

    def search_structured(self, criteria: Json, k: int = 10) -> Sequence[Json]:
        return self._find("", "structured", criteria, k)

    def get_recent(self, n: int = 10, filters: Json | None = None) -> Sequence[Json]:
        return self._find("", "temporal", filters, n)

    def get_similar_failures(self, failure_signature: str, k: int = 5) -> Sequence[Json]:
        return self._find(failure_signature, "failure", None, k)

    def _find(self, query: str, strategy: Strategy, filters: Json | None, k: int) -> Sequence[Json]:
        try:
            criteria = Criteria(**(filters or {}))
        except TypeError as error:
            raise InvalidQuery(
                "There is no such filter.", f"Filters: {', '.join(Criteria.__slots__)}."
            ) from error
        return cast(
            Sequence[Json], self._api.find_episodes(query, strategy, criteria, k)["episodes"]
        )


class PatternCache:
    """What agents learned. Deprecating asks a person, and a validation takes effect by one."""

    def __init__(self, api: AgentApi) -> None:
        self._api = api

    def add_pattern(self, pattern: Json) -> str:
        return str(self._api.add_pattern(dict(pattern))["id"])

    def get_pattern(self, pattern_id: str) -> Json:
        return self._api.get_pattern(pattern_id)

    def find_applicable(self, task: str, context: Json | None = None, k: int = 5) -> Sequence[Json]:
        return cast(
            Sequence[Json],
            self._api.find_patterns(task, facts=dict(context or {}), limit=k)["patterns"],
        )

    def record_application(self, pattern_id: str, episode_id: str, outcome: Outcome) -> Json:
        return self._api.record_application(pattern_id, episode_id, outcome)

    def validate_patterns(self, pattern_ids: Sequence[str] = ()) -> Json:
        return self._api.validate_patterns(list(pattern_ids))

    def deprecate_pattern(self, pattern_id: str, reason: str) -> Json:
        return self._api.propose_pattern_change("deprecate", [pattern_id], reason)


class Memory:
    """The three memories of one agent session, and what goes across them."""

    def __init__(self, bench: Workbench, agent: str = "python", session: str = "") -> None:
        self._bench, self._log = bench, ReadingLog(bench.follow)
        self._api = AgentApi(
            bench, agent, session or f"{agent}-{secrets.token_hex(4)}", self._log, door="python"
        )
        self.working: WorkingMemory = self._api.working_memory
        self.episodes, self.patterns = EpisodicMemory(self._api), PatternCache(self._api)

    @classmethod
    def open(cls, store: Path | None = None, agent: str = "python", session: str = "") -> "Memory":
        """Open a store, else that of the working directory, as the app finds it."""
        return cls(open_for(agent, store), agent, session)

    def get_context_for_task(self, task: str, budget: int = USUAL, error: str = "") -> Json:
        """Return applicable_patterns, similar_episodes, and what else is known for a task."""
        return self._api.get_context_for_task(task, budget, error)

    def learn_from_episode(self, episode: Json, reflection_insights: Sequence[str] = ()) -> Json:
        """Store an episode, count it for its patterns, and return the learning summary."""
        return self._api.learn_from_episode(dict(episode), list(reflection_insights))

    def close(self) -> None:
        """Keep what was read, and let go of the store."""
        self._log.flush()
        self._bench.close()


def open_for(agent: str, store: Path | None = None) -> Workbench:
    """Open a store, else that of the working directory, as the app finds it. Raises `StoreProblem`."""
    folder = paths.find_store(Path.cwd(), store).folder
    loaded = loading.load(paths.config_dir() / loading.FILE_NAME)
    return open_workbench(
        folder,
        profiles=paths.config_dir() / "profiles",
        replaced=paths.replaced_dir(),
        settings=loaded.settings,
        given=loaded.given,
        actor=f"agent:{agent}",
        heads=paths.heads_dir(),
        believed=paths.is_believed(folder),
    )
