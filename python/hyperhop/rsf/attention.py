"""Relation attention: how much each relation is worth at a hop (the compass, eq. 2)."""

import torch
from torch import nn
from torch.nn import functional


class BilinearAttention(nn.Module):
    """beta_r = sigmoid(a^T W_att W_R x_r), eq. 2: a is what the hop asks, x_r a relation's text."""

    def __init__(self, text_dim: int, asked_dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.projection = nn.Linear(text_dim, hidden, bias=False)  # W_R
        self.attention = nn.Linear(hidden, asked_dim, bias=False)  # W_att
        self.dropout = nn.Dropout(dropout)

    def keys(self, relation_text: torch.Tensor) -> torch.Tensor:
        """W_att e_r of every relation (R, asked_dim): once a batch, the same at all hops."""
        return self.attention(self.projection(self.dropout(relation_text)))

    def forward(self, asked: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """beta (G, R)."""
        return torch.sigmoid(asked @ keys.T)


class CosineAttention(nn.Module):
    """beta_r = sigmoid(s cos(W_att a, W_R x_r) + b), with s and b learned from where they start.

    Where both have the length of a text, W_att and W_R start as the identity: the untrained
    attention already prefers relations whose words the question uses, and so keeps serving
    relations that training never showed.
    """

    def __init__(
        self, text_dim: int, asked_dim: int, dropout: float, scale: float, threshold: float
    ) -> None:
        super().__init__()
        self.projection = nn.Linear(text_dim, text_dim, bias=False)
        nn.init.eye_(self.projection.weight)
        self.attention = nn.Linear(asked_dim, text_dim, bias=False)
        if asked_dim == text_dim:
            nn.init.eye_(self.attention.weight)
        self.scale = nn.Parameter(torch.tensor(scale))
        self.bias = nn.Parameter(torch.tensor(-scale * threshold))
        self.dropout = nn.Dropout(dropout)

    def keys(self, relation_text: torch.Tensor) -> torch.Tensor:
        """W_R x_r of unit length (R, text_dim)."""
        return functional.normalize(self.projection(self.dropout(relation_text)), dim=1)

    def forward(self, asked: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """beta (G, R)."""
        turned = functional.normalize(self.attention(asked), dim=1)
        return torch.sigmoid(self.scale * (turned @ keys.T) + self.bias)
