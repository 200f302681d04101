"""The plot of benchmarks/scale.py: time and memory against the number of triples."""

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # apart for the colour-blind


def draw(rows, about, path) -> None:
    triples = [row["triples"] / 1e6 for row in rows]
    figure, (time, memory, asking) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")

    total = [row["build_s"] + row["schema_s"] + row["save_s"] for row in rows]
    time.loglog(triples, total, "o-", color=COLOURS[0], label="from the file to the saved graph")
    time.loglog(
        triples,
        [r["pyarrow_read_s"] for r in rows],
        "s-",
        color=COLOURS[1],
        label="pyarrow only reads it",
    )
    time.loglog(triples, [n / 0.5 for n in triples], "--", color="grey", label="0.5 M triples/s")
    time.set(title="Ingest", ylabel="seconds")

    memory.loglog(
        triples, [r["peak_gb"] for r in rows], "o-", color=COLOURS[0], label="peak while building"
    )
    files = [row["edges_gb"] + row["names_gb"] for row in rows]
    memory.loglog(triples, files, "s-", color=COLOURS[1], label="files")
    memory.loglog(
        triples,
        [r["used_gb"] for r in rows],
        "^-",
        color=COLOURS[2],
        label="resident after 8,000 retrievals",
    )
    memory.set(title="Memory", ylabel="GB")

    for colour, (key, label) in zip(COLOURS, (("paths", "paths"), ("ball", "ball")), strict=False):
        for column, style in ((0, "o-"), (1, "^--")):
            values = [row[f"{key}_popular_ms"][column] for row in rows]
            name = f"{label}, {('median', 'p99')[column]}"
            asking.loglog(triples, values, style, color=colour, label=name)
    asking.axhline(10, color="grey", linewidth=0.8, linestyle=":")
    asking.axhline(100, color="grey", linewidth=0.8, linestyle=":")
    asking.set(title="Two hops around popular topics", ylabel="milliseconds")

    for axes in (time, memory, asking):
        axes.set_xlabel("million triples")
        axes.grid(alpha=0.25, which="both", linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.suptitle(
        f"A graph shaped like Freebase; {about['processor']}, one thread, {about['date']}"
    )
    figure.savefig(path, dpi=130)
    plt.close(figure)
