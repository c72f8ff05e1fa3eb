"""The seeds of tests/seeds: what is random in a test takes the same way in each run of `make test`."""
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "seeds"


@dataclass(frozen=True)
class Seed:
    value: int
    is_one_of_several: bool = False


SOAK_SEED = Seed(0)  # not used: a soak chooses new ones


def read_seeds(path=FILE):
    """The seeds of each name in the file; raises ValueError on a line that makes no sense."""
    seeds = {}
    for line in path.read_text().splitlines():
        name, *values = line.partition("#")[0].split() or [""]
        if name and not values:
            raise ValueError(f"{path}: no seed in: {line}")
        if name:
            seeds[name] = [Seed(int(value), len(values) > 1) for value in values]
    return seeds


SEEDS = read_seeds()


def seeds_of(name):
    """One run of the test for each."""
    return SEEDS.get(name, SEEDS["default"])
