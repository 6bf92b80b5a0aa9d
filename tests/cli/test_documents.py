"""`documents` and `recall` on the command line: what is shown, followed, trusted, written and found."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.shared import configure
from workbench.services.context import encoded

KEY = "AKIAZ7QWERTYUI5PLMNB"


@pytest.fixture
def session(cli: Cli) -> Path:
    """A session of external memory of the working directory."""
    root = Path.home() / ".ai" / "sessions" / encoded(cli.cwd.resolve()) / "s-1"
    (root / "working-memory" / "detail").mkdir(parents=True)
    (root / "working-memory" / "overview.md").write_text(
        "# Working Memory\n\n## Current Task\nTokens\n"
    )
    (root / "working-memory" / "detail" / "auth.md").write_text(
        f"# Auth\n\n## Decision\nUse JWT. Key {KEY}.\n"
    )
    (root / "messages.jsonl").write_text(
        '{"role": "user", "content": "Which JWT?"}\nno JSON, JWT\n'
    )
    return root


@pytest.fixture(autouse=True)
def _a_person(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """Run as a person who has a store."""
    cli("ingest", "something else")
    for name in ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "AI_AGENT", "AGENT"):
        monkeypatch.delenv(name, raising=False)


def test_a_folder_is_shown_by_section_with_tokens(cli: Cli, session: Path) -> None:
    shown = cli("documents", str(session))
    assert shown.code == 0
    assert "external memory · 2 documents" in shown.out
    assert "Current Task" in shown.out
    answer = cli.told("documents", str(session))
    assert [d["path"] for d in answer["documents"]] == ["overview.md", "detail/auth.md"]
    section = answer["documents"][1]["sections"][1]
    assert [section[name] for name in ("title", "level", "line", "end")] == ["Decision", 2, 3, 4]
    size = (session / "messages.jsonl").stat().st_size
    assert answer["messages"] == {"path": "messages.jsonl", "bytes": size}
    assert str(session) in cli("documents").out


def test_one_document_is_shown_without_its_secrets(cli: Cli, session: Path) -> None:
    auth = str(session / "working-memory" / "detail" / "auth.md")
    shown = cli("documents", auth)
    assert "Use JWT." in shown.out
    assert KEY not in shown.out
    assert "Secrets are masked" in shown.err
    assert KEY in cli("documents", auth, "--show-secrets").out
    assert KEY not in cli("documents", str(session), "--changes").out


def test_a_document_is_written_and_undone(cli: Cli, session: Path) -> None:
    overview = session / "working-memory" / "overview.md"
    before = overview.read_bytes()
    new = cli.write("new.md", "# Working Memory\n\n## Current Task\nBuild\n")
    assert "Written" in cli("documents", str(overview), "--write", str(cli.cwd / new)).out
    assert "Build" in overview.read_text()
    assert cli("undo").code == 0
    assert overview.read_bytes() == before


def test_what_nobody_looked_at_reaches_no_agent_until_it_is_trusted(
    cli: Cli, session: Path
) -> None:
    given = cli("recall", "JWT", "--for-agent", "claude")
    assert "Found 0 result(s)" in given.out
    assert "not reviewed" in given.err
    assert cli("documents", str(session), "--trust").code == 2  # nobody is there to be asked
    assert "Trusted" in cli("documents", str(session), "--trust", "--yes").out
    listed = cli("documents", str(session)).out
    assert "reviewed" in listed
    assert "not reviewed" not in listed
    given = cli("recall", "JWT", "--for-agent", "claude", "--session", "s")
    assert "Citation: detail/auth.md#L4" in given.out
    assert KEY not in given.out
    (read,) = cli.told("reads", "--session", "s")
    assert read["agent"] == "claude"
    assert read["is_empty"] is False
    assert "detail/auth.md#L4" in read["documents"]
    assert "3 served" in cli("reads").out


def test_what_nobody_approved_of_documents_is_given_to_no_agent_that_is_served_approved_texts(
    cli: Cli, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("documents", str(session), "--trust", "--yes")
    configure('[agents]\nserve = "approved"\n')
    said = [cli(way, "JWT", "--for-agent", "claude").out for way in ("context", "recall")]
    monkeypatch.setenv("CLAUDECODE", "1")
    whole = str(session / "working-memory" / "overview.md")
    for command, text in (("context", "JWT"), ("recall", "JWT"), ("documents", whole)):
        said.append(cli(command, text).out)
    for text in ("Working Memory", "Which JWT", "Use JWT"):
        assert text not in "".join(said)
    Path(whole).write_text("Somebody else's words\n")
    refused = cli("documents", str(session), "--trust", "--yes").err
    assert "An agent cannot trust documents" in refused


def test_recall_prints_what_the_source_asks_for(cli: Cli, session: Path) -> None:
    found = cli("recall", "which jwt")
    assert found.out.startswith(
        'Found 3 result(s) for: "which jwt"\n\n[1] Source: messages\n    Line: 1\n'
    )
    said = "1 line contains the words and cannot be read as messages: messages.jsonl:2."
    assert said in found.err
    answer = cli.told("recall", "jwt", "--scope", "messages", "--limit", "1")
    assert answer["sources"] == ["messages"]
    assert answer["found"] == 2
    assert len(answer["results"]) == 1
    assert answer["broken_lines"] == [{"file": "messages.jsonl", "line": 2}]


def test_a_secret_in_a_question_is_not_echoed_to_an_agent(cli: Cli, session: Path) -> None:
    asked = "jwt AKIAZ7QWERTYUI5PLMNB"
    assert "AKIAZ7" not in cli("recall", asked, "--for-agent", "claude", "--json").out
    assert "AKIAZ7" not in cli("recall", asked, "--for-agent", "claude").out


@pytest.mark.parametrize(
    "command",
    [
        "documents /memories/a.md --write pipe", "pattern add pipe", "pattern export pipe", "scan pipe", "check pipe",
        "import pipe", "lint pipe", "replay pipe", "episode add pipe", "capture transcript pipe",
    ],
)  # fmt: skip
@pytest.mark.timeout(120)
def test_a_pipe_in_place_of_a_file_is_refused_at_once(cli: Cli, command: str) -> None:
    os.mkfifo(cli.cwd / "pipe")
    assert "regular file" in cli.refused(*command.split())
    assert cli.bare("restore", "pipe", "new").code == 2


def test_folders_are_followed_listed_and_left(cli: Cli) -> None:
    cli.write("notes/a.md", "pnpm\n")
    assert "1 document" in cli("documents", "notes", "--follow").out
    assert "notes" in cli("documents", "--list").out
    assert "Citation: notes/a.md#L1" in cli("recall", "pnpm").out
    cli.refused("documents", "notes", "--follow")
    assert "No longer" in cli("documents", "notes", "--unfollow").out
    assert "Found 0" in cli("recall", "pnpm").out


def test_a_session_is_begun(cli: Cli) -> None:
    made = cli("documents", "task-7", "--new").out.removeprefix("Begun: ").strip()
    assert (Path(made) / "working-memory" / "overview.md").is_file()
    shown = cli("documents", made)
    assert "No details yet" in shown.err
    cli.refused("documents", "task-7", "--new")


def test_rules_of_editors_and_skills_are_documents(cli: Cli) -> None:
    cli.store = cli.cwd / ".workbench"
    cli("init")
    rule = "---\ndescription: Ours\nalwaysApply: true\n---\n\n# Rules\n\n## Build\n\nRun make.\n"
    for name in (".cursor/rules/ours.mdc", ".cursorrules", ".claude/skills/ship/SKILL.md"):
        assert cli.ok("documents", cli.write(name, rule)) == rule
        answer = cli.json("documents", name)
        assert [section["title"] for section in answer["sections"]][-2:] == ["Rules", "Build"]
    assert "ours.mdc" in cli("documents", ".cursor/rules").out
    (cli.cwd / "linked").symlink_to(".cursorrules")
    cli.refused("documents", "linked")
