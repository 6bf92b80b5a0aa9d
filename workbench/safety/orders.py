"""Text that reads as an order to an agent: instructions to ignore, role tags, tool calls, exfiltration."""

from collections.abc import Iterator
from re import IGNORECASE, MULTILINE
from typing import NamedTuple

from workbench.safety.finding import Finding
from workbench.safety.lowering import compiled


class OrderRule(NamedTuple):
    """One kind of order: a text must hold one of `hints` and one of `also` (in lower case) and match `pattern`."""

    rule: str
    hints: tuple[str, ...]
    pattern: str
    reason: str
    also: tuple[str, ...] = ("",)


_RULES_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|your|system|these|those|original|initial)"
_DROP = r"\b(?:ignore|disregard|forget|override|bypass|do\s+not\s+follow|stop\s+following)\b"
_DATA = (
    r"(?:api[\s_-]?keys?|passwords?|secrets|credentials|access[\s_-]?tokens?|environment\s+variables|\.env\b|"
    r"ssh\s+keys?|private\s+keys?|system\s+prompt|conversation|chat\s+history|memories)"
)
_TARGET = r"(?:https?://|ftp://|[\w.+\-]+@[\w\-]+\.\w|[\w\-]+\.com\b)"
_AGENT = r"\b(?:ai|agent|agents|assistant|assistants|model|models|claude|gpt|chatgpt|llm|llms|copilot|bot)\b"
_ORDER = r"(?:must|should|shall|always|never|ignore|disregard|execute|run|send|delete|do\s+not|don't)\b"

RULES = (
    OrderRule(
        "ignore instructions",
        ("ignore", "disregard", "forget", "override", "bypass", "follow"),
        rf"{_DROP}[^.\n]{{0,30}}?\b(?:{_RULES_BEFORE}(?:\s+(?!of\b|version)[\w'\-]+){{0,2}}\s+(?:instructions?|prompts?|rules|guidelines|"
        r"directions|directives|messages)|(?:all|any)\s+(?:instructions|directives)|"
        r"everything\s+(?:above|before|you\s+(?:were|have\s+been)\s+told))\b",
        "It tells the reader to ignore its instructions.",
        also=("instruction", "prompt", "rules", "guideline", "direct", "messages", "everything"),
    ),
    OrderRule(
        "new instructions",
        ("instructions", "system prompt", "you are now", " mode"),
        r"\b(?:(?:new|updated)\s+(?:system\s+)?(?:instructions|prompt)\s*:|you\s+are\s+now\s+(?:in\s+)?(?:dan\b|jailbroken|"
        r"unrestricted|unfiltered|developer\s+mode|root\b|no\s+longer\s+(?:bound|an?\s+(?:ai|assistant)))|"
        r"(?:enable|enter|activate)\s+(?:developer|jailbreak|god)\s+mode\b)",
        "It gives the reader new instructions or another role.",
    ),
    OrderRule(
        "role tag",
        ("<", "inst]", "assistant:", "human:", "system prompt"),
        r"</?(?:system|assistant|system-reminder|system_prompt|instructions)\s*>|<\|(?:im_start|im_end|system|user|"
        r"assistant|endoftext|eot_id|start_header_id)\|>|\[/?INST\]|<<SYS>>|^\s{0,8}(?:assistant|human|system\s+prompt):",
        "It holds a tag that marks who speaks to a language model.",
        also=("system", "assistant", "<|", "inst", "sys>>", "human:"),
    ),
    OrderRule(
        "tool call",
        ("tool_", "function_c", "<"),
        r"[\"']type[\"']\s*:\s*[\"'](?:tool_use|tool_result|function_call|tool_call)[\"']|[\"'](?:function_call|tool_calls?)"
        r"[\"']\s*:\s*[\[{]|<(?:antml:)?(?:function_calls|invoke|tool_use|tool_call)\b[^>\n]{0,200}>",
        "It holds a call of a tool as a language model writes it.",
        also=("type", "function_call", "tool_call", "<invoke", "tool_use", "antml"),
    ),
    OrderRule(
        "secret order",
        ("do not", "don't", "never", "without"),
        r"\b(?:run|execute|call|invoke|send|delete|download|install|curl|upload|write|post)\b[^\n]{0,200}?"
        r"\b(?:do\s+not|don't|never|without)\s+(?:tell|inform|notify|alert|warn|mention)(?:ing)?\b[^.\n]{0,20}?"
        r"\b(?:the\s+(?:user|human|person|operator|developer)|anyone|anybody|this|it)\b",
        "It orders something to be done without the person knowing.",
        also=("tell", "inform", "notify", "alert", "mention", "warn"),
    ),
    OrderRule(
        "exfiltration",
        ("://", "@", ".com"),
        rf"\b(?:send|upload|forward|leak|exfiltrate|e-?mail|transmit)\b[^.\n]{{0,60}}?\b{_DATA}[^\n]{{0,60}}?"
        rf"\b(?:to|at|via)\b[^\n]{{0,20}}?{_TARGET}",
        "It orders private data to be sent away.",
        also=("send", "upload", "forward", "leak", "exfiltrate", "mail", "transmit"),
    ),
    OrderRule(
        "prompt theft",
        ("system prompt", "instructions"),
        r"\b(?:reveal|print|repeat|output|show|disclose|leak)\s+(?:me\s+)?(?:all\s+of\s+)?(?:your|the)\s+(?:full\s+|entire\s+|"
        r"hidden\s+|initial\s+)*(?:system\s+prompt|initial\s+instructions|hidden\s+instructions|your\s+instructions)\b",
        "It asks for the hidden instructions.",
        also=("reveal", "print", "repeat", "output", "show", "disclose", "leak"),
    ),
)  # fmt: skip

_HINTS = tuple(dict.fromkeys(hint for rule in RULES for hint in rule.hints))

_COMMENT = rf"{_AGENT}[^\n]{{0,80}}?\b{_ORDER}|\byou\s+(?:must|should|shall|are\s+to|will)\b"


def find(text: str, low: str) -> Iterator[Finding]:
    """Yield the orders in a text; `low` is the text in lower case."""
    if any(map(low.__contains__, _HINTS)):
        for rule in RULES:
            if any(map(low.__contains__, rule.hints)) and any(map(low.__contains__, rule.also)):
                for match in compiled(rule.pattern, IGNORECASE | MULTILINE).finditer(text):
                    yield Finding("injection", rule.rule, rule.reason, *match.span())
    yield from _comments(text)


def _comments(text: str) -> Iterator[Finding]:
    """Yield HTML comments that hold orders; one that is not closed goes to the end."""
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        end = len(text) if end < 0 else end + 3
        if compiled(_COMMENT, IGNORECASE).search(text, at, end):
            yield Finding("injection", "comment with orders", "A comment that no page shows holds orders.", at, end)
        at = text.find("<!--", end)
