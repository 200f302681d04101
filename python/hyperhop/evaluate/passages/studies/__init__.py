"""HELP's studies: what its quota, its levels, its beam and its scorers are worth, and cost."""

from hyperhop.evaluate.passages.studies import beam, levels, quota, speed

STUDIES = {"quota": quota.run, "levels": levels.run, "beam": beam.run, "speed": speed.run}

__all__ = ["STUDIES"]
