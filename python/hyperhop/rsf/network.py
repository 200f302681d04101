"""The trained model without torch: NumPy around the flow kernels, the same results within 1e-5."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import flow
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.config import RSFConfig
from hyperhop.rsf.text import Floats, QuestionVectors

Weights = Mapping[str, npt.NDArray[Any]]
Shape = tuple[int, ...]

_SMALLEST_NORM = 1e-12


@dataclass(frozen=True)
class Flows:
    """What happened at each hop, in the shapes of `RSFOutput`.

    Attributes:
        flows: T + 1 distributions over nodes; the first is the start. All zero where a flow died.
        betas: T relation attentions, (G, R) or, in lanes, (R, G).
        gates: T gates (G,).
    """

    flows: list[Floats]
    betas: list[Floats]
    gates: list[Floats]


def weight_shapes(config: RSFConfig, text_dim: int) -> dict[str, Shape]:
    """Names and shapes of the weights of a model, those of `RSFModel(...).state_dict()`."""
    hidden, half = config.hidden, config.hidden // 2
    shapes: dict[str, Shape] = {}
    asked = hidden
    if config.question == "tokens":
        asked = text_dim
        for end in ("", "_reverse"):
            shapes |= {
                f"question.order.weight_ih_l0{end}": (3 * half, text_dim),
                f"question.order.weight_hh_l0{end}": (3 * half, half),
                f"question.order.bias_ih_l0{end}": (3 * half,),
                f"question.order.bias_hh_l0{end}": (3 * half,),
            }
        for name in ("begin", "key"):
            shapes |= {
                f"question.{name}.weight": (hidden, hidden),
                f"question.{name}.bias": (hidden,),
            }
        shapes |= {"question.correction.weight": (text_dim, hidden), "question.coverage": ()}
    elif text_dim != hidden:
        shapes["question.projection.weight"] = (hidden, text_dim)
    keys = text_dim if config.attention == "cosine" else hidden
    shapes["relations.projection.weight"] = (keys, text_dim)
    if config.attention == "cosine":
        shapes["relations.attention.weight"] = (text_dim, asked)
        shapes |= {"relations.scale": (), "relations.bias": ()}
    else:
        shapes["relations.attention.weight"] = (asked, hidden)
    if config.stay and config.stay_text == "learned":
        shapes["stay"] = (text_dim,)
    if config.reads_texts:
        shapes["node_projection.weight"] = (hidden, text_dim)
    if config.weighs_content:
        shapes["content.weight"] = (hidden, hidden)
        if config.gate:
            shapes |= {"gate.weight": (1, hidden), "gate.bias": (1,)}
    if config.query_update:
        read = {"nodes": hidden, "question": asked, "both": hidden + asked}[config.update_from]
        shapes |= {
            "update.weight_ih": (3 * hidden, read),
            "update.weight_hh": (3 * hidden, hidden),
            "update.bias_ih": (3 * hidden,),
            "update.bias_hh": (3 * hidden,),
        }
    return shapes


class Network:
    """Runs a trained model's hops.

    Args:
        config: the model's.
        weights: float arrays by name; `weight_shapes` tells which.
        relations: float32 (R, text_dim), the texts of the graph's symbols, STAY's last.

    ValueError for a missing or unknown weight, one of another shape, and NaN or infinity in one.
    """

    def __init__(self, config: RSFConfig, weights: Weights, relations: Floats) -> None:
        self.config = config
        self.text_dim = int(relations.shape[1])
        expected = weight_shapes(config, self.text_dim)
        found = {name: tuple(array.shape) for name, array in weights.items()}
        for name in sorted({*expected, *found}):
            if expected.get(name) != found.get(name):
                raise ValueError(
                    f"Network: weight {name} must have shape {expected.get(name)}, "
                    f"got {found.get(name)}"
                )
        self._weights = {n: np.asarray(array, np.float32) for n, array in weights.items()}
        for name, array in self._weights.items():
            if not np.isfinite(array).all():
                raise ValueError(f"Network: weight {name} holds NaN or infinity")
        self._keys = self._relation_keys(relations)

    def run(
        self,
        batch: FlowBatch,
        nodes: Floats | None,
        questions: QuestionVectors,
        *,
        reachable_only: bool = True,
        threads: int | None = None,
    ) -> Flows:
        """Let the flows of a batch take T hops.

        Args:
            batch: G questions with their graph.
            nodes: float32 (V, text_dim), the text of each node of the batch; None where
                `config.reads_texts` is False.
            questions: the G questions, with token states where the model reads them.
            reachable_only: whether only nodes that flow reaches get any, as in `hyperhop.flow.hop`.
            threads: None for the default.

        O(T (V text_dim + E)).
        """
        config, segments = self.config, batch.segments
        steering = self.steer(questions)
        now = batch.start
        closed = None if config.return_to_topic else now > 0
        found = Flows([now], [], [])
        settings: dict[str, Any] = {
            "eps": config.eps,
            "segments": segments,
            "reachable_only": reachable_only,
            "threads": threads,
        }
        for step in range(config.hops):
            beta, gate, wanted = steering.next_hop()
            beta = np.ascontiguousarray(beta.T) if segments is None else beta
            updates = config.query_update and step + 1 < config.hops
            reads = nodes if updates and config.reads_nodes else None
            rho = None
            if wanted is not None and (closed is not None or reads is None):
                rho, wanted = flow.content_score(nodes, wanted, segments, threads=threads), None
            if closed is not None:
                rho = np.zeros_like(now) if rho is None else rho
                rho[closed] = -np.inf
            hopped = flow.hop(
                batch.graph, now, beta, rho, gate, features=reads, query=wanted, **settings
            )
            now, read = (hopped, None) if reads is None else hopped
            found.flows.append(now)
            found.betas.append(beta)
            found.gates.append(gate)
            if updates:
                steering.update(read)
        return found

    def steer(self, questions: QuestionVectors) -> "Steering":
        """What leads the flows of these questions, whatever they flow over."""
        return Steering(self, questions)

    def _linear(self, name: str, values: Floats) -> Floats:
        made: Floats = values @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        return made if bias is None else made + bias

    def _relation_keys(self, relations: Floats) -> Floats:
        if "stay" in self._weights:
            relations = np.concatenate([relations[:-1], self._weights["stay"][None]])
        projected = self._linear("relations.projection", relations)
        if self.config.attention == "cosine":
            return _unit(projected)
        return self._linear("relations.attention", projected)

    def _attention(self, asked: Floats) -> Floats:
        """beta (G, R) of eq. 2."""
        if self.config.attention == "bilinear":
            return _sigmoid(asked @ self._keys.T)
        turned = _unit(asked @ self._weights["relations.attention.weight"].T)
        scale, bias = self._weights["relations.scale"], self._weights["relations.bias"]
        return _sigmoid(scale * (turned @ self._keys.T) + bias)

    def _gate(self, state: Floats) -> Floats:
        """lambda (G,) of eq. 3."""
        if not self.config.weighs_content:
            return np.zeros(len(state), np.float32)
        if not self.config.gate:
            return np.ones(len(state), np.float32)
        return _sigmoid(self._linear("gate", state)[:, 0])

    def _wanted(self, state: Floats) -> Floats:
        """W_V^T W_node^T q (G, text_dim): what content scores compare with a node's text."""
        wanted: Floats = self._linear("content", state) @ self._weights["node_projection.weight"]
        return wanted

    def _updated(self, state: Floats, read: Floats | None, asked: Floats) -> Floats:
        """The query state after a hop."""
        parts = []
        if self.config.update_from != "question":
            nodes = np.zeros_like(state)
            parts.append(nodes if read is None else self._linear("node_projection", read))
        if self.config.update_from != "nodes":
            parts.append(asked)
        context = np.concatenate(parts, axis=1)
        w = self._weights
        return _gru_step(
            context @ w["update.weight_ih"].T + w["update.bias_ih"],
            state @ w["update.weight_hh"].T + w["update.bias_hh"],
            state,
        )

    def _start(self, questions: QuestionVectors) -> "tuple[Floats, _Pooled | _Tokens]":
        """The query states of the start (G, hidden), and what hops ask."""
        if self.config.question == "tokens":
            return self._read_tokens(questions)
        pooled = questions.pooled
        if "question.projection.weight" in self._weights:
            pooled = self._linear("question.projection", pooled)
        return pooled, _Pooled()

    def _read_tokens(self, questions: QuestionVectors) -> "tuple[Floats, _Tokens]":
        if questions.states is None or questions.offsets is None:
            raise ValueError("Network: this model reads token states, got none")
        units = _unit(questions.states)
        states, keys, values = [], [], []
        for begin, end in pairwise(questions.offsets.tolist()):
            tokens = units[begin:end]
            ahead, last = self._order(tokens, "")
            back, first = self._order(tokens[::-1], "_reverse")
            run = np.concatenate([ahead, back[::-1]], axis=1)
            states.append(np.concatenate([last, first]))
            keys.append(self._linear("question.key", run))
            values.append(tokens + self._linear("question.correction", run))
        start = np.stack(states) if states else np.zeros((0, self.config.hidden), np.float32)
        query = np.tanh(self._linear("question.begin", start))
        return query, _Tokens(keys, values, self._weights["question.coverage"])

    def _order(self, tokens: Floats, end: str) -> tuple[Floats, Floats]:
        """States of a GRU that runs over a question's tokens, and the last of them.

        A question without tokens is one zero token whose state nobody may look at.
        """
        name = "question.order."
        w, bias, own = (
            self._weights[f"{name}{part}_l0{end}"] for part in ("weight_ih", "bias_ih", "weight_hh")
        )
        own_bias = self._weights[f"{name}bias_hh_l0{end}"]
        given = (tokens if len(tokens) else np.zeros((1, self.text_dim), np.float32)) @ w.T + bias
        state = np.zeros((1, own.shape[1]), np.float32)
        run = np.empty((len(given), own.shape[1]), np.float32)
        for place, row in enumerate(given):
            state = _gru_step(row[None], state @ own.T + own_bias, state)
            run[place] = state[0]
        return run[: len(tokens)], state[0]


class Steering:
    """The side of the questions: what each hop follows, and how what it reads changes that.

    Call `next_hop`, then `update` with what was read, hop after hop.
    """

    def __init__(self, network: Network, questions: QuestionVectors) -> None:
        self._network = network
        self._state, self._asking = network._start(questions)
        self._asked = self._state

    def next_hop(self) -> tuple[Floats, Floats, Floats | None]:
        """Of G questions the attention (G, R), the gates (G,), and the vectors (G, text_dim) that
        content scores compare with a node's text, None where content is not weighed.
        """
        network = self._network
        self._asked = self._asking.ask(self._state)
        wanted = network._wanted(self._state) if network.config.weighs_content else None
        return network._attention(self._asked), network._gate(self._state), wanted

    def update(self, read: Floats | None) -> None:
        """Take in the texts (G, text_dim) that the hop read; None where it read none."""
        self._state = self._network._updated(self._state, read, self._asked)


class _Pooled:
    """The query state itself asks."""

    def ask(self, state: Floats) -> Floats:
        return state


class _Tokens:
    """Each hop looks at the tokens again, less at those it has looked at before."""

    def __init__(self, keys: list[Floats], values: list[Floats], coverage: Floats) -> None:
        self._keys, self._values, self._coverage = keys, values, coverage
        self._covered = [np.zeros(len(one), np.float32) for one in keys]

    def ask(self, state: Floats) -> Floats:
        asked = [np.zeros(0, np.float32)] * len(state)
        for g, (query, keys, values) in enumerate(
            zip(state, self._keys, self._values, strict=True)
        ):
            match = keys @ query / np.float32(np.sqrt(keys.shape[1]))
            match = match - self._coverage * self._covered[g]
            share = np.exp(match - match.max(initial=-np.inf))
            share /= max(share.sum(), np.float32(1e-30))  # of no tokens there is no share
            asked[g] = share @ values
            self._covered[g] = self._covered[g] + share
        return np.stack(asked)


def _gru_step(given: Floats, own: Floats, state: Floats) -> Floats:
    """A step of a GRU: reset, update and new parts of its input and of its state."""
    reset_in, update_in, new_in = np.split(given, 3, axis=1)
    reset, update, new = np.split(own, 3, axis=1)
    kept = _sigmoid(update_in + update)
    fresh = np.tanh(new_in + _sigmoid(reset_in + reset) * new)
    stepped: Floats = (1 - kept) * fresh + kept * state
    return stepped


def _sigmoid(x: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow and exact to the last bits near 0."""
    small = np.exp(-np.abs(x))
    made: Floats = np.where(x >= 0, 1, small) / (1 + small)
    return made.astype(np.float32, copy=False)


def _unit(rows: Floats) -> Floats:
    """Rows at unit length; zero rows stay zero."""
    norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    unit: Floats = rows / np.maximum(norms, np.float32(_SMALLEST_NORM))
    return unit
