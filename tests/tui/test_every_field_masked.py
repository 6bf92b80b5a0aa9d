"""A store imported with a secret in every field: no screen and no dialog shows one, until a person
opens it.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.safety.fresh import fresh
from tests.services.conftest import ungated
from tests.tui.support import NOW, app_over, open_bench, screen_text
from tests.tui.waiting import until
from workbench.core.agents.read import AgentRead
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory, Source
from workbench.services.open import Workbench
from workbench.services.safety.secret_filter import IMPORT
from workbench.services.stream import votes
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.areas import AREAS, Area

SHOWN_ON_PURPOSE = ("edit", "external", "unfold", "split", "refine")
"""Actions that open a text as it is, for the person to change it or to look at it."""

LEFT_OUT = (
    *SHOWN_ON_PURPOSE,
    "quit",
    "copy",
    "undo",
    "redo",
    "stores",
    "back",
    "palette",
    "promote",
)

NAMED = frozenset({"file"})
"""What is shown on purpose where it may be changed: the name of the file that an export goes to."""

PREFIX = 12
"""Characters of a secret that nothing on a screen may hold."""


class Secrets:
    """Draws a secret for each field and remembers where it went."""

    def __init__(self) -> None:
        self.drawn: dict[str, str] = {}

    def __call__(self, where: str) -> str:
        self.drawn[where] = fresh(f"every {where}")["github"].secret
        return self.drawn[where]

    def on(self, app: WorkbenchApp) -> list[str]:
        """Return the fields whose secret, or how it begins, is on the screen."""
        text = screen_text(app)
        return [where for where, secret in self.drawn.items() if secret[:PREFIX] in text]


def memory(secret: Secrets, name: str, **more: object) -> Memory:
    def one(field: str) -> str:
        return secret(f"{name} {field}")

    made = Memory(
        one("id"), f"Deploys to {name} need {one('content')} and a green build.\nThen {one('second')}.",
        NOW - timedelta(days=len(secret.drawn)), NOW, summary=f"In short {one('summary')}", user_id=one("user"),
        session_id=one("session"), observation_type="general", section=f"Part {one('section')}",
        category=one("category"), tags=(one("tag"), "deploy"), source=Source(hook=one("hook"), speaker=one("speaker")),
        aliases=(one("alias"),), metadata={"note": one("note"), one("key"): {"deep": one("deep")}},
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


def imported(folder: Path, secret: Secrets) -> Workbench:
    """Return a store with a secret in every field of every kind of record."""
    bench = open_bench(folder)
    first, second, third, made, twin = (
        memory(secret, name) for name in ("one", "two", "three", "four", "five")
    )
    made = replace(made, status="candidate", is_synthetic=True, citations=(first.id, second.id))
    merge = Proposal(
        secret("proposal id"), "merge", "workbench", f"Merge {secret('proposal title')}", NOW, (first.id, twin.id),
        reasons=(f"It says {secret('reason')}",), flags=(secret("flag"),),
    )  # fmt: skip
    told = f"# {secret('book name')}\n\n## RULES {secret('heading')}\n"
    book = folder / f"{secret('file')}.txt"
    lines = (
        f"[{secret(f'bullet {n}')[:20].lower()}-0000{n}] helpful=2 harmful=0 :: Use {secret(f'rule {n}')} here"
        for n in (1, 2)
    )
    book.write_text(told + "\n".join(lines) + "\n")
    bench.importer.carry_out(bench.importer.plan(book))
    with (
        ungated(bench),
        bench.library.transaction(
            "import:x", f"import {secret('label')}", group=f"{IMPORT}1"
        ) as tx,
    ):
        for record in (first, second, third, made, twin, merge):
            tx.put(record)
    agent = f"agent:{secret('agent')}"
    read = AgentRead(
        secret("reading"), secret("reader"), NOW, f"how to {secret('question')}", secret("read in"), secret("door"),
        secret("profile"), (first.id, secret("gone")), (0.9, 0.8),
    )  # fmt: skip
    with ungated(bench), bench.library.transaction(agent, f"ingest {secret('agent label')}") as tx:
        tx.put(memory(secret, "six"))
        tx.put(read)
    with ungated(bench):
        told_by = replace(bench.context, actor=agent)
        votes.cast(
            told_by,
            third,
            "harmful",
            reason=f"no {secret('agent vote')}",
            session=secret("agent session"),
        )
        votes.cast(
            bench.context,
            first,
            "helpful",
            reason=f"says {secret('vote')}",
            session=secret("vote session"),
        )
        bench.stream.edit(second.id, f"Now {secret('edit')} and more of deploys.")
        asked = bench.judging.save_query(
            f"how to deploy {secret('query')}", tags=(secret("query tag"),)
        )
        bench.judging.judge(asked.text, None, first.id, 2)
        bench.judging.judge(asked.text, None, third.id, 0)
    return bench


def keys_of(area: Area) -> Iterator[tuple[str, str]]:
    """Yield the keys that open something, with their actions."""
    for action in (*area.actions, *AREAS.everywhere):
        name = action.id.rpartition(".")[2]
        if name not in LEFT_OUT and not action.id.startswith(
            ("list.", "slider.", "mark.", "reason.")
        ):
            yield action.keys.split(",")[0], action.id


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS.every, ids=[area.id for area in AREAS])
async def test_no_field_of_an_import_is_shown_with_its_secret(tmp_path: Path, area: Area) -> None:
    secret = Secrets()
    app = app_over(imported(tmp_path, secret))
    async with app.run_test(size=(160, 50)) as pilot:
        home = area.key
        found: dict[str, list[str]] = {}
        await look(app, pilot, home, secret, area.id, found)
        await until(pilot, lambda: app.bench.tuning.ready)
        for key, name in (*((key, key) for key in "jjjkkG"), *keys_of(area)):
            await look(app, pilot, key, secret, name, found)
            for more in ("j", "enter"):
                if len(app.screen_stack) > 1 and name not in ("app.reflect",):
                    await look(app, pilot, more, secret, f"{name} {more}", found)
            for _ in range(4):
                if len(app.screen_stack) > 1:
                    await look(app, pilot, "escape", secret, f"{name} escape", found)
            if name.startswith("app."):
                await pilot.press(home)
    assert found == {}


async def look(
    app: WorkbenchApp,
    pilot: Pilot[Path | None],
    key: str,
    secret: Secrets,
    name: str,
    found: dict[str, list[str]],
) -> None:
    await pilot.press(key)
    shown = [
        where for where in secret.on(app) if not (name == "playbook.export" and where in NAMED)
    ]
    if shown:
        found.setdefault(name, shown)
