"""Failures, and what resolved them: the next run of the same command whose output no longer holds
the error.

A failure alone is no lesson. Between the two stand the differences of the arguments, and what was
edited and set up.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Literal

from workbench.core.agents.transcript.events import Answer, Call, Failure, cut
from workbench.core.agents.transcript.summaries import Lesson, Passed, Reason

Cause = Literal[
    "dependency", "command", "configuration", "permission", "limit", "place", "assertion", "other"
]

STANDING: frozenset[Cause] = frozenset(
    {"dependency", "command", "configuration", "permission", "limit", "place"}
)
"""Causes that lie in the surroundings: they come back for whoever works there next."""

_SHOWN, _MOST_LINES = 320, 4
_WIDEST = 320


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why something failed: the `text` that says it (a few lines), its kind, and the `mark` that
    tells it again.

    The mark stands for the line that names the cause without what differs from run to run, and
    tells nothing of it.
    """

    text: str
    cause: Cause
    mark: str


# Compiled when they are first needed: a hook that sees a command work needs none of them.
_CAUSES: tuple[tuple[Cause, str], ...] = (
    ("dependency", r"no module named|cannot find (?:module|package)|module not found|modulenotfounderror|importerror"
     r"|executable doesn't exist|can't resolve '|requires \S+ as an? .*dependency|(?:is|are) not installed|unmet dep"
     r"|eresolve|peer dep"
     r"|unresolved import|can't find crate|no required module provides|no matching (?:package|version|distribution)"
     r"|unable to locate package|cannot open shared object|library not found|cannot find -l|missing dependenc"
     r"|could not find (?:gem|a version)|package \S+ (?:does not exist|not found)|unchecked dependenc"
     r"|lock ?file.{0,40}(?:out of (?:date|sync)|outdated|needs to be updated)|404 not found - get http"),
    ("command", r"command not found|: not found$|not recognized as|unknown (?:option|flag|command|subcommand|argument"
     r"|switch|shorthand)|unrecognized (?:arguments?|options?)|(?:invalid|illegal|unexpected) (?:option|argument|flag)"
     r"|no such (?:option|command|subcommand)|missing script|no rule to make target|is not a \S+ command"
     r"|the task \"?\S+\"? could not be found|unrecognized subcommand|flag provided but not defined|no such service"
     r"|requires (?:at least|exactly) \d+ arg|the following arguments are required|did you mean"),
    ("configuration", r"no :?\w+ configuration|environment variables?|env(?:ironment)? var|(?:is|are|was) not set\b"
     r"|must be set|not configured|is required\b|missing (?:required )?(?:\w+ )?(?:config|key|variable|setting|env"
     r"|secret)"
     r"|has no upstream|not a git repository|ambiguous argument|unknown revision|did not match any file"
     r"|ignored by one of your|tell me who you are|refusing to merge|non-fast-forward|fetch first|no configuration file"
     r"|unbound variable|keyerror: '[A-Z][A-Z0-9_]+'|validation error for settings|divergent branches"
     r"|role \"\S+\" does not exist|database \"\S+\" does not exist|no such table|pending migration|no default"
     r"|unsupported (?:engine|class file|version)|requires (?:node|python|rust|go|java)\b|local changes .* overwritten"
     r"|would be overwritten|detected dubious ownership|externally-managed-environment|host key verification"),
    ("permission", r"permission denied|eacces|not permitted|\b403\b|forbidden|unauthori[sz]ed|\b401\b|access denied"
     r"|authentication (?:failed|required)|could not read username|protected branch|read-only file system"
     r"|not logged in|gh auth login|must be run as root|are you root|bad credentials|insufficient"),
    ("limit", r"rate limit|too many requests|\b429\b|econnrefused|connection refused|timed out|could not resolve host"
     r"|address already in use|eaddrinuse|port is already allocated|no space left|could not get lock|is locked"
     r"|index\.lock|docker daemon|out of memory|heap|enospc|emfile|too many open files|quota"),
    ("place", r"no such file or directory|enoent|could not (?:find|resolve) [\"'`]|could not find [`\"']?\S+\.(?:toml"
        r"|json)"
     r"|can't open file|cannot find the (?:path|file)|file or directory not found|no such package|not in (?:a|the) \S+"
     r" directory|could not read package\.json|no package\.json|makefile found|not found: \S+\.\w+"),
)  # fmt: skip
_ASSERTED = (
    r"assert|expected\b.*\b(?:to|but|got|received)\b|^\s*(?:expected|received|left|right|code|actual|want|got)\s*[:=]"
    r"|--- FAIL|tests? failed|\bfail(?:ed|ures?)\b.*\d|\d+ (?:tests?, )?\d* ?fail"
)
_QUOTED = r"^\s*(?:(?:left|right|code|expected|received|actual|want|got)\s*[:=]|assert\b|[-+>|]\s)"
_ERROR = (
    r"^\W*(?:[\w.:]*(?:Error|Exception|Failure|Panic)\b|error\b|fatal\b|panic\b|err!|\*\*|npm err|e\s{2,}\w)"
    r"|\berror(?:\[\w+\])?:|\bfatal:|\bfailed\b|\bcannot\b|\bcould not\b|\bdenied\b"
)
_NOISE = (
    r"^\s*(?:exit code \d+|at .+[:(]\d+|file \"[^\"]+\", line \d+|\^+|~+|hint: turn this message|stacktrace:|\d+ \|"
    r"|throw |raise "
    r"|compiling|downloading|npm (?:warn|notice)|warning:|\$ |> |\S+:\d+(?::\d+)?:?$|\d+ errors?\b|let |const |var )"
    r"|^\s*[.\-=_*#]+\s*$"
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
_VARYING = re.compile(
    r"(?<=\bbranch )['\"]?[\w./-]+|(?<=\bhost )['\"]?[\w./-]+|0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+|(?:[\w.~-]*/)+"
)


def trouble_in(output: str) -> Trouble | None:
    """Return why something failed, as its output says it; `None` when it says nothing."""
    lines = [line.rstrip() for line in _ESCAPES.sub("", output).splitlines()]
    told = [
        at
        for at, line in enumerate(lines)
        if line.strip() and not re.match(_NOISE, line, re.IGNORECASE)
    ]
    if not told:
        return None
    for at in told:
        cause = _standing(lines[at])
        if cause is not None:
            return Trouble(_around(lines, at), cause, mark_of(lines[at]))
    asserted = any(re.search(_ASSERTED, lines[at], re.IGNORECASE) for at in told)
    last_raised = [at for at in told if re.match(r"[\w.]+(?:Error|Exception)\b", lines[at])]
    errors = [
        at
        for at in told
        if re.search(_ERROR, lines[at], re.IGNORECASE) and len(lines[at]) <= _WIDEST
    ]
    at = last_raised[-1] if last_raised else errors[0] if errors else told[-1]
    return Trouble(_around(lines, at), "assertion" if asserted else "other", mark_of(lines[at]))


def holds(output: str, mark: str) -> bool:
    """Tell whether an output holds the error that a mark tells."""
    return any(
        mark_of(line) == mark for line in _ESCAPES.sub("", output).splitlines() if line.strip()
    )


def mark_of(line: str) -> str:
    """Return what tells a line again, whatever numbers, hashes, folders, white space and case it
    has.
    """
    plain = " ".join(_VARYING.sub("#", line.lower()).replace("#.", ".").split())[:240]
    return blake2b(plain.encode(errors="replace"), digest_size=8).hexdigest()


def missing_command(trouble: Trouble) -> str:
    """Return the name of the command that there is not; empty when it is something else."""
    found = re.search(
        r"([\w.+-]+): (?:command )?not found|command not found: ([\w.+-]+)|No module named ([\w.]+)$",
        trouble.text,
        re.MULTILINE,
    )
    return next((name for name in found.groups() if name), "") if found else ""


def _standing(line: str) -> Cause | None:
    """Return the cause in the surroundings that a line names; what a test quotes names none."""
    if len(line) > _WIDEST or re.match(_QUOTED, line, re.IGNORECASE):
        return None
    return next(
        (cause for cause, pattern in _CAUSES if re.search(pattern, line, re.IGNORECASE)), None
    )


def _start(lines: list[str], at: int) -> int:
    """Return where the sentence begins that a line goes on with."""
    if (
        not at
        or not re.match(r"\s*[a-z][\w-]* [a-z]", lines[at])
        or re.match(_ERROR, lines[at], re.IGNORECASE)
    ):
        return at
    before = lines[at - 1]
    is_whole = (
        not before.strip()
        or before.rstrip().endswith((".", ":", "!", "?"))
        or len(before) > _WIDEST
    )
    return at if is_whole or re.match(_NOISE, before, re.IGNORECASE) else at - 1


def _around(lines: list[str], at: int) -> str:
    """Return the line that names the cause and those that go on with it, to the next one that is
    noise.
    """
    at = _start(lines, at)
    kept = [lines[at].strip()]
    blank = 0
    for line in lines[at + 1 : at + 7]:
        if (
            re.match(_NOISE, line, re.IGNORECASE)
            or re.match(_QUOTED, line, re.IGNORECASE)
            or re.match(r"^\s*\d+\)", line)
        ):
            break
        blank = blank + 1 if not line.strip() else 0
        if blank > 1 or len(kept) == _MOST_LINES or len(" ".join(kept)) + len(line) > _SHOWN:
            break
        if line.strip():
            kept.append(line.strip())
    return "\n".join(kept)[:_SHOWN].rstrip()


# Command lines as far as telling commands apart needs it: which programs run, with which arguments,
# and where.


READERS = frozenset(
    {"cat", "ls", "head", "tail", "grep", "egrep", "rg", "find", "fd", "wc", "echo", "printf", "stat", "file", "which",
     "type", "test", "[", "[[", "diff", "cmp", "tree", "sed", "awk", "jq", "ps", "pgrep", "pwd", "sort", "uniq", "cut",
     "tr", "less", "more", "tee", "xargs", "true", "false", "sleep", "whoami", "date", "env", "printenv", "command",
     "for", "do", "done", "if", "then", "else", "fi", "while", "case", "esac", "wait", "kill", "pkill", "sha256sum"}
)  # fmt: skip
"""Programs that look, wait or steer: what they say of a missing file or pattern is their answer, no
failure.
"""

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
_WRAPPERS = frozenset(
    {"sudo", "time", "nohup", "exec", "command", "env", "npx", "bunx", "pnpx", "xvfb-run", "stdbuf"}
)
_RUNNERS = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("npm", "exec"),
)
_VALUED = frozenset(
    {
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--context",
        "--namespace",
        "-n",
        "--prefix",
        "--filter",
    }
)
_INTERPRETERS = frozenset(
    {"python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh", "deno", "tsx", "ts-node"}
)
_TESTERS = frozenset({"pytest", "jest", "vitest", "rspec", "phpunit", "mocha", "tox", "nox"})
_MAKES_READY = frozenset(
    {"install", "init", "setup", "login", "update", "upgrade", "sync", "migrate", "generate"}
)
_TEST_WORDS = frozenset({"test", "tests", "t", "spec", "nextest"})

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\s*\2\b", re.DOTALL | re.MULTILINE)
_STREAMS = re.compile(r"(?<![\w'\"])\d?>&\d\b|&>>?\s*[\w./-]+|\d?>>?\s*/dev/null")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTED = re.compile(r"^\d*(?:>>?|<)&?\d*$|^&>>?$")
_SPLIT = frozenset({"&&", "||", ";", "|", "&", "|&", ";;", "(", ")", "{", "}"})
_PLAIN = re.compile(r"[^\s\"'\\$`|&;<>(){}]+")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line: its words, and the folder that a `cd` before it went to (empty: none
    did).

    `head` is what tells it from others, its program and what that does: `("git", "push")`. `args`
    are the words behind, with the variables that are set for it (`NAME=value`).
    """

    head: tuple[str, ...]
    args: tuple[str, ...]
    folder: str = ""
    words: tuple[str, ...] = ()

    @property
    def is_reader(self) -> bool:
        return self.head[0] in READERS or self.head[:2] in _LOOKING

    @property
    def is_inline(self) -> bool:
        """Whether the program stands in the line itself, written for this once."""
        return self.head[0] in _INTERPRETERS and bool(
            {"-c", "-e", "-"} & set(self.args[:2]) or "<<" in self.args
        )

    @property
    def is_test(self) -> bool:
        return self.head[0] in _TESTERS or bool(
            _TEST_WORDS & {part for word in self.head for part in word.split(":")}
        )

    @property
    def targets(self) -> frozenset[str]:
        """The files and folders it is asked about: arguments that are no options and look like a
        path.
        """
        return frozenset(
            a.partition("::")[0]
            for a in self.args
            if not a.startswith("-") and ("/" in a or "." in a)
        )

    @property
    def line(self) -> str:
        """The command as it was typed, on one line."""
        return " ".join(self.words)


_LOOKING = frozenset(
    ("git", sub)
    for sub in (
        "status",
        "log",
        "diff",
        "show",
        "branch",
        "remote",
        "ls-files",
        "blame",
        "rev-parse",
    )
) | frozenset(
    {
        ("bd", "show"),
        ("bd", "list"),
        ("bd", "ready"),
        ("gh", "run"),
        ("docker", "ps"),
        ("docker", "logs"),
    }
)


def commands_in(line: str) -> tuple[Command, ...]:
    """Return the commands of a line, in their order; `cd` is none of them but says where the later
    ones run.
    """
    found: list[Command] = []
    folder = ""
    for words in _parts(_STREAMS.sub(" ", _HEREDOC.sub(" << ", line))):
        if words[0] in ("cd", "pushd"):
            folder = _joined(folder, words[1]) if len(words) > 1 and words[1] != "-" else ""
        elif command := _command(words, folder):
            found.append(command)
    return tuple(found)


def same_command(
    failed: Sequence[Command], later: Sequence[Command]
) -> tuple[Command, Command] | None:
    """Return a command of a line and its counterpart in a later one, one whose arguments differ
    before others.
    """
    pairs = [
        (old, new)
        for old in failed
        for new in later
        if old.head == new.head
        and (not old.is_inline or old.args == new.args)
        and _about_the_same(old, new)
        and not _sets_up(old, new)
    ]
    return next(
        (pair for pair in pairs if pair[0].args != pair[1].args), pairs[0] if pairs else None
    )


def runs_other_way(
    name: str, failed: Sequence[Command], later: Sequence[Command]
) -> tuple[Command, Command] | None:
    """Return the command that was not found and one that did its work by another name: the
    arguments tell.
    """
    stem = name.rstrip("0123456789.")
    for old in (
        command for command in failed if name in (command.words or ("",))[0] or name in command.head
    ):
        for new in later:
            kept = set(old.args) & set(new.args)
            named = any(
                PurePosixPath(word).name.rstrip("0123456789.") == stem for word in new.words
            )
            if new.words != old.words and (named or (kept and len(kept) * 2 >= len(set(old.args)))):
                return old, new
    return None


def renamed(
    failed: Sequence[Command], later: Sequence[Command], error: str
) -> tuple[Command, Command] | None:
    """Return a command whose program does not know what it was to do, and one where it was called
    otherwise.
    """
    for old in failed:
        for new in later:
            if (
                len(old.head) < 2
                or old.head[0] != new.head[0]
                or len(new.head) < 2
                or old.head == new.head
            ):
                continue
            before, after = old.head[-1], new.head[-1]
            if before[:3] == after[:3] or (
                len(after) > 2 and re.search(rf"\b{re.escape(after)}\b", error)
            ):
                return old, new
    return None


def differences(old: Command, new: Command) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments that only the later command has, and those that only the earlier one
    had.
    """
    added, removed = list(new.args), list(old.args)
    for arg in old.args:
        if arg in added:
            added.remove(arg)
            removed.remove(arg)
    return tuple(added), tuple(removed)


def _sets_up(old: Command, new: Command) -> bool:
    """Tell whether a later run of a program makes ready what an earlier one needed, rather than
    doing it again.
    """
    return new.args[:1] != old.args[:1] and bool(_MAKES_READY & set(new.args[:1]))


def _about_the_same(old: Command, new: Command) -> bool:
    """Tell whether two runs of tests are about the same ones: a run of others proves nothing."""
    if not old.is_test or not old.targets or not new.targets:
        return True
    return any(
        _within(one, other) or _within(other, one) for one in old.targets for other in new.targets
    )


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
    """Return a command without what is around it: variables, wrappers, what goes to a file or comes
    from one.
    """
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
    if (
        PurePosixPath(rest[0]).name in ("python", "python3")
        and rest[1:2] == ["-m"]
        and len(rest) > 2
    ):
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


PATIENCE = 60
"""Tool uses after which nobody is thought to come back to a failure."""

MOST_OPEN = 12
"""Failures that are waited for at the same time; of more the oldest are given up."""

SHELLS = frozenset(
    {
        "Bash",
        "PowerShell",
        "Shell",
        "shell",
        "local_shell",
        "exec_command",
        "container.exec",
        "exec",
        "run_shell_command",
        "shell_command",
    }
)
EDITORS = frozenset(
    {"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "str_replace_based_edit_tool"}
)
_OWN = frozenset(
    {"Read", "Glob", "Grep", "LS", "Task", "Agent", "TaskOutput", "TodoWrite", "WebFetch", "WebSearch", "ExitPlanMode",
     "EnterPlanMode", "AskUserQuestion", "BashOutput", "KillShell", "KillBash", "ToolSearch", "update_plan",
     "view_image", "SlashCommand", "ListMcpResourcesTool", "ReadMcpResourceTool"}
) | EDITORS  # fmt: skip
_SETTING_UP = (
    r"\b(?:install|ci|venv|seed|bootstrap|add|get|fetch|update|upgrade|sync|migrate|init|create|generate|setup|login"
    r"|auth|export|set|config"
    r"|enable|start|stop|up|down|prune|restart|mkdir|chmod|chown|ln|cp|touch|use|pull|build|compile|clean|unlock|switch|checkout|stash"
    r"|rebase|merge|push|commit|tag|allow|trust|register|deps\.\w+|ecto\.\w+|rm|mv|source)\b"
)
_WITHIN = r"command failed for pattern \"!`(.+?)`\""
BACKGROUND = r"^Command (?:running in background|was manually backgrounded)"
"""What a shell answers that lets a command run on."""
_REFUSALS: tuple[tuple[Reason, str], ...] = (
    ("cancelled", r"^(?:<tool_use_error>)?\W*(?:sibling tool call|cancelled: parallel|request interrupted)"),
    ("turned-down", r"^(?:<tool_use_error>)?\W*the user doesn't want to|^permission to use \S+ .*denied"),
    ("reader-limit", r"exceeds (?:the )?maximum (?:allowed )?(?:tokens|size|length)|output too large|too large to"
     r"|use offset and limit|exceeded maximum .*(?:tokens|lines)"),
)  # fmt: skip
_INSTALLING = (
    r"\b(?:install|ci|add|sync|start|up|init|login|auth|venv|chmod|chown|migrate|generate|seed|export|deps\.\w+|source)\b"
    r"(?<!git add)"
)
_COMMON_WORDS = """
error errors failed failure file files from have line must need none path test tests that this true false when with your
cannot could should expected import return
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_TOKEN = re.compile(r"[A-Za-z_][\w.-]{3,}")
_LINES, _WIDE = 3, 110


class Failures:
    """Follows the tool uses of one conversation; `open` are the failures that are not resolved yet."""

    def __init__(
        self, session: str, waiting: Sequence[Failure] = (), written: Sequence[str] = ()
    ) -> None:
        self.open = tuple(waiting)
        self.written = tuple(written)
        """The files that were edited in the session, the latest last."""
        self._session = session
        self._calls: dict[str, tuple[Call, int]] = {}

    def called(self, call: Call, turn: int) -> None:
        """Note that a tool is used."""
        self._calls[call.id] = (call, turn)
        while len(self._calls) > 200:
            del self._calls[next(iter(self._calls))]

    def answered(self, answer: Answer) -> Iterator[Lesson | Passed]:
        """Take what came of a tool use: it may fail, resolve a failure, or be a step on the way."""
        known = self._calls.pop(answer.id, None)
        if known is None:
            return
        call, turn = known
        text = cut(answer.text)
        refused = refusal(text[:2_000]) if answer.failed else None
        if refused is not None:
            yield Passed(refused, _brief(call, text), answer.id)
            return
        line = line_of(call, text)
        if line and not re.match(BACKGROUND, text):
            yield from self._resolved(call, line, text)
        if not answer.failed:
            self._step(call, line)
            return
        yield from self._failed(call, turn, line, text)

    def given_up(self) -> Iterator[Passed]:
        """Give up what is open: the session is over."""
        yield from (Passed("not-resolved", one.line or one.tool, one.id) for one in self.open)
        self.open = ()

    def _failed(self, call: Call, turn: int, line: str, text: str) -> Iterator[Passed]:
        """Wait for what resolves a failure, unless it can be no lesson."""
        reason, trouble = failure_of(call, line, text)
        if trouble is None or reason is not None:
            yield Passed(reason or "said-nothing", _brief(call, text), call.id)
            return
        own = trouble.cause not in STANDING and self._is_own(text)
        failure = Failure(
            call.id, call.tool, line, trouble.text, trouble.cause, trouble.mark, call.at, turn, call.cwd,
            own or trouble.cause == "assertion",
        )  # fmt: skip
        again = next(
            (one for one in self.open if one.mark == failure.mark and one.tool == failure.tool),
            None,
        )
        if again is not None:
            return  # the same error once more: it is the first try that was resolved in the end
        self.open = (*self.open, failure)
        if len(self.open) > MOST_OPEN:
            yield Passed("not-resolved", self.open[0].line, self.open[0].id)
            self.open = self.open[1:]

    def _resolved(self, call: Call, line: str, text: str) -> Iterator[Lesson | Passed]:
        """Yield the failures that a call shows to be resolved, and those that are not waited for
        any longer.
        """
        later = commands_in(line) if call.tool in SHELLS else ()
        still: list[Failure] = []
        for failure in self.open:
            how = None if holds(text, failure.mark) else _way_out(failure, call, later)
            if how is not None:
                yield _lesson(failure, how, self._session)
            elif failure.age >= PATIENCE:
                yield Passed("not-resolved", failure.line or failure.tool, failure.id)
            else:
                still.append(replace(failure, age=failure.age + 1))
        self.open = tuple(still)

    def _step(self, call: Call, line: str) -> None:
        """Note what may have resolved what is open: an edit, or something that was set up."""
        if call.tool in EDITORS:
            path = path_of(call)
            self.written = (*(one for one in self.written if one != path), path)[-200:]
            edit = edit_of(call)
            self.open = tuple(replace(one, edits=(*one.edits, edit)[-12:]) for one in self.open)
            return
        done = _steps_in(commands_in(line), call.cwd)
        if done:
            self.open = tuple(replace(one, steps=(*one.steps, *done)[-8:]) for one in self.open)

    def _is_own(self, text: str) -> bool:
        """Tell whether an error is in a file that was written in this session."""
        return any(path.rpartition("/")[2] in text for path in self.written if path)


@dataclass(frozen=True, slots=True)
class _WayOut:
    """How a command came to work: what it became, the arguments that came and went, whether it ran
    elsewhere.

    `steps` set something up in the same line, before it.
    """

    command: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: bool = False
    steps: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        return bool(self.added or self.removed or self.moved)


def line_of(call: Call, text: str = "") -> str:
    """Return the command line that a tool use runs; empty when it runs none."""
    if call.tool in SHELLS:
        given = call.given.get("command", call.given.get("cmd", ""))
        if isinstance(given, list):  # as Codex gives it: bash -lc LINE, or the words
            words = [str(word) for word in given]
            return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
        return str(given)
    found = re.search(_WITHIN, text, re.IGNORECASE)
    return found[1] if found else ""


def shown(line: str, cwd: str, width: int = 200) -> str:
    """Return a command on one line, its own folder left out of its paths."""
    text = " ".join(line.split())
    if cwd:
        text = text.replace(f"{cwd}/", "").replace(cwd, ".")
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _steps_in(commands: Sequence[Command], cwd: str) -> tuple[str, ...]:
    """Return those commands that set something up, as they are told."""
    return tuple(
        shown(c.line, cwd) for c in commands if not c.is_reader and re.search(_SETTING_UP, c.line)
    )


def refusal(text: str) -> Reason | None:
    """Return why a call came to nothing without having been run; `None` where it was."""
    return next(
        (reason for reason, told in _REFUSALS if re.search(told, text, re.IGNORECASE)), None
    )


def failure_of(call: Call, line: str, text: str) -> tuple[Reason | None, Trouble | None]:
    """Return why a failure can be no lesson, and what is wrong where it may be one."""
    if not line and (call.tool in _OWN or "<tool_use_error>" in text):
        return "own-tool", None
    commands = commands_in(line)
    trouble = trouble_in(text)
    if trouble is None:
        return "said-nothing", None
    if line and all(c.is_reader for c in commands) and not _tells(commands, trouble):
        return "looked-only", trouble
    acting = [c for c in commands if not c.is_reader]
    if (
        acting
        and all(c.is_inline for c in acting)
        and trouble.cause not in ("dependency", "command")
    ):
        return "own-work", trouble
    return None, trouble


def _tells(commands: Sequence[Command], trouble: Trouble) -> bool:
    """Tell whether something that only looks failed for more than that there is nothing to see."""
    asks = (
        any(len(c.head) > 1 for c in commands)
        and trouble.cause in STANDING
        and trouble.cause != "place"
    )
    return asks or bool(missing_command(trouble))


def _way_out(failure: Failure, call: Call, later: Sequence[Command]) -> _WayOut | None:
    """Return how a later call does what failed; `None` when it is about something else."""
    if not failure.line:
        if call.tool != failure.tool or call.id == failure.id:
            return None
        return _WayOut("")
    failed = commands_in(failure.line)
    acting = [c for c in failed if not c.is_reader] or failed
    pair = same_command(acting, later)
    if pair is None and failure.cause == "command":
        pair = renamed(acting, later, failure.error)
    name = missing_command(Trouble(failure.error, "command", ""))
    if name and (pair is None or pair[0].args == pair[1].args):
        pair = runs_other_way(name, failed, later) or pair
    if pair is None:
        return None
    old, new = pair
    added, removed = differences(old, new)
    moved = _place(old, failure.cwd) != _place(new, call.cwd)
    told = shown(
        f"cd {new.folder} && {new.line}" if moved and new.folder else new.line, failure.cwd
    )
    if not added and not removed and old.words != new.words:
        added = tuple(word for word in new.words if word not in old.words)
    return _WayOut(told, added, removed, moved, _steps_in(later[: later.index(new)], call.cwd))


def _place(command: Command, cwd: str) -> str:
    if not command.folder:
        return cwd.rstrip("/")
    place = command.folder if command.folder.startswith(("/", "~")) else f"{cwd}/{command.folder}"
    return place.rstrip("/")


def _lesson(failure: Failure, how: _WayOut, session: str) -> Lesson | Passed:
    """Put a failure and what resolved it into words, as it would be remembered."""
    tokens = _tokens(failure.error)
    edits = _about(failure.edits, failure, tokens)
    steps = _about((*failure.steps, *how.steps), failure, tokens)
    standing = failure.cause in STANDING
    changed = _is_the_way(how, failure, is_edited=bool(edits))
    mended = not standing and not changed and not steps and _is_where(edits, failure.error)
    if not changed and not edits and not steps and failure.cause != "limit":
        reason: Reason = (
            "assertion"
            if failure.cause == "assertion"
            else "own-work"
            if failure.is_own
            else "went-away"
        )
        return Passed(
            reason if failure.edits else "went-away", failure.line or failure.tool, failure.id
        )
    what = (
        f"`{_failing(failure)}` failed: {failure.error}"
        if failure.line
        else f"{failure.tool} failed: {failure.error}"
    )
    told = _resolution(how, edits, steps, changed=changed)
    parts = [what, told, _evidence(how, edits, steps, tokens, changed=changed)]
    shared = bool(tokens & _tokens(" ".join((*edits, *steps, *how.added))))
    extra = (
        (10.0 if standing else 0.0)
        + (8.0 if changed and how.added else 0.0)
        + (5.0 if shared else 0.0)
    )
    extra -= 40.0 if not changed and not edits and not steps else 0.0
    extra -= 0.0 if standing or (changed and (how.added or how.moved)) or shared else 15.0
    is_test = failure.cause == "assertion"
    return Lesson(
        "failure", "\n".join(part for part in parts if part), session, (f"{session}/{failure.id}",), failure.at,
        failure.turn, "tool", mark=f"{_head(failure)}: {failure.mark}", extra=extra,
        needs=2 if failure.is_own or mended else 1, reason="assertion" if is_test else "own-work",
    )  # fmt: skip


def _is_where(edits: Sequence[str], error: str) -> bool:
    """Tell whether what was edited is the place that the error names: that is work, and no lesson."""
    return bool(edits) and all(
        edit.partition(": `")[0].rpartition("/")[2] in error for edit in edits
    )


def _resolution(how: _WayOut, edits: Sequence[str], steps: Sequence[str], *, changed: bool) -> str:
    """Say what resolved a failure: the other command, what was set up before it, what was edited."""
    told = [f"What worked: `{how.command}`."] if how.command and changed else []
    if steps:
        told.append(
            f"{'Before it' if told else 'What helped'}: {', then '.join(f'`{step}`' for step in steps[-2:])}."
        )
    if edits:
        told.append(
            f"{'Edited' if told else 'What resolved it was an edit of'} {'; '.join(edits[-2:])}"
        )
    if not told:
        told.append("It worked the next time, unchanged.")
    return " ".join(told)


def _evidence(
    how: _WayOut, edits: Sequence[str], steps: Sequence[str], tokens: set[str], *, changed: bool
) -> str:
    """Say what changed between a failure and what worked, and what of it the error names; empty for
    nothing.
    """
    found = ["another folder"] if how.moved else []
    for sign, args in (("with", how.added), ("without", how.removed)) if changed else ():
        found += [f"{sign} `{' '.join(args)[:_WIDE]}`"] if args else []
    for what, items in (
        ("edit of", [edit.partition(": `")[0] for edit in edits]),
        ("ran", [f"`{s}`" for s in steps]),
    ):
        found += [f"{what} {item}" for item in items[-2:]]
    named = sorted(tokens & _tokens(" ".join((*edits, *steps, *(how.added if changed else ())))))
    about = f" (the error names {', '.join(named[:3])})" if named else ""
    return f"Evidence: {'; '.join(found)}{about}." if found else ""


def _is_the_way(how: _WayOut, failure: Failure, *, is_edited: bool) -> bool:
    """Tell whether the changed command is what helped: to name other files is not, in tests or
    after an edit.
    """
    options = [arg for arg in (*how.added, *how.removed) if arg.startswith("-") or "=" in arg]
    if not how.is_changed or how.moved or options:
        return how.is_changed
    is_test = any(c.is_test for c in commands_in(failure.line)) and failure.cause not in (
        "command",
        "place",
    )
    return failure.cause in STANDING and not is_edited and not is_test


def _about(items: Sequence[str], failure: Failure, tokens: set[str]) -> tuple[str, ...]:
    """Return what may have helped: edits and steps that name something of the error, or a file that
    it names.

    What stands in the surroundings can also be put right by an install that the error does not
    name.
    """
    said = f"{failure.error} {failure.line}"
    near = [one for one in items if tokens & _tokens(one) or _file_of(one) in said]
    if not near and failure.cause in STANDING:
        program = _head(failure).partition(" ")[0]
        near = [one for one in items if re.search(_INSTALLING, one) or one.split()[0] == program]
    return tuple(dict.fromkeys(near))


def _file_of(edit: str) -> str:
    """Return the name of the file that was edited; a line break, which is in no line, for what is
    no edit.
    """
    name = edit.partition(": `")[0].rpartition("/")[2]
    return name if "." in name and " " not in name else "\n\n"


def _tokens(text: str) -> set[str]:
    return {token.lower() for token in _TOKEN.findall(text)} - _COMMON


def _failing(failure: Failure) -> str:
    commands = [c for c in commands_in(failure.line) if not c.is_reader]
    tool = next(
        (c for c in commands if c.head[0] in failure.error), commands[0] if commands else None
    )
    line = failure.line if tool is None else tool.line
    return shown(line, failure.cwd, 120)


def _head(failure: Failure) -> str:
    commands = [c for c in commands_in(failure.line) if not c.is_reader]
    return " ".join(commands[0].head) if commands else failure.tool


def _brief(call: Call, text: str) -> str:
    line = line_of(call) or call.tool
    return f"{shown(line, call.cwd, 80)}: {' '.join(text.split())[:120]}"


def path_of(call: Call) -> str:
    return str(
        call.given.get("file_path")
        or call.given.get("path")
        or call.given.get("notebook_path")
        or ""
    )


def edit_of(call: Call) -> str:
    """Say what an edit did: the file, and the lines that it brought."""
    path = shown(path_of(call) or "a file", call.cwd)
    edits = call.given.get("edits")
    pairs: Sequence[Mapping[str, object]] = (
        [e for e in edits if isinstance(e, dict)] if isinstance(edits, list) else [call.given]
    )
    fresh: list[str] = []
    for pair in pairs:
        before = {line.strip() for line in str(pair.get("old_string", "")).splitlines()}
        fresh += [
            each
            for line in str(pair.get("new_string", "")).splitlines()
            if (each := line.strip()) and each not in before
        ]
    lines = [
        line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…"
        for line in fresh
        if re.search(r"\w", line)
    ]
    return f"{path}: `{'` `'.join(lines[:_LINES])}`" if lines else path
