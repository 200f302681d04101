"""Batches of questions: the same bits as single ones, over threads, with progress."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD, TopicNotFound
from hyperhop.retrieval.batch import in_chunks

RELATIONS = ["likes", "knows", "helps", "calls"]


def facts(seed=0, people=60, count=400):
    rng = np.random.default_rng(seed)
    for head, relation, tail in rng.integers(0, [people, 4, people], (count, 3)).tolist():
        yield f"p{head}", RELATIONS[relation], f"p{tail}"


@pytest.fixture(scope="module")
def system():
    return PathHD(KnowledgeGraph.from_triples(facts()), max_hops=2)


def asked(count):
    rng = np.random.default_rng(1)
    topics = [f"p{number}" for number in rng.integers(0, 20, count).tolist()]
    questions = [
        f"Who {RELATIONS[i % 4]} those {topic} {RELATIONS[i % 3]}?"
        for i, topic in enumerate(topics)
    ]
    return questions, topics


def untimed(results):
    return [replace(one, timings={}) for one in results]


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_batches_equal_single_questions(system, threads):
    questions, topics = asked(70)
    mixed = [topic if i % 2 else None for i, topic in enumerate(topics)]
    one_by_one = [system.retrieve(q, t) for q, t in zip(questions, mixed, strict=True)]
    found = system.retrieve_batch(questions, mixed, threads=threads)
    assert untimed(found) == untimed(one_by_one)
    assert set(found[0].timings) == {"link", "enumerate", "plan", "score", "expand"}
    named = system.retrieve_batch(questions, topics, threads=threads)
    assert [one.topic for one in named] == topics
    answers = [system.answer(q, t) for q, t in zip(questions, mixed, strict=True)]
    assert untimed(system.answer_batch(questions, mixed, threads=threads)) == untimed(answers)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_to_the_end(system, threads):
    questions, topics = asked(100)
    for run in (system.retrieve_batch, system.answer_batch):
        told = []
        run(
            questions,
            topics,
            threads=threads,
            progress=lambda *counts, told=told: told.append((*counts, threading.current_thread())),
        )
        done, of, threads_told = zip(*told, strict=True)
        assert list(done) == sorted(set(done))
        assert done[-1] == 100
        assert set(of) == {100}
        assert set(threads_told) == {threading.main_thread()}
    assert system.answer_batch([], progress=lambda *_: pytest.fail("nothing was done")) == []


def test_wrong_batches(system):
    questions, topics = asked(40)
    with pytest.raises(ValueError, match="40 questions, but 39 topics"):
        system.answer_batch(questions, topics[:39])
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"threads must be at least 1, got {wrong}"):
            system.retrieve_batch(questions, topics, threads=wrong)
    for threads in (1, 2):
        with pytest.raises(TopicNotFound, match="nobody here"):
            system.retrieve_batch([*questions, "nobody here?"], [*topics, None], threads=threads)


def test_equal_keys_come_together():
    keys = ["b", "a", "b", "c", "a"] * 30
    seen = []

    def work(places):
        seen.extend(keys[place] for place in places)
        return [(place, keys[place]) for place in places]

    assert in_chunks(keys, work, 1, None, "PathHD") == list(enumerate(keys))
    assert seen == ["b"] * 60 + ["a"] * 60 + ["c"] * 30


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_batch_within_a_second(system, threads):
    questions, topics = asked(64)
    interrupted = []

    def interrupt():
        time.sleep(0.3)
        interrupted.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def ask_for_ever():
        while True:
            system.answer_batch(questions, topics, threads=threads)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            ask_for_ever()
        assert time.perf_counter() - interrupted[0] < 1
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()


def test_topics_are_names_ids_or_arrays_of_ids(system):
    questions, topics = asked(3)
    ids = [system.kg.entity_id(topic) for topic in topics]
    named = untimed(system.retrieve_batch(questions, topics))
    for same in (np.array(ids), [[one] for one in ids], [np.array([one]) for one in ids]):
        assert untimed(system.retrieve_batch(questions, same)) == named
        assert untimed(map(system.retrieve, questions, same)) == named


@pytest.mark.parametrize("topic", [1.0, True, [1.5], [None], [["p1"]], b"p1", {"p1"}, np.array(1)])
def test_topics_of_another_kind_are_refused(system, topic):
    for ask in (system.retrieve, lambda q, t: system.retrieve_batch([q], [t])):
        with pytest.raises(TypeError, match="PathHD: topic must be "):
            ask("Who likes p1?", topic)


def test_questions_are_a_list_of_str(system):
    with pytest.raises(TypeError, match="questions must be a list of str, got one str"):
        system.answer_batch("Who?")
    with pytest.raises(TypeError, match="question must be str, got bytes"):
        system.retrieve(b"Who likes p1?", "p1")
    with pytest.raises(TypeError, match="question must be str, got NoneType"):
        system.retrieve_batch([None], ["p1"])
    assert system.retrieve_batch(iter([])) == []
    with pytest.raises(TypeError, match="max_hops must be an integer, got float"):
        PathHD(system.kg, max_hops=2.5)
