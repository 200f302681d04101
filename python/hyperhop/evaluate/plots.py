"""Figures of results, as PNG or SVG (extra `plot`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from hyperhop._extras import optional

Kind = Literal["lines", "points", "bars"]
Rows = Sequence[Mapping[str, Any]]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # for every eye
_MARKERS = "os^Dv*"
_FORMATS = (".png", ".svg")


@dataclass(frozen=True)
class Figure:
    """What to draw of `rows`: `y` over `x` (keys), one colour for each value of `by`.

    "lines" joins points of equal `by` in the order of rows; "points" writes the value of `name`
    beside each; "bars" takes `x` as a label and sets the values of `by` side by side.
    """

    title: str
    rows: Rows
    kind: Kind
    x: str
    y: str
    x_label: str
    y_label: str
    by: str | None = None
    name: str | None = None
    log_x: bool = False


def check_file(path: str | Path) -> None:
    """ValueError unless the name ends in .png or .svg, ImportError without the extra `plot`.

    For callers who would rather know before they measure.
    """
    if Path(path).suffix.lower() not in _FORMATS:
        raise ValueError(f"plot: expected a file name ending in .png or .svg, got {str(path)!r}")
    optional("matplotlib", "drawing", "plot")


def draw(figure: Figure, path: str | Path) -> None:
    """Write one figure; the format is that of the file's name. Errors of `check_file`.

    No display is needed, and no setting of matplotlib outlives the call.
    """
    check_file(path)
    matplotlib = optional("matplotlib", "drawing", "plot")
    figures = optional("matplotlib.figure", "drawing", "plot")
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "hyperhop"}):
        canvas = figures.Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = canvas.subplots()
        {"lines": _lines, "points": _points, "bars": _bars}[figure.kind](axes, figure)
        axes.set(xlabel=figure.x_label, ylabel=figure.y_label)
        axes.set_title("\n".join(wrap(figure.title, 90)), fontsize=9, loc="left")
        axes.grid(alpha=0.25, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        # without the date the same numbers give the same file
        plain = {"Date": None} if str(path).lower().endswith(".svg") else {}
        canvas.savefig(path, dpi=140, metadata=plain)


def _groups(figure: Figure) -> dict[Any, Rows]:
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for row in figure.rows:
        groups.setdefault(row[figure.by] if figure.by else None, []).append(row)
    return dict(groups)


def _styles(groups: Mapping[Any, Rows]) -> list[tuple[Any, Rows, str, str]]:
    return [
        (name, rows, _COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)])
        for i, (name, rows) in enumerate(groups.items())
    ]


def _lines(axes: Any, figure: Figure) -> None:
    for name, members, colour, marker in _styles(_groups(figure)):
        x, y = [row[figure.x] for row in members], [row[figure.y] for row in members]
        axes.plot(x, y, marker + "-", color=colour, label=name)
    ticks = sorted({row[figure.x] for row in figure.rows if not isinstance(row[figure.x], str)})
    if figure.log_x:
        axes.set_xscale("log", base=2)
    if ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    _legend(axes, figure)


def _points(axes: Any, figure: Figure) -> None:
    for name, members, colour, marker in _styles(_groups(figure)):
        x, y = [row[figure.x] for row in members], [row[figure.y] for row in members]
        axes.plot(x, y, marker, color=colour, label=name, markersize=8)
    if figure.log_x:
        axes.set_xscale("log")
    for row in figure.rows:
        if figure.name is not None:
            axes.annotate(
                str(row[figure.name]),
                (row[figure.x], row[figure.y]),
                textcoords="offset points",
                xytext=(6, 4),
                fontsize=8,
            )
    axes.margins(x=0.15, y=0.15)
    _legend(axes, figure)


def _bars(axes: Any, figure: Figure) -> None:
    groups = _groups(figure)
    places = {
        label: i for i, label in enumerate(dict.fromkeys(row[figure.x] for row in figure.rows))
    }
    width = 0.8 / len(groups)
    for i, (name, members, colour, _) in enumerate(_styles(groups)):
        x = [places[row[figure.x]] + (i - (len(groups) - 1) / 2) * width for row in members]
        axes.bar(x, [row[figure.y] for row in members], width, color=colour, label=name)
    axes.set_xticks(range(len(places)), list(places), rotation=25, ha="right")
    _legend(axes, figure)


def _legend(axes: Any, figure: Figure) -> None:
    if figure.by:
        axes.figure.legend(
            title=figure.by.replace("_", " "),
            loc="outside right upper",  # never over the marks
            frameon=False,
            fontsize=8,
        )
