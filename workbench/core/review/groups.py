"""The groups that Review lists: what waits, by the consequence of a decision, the gravest first."""

from typing import NamedTuple


class Group(NamedTuple):
    """Kinds of proposals whose decisions have consequences of one sort; `about` says in a sentence which."""

    id: str
    title: str
    about: str


NOISE = Group("noise", "Only noise?", "A yes archives what nobody touched; nothing is erased.")

IMPORTANT = Group("important", "Only noise? Importance 8 and more", "These are archived one by one only.")
"""Those of the group before whose memory has an importance of `IMPORTANT_FROM` or more."""

IMPORTANT_FROM = 8.0

LATER = Group("later", "Left for later", "You put these off; each says when it is asked again.")
"""What was put off, of whatever kind."""

GROUPS = (
    Group("trust", "To be trusted", "Until you have looked, agents are given nothing of it."),
    Group("known", "Changes what is known", "A yes replaces, forgets or rewords what agents are given now."),
    Group("true", "Still true?", "Agents are given these; a no takes away from how far they are believed."),
    Group("new", "New to know", "A yes adds to what agents are given as known."),
    Group("files", "Changed on disk", "The store knows these files as they were; a yes takes over what they say now."),
    Group("same", "Say the same", "A yes makes one of several; nothing that is said is lost."),
    Group("places", "In the wrong place", "What has a better home: a yes moves it there, or takes the copy away."),
    NOISE,
    IMPORTANT,
    LATER,
)
"""In the order in which they are listed."""
