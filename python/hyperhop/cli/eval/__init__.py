"""``hyperhop eval``: benchmarks, the paper's studies, and the tuning of calibrations."""

from hyperhop.cli.eval.command import eval_

__all__ = ["eval_"]
