"""Asks any retriever the questions of a benchmark: PathHD, or what else finds evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter

from hyperhop.evaluate import metrics
from hyperhop.evaluate.question import Question
from hyperhop.evaluate.records import Record
from hyperhop.evidence import Answer, Evidence, Reader, Retriever
from hyperhop.graph import UnknownEntity
from hyperhop.retrieval.answering import with_retrieval
from hyperhop.retrieval.topics import TopicNotFound

Progress = Callable[[int, int], object]
More = Callable[[Question], Mapping[str, float]]

RANKED = 10  # entities looked at for hits@10
PASSAGES = (2, 5, 10)


def ask(
    retriever: Retriever,
    questions: Sequence[Question],
    *,
    reader: Reader | None = None,
    joint: bool = False,
    more: More | None = None,
    progress: Progress | None = None,
) -> list[Record]:
    """One record a question, in order; one question at a time, so that times are its own.

    `reader` reads an answer from each evidence; without one the evidence is judged itself. `joint`
    gives the retriever (PathHD takes that) the first two topics of a question that has several.
    `more` adds metrics. `progress` is told (questions done, of).
    """
    records = []
    for done, question in enumerate(questions, 1):
        records.append(ask_one(retriever, question, reader=reader, joint=joint, more=more))
        if progress is not None:
            progress(done, len(questions))
    return records


def ask_one(
    retriever: Retriever,
    question: Question,
    *,
    reader: Reader | None = None,
    joint: bool = False,
    more: More | None = None,
) -> Record:
    """The record of one question, see `ask`.

    A topic that the graph does not have, and a question that names none, are a miss with the
    reason; every other error is raised. Times of `more` are not counted.
    """
    unasked, answer = "", None
    retrieve: Callable[..., Evidence] = retriever.retrieve
    pair = joint and question.topic is not None and question.other_topics
    topic = [question.topic, question.other_topics[0]] if pair else question.topic
    start = perf_counter()
    try:
        evidence = retrieve(question.text, topic)
    except (UnknownEntity, TopicNotFound) as error:
        evidence, unasked = Evidence(), str(error)
    found = perf_counter()
    if reader is not None:
        answer = reader.read(question.text, evidence)
    end = perf_counter()
    spent = with_retrieval(answer if answer is not None else Answer(""), evidence)
    times = {**spent.timings, **({"read": 1e3 * (end - found)} if reader is not None else {})}
    values = judge(question, evidence, answer)
    if more is not None:
        values |= more(question)
    paths = list(_sequences(evidence))
    scoring = evidence.scoring
    ranks = [rank for rank, path in enumerate(paths, 1) if path in question.paths]
    return Record(
        id=question.id,
        question=question.text,
        topic=question.topic,
        level=question.level,
        unit=str(question.unit),
        gold=sorted(question.answers),
        gold_paths=sorted(map(list, question.paths)),
        predicted=_ranking(evidence, answer),
        ends=len(_answer_set(evidence, answer)),
        path=list(paths[0]) if paths else [],
        rank=ranks[0] if ranks else None,
        text=answer.text if answer is not None else "",
        values=values,
        milliseconds={**times, "total": 1e3 * (end - start)},
        truncated=evidence.truncated,
        unasked=unasked,
        llm_calls=spent.llm_calls,
        llm_attempts=spent.llm_attempts,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        passages=[passage.id for passage in evidence.passages],
        gold_passages=sorted(question.passages),
        encoder_calls=scoring.encoder_calls if scoring is not None else 0,
        cache_hits=scoring.cache_hits if scoring is not None else 0,
    )


def judge(question: Question, evidence: Evidence, answer: Answer | None = None) -> dict[str, float]:
    """Every metric that says something about this question, by name.

    Of the ranking (see `Record.predicted`) "hits@1", "hits@5", "hits@10" and "alias_hits@1"; of the
    answer set (`Record.ends`) "set_exact" and "f1". Of the answer's words, or without a reader the
    first entity, "exact_match" and "token_f1"; "rog_hit" of the words, or without a reader of the
    whole answer set. With gold paths "path_hit@1" and "path_hit@3".

    With gold passages "recall@k", "passage_hit@k" (one of them) and "all_passages@k", for k in
    `PASSAGES`. Where passages were found "answer@k", an answer or another name of one is a
    substring of the first k, both normalised. Of what a reader says about passages
    "alias_exact_match" and "alias_token_f1", which are EM and F1 as MuSiQue and HippoRAG count
    them: against the answers and their other names.
    """
    gold = question.answers
    ranked, answers = _ranking(evidence, answer), _answer_set(evidence, answer)
    spoken = answer.text if answer is not None else "".join(ranked[:1])
    listed = answer.text if answer is not None else " ".join(sorted(answers))
    values: dict[str, float] = {f"hits@{k}": metrics.hits_at(k, ranked, gold) for k in (1, 5, 10)}
    values |= {
        "alias_hits@1": bool(ranked) and metrics.alias_hit(ranked[0], gold, question.aliases),
        "set_exact": metrics.set_exact(answers, gold),
        "f1": metrics.f1(answers, gold),
        "exact_match": metrics.exact_match(spoken, gold),
        "token_f1": metrics.token_f1(spoken, gold),
        "rog_hit": metrics.contains_answer(listed, gold),
    }
    if question.paths:
        paths = list(_sequences(evidence))
        values |= {f"path_hit@{k}": metrics.path_hit_at(k, paths, question.paths) for k in (1, 3)}
    if question.passages:
        ids = [passage.id for passage in evidence.passages]
        for k in PASSAGES:
            values[f"recall@{k}"] = metrics.recall_at(k, ids, question.passages)
            values[f"passage_hit@{k}"] = metrics.hits_at(k, ids, question.passages)
            values[f"all_passages@{k}"] = question.passages <= set(ids[:k])
    accepted = gold | question.aliases
    if evidence.passages:
        holding = [
            metrics.contains_answer(passage.full_text, accepted)
            for passage in evidence.passages[: PASSAGES[-1]]
        ]
        values |= {f"answer@{k}": any(holding[:k]) for k in PASSAGES}
    if answer is not None and (question.passages or evidence.passages):
        values["alias_exact_match"] = metrics.exact_match(answer.text, accepted)
        values["alias_token_f1"] = metrics.token_f1(answer.text, accepted)
    return {name: float(value) for name, value in values.items()}


def _sequences(evidence: Evidence) -> Mapping[tuple[str, ...], Sequence[str]]:
    """Ends by relation sequence, best first; taken from the paths where no sequences are listed."""
    if evidence.sequences:
        return {tuple(one.relations): one.ends for one in evidence.sequences}
    ends: dict[tuple[str, ...], list[str]] = {}
    for path in evidence.paths:
        ends.setdefault(tuple(path.relations), []).append(path.entities[-1])
    return ends


def _answer_set(evidence: Evidence, answer: Answer | None) -> set[str]:
    return set(answer.entities if answer is not None else evidence.answering())


def _ranking(evidence: Evidence, answer: Answer | None) -> list[str]:
    """The first distinct entities: the reader's, else those that the retriever ranks, else ends of
    all sequences, the best's first.
    """
    lists: Iterable[Sequence[str]] = _sequences(evidence).values()
    if answer is not None:
        lists = [answer.entities]
    elif evidence.answers:
        lists = [[one.entity for one in evidence.answers]]
    found: dict[str, None] = {}
    for names in lists:
        found.update(dict.fromkeys(names))
        if len(found) >= RANKED:
            break
    return list(found)[:RANKED]
