"""Saved replies of the ACE roles (source 003): a Curator's operations, or a Reflector's analysis with its tags."""

import json
import re

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.playbook.operations import Analysis, Curation, read_analysis, read_curation
from workbench.core.record import UnreadableFile
from workbench.core.reflection.llm import UnreadableReply, find_json
from workbench.formats.ace import operations
from workbench.formats.shared.report import Report

NAME = "ace-reply"

_HEAD = 65_536  # characters that tell a log from a reply
_OPERATIONS = re.compile(r'"operations"\s*:\s*\[')
_TAGS = re.compile(r'"bullet_tags"\s*:\s*\[')
_WRAPPED = re.compile(r'"(?:response|raw_response)"\s*:')
_INSIDE = re.compile(r'\\"(operations|bullet_tags)\\"\s*:\s*\[')
_DEEPEST = 3


def detect(head: str, path: str) -> Detection:
    """Sure when `operations` or `bullet_tags` hold a list; the JSON may have prose and a code fence around it."""
    del path
    for pattern, name in ((_OPERATIONS, "operations"), (_TAGS, "bullet_tags")):
        if pattern.search(head):
            return Detection(NAME, 0.9, f"JSON with a list of “{name}”")
    inside = _INSIDE.search(head) if _WRAPPED.search(head) else None
    if inside:
        return Detection(NAME, 0.85, f"the log of a call whose “response” has “{inside[1]}”")
    return Detection(NAME, 0.0, "no “operations” and no “bullet_tags”")


def read(text: str, context: ReadContext) -> Parsed:
    """Read one reply; each part of it that cannot be read becomes an issue. Raises `UnreadableFile`."""
    try:
        reply = read_reply(text)
    except UnreadableReply as error:
        raise UnreadableFile(f"{context.file} is no reply of a Curator or Reflector: {error.message}") from error
    report = Report(context.file)
    for odd in reply.odd:
        report.skip(_line(text, odd.raw), operations.quoted(odd))
    return report.parsed(NAME, replies=(reply,))


def read_reply(text: str) -> Curation | Analysis:
    """Read what a Curator or a Reflector answered, or the log of operations. Raises `UnreadableReply`."""
    if operations.detect(text[:_HEAD], "").confidence:
        return operations.read_log(text)
    text = _answered(text)
    if _OPERATIONS.search(text):
        return read_curation(text)
    if _TAGS.search(text):
        return read_analysis(text)
    try:
        return read_curation(text)
    except UnreadableReply:
        return read_analysis(text)


def _answered(text: str) -> str:
    """Return the reply that the log of a call holds as its response; a text that is no such log as it is."""
    for _ in range(_DEEPEST):
        if not _WRAPPED.search(text):
            return text
        try:
            log = find_json(text, "response", "raw_response")
        except UnreadableReply:
            return text
        if not isinstance(log, dict) or not {"operations", "bullet_tags"}.isdisjoint(log):
            return text
        said = log.get("response", log.get("raw_response"))
        if not isinstance(said, str | dict):
            return text
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return text


def _line(text: str, raw: str) -> int:
    """Return the line on which a part of the JSON begins; the first one when it is written otherwise there."""
    at = text.find(raw)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


FORMAT = Format(NAME, "reply of an ACE Curator or Reflector", detect, read)
