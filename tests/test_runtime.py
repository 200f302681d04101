"""Import, dispatch and threads, each in a process of its own where the process is the point."""

import os
import subprocess
import sys

import numpy as np
import pytest

import hyperhop as hh
from hyperhop import _core


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def test_import_waits_for_nothing():
    code = "import sys, hyperhop; print('numpy' in sys.modules, 'hyperhop._core' in sys.modules)"
    assert run(code).stdout.split() == ["False", "False"]


def test_kernels_bring_in_nothing_optional():
    code = (
        "import sys, hyperhop; hyperhop.ghrr, hyperhop.topk, hyperhop.KnowledgeGraph\n"
        "heavy = {'torch', 'faiss', 'typer', 'rich', 'wordllama', 'openai', 'scipy', 'babel'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    result = run(code)
    assert result.stdout.strip() == "[]", result.stderr


def test_every_isa_can_be_chosen_by_the_environment():
    code = "from hyperhop import _core; print(_core.isa())"
    for isa in _core.isas():
        assert run(code, HYPERHOP_ISA=isa).stdout.strip() == isa
    wrong = run(code, HYPERHOP_ISA="avx9000")
    assert "no ISA 'avx9000' here; this machine runs" in wrong.stderr
    with pytest.raises(ValueError, match="no ISA 'neon2'"):
        _core.select_isa("neon2")


def test_default_threads_come_from_the_environment():
    code = "from hyperhop import _core; print(_core.default_threads())"
    assert run(code, HYPERHOP_NUM_THREADS="3").stdout.strip() == "3"
    assert "positive integer, got 'many'" in run(code, HYPERHOP_NUM_THREADS="many").stderr
    allowed = run("import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});" + code)
    assert allowed.stdout.strip() == "1"


WORK = """
import numpy as np, hyperhop as hh
cb = hh.ghrr.Codebook([f"r{i}" for i in range(20)])
table = np.random.default_rng(0).integers(0, 20, (2000, 3))
score = lambda: hh.ghrr.score_paths(cb, cb.array[0], table, threads=2)
"""


def test_a_forked_child_computes_on():
    code = WORK + (
        "import os\n"
        "before = score()\n"
        "pid = os.fork()\n"
        "ok = (score() == before).all()\n"
        "if pid == 0: os._exit(0 if ok else 3)\n"
        "print(ok, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    result = run(code)
    assert result.stdout.strip() == "True 0", result.stderr


def test_a_process_ends_while_its_pool_is_busy():
    code = WORK + (
        "import threading\n"
        "threading.Thread(target=lambda: [score() for _ in range(1000)], daemon=True).start()\n"
        "score()\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_many_python_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    cb = hh.ghrr.Codebook([f"r{i}" for i in range(20)], blocks=64)
    table = np.random.default_rng(0).integers(0, 20, (2000, 3))
    expected = hh.ghrr.score_paths(cb, cb.array[0], table, threads=1)
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(hh.ghrr.score_paths, cb, cb.array[0], table, threads=1 + i % 3)
            for i in range(48)
        ]
        assert all(np.array_equal(job.result(), expected) for job in jobs)
