"""Which rules a sentence is judged by: those of its language, told by its function words."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from workbench.core.words import words

# What the lesson rules of a language are made of: patterns of how it instructs, corrects, and tells of moments.
#
# They are judgments, tried on transcripts of interviews, on conversations and on the notes of coding agents. A
# language
# that has none (`languages`) is judged by the types of its memories alone.


Pattern = re.Pattern[str]

NAMED = r"(?:[A-Z][\w.'’ -]{0,40}: )?"
"""Who says it, where a sentence begins so."""

NUMBERED = r"\b(?:pr #?\d+|#\d+|inc-\d+|v?\d+\.\d+\.\d+|[0-9a-f]{7,40})\b|\d{4}-\d\d-\d\d"
"""Numbers of one request, one incident, one release or one commit, and dates: the same in any language."""


class Rules(NamedTuple):
    """How one language says what holds, and what passes; all patterns ignore case unless they say otherwise."""

    instructs: Pattern
    corrects: Pattern
    generalises: Pattern
    habit: Pattern
    """What tells of somebody that holds beyond a day."""
    labelled: Pattern
    """How notes on the work in hand begin."""
    state: Pattern
    plan: Pattern
    once: Pattern
    """Dates, and numbers of one run, one request or one commit."""
    first_person: Pattern
    """How somebody begins to tell what they did."""
    answers: Pattern
    """What answers somebody, or is about what they said."""
    thanks: Pattern
    """What tells of a feeling at that moment, of gratitude or praise."""
    past: Pattern
    holds: Pattern
    """Verbs of what holds at any time."""
    about_before: Pattern
    """How a sentence begins that is about something in the sentence before."""
    unresolved: Pattern
    """What points at something that was said or shown before."""
    selves: frozenset[str]
    """Words by which somebody speaks of themselves."""
    ours: frozenset[str]
    """Words by which several do: notes on work use them, too."""
    lasting: frozenset[str]
    passing: frozenset[str]
    leaning: Pattern
    """How a sentence begins that leans on the one before."""
    filling: Pattern
    hedged: Pattern
    pointing: frozenset[str]
    addressing: frozenset[str]


# The lesson rules of English.


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


# The lesson rules of German.


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


# The lesson rules of Spanish.


SPANISH = Rules(
    instructs=re.compile(
        r"\b(?:debe|deben|debes|debería|deberían|hay que|ha(?:y|n) de|tiene que|tienen que|se debe|obligatori[oa]s?|"
        r"prohibid[oa]s?|no se (?:puede|pueden|permite))\b|"
        r"\A" + NAMED + r"(?:por favor,? |siempre |nunca |no |solo |sólo )*(?:usa|usar|use|utiliza|utilizar|evita|"
        r"evitar|ejecuta|ejecutar|comprueba|comprobar|verifica|verificar|asegúrate|asegurar|guarda|guardar|borra|borrar|"
        r"escribe|escribir|llama|llamar|pon|poner|añade|añadir|prueba|probar|revisa|revisar|mantén|mantener|"
        r"configura|configurar|espera|esperar|pregunta|preguntar|despliega|desplegar|lanza|lanzar|toca|tocar|subir|"
        r"sube|crear|crea|definir|define|preferir|prefiere)\b|\A" + NAMED + r"(?:nunca|siempre) \w+[ae]?r\b",
        re.I,
    ),
    corrects=re.compile(
        r"\b(?:en vez de|en lugar de|sino|ya no|al contrario|engañoso|en realidad|incorrect[oa]|es falso|"
        r"está mal|y no|parece)\b|, no\b|\bnunca (?:antes|dentro)\b",
        re.I,
    ),
    generalises=re.compile(
        r"\b(?:cada|todos? los|todas? las|siempre|cuando|si|a menos que|salvo|hasta que|sin|porque|ya que|para que|"
        r"de lo contrario|por defecto|normalmente|generalmente|significa|causa|provoca|rompe|impide|depende)\b",
        re.I,
    ),
    habit=re.compile(
        r"\b(?:me (?:encanta|encantan|gusta|gustan|importa|apasiona)|nos (?:encanta|gusta)|prefiero|preferimos|valoro|"
        r"creo en|odio|estudio|enseño|trabajo|vivo|juego|practico|hablo)\b|"
        r"\bmi (?:\w+ )?(?:sueño|meta|pasión|favorit[oa]|objetivo)\b|"
        r"\b(?:importante|siempre|normalmente|a menudo|cada|nunca|me ayuda)\b",
        re.I,
    ),
    labelled=re.compile(
        r"\A(?:estado|pendiente|siguiente|próximos? pasos?|por hacer|plan|hecho|sospecha|alternativas?|probado|"
        r"resultado|medido|recordatorio|borrador|acordado|primero|nueva decisión)\b[^:.]{0,40}:",
        re.I,
    ),
    state=re.compile(
        r"\b(?:está|están|estaba|estaban|sigue|siguen|queda|quedan) (?:ahora |ya |todavía |aún |todo |no )*"
        r"(?:verde|rojo|bien|list[oa]s?|hech[oa]s?|terminad[oa]s?|abiert[oa]s?|cerrad[oa]s?|bloquead[oa]s?|"
        r"pendientes?|a medias|en curso|en marcha|igual|caíd[oa]s?|planead[oa]s?|prometid[oa]s?|fusionad[oa]s?)\b|"
        r"\b(?:por ahora|de momento|actualmente|hasta ahora|en este momento|todavía no|aún no|a medias|en curso|"
        r"espera a)\b|\b(?:estoy|estamos|está|están) (?:\w+ )?\w+(?:ando|iendo)\b",
        re.I,
    ),
    plan=re.compile(
        r"\Aprimero\b.*\b(?:luego|después)\b|\b(?:vamos|voy|va|van) a \w+r\b|\bpasa(?:mos|n)? a\b|"
        r"\b(?:empezará|empezaremos|haremos|moveremos|será|serán|añadiremos|quedará)\b",
        re.I,
    ),
    once=re.compile(
        r"\b(?:hoy|ayer|mañana|esta noche|anoche|hace un (?:rato|momento)|"
        r"(?:la|el) (?:próxim[oa]|pasad[oa]) (?:semana|mes|año|versión|sprint)|(?:semana|mes|año) (?:próxim|pasad)[oa]|"
        r"est[ae] (?:semana|mes|año|vez)|el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)|"
        r"\d{1,2} de (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre))\b|"
        r"\b\d+ (?:pasaron|pasan)\b|" + NUMBERED,
        re.I,
    ),
    first_person=re.compile(
        r"\A" + NAMED + r"(?:yo |he |hemos |ejecuté|añadí|borré|cambié|probé|hice|propuse|vi )", re.I
    ),
    answers=re.compile(
        r"\A" + NAMED + r"(?:por suerte|claro|sí|no|bueno|la verdad|exacto|obviamente)\b[,.]|"
        r"\b(?:suena|parece) (?:bien|genial|que)\b|\b(?:tú|tu|tus|te|ti|usted|vuestr[oa]s?)\b",
        re.I,
    ),
    thanks=re.compile(r"\b(?:agradecid[oa]|orgullos[oa] de|feliz de|emocionad[oa]|genial|increíble|ganas de)\b", re.I),
    past=re.compile(
        r"\b(?:fue|fueron|era|eran|había|habían|tuvo|tuvieron|hizo|hicieron|dijo|dijeron|vino|falló|fallaron|pasó|"
        r"devolvió|devolvieron|perdió|encontró|pidió|escribió|llegó|llegaron|cambió|añadió|borró|dio|"
        r"(?:ha|han|he|hemos) \w+(?:ado|ido|to|cho))\b|\b\w+ó\b",
        re.I,
    ),
    holds=re.compile(
        r"\b(?:es|son|debe|deben|puede|pueden|necesita|necesitan|hay que|tiene que|nunca|siempre|significa|usa|usan|"
        r"mantiene|pierde|devuelve|ignora|rompe|causa|lee|escribe|vive|viven|gusta|gustan|encanta)\b",
        re.I,
    ),
    about_before=re.compile(
        r"\A(?:(?:el|la|los|las) (?:nuev[oa]s?|viej[oa]s?|primer[oa]?s?|segund[oa]s?|otr[oa]s?|mism[oa]s?) \w+|"
        r"(?:el|la) (?:tarea|archivo|índice|prueba|cambio|arreglo|llamada|consulta|columna|código|fila|bucle|plan|"
        r"respuesta|petición|error|mensaje|página|rama)|también|todavía|ambos|todo|nada|correcto|mal|ningun[oa])\b",
        re.I,
    ),
    unresolved=re.compile(
        r"\b(?:est[oae]s?|es[oae]s?|aquell?[oa]s?) (?!(?:es|son)\b)\w+|\b(?:y|pero) (?:eso|esto|lo|los|las)\b", re.I
    ),
    selves=frozenset(words("yo mi mis me mí conmigo")),
    ours=frozenset(words("nosotros nuestro nuestra nuestros nuestras nos")),
    lasting=frozenset(words(
        "siempre nunca normalmente generalmente cada todos todas debe deben debería hay tiene porque cuando hasta "
        "evitar evita asegurar verificar usar usa prefiere sin antes encanta gusta importante ayuda significa meta "
        "sueño pasión familia prohibido permitido obligatorio defecto causa rompe"
    )),
    passing=frozenset(words(
        "hoy ayer mañana ahora actualmente recientemente pasado próxima próximo semana lunes martes miércoles jueves "
        "viernes sábado domingo tarde noche luego pronto aquí temporal fusionado abierto falló verde"
    )),
    leaning=re.compile(
        r"\A" + NAMED + r"(?:y|pero|así que|o|entonces|también|porque|que|lo|est[eoa]s?|es[eoa]s?|él|ella|ellos|"
        r"allí|ambos|además|por eso|si no|tú|tu|vamos|aquí|otr[oa])\b",
        re.I,
    ),
    filling=re.compile(r"\b(?:o sea|digamos|pues|eh|este,|cosas así|ya sabes)\b", re.I),
    hedged=re.compile(r"\b(?:no estoy segur[oa]|quizás?|tal vez|probablemente|supongo|a lo mejor|creo que)\b", re.I),
    pointing=frozenset(words("esto eso aquello este esta ese esa ellos ellas allí")),
    addressing=frozenset(words("tú tu tus te usted ustedes vosotros")),
)  # fmt: skip


_RULES: Mapping[str, Rules] = {"English": ENGLISH, "German": GERMAN, "Spanish": SPANISH}


def rules_for(language: str) -> Rules | None:
    """Return the rules of a language (`everyday.language_of`), or `None` where there are none."""
    return _RULES.get(language)
