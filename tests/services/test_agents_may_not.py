"""What only a person decides and no command offers; the commands are walked in
tests/cli/test_who_is_who.py.
"""

from collections.abc import Callable

import pytest

from tests.services.conftest import Open, memory, put
from tests.services.experienced import said
from workbench.core.record import WorkbenchError
from workbench.services.forms import TEXT, MemoryForm
from workbench.services.open import Workbench
from workbench.services.stream.observation import Observation

ACTS: dict[str, Callable[[Workbench], object]] = {
    "change a form": lambda b: MemoryForm(b, "m1").write({"tags": "a"}, {"tags": ""}),
    "fill in a form": lambda b: MemoryForm(b).write({TEXT: "x"}, {}),
    "bring back": lambda b: b.ingest.append(Observation("Use npm here."), again=True),
}


@pytest.mark.parametrize("name", ACTS)
def test_an_agent_decides_nothing(bench: Workbench, open_bench: Open, name: str) -> None:
    put(bench, memory("m1", "Use npm here."))
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
