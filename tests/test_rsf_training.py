"""Training of the flow model: settings, the curve, checkpoints, and what a kill leaves."""

import copy
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperhop.graph import DamagedStore, KnowledgeGraph
from hyperhop.rsf import RSF, RSFConfig
from hyperhop.rsf.cut import SHARES
from hyperhop.rsf.training import (
    Epoch,
    Example,
    Settings,
    TrainingConfig,
    TrainingDiverged,
    TrainingStopped,
    Workspace,
    checkpoint,
    curve,
    preset,
    toml,
)
from hyperhop.text import HashingEncoder


def test_the_rate_rises_over_a_tenth_of_the_steps():
    config = TrainingConfig()
    assert [config.factor(step, 40) for step in range(5)] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert config.factor(39, 40) == 1.0
    falling = replace(config, decay="linear")
    assert falling.factor(4, 40) == 1.0
    assert falling.factor(22, 40) == 0.5
    assert falling.factor(39, 40) == pytest.approx(1 / 36)
    assert replace(config, warmup=0.0).factor(0, 40) == 1.0
    assert TrainingConfig().factor(0, 3) == 1.0  # a tenth of three steps is none


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"epochs": 0}, ValueError, "epochs must be at least 1 and finite, got 0"),
        ({"batch_size": 2.5}, TypeError, "batch_size must be a whole number, got 2.5"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be above 0, got 0"),
        ({"clip": 0}, ValueError, "clip must be above 0, got 0"),
        ({"learning_rate": float("nan")}, ValueError, "learning_rate must be at least 0"),
        ({"warmup": 1.5}, ValueError, "warmup must be at most 1, got 1.5"),
        ({"average": 1.0}, ValueError, "average must be below 1, got 1.0"),
        ({"layout": "dense"}, ValueError, "layout must be packed or lanes, got 'dense'"),
        ({"patience": True}, TypeError, "patience must be a whole number, got True"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, error, message):
    with pytest.raises(error, match=f"TrainingConfig: {message}"):
        TrainingConfig(**values)


def test_the_papers_values():
    two, four = preset("paper", 2), preset("paper", 4)
    training = two.training
    assert (training.learning_rate, training.weight_decay, training.clip) == (5e-5, 0.01, 1.0)
    assert (training.epochs, training.patience, training.warmup) == (10, 3, 0.1)
    assert (two.training.batch_size, four.training.batch_size) == (16, 8)
    assert (two.model.hops, two.training.radius) == (2, 2)
    assert (four.model.hops, four.training.radius) == (4, 4)
    assert (two.model.lambda_1, two.model.eps) == (0.1, 1e-8)
    with pytest.raises(ValueError, match="expected cpu or paper, got 'gpu'"):
        preset("gpu", 2)


def test_settings_survive_a_file(tmp_path):
    settings = preset("cpu", 3).replaced({"learning_rate": 0.1 + 0.2, "hidden": 18})
    file = tmp_path / "config.toml"
    toml.write_toml(file, settings.to_dict())
    assert preset("paper", 2).with_tables(toml.read_toml(file)) == settings
    with pytest.raises(ValueError, match="no setting 'speed'"):
        settings.replaced({"speed": 1})
    with pytest.raises(ValueError, match="expected the tables model and training, got 'trainer'"):
        settings.with_tables({"trainer": {}})


def test_toml_keeps_what_it_is_given(tmp_path):
    tables = {
        "a": {"text": 'tab\t"quote" \\ é 🙂 \x7f', "none": None, "yes": True, "no": False},
        "b": {"tiny": 5e-324, "third": 1 / 3, "big": -(2**62), "list": ["x", "y"], "of": [1, 2.5]},
    }
    file = tmp_path / "x.toml"
    toml.write_toml(file, tables)
    del tables["a"]["none"]
    assert toml.read_toml(file) == tables
    file.write_text("a = 1\n")
    with pytest.raises(ValueError, match="expected tables only, got a = 1"):
        toml.read_toml(file)
    file.write_text("[a\n")
    with pytest.raises(ValueError, match="is not TOML"):
        toml.read_toml(file)
    with pytest.raises(TypeError, match="got dict"):
        toml.write_toml(file, {"a": {"b": {}}})


def test_an_examples_answers_have_no_order():
    assert Example.of("q", "t", ["b", "a", "b"]) == Example.of("q", ["t", "t"], ["a", "b"])
    with pytest.raises(ValueError, match="needs at least one topic"):
        Example.of("q", [], ["a"])


def an_epoch(number):
    return Epoch(number, 7 * number, 1 / 3, 2.0, 1.5, 0.1, 5.0, 0.5, 0.25, 0.5, 1.0, 3.25, 1e3)


def test_the_curve_survives_a_file(tmp_path):
    file = tmp_path / curve.FILE
    epochs = [an_epoch(1), an_epoch(2)]
    curve.write_csv(file, epochs)
    assert curve.read_csv(file) == epochs
    assert file.read_text().splitlines()[0].startswith("epoch,step,learning_rate,loss,")
    file.write_text("epoch\n1\n")
    with pytest.raises(ValueError, match="is not the course of a training"):
        curve.read_csv(file)


@pytest.mark.needs("torch")
def test_a_checkpoint_gives_everything_back(tmp_path):
    import torch

    def made(seed):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 2, bias=False))
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    def step(model, optimizer):
        optimizer.zero_grad()
        model[0](torch.rand(4, 3)).square().sum().backward()  # the second layer stays untouched
        optimizer.step()

    with torch.random.fork_rng():
        model, optimizer = made(0)
        step(model, optimizer)
        best = copy.deepcopy(model.state_dict())
        step(model, optimizer)
        average = {name: values / 3 for name, values in best.items()}
        progress = checkpoint.Progress(1, 2, 3, 0.1, {"loss": 1 / 3}, [an_epoch(1)], 0.7, 1)
        run = {"seed": 0, "lr": 0.1}
        checkpoint.save(tmp_path, model, optimizer, best, average, progress, run)
        step(model, optimizer)
        again, other = made(1)
        found, best_found, average_found = checkpoint.load(tmp_path, again, other, run)
        assert found == progress
        for one, two in ((best, best_found), (average, average_found)):
            assert all(torch.equal(one[name], two[name]) for name in one)
        step(again, other)
    for one, two in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)
    assert not any(path.suffix not in (".npy", ".json", "") for path in tmp_path.iterdir())
    with pytest.raises(ValueError, match="a training with seed 0, got 1"):
        checkpoint.load(tmp_path, again, other, run | {"seed": 1})
    with pytest.raises(DamagedStore, match="other shapes"):
        checkpoint.load(tmp_path, model[0], torch.optim.AdamW(model[0].parameters()), run)
    file = next(tmp_path.glob("first.*.npy"))
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(DamagedStore, match="checksum"):
        checkpoint.load(tmp_path, again, other, run)


@pytest.fixture(scope="module")
def family():
    """Thirty people; a question names one and asks for the boss, the friend, or the boss's city."""
    facts = []
    for i in range(30):
        facts += [(f"p{i}", "boss", f"b{i}"), (f"p{i}", "friend", f"f{i}")]
        facts += [(f"b{i}", "city", f"c{i % 7}"), (f"p{i}", "city", f"h{i % 5}")]
    return KnowledgeGraph.from_triples(facts)


def asked(people):
    found = []
    for i in people:
        found += [
            Example.of(f"who is the boss of p{i}", f"p{i}", [f"b{i}"]),
            Example.of(f"name a friend of p{i}", f"p{i}", [f"f{i}"]),
            Example.of(f"where does the boss of p{i} live", f"p{i}", [f"c{i % 7}"]),
        ]
    return found


TRAINING, DEV = asked(range(24)), asked(range(24, 30))
SETTINGS = Settings(
    RSFConfig(hops=2, hidden=32, content_bias=False, dropout=0.1, lambda_1=0.01),
    TrainingConfig(
        epochs=4, batch_size=8, learning_rate=0.02, patience=0, radius=2, average=0.5, seed=3
    ),
)


def workspace(kg, **changes):
    return Workspace.of(kg, HashingEncoder(64), SETTINGS.replaced(changes))


def curve_of(trained):
    """The epochs without what the clock says."""
    return [replace(epoch, **dict.fromkeys(curve.TIMES, 0.0)) for epoch in trained.epochs]


def same_weights(one, other):
    assert one.weights.keys() == other.weights.keys()
    return all(np.array_equal(one.weights[name], other.weights[name]) for name in one.weights)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("layout", ["packed", "lanes"])
def test_what_is_learned_holds_for_new_topics(family, layout):
    work = workspace(family, layout=layout, epochs=8)
    model, trained = work.train(TRAINING, DEV)
    assert trained.epochs[-1].loss < trained.epochs[0].loss / 2
    assert trained.best == max(epoch.dev_hits_at_1 for epoch in trained.epochs) >= 0.9
    found = work.measure(model, work.prepare(DEV))
    assert np.mean(found.ranks == 1) == trained.best  # the model has the best epoch's weights
    assert found.entropies.shape == found.gates.shape == (len(DEV), 2)
    for epoch in trained.epochs:
        assert epoch.loss == pytest.approx(epoch.cross_entropy + 0.01 * epoch.entropy, rel=1e-5)
        assert epoch.divergence == pytest.approx(epoch.cross_entropy)  # single answers
    again = workspace(family, layout=layout, epochs=8).train(TRAINING, DEV)[1]
    assert curve_of(again) == curve_of(trained)
    assert same_weights(again, trained)


@pytest.mark.needs("torch")
def test_of_equal_epochs_the_last_is_kept_and_waiting_counts_from_the_first(family):
    nobody = [Example.of("who is the boss of p1", "p1", ["stranger"])]
    _, trained = workspace(family, patience=2).train(TRAINING, nobody)
    assert len(trained.epochs) == 3  # the first one is the best so far, two are no better
    assert (trained.best, trained.best_epoch) == (0.0, 3)
    _, trained = workspace(family, patience=2).train(TRAINING)
    assert len(trained.epochs) == 4  # without dev questions nothing stops early
    assert (trained.best, trained.best_epoch) == (-1.0, 4)
    assert np.isnan(trained.epochs[0].dev_hits_at_1)


@pytest.mark.needs("torch")
def test_a_question_without_an_answer_in_reach_is_a_miss_and_not_learned_from(family):
    work = workspace(family, radius=1)
    missing = [
        Example.of("where does the boss of p1 live", "p1", ["c1"]),  # two hops away
        Example.of("who is the boss of p1", "p1", ["stranger"]),
        Example.of("who is the boss of q1", "q1", ["b1"]),
    ]
    reachable = [one for one in TRAINING if not one.question.startswith("where")]
    assert work.prepare([*missing, *reachable[:2]]).answerable.tolist() == [0, 0, 0, 1, 1]
    _, with_misses = work.train([*reachable, *missing], [*reachable[:3], *missing])
    _, without = work.train(reachable, reachable[:3])
    assert same_weights(with_misses, without)
    share = len(reachable) / (len(reachable) + len(missing))
    for one, other in zip(with_misses.epochs, without.epochs, strict=True):
        assert one.loss == other.loss
        assert one.hits_at_1 == pytest.approx(share * other.hits_at_1)
        assert one.dev_hits_at_1 == pytest.approx(other.dev_hits_at_1 / 2)
    with pytest.raises(ValueError, match="none of the 3 training questions has an answer in reach"):
        work.train(missing)


@pytest.mark.needs("torch")
def test_many_answers_may_share_the_target_or_count_together(family):
    both = [
        Example.of("whom does p1 know", "p1", ["b1", "f1", "stranger"]),
        *(Example.of(f"whom does p{i} know", f"p{i}", [f"b{i}", f"f{i}"]) for i in range(2, 20)),
    ]
    _, uniform = workspace(family, target="uniform").train(both)
    _, either = workspace(family, target="any").train(both)
    last = uniform.epochs[-1]
    assert last.cross_entropy >= np.log(2)
    assert last.divergence == pytest.approx(last.cross_entropy - np.log(2), abs=1e-5)
    assert either.epochs[-1].cross_entropy < last.cross_entropy
    assert either.epochs[-1].divergence == either.epochs[-1].cross_entropy


@pytest.mark.needs("torch")
def test_a_stopped_training_goes_on_to_the_same_curve(family, tmp_path):
    work = workspace(family)
    _, straight = work.train(TRAINING, DEV, tmp_path / "straight")
    done, left = 0, {1, 5, 9, 10, 20}  # within epochs and, at 9, at the end of one

    def told(step):
        nonlocal done
        done += 1

    def stop():
        if done not in left:
            return False
        left.remove(done)
        return True

    def go_on():
        folder = tmp_path / "stopped"
        return work.train(TRAINING, DEV, folder, resume=True, progress=told, stop=stop)[1]

    for where in (
        *("in epoch 1 after 1 of 9 batches", "in epoch 1 after 5 of 9 batches"),
        *("after epoch 1 of 4", "in epoch 2 after 1 of 9 batches"),
        "in epoch 3 after 2 of 9 batches",
    ):
        with pytest.raises(TrainingStopped, match=f"^stopped {where}$"):
            go_on()
    resumed = go_on()
    assert done == straight.epochs[-1].step
    assert curve_of(resumed) == curve_of(straight)
    assert same_weights(resumed, straight)
    one, other = (curve.read_csv(tmp_path / d / curve.FILE) for d in ("straight", "stopped"))
    assert [epoch.loss for epoch in one] == [epoch.loss for epoch in other]


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_rsf_training import DEV, TRAINING, KnowledgeGraph, workspace
import torch
torch.set_num_threads(1)
kg = KnowledgeGraph.from_triples({facts!r})
def told(step):
    if (step.epoch, step.batch) == (2, 5):
        os.kill(os.getpid(), signal.SIGKILL)
workspace(kg, checkpoint_steps=2).train(TRAINING, DEV, {folder!r}, resume=True, progress=told)
"""


@pytest.mark.needs("torch")
def test_a_killed_training_goes_on_to_the_same_curve(family, tmp_path):
    import torch

    facts = list(family.triples())
    code = KILLED.format(tests=str(Path(__file__).parent), facts=facts, folder=str(tmp_path / "a"))
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    work = workspace(family, checkpoint_steps=2)
    told = []
    _, resumed = work.train(TRAINING, DEV, tmp_path / "a", resume=True, progress=told.append)
    _, straight = work.train(TRAINING, DEV)
    torch.set_num_threads(before)
    assert (told[0].epoch, told[0].batch) == (2, 4)  # after step 12, the last that was kept
    assert curve_of(resumed) == curve_of(straight)
    assert same_weights(resumed, straight)


@pytest.mark.needs("torch")
def test_a_checkpoint_of_other_questions_or_settings_is_refused(family, tmp_path):
    work = workspace(family, epochs=1)
    work.train(TRAINING, DEV, tmp_path)
    work.train(TRAINING, DEV, tmp_path, resume=True)  # it was finished, nothing is left to do
    with pytest.raises(ValueError, match="a training with questions '"):
        work.train(TRAINING[1:], DEV, tmp_path, resume=True)
    with pytest.raises(ValueError, match=r"a training with learning_rate 0\.02, got 0\.1"):
        workspace(family, epochs=1, learning_rate=0.1).train(TRAINING, DEV, tmp_path, resume=True)


@pytest.mark.needs("torch")
def test_a_checkpoint_of_another_graph_of_the_same_size_is_refused(family, tmp_path):
    workspace(family, epochs=1).train(TRAINING, DEV, tmp_path)
    facts = list(family.triples())
    again = KnowledgeGraph.from_triples(facts)
    assert again.schema is not None  # what is derived from a graph is no part of it
    workspace(again, epochs=1).train(TRAINING, DEV, tmp_path, resume=True)
    facts[facts.index(("p0", "boss", "b0"))] = ("p0", "boss", "b1")
    other = KnowledgeGraph.from_triples(facts)
    assert (other.num_entities, other.num_triples) == (family.num_entities, family.num_triples)
    with pytest.raises(ValueError, match="a training with graph content '"):
        workspace(other, epochs=1).train(TRAINING, DEV, tmp_path, resume=True)


class Letters(HashingEncoder):
    """Every letter of a text is a token."""

    def encode_tokens(self, texts):
        offsets = np.cumsum([0, *map(len, texts)])
        return np.ones((offsets[-1], self.dim), np.float32), offsets


@pytest.mark.needs("torch")
def test_a_very_long_question_is_told(family, caplog):
    work = Workspace.of(family, Letters(8), SETTINGS.replaced({"question": "tokens"}))
    work.prepare(TRAINING)
    assert not caplog.records
    work.prepare([*TRAINING, Example.of("why " * 200, "p1", ["b1"])])
    assert "1 of 73 questions have over 512 tokens, the longest 800: every batch" in caplog.text


@pytest.mark.needs("torch")
def test_the_share_of_an_answer_is_chosen_on_dev_and_kept(family, tmp_path):
    work = workspace(family)
    _, trained = work.train(TRAINING, DEV)
    assert trained.answer_share in SHARES
    assert work.train(TRAINING)[1].answer_share is None
    work.save(tmp_path, trained)
    system = RSF.load(tmp_path)
    assert system.model.answer_share == trained.answer_share
    found = [system.retrieve(one.question, one.topics[0]) for one in DEV]
    model = work.new_model()
    model.load_state_dict({n: torch_of(values) for n, values in trained.weights.items()})
    measured = work.measure(model, work.prepare(DEV), trained.answer_share)
    assert measured.answers.tolist() == [len(one.answering()) for one in found]
    right = [
        len(set(one.answering()) & set(asked.answers))
        for one, asked in zip(found, DEV, strict=True)
    ]
    assert measured.right.tolist() == right


def torch_of(values):
    import torch

    return torch.from_numpy(values.copy())


@pytest.mark.needs("torch")
def test_a_loss_that_is_no_number_stops_in_one_sentence(family, tmp_path):
    work = workspace(family)
    work.tables.relations[0] = np.nan
    with pytest.raises(
        TrainingDiverged, match=r"the loss is nan in epoch 1, step 1: lower"
    ) as told:
        work.train(TRAINING, DEV, tmp_path)
    assert "\n" not in str(told.value)


@pytest.mark.needs("torch")
def test_torch_keeps_its_random_numbers(family):
    import torch

    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    workspace(family, epochs=1).train(TRAINING[:8])
    assert torch.equal(torch.rand(3), expected)
