"""The texts that a promoted memory becomes: an entry, a topic file with its index line, a skill."""

import json
import re
import unicodedata
from collections.abc import Container

from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store, clip
from workbench.formats.claude_memory import KINDS

TITLE, HOOK, ABOUT, SLUG = 60, 120, 300, 50
"""Most characters of a title, of what an index says about a file, of a skill's description, of a file's name."""

LEARNED = "What was learned in this project"
"""How a new file of rules describes itself."""

_BEGINNING = 10_000
"""Characters of a memory that its title and what is said about it are made of."""

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PLAIN = re.compile(r"[^\W\d_][\w ,.()/'’+-]*\Z")
_LIKE_A_VALUE = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_FEEDBACK = frozenset({"correction", "convention", "instruction"})


def title_of(memory: Memory) -> str:
    """Return a short title for a memory: its one-line form without Markdown around it."""
    plain = re.sub(r"[*`#\[\]]+", "", one_line(memory.line.lstrip()[:_BEGINNING])).strip(" .:;-")
    if len(plain) > TITLE:
        # A whole clause reads better than a cut sentence.
        clause = re.match(rf".{{{TITLE // 3},{TITLE}}}(?=[;,.:] | [—–(-])", plain)
        plain = clause[0].strip() if clause else plain
    return cut(plain, TITLE) or memory.id


def about_of(memory: Memory) -> str:
    """Return what a reader is told before opening a memory's file: its one-line form, or its first sentences."""
    return cut(one_line((memory.summary or memory.content).lstrip()[:_BEGINNING]), ABOUT)


def slug_of(title: str, fallback: str, taken: Container[str] = ()) -> str:
    """Return a file name for a title, in ASCII letters, digits and hyphens, that is not `taken`."""
    plain = re.sub(r"['’]", "", unicodedata.normalize("NFKD", title)).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", plain)[:SLUG].strip("-")
    plain = plain or re.sub(r"[^a-z0-9]+", "-", fallback.lower())[:SLUG].strip("-") or "note"
    name, number = plain, 2
    while not is_slug(name) or name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def is_slug(name: str) -> bool:
    """Tell whether a name can be that of a topic file or a skill; `memory` would be the index itself on some disks."""
    return bool(_SLUG.match(name)) and len(name) <= 64 and name != "memory"


def topic_file(memory: Memory, title: str, about: str) -> str:
    """Return a topic file: front matter with name, description and type, then the memory."""
    category = memory.category if memory.category in KINDS else ""
    kind = category or ("feedback" if memory.observation_type in _FEEDBACK else "project")
    facts = (("name", title), ("description", about), ("type", kind))
    return f"{_front_matter(facts)}\n{content_of(memory)}\n"


def index_line(title: str, file: str, about: str) -> str:
    """Return the line that an index has for a topic file, without the dash."""
    hook = cut(one_line(about), HOOK)
    plain = title.replace("[", "(").replace("]", ")")
    return f"[{plain}]({file})" + (f" — {hook}" if hook and hook != title else "")


def skill_file(memory: Memory, slug: str, title: str, about: str) -> str:
    """Return a SKILL.md: front matter with name and description, the memory, and the ids it rests on."""
    evidence = ", ".join(dict.fromkeys((memory.id, *memory.citations)))
    front = _front_matter((("name", slug), ("description", about)))
    return f"{front}\n# {title}\n\n{content_of(memory)}\n\nEvidence: {one_line(evidence)}\n"


def file_head(name: str, folder: str) -> str:
    """Return the front matter that a new file needs for its tool, by its name; empty where it needs none.

    It is about the file, and holds no word of a memory: others come to stand there.
    """
    about = slug_of(folder, "skill").replace("-", " ")
    if name.lower().endswith(".mdc"):
        # A rule without it is never applied by itself; without globs it is, where it always applies.
        front = _front_matter((("description", LEARNED), ("globs", "")))
        return front.replace('globs: ""\n', "globs:\nalwaysApply: true\n")
    if name == "SKILL.md":
        said = f"What was learned about {about}. Use it for work on {about}."
        return _front_matter((("name", slug_of(folder, "skill")), ("description", said)))
    if name.lower().endswith(".instructions.md"):
        return _front_matter((("applyTo", "**"),))
    return ""


def head_lines(text: str, *, named: bool) -> tuple[str, ...]:
    """Return the lines by which a title or a description stands at the head of a memory's file; `named`: as a name."""
    scalar = _scalar(text)
    return (*([f"name: {scalar}"] if named else []), f"description: {scalar}", f"# {text}")


def content_of(memory: Memory) -> str:
    """Return a memory's text as a file holds it: line feeds only, no blank lines around it."""
    return clean_for_store(memory.content).replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def one_line(text: str) -> str:
    """Return a text on one line, white space collapsed."""
    return " ".join(clean_for_store(text).split())


def cut(text: str, limit: int) -> str:
    """Cut a text to so many characters, after a word where that loses little, with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = clip(text[:limit], limit - 1).removesuffix("…")
    space = kept.rfind(" ")
    return f"{(kept[:space] if space > limit // 2 else kept).rstrip(' ,;:.')}…"


def _front_matter(facts: tuple[tuple[str, str], ...]) -> str:
    lines = (f"{name}: {_scalar(one_line(value))}" for name, value in facts)
    return "\n".join(("---", *lines, "---", ""))


def _scalar(text: str) -> str:
    """Write a value so that every YAML reader takes it for this text: bare, or in JSON's quotes."""
    if _PLAIN.match(text) and text.lower() not in _LIKE_A_VALUE and not text.endswith(" "):
        return text
    return json.dumps(text, ensure_ascii=False)
