"""The plots of benchmarks/theory.py, one sheet."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # apart for the colour-blind
MARKERS = "os^Dv"


def draw(results, path) -> None:
    figure, axes = plt.subplots(2, 3, figsize=(15, 8.6), layout="constrained")
    panels = axes.ravel()
    for panel, name in zip(panels, results, strict=False):
        PANELS[name](panel, results[name])
        panel.grid(alpha=0.25, which="both", linewidth=0.5)
        panel.spines[["top", "right"]].set_visible(False)
    draw_notes(panels[-1])
    figure.suptitle("Random GHRR hypervectors: marks are measured, lines are the law", fontsize=14)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def each(curves):
    return zip(curves, COLOURS, MARKERS, strict=False)


def draw_noise(axes, curves) -> None:
    for curve, colour, marker in each(curves):
        axes.loglog(curve.x, curve.law, color=colour, linewidth=1)
        axes.loglog(curve.x, curve.measured, marker, color=colour, label=curve.label, alpha=0.8)
    axes.set(
        title="Noise between unrelated paths",
        xlabel="d = D m² complex numbers",
        ylabel="standard deviation of sim(ab, cd)",
    )
    axes.set_xticks(curves[0].x, [f"{x:g}" for x in curves[0].x])
    axes.minorticks_off()
    axes.legend(title="lines: 1/√(2d) and 1/√(2Dm)", loc="lower left")


def draw_tails(axes, curves) -> None:
    for curve, colour, _ in each(curves):
        samples = np.sort(curve.samples)
        share = 1 - np.arange(len(samples)) / len(samples)
        axes.semilogy(samples, share, color=colour, label=curve.label.split(",")[0])
    span = np.linspace(0, 0.5, 200)
    for colour, c in zip(COLOURS, (1, 1 / 4), strict=False):
        bound = 2 * np.exp(-c * 256 * span**2)
        axes.semilogy(span, bound, "--", color=colour, label=f"bound, c = {c:g}")
    axes.set(
        title="Tails and proposition 1 (d = 256, m = 4)",
        xlabel="ε",
        ylabel="P(|sim(ab, ac)| ≥ ε)   and   2 exp(-c d ε²)",
        xlim=(0, 0.5),
        ylim=(2e-5, 2.5),
    )
    axes.legend(loc="upper right")


def draw_capacity(axes, curves) -> None:
    for curve, colour, marker in each(curves):
        axes.semilogx(curve.x, curve.law, "--", color=colour, label=f"bound, {curve.label}")
        axes.semilogx(
            curve.x, curve.measured, marker + "-", color=colour, label=f"measured, {curve.label}"
        )
    axes.axhline(1 / 16, color="grey", linewidth=1)
    axes.annotate(
        "a permutation, haar: 1/m²",
        *((1000, 1 / 16), (0, -4)),
        textcoords="offset points",
        ha="right",
        va="top",
    )
    axes.set(
        title="Best of M distractors and corollary 1 (d = 4096, m = 4)",
        xlabel="M",
        ylabel="similarity not passed in 95 % of queries",
        ylim=(0, 0.15),
    )
    axes.legend(loc="upper left")


def draw_swaps(axes, curves) -> None:
    for curve, colour, marker in each(curves):
        axes.semilogy(curve.x, curve.law, color=colour, linewidth=1)
        axes.errorbar(
            curve.x, curve.measured, curve.spread, fmt=marker, color=colour, label=curve.label
        )
    axes.set(
        title="A path against its permutations",
        xlabel="block size m",
        ylabel="similarity",
    )
    axes.legend(title="lines: 1, 1/m², 1/m⁴", loc="upper right", bbox_to_anchor=(1, 0.93))


def draw_repeats(axes, curves) -> None:
    width = 0.14
    for number, (curve, colour, marker) in enumerate(each(curves)):
        x = np.array(curve.x) + (number - 2) * width
        axes.errorbar(
            x, curve.measured, curve.spread, fmt=marker, color=colour, label=curve.label, capsize=3
        )
        axes.hlines(curve.law, x - width / 2, x + width / 2, color=colour, linewidth=1)
    axes.set(
        title="A relation walked k times (d = 256)",
        xlabel="k",
        ylabel="sim(rᵏ s, s), mean and standard deviation",
        xticks=curves[0].x,
    )
    axes.legend(loc="center", bbox_to_anchor=(0.58, 0.75))


def draw_notes(axes) -> None:
    axes.axis("off")
    axes.text(
        0,
        1,
        "How to read it\n\n"
        "Noise falls with d alone for Haar blocks, whatever m; diagonal\n"
        "blocks waste a factor m (proposition 1 holds with c = 1 and 1/m).\n\n"
        "Corollary 1 bounds the best of M independent distractors. It says\n"
        "nothing of permutations of the query: these score 1/m² or 1/m⁴\n"
        "however large d is, above any other distractor at d = 4096, and 1\n"
        "with diagonal blocks.\n\n"
        "Bipolar codes take r r s for s: lemma 1 of appendix D.1 fails for\n"
        "relations that stand twice, because r r = 1. Real products are\n"
        "biased, phasors and Haar blocks are not; Haar noise grows by √k\n"
        "up to k = m.",
        va="top",
        fontsize=11,
        linespacing=1.4,
    )


PANELS = {
    "noise": draw_noise,
    "tails": draw_tails,
    "capacity": draw_capacity,
    "swaps": draw_swaps,
    "repeats": draw_repeats,
}
