"""What a failing command says of why it failed: the line that names the cause, and what kind of cause it is."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

Cause = Literal["dependency", "command", "configuration", "permission", "limit", "place", "assertion", "other"]

STANDING: frozenset[Cause] = frozenset({"dependency", "command", "configuration", "permission", "limit", "place"})
"""Causes that lie in the surroundings: they come back for whoever works there next."""

_SHOWN, _LINES = 320, 4
_WIDEST = 320


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why something failed: the `text` that says it (a few lines), its kind, and the `mark` that tells it again.

    The mark stands for the line that names the cause without what differs from run to run, and tells nothing of it.
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
    told = [at for at, line in enumerate(lines) if line.strip() and not re.match(_NOISE, line, re.IGNORECASE)]
    if not told:
        return None
    for at in told:
        cause = _standing(lines[at])
        if cause is not None:
            return Trouble(_around(lines, at), cause, mark_of(lines[at]))
    asserted = any(re.search(_ASSERTED, lines[at], re.IGNORECASE) for at in told)
    last_raised = [at for at in told if re.match(r"[\w.]+(?:Error|Exception)\b", lines[at])]
    errors = [at for at in told if re.search(_ERROR, lines[at], re.IGNORECASE) and len(lines[at]) <= _WIDEST]
    at = last_raised[-1] if last_raised else errors[0] if errors else told[-1]
    return Trouble(_around(lines, at), "assertion" if asserted else "other", mark_of(lines[at]))


def holds(output: str, mark: str) -> bool:
    """Tell whether an output holds the error that a mark tells."""
    return any(mark_of(line) == mark for line in _ESCAPES.sub("", output).splitlines() if line.strip())


def mark_of(line: str) -> str:
    """Return what tells a line again, whatever numbers, hashes, folders, white space and case it has."""
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
    return next((cause for cause, pattern in _CAUSES if re.search(pattern, line, re.IGNORECASE)), None)


def _start(lines: list[str], at: int) -> int:
    """Return where the sentence begins that a line goes on with."""
    if not at or not re.match(r"\s*[a-z][\w-]* [a-z]", lines[at]) or re.match(_ERROR, lines[at], re.IGNORECASE):
        return at
    before = lines[at - 1]
    is_whole = not before.strip() or before.rstrip().endswith((".", ":", "!", "?")) or len(before) > _WIDEST
    return at if is_whole or re.match(_NOISE, before, re.IGNORECASE) else at - 1


def _around(lines: list[str], at: int) -> str:
    """Return the line that names the cause and those that go on with it, to the next one that is noise."""
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
        if blank > 1 or len(kept) == _LINES or len(" ".join(kept)) + len(line) > _SHOWN:
            break
        if line.strip():
            kept.append(line.strip())
    return "\n".join(kept)[:_SHOWN].rstrip()
