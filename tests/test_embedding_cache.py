"""The cache of rows on disk: what it keeps, for whom, and what it survives."""

import json
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.text import CachedEncoder, HashingEncoder, TextEncoder, cache, encode_all
from hyperhop.text.wordllama import WordLlamaEncoder

TEXTS = [f"text number {i}" for i in range(40)]


class Counting(HashingEncoder):
    """Hashing that remembers what it was asked."""

    def __init__(self, dim=8):
        super().__init__(dim)
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        return super().encode(texts)


def files(folder):
    """The files of the only encoder that a folder serves: keys, rows."""
    return (next(folder.glob(f"*{suffix}")) for suffix in (".keys", ".rows"))


def check(folder, storage="float32", hits=None):
    """A fresh cache gives the right rows, whatever is in the folder."""
    cached = CachedEncoder(HashingEncoder(8), folder, storage)
    expected = HashingEncoder(8).encode(TEXTS)
    atol = 0 if storage == "float32" else 1e-3
    np.testing.assert_allclose(cached.encode(TEXTS), expected, atol=atol, rtol=0)
    if hits is not None:
        assert (cached.hits, cached.misses) == (hits, len(TEXTS) - hits)


def test_texts_are_encoded_once(tmp_path):
    encoder = Counting()
    cached = CachedEncoder(encoder, tmp_path / "new" / "folder")
    assert isinstance(cached, TextEncoder)
    assert (cached.name, cached.dim) == ("hashing:8", 8)
    rows = cached.encode(["a", "b", "a", "", "ñ 😀"])
    np.testing.assert_array_equal(rows, HashingEncoder(8).encode(["a", "b", "a", "", "ñ 😀"]))
    assert encoder.asked == ["a", "b", "", "ñ 😀"]
    assert (cached.hits, cached.misses) == (1, 4)
    again = CachedEncoder(encoder, tmp_path / "new" / "folder")
    rows = again.encode(["ñ 😀", "c", "a"])
    np.testing.assert_array_equal(again.encode(["ñ 😀", "c", "a"]), rows)
    assert encoder.asked[4:] == ["c"]
    assert (again.hits, again.misses) == (5, 1)
    # the first sees what the second wrote
    cached.encode(["c"])
    assert (cached.hits, cached.misses) == (2, 4)
    assert cached.encode([]).shape == (0, 8)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=6), st.data())
def test_rows_do_not_depend_on_what_the_cache_held(tmp_path_factory, calls, data):
    storage = data.draw(st.sampled_from(["float32", "float16"]))
    cached = CachedEncoder(HashingEncoder(8), tmp_path_factory.mktemp("cache"), storage)
    fresh = CachedEncoder(HashingEncoder(8), tmp_path_factory.mktemp("cache"), storage)
    alone = dict(zip("abcdefgh", fresh.encode(list("abcdefgh")), strict=True))
    for texts in calls:
        rows = cached.encode(texts)
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, np.array([alone[t] for t in texts]).reshape(-1, 8))


def test_float16_takes_half_the_room_within_its_error(tmp_path):
    encoder = HashingEncoder(256)
    expected = encoder.encode([*TEXTS, ""])
    sizes = {}
    for storage in ("float32", "float16"):
        folder = tmp_path / storage
        cached = CachedEncoder(encoder, folder, storage)
        rows = cached.encode([*TEXTS, ""])
        np.testing.assert_array_equal(cached.encode([*TEXTS, ""]), rows)
        sizes[storage] = next(folder.glob("*.rows")).stat().st_size
    assert sizes == {"float32": 41 * (1024 + 4), "float16": 41 * (512 + 4)}
    np.testing.assert_allclose(np.linalg.norm(rows[:-1], axis=1), 1, atol=1e-6)
    assert not rows[-1].any()
    assert np.abs(rows @ rows.T - expected @ expected.T).max() < 1e-3


def test_one_folder_serves_many_encoders(tmp_path):
    caches = [
        CachedEncoder(HashingEncoder(dim), tmp_path, storage)
        for dim in (8, 16)
        for storage in ("float32", "float16")
    ]
    for cached in caches:
        cached.encode(TEXTS)
        assert (cached.hits, cached.misses) == (0, len(TEXTS))
    assert len(list(tmp_path.glob("*.rows"))) == 4


def test_a_prompt_is_part_of_the_key(tmp_path):
    class Prompted(Counting):
        query_prompt = "q: "

    cached = CachedEncoder(Prompted(), tmp_path)
    assert cached.query_prompt == "q: "
    cached.encode(["a", "q: a"])
    assert cached.misses == 2
    assert CachedEncoder(HashingEncoder(), tmp_path).query_prompt == ""


def test_what_is_here_needs_no_encoder(tmp_path):
    CachedEncoder(HashingEncoder(8), tmp_path).encode(TEXTS)

    class Gone:
        name = "hashing:8"

    cached = CachedEncoder(Gone(), tmp_path)
    assert cached.dim == 8
    np.testing.assert_array_equal(cached.encode(TEXTS), HashingEncoder(8).encode(TEXTS))


def test_another_length_under_the_same_name_is_refused(tmp_path):
    class Same(HashingEncoder):
        name = "same"

    CachedEncoder(Same(8), tmp_path).encode(["a"])
    with pytest.raises(ValueError, match=r"dim 8 for 'same', .* \(1, 16\) .* index again"):
        CachedEncoder(Same(16), tmp_path).encode(["b"])
    early = CachedEncoder(Same(4), tmp_path / "race"), CachedEncoder(Same(2), tmp_path / "race")
    early[0].encode(["a"])
    with pytest.raises(ValueError, match="dim 4"):
        early[1].encode(["b"])


def test_rows_that_cannot_be_written_are_given_all_the_same(tmp_path, caplog):
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    lock = cached._file.path.with_suffix(".lock")
    lock.mkdir()  # holds for root, who may write anywhere
    np.testing.assert_array_equal(cached.encode(TEXTS), HashingEncoder(8).encode(TEXTS))
    assert "rows are not kept: Is a directory" in caplog.text
    lock.rmdir()
    check(tmp_path, hits=0)


def test_nan_is_not_kept(tmp_path):
    class Broken(HashingEncoder):
        def encode(self, texts):
            return super().encode(texts) * np.float32("nan")

    with pytest.raises(ValueError, match="'hashing:8' gave NaN or infinity, which is not kept"):
        CachedEncoder(Broken(8), tmp_path).encode(TEXTS)
    check(tmp_path, hits=0)


def test_arguments(tmp_path):
    with pytest.raises(ValueError, match="storage must be float32 or float16, got 'int8'"):
        CachedEncoder(HashingEncoder(), tmp_path, "int8")
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    with pytest.raises(TypeError, match="got one string"):
        cached.encode("abc")
    assert not hasattr(cached, "encode_tokens")
    with pytest.raises(AttributeError, match="has no nothing"):
        cached.nothing
    copy = pickle.loads(pickle.dumps(CachedEncoder(HashingEncoder(8), tmp_path, "float16")))
    copy.encode(TEXTS)
    check(tmp_path, "float16", hits=len(TEXTS))


@pytest.mark.needs("text")
def test_token_states_pass_through(tmp_path):
    cached = CachedEncoder(WordLlamaEncoder(), tmp_path)
    assert cached.encode_tokens(["place of birth"])[1].tolist() == [0, 3]


def test_progress_through_a_cache(tmp_path):
    told = []
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    encode_all(cached, TEXTS, batch_size=15, progress=lambda *step: told.append(step))
    assert told == [(15, 40), (30, 40), (40, 40)]
    check(tmp_path, hits=40)


# --- kills, damage, many writers ---------------------------------------------------------------


@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_every_state_a_kill_may_leave_behind(tmp_path, storage):
    """Rows are written before keys: cut the later at any byte, or both while rows are written."""
    folder = tmp_path / "cache"
    cached = CachedEncoder(HashingEncoder(8), folder, storage)
    cached.encode(TEXTS[:2])
    keys, rows = files(folder)
    before = keys.read_bytes(), rows.read_bytes()
    cached.encode(TEXTS[2:5])
    after = keys.read_bytes(), rows.read_bytes()
    header = len(before[0]) - 2 * 16
    for size in range(len(before[1]), len(after[1])):
        keys.write_bytes(before[0])
        rows.write_bytes(after[1][:size])
        check(folder, storage, hits=2)
        check(folder, storage, hits=40)
    for size in range(len(after[0])):
        keys.write_bytes(after[0][:size])
        rows.write_bytes(after[1])
        check(folder, storage, hits=max(size - header, 0) // 16)
        check(folder, storage, hits=40)


@pytest.mark.parametrize("place", [0, 5, 31, 35, 36, 40 * 36 - 1])
def test_a_damaged_row_is_encoded_again(tmp_path, caplog, place):
    check(tmp_path)
    _, rows = files(tmp_path)
    content = bytearray(rows.read_bytes())
    content[place] ^= 1
    rows.write_bytes(content)
    caplog.set_level(logging.WARNING)
    check(tmp_path, hits=39)
    assert f"{rows}: 1 damaged rows are encoded again" in caplog.text
    check(tmp_path, hits=40)


def test_lost_rows_are_encoded_again(tmp_path, caplog):
    check(tmp_path)
    _, rows = files(tmp_path)
    os.truncate(rows, 10 * 36 + 7)
    check(tmp_path, hits=10)
    check(tmp_path, hits=40)
    rows.unlink()
    check(tmp_path, hits=0)
    check(tmp_path, hits=40)
    assert "40 damaged rows" in caplog.text


def test_a_damaged_key_is_only_not_found(tmp_path):
    check(tmp_path)
    keys, _ = files(tmp_path)
    content = bytearray(keys.read_bytes())
    content[-1] ^= 1
    keys.write_bytes(content)
    check(tmp_path, hits=39)


@pytest.mark.parametrize(
    "header",
    [b"\n", b"{}\n", b"[]\n", b"\xff\xfe\n", b"no json\n", b'{"dim": 8}\n', b"\0" * (1 << 16)],
)
def test_a_damaged_or_foreign_beginning_is_refused(tmp_path, header):
    check(tmp_path)
    keys, _ = files(tmp_path)
    content = keys.read_bytes()
    keys.write_bytes(header + content.partition(b"\n")[2])
    with pytest.raises(ValueError, match="damaged or of another version: remove it"):
        CachedEncoder(HashingEncoder(8), tmp_path)
    told = json.loads(content.partition(b"\n")[0])
    for change in ({"dim": 0}, {"dim": "8"}, {"dim": True}, {"format": "hyperhop rows 2"}):
        keys.write_bytes(json.dumps({**told, **change}).encode() + b"\n")
        with pytest.raises(ValueError, match="damaged or of another version"):
            CachedEncoder(HashingEncoder(8), tmp_path)


def test_a_folder_removed_meanwhile(tmp_path):
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    cached.encode(TEXTS)
    for file in tmp_path.iterdir():
        file.unlink()
    np.testing.assert_array_equal(cached.encode(TEXTS), HashingEncoder(8).encode(TEXTS))
    assert (cached.hits, cached.misses) == (0, 80)


def write_own_and_shared(folder, worker, start):
    """Half of the texts are this worker's own, half those of all."""
    cached = CachedEncoder(HashingEncoder(8), folder)
    start.wait()
    for i in range(100):
        texts = [f"{worker} {i}", f"shared {i}", f"shared {i + 1}"]
        rows = cached.encode(texts)
        np.testing.assert_array_equal(rows, HashingEncoder(8).encode(texts))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_share_a_folder(tmp_path, method):
    context = multiprocessing.get_context(method)
    start = context.Barrier(2)
    workers = [
        context.Process(target=write_own_and_shared, args=(tmp_path, name, start))
        for name in ("one", "two")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    encoder = Counting()
    texts = [f"{name} {i}" for name in ("one", "two", "shared") for i in range(100)]
    rows = CachedEncoder(encoder, tmp_path).encode(texts)
    np.testing.assert_array_equal(rows, HashingEncoder(8).encode(texts))
    assert encoder.asked == []


def test_a_cache_that_was_open_before_a_fork(tmp_path):
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    cached.encode(TEXTS[:3])
    context = multiprocessing.get_context("fork")
    child = context.Process(target=lambda: cached.encode(TEXTS))
    child.start()
    cached.encode(TEXTS[20:])
    child.join(60)
    assert child.exitcode == 0
    check(tmp_path, hits=40)


def test_threads_share_a_cache(tmp_path):
    cached = CachedEncoder(HashingEncoder(8), tmp_path)
    failed = []

    def work(seed):
        order = np.random.default_rng(seed).permutation(len(TEXTS))
        for i in order:
            row = cached.encode([TEXTS[i]])[0]
            if not np.array_equal(row, HashingEncoder(8).encode([TEXTS[i]])[0]):
                failed.append(TEXTS[i])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    check(tmp_path, hits=40)


WRITER = """
import sys
from hyperhop.text import CachedEncoder, HashingEncoder
cached = CachedEncoder(HashingEncoder(4096), sys.argv[1])
print("ready", flush=True)
for i in range(100_000):
    cached.encode([f"{i} {j}" for j in range(8)])
"""


def test_a_writer_killed_at_any_moment(tmp_path):
    for wait in (0.03, 0.05, 0.08):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        with writer:
            assert writer.stdout.readline() == "ready\n"
            time.sleep(wait)
            writer.send_signal(signal.SIGKILL)
        assert writer.returncode == -signal.SIGKILL
        texts = [f"{i} {j}" for i in range(40) for j in range(8)]
        encoder = Counting(4096)
        rows = CachedEncoder(encoder, tmp_path).encode(texts)
        np.testing.assert_array_equal(rows, HashingEncoder(4096).encode(texts))
        assert len(encoder.asked) < len(texts)  # the killed one's work was not lost


def test_what_was_encoded_before_a_failure_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_CHUNK", 10)

    class Failing(HashingEncoder):
        def encode(self, texts):
            if "text number 25" in texts:
                raise OSError("the server is gone")
            return super().encode(texts)

    with pytest.raises(OSError, match="the server is gone"):
        CachedEncoder(Failing(8), tmp_path).encode(TEXTS)
    check(tmp_path, hits=20)
