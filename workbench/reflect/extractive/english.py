"""The lesson rules of English."""

import re

from workbench.core.words import words
from workbench.reflect.extractive.rules import NAMED, NUMBERED, Rules

ENGLISH = Rules(
    instructs=re.compile(
        r"\A" + NAMED + r"(?:please |always |never |only )?(?:use|never|always|do not|don['’]t|avoid|keep|run|"
        r"check|make sure|ensure|set|prefer|store|ask|rotate|delete|list|write|read|call|put|add|pass|pin|wrap|treat|"
        r"leave|verify|test|import|log|commit|deploy|name|start|stop|wait|look|give|return|send|backfill)\b"
        r"(?! (?:of|is|was)\b)|"
        r"\b(?:must(?! have)|should(?! have)|shall|ha(?:s|ve) to|needs? to|may not|(?:are|is) not allowed|forbidden|"
        r"required|mandatory)\b|\b(?:nobody|no one) (?:may|should|calls?|writes?|edits?|touches)\b",
        re.I,
    ),
    corrects=re.compile(
        r"\b(?:instead of|rather than|and not|, not|but not|not \w+ but|no longer|contrary to|misses|misleading|"
        r"in fact|hides?|mistaken|is wrong|only looks)\b|\bnever (?:before|inside)\b",
        re.I,
    ),
    generalises=re.compile(
        r"\b(?:every|each|any|all|whenever|when|if|unless|until|without|because|since|so that|otherwise|by default|"
        r"defaults? to|usually|generally|means|causes|leads? to|breaks|prevents|depends on)\b",
        re.I,
    ),
    habit=re.compile(
        r"\b(?:i|we|they|he|she)(?:['’]ve)? (?:(?:really|also|just|always|still|truly) )*(?:love|enjoy|like|prefer|"
        r"value|believe|hate|care|loves|enjoys|likes|prefers|values|believes|hates|cares)\b|\bmy (?:\w+ )?(?:dream|"
        r"goal|favou?rite|passion|values?)\b|\bi (?:study|teach|work|live|play|practi[cs]e|speak|own|volunteer)\b|"
        r"\b(?:passionate about|important|always|usually|often|every|never|help(?:s|ed) me)\b",
        re.I,
    ),
    labelled=re.compile(
        r"\A(?:states?|status|left|next|next steps?|todo|plan|done|wip|owner|suspicion|alternatives?|tried|considered|"
        r"result|reproduced|measured|reminder|note to self|open|not an action|what (?:went|did)|new decision|agreed|"
        r"first|release notes?|cost measured|design)\b[^:.]{0,40}(?::| )",
        re.I,
    ),
    state=re.compile(
        r"\b(?:is|are|was|were|be|stays?) (?:now |still |all |not |currently )?(?:unaffected|fine|green|red|done|back|"
        r"due|open|closed|waiting|blocked|ready|live|down|up|away|merged|verified|released|finished|complete|pending|"
        r"unchanged|half done|in progress|in place|on hold|out of date|promised|scheduled|planned)\b|"
        r"\b(?:half done|not started|in progress|waits? (?:for|until)|is to be|so far|for now|at the moment|by then|"
        r"(?:to be|will be) \w+ed (?:on|by|in)|going to|plan unchanged|as of|nowadays|these days|currently|right now)"
        r"\b|\b(?:i|we)(?:['’]m|['’]re|['’]ve been| am| are| have been) (?:(?:still|so|really|just) )*\w+ing\b",
        re.I,
    ),
    plan=re.compile(
        r"\Afirst\b.*\bthen\b|\bpick up the new\b|\b(?:has|have) (?:run|landed|shipped)\b|"
        r"\b(?:will|won['’]t|shall) (?:\w+ )?(?:be|go|move|add|ship|start|come|try|need|have|get|do|look|make|take)\b|"
        r"\b(?:moves? (?:to|from)|is moved|starts? on|ends? on)\b",
        re.I,
    ),
    once=re.compile(
        r"\b(?:today|yesterday|tomorrow|tonight|just now|"
        r"(?:next|this|last) (?:week(?:end)?|month|year|sprint|release|summer|winter|spring|fall|night|time)|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:\d{1,2}(?:st|nd|rd|th)? )?(?:january|february|march|april|"
        r"june|july|august|september|october|november|december)(?: \d{1,2})?|runs? \d+)\b|\b\d+ passed\b|" + NUMBERED,
        re.I,
    ),
    first_person=re.compile(r"\A" + NAMED + r"I (?!(?:love|like|enjoy|prefer|value|believe|always|never)\b)"),
    answers=re.compile(
        r"\A" + NAMED + r"(?:luckily|fortunately|obviously|yes|no|yeah|honestly|well)\b[,.]|"
        r"\b(?:looks|sounds|seems) (?:like|so)\b|\bmoments? like th(?:is|ese)\b|\b(?:is|are) so (?!important)|"
        r"\bi (?:really )?(?:love|like) (?:the|that|this|your|how)\b|\buntil i (?:met|saw|heard)\b|"
        r"\byou(?:['’]\w+|r|rs)?\b",
        re.I,
    ),
    thanks=re.compile(
        r"\b(?:thankful|grateful|thrilled|blessed|lucky|stoked|proud of|so happy|can['’]t wait|excited|amazing|"
        r"awesome)\b",
        re.I,
    ),
    past=re.compile(
        r"\b(?:was|were|did|had|ran|made|got|came|took|went|gave|found|saw|said|told|asked|wrote|fixed|added|removed|"
        r"moved|changed|created|reported|suggested|proposed|preferred|tried|returned|failed|stopped|dropped|merged|"
        r"deployed|rotated|cost|helped|passed|turned|ended|happened|produced|verified|booked|pushed|started|showed|"
        r"processed|considered|decided|discussed|rejected|met|bought|visited|won|lost|left|\w+ed by|ended as)\b",
        re.I,
    ),
    holds=re.compile(
        r"(?<![\w-])(?:is|are|isn['’]t|aren['’]t|must|should|can|cannot|can['’]t|may|needs?|ha[sv]e? to|do not|"
        r"don['’]t|does|doesn['’]t|never|always|means|gets?|goes|runs?|takes?|keeps?|holds?|loses?|returns?|answers?|"
        r"defaults?|ignores?|breaks?|causes?|reads?|writes?|uses?|wants?|loves?|likes?|enjoys?)\b",
        re.I,
    ),
    about_before=re.compile(
        r"\A(?:the (?:new |old |first |second |other |same |slow )?(?:job|script|file|index|handler|test|change|fix|"
        r"call|query|column|code|endpoint|row|loop|plan|export|summary|response|request|process|error|message|page|"
        r"branch)s?|correct|wrong|same|also|only|still|explains|reuses|removes|adds|calls|uses|everything|anything|"
        r"nothing|one|two|three|both|neither|each of|none)\b",
        re.I,
    ),
    unresolved=re.compile(
        r"\b(?:these|those|such) \w+|\bth(?:is|at) (?!(?:is|was|i|we|you|he|she|they|it|the|a|my|our)\b)\w+|"
        r"\bhere['’ ]i?s\b|\b(?:them|another one|the same|(?:and|but|though|if) (?:it|they|that)(?:['’]\w+)?)\b",
        re.I,
    ),
    selves=frozenset(("i", "my", "i'm", "me", "i’m", "i've", "i’ve", "i'd", "i’d", "mine")),
    ours=frozenset(("we", "our", "us", "we're", "we’re", "we've", "we’ve")),
    lasting=frozenset(words(
        "always never usually often generally every everyone everything whenever must should shall need needs require "
        "requires required because when unless until instead avoid ensure verify use prefer prefers keep rather than "
        "without before cannot can't don't doesn't love loves enjoy enjoys like likes value values believe believes "
        "care cares important helps help means makes goal dream passion family matter matters forbidden allowed "
        "mandatory default causes cause breaks"
    )),
    passing=frozenset(words(
        "today yesterday tomorrow tonight now currently recently last next week monday tuesday wednesday thursday "
        "friday saturday sunday morning afternoon evening ago later soon gonna here todo fixme "
        "temporary temporarily merged opened passed failed green"
    )),
    leaning=re.compile(
        r"\A" + NAMED + r"(?:and|but|so|or|then|also|because|which|it|its|this|that|these|those|they|he|she|"
        r"there|such|both|either|same|none|without (?:it|that)|anything else|otherwise|again|well|plus|you|your|"
        r"we'll|let's|here|another)(?:['’]\w+)?\b",
        re.I,
    ),
    filling=re.compile(r"\b(?:you know|sort of|kind of|i mean|like,|um+|uh+|anyway|stuff|again,|guess)\b", re.I),
    hedged=re.compile(r"\b(?:not sure|maybe|perhaps|probably|i think|i suppose|don't know|nothing)\b", re.I),
    pointing=frozenset(words("it this that these those they them there")),
    addressing=frozenset(words("you your you're you've you'll yours")),
)  # fmt: skip
