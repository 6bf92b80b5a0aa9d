"""The lesson rules of German."""

import re

from workbench.core.words import words
from workbench.reflect.extractive.rules import NAMED, NUMBERED, Rules

_ADVISES = r"(?=.*\b(?:immer|nie|niemals|stets|nicht|kein\w*|nur|erst|vor|nach|statt|vorher|zuerst|bitte|nochmals)\b)"
_SAYS = (
    r"(?!.*\b(?:ist|sind|war|waren|hat|haben|habe|hatten?|wurden?|wird|werden|worden|kann|können|konnten?|weil|dass|"
    r"wir|ich|sie|er|es)\b)"
)
"""Notes that tell somebody what to do end in an infinitive, and have no finite verb."""

GERMAN = Rules(
    instructs=re.compile(
        r"\b(?:muss|müssen|musst|soll|sollen|sollten?|darf|dürfen|niemals|verboten|vorgeschrieben|pflicht|"
        r"(?:ist|sind) (?:\w+ )*zu \w+en|braucht immer)\b|"
        r"\A" + NAMED + r"(?:bitte |immer |nie(?:mals)? |nur )?(?:nutz|verwend|prüf|lösch|setz|schreib|ruf|lass|"
        r"vermeid|acht|stell|halt|test|start|führ|wart|frag|merk|denk|leg|hol|bau)e?\b|\A(?:nimm|lies|gib)\b|"
        r"\A(?:nie|niemals|immer|stets|nur|bitte|keine?)\b[^,]*(?-i:\b(?!ge)[a-zäöüß]+(?:en|ern|eln)),|"
        r"\A" + _ADVISES + _SAYS + r".*(?-i:\b(?!ge)[a-zäöüß]+(?:en|ern|eln))[.!]?\Z",
        re.I,
    ),
    corrects=re.compile(
        r"\b(?:statt|anstatt|anstelle|sondern|nicht mehr|entgegen|irreführend|falsch|in wirklichkeit|tatsächlich|"
        r"stimmt nicht|scheinbar|und nicht)\b|, nicht\b|\bnie (?:davor|darin|vorher)\b",
        re.I,
    ),
    generalises=re.compile(
        r"\b(?:jede[rsmn]?|alle|immer|wenn|falls|sobald|solange|außer|ohne|weil|damit|sonst|andernfalls|standardmäßig|"
        r"üblicherweise|meist(?:ens)?|bedeutet|heißt|führt zu|führen zu|hängt|verhindert|verursacht|bricht)\b",
        re.I,
    ),
    habit=re.compile(
        r"\b(?:ich|wir) (?:(?:sehr|wirklich|auch|immer|noch) )*(?:liebe|mag|genieße|bevorzuge|schätze|glaube|hasse|"
        r"arbeite|lebe|wohne|studiere|unterrichte|spiele|spreche|lieben|mögen)\b|"
        r"\bmein\w* (?:\w+ )?(?:traum|ziel|leidenschaft|lieblings\w*|werte)\b|"
        r"\b(?:wichtig|immer|meistens|oft|jede\w*|nie|gern|am liebsten)\b",
        re.I,
    ),
    labelled=re.compile(
        r"\A(?:stand|status|offen|als nächstes|nächste schritte?|todo|plan|fertig|verdacht|alternativen?|versucht|"
        r"ergebnis|gemessen|erinnerung|entwurf|neue entscheidung|vereinbart|zuerst|was (?:lief|ging))\b[^:.]{0,40}:",
        re.I,
    ),
    state=re.compile(
        r"\b(?:ist|sind|war|waren|bleibt|bleiben|läuft|laufen) (?:jetzt |noch |schon |wieder |nicht |gerade |alle? )*"
        r"(?:grün|rot|fertig|erledigt|offen|geschlossen|blockiert|bereit|zurück|fällig|unverändert|in arbeit|"
        r"halb fertig|gemergt|veröffentlicht|geplant|zugesagt|in ordnung|gut)\b|"
        r"\b(?:bisher|derzeit|momentan|zurzeit|vorerst|im moment|zur zeit|in arbeit|halb fertig|noch nicht|"
        r"wartet auf|warten auf|gerade)\b",
        re.I,
    ),
    plan=re.compile(
        r"\Azuerst\b.*\b(?:dann|danach)\b|\b(?:ziehen|zieht|wechselt|wechseln) (?:auf|zu|nach|um)\b|"
        r"\b(?:wird|werden) (?:\w+ )*(?:bald|demnächst|später)\b|\b(?:will|wollen|möchten?) \w+|"
        r"\bals nächstes\b",
        re.I,
    ),
    once=re.compile(
        r"\b(?:heute|gestern|morgen|vorhin|neulich|vorgestern|übermorgen|"
        r"(?:nächste|letzte|diese|kommende|vorige)[nrms]? (?:woche|monat|jahr|nacht|mal|version|release|sprint)|"
        r"(?:am|bis|seit|ab) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|wochenende)|"
        r"\d{1,2}\. (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|\d))\b|"
        r"\b\d+ (?:tests? )?(?:bestanden|grün)\b|" + NUMBERED,
        re.I,
    ),
    first_person=re.compile(
        r"\A" + NAMED + r"(?:Ich (?!(?:liebe|mag|genieße|bevorzuge|schätze|glaube|lebe|wohne|arbeite)\b)|"
        r"Wir (?:haben|hatten|waren|sind|wollen)\b)"
    ),
    answers=re.compile(
        r"\A" + NAMED + r"(?:zum glück|leider|klar|ja|nein|naja|ehrlich gesagt|genau|stimmt|echt|na)\b[, ]|"
        r"\bklingt (?:\w+ )?(?:gut|toll|super|nach)\b|\bsieht \w+ aus\b|\b(?:du|dein\w*|euch|euer\w*|dir|dich)\b",
        re.I,
    ),
    thanks=re.compile(r"\b(?:dankbar|stolz auf|freue mich|froh|aufgeregt|toll|super|wunderbar)\b", re.I),
    past=re.compile(
        r"\b(?:war|waren|hatten?|wurden?|lief|liefen|schlug|schlugen|fand|fanden|sah|sahen|kam|kamen|ging|gingen|gab|"
        r"gaben|sagten?|fragten?|schrieb|schrieben|bat|zeigten?|führten?|brach|half|mussten?|konnten?|wollten?|"
        r"lieferten?|meldeten?|fehlten?|gelang|verlor|verloren)\b|\b(?:hat|haben|habe)\b.*\b\w*ge\w+(?:t|en)\b",
        re.I,
    ),
    holds=re.compile(
        r"\b(?:ist|sind|muss|müssen|soll|sollen|darf|dürfen|kann|können|nie|niemals|immer|bedeutet|braucht|brauchen|"
        r"gilt|gelten|läuft|laufen|liest|schreibt|hält|bleibt|bleiben|heißt|steht|stehen|gehört|gehören|verliert|"
        r"liefert|ignoriert|nutzt|lebt|leben|mag|liebe)\b",
        re.I,
    ),
    about_before=re.compile(
        r"\A(?:(?:der|die|das) (?:(?:neue|alte|erste|zweite|andere|gleiche|langsame)n? \w+|(?:job|skript|datei|index|"
        r"handler|test|änderung|fix|aufruf|abfrage|spalte|code|zeile|schleife|plan|export|antwort|anfrage|fehler|"
        r"meldung|seite)\b)|auch|noch|beide\w*|alles|nichts|richtig|falsch|entfernt|erklärt)\b",
        re.I,
    ),
    unresolved=re.compile(
        r"\b(?:diese[rsnm]?|jene[rsnm]?|solche[rsnm]?) \w+|\b(?:damit|daran|darauf|davon|dafür) (?:war|ist|hat)\b|"
        r"\b(?:und|aber) (?:es|sie|das)\b",
        re.I,
    ),
    selves=frozenset(words("ich mein meine meinen meiner meinem mir mich")),
    ours=frozenset(words("wir unser unsere unseren unserem uns")),
    lasting=frozenset(words(
        "immer nie niemals meistens üblicherweise oft jede jeder jedes jeden alle muss müssen soll sollen sollte darf "
        "dürfen braucht weil wenn falls bis statt vermeiden sicherstellen prüfen verwenden nutzen nur ohne vor nicht "
        "kein keine liebe mag gern wichtig hilft bedeutet ziel traum leidenschaft familie verboten erlaubt pflicht "
        "standardmäßig verursacht bricht sonst"
    )),
    passing=frozenset(words(
        "heute gestern morgen jetzt derzeit neulich letzte letzten nächste nächsten woche montag dienstag mittwoch "
        "donnerstag freitag samstag sonntag vormittag nachmittag abend später bald hier todo vorläufig gemergt "
        "bestanden fehlgeschlagen grün"
    )),
    leaning=re.compile(
        r"\A" + NAMED + r"(?:und|aber|also|oder|dann|danach|außerdem|denn|deshalb|deswegen|darum|daher|dadurch|es|das|"
        r"dies\w*|jene\w*|sie|er|dort|da|solche|beide|beides|sonst|damit|dazu|davon|du|dein\w*|lass uns|hier)\b"
        r"(?! (?:darf|muss|soll) \w)",
        re.I,
    ),
    filling=re.compile(r"\b(?:irgendwie|sozusagen|ähm?|halt|eben|weißt du|na ja|quasi|naja)\b", re.I),
    hedged=re.compile(r"\b(?:nicht sicher|vielleicht|wahrscheinlich|vermutlich|ich glaube|ich denke)\b", re.I),
    pointing=frozenset(words("es dies diese dieser dieses jene sie dort da")),
    addressing=frozenset(words("du dein deine dir dich euch euer")),
)  # fmt: skip
