"""Text to vectors with a model2vec model from local files; nothing is ever downloaded."""

import contextlib
import hashlib
import re
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.core.files.atomic import write_file
from workbench.core.limits import BUNDLED, Thresholds
from workbench.core.record import UnreadableFile
from workbench.core.words import script_of
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.fulltext import thesaurus
from workbench.retrieval.fulltext.thesaurus import Thesaurus

if TYPE_CHECKING:
    from model2vec import StaticModel
    from tokenizers import Tokenizer


# How a model reads a text: no more of it than counts, and nothing where it does not know the most
# of it.


EDITION = b"2"
"""To be changed whenever a text is read in another way, as its vector is another then."""

UNKNOWN = 1 / 3
"""The share of a text from which on the model does not know it: of the unknown letters, and those
it spells.
"""

_LATIN = 1 / 3
"""What a Latin letter counts beside one of another script."""

_SPELT = -1.0
"""The weight of a token that is a single letter."""

_ENOUGH = 1200
"""Characters that mostly hold all tokens that are read, in a text of keys and codes."""

_GAPS = _ENOUGH // 9
"""Spaces among so many characters from which on they are words of a language, which need more."""

_BORDERS = " \n\t+/-_.,:;=\"'"
"""Characters at which a word ends, whatever follows."""

_MARKS = "##", "▁", "Ġ"
"""What tokenizers put before a token that goes on with a word, or begins one."""

_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_FOREIGN = re.compile(r"[^\W\d_A-Za-z\u00aa\u00ba\u00c0-\u02af\u1e00-\u1eff]")
"""A letter that is not Latin."""


@cache
def reading_model() -> "type[StaticModel]":
    """Return a static model that reads this way; a text that it does not know has no tokens, and so
    no vector.
    """
    from model2vec import StaticModel
    from tokenizers.pre_tokenizers import BertPreTokenizer

    class ReadingModel(StaticModel):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._weights = _Weights(self.tokenizer)
            # Only where words end at spaces and punctuation the beginning of a text can be split
            # alone.
            self._parts = isinstance(self.tokenizer.pre_tokenizer, BertPreTokenizer)

        def tokenize(self, sentences: Sequence[str]) -> list[list[int]]:
            split = (
                _split(sentences, self.tokenizer)
                if self._parts
                else _whole(sentences, self.tokenizer)
            )
            return [self._read(text, ids) for text, ids in zip(sentences, split, strict=True)]

        def _read(self, text: str, ids: list[int]) -> list[int]:
            known = [id for id in ids if id != self.unk_token_id]
            foreign = 0 if text.isascii() else len(_FOREIGN.findall(text))
            # What is no letter may be unknown, too: an emoji says nothing about the script.
            unknown = min(len(ids) - len(known), foreign)
            return [] if foreign and self._weights.share(known, unknown) >= UNKNOWN else known

    return ReadingModel


class _Weights(dict[int, float]):
    """What each token counts, worked out when it is first met: its letters, none for digits and
    punctuation.
    """

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    def __missing__(self, id: int) -> float:
        word = self._tokenizer.id_to_token(id) or ""
        for mark in _MARKS:
            word = word.removeprefix(mark)
        script = script_of(word)
        if script in ("none", "latin"):
            weight = len(word) * _LATIN if script == "latin" else 0.0
        else:
            # An ideograph is a word; of other scripts a single letter is what is left of one that
            # was spelled.
            weight = (
                _SPELT
                if len(word) == 1 and (script != "cjk" or _KANA.match(word))
                else float(len(word))
            )
        self[id] = weight
        return weight

    def share(self, ids: Sequence[int], unknown: int) -> float:
        """Return the share of a text that is unknown, or spelled: two single letters and more, side
        by side.
        """
        weights = [self[id] for id in ids]
        known = sum(weight for weight in weights if weight > 0)
        pairs = [a == b == _SPELT for a, b in pairwise(weights)]
        lost = unknown + sum(a or b for a, b in zip([False, *pairs], [*pairs, False], strict=True))
        return lost / (known + lost) if lost else 0.0


Tokens = list[list[int]]


def _whole(texts: Sequence[str], tokenizer: "Tokenizer") -> Tokens:
    return [one.ids for one in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def _split(texts: Sequence[str], tokenizer: "Tokenizer") -> Tokens:
    """Return the tokens of each text that are read; of a dense one the beginning is tried first."""
    begun = {at: start for at, text in enumerate(texts) if (start := _beginning(text))}
    most = (tokenizer.truncation or {}).get("max_length")
    split = _whole(list(begun.values()), tokenizer) if begun else []
    found = {at: ids for at, ids in zip(begun, split, strict=True) if len(ids) == most}
    rest = iter(_whole([text for at, text in enumerate(texts) if at not in found], tokenizer))
    return [found[at] if at in found else next(rest) for at in range(len(texts))]


def _beginning(text: str) -> str:
    """Return the first whole words of a long text that seems to be dense, else nothing."""
    if len(text) <= _ENOUGH * 3 // 2 or text.count(" ", 0, _ENOUGH) >= _GAPS:
        return ""
    return text[: max(text.rfind(border, 0, _ENOUGH) for border in _BORDERS) + 1]


# From which similarity on two memories are worth a look.


SAMPLE = 20_000
"""Pairs drawn for a calibration."""


def calibrate(vectors: Vectors) -> Thresholds:
    """Derive thresholds for a model from how alike unrelated memories already look to it.

    Background b = the 90th percentile of the cosines of 20 000 random pairs (fixed seed) of the
    memories' unit vectors, shape (n, dim). The flag stands at four fifths of the way from b to 1,
    the review list at half of it. Paragraphs on many subjects have b = 0.47 to the bundled model,
    which gives 0.895 and 0.737, where 0.88 and 0.71 were measured; memories that are all about one
    subject get stricter thresholds. Below 50 memories b is taken as 0.5.
    """
    used = vectors[np.any(vectors != 0, axis=1)] if len(vectors) else vectors
    background = 0.5
    if len(used) >= 50:
        background = _background(used)
    return Thresholds(flag=_between(background, 0.8), review=_between(background, 0.5))


def _background(vectors: Vectors) -> float:
    random = np.random.default_rng(0)
    left = random.integers(0, len(vectors), SAMPLE)
    # A shift of 1 … n−1 pairs every row with another one.
    right = (left + random.integers(1, len(vectors), SAMPLE)) % len(vectors)
    cosines = np.einsum("ij,ij->i", vectors[left], vectors[right], dtype=np.float64)
    return float(np.clip(np.quantile(cosines, 0.9), 0.0, 0.99))


def _between(background: float, share: float) -> float:
    return round(background + share * (1 - background), 3)


BUNDLED_FOLDER = Path(__file__).parents[1] / "model"
WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
THESAURUS = "thesaurus.npz"


class ModelFiles(NamedTuple):
    """The content of a model folder; the three files and how a text is read decide every vector."""

    weights: bytes
    tokenizer: bytes
    config: bytes

    @property
    def fingerprint(self) -> str:
        """Name the vectors by what decides them: 32 hexadecimal digits."""
        digest = hashlib.blake2b(EDITION, digest_size=16)
        for part in (self.weights, self.tokenizer, self.config):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()


class Embedder:
    """A static embedding model, loaded when it is constructed; the bundled one once in a process.

    `folder` holds `model.safetensors`, `tokenizer.json` and `config.json`; `None` means the
    bundled model. Raises `UnreadableFile` when the folder is no model. The vectors have unit
    length, so a dot product is a cosine. The model averages word vectors: it ignores word order
    and negation, so a cosine of 1.0 is no proof that two texts say the same.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or BUNDLED_FOLDER
        self._bundled = folder is None
        self._thesaurus: Thesaurus | None = None
        self.fingerprint, self._model = _bundled() if folder is None else _load(folder)
        self.dim, self.tokens = int(self._model.dim), len(self._model.tokens)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 unit vectors of shape (n, dim); a text that the model does not know gives
        zeros.

        A text's vector does not depend on the other texts of the call. Only the first
        512 tokens of a text are read (full text covers the rest).
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        clean = [_encodable(text) for text in texts]
        return np.asarray(self._model.encode(clean, use_multiprocessing=False), np.float32)

    @cached_property
    def is_bundled(self) -> bool:
        """Tell whether this is the bundled model, wherever its files lie."""
        return self._bundled or self.fingerprint == _read(BUNDLED_FOLDER).fingerprint

    def thesaurus(self, folder: Path | None = None) -> Thesaurus:
        """Return the words of like meaning: the bundled model's as shipped, another's from `folder`
        or built into it.

        Building takes some seconds; what cannot be written is built again next time.
        """
        if self._thesaurus is None:
            kept = None if folder is None else folder / f"{self.fingerprint}.npz"
            path = BUNDLED_FOLDER / THESAURUS if self.is_bundled else kept
            found = None if path is None else thesaurus.read(path)
            self._thesaurus = found or self._built_thesaurus(kept)
        return self._thesaurus

    def _built_thesaurus(self, path: Path | None) -> Thesaurus:
        vectors = np.asarray(self._model.embedding, np.float32)
        rows = self._model.token_mapping
        found = thesaurus.built(
            self._model.tokenizer.get_vocab(), vectors if rows is None else vectors[rows]
        )
        if path is not None and not self.is_bundled:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_file(path, found.to_bytes(), ".thesaurus-", durable=False)
        return found

    def thresholds(self, vectors: Vectors) -> Thresholds:
        """Return where similarity is worth a flag: fixed for the bundled model, else calibrated on
        `vectors`.
        """
        return BUNDLED if self.is_bundled else calibrate(vectors)


def _read(folder: Path) -> ModelFiles:
    try:
        return ModelFiles(*((folder / name).read_bytes() for name in (WEIGHTS, TOKENIZER, CONFIG)))
    except OSError as error:
        raise _unreadable(
            folder, f"{Path(error.filename or folder).name}: {error.strerror}"
        ) from error


@cache
def _bundled() -> tuple[str, "StaticModel"]:
    """Load the package's own model, once for all stores that are opened: its files stay as they are
    installed.
    """
    return _load(BUNDLED_FOLDER)


def _load(folder: Path) -> tuple[str, "StaticModel"]:
    """Return the fingerprint of a model's folder, and the model."""
    files = _read(folder)
    return files.fingerprint, _build(files, folder)


def _build(files: ModelFiles, folder: Path) -> "StaticModel":
    """Build the model from bytes: `from_pretrained` would import a hub client and download by
    default.
    """
    import json

    from safetensors import SafetensorError
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    try:
        config = json.loads(files.config)
        tensors = load(files.weights)
        tokenizer = Tokenizer.from_str(files.tokenizer.decode())
        vectors, mapping = tensors["embeddings"], tensors.get("mapping")
        if mapping is not None and (
            len(mapping) < tokenizer.get_vocab_size() or mapping.max() >= len(vectors)
        ):
            raise ValueError("its tokens are not all mapped to vectors")
        # A reduced vocabulary comes with a token mapping, a weighted one with token weights.
        return reading_model()(
            vectors=vectors if vectors.dtype == np.int8 else vectors.astype(np.float32),
            tokenizer=tokenizer,
            config=config | {"normalize": True},  # another value would be remarked upon on stderr
            normalize=True,
            weights=tensors.get("weights"),
            token_mapping=mapping,
            max_length=config.get("max_length", 512),
        )
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(folder, str(error)) from error
    except BaseException as error:
        # The tokenizers library raises a bare Exception for a file it cannot read.
        if type(error) is Exception:
            raise _unreadable(folder, str(error)) from error
        raise


def _unreadable(folder: Path, reason: str) -> UnreadableFile:
    return UnreadableFile(
        f"The embedding model in {folder} cannot be loaded ({reason}).",
        "No memory is affected; name a folder with model.safetensors, tokenizer.json and config.json, "
        "or use the bundled one: `workbench model use bundled`.",
    )


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
