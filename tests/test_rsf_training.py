"""Training of the flow model: settings, the curve, checkpoints, and what a kill leaves."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from hyperhop.graph import DamagedStore
from hyperhop.rsf.training import checkpoint, curve, toml
from hyperhop.rsf.training.config import TrainingConfig
from hyperhop.rsf.training.curve import Epoch
from hyperhop.rsf.training.examples import Example
from hyperhop.rsf.training.presets import preset


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
    settings = preset("cpu", 3).replaced({"learning_rate": 0.1 + 0.2, "hidden": 17})
    file = tmp_path / "config.toml"
    file.write_text(settings.toml(), encoding="utf-8")
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
