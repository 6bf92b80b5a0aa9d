"""Failures, and what resolved them: the next run of the same command whose output no longer holds
the error.

A failure alone is no lesson. Between the two stand the differences of the arguments, and what was
edited and set up.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from workbench.core.agents.transcript.events import Answer, Call, Failure, cut, has
from workbench.core.agents.transcript.summaries import Lesson, Passed, Reason

Cause = Literal[
    "dependency", "command", "configuration", "permission", "limit", "place", "assertion", "other"
]

_SHOWN, _MOST_LINES = 320, 4
_WIDEST = 320


class Trouble(NamedTuple):
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
STANDING = frozenset(cause for cause, _ in _CAUSES)
"""Causes that lie in the surroundings: they come back for whoever works there next."""

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
    told = [at for at, line in enumerate(lines) if line.strip() and not has(_NOISE, line)]
    if not told:
        return None
    for at in told:
        cause = _standing(lines[at])
        if cause is not None:
            break
    else:
        cause = "assertion" if any(has(_ASSERTED, lines[at]) for at in told) else "other"
        raised = [at for at in told if re.match(r"[\w.]+(?:Error|Exception)\b", lines[at])]
        errors = [at for at in told if len(lines[at]) <= _WIDEST and has(_ERROR, lines[at])]
        at = (raised[-1:] or errors[:1] or told[-1:])[0]
    return Trouble(_around(lines, at), cause, mark_of(lines[at]))


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


def missing_command(error: str) -> str:
    """Return the name of the command that there is not; empty when it is something else."""
    found = re.search(
        r"([\w.+-]+): (?:command )?not found|command not found: ([\w.+-]+)|No module named ([\w.]+)$",
        error,
        re.MULTILINE,
    )
    return found[found.lastindex or 0] if found else ""


def _standing(line: str) -> Cause | None:
    """Return the cause in the surroundings that a line names; what a test quotes names none."""
    if len(line) > _WIDEST or has(_QUOTED, line):
        return None
    return next((cause for cause, pattern in _CAUSES if has(pattern, line)), None)


def _around(lines: list[str], at: int) -> str:
    """Return the sentence that names the cause and the lines that go on with it, to the next one
    that is noise.
    """
    before = lines[at - 1].rstrip() if at else ""
    goes_on = re.match(r"\s*[a-z][\w-]* [a-z]", lines[at]) and not has(
        rf"\A(?:{_ERROR})", lines[at]
    )
    if goes_on and before and before[-1] not in ".:!?" and len(before) <= _WIDEST:
        at -= not has(_NOISE, before)
    kept, blank = [lines[at].strip()], 0
    for line in lines[at + 1 : at + 7]:
        if has(_NOISE, line) or has(rf"{_QUOTED}|^\s*\d+\)", line):
            break
        blank = 0 if line.strip() else blank + 1
        if blank > 1 or len(kept) == _MOST_LINES or len(" ".join(kept)) + len(line) > _SHOWN:
            break
        kept += [line.strip()] if line.strip() else []
    return "\n".join(kept)[:_SHOWN].rstrip()


# Command lines as far as telling commands apart needs it: which programs run, with which arguments,
# and where.


def _listed(names: str) -> frozenset[str]:
    return frozenset(re.split(r",\s+", names))


READERS = _listed(
    """cat, ls, head, tail, grep, egrep, rg, find, fd, wc, echo, printf, stat, file, which, type, test, [, [[, diff,
    cmp, tree, sed, awk, jq, ps, pgrep, pwd, sort, uniq, cut, tr, less, more, tee, xargs, true, false, sleep,
    whoami, date, env, printenv, command, for, do, done, if, then, else, fi, while, case, esac, wait, kill,
    pkill, sha256sum"""
)
"""Programs that look, wait or steer: what they say of a missing file or pattern is their answer, no
failure.
"""

_LOOKING = _listed(
    """git status, git log, git diff, git show, git branch, git remote, git ls-files, git blame, git rev-parse, bd show,
    bd list, bd ready, gh run, docker ps, docker logs"""
)
_FAMILIES = _listed(
    """git, npm, pnpm, yarn, bun, deno, cargo, docker, podman, gh, glab, kubectl, mix, go, pip, pip3, uv, poetry,
    pipenv, conda, make, just, task, rake, bundle, rails, terraform, helm, aws, gcloud, az, apt, apt-get, brew, dnf,
    systemctl, dotnet, mvn, gradle, gradlew, composer, php, rustup, nix, flyctl, heroku, vercel, supabase, prisma,
    alembic, bd, hatch, tox, nox, pre-commit, django-admin, manage.py, docker-compose"""
)
"""Programs whose first words say what they do: `git push` and `git add` are two commands."""

_TWO_WORDS = _listed(
    """npm run, pnpm run, yarn run, bun run, docker compose, gh pr, gh issue, gh run, gh api, git stash, git worktree,
    git submodule, uv pip, uv run, poetry run, pipenv run, bundle exec, docker image"""
)
_WRAPPERS = _listed(
    "sudo, time, timeout, nohup, exec, command, env, npx, bunx, pnpx, xvfb-run, stdbuf"
)
_RUNNERS = _listed("uv run, poetry run, pipenv run, bundle exec, pnpm exec, npm exec")
_VALUED = _listed("-C, -c, --git-dir, --work-tree, --context, --namespace, -n, --prefix, --filter")
_INTERPRETERS = _listed("python, python3, node, ruby, perl, bash, sh, zsh, deno, tsx, ts-node")
_TESTS = _listed(
    "pytest, jest, vitest, rspec, phpunit, mocha, tox, nox, test, tests, t, spec, nextest"
)
_MAKES_READY = _listed("install, init, setup, login, update, upgrade, sync, migrate, generate")

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\s*\2\b", re.DOTALL | re.MULTILINE)
_STREAMS = re.compile(r"(?<![\w'\"])\d?>&\d\b|&>>?\s*[\w./-]+|\d?>>?\s*/dev/null")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTION = re.compile(r"\d*(?:>>?|&>)\S|\d*(?:>>?|<)&?\d*$|&>>?$")
_REDIRECTS_NEXT = re.compile(r"(?:\d*(?:>>?|<)|&>>?)$")
_SPLIT = frozenset(["&&", "||", ";", "|", "&", "|&", ";;", "(", ")", "{", "}", "\n"])
_PLAIN = re.compile(r"[^\s\"'\\$`|&;<>(){}]+")


class Command(NamedTuple):
    """One command of a line: its words, and the folder that a `cd` before it went to (empty: none
    did).

    `head` is what tells it from others, its program and what that does: `("git", "push")`. `args`
    are the words behind, with the variables that are set for it (`NAME=value`).
    """

    head: tuple[str, ...]
    args: tuple[str, ...]
    folder: str
    words: tuple[str, ...]

    @property
    def is_reader(self) -> bool:
        return self.head[0] in READERS or " ".join(self.head[:2]) in _LOOKING

    @property
    def is_inline(self) -> bool:
        """Whether the program stands in the line itself, written for this once."""
        return self.head[0] in _INTERPRETERS and bool(
            {"-c", "-e", "-"} & set(self.args[:2]) or "<<" in self.args
        )

    @property
    def is_test(self) -> bool:
        return not _TESTS.isdisjoint(re.split("[ :]", " ".join(self.head)))

    @property
    def targets(self) -> frozenset[str]:
        """The files and folders it is asked about: arguments that are no options and look like a
        path.
        """
        return frozenset(
            a.partition("::")[0] for a in self.args if a[:1] != "-" and ("/" in a or "." in a)
        )

    @property
    def line(self) -> str:
        """The command as it was typed, on one line."""
        return " ".join(self.words)


def commands_in(line: str) -> tuple[Command, ...]:
    """Return the commands of a line, in their order; `cd` is none of them but says where the later
    ones run.
    """
    found: list[Command] = []
    folder = ""
    for words in _parts(_STREAMS.sub(" ", _HEREDOC.sub(" << ", line))):
        if words[0] not in ("cd", "pushd"):
            command = _command(words, folder)
            found += [command] if command else []
        elif len(words) == 1 or words[1] == "-":
            folder = ""
        else:
            is_whole = not folder or words[1].startswith(("/", "~", "$"))
            folder = words[1] if is_whole else f"{folder}/{words[1]}"
    return tuple(found)


def _parts(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line."""
    lines = line.replace("\\\n", " ").split("\n") if "'" not in line and '"' not in line else [line]
    for each in lines:
        lexer = shlex.shlex(each, posix=True, punctuation_chars="();&|\n")
        lexer.whitespace = " \t\r"
        lexer.whitespace_split = True
        lexer.commenters = "#"
        try:
            words = list(lexer)
        except ValueError:
            words = _PLAIN.findall(each)
        for is_between, command in groupby(words, _SPLIT.__contains__):
            if not is_between:
                yield list(command)


def _command(words: list[str], folder: str) -> Command | None:
    """Return a command without what is around it: variables, wrappers, what goes to a file or comes
    from one.
    """
    given = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not _REDIRECTION.match(word) and not _REDIRECTS_NEXT.match(before)
    ]
    rest, variables = list(given), []
    while rest and (_ASSIGNED.match(rest[0]) or rest[0] in _WRAPPERS):
        word = rest.pop(0)
        if word not in _WRAPPERS:
            variables.append(word)
            continue
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        if word == "timeout":
            rest = rest[1:]
    if " ".join(rest[:2]) in _RUNNERS and len(rest) > 2:
        rest = rest[2:]
    if not rest:
        return None
    program = PurePosixPath(rest[0]).name
    if program in ("python", "python3") and rest[1:2] == ["-m"] and len(rest) > 2:
        rest = rest[2:]
    head, args = _headed(rest)
    return Command(head, (*variables, *args), folder, tuple(given))


def _headed(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Part what tells a command from others from the rest of its words."""
    program, rest = PurePosixPath(words[0]).name or words[0], words[1:]
    if program in _INTERPRETERS and rest and not rest[0].startswith("-"):
        return (program, PurePosixPath(rest[0]).name), rest[1:]
    if program not in _FAMILIES:
        return (program,), rest
    options: list[str] = []
    while rest and rest[0].startswith("-"):
        count = 2 if rest[0] in _VALUED else 1
        options, rest = [*options, *rest[:count]], rest[count:]
    count = 2 if " ".join((program, *rest[:1])) in _TWO_WORDS and len(rest) > 1 else 1
    return (program, *rest[:count]), [*options, *rest[count:]]


# Uses of tools: what each runs or edits, and why one that fails is no lesson.


SHELLS = _listed(
    """Bash, PowerShell, Shell, shell, local_shell, exec_command, container.exec, exec, run_shell_command,
    shell_command"""
)
EDITORS = _listed(
    "Edit, Write, MultiEdit, NotebookEdit, apply_patch, str_replace_based_edit_tool, StrReplace"
)
_OWN = EDITORS | _listed(
    """Read, Glob, Grep, LS, Task, Agent, TaskOutput, TodoWrite, WebFetch, WebSearch, ExitPlanMode, EnterPlanMode,
    AskUserQuestion, BashOutput, KillShell, KillBash, ToolSearch, update_plan, view_image, SlashCommand,
    ListMcpResourcesTool, ReadMcpResourceTool"""
)
_SETTING_UP = (
    r"\b(?:install|ci|venv|seed|bootstrap|add|get|fetch|update|upgrade|sync|migrate|init|create|generate|setup|login"
    r"|auth|export|set|config"
    r"|enable|start|stop|up|down|prune|restart|mkdir|chmod|chown|ln|cp|touch|use|pull|build|compile|clean|unlock|switch|checkout|stash"
    r"|rebase|merge|push|commit|tag|allow|trust|register|deps\.\w+|ecto\.\w+|rm|mv|source)\b"
)
_WITHIN = r"command failed for pattern \"!`(.+?)`\""
_BACKGROUND = r"^Command (?:running in background|was manually backgrounded)"
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


class Use(NamedTuple):
    """A use of a tool: the command line that it ran, if any, and what came of it."""

    call: Call
    line: str
    commands: tuple[Command, ...]
    text: str
    failed: bool

    @classmethod
    def of(cls, call: Call, answer: Answer) -> "Use":
        text = cut(answer.text)
        line = line_of(call, text if answer.failed else "")
        return cls(call, line, commands_in(line), text, answer.failed)

    @property
    def goes_on(self) -> bool:
        """Whether the shell lets the command run on."""
        return bool(re.match(_BACKGROUND, self.text))

    @property
    def brief(self) -> str:
        return f"{shown(self.line or self.call.tool, self.call.cwd, 80)}: {' '.join(self.text.split())[:120]}"


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


def path_of(call: Call) -> str:
    paths = (call.given.get(name) for name in ("file_path", "path", "notebook_path"))
    return str(next(filter(None, paths), ""))


def edit_of(call: Call) -> str:
    """Say what an edit did: the file, and the lines that it brought."""
    edits, fresh = call.given.get("edits"), list[str]()
    for edit in edits if isinstance(edits, list) else [call.given]:
        if isinstance(edit, Mapping):
            before, after = (
                [line.strip() for line in str(edit.get(name, "")).splitlines()]
                for name in ("old_string", "new_string")
            )
            fresh += [line for line in after if re.search(r"\w", line) and line not in before]
    lines = [line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…" for line in fresh[:_LINES]]
    path = shown(path_of(call) or "a file", call.cwd)
    return f"{path}: `{'` `'.join(lines)}`" if lines else path


def shown(line: str, cwd: str, width: int = 200) -> str:
    """Return a command on one line, its own folder left out of its paths."""
    text = " ".join(line.split())
    if cwd:
        text = text.replace(f"{cwd}/", "").replace(cwd, ".")
    return text if len(text) <= width else f"{text[: width - 1]}…"


def steps_in(commands: Sequence[Command], cwd: str) -> list[str]:
    """Return those commands that set something up, as they are told."""
    return [
        shown(c.line, cwd) for c in commands if not c.is_reader and re.search(_SETTING_UP, c.line)
    ]


def refusal(use: Use) -> Reason | None:
    """Return why a use came to nothing without having been run; `None` where it was."""
    start = use.text[:2_000] if use.failed else ""
    return next((reason for reason, told in _REFUSALS if has(told, start)), None)


def trouble_of(use: Use) -> Trouble | Reason:
    """Return what is wrong where a use of a tool failed, or why that can be no lesson."""
    if not use.line and (use.call.tool in _OWN or "<tool_use_error>" in use.text):
        return "own-tool"
    trouble = trouble_in(use.text)
    if trouble is None:
        return "said-nothing"
    acting = [c for c in use.commands if not c.is_reader]
    is_deep = any(len(c.head) > 1 for c in use.commands)
    asks = is_deep and trouble.cause in STANDING and trouble.cause != "place"
    if use.line and not acting and not asks and not missing_command(trouble.text):
        return "looked-only"
    is_command = trouble.cause in ("dependency", "command")
    return "own-work" if acting and all(c.is_inline for c in acting) and not is_command else trouble


# What resolved a failure: the later command that does the same work, and what was done in between.


def _is_same(old: Command, new: Command, _failure: Failure) -> bool:
    """Tell whether a later run does a command again, and does not only make it ready; a run of
    other tests proves nothing.
    """
    if old.head != new.head or (old.is_inline and old.args != new.args):
        return False
    if new.args[:1] != old.args[:1] and not _MAKES_READY.isdisjoint(new.args[:1]):
        return False
    pairs = [(one, other) for one in old.targets for other in new.targets] if old.is_test else []
    return not pairs or any(_within(one, other) or _within(other, one) for one, other in pairs)


def _within(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other.rstrip('/')}/") or f"/{one}".endswith(f"/{other}")


def _is_changed(old: Command, new: Command, failure: Failure) -> bool:
    """Tell whether a later run does a command again with other arguments."""
    return old.args != new.args and _is_same(old, new, failure)


def _is_other_way(old: Command, new: Command, failure: Failure) -> bool:
    """Tell whether a command does by another name what one did that was not found: the arguments
    tell.
    """
    name = missing_command(failure.error)
    is_meant = name and (name in old.words[0] or name in old.head)
    if not is_meant or new.words == old.words:
        return False
    stems = {PurePosixPath(word).name.rstrip("0123456789.") for word in new.words}
    kept = set(old.args) & set(new.args)
    return name.rstrip("0123456789.") in stems or (
        bool(kept) and len(kept) * 2 >= len(set(old.args))
    )


def _is_renamed(old: Command, new: Command, failure: Failure) -> bool:
    """Tell whether a program does what it did not know by the name that it was given."""
    is_other = old.head[0] == new.head[0] and old.head != new.head
    if failure.cause != "command" or not is_other or min(len(old.head), len(new.head)) < 2:
        return False
    before, after = old.head[-1], new.head[-1]
    return before[:3] == after[:3] or (
        len(after) > 2 and bool(re.search(rf"\b{re.escape(after)}\b", failure.error))
    )


_WAYS: tuple[Callable[[Command, Command, Failure], bool], ...] = (
    _is_changed,
    _is_other_way,
    _is_same,
    _is_renamed,
)
"""How a later command does the work of one that failed; the first that holds is the way."""


def resolved(failure: Failure, use: Use, session: str) -> Lesson | Passed | None:
    """Return what a failure teaches where a later use does what failed; `None` where it is about
    something else.
    """
    failed = commands_in(failure.line)
    acting = [c for c in failed if not c.is_reader]
    pairs = (
        (old, new)
        for is_way in _WAYS
        for old in (failed if is_way is _is_other_way else acting or failed)
        for new in use.commands
        if is_way(old, new, failure)
    )
    pair = next(pairs, None)
    return None if pair is None else _Resolution(failure, acting, *pair, use).told(session)


class _Resolution:
    """How a failed command came to work: the arguments that came and went, whether it ran
    elsewhere, and what was edited and set up before it.
    """

    def __init__(
        self, failure: Failure, acting: Sequence[Command], old: Command, new: Command, use: Use
    ) -> None:
        self._failure, self._acting, self._new = failure, acting, new
        self._added = [*(Counter(new.args) - Counter(old.args)).elements()]
        self._removed = [*(Counter(old.args) - Counter(new.args)).elements()]
        differing = (*self._added, *self._removed)
        if not differing:
            self._added = [word for word in new.words if word not in old.words]
        self._moved = _place(old, failure.cwd) != _place(new, use.call.cwd)
        self._head = " ".join(acting[0].head) if acting else failure.tool
        self._standing = failure.cause in STANDING
        before = use.commands[: use.commands.index(new)]
        self._names = _names(failure.error)
        self._edits = self._about(failure.edits)
        self._steps = self._about((*failure.steps, *steps_in(before, use.call.cwd)))
        # To name other files is not what helped, in tests or after an edit.
        is_test = any(c.is_test for c in acting) and failure.cause not in ("command", "place")
        self._changed = (
            self._moved
            or any(arg.startswith("-") or "=" in arg for arg in (*self._added, *self._removed))
            or (
                bool(self._added or self._removed)
                and self._standing
                and not self._edits
                and not is_test
            )
        )

    def _about(self, items: Sequence[str]) -> list[str]:
        """Return the edits and steps that may have helped: they name something of the error, or the
        error names their file.

        What stands in the surroundings can also be put right by an install that the error does not
        name.
        """
        said = f"{self._failure.error} {self._failure.line}"
        near = [one for one in items if self._names & _names(one) or _file_of(one) in said]
        if not near and self._standing:
            program = self._head.partition(" ")[0]
            near = [s for s in items if re.search(_INSTALLING, s) or s.split()[0] == program]
        return list(dict.fromkeys(near))

    def told(self, session: str) -> Lesson | Passed:
        """Return the lesson, as it would be remembered."""
        failure, helped = self._failure, bool(self._edits or self._steps)
        reason: Reason = "assertion" if failure.cause == "assertion" else "own-work"
        if not self._changed and not helped and failure.cause != "limit":
            is_work = failure.edits and (reason == "assertion" or failure.is_own)
            return Passed(reason if is_work else "went-away", failure.line, failure.id)
        done = self._names & _names(" ".join((*self._edits, *self._steps)))
        named = done | self._names & _names(" ".join(self._added))
        is_solid = self._standing or named or (self._changed and (self._added or self._moved))
        extra = (
            (10.0 if self._standing else 0.0)
            + (8.0 if self._changed and self._added else 0.0)
            + (5.0 if named else 0.0)
            - (0.0 if self._changed or helped else 40.0)
            - (0.0 if is_solid else 15.0)
        )
        # What was edited is the place that the error names: that is work, and no lesson.
        files = [edit.partition(": `")[0].rpartition("/")[2] for edit in self._edits]
        is_way = self._standing or self._changed or self._steps
        mended = not is_way and all(file in failure.error for file in files)
        return Lesson(
            "failure", self._text(named if self._changed else done), session, (f"{session}/{failure.id}",), failure.at,
            failure.turn, "tool", mark=f"{self._head}: {failure.mark}", extra=extra,
            needs=2 if failure.is_own or mended else 1, reason=reason,
        )  # fmt: skip

    def _text(self, named: Collection[str]) -> str:
        """Say what failed, what resolved it, and what speaks for that; the error has these names in
        common with it.
        """
        failure, new = self._failure, self._new
        edits, steps = self._edits[-2:], [f"`{step}`" for step in self._steps[-2:]]
        meant = next((c for c in self._acting if c.head[0] in failure.error), None)
        lines = [c.line for c in (meant, *self._acting) if c] or [failure.line]
        told, evidence = list[str](), ["another folder"] if self._moved else []
        if self._changed:
            command = f"cd {new.folder} && {new.line}" if self._moved and new.folder else new.line
            told.append(f"What worked: `{shown(command, failure.cwd)}`.")
            changes = (("with", self._added), ("without", self._removed))
            evidence += [f"{sign} `{' '.join(args)[:_WIDE]}`" for sign, args in changes if args]
        if steps:
            told.append(f"{'Before it' if told else 'What helped'}: {', then '.join(steps)}.")
        if edits:
            begin = "Edited" if told else "What resolved it was an edit of"
            told.append(f"{begin} {'; '.join(edits)}")
        evidence += [f"edit of {edit.partition(': `')[0]}" for edit in edits]
        evidence += [f"ran {step}" for step in steps]
        error = f" (the error names {', '.join(sorted(named)[:3])})" if named else ""
        said = [
            f"`{shown(lines[0], failure.cwd, 120)}` failed: {failure.error}",
            " ".join(told) or "It worked the next time, unchanged.",
        ]
        said += [f"Evidence: {'; '.join(evidence)}{error}."] if evidence else []
        return "\n".join(said)


def _place(command: Command, cwd: str) -> str:
    is_whole = command.folder.startswith(("/", "~"))
    return (command.folder if is_whole else f"{cwd}/{command.folder}").rstrip("/")


def _file_of(edit: str) -> str:
    """Return the name of the file that was edited; a line break, which is in no line, for what is
    no edit.
    """
    name = edit.partition(": `")[0].rpartition("/")[2]
    return name if "." in name and " " not in name else "\n\n"


def _names(text: str) -> set[str]:
    return {token.lower() for token in _TOKEN.findall(text)} - _COMMON
