"""Words of like meaning: what is shipped is what the model says, and what is damaged is made again."""

from pathlib import Path

import numpy as np
import pytest

from workbench.retrieval.embedding.embedder import BUNDLED_FOLDER, THESAURUS, Embedder
from workbench.retrieval.fulltext.terms import stems
from workbench.retrieval.fulltext.thesaurus import MOST, built, read


def test_a_small_model_has_its_nearest_stems(tmp_path: Path) -> None:
    vocabulary = {"recipe": 0, "recipes": 1, "cuisine": 2, "engine": 3, "of": 4, "##ing": 5}
    vectors = np.array([[1, 0], [1, 0.1], [0.9, 0.4], [-1, 0], [1, 0], [1, 0]], np.float32)
    found = built(vocabulary, vectors)
    assert found.names == ("cuisin", "engin", "recip")
    ((stem, cosine),) = found.near("recip")
    assert (stem, round(cosine, 1)) == ("cuisin", 0.9)
    assert found.near("engin") == found.near("of") == ()
    (tmp_path / "kept").write_bytes(found.to_bytes())
    again = read(tmp_path / "kept")
    assert again is not None
    assert again.near("recip")[0][1] == pytest.approx(cosine, abs=1e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a model that is not the bundled one has left its words: they take seconds
    to build.
    """
    made = tmp_path_factory.mktemp("words")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "is_bundled", False)
        Embedder(BUNDLED_FOLDER).thesaurus(made)
    return made


@pytest.mark.slow
def test_what_is_shipped_and_what_is_built_know_the_words_of_the_bundled_model(
    folder: Path,
) -> None:
    words = Embedder()._model.tokenizer.get_vocab()
    known = sorted(w for w in words if w.isascii() and w.isalpha() and w.islower() and len(w) > 2)
    (file,) = folder.iterdir()
    for path in (BUNDLED_FOLDER / THESAURUS, file):
        found = read(path)
        assert found is not None
        assert found.names == tuple(sorted(set(stems(known))))
        assert all(len(found.near(name)) <= MOST for name in found.names)
        assert {"recip", "deploi", "databas"} <= {name for name in found.names if found.near(name)}


@pytest.mark.slow
def test_another_model_has_its_own_in_a_folder_and_what_is_broken_is_made_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = folder.iterdir()
    first = read(file)
    assert first is not None
    monkeypatch.setattr(Embedder, "is_bundled", False)
    (tmp_path / file.name).write_bytes(b"broken")
    again = Embedder(BUNDLED_FOLDER).thesaurus(tmp_path)
    assert again.near("recip")[0][0] == first.near("recip")[0][0]
    assert read(tmp_path / file.name) is not None
