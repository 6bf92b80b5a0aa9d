"""A playbook that prompts are made of."""

from workbench.core.playbook.book import Book, Bullet, Playbook, Section

BULLETS = (
    Bullet("shr-00001", "s1", "Read the docs\nfirst", helpful_votes=3),
    Bullet("shr-00002", "s1", "Old", state="deprecated"),
)


PLAYBOOK = Playbook(
    Book(), (Section("s1", "hard_rules", "HARD RULES"), Section("s2", "others", "OTHERS")), BULLETS
)
