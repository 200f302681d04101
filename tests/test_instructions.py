"""The gate on instruction counts, and that it can shut."""

import re

import pytest

import instructions


@pytest.mark.gate
@pytest.mark.needs("valgrind")
def test_no_kernel_needs_more_instructions_than_the_record():
    record = instructions.recorded()
    if record is None:
        pytest.skip(f"no record for {instructions.BUILD}: {instructions.RECORD_COMMAND}")
    counts = instructions.count()
    assert not instructions.excesses(counts, record)


def test_eleven_percent_more_is_refused():
    record = {"encode": 1000, "topk": 1000}
    assert not instructions.excesses({"encode": 1099, "topk": 500}, record)
    (sentence,) = instructions.excesses({"encode": 1110, "topk": 500}, record)
    assert sentence.startswith("encode: 1,110 instructions, +11.0% on the record of 1,000")


def test_the_build_names_compiler_and_instruction_set():
    assert re.fullmatch(r"(GNU|Clang) \d+\.\d+\.\d+, \w+ (avx2|baseline)", instructions.BUILD)


def test_every_record_holds_every_kernel():
    assert instructions.records()
    for record in instructions.records().values():
        assert set(record) == set(instructions.KERNELS)


def test_only_the_own_cost_of_one_library_counts():
    dump = """ob=(1) /lib/other.so
fn=(1) caller
10 5
cob=(2) /lib/_core.so
cfn=(2) kernel
calls=1 0
10 700
+1 6

ob=(2)
fn=(2) kernel
20 300
* 1
cob=(1)
cfn=(1)
calls=2 0
+3 4000
-1 20
"""
    assert instructions.inside(dump, "/lib/_core.so") == 321
    assert instructions.inside(dump, "/lib/other.so") == 11
