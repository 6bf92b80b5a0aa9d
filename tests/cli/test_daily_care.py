"""Edit, pin, forget and unforget, bullets, and archiving: each one action with an actor, which undo
takes back.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOW, Cli
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench

SECRET = "ghp_" + "Kq7vR2xT9mZ4pL8sW3nB6yC1dF5gH0jAeXuQ"


@pytest.fixture
def care(cli: Cli) -> Cli:
    """A store with a memory of each status that is edited, and a playbook."""
    bench = open_workbench(cli.store, profiles=cli.cwd / "none", clock=lambda: NOW)
    with bench.library.transaction("human", "set up") as tx:
        tx.put(Memory("m1", "Builds are green", NOW, NOW, tags=("ci",)))
        tx.put(Memory("m2", "Deploys run on Friday", NOW, NOW, status="confirmed"))
        tx.put(Memory("m3", "Caches are cold at night", NOW, NOW, status="candidate"))
    bench.playbooks.add_to_new_section("main", "Hard rules", "Never deploy on Friday")
    bench.playbooks.add_to_new_section("main", "Pitfalls", "Caches are cold")
    bench.close()
    return cli


def shown(cli: Cli, id: str) -> dict[str, Any]:
    doc: dict[str, Any] = cli.json("show", id)
    return doc


def actor(cli: Cli) -> str:
    return str(cli.json("history", "-n", "1")[0]["actor"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--content", "Builds are red"), "content", "Builds are red"),
        (("--summary", "a  line\nof it"), "summary", "a line of it"),
        (("--type", "gotcha"), "observation_type", "gotcha"),
        (("--memory-type", "semantic"), "memory_type", "semantic"),
        (("--importance", "7.5"), "importance_score", 7.5),
        (("--confidence", "4"), "confidence", 4),
        (("--tags", "a, b,a"), "tags", ["a", "b"]),
        (("--tags", ""), "tags", []),
        (("--add-tag", "new", "--remove-tag", "ci"), "tags", ["new"]),
        (("--category", "command"), "category", "command"),
        (("--section", "Build"), "section", "Build"),
        (("--related", "m2,m3"), "related", ["m2", "m3"]),
        (("--session", "s-1"), "session_id", "s-1"),
        (
            ("--speaker", "Ann Lee"),
            "source",
            {"file": None, "hook": None, "speaker": "Ann Lee", "turn": None},
        ),
        (("--status", "confirmed"), "status", "confirmed"),
        (("--status", "candidate"), "status", "candidate"),
    ],
)
def test_every_field_is_edited_and_undone(
    options: tuple[str, ...], field: str, value: object, care: Cli
) -> None:
    before = shown(care, "m1")
    assert care.json("edit", "m1", *options) == {
        "id": "m1",
        "changed": True,
        "ids": ["m1"],
    }
    assert shown(care, "m1")[field] == value
    care.ok("undo")
    assert shown(care, "m1") == before


def test_several_memories_get_the_same_values_all_or_none(care: Cli) -> None:
    care.ok("edit", "m1", "--also", "m2", "--add-tag", "ops", "--category", "ci")
    assert [shown(care, id)["tags"] for id in ("m1", "m2")] == [["ci", "ops"], ["ops"]]
    result = care("edit", "m1", "--also", "m2", "--status", "confirmed")
    assert (result.code, "Memory m2 is confirmed" in result.err) == (0, False)  # m2 is so already
    result = care("edit", "m1", "--also", "m2", "--status", "candidate", "--category", "else")
    assert (result.code, "cannot be put up for review" in result.err) == (2, True)
    assert shown(care, "m2")["category"] == "ci"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("m1", "--content", " "), "its content is empty"),
        (("m1", "--content", "x" * 10_001), "1 characters too long"),
        (("m1", "--importance", "11"), "no number from 0 to 10"),
        (("m1", "--importance", "nan"), "no number from 0 to 10"),
        (("m1", "--confidence", "6"), "must be a whole number from 0 to 5"),
        (("m1", "--type", "nonsense"), "invalid choice"),
        (("m1", "--status", "archived"), "invalid choice"),
        (("m3", "--status", "candidate", "--related", "m3"), "m3 is not related to itself"),
        (("m1", "--related", "gone"), "There is no memory gone"),
        (("m1", "--also", "m2", "--content", "one"), "One text is no text for several memories"),
        (("m1", "one", "--content", "two"), "The text was given twice"),
        (("mm1", "--add-tag", "x"), "Did you mean m1?"),
        (("har-00001", "--importance", "3"), "is a bullet"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(
    arguments: tuple[str, ...], said: str, care: Cli
) -> None:
    id = next(bullet["id"] for bullet in care.json("bullet", "list"))
    arguments = tuple(id if argument == "har-00001" else argument for argument in arguments)
    before = care.files()
    result = care("edit", *arguments)
    assert (result.code, said in result.err) == (2, True), result.err
    assert care.files() == before


def test_without_options_the_editor_opens(care: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/green/blue/")
    care.ok("edit", "m1")
    assert shown(care, "m1")["content"] == "Builds are blue"
    assert "Nothing differs" in care.ok("edit", "m1")
    assert care("edit", "m1", "--also", "m2").code == 2
    monkeypatch.setenv("EDITOR", "false")
    result = care("edit", "m1")
    assert (result.code, "false ended with an error (1)" in result.err) == (2, True)
    monkeypatch.delenv("EDITOR")
    assert "There is no terminal for an editor" in care("edit", "m1").err
    monkeypatch.setenv("EDITOR", "sed -i s/blue/red/")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "An agent has no editor here" in care("edit", "m1").err


def test_a_secret_is_masked_and_kept_on_a_word(care: Cli) -> None:
    for command in (
        ("edit", "m1", "--summary"),
        ("bullet", "add", "Pitfalls"),
        ("forget", "m2", "--reason"),
    ):
        result = care(*command, f"see {SECRET}")
        assert (result.code, "Secrets were masked" in result.err) == (0, True), result.err
        assert SECRET not in "".join(map(str, care.files().values()))
        care.ok("undo")
    care.ok("edit", "m1", "--summary", f"see {SECRET}", "--keep")
    assert SECRET in "".join(map(str, care.files().values()))
    assert SECRET not in care("show", "m1").out


def test_pins_go_on_and_off_for_both_kinds(care: Cli) -> None:
    bullet = care.json("bullet", "list")[0]["id"]
    care.ok("pin", "m1", bullet)
    assert (shown(care, "m1")["pinned"], shown(care, bullet)["pinned"]) == (True, True)
    assert care.ok("pin", "m1") == "Pinned already: m1.\n"
    care.ok("pin", "--off", bullet, "m1")
    assert (shown(care, "m1")["pinned"], shown(care, bullet)["pinned"]) == (False, False)
    care.ok("undo")
    assert (shown(care, "m1")["pinned"], shown(care, bullet)["pinned"]) == (True, True)


def test_what_is_forgotten_comes_back(care: Cli) -> None:
    care.ok("forget", "m1", "m2", "--reason", "the old cluster")
    assert {shown(care, id)["archived_reason"] for id in ("m1", "m2")} == {"forgotten"}
    assert "forget 2 records: the old cluster" in care.ok("history", "-n", "1")
    assert care("forget", "m1").code == 2
    care.ok("unforget", "m2", "m1")
    assert [shown(care, id)["status"] for id in ("m1", "m2")] == ["signal", "confirmed"]
    assert "cannot be restored" in care("unforget", "m1").err
    assert "is a bullet" in care("forget", care.json("bullet", "list")[0]["id"]).err


def test_bullets_are_added_edited_moved_and_listed(care: Cli) -> None:
    care.ok("bullet", "add", "hard rules", "Second rule")
    ids = [row["id"] for row in care.json("bullet", "list")]
    care.ok("bullet", "edit", ids[1], "Second rule, in other words")
    care.ok("bullet", "move", ids[1], "Pitfalls", "--also", ids[0], "--position", "1")
    rows = care.json("bullet", "list")
    assert [row["content"] for row in rows] == [
        "Second rule, in other words",
        "Never deploy on Friday",
        "Caches are cold",
    ]
    assert [row["id"] for row in care.json("bullet", "list", "-cold")] == [
        ids[1],
        ids[0],
    ]
    for _ in range(3):
        care.ok("undo")
    assert [row["content"] for row in care.json("bullet", "list")] == [
        "Never deploy on Friday",
        "Caches are cold",
    ]


def test_the_nearest_section_is_named_and_a_new_one_made_on_a_word(care: Cli) -> None:
    result = care("bullet", "add", "Pitfall", "x")
    assert (result.code, "Did you mean “Pitfalls”?" in result.err) == (2, True)
    care.ok("bullet", "add", "Fresh", "A third", "--make-section")
    assert "Fresh" in care.ok("bullet", "list", "section:fresh")
    care.ok("undo")
    assert "No bullet matches" in care("bullet", "list", "section:fresh").err


def test_old_memories_are_archived_into_a_file_that_import_reads(care: Cli, tmp_path: Path) -> None:
    care.ok("pin", "m1")
    options = ("--before", "2026-04-01", "--to", "memory-archive.jsonl")
    dry = care.told("archive", *options, "--status", "confirmed", "--dry-run")
    assert (dry["ids"], dry["dry_run"]) == (["m2"], True)
    assert shown(care, "m2")["status"] == "confirmed"
    assert (
        "1 memory of that age stays: pinned." in care("archive", *options, "--status", "signal").err
    )
    care.ok("archive", *options, "--status", "confirmed")
    care.ok("archive", *options, "--status", "candidate")
    assert [
        (shown(care, id)["status"], shown(care, id)["archived_reason"]) for id in ("m2", "m3")
    ] == [
        ("archived", "done"),
        ("archived", "pruned"),
    ]
    lines = [
        json.loads(line) for line in (care.cwd / "memory-archive.jsonl").read_text().splitlines()
    ]
    assert [(line["id"], line["status"]) for line in lines] == [
        ("m2", "archived"),
        ("m3", "archived"),
    ]
    care.bare("import", "memory-archive.jsonl", "--store", str(tmp_path / "other"))
    assert "archived 2" in care.bare("stats", "--store", str(tmp_path / "other")).out
    care.ok("undo")
    assert shown(care, "m3")["status"] == "candidate"


def test_a_file_of_somebody_else_is_not_replaced_and_nothing_is_archived(care: Cli) -> None:
    care.write("hand.jsonl", "my own notes\n")
    result = care(
        "archive", "--before", "2026-04-01", "--status", "confirmed", "--to", "hand.jsonl"
    )
    assert (result.code, "was never read or written here" in result.err) == (2, True), result.err
    assert (care.cwd / "hand.jsonl").read_text() == "my own notes\n"
    assert shown(care, "m2")["status"] == "confirmed"
    assert care("archive", "--before", "2026-04-01", "--status", "archived").code == 2


def test_votes_and_an_approval_make_a_memory_surer_and_a_persons_word_stays(care: Cli) -> None:
    care.ok("edit", "m3", "--status", "confirmed")
    for actor_name in ("agent:claude", "agent:codex"):
        care.ok("vote", "m3", "helpful", "--actor", actor_name)
    care.ok("vote", "m3", "helpful")
    sure = shown(care, "m3")["confidence_scored"]
    told = [(one["rule"], one["count"], one["points"]) for one in sure["reasons"]]
    assert (sure["value"], sure["said"], told) == (4, None, [("approved", 1, 2), ("helpful", 2, 2)])
    assert "4 of 5: approved (+2) · marked helpful twice (+2)" in care.ok("show", "m3")
    assert care.ok("list", "confidence:>3", "--json").count('"id"') == 1
    care.ok("edit", "m3", "--confidence", "1")
    assert "1 of 5: said to be 1" in care.ok("show", "m3")
    care.ok("undo")
    assert shown(care, "m3")["confidence_scored"] == sure
    care.ok("vote", "m3", "harmful")
    assert shown(care, "m3")["confidence_scored"]["value"] == 2


def test_the_reasons_of_a_confidence_are_worked_out_anew_wherever_they_are_read(care: Cli) -> None:
    care.ok("edit", "m2", "--confidence", "4")
    (care.cwd / "all.json").write_text(care.ok("list", "id:m2", "--json"), encoding="utf-8")
    other = str(care.cwd / "other")
    care.bare("--store", other, "import", "all.json")
    doc = json.loads(care.bare("--store", other, "show", "m2", "--json").out)
    assert "confidence_scored" not in doc["metadata"]
    assert doc["confidence_scored"]["value"] == 4
