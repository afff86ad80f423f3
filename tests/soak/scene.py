"""What every part of the soak uses: a small table, a model of it, and checks of outputs."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import setatoms
from setatoms.persistence import ModelFileError

N_ROWS = 3000
BEFORE = b"what was there before\n"
COMMAND = [sys.executable, "-m", "setatoms"]
BENCHMARKS = [sys.executable, "-m", "benchmarks"]
HANG_SECONDS = 10.0
_SHOWN_FLAWS, _SHOWN_LENGTH = 10, 1000


@dataclass
class Tally:
    """How often something was tried, and what went wrong."""

    what: str
    n_tried: int = 0
    flaws: list[str] = field(default_factory=list)
    remark: str = ""

    def check(self, holds: bool, flaw: str) -> None:
        """Keep and print a flaw unless something holds."""
        if not holds:
            self.flaws.append(flaw)
            if len(self.flaws) <= _SHOWN_FLAWS:
                sys.stderr.write(f"{self.what}: {flaw[:_SHOWN_LENGTH]}\n")

    def line(self) -> str:
        """Return a line of a table in Markdown."""
        return f"| {self.what} | {self.n_tried:,} | {len(self.flaws)} | {self.remark} |"


@dataclass(frozen=True)
class Scene:
    """A folder with a table and a model."""

    folder: Path

    @property
    def table(self) -> Path:
        """The table, which nothing may change."""
        return self.folder / "table.csv"

    @property
    def model(self) -> Path:
        """The model, which nothing may change."""
        return self.folder / "model.setatoms"

    def make(self) -> Scene:
        """Write table and model."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N_ROWS, 2)) @ rng.normal(size=(2, 4))
        X += 0.1 * rng.normal(size=X.shape)
        np.savetxt(self.table, X, delimiter=",", header="a,b,c,d", comments="")
        words = ["fit", self.table, "--method", "cone", "--save", self.model]
        subprocess.run([*COMMAND, *map(str, words)], check=True, capture_output=True)
        return self

    def inputs(self) -> tuple[bytes, bytes]:
        """Return what the inputs hold."""
        return self.table.read_bytes(), self.model.read_bytes()


def bench_words(scene: Scene) -> list[str]:
    """Return the command of a small benchmark on a part of the table, but for its folder."""
    labelled = scene.folder / "labelled.csv"
    header, *rows = scene.table.read_text(encoding="utf-8").split("\n")[:200]
    lines = [f"{row},{int(i % 20 == 0)}" for i, row in enumerate(rows)]
    labelled.write_text("\n".join([f"{header},label", *lines, ""]), encoding="utf-8")
    words = "paper run --methods LOF IForest --configs * --seeds 1-4 --anomalies real --datasets"
    return [*BENCHMARKS, *words.split(), str(labelled), "--out"]


def leftovers(folder: Path) -> list[str]:
    """Return the drafts in a folder."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def is_whole(path: Path) -> bool:
    """Tell whether an output is as before, or complete."""
    if not path.exists() or path.read_bytes() == BEFORE:
        return True
    if path.suffix == ".setatoms":
        try:
            setatoms.load(path)
        except ModelFileError:
            return False
        return True
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    return len(rows) == N_ROWS + 1 and len({len(row) for row in rows}) == 1
