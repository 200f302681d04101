"""The linker trap: code compiled for a wide ISA must not lend its inline functions to others."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
KERNELS = sorted((ROOT / "csrc" / "kernels").glob("*.cpp"))
COMPILER = shutil.which("c++")
FLAGS = re.search(r"set\(flags_avx512 (.*)\)", (ROOT / "CMakeLists.txt").read_text()).group(1)


@pytest.mark.skipif(not COMPILER or not shutil.which("nm"), reason="needs c++ and nm")
@pytest.mark.parametrize(
    "path", [k for k in KERNELS if k.name != "check.cpp"], ids=lambda p: p.name
)
def test_weak_symbols_stay_in_their_namespace(path, tmp_path):
    target = subprocess.run(
        [COMPILER, "-dumpmachine"], capture_output=True, text=True, check=True
    ).stdout
    isa, flags = ("avx512", FLAGS.split()) if target.startswith("x86_64") else ("baseline", [])
    out = tmp_path / "kernel.o"
    subprocess.run(
        [
            *(COMPILER, "-std=c++17", "-O0", "-fno-exceptions", "-Wno-psabi"),
            *(f"-DHH_ISA={isa}", *flags),
            *("-c", str(path), "-o", str(out)),
        ],
        check=True,
    )
    listing = subprocess.run(
        ["nm", "-C", "--defined-only", str(out)], capture_output=True, text=True, check=True
    ).stdout
    weak = [line for line in listing.splitlines() if re.search(r" [WVu] ", line)]
    strays = [line for line in weak if f"hyperhop::{isa}::" not in line]
    assert not strays
