"""The lesson rules of Spanish."""

import re

from workbench.core.words import words
from workbench.reflect.extractive.rules import NAMED, NUMBERED, Rules

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
