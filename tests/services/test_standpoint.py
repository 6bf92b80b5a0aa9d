"""A store that is looked at as it was: what would write a file beside it, or keep something of it,
does not.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.conftest import NOON, files_in
from tests.services.experienced import material
from workbench.core.record import OnlyLookedAt
from workbench.core.stream.memory import Memory
from workbench.services.open import Workbench, open_workbench
from workbench.services.promotion.promotion import Target


def at(bench: Workbench, rev: int) -> Workbench:
    """Open the store of a bench as it was right after a revision, with what it has around it."""
    context = bench.context
    return open_workbench(
        bench.library.folder, profiles=Path("none"), cache=context.caches.parent.parent, at=rev,
        replaced=context.documents.replaced, documents=context.documents,
    )  # fmt: skip


def test_what_would_write_a_file_is_refused_before_it_does(around: Workbench) -> None:
    past = at(around, around.library.revision)
    folder = past.library.folder
    before = files_in(folder)
    plan = past.promotion.plan(["mem-20260206-0000004"], Target("block", "CLAUDE.md"))
    opened = past.documents.opened(past.documents.followed()[0])
    document = opened.documents[0]
    ways: list[Callable[[], object]] = [
        lambda: past.promotion.carry_out(plan),
        lambda: past.documents.trust(opened),
        lambda: past.documents.edit(opened.folder, document, document.document.content + "More.\n"),
        lambda: past.stream.pin(["mem-20260206-0000004"]),
    ]
    for way in ways:
        with pytest.raises(OnlyLookedAt):
            way()
    past.close()
    assert files_in(folder) == before


@pytest.mark.slow
def test_the_clock_stands_still_there(around: Workbench) -> None:
    past = at(around, 3)
    assert past.library.standpoint is not None
    assert past.context.now() == past.library.standpoint.at
    assert past.context.now() == past.context.now() <= NOON


@pytest.mark.slow
def test_what_an_agent_would_be_given_is_what_there_was(around: Workbench) -> None:
    rev, id = around.library.revision, "mem-20260209-0000020"
    around.stream.edit(id, "Use npm or pnpm in web, both are allowed everywhere now.")

    def given(bench: Workbench) -> str:
        bench.retriever.load()
        made = material(bench, "pnpm or npm in web").cut(20_000)
        return "\n".join(item.text for layer in made.layers for item in layer.items)

    assert "allowed everywhere" in given(around)
    assert "allowed everywhere" not in given(at(around, rev))


@pytest.mark.slow
def test_nothing_of_it_is_kept_for_the_present(around: Workbench) -> None:
    around.retriever.load()
    around.keep_caches()
    around.close()
    past = at(around, 1)
    past.retriever.load()
    past.keep_caches()
    past.close()
    assert past.library.saved == ""
    assert past.library.since_saved(Memory) is None
    again = at(around, around.library.revision)
    assert len(again.retriever.load().pool) == len(around.library.memories)
