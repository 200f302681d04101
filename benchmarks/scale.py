"""How building, opening and retrieving grow with the graph, up to the size of the papers' Freebase.

    python benchmarks/scale.py [--triples N ...] [--directory DIR] [--json FILE] [--plot FILE]

For each size a graph of synthetic_graph.py is written, indexed, saved, opened again and asked, each
in a process of its own, so that its peak memory is its own. 126 million triples take about 16 GB of
disk and ten minutes.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
import synthetic_graph

SIZES = (1_000_000, 10_000_000, 126_000_000)
TOPICS = 2_000
LOOKUPS = 20_000
HOPS = 2
MAX_DEGREE = 1_000
CAP = 10_000
MILLION = 1e6


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] in STEPS:
        print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triples", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="where files go (temporary)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them (.svg, .png, .pdf)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as place:
        rows = [measure(triples, Path(place)) for triples in sorted(options.triples)]
    about = {"date": datetime.date.today().isoformat(), "processor": machine.processor_name()}
    show(rows, about)
    if options.json:
        text = json.dumps({"about": about, "rows": rows}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.plot:
        from scale_plot import draw

        draw(rows, about, options.plot)


def measure(triples: int, place: Path) -> dict:
    """Every step of one size."""
    file, directory = place / f"{triples}.tsv", place / f"{triples}"
    row = {"triples": triples}
    for step in STEPS:
        print(f"{triples / MILLION:g} M triples: {step}", file=sys.stderr)
        command = [sys.executable, __file__, step, str(file), str(directory)]
        environment = {**os.environ, "HYPERHOP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
        row |= json.loads(done.stdout)
    file.unlink()
    return row


def write_input(file: Path, directory: Path) -> dict:
    """Write the file; the size is its name."""
    synthetic_graph.write(file, synthetic_graph.make_shape(int(file.stem)))
    return {"input_gb": file.stat().st_size / 1e9}


def read_baseline(file: Path, directory: Path) -> dict:
    """How long pyarrow takes to read the same fields and do nothing with them."""
    import pyarrow.csv

    begin = time.perf_counter()
    reader = pyarrow.csv.open_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(
            column_names=["head", "relation", "tail"], use_threads=False
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
    )
    rows = sum(batch.num_rows for batch in reader)
    assert rows == int(file.stem)
    return {"pyarrow_read_s": time.perf_counter() - begin}


def build(file: Path, directory: Path) -> dict:
    """From the file to the saved graph."""
    from hyperhop import KnowledgeGraph

    begin = time.perf_counter()
    kg = KnowledgeGraph.from_triples(file)
    built = time.perf_counter()
    pairs = kg.schema.num_pairs  # what `hyperhop index` stores too
    schema = time.perf_counter()
    kg.save(directory)
    saved = time.perf_counter()
    sizes = {path.name: path.stat().st_size for path in directory.iterdir()}
    names = sum(size for name, size in sizes.items() if "_name" in name)
    return {
        "entities": kg.num_entities,
        "relations": kg.num_relations,
        "distinct": kg.num_triples,
        "build_s": built - begin,
        "schema_s": schema - built,
        "schema_pairs": pairs,
        "save_s": saved - schema,
        "peak_gb": peak_gb(),
        "edges_gb": (sum(sizes.values()) - names) / 1e9,
        "names_gb": names / 1e9,
    }


def use(file: Path, directory: Path) -> dict:
    """Open it, look names up, and retrieve around random and around popular topics."""
    import numpy as np

    from hyperhop import KnowledgeGraph

    before = resident_gb()
    begin = time.perf_counter()
    kg = KnowledgeGraph.open(directory)
    row = {"open_s": time.perf_counter() - begin, "opened_gb": resident_gb() - before}

    random = np.random.default_rng(0)
    ids = random.integers(0, kg.num_entities, LOOKUPS).tolist()
    begin = time.perf_counter()
    names = [kg.entity_name(i) for i in ids]
    named = time.perf_counter()
    assert [kg.entity_id(name) for name in names] == ids
    found = time.perf_counter()
    row["name_us"] = (named - begin) / LOOKUPS * MILLION
    row["find_us"] = (found - named) / LOOKUPS * MILLION
    row["looked_up_gb"] = resident_gb() - before

    # An entity at the end of a random fact: the more facts it has, the likelier.
    popular = [int(random.choice(kg.neighbors(i)[1])) for i in ids[:TOPICS]]
    for name, topics in (("random", ids[:TOPICS]), ("popular", popular)):
        for what, ask in (("paths", retrieve), ("ball", ball)):
            times = []
            for topic in topics:
                begin = time.perf_counter()
                ask(kg, topic)
                times.append((time.perf_counter() - begin) * 1e3)
            row[f"{what}_{name}_ms"] = [float(np.percentile(times, q)) for q in (50, 99, 100)]
    row["used_gb"] = resident_gb() - before
    return row


def retrieve(kg, topic):
    """What PathHD asks of a graph: the sequences that exist, then their paths and ends."""
    walk = {"inverse": True, "max_degree": MAX_DEGREE}
    sequences = kg.sequences(topic, HOPS, cap=CAP, **walk)
    return kg.paths(topic, HOPS, sequences, cap=CAP, max_degree=MAX_DEGREE)


def ball(kg, topic):
    """What RSF asks of it: everything around a topic."""
    return kg.subgraph(topic, HOPS, induced=False, max_degree=MAX_DEGREE)


def total_seconds(row: dict) -> float:
    """From the file to the saved graph, its schema included."""
    return row["build_s"] + row["schema_s"] + row["save_s"]


STEPS = {
    "write_input": write_input,
    "read_baseline": read_baseline,
    "build": build,
    "use": use,
}


def peak_gb() -> float:
    return memory_gb("VmHWM")


def resident_gb() -> float:
    return memory_gb("VmRSS")


def memory_gb(field: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e9
    raise OSError(f"/proc/self/status has no {field}")


def show(rows: list[dict], about: dict) -> None:
    """One column a size."""
    from rich.console import Console
    from rich.table import Table

    def milliseconds(values):
        return " / ".join(f"{value:.2g}" for value in values)

    lines = {
        "entities, M": lambda r: f"{r['entities'] / MILLION:.1f}",
        "relations": lambda r: f"{r['relations']:,}",
        "input, GB": lambda r: f"{r['input_gb']:.2f}",
        "build + schema + save, s": lambda r: " + ".join(
            f"{r[key]:.1f}" for key in ("build_s", "schema_s", "save_s")
        ),
        "M triples/s": lambda r: f"{r['triples'] / total_seconds(r) / MILLION:.2f}",
        "pyarrow only reads, s": lambda r: f"{r['pyarrow_read_s']:.1f}",
        "peak memory, GB": lambda r: f"{r['peak_gb']:.2f}",
        "files: edges + names, GB": lambda r: f"{r['edges_gb']:.2f} + {r['names_gb']:.2f}",
        "pairs in the schema": lambda r: f"{r['schema_pairs']:,}",
        "open, ms": lambda r: f"{r['open_s'] * 1e3:.1f}",
        "id to name, name to id, us": lambda r: f"{r['name_us']:.1f}, {r['find_us']:.1f}",
        "resident: opened, looked up, used, MB": lambda r: ", ".join(
            f"{r[key] * 1e3:.0f}" for key in ("opened_gb", "looked_up_gb", "used_gb")
        ),
        "paths, random topics, ms": lambda r: milliseconds(r["paths_random_ms"]),
        "paths, popular topics, ms": lambda r: milliseconds(r["paths_popular_ms"]),
        "ball, random topics, ms": lambda r: milliseconds(r["ball_random_ms"]),
        "ball, popular topics, ms": lambda r: milliseconds(r["ball_popular_ms"]),
    }
    table = Table(title=f"{about['date']}  {about['processor']}, one thread", title_justify="left")
    table.add_column("M triples")
    for row in rows:
        table.add_column(f"{row['triples'] / MILLION:g}", justify="right")
    for name, text in lines.items():
        table.add_row(name, *map(text, rows))
    console = Console()
    console.print(table)
    console.print(
        f"paths and ball: {HOPS} hops in both directions, p50 / p99 / max of {TOPICS:,} topics, "
        f"hubs above {MAX_DEGREE:,} edges sampled, at most {CAP:,} sequences and paths",
        markup=False,
    )


if __name__ == "__main__":
    main()
