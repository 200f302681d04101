"""Encoders, words and wording."""

import os
import subprocess
import sys

import numpy as np
import pytest

from hyperhop.text import HashingEncoder, TextEncoder, WordLlamaEncoder, encoder_names, get_encoder
from hyperhop.text.words import split_identifier, stem, words

TEXTS = ["place of birth", "", "¿?", "Kenneth Peach's film", "秘鲁的首都", "😀 emoji", "place"]


def test_hashing_rows_are_unit_or_zero():
    encoder = HashingEncoder(dim=300)
    rows = encoder.encode(TEXTS)
    assert rows.shape == (len(TEXTS), 300)
    assert rows.dtype == np.float32
    norms = np.linalg.norm(rows, axis=1)
    assert norms[1] == norms[2] == 0
    np.testing.assert_allclose(norms[[0, 3, 4, 5, 6]], 1, atol=1e-6)
    assert encoder.encode([]).shape == (0, 300)


def test_hashing_is_the_same_in_every_process():
    code = (
        "from hyperhop.text import HashingEncoder;"
        "print(HashingEncoder(64).encode(['place of birth', 'Ñandú']).tobytes().hex())"
    )
    for seed in ("0", "1"):
        found = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        assert found == HashingEncoder(64).encode(["place of birth", "Ñandú"]).tobytes().hex()


def test_hashing_features_are_pinned():
    # an index stores vectors: these columns must never move
    row = HashingEncoder(dim=16).encode(["ab"])[0] * np.sqrt(19)
    np.testing.assert_array_equal(
        np.round(row).astype(int), [-1, 0, 0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 4, 0, 0, 0]
    )


def test_hashing_likes_shared_words_and_pieces():
    a, b, c = HashingEncoder().encode(["place of birth", "birthplace", "currency"])
    assert a @ b > a @ c + 0.1
    one = HashingEncoder().encode(["birthplace"])[0]
    np.testing.assert_array_equal(HashingEncoder().encode([*TEXTS, "birthplace"])[-1], one)


def test_encoders_by_name():
    assert encoder_names() == ["hashing", "wordllama", "minilm"]
    encoder = get_encoder("hashing")
    assert isinstance(encoder, TextEncoder)
    assert encoder.name == "hashing"
    assert encoder.encode(["a"]).shape == (1, encoder.dim)
    with pytest.raises(ValueError, match=r"hashing, wordllama, minilm, .*, got 'bert'"):
        get_encoder("bert")
    with pytest.raises(ValueError, match="dim must be positive and at most 65536, got 0"):
        HashingEncoder(0)


def test_missing_wordllama_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ImportError, match=r'pip install "hyperhop\[text\]"'):
        get_encoder("wordllama")


@pytest.mark.needs("text")
def test_wordllama_offline():
    encoder = WordLlamaEncoder()
    assert isinstance(encoder, TextEncoder)
    rows = encoder.encode(TEXTS)
    assert rows.shape == (len(TEXTS), encoder.dim)
    assert rows.dtype == np.float32
    norms = np.linalg.norm(rows, axis=1)
    assert norms[1] == 0
    np.testing.assert_allclose(np.delete(norms, 1), 1, atol=1e-5)
    for i, text in enumerate(TEXTS):
        np.testing.assert_array_equal(encoder.encode([text])[0], rows[i])
    born, birth, spouse = encoder.encode(["born in", "place of birth", "spouse"])
    assert born @ birth > 0.4
    assert abs(spouse @ birth) < 0.2
    states, offsets = encoder.encode_tokens(["place of birth", "", "place"])
    assert offsets.tolist() == [0, 3, 3, 4]
    np.testing.assert_array_equal(states[0], states[3])
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_words_and_identifiers():
    assert words("Who is Peru's neighbour_state, ＡＢ?") == [
        "who", "is", "peru", "s", "neighbour", "state", "ab",
    ]  # fmt: skip
    assert split_identifier("birthPlace") == ["birth", "place"]
    assert split_identifier("hasHTTPPort") == ["has", "http", "port"]


@pytest.mark.parametrize(
    ("family", "other"),
    [
        (["border", "borders", "bordering", "bordered"], "board"),
        (["country", "countries"], "county"),
        (["use", "uses"], "us"),
        (["name", "names", "naming", "named"], "nation"),
        (["stop", "stopped", "stopping"], "step"),
        (["church", "churches"], "search"),
        (["class", "classes"], "clash"),
    ],
)
def test_stem_joins_a_family(family, other):
    stems = {stem(word) for word in family}
    assert len(stems) == 1
    assert stem(other) not in stems


def test_stem_leaves_short_words_and_other_scripts():
    for word in ("bus", "gas", "ed", "ring", "religious", "straße", "首都", "thesis"):
        assert stem(word) == word
