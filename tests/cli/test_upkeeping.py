"""`workbench upkeep` and `workbench dedup`: proposals, and nothing but proposals."""

from datetime import timedelta

from tests.cli.conftest import NOW, Cli, files_of
from workbench.core.stream.memory import Memory
from workbench.store.library import Library

FRIDAY = "Deploys on Friday need a second person"


def fill(cli: Cli, *memories: Memory) -> None:
    library = Library(cli.store, lambda: NOW)
    with library.transaction("cli", "some memories") as tx:
        for memory in memories:
            tx.put(memory)
    library.close()


def made(id: str, content: str, days: float, **fields: object) -> Memory:
    at = NOW - timedelta(days=days)
    return Memory(id, content, at, at, **fields)  # type: ignore[arg-type]


def test_upkeep_says_first_and_proposes_then(cli: Cli) -> None:
    fill(
        cli,
        made("old", "a note nobody read", 20),
        made("seen", "said again and again", 2, helpful_absorbed=3),
    )
    before = files_of(cli.store)
    dry = cli.json("upkeep", "--dry-run")
    assert files_of(cli.store) == before
    out = cli.ok("upkeep")
    assert "archive as noise: 1\n  old  untouched for 20 days  a note nobody read" in out
    assert "2 changes proposed; they wait in Review." in out
    library = Library(cli.store, lambda: NOW)
    assert [p["id"] for p in dry["proposals"]] == [p.id for p in library.proposals.all()]
    assert {m.status for m in library.memories.all()} == {"signal"}
    again = cli.ok("upkeep")
    assert "Nothing to propose." in again
    assert "2 proposals from an earlier run" in again


def test_prunes_of_important_memories_are_approved_by_id_only(cli: Cli) -> None:
    fill(
        cli,
        made("old", "a note nobody read", 20),
        made("gold", "worth more", 20, importance_score=9),
    )
    done = cli("review", "approve", "--kind", "prune", "--found", "--yes")
    assert "Skipped: 1 memory of importance 8 or more; archive them by ID." in done.err
    library = Library(cli.store, lambda: NOW)
    assert [library.memories.get(id).status for id in ("old", "gold")] == ["archived", "signal"]
    assert cli("review", "approve", "--kind", "prune", "--found", "--yes").code == 2
    (left,) = cli.json("review", "list", "--kind", "prune", "--found")
    cli.ok("review", "approve", left["id"])
    library.refresh()
    assert library.memories.get("gold").status == "archived"


def test_dedup_proposes_groups_and_lists_what_only_looks_alike(cli: Cli) -> None:
    fill(
        cli,
        made("a", FRIDAY, 3), made("b", FRIDAY, 2),
        made("c", "always pnpm, never npm", 3), made("d", "always npm, never pnpm", 2),
    )  # fmt: skip
    before = files_of(cli.store)
    dry = cli.json("dedup", "--dry-run")
    assert files_of(cli.store) == before
    (group,), (pair,) = dry["groups"], dry["apart"]
    assert (dry["proposed"], dry["would_propose"]) == (0, 1)
    assert (group["exact"], group["keeps"], [m["id"] for m in group["members"]]) == (
        True,
        "a",
        ["b", "a"],
    )
    assert pair["pairs"][0]["verdict"]["conflicts"] == ["negation differs", "word order differs"]
    out = cli.ok("dedup")
    assert (
        "Similar, but different:\nsimilarity 1.000 · negation differs, word order differs" in out
    )
    assert (
        "4 memories compared from similarity 0.71 on. 1 group proposed; it waits in Review." in out
    )
    library = Library(cli.store, lambda: NOW)
    assert [(p.kind, p.id, p.actor) for p in library.proposals.all()] == [
        ("merge", group["proposal"], "workbench")
    ]
    assert "No duplicates to propose.\n1 merge in Review already" in cli.ok("dedup")


def test_sentences_about_different_things_are_never_a_group(cli: Cli) -> None:
    fill(
        cli,
        made("a", "What is the highest degree your mom completed?", 3),
        made("b", "What is the highest degree your dad completed?", 2),
        made("c", "Klaus Mueller is sleeping", 3), made("d", "Klaus Mueller is idle", 2),
    )  # fmt: skip
    dry = cli.json("dedup", "--dry-run")
    assert dry["groups"] == []
    assert {flag for pair in dry["apart"] for flag in pair["flags"]} == {
        "words differ: dad / mom", "words differ: idle / sleeping",
    }  # fmt: skip
    assert "run it again" not in cli.ok("dedup")


def test_a_threshold_has_to_be_one(cli: Cli) -> None:
    fill(cli, made("a", FRIDAY, 3), made("b", f"{FRIDAY} today", 2))
    for wrong in ("0", "1.5", "much"):
        result = cli("dedup", "--threshold", wrong)
        assert (result.code, "at most 1" in result.err) == (2, True)
    assert "No duplicates" in cli.ok("dedup", "--threshold", "1")
    assert "1 group proposed" in cli.ok("dedup", "--threshold", "0.5")


def test_an_empty_store_has_nothing_to_propose(cli: Cli) -> None:
    cli.ok("init")
    before = cli.files()
    assert cli.ok("upkeep", "--dry-run") == "Nothing to propose.\n"
    assert "No duplicates to propose." in cli.ok("dedup", "--dry-run")
    assert cli.files() == before
