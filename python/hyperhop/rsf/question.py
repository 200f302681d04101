"""How a model reads its question: one pooled vector, or its token states again at each hop."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Question(NamedTuple):
    """G questions as their encoder reads them.

    Attributes:
        pooled: (G, text_dim), one vector a question.
        states: (n, text_dim), token states of all questions end to end, or None.
        offsets: int64 (G + 1,), where each question's tokens begin, or None.
    """

    pooled: torch.Tensor
    states: torch.Tensor | None = None
    offsets: torch.Tensor | None = None

    @classmethod
    def of(cls, vectors: Any) -> "Question":
        """From NumPy arrays `pooled`, `states` and `offsets` (`QuestionVectors`)."""
        parts = (vectors.pooled, vectors.states, vectors.offsets)
        return cls(*(None if part is None else torch.from_numpy(part) for part in parts))


class Reading(NamedTuple):
    """What is known of the questions while their flows go on.

    Attributes:
        keys: (G, L, hidden), what the attention compares, or None where nothing is attended to.
        values: (G, L, text_dim), what it gathers.
        mask: bool (G, L), which places hold a token.
        covered: (G, L), attention that each token has had so far.
    """

    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None
    mask: torch.Tensor | None = None
    covered: torch.Tensor | None = None


class PooledQuestion(nn.Module):
    """The paper's reading: q_0 = W_Q v_Q, and the query state itself asks at each hop.

    W_Q is the identity where text and query state have one length.
    """

    def __init__(self, text_dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        same = text_dim == hidden
        self.projection = nn.Identity() if same else nn.Linear(text_dim, hidden, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.dim = hidden

    def start(self, question: Question) -> tuple[torch.Tensor, Reading]:
        """q_0 (G, hidden), and nothing to look at again."""
        return self.projection(self.dropout(question.pooled)), Reading()

    def ask(self, query: torch.Tensor, reading: Reading) -> tuple[torch.Tensor, Reading]:
        """What hop t asks of the relations (G, hidden): its query state."""
        return query, reading


class TokenQuestion(nn.Module):
    """Order-aware reading: a GRU runs over the tokens in both directions, each hop attends to them.

    The end states of the two directions make q_0. At a hop the query state is compared with every
    token's key; a token that had attention before gets less (`coverage`, learned), so that the hops
    walk through the question. What is gathered are the encoder's own token states, at unit length,
    plus a learned correction that starts at zero, so that a relation can be matched by what its
    words mean.
    """

    def __init__(self, text_dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.order = nn.GRU(text_dim, hidden // 2, batch_first=True, bidirectional=True)
        self.begin = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.correction = nn.Linear(hidden, text_dim, bias=False)
        nn.init.zeros_(self.correction.weight)
        self.coverage = nn.Parameter(torch.tensor(1.0))
        self.dropout = nn.Dropout(dropout)
        self.dim = text_dim

    def start(self, question: Question) -> tuple[torch.Tensor, Reading]:
        """q_0 (G, hidden), and keys and values of the tokens."""
        states, mask = _padded(question)
        lengths = mask.sum(1)
        # A question without tokens runs as one zero token that nobody may look at.
        packed = pack_padded_sequence(
            self.dropout(states), lengths.clamp(min=1), batch_first=True, enforce_sorted=False
        )
        run, ends = self.order(packed)
        read, _ = pad_packed_sequence(run, batch_first=True, total_length=states.shape[1])
        read = self.dropout(read)
        query = torch.tanh(self.begin(torch.cat([ends[0], ends[1]], 1)))
        values = states + self.correction(read)
        return query, Reading(self.key(read), values, mask, states.new_zeros(mask.shape))

    def ask(self, query: torch.Tensor, reading: Reading) -> tuple[torch.Tensor, Reading]:
        """What hop t asks of the relations (G, text_dim): the tokens it looks at."""
        keys, values, mask, covered = reading
        assert keys is not None
        assert values is not None
        assert mask is not None
        assert covered is not None
        match = (keys @ query[:, :, None])[:, :, 0] / keys.shape[-1] ** 0.5
        match = match - self.coverage * covered
        # Finite, so that a question without tokens has no NaN; its attention is then set to 0.
        share = functional.softmax(match.masked_fill(~mask, -1e9), dim=1) * mask
        asked = (share[:, None] @ values)[:, 0]
        return asked, reading._replace(covered=covered + share)


def _padded(question: Question) -> tuple[torch.Tensor, torch.Tensor]:
    """Token states as (G, L, text_dim), L at least 1, and which places hold a token."""
    if question.states is None or question.offsets is None:
        raise ValueError('RSFModel: question="tokens" needs token states and offsets, got none')
    offsets = question.offsets.numpy()
    lengths = np.diff(offsets)
    longest = max(int(lengths.max(initial=0)), 1)
    mask = torch.from_numpy(np.arange(longest) < lengths[:, None])
    padded = question.states.new_zeros(*mask.shape, question.states.shape[1])
    unit = functional.normalize(question.states, dim=1)
    return padded.masked_scatter(mask[:, :, None], unit), mask
