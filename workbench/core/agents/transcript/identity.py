"""What tells things of a session again, by whatever door they come."""

from hashlib import blake2b


def identity(session: str, text: str) -> str:
    """Return what tells words of a session again, by whatever door they come: a hook gives no message id."""
    flat = " ".join(text.split()).encode(errors="replace")
    return f"{session}/text-{blake2b(flat, digest_size=8).hexdigest()}"


def print_of(id: str) -> str:
    """Return what stands for an identity where it is kept. Ids of tool uses are the same in a session that goes on."""
    session, _, own = id.partition("/")
    told = own if own.startswith("toolu_") else f"{session}/{own}"
    return blake2b(told.encode(errors="replace"), digest_size=8).hexdigest()
