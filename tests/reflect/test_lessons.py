"""What a sentence is as a lesson, and what only passes."""

import pytest

from tests.core.samples import memory
from workbench.reflect.extractive import lesson_of

STANDS = {
    "Keys are deleted after the commit, never before and never inside it.": ("convention", ("corrects", "instructs")),
    "Use time zones of the venue in new tests instead of UTC.": ("decision", ("corrects", "instructs")),
    "Fixtures should use America/Los_Angeles by default.": ("gotcha", ("instructs", "generalises")),
    "Presenting a used refresh token revokes every token of the family.": ("decision", ("generalises",)),
    "Bucket lifecycle rule: objects in the bucket expire after 7 days.": ("decision", ()),
    "A token that was used less than 10 seconds ago is accepted once more.": ("decision", ()),
}  # fmt: skip

PASSES = (
    "I ran `npm install` in web/ and produced a package-lock.json.",
    "Production is unaffected, both hosts share a site.",
    "State: endpoint and table done, worker job half done.",
    "First move to the new date picker, then React.",
    "The export is promised for the second week of March.",
    "Re-run of 4812 failed because the secret was missing.",
    "Next step is the test of the worker.",
    "On staging the event was processed before the payment and the booking ended as paid.",
    "React waits for the date picker, which is on the checkout path.",
    "When the repair has run, raise the prefix of the keys in the same deploy window.",
    "The job calls a reusable workflow without any secrets.",
    "PR #321 removes the call everywhere.",
)

SPOKEN = {
    "Mel: We enjoy hiking in the mountains and exploring forests.": False,
    "Mel: Painting helps me to be true to myself.": False,
    "Mel: Last weekend I joined a program for young people.": True,
    "Mel: I'm meeting so many people who care about this.": True,
    "Mel: I love the theme of that painting.": True,
}


@pytest.mark.parametrize("text", STANDS)
def test_what_holds_is_told_by_what_it_teaches(text: str) -> None:
    kind, teaches = STANDS[text]
    found = lesson_of(text, text, memory(observation_type=kind))
    assert (found.kinds, found.passes) == (teaches, False)


@pytest.mark.parametrize("text", PASSES)
def test_states_plans_and_what_happened_once_pass(text: str) -> None:
    assert lesson_of(text, text, memory(observation_type="general")).passes


@pytest.mark.parametrize("text", SPOKEN)
def test_what_people_say_of_themselves_holds_beyond_a_day_or_passes(text: str) -> None:
    assert lesson_of(text, text, memory(observation_type="general")).passes is SPOKEN[text]


def test_a_memory_of_an_outcome_teaches_only_what_it_says_to_do() -> None:
    texts = (
        "The browser never sends the cookie to another site.",
        "Set the secret on both apps before a deploy.",
    )
    found = [lesson_of(text, text, memory(observation_type="error")) for text in texts]
    assert [one.passes for one in found] == [True, False]


OTHERS = {
    "Nie npm install verwenden, immer pnpm, sonst entsteht eine falsche Lockdatei.": ("instructs", "generalises"),
    "Migrationen müssen rückwärtskompatibel sein, weil beide Versionen laufen.": ("instructs", "generalises"),
    "Vor jedem Deploy die Prüfsummen der Artefakte vergleichen.": ("instructs", "generalises"),
    "Statt UTC gilt in Rechnungen die Zeitzone des Standorts.": ("corrects",),
    "Deploys laufen freitags nur zu zweit, sonst fehlt jemand für den Rückweg.": ("generalises",),
    "Nunca usar npm en este repositorio, sino pnpm.": ("corrects", "instructs"),
    "Las migraciones deben ser compatibles porque conviven dos versiones.": ("instructs", "generalises"),
    "Ejecuta las pruebas de la cola antes de desplegar.": ("instructs",),
    "Cada petición lleva su propio identificador.": ("generalises",),
}  # fmt: skip

OTHERS_PASS = (
    "Das Deployment schlug fehl, weil die Migration nicht gelaufen war.",
    "Die Pipeline ist wieder grün und der Export ist fertig.",
    "Stand: Endpunkt und Tabelle fertig, Worker halb fertig.",
    "Zuerst ziehen wir den Kalender um, dann React.",
    "Am Freitag telefoniert Ruth mit der Schule über zwei Buchungen.",
    "Ich habe npm install im falschen Ordner ausgeführt.",
    "Der Export wartet auf die Freigabe von Dele.",
    "El despliegue falló porque faltaba el secreto.",
    "Estado: la tabla está lista, el trabajador a medias.",
    "Mañana empezaremos con la nueva cola.",
    "La exportación está pendiente de aprobación.",
    "He ejecutado npm install en la carpeta del proyecto.",
)


@pytest.mark.parametrize("text", OTHERS)
def test_german_and_spanish_have_rules_of_their_own(text: str) -> None:
    found = lesson_of(text, text, memory(observation_type="general"))
    assert (found.kinds, found.passes) == (OTHERS[text], False)


@pytest.mark.parametrize("text", OTHERS_PASS)
def test_what_passes_is_told_in_german_and_spanish(text: str) -> None:
    assert lesson_of(text, text, memory(observation_type="general")).passes


def test_of_a_language_without_rules_the_type_of_the_memory_speaks() -> None:
    text = "Les déploiements du vendredi se font à deux pour que quelqu'un surveille le retour."
    assert lesson_of(text, text, memory(observation_type="convention")) == (("instructs",), False)
    assert not lesson_of(text, text, memory(observation_type="general")).passes
    assert lesson_of(text, text, memory(observation_type="error")).passes


SMALL_TALK = (
    "I'm so thankful for my friends and their support.",
    "Here's another recipe that I like.",
    "I never knew turtles could be so interesting until I met your turtles.",
    "My dream is to make a home for these kids.",
    "Mental health is important to me, and it's made such an improvement.",
    "Taking care of ourselves is so important.",
)


@pytest.mark.parametrize("text", SMALL_TALK)
def test_what_answers_points_or_only_feels_is_small_talk(text: str) -> None:
    assert lesson_of(text, f"Mel: {text}", memory(observation_type="general")).passes


def test_notes_on_work_say_we_and_teach_all_the_same() -> None:
    text = "We never call the payment API inside a transaction."
    assert (
        "instructs"
        in lesson_of(
            f"{text[:-1]}; our jobs must do it.", f"{text[:-1]}; our jobs must do it.", memory()
        ).kinds
    )
