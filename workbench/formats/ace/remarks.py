"""What an ACE playbook file cannot carry."""

from workbench.core.playbook.book import Bullet, Dialect, Playbook
from workbench.formats.ace import lines


def remarks(playbook: Playbook, dialect: Dialect | None) -> list[str]:
    """Say what of the playbook the file will not hold."""
    counted = sum(
        b.helpful_count + b.harmful_count > 0 and not _has_counts(b, playbook, dialect) for b in _kept(playbook)
    )
    broken = sum("\n" in b.content and (b.raw is None or dialect is not None) for b in _kept(playbook))
    left_out = len(playbook.bullets) - len(_kept(playbook))
    said = []
    if counted:
        of = "1 bullet stay" if counted == 1 else f"{counted} bullets stay"
        said.append(f"The bare dialect has no counts: the votes on {of} in the store and are not in the file.")
    if broken:
        said.append(f"Line breaks in {_bullets(broken)} are written as \\n.")
    if left_out:
        said.append(f"{_bullets(left_out)} marked deprecated {'is' if left_out == 1 else 'are'} left out.")
    return said


def _has_counts(bullet: Bullet, playbook: Playbook, dialect: Dialect | None) -> bool:
    """Whether a bullet's line will carry its counts."""
    line = lines.bullet(bullet.raw) if bullet.raw is not None and dialect is None else None
    return (line.form if line else dialect or playbook.book.dialect) == "counts"


def _kept(playbook: Playbook) -> list[Bullet]:
    return [b for b in playbook.bullets if b.state != "deprecated"]


def _bullets(count: int) -> str:
    return "1 bullet" if count == 1 else f"{count} bullets"
