"""Everyday English that carries no subject: words of any sentence, and the openings of small talk."""

import re

from workbench.core.dedup import content_words
from workbench.core.text import words

_WORDS = """
about above after again all am any because before below between both but can could did each few from further
had has have he her here him his how if into just let like lot made make many may me might mine more most
much must my now off on once one only or other out over own per same shall she should since so some still
such than them then thing things through time to too under until up upon us use very want was way well what
when where which while who whom whose why with yes yet your always never got get go going gone come really
good great nice able even ever every first last new next today yesterday tomorrow sure know think back day
monday tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december utc week weeks month months year years hour hours minutes ago
"""

EMPTY: frozenset[str] = frozenset(stem for word in words(_WORDS) for stem in content_words(word))
"""Stems that say nothing about what a sentence is about."""

PHATIC = re.compile(
    r"\s*(?:hi|hey|hello|howdy|yo|wow|aww+|haha\w*|oh|congrat\w*|thanks|thank you|thx|bye|goodbye|see you|take care|"
    r"(?:good|nice|great|glad|happy|lovely) to (?:see|hear|meet|know|be)|good (?:morning|evening|night|luck)|"
    r"(?:i'm|i am) (?:so |really |very )?(?:glad|happy|sorry|excited) (?:to hear|for you|you)|you're welcome|"
    r"(?:that|it) (?:sounds?|looks?|must)|that(?:'s| is|’s) (?:\w+ ){0,2}(?:great|good|awesome|amazing|cool|nice|"
    r"wonderful|fantastic|interesting|so|a)\b|sounds|sure|yeah|yep|yes|nope?|so far,?|yup|no, |"
    r"no problem|of course|absolutely|definitely|"
    r"no worries|let me know|keep (?:it )?up|appreciate|i (?:really )?appreciate your|what an?|how)\b",
    re.I,
)
"""How greetings, thanks, congratulations and bare answers begin."""
