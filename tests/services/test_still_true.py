"""“Still true?” asked of a made repository: what is found, what deciding does, and that nothing of
it runs.
"""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.repository import commit, git
from tests.services.conftest import files_in, memory, write
from workbench.config.loading import Settings
from workbench.core.record import WorkbenchError
from workbench.services.claims import GONE, RENAMED, TruePlan
from workbench.services.folder import is_open_to_git
from workbench.services.open import Workbench, open_workbench
from workbench.services.stream.fields import FieldEdit

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

NOW = datetime(2026, 3, 20, 18, tzinfo=UTC)

BEFORE = {
    "src/client.py": "def fetch_all(url):\n    return url\n\n\ndef old_helper():\n    return fetch_all('x')\n",
    "src/store.py": "class TokenStore:\n    limit_seconds = 3\n",
    "scripts/deploy.sh": "echo deploy\n",
    "Makefile": "client:\n\techo client\n\ndocs:\n\techo docs\n",
    "package.json": json.dumps({"scripts": {"check": "tsc", "build": "tsc -b"}}, indent=2),
    "README.md": "fetch_all and old_helper are explained here.\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository in whose past a function, a file and targets were renamed, and a function and a
    script went.
    """
    tree = tmp_path / "shop"
    for name, text in BEFORE.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, "utf-8")
    git(tree, "init", "-q", ".")
    commit(tree, "begun")
    (tree / "src/client.py").write_text("def fetch_pages(url):\n    return url\n", "utf-8")
    (tree / "src/store.py").rename(tree / "src/tokens.py")
    (tree / "Makefile").write_text("api-client:\n\techo client\n\ndocs:\n\techo docs\n", "utf-8")
    (tree / "package.json").write_text(
        json.dumps({"scripts": {"types": "tsc", "build": "tsc -b"}}, indent=2), "utf-8"
    )
    (tree / "scripts/deploy.sh").unlink()
    commit(tree, "renamed")
    return tree


def opened(tree: Path, *texts: str, **fields: object) -> Workbench:
    bench = open_workbench(tree / ".workbench", profiles=tree / "none", clock=lambda: NOW)
    given = {"memory_type": "semantic", "observation_type": "convention", **fields}
    write(bench, *(memory(f"m{number}", text, NOW, **given) for number, text in enumerate(texts)))
    return bench


def told(plan: TruePlan) -> dict[str, dict[str, str]]:
    return {one.record.id: {gone.name.written: gone.now for gone in one.gone} for one in plan.found}


@needs_git
def test_what_was_renamed_or_went_is_found_with_its_evidence(tree: Path) -> None:
    bench = opened(
        tree,
        "Call fetch_all() with the full address.", "`old_helper` must stay pure.", "Tokens: src/store.py, TokenStore.",
        "Run `make client` after a change.", "pnpm check before each push", "./scripts/deploy.sh needs AUTH_SECRET",
        "make docs and pnpm build", "fetch_all() was renamed in spring", "See docs/plan.md and asyncio.gather()",
    )  # fmt: skip
    plan = bench.still_true.plan()
    assert told(plan) == {
        "m0": {"fetch_all": "fetch_pages"}, "m1": {"old_helper": ""}, "m2": {"src/store.py": "src/tokens.py"},
        "m3": {"client": "api-client"}, "m4": {"check": "types"}, "m5": {"scripts/deploy.sh": ""},
    }  # fmt: skip
    (first,) = (one for one in plan.found if one.record.id == "m0")
    assert len(first.gone[0].commit) == 40
    assert first.gone[0].place == "src/client.py"
    assert bench.library.revision == 1


@needs_git
def test_an_option_that_the_own_parser_no_longer_has_is_found(tmp_path: Path) -> None:
    tree = tmp_path / "shop"
    tree.mkdir()
    lines = (
        '"--max-items", type=int',
        '"-f", "--force-all"',
        '"--quiet-mode"',
        '"--dry-run"',
        '"--color"',
    )
    (tree / "cli.py").write_text(
        "".join(f"parser.add_argument({line})\n" for line in lines), "utf-8"
    )
    (tree / "ci.yml").write_text("run: pytest --cov-report xml\n", "utf-8")
    git(tree, "init", "-q", ".")
    commit(tree, "begun")
    now = ('"--limit", type=int', '"-f", "--force-every", help="x"', '"--color"')
    text = "".join(f"parser.add_argument({line})\n" for line in now)
    (tree / "cli.py").write_text(f"def main(dry_run: bool) -> None: ...\n{text}", "utf-8")
    (tree / "ci.yml").write_text("run: pytest\n", "utf-8")
    commit(tree, "options")
    bench = opened(
        tree, "Pass --max-items 50 in the nightly job.", "Use `shop --force-all` after a restore.",
        "--quiet-mode keeps the log short", "Try it with --dry-run first", "shop --color is for terminals",
        "pytest --cov-report xml for the badge", "git log --oneline shows them",
    )  # fmt: skip
    plan = bench.still_true.plan()
    assert told(plan) == {
        "m0": {"--max-items": "--limit"}, "m1": {"--force-all": "--force-every"}, "m2": {"--quiet-mode": ""},
    }  # fmt: skip
    by_id = {one.record.id: one.proposal for one in plan.found}
    assert by_id["m0"].operation["content"] == "Pass --limit 50 in the nightly job."
    assert "--max-items is --limit now" in by_id["m0"].reasons[0]


@needs_git
def test_reports_bullets_and_what_is_archived(tree: Path) -> None:
    bench = opened(tree, "fetch_all() raised a timeout", observation_type="error")
    bullet = bench.playbooks.add_to_new_section("main", "Rules", "Call fetch_all() once")
    other = bench.playbooks.add("main", "rules", "old_helper() is slow")
    plan = bench.still_true.carry_out(bench.still_true.plan())
    assert {one.record.id for one in plan.found} == {bullet, other}
    by_id = {one.record.id: one.proposal.id for one in plan.found}
    bench.review.approve([by_id[bullet]])
    assert bench.library.bullets.get(f"main/{bullet}").content == "Call fetch_pages() once"
    bench.history.undo()
    assert bench.library.bullets.get(f"main/{bullet}").content == "Call fetch_all() once"
    bench.review.approve([by_id[other]])
    assert f"main/{other}" not in bench.library.bullets


@needs_git
def test_a_finding_is_decided_undone_and_not_asked_again(tree: Path) -> None:
    bench = opened(
        tree, "Call fetch_all() first.", "`old_helper` is pure.", "Tokens are in src/store.py."
    )
    plan = bench.still_true.carry_out(bench.still_true.plan())
    flags = {one.record.id: one.proposal.flags for one in plan.found}
    assert flags == {"m0": (RENAMED,), "m1": (GONE,), "m2": (RENAMED,)}
    names = {one.record.id: one.proposal.id for one in plan.found}
    assert bench.still_true.plan().is_empty
    assert len(bench.still_true.plan().open) == 3
    bench.review.edit(names["m1"], FieldEdit("`new_helper` is pure."))
    assert bench.review.get(names["m1"]).flags == ()
    assert bench.stream.get("m1").content == "`old_helper` is pure."
    bench.review.approve([names["m1"]])
    assert bench.stream.get("m1").content == "`new_helper` is pure."
    bench.history.undo()
    bench.history.undo()
    bench.review.approve([names["m0"], names["m1"]])
    assert bench.stream.get("m0").content == "Call fetch_pages() first."
    assert bench.stream.get("m1").archived_reason == "forgotten"
    bench.history.undo()
    assert bench.stream.get("m0").content == "Call fetch_all() first."
    bench.review.reject([names["m2"]])
    again = bench.still_true.plan()
    assert again.is_empty is True
    assert again.decided == 1
    assert len(again.open) == 2


@needs_git
def test_what_came_back_or_was_edited_is_withdrawn_and_a_changed_text_is_refused(
    tree: Path,
) -> None:
    bench = opened(tree, "Call fetch_all() first.", "Tokens are in src/store.py.")
    plan = bench.still_true.carry_out(bench.still_true.plan())
    names = {one.record.id: one.proposal.id for one in plan.found}
    bench.stream.edit("m0", "Call something.")
    with pytest.raises(WorkbenchError, match="changed since the check"):
        bench.review.approve([names["m0"]])
    (tree / "src/store.py").write_text("back = 1\n", "utf-8")
    later = bench.still_true.plan()
    assert {p.id for p in later.withdrawn} == set(names.values())
    bench.still_true.carry_out(later)
    assert bench.review.waiting() == 0


@needs_git
def test_what_is_not_committed_yet_is_found_too(tree: Path) -> None:
    (tree / "src/client.py").write_text("def fetch_everything(url):\n    return url\n", "utf-8")
    (tree / "src/tokens.py").unlink()
    bench = opened(
        tree, "Call fetch_pages() first.", "TokenStore is in src/tokens.py.", "fetch_all() is slow."
    )
    plan = bench.still_true.plan()
    assert told(plan) == {
        "m0": {"fetch_pages": "fetch_everything"}, "m1": {"src/tokens.py": "", "TokenStore": ""},
        "m2": {"fetch_all": "fetch_everything"},
    }  # fmt: skip


def test_without_git_a_path_into_a_folder_that_is_there_is_missed_and_no_more(
    tmp_path: Path,
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/there.py").write_text("x = 1\n", "utf-8")
    bench = opened(
        tmp_path, "See src/gone.py and src/there.py.", "See other/gone.py, missing_function()."
    )
    plan = bench.still_true.plan()
    assert told(plan) == {"m0": {"src/gone.py": ""}}
    assert plan.with_git is False


def test_without_a_working_tree_it_says_so(tmp_path: Path) -> None:
    bench = open_workbench(tmp_path / "store", profiles=tmp_path / "none", clock=lambda: NOW)
    with pytest.raises(WorkbenchError, match="belongs to no project"):
        bench.still_true.plan()
    with pytest.raises(WorkbenchError, match="is not a folder"):
        bench.still_true.plan(tmp_path / "nowhere")


@needs_git
def test_a_repository_runs_nothing_and_nothing_of_it_is_written(tree: Path, tmp_path: Path) -> None:
    """Whatever program its configuration, its attributes and its hooks name."""
    mark, program = tmp_path / "ran", tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\ncat\n", "utf-8")
    program.chmod(0o755)
    settings = (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand", "diff.external",
        "diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program",
        "credential.helper", "uploadpack.packObjectsHook", "pager.log", "pager.diff-index", "alias.log",
    )  # fmt: skip
    for name in settings:
        git(tree, "config", name, str(program))
    for name, value in (
        ("log.showSignature", "true"),
        ("core.hooksPath", str(tmp_path)),
        ("filter.x.required", "true"),
    ):
        git(tree, "config", name, value)
    git(tree, "config", "remote.origin.url", f"ext::{program}")
    git(tree, "config", "remote.origin.promisor", "true")
    git(tree, "config", "protocol.ext.allow", "always")
    (tree / ".gitattributes").write_text("* filter=x diff=x\n", "utf-8")
    for hook in (
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-checkout",
    ):
        shutil.copy(program, tree / ".git/hooks" / hook)
    mark.unlink(missing_ok=True)
    before = files_in(tree)
    bench = opened(tree, "Call fetch_all() first.", "Tokens are in src/store.py.")
    assert set(told(bench.still_true.plan())) == {"m0", "m1"}
    bench.close()
    assert not is_open_to_git(tree / ".workbench")
    (tree / ".workbench/.gitignore").rename(tree / "aside")
    assert is_open_to_git(tree / ".workbench")
    (tree / "aside").rename(tree / ".workbench/.gitignore")
    assert not mark.exists()
    after = files_in(tree)
    assert {path: data for path, data in after.items() if ".workbench" not in path.parts} == before


@needs_git
def test_a_broken_repository_is_like_none(tree: Path) -> None:
    (tree / ".git/HEAD").write_text("ref: refs/../../../etc/passwd\n", "utf-8")
    bench = opened(tree, "Call fetch_all() first.", "Tokens are in src/store.py.")
    assert told(bench.still_true.plan()) == {"m1": {"src/store.py": ""}}
    for name in (".git/HEAD", ".git"):  # a pipe or a device, which never ends
        kept = tree / "kept"
        (tree / name).rename(kept)
        os.mkfifo(tree / name)
        assert told(bench.still_true.plan()) == {"m1": {"src/store.py": ""}}
        (tree / name).unlink()
        (tree / name).symlink_to("/dev/zero")
        assert told(bench.still_true.plan()) == {"m1": {"src/store.py": ""}}
        (tree / name).unlink()
        kept.rename(tree / name)


@needs_git
def test_a_linked_worktree_and_a_folder_inside_have_the_same_past(
    tree: Path, tmp_path: Path
) -> None:
    git(tree, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    bench = opened(tree, "Call fetch_all() first.")
    for folder in (tmp_path / "linked", tree / "src"):
        assert told(bench.still_true.plan(folder)) == {"m0": {"fetch_all": "fetch_pages"}}


@needs_git
def test_it_stops_when_it_is_told_to(tree: Path) -> None:
    bench = opened(tree, "Call fetch_all() first.")
    with pytest.raises(WorkbenchError, match="was stopped"):
        bench.still_true.plan(cancelled=lambda: True)


@needs_git
@pytest.mark.parametrize("wanted", [True, False])
def test_before_a_reflection_it_is_asked_unless_a_setting_says_no(tree: Path, wanted: bool) -> None:
    opened(tree, "Call fetch_all() first.").close()
    settings = Settings(still_true=wanted)
    bench = open_workbench(
        tree / ".workbench", profiles=tree / "none", clock=lambda: NOW, settings=settings
    )
    bench.reflecting.reflect(bench.reflecting.plan("extractive"), lambda _: None, lambda: False)
    assert [p.kind for p in bench.library.proposals.all()] == (["stale"] if wanted else [])


@needs_git
def test_review_works_it_out_when_a_person_asks(tree: Path, tmp_path: Path) -> None:
    bench = opened(tree, "Call fetch_all() first.", "Call fetch_pages() last.")
    bench.working_out.run(lambda: False)
    assert [p for p in bench.review.found() if p.kind == "stale"] == []
    out = bench.working_out.run(lambda: False, asked=True)
    assert not out.problems
    (found,) = (p for p in bench.review.found() if p.kind == "stale")
    bench.review.approve([found.id])
    assert bench.stream.get("m0").content == "Call fetch_pages() first."
    assert [p for p in bench.review.found() if p.kind == "stale"] == []
    bench.history.undo()
    assert [p.id for p in bench.review.found() if p.kind == "stale"] == [found.id]
    elsewhere = opened(tmp_path / "elsewhere")
    elsewhere.still_true.before_reflection(lambda: False)  # without a repository it says nothing
    assert elsewhere.library.proposals.all() == []


@needs_git
def test_another_tree_says_nothing_of_what_waits_and_an_agent_names_none(
    tree: Path, tmp_path: Path
) -> None:
    bench = opened(tree, "Call fetch_all() first.")
    bench.still_true.carry_out(bench.still_true.plan())
    (waits,) = bench.library.proposals.all()
    (tmp_path / "empty").mkdir()
    other = bench.still_true.plan(tmp_path / "empty")
    assert not other.withdrawn
    bench.still_true.carry_out(other)
    assert bench.library.proposals.all() == [waits]
    agent = open_workbench(
        tree / ".workbench", profiles=tree / "none", clock=lambda: NOW, actor="agent:x"
    )
    with pytest.raises(WorkbenchError, match="An agent cannot propose by another working tree"):
        agent.still_true.carry_out(agent.still_true.plan(tmp_path / "empty"))


@pytest.mark.slow
@needs_git
def test_more_names_than_one_command_takes_are_asked_for_in_turns(tree: Path) -> None:
    names = " ".join(f"`some_quite_long_symbol_name_{number}()`" for number in range(900))
    texts = [names[at : at + 4000] for at in range(0, len(names), 4000)]
    bench = opened(tree, *texts, *texts, "Call fetch_all() first.", "a" * 30_000 + "_b() and c_d()")
    assert {"fetch_all": "fetch_pages"} in told(bench.still_true.plan()).values()
