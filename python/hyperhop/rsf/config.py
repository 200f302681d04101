"""Every switch of the soft-flow model, in one place."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

NodeText = Literal["used", "dropped"]
QuestionReading = Literal["pooled", "tokens"]
Attention = Literal["bilinear", "cosine"]
UpdateFrom = Literal["nodes", "question", "both"]
StayText = Literal["encoded", "learned"]

_CHOICES = {
    "node_text": NodeText,
    "question": QuestionReading,
    "attention": Attention,
    "update_from": UpdateFrom,
    "stay_text": StayText,
}


@dataclass(frozen=True)
class RSFConfig:
    """What an `RSFModel` is made of. All values are plain, so a TOML or JSON file can hold them.

    Attributes:
        hops: T, the number of hops a flow takes. Apart from the radius of a subgraph.
        hidden: length of a query state and of a projected node or relation.
        gate: False fixes the gate lambda at 1 (the ablation without eq. 3).
        content_bias: False sets rho to 0, so that the gate has nothing to weigh.
        query_update: False keeps the query state of the start at every hop.
        lambda_1: weight of the flow's entropy in the loss; 0 trains without sparsity.
        eps: added to the structural flow before its logarithm (eq. 4), and inside the entropy's.
        reachable_only: in training, give no mass to a node that no flow reached. False is the
            paper's form; decoding always takes True.
        return_to_topic: False lets no flow come back to the node it started from, at any hop.
        stay: the graph has the relation STAY from every node to itself.
        inverse: the graph has every edge also against its direction, under a relation of its own.
        node_text: "dropped" leaves node texts out: there is then no content bias, and what a hop
            reads is zero.
        question: "pooled" reads the question as one vector (the paper), "tokens" reads its token
            states again at each hop, which keeps the order of the words.
        attention: how a hop weighs relations: "bilinear" is eq. 2, "cosine" a scaled cosine that
            starts as the texts' own similarity and so serves relations unseen in training.
        attention_scale: how sharp an untrained "cosine" attention is: beta is
            sigmoid(attention_scale (cosine - attention_threshold)).
        attention_threshold: the cosine at which it is 1/2.
        update_from: what the query state is updated by: the context read from the "nodes" (the
            paper), what was read from the "question" at that hop, or "both".
        stay_text: whether STAY's text is "encoded" like any other, or a "learned" vector.
        dropout: share of entries dropped in training.

    Raises ValueError or TypeError where a value breaks its rule.
    """

    hops: int = 2
    hidden: int = 128
    gate: bool = True
    content_bias: bool = True
    query_update: bool = True
    lambda_1: float = 0.1
    eps: float = 1e-8
    reachable_only: bool = False
    return_to_topic: bool = True
    stay: bool = True
    inverse: bool = True
    node_text: NodeText = "used"
    question: QuestionReading = "pooled"
    attention: Attention = "bilinear"
    attention_scale: float = 15.0
    attention_threshold: float = 0.7
    update_from: UpdateFrom = "nodes"
    stay_text: StayText = "encoded"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kind = type(field.default)
            if kind is float and type(value) is int:  # TOML writes 1.0 as 1 where nobody looks
                object.__setattr__(self, field.name, float(value))
            elif type(value) is not kind:
                raise TypeError(
                    f"RSFConfig: {field.name} must be of type {kind.__name__}, got {value!r}"
                )
        for name in ("hops", "hidden"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("lambda_1", 0 <= self.lambda_1 < float("inf"), "at least 0 and finite")
        even = self.question == "pooled" or self.hidden % 2 == 0
        self._require("hidden", even, 'even where question="tokens" (a half for each direction)')
        self._require("eps", 0 < self.eps < 1, "between 0 and 1")
        self._require("attention_scale", self.attention_scale > 0, "above 0")
        in_range = -1 <= self.attention_threshold <= 1
        self._require("attention_threshold", in_range, "from -1 to 1")
        self._require("dropout", 0 <= self.dropout < 1, "at least 0 and below 1")
        for name, choices in _CHOICES.items():
            allowed = get_args(choices)
            self._require(name, getattr(self, name) in allowed, f"one of {', '.join(allowed)}")

    def _require(self, name: str, holds: bool, rule: str) -> None:
        if not holds:
            raise ValueError(f"RSFConfig: {name} must be {rule}, got {getattr(self, name)!r}")

    @property
    def weighs_content(self) -> bool:
        """Whether a hop weighs nodes by what they are about."""
        return self.content_bias and self.node_text == "used"

    @property
    def reads_nodes(self) -> bool:
        """Whether a query state is updated by the texts of the nodes where the flow is."""
        return self.query_update and self.update_from != "question" and self.node_text == "used"

    @property
    def reads_texts(self) -> bool:
        """Whether anything reads the texts of nodes."""
        return self.weighs_content or self.reads_nodes

    def to_dict(self) -> dict[str, Any]:
        """All values by name, ready for a TOML or JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RSFConfig":
        """From `to_dict()`'s values; those left out keep their defaults.

        Raises ValueError for a name that is none of the switches.
        """
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise ValueError(
                    f"RSFConfig: {name!r} is no switch; there are {', '.join(sorted(known))}"
                )
        return cls(**values)
