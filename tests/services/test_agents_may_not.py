"""What only a person decides: by whatever service an agent tries it, it is refused and nothing is
written.
"""

from collections.abc import Callable

import pytest

from tests.services.conftest import Open, memory, put
from tests.services.experienced import pattern, said
from workbench.core.record import WorkbenchError
from workbench.services.forms import TEXT, MemoryForm
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation
from workbench.services.stream.replacing import Wanted

NPM = Wanted("npm", "pnpm", word=True)
ACTS: dict[str, Callable[[Workbench], object]] = {
    "note an episode": lambda b: b.episodes.note("ep-1", "x"),
    "tag an episode": lambda b: b.episodes.tag("ep-1", ["x"]),
    "delete an episode": lambda b: b.episodes.delete("ep-1"),
    "restore an episode": lambda b: b.episodes.restore("ep-1"),
    "approve an episode": lambda b: b.episodes.approve("ep-1"),
    "change a pattern": lambda b: b.patterns.update("pat-1", {"name": "x"}),
    "approve a pattern": lambda b: b.patterns.approve("pat-1"),
    "refine a pattern": lambda b: b.patterns.refine("pat-1"),
    "deprecate a pattern": lambda b: b.patterns.deprecate("pat-1", "x"),
    "restore a pattern": lambda b: b.patterns.restore("pat-1"),
    "merge patterns": lambda b: b.patterns.merge(["pat-1"]),
    "supersede a pattern": lambda b: b.patterns.supersede("pat-1", "pat-1"),
    "prune patterns": lambda b: b.patterns.prune(["pat-1"]),
    "validate patterns": lambda b: b.patterns.validate(),
    "relate patterns": lambda b: b.patterns.relate("pat-1", "contradicts", "x"),
    "consolidate": lambda b: b.consolidating.carry_out(),
    "change a form": lambda b: MemoryForm(b, "m1").write({"tags": "a"}, {"tags": ""}),
    "fill in a form": lambda b: MemoryForm(b).write({TEXT: "x"}, {}),
    "replace": lambda b: b.replacing.carry_out(NPM, b.replacing.places(NPM)),
    "bring back": lambda b: b.ingest.append(Observation("Use npm here."), again=True),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_agent_decides_nothing(bench: Workbench, open_bench: Open, name: str) -> None:
    put(bench, memory("m1", "Use npm here."))
    bench.episodes.store(said("Deploy", episode_id="ep-1"))
    bench.patterns.add([pattern(pattern_id="pat-1")])
    agent = open_bench("agent:claude")
    rev = agent.library.revision
    with pytest.raises(WorkbenchError, match=r"[Aa]gent|person"):
        ACTS[name](agent)
    assert agent.library.revision == rev


def test_what_an_agent_adds_is_its_own_and_nothing_speaks_for_it(
    bench: Workbench, open_bench: Open
) -> None:
    agent = open_bench("agent:claude")
    doc = said("What I did", lifecycle={"access_count": 900, "archival_status": "deleted"})
    head = agent.episodes.store(doc, session="s-7").episode
    opened = agent.episodes.open(head.id)
    assert opened.use.access_count == 0
    assert opened.phase == "active"
    assert opened.body.session == "s-7"
    assert agent.consolidating.look().stages, "it may look"
    bench.library.refresh()
    assert bench.episodes.get(head.id) == head
