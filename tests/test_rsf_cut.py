"""Which entities of a flow answer: up to the steepest fall, all of equal ones or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.rsf.cut import SHARES, answer_count, f1_by_share

flows = st.lists(
    st.sampled_from([0.0, 1e-30, 1e-6, 0.004, 0.03, 0.06, 0.25, 0.3]), max_size=12
).map(lambda values: np.array(values, np.float32))


def plain(flow, share):
    """The rule of `answer_count`, one node after another."""
    held = sorted((value for value in flow if value > 0), reverse=True)
    near = [value for value in held if value >= np.float32(share) * held[0]]
    falls = [
        (held[i + 1] if i + 1 < len(held) else np.float32(0)) / held[i] for i in range(len(near))
    ]
    return falls.index(min(falls)) + 1 if falls else 0


@given(flows, st.sampled_from(SHARES))
def test_the_steepest_fall_is_the_last_answer(flow, share):
    count = answer_count(flow, share)
    assert count == plain(flow, share)
    ordered = np.sort(flow)[::-1]
    if 0 < count < len(flow):
        assert ordered[count - 1] > ordered[count]  # equal ones are never told apart
    assert answer_count(flow[::-1], share) == count


@given(flows)
def test_without_a_share_half_of_the_best_answers(flow):
    best = flow.max(initial=0)
    assert answer_count(flow, None) == np.count_nonzero((flow > 0) & (flow >= best / 2))


def test_a_long_answer_needs_a_low_share_and_a_lone_one_is_none_the_worse():
    many = np.array([0.5, 0.2, 0.2, 0.06, 0.02, 1e-5, 9e-6])
    assert [answer_count(many, share) for share in (0.5, 0.3, 0.1, 0.03)] == [1, 3, 3, 5]
    one = np.array([0.96, 0.03, 1e-5])
    assert [answer_count(one, share) for share in (0.5, 0.1, 0.05)] == [1, 1, 1]
    assert answer_count(one, 0.03) == 2  # what a share that is too low costs


def test_of_flows_that_are_none():
    for share in (None, 0.1):
        assert answer_count(np.zeros(3), share) == 0
        assert answer_count(np.zeros(0), share) == 0
        assert answer_count(np.array([np.nan, 1.0]), share) == 0
    assert f1_by_share(np.zeros(3), np.array([1])).tolist() == [0] * len(SHARES)


@given(flows, st.sets(st.integers(0, 11), min_size=1))
def test_f1_of_every_share(flow, targets):
    found = f1_by_share(flow, np.array(sorted(targets)))
    order = np.argsort(-flow, kind="stable")
    for share, value in zip(SHARES, found, strict=True):
        answers = set(order[: answer_count(flow, share)].tolist())
        assert value == pytest.approx(2 * len(answers & targets) / (len(answers) + len(targets)))
