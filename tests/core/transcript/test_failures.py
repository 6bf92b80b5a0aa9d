"""A failure is a lesson with what resolved it, and with that only."""

import pytest

from tests.core.transcript.sessions import asked, edited, fell, followed, lessons, ran, reasons
from workbench.core.agents.transcript.events import Event
from workbench.core.agents.transcript.summaries import Lesson, told_once

ALL = [
    pytest.param(
        [fell("pytest tests/api", "ModuleNotFoundError: No module named 'httpx'"), ran("pip install httpx"),
         ran("pytest tests/api", "12 passed")],
        ("No module named 'httpx'", "pip install httpx"), id="a dependency of Python"),
    pytest.param(
        [fell("npm run build", "Error: Cannot find module 'vite'\nRequire stack:"), ran("npm ci", "added 312 packages"),
         ran("npm run build", "built in 3s")],
        ("Cannot find module 'vite'", "npm ci"), id="a dependency of Node"),
    pytest.param(
        [fell("npm install", "npm ERR! ERESOLVE unable to resolve dependency tree"),
         ran("npm install --legacy-peer-deps", "added 90 packages")],
        ("ERESOLVE", "npm install --legacy-peer-deps"), id="a flag of npm"),
    pytest.param(
        [fell("cargo build", "error[E0432]: unresolved import `serde`"), ran("cargo add serde"), ran("cargo build")],
        ("unresolved import `serde`", "cargo add serde"), id="a dependency of Rust"),
    pytest.param(
        [fell("docker compose up -d", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
         ran("sudo systemctl start docker"), ran("docker compose up -d", "Started")],
        ("Cannot connect to the Docker daemon", "systemctl start docker"), id="a daemon"),
    pytest.param(
        [fell("gh pr create --fill", "aborted: you must first push the current branch to a remote"),
         ran("git push -u origin fix"), ran("gh pr create --fill", "https://github.com/x/y/pull/1")],
        ("you must first push", "git push -u origin fix"), id="a pull request"),
    pytest.param(
        [fell("make tests", "make: *** No rule to make target 'tests'.  Stop."), ran("cat Makefile", "test:"),
         ran("make test", "ok")],
        ("No rule to make target", "make test"), id="a target of make"),
    pytest.param(
        [fell("python manage.py migrate", "KeyError: 'DATABASE_URL'"),
         ran("DATABASE_URL=sqlite:///x.db python manage.py migrate", "OK")],
        ("KeyError: 'DATABASE_URL'", "DATABASE_URL=sqlite:///x.db python manage.py migrate"), id="a variable"),
    pytest.param(
        [fell("npm test", "npm error code ENOENT\nnpm error Could not read package.json"),
         ran("cd web && npm test", "ok")],
        ("Could not read package.json", "cd web && npm test"), id="another folder"),
    pytest.param(
        [fell("rg --files-only x src", "rg: unrecognized option '--files-only'"), fell("tar --extract a.tgz",
         "tar: unknown option -- extract"),
         ran("tar -xzf a.tgz")],
        ("unknown option", "tar -xzf a.tgz"), id="an option"),
    pytest.param(
        [fell("./deploy.sh", "bash: ./deploy.sh: Permission denied"), ran("chmod +x deploy.sh"), ran("./deploy.sh",
         "done")],
        ("Permission denied", "chmod +x deploy.sh"), id="a permission"),
    pytest.param(
        [fell("python app.py", "/bin/bash: line 1: python: command not found"), ran("python3 app.py", "up")],
        ("python: command not found", "python3 app.py"), id="another name"),
    pytest.param(
        [fell("pytest -q", "zsh: command not found: pytest"), ran("uv run pytest -q", "3 passed")],
        ("command not found: pytest", "uv run pytest -q"), id="by a runner"),
    pytest.param(
        [fell("gh api /repos/x/y", "HTTP 429: API rate limit exceeded"), ran("sleep 60"), ran("gh api /repos/x/y",
         "{}")],
        ("rate limit", "the next time"), id="a limit of a server"),
    pytest.param(
        [fell("npx playwright test", "Error: browserType.launch: Executable doesn't exist at /opt/chromium-1/chrome"),
         ran("npx playwright install chromium"), ran("npx playwright test", "12 passed")],
        ("Executable doesn't exist", "What helped: `npx playwright install chromium`"), id="a browser"),
    pytest.param(
        [fell("cargo nextest run", "error: no such command: `nextest`\n\tView all installed commands"),
         ran("cargo install cargo-nextest"), ran("cargo nextest run", "40 passed")],
        ("no such command", "What helped: `cargo install cargo-nextest`"), id="a subcommand that is installed"),
    pytest.param(
        [fell("./release.sh", "bash: ./release.sh: Permission denied"), ran("chmod +x release.sh && ./release.sh")],
        ("Permission denied", "What helped: `chmod +x release.sh`"), id="what was set up in the same line"),
    pytest.param(
        [fell("node seed.js", "/a/seed.js:4\n  throw new Error('DB_URL is not set');\n\nError: DB_URL is not set"),
         ran("DB_URL=x node seed.js")],
        ("failed: Error: DB_URL is not set", "DB_URL=x node seed.js"), id="the error, not the source of it"),
    pytest.param(
        [fell("cargo build", "error: build failed\n\n  Could not find directory of OpenSSL installation, and this\n"
         "  proceed without this knowledge. You can set the `OPENSSL_DIR` environment variable"),
         ran("sudo apt-get install -y libssl-dev"), ran("cargo build", "Finished")],
        ("failed: Could not find directory", "apt-get install -y libssl-dev"), id="a sentence from its beginning"),
    pytest.param(
        [fell("git add dist/a.js && git commit -m x",
         "The following paths are ignored by one of your .gitignore files:\ndist"),
         ran("git add -f dist/a.js && git commit -m x", "1 file changed")],
        ("ignored by one of your .gitignore files", "git add -f dist/a.js"), id="an ignored path"),
    pytest.param(
        [fell("git push", "fatal: The current branch fix has no upstream branch."), ran("git push -u origin fix")],
        ("no upstream branch", "git push -u origin fix"), id="no upstream"),
    pytest.param(
        [fell("git push", "! [rejected] main -> main (fetch first)"), ran("git pull --rebase"), ran("git push")],
        ("fetch first", "git pull --rebase"), id="behind"),
    pytest.param(
        [fell("mix test", "** (RuntimeError) no :secret_key_base configuration found in Shop.Endpoint."),
         edited("config/test.exs", "import Config", "import Config\nconfig :shop, secret_key_base: \"0\""),
         fell("mix test", "1) test cart\n  Assertion with == failed")],
        ("no :secret_key_base configuration", "config/test.exs"), id="a configuration, and it fails otherwise"),
    pytest.param(
        [fell("alembic upgrade head", "sqlalchemy.exc.OperationalError: connection refused"),
         ran("docker compose start db"), ran("cd /home/ann/shop && alembic upgrade head")],
        ("connection refused", "docker compose start db"), id="a server that is down"),
    pytest.param(
        [fell("pip install -e .", "error: externally-managed-environment"), ran("python3 -m venv .venv"),
         ran(".venv/bin/pip install -e .", "Successfully installed")],
        ("externally-managed-environment", ".venv/bin/pip install -e ."), id="an environment"),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "told"), ALL)
def test_a_failure_is_told_with_what_resolved_it(
    steps: list[list[Event]], told: tuple[str, ...]
) -> None:
    found = lessons(*steps)
    assert len(found) == 1
    assert all(part in found[0].text for part in told), found[0].text
    assert (found[0].kind, found[0].speaker, found[0].session) == ("failure", "tool", "s1")
    assert found[0].weight >= (20 if "unchanged" in found[0].text else 50)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([fell("pytest", "E   assert 3 == 4\n1 failed"), edited("cart.py", "3", "4"), ran("pytest")], "assertion"),
        ([fell("cargo test", "assertion `left == right` failed\n  left: 1"), edited("a.rs", "1", "2"),
         ran("cargo test")], "assertion"),
        ([edited("app.py", "", "def f(:"), fell("python app.py",
         '  File "app.py", line 1\nSyntaxError: invalid syntax'),
          edited("app.py", "f(:", "f():"), ran("python app.py")], "own-work"),
        ([fell("cargo clippy", "error: unused variable: `x`\n --> src/new.rs:9:9"),
          edited("src/new.rs", "let x", "let _x"),
          ran("cargo clippy")], "own-work"),
        ([fell("ls x", "<tool_use_error>Sibling tool call errored</tool_use_error>")], "cancelled"),
        ([fell("cat big", "File content (85812 tokens) exceeds maximum allowed tokens (25000).")], "reader-limit"),
        ([fell("cat nope.txt", "cat: nope.txt: No such file or directory"), ran("cat note.txt")], "looked-only"),
        ([fell("grep -r x src", "Exit code 1")], "said-nothing"),
        ([fell("npm test", "Error: socket hang up"), ran("npm test", "ok")], "went-away"),
        ([fell("terraform plan", "Error: Unsupported block type"), *[ran("git fetch")] * 62], "not-resolved"),
        ([fell("python -c 'import json; json.loads(1)'", "TypeError: the JSON object must be str"),
         ran("python -c 'print(1)'")],
         "own-work"),
        ([fell("Read", "<tool_use_error>File does not exist.</tool_use_error>", tool="Read")], "own-tool"),
    ],
)  # fmt: skip
def test_what_is_no_lesson_is_passed_over_with_the_reason(
    steps: list[list[Event]], reason: str
) -> None:
    assert lessons(*steps) == []
    assert reasons(*steps) == [reason]


def test_tests_of_other_files_prove_nothing() -> None:
    """A failure waits for its own command."""
    failing = fell("pytest tests/a.py", "ModuleNotFoundError: No module named 'x'")
    assert lessons(failing, ran("pytest tests/b.py"), ran("pytest tests/c/d.py::test_e")) == []
    assert (
        len(lessons(failing, ran("pip install x"), ran("pytest tests/b.py"), ran("pytest tests")))
        == 1
    )


def test_what_several_sessions_run_into_is_one_lesson_and_counts_more() -> None:
    one = followed(
        fell("git push", "fatal: The current branch a has no upstream branch."),
        ran("git push -u origin a"),
    )
    two = followed(
        fell("git push 2>&1", "fatal: The current branch b has no upstream branch."),
        ran("git push -u origin b"),
        session="s2",
    )
    (kept,), passed = told_once(x for x in (*one, *two) if isinstance(x, Lesson))
    assert kept.sessions == 2
    assert (
        kept.weight
        > lessons(
            fell("git push", "fatal: The current branch a has no upstream branch."),
            ran("git push -u o a"),
        )[0].weight
    )
    assert [p.reason for p in passed] == ["told-already"]


def test_own_work_counts_once_it_comes_back_in_another_session() -> None:
    def session(name: str) -> list[Lesson]:
        steps = [edited("app.py", "", "import cart"), fell("python app.py", "app.py: TypeError: cart has no session"),
                 edited("app.py", "cart", "cart, session"), ran("python app.py")]  # fmt: skip
        return [one for one in followed(*steps, session=name) if isinstance(one, Lesson)]

    assert told_once(session("s1"))[0] == []
    assert len(told_once((*session("s1"), *session("s2")))[0]) == 1


def test_the_same_error_again_waits_for_the_one_resolution() -> None:
    failing = fell("npm run build", "Error: Cannot find module 'vite'")
    again = fell("npm run build --verbose", "Error: Cannot find module 'vite'")
    assert len(lessons(failing, again, ran("npm ci"), ran("npm run build"))) == 1


def test_a_home_folder_is_shortened_and_a_project_left_out() -> None:
    (told,) = lessons(
        fell(
            "/home/ann/shop/bin/run --fast",
            "error: unknown option --fast in /home/ann/.config/run.toml",
        ),
        ran("/home/ann/shop/bin/run -f"),
    )
    assert "/home/ann" not in told.text
    assert "~/.config/run.toml" in told.text
    assert "`bin/run -f`" in told.text


def test_a_turn_is_counted_by_prompts() -> None:
    (told,) = lessons(
        asked("build the shop"),
        asked("and now push it"),
        fell("git push", "fatal: x has no upstream branch"),
        ran("git push -u origin x"),
    )
    assert told.turn == 2
