"""Command lines as far as telling commands apart needs it: which programs run, with which arguments, and where."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

READERS = frozenset(
    {"cat", "ls", "head", "tail", "grep", "egrep", "rg", "find", "fd", "wc", "echo", "printf", "stat", "file", "which",
     "type", "test", "[", "[[", "diff", "cmp", "tree", "sed", "awk", "jq", "ps", "pgrep", "pwd", "sort", "uniq", "cut",
     "tr", "less", "more", "tee", "xargs", "true", "false", "sleep", "whoami", "date", "env", "printenv", "command",
     "for", "do", "done", "if", "then", "else", "fi", "while", "case", "esac", "wait", "kill", "pkill", "sha256sum"}
)  # fmt: skip
"""Programs that look, wait or steer: what they say of a missing file or pattern is their answer, no failure."""

_FAMILIES = frozenset(
    {"git", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "docker", "podman", "gh", "glab", "kubectl", "mix", "go",
     "pip", "pip3", "uv", "poetry", "pipenv", "conda", "make", "just", "task", "rake", "bundle", "rails", "terraform",
     "helm", "aws", "gcloud", "az", "apt", "apt-get", "brew", "dnf", "systemctl", "dotnet", "mvn", "gradle", "gradlew",
     "composer", "php", "rustup", "nix", "flyctl", "heroku", "vercel", "supabase", "prisma", "alembic", "bd", "hatch",
     "tox", "nox", "pre-commit", "django-admin", "manage.py", "docker-compose"}
)  # fmt: skip
"""Programs whose first words say what they do: `git push` and `git add` are two commands."""

_TWO_WORDS = frozenset(
    {("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("docker", "compose"), ("gh", "pr"),
     ("gh", "issue"), ("gh", "run"), ("gh", "api"), ("git", "stash"), ("git", "worktree"), ("git", "submodule"),
     ("uv", "pip"), ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("docker", "image")}
)  # fmt: skip
_WRAPPERS = frozenset({"sudo", "time", "nohup", "exec", "command", "env", "npx", "bunx", "pnpx", "xvfb-run", "stdbuf"})
_RUNNERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("npm", "exec"))
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--context", "--namespace", "-n", "--prefix", "--filter"})
_INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh", "deno", "tsx", "ts-node"})
_TESTERS = frozenset({"pytest", "jest", "vitest", "rspec", "phpunit", "mocha", "tox", "nox"})
_MAKES_READY = frozenset({"install", "init", "setup", "login", "update", "upgrade", "sync", "migrate", "generate"})
_TEST_WORDS = frozenset({"test", "tests", "t", "spec", "nextest"})

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\s*\2\b", re.DOTALL | re.MULTILINE)
_STREAMS = re.compile(r"(?<![\w'\"])\d?>&\d\b|&>>?\s*[\w./-]+|\d?>>?\s*/dev/null")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTED = re.compile(r"^\d*(?:>>?|<)&?\d*$|^&>>?$")
_SPLIT = frozenset({"&&", "||", ";", "|", "&", "|&", ";;", "(", ")", "{", "}"})
_PLAIN = re.compile(r"[^\s\"'\\$`|&;<>(){}]+")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line: its words, and the folder that a `cd` before it went to (empty: none did).

    `head` is what tells it from others, its program and what that does: `("git", "push")`. `args` are the words
    behind, with the variables that are set for it (`NAME=value`).
    """

    head: tuple[str, ...]
    args: tuple[str, ...]
    folder: str = ""
    words: tuple[str, ...] = ()

    @property
    def is_reader(self) -> bool:
        """Whether it only looks."""
        return self.head[0] in READERS or self.head[:2] in _LOOKING

    @property
    def is_inline(self) -> bool:
        """Whether the program stands in the line itself, written for this once."""
        return self.head[0] in _INTERPRETERS and bool({"-c", "-e", "-"} & set(self.args[:2]) or "<<" in self.args)

    @property
    def is_test(self) -> bool:
        """Whether it runs tests."""
        return self.head[0] in _TESTERS or bool(_TEST_WORDS & {part for word in self.head for part in word.split(":")})

    @property
    def targets(self) -> frozenset[str]:
        """The files and folders it is asked about: arguments that are no options and look like a path."""
        return frozenset(a.partition("::")[0] for a in self.args if not a.startswith("-") and ("/" in a or "." in a))

    @property
    def line(self) -> str:
        """The command as it was typed, on one line."""
        return " ".join(self.words)


_LOOKING = frozenset(
    ("git", sub) for sub in ("status", "log", "diff", "show", "branch", "remote", "ls-files", "blame", "rev-parse")
) | frozenset({("bd", "show"), ("bd", "list"), ("bd", "ready"), ("gh", "run"), ("docker", "ps"), ("docker", "logs")})


def commands_in(line: str) -> tuple[Command, ...]:
    """Return the commands of a line, in their order; `cd` is none of them but says where the later ones run."""
    found: list[Command] = []
    folder = ""
    for words in _parts(_STREAMS.sub(" ", _HEREDOC.sub(" << ", line))):
        if words[0] in ("cd", "pushd"):
            folder = _joined(folder, words[1]) if len(words) > 1 and words[1] != "-" else ""
        elif command := _command(words, folder):
            found.append(command)
    return tuple(found)


def same_command(failed: Sequence[Command], later: Sequence[Command]) -> tuple[Command, Command] | None:
    """Return a command of a line and its counterpart in a later one, one whose arguments differ before others."""
    pairs = [
        (old, new)
        for old in failed
        for new in later
        if old.head == new.head
        and (not old.is_inline or old.args == new.args)
        and _about_the_same(old, new)
        and not _sets_up(old, new)
    ]
    return next((pair for pair in pairs if pair[0].args != pair[1].args), pairs[0] if pairs else None)


def runs_other_way(name: str, failed: Sequence[Command], later: Sequence[Command]) -> tuple[Command, Command] | None:
    """Return the command that was not found and one that did its work by another name: the arguments tell."""
    stem = name.rstrip("0123456789.")
    for old in (command for command in failed if name in (command.words or ("",))[0] or name in command.head):
        for new in later:
            kept = set(old.args) & set(new.args)
            named = any(PurePosixPath(word).name.rstrip("0123456789.") == stem for word in new.words)
            if new.words != old.words and (named or (kept and len(kept) * 2 >= len(set(old.args)))):
                return old, new
    return None


def renamed(failed: Sequence[Command], later: Sequence[Command], error: str) -> tuple[Command, Command] | None:
    """Return a command whose program does not know what it was to do, and one where it was called otherwise."""
    for old in failed:
        for new in later:
            if len(old.head) < 2 or old.head[0] != new.head[0] or len(new.head) < 2 or old.head == new.head:
                continue
            before, after = old.head[-1], new.head[-1]
            if before[:3] == after[:3] or (len(after) > 2 and re.search(rf"\b{re.escape(after)}\b", error)):
                return old, new
    return None


def differences(old: Command, new: Command) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments that only the later command has, and those that only the earlier one had."""
    added, removed = list(new.args), list(old.args)
    for arg in old.args:
        if arg in added:
            added.remove(arg)
            removed.remove(arg)
    return tuple(added), tuple(removed)


def _sets_up(old: Command, new: Command) -> bool:
    """Tell whether a later run of a program makes ready what an earlier one needed, rather than doing it again."""
    return new.args[:1] != old.args[:1] and bool(_MAKES_READY & set(new.args[:1]))


def _about_the_same(old: Command, new: Command) -> bool:
    """Tell whether two runs of tests are about the same ones: a run of others proves nothing."""
    if not old.is_test or not old.targets or not new.targets:
        return True
    return any(_within(one, other) or _within(other, one) for one in old.targets for other in new.targets)


def _within(one: str, other: str) -> bool:
    return one == other or one.startswith(other.rstrip("/") + "/") or one.endswith("/" + other)


def _parts(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line."""
    words: list[str] = []
    for word in _words(line):
        if word in _SPLIT or word == "\n":
            if words:
                yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words


def _words(line: str) -> Iterator[str]:
    lines = line.replace("\\\n", " ").split("\n") if "'" not in line and '"' not in line else [line]
    for each in lines:
        lexer = shlex.shlex(each, posix=True, punctuation_chars="();&|\n")
        lexer.whitespace = " \t\r"
        lexer.whitespace_split = True
        lexer.commenters = "#"
        try:
            yield from list(lexer)
        except ValueError:
            yield from _PLAIN.findall(each)
        yield "\n"


def _command(words: list[str], folder: str) -> Command | None:
    """Return a command without what is around it: variables, wrappers, what goes to a file or comes from one."""
    given = [word for at, word in enumerate(words) if not _is_redirection(words, at)]
    rest, variables = list(given), []
    while rest and (_ASSIGNED.match(rest[0]) or rest[0] in _WRAPPERS or rest[0] == "timeout"):
        word = rest.pop(0)
        if _ASSIGNED.match(word):
            variables.append(word)
        elif word == "timeout":
            rest = rest[1:]
        while rest and word in _WRAPPERS and rest[0].startswith("-"):
            rest.pop(0)
    for runner in _RUNNERS:
        if tuple(rest[: len(runner)]) == runner and len(rest) > len(runner):
            rest = rest[len(runner) :]
    if not rest:
        return None
    if PurePosixPath(rest[0]).name in ("python", "python3") and rest[1:2] == ["-m"] and len(rest) > 2:
        rest = rest[2:]
    head, args = _headed(rest)
    return Command(head, (*variables, *args), folder, tuple(given))


def _is_redirection(words: list[str], at: int) -> bool:
    word = words[at]
    if _REDIRECTED.match(word) or re.match(r"^\d*(?:>>?|&>)\S", word):
        return True
    return at > 0 and bool(re.match(r"^\d*(?:>>?|<)$|^&>>?$", words[at - 1]))


def _headed(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Part what tells a command from others from the rest of its words."""
    program = PurePosixPath(words[0]).name or words[0]
    rest = words[1:]
    if program in _INTERPRETERS and rest and not rest[0].startswith("-"):
        return (program, PurePosixPath(rest[0]).name), rest[1:]
    if program not in _FAMILIES:
        return (program,), rest
    options: list[str] = []
    while rest and rest[0].startswith("-"):
        options.append(rest.pop(0))
        if options[-1] in _VALUED and rest:
            options.append(rest.pop(0))
    count = 2 if (program, *rest[:1]) in _TWO_WORDS and len(rest) > 1 else 1
    return (program, *rest[:count]), [*options, *rest[count:]]


def _joined(folder: str, step: str) -> str:
    return step if step.startswith(("/", "~", "$")) or not folder else f"{folder}/{step}"
