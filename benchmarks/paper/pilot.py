"""What a first, simpler implementation reached on seed 1, as a lower bound for this one."""

from __future__ import annotations

from benchmarks.paper.layout import Column, Emphasis, Entry, Table, number
from benchmarks.paper.results import Key, Results, mean_of

_SEED = 1
_AUC_BELOW = 0.006
_ERROR_SHARE = 0.05

_GAUSSIAN = "n3 r0.04-0.12 linear"
_CONE = "n4 r0.04-0.12 80-20"

# (method, configuration) -> mean ROC AUC and mean error over the 30 datasets: single runs, but for
# the areas of the adaptive Gaussian methods and of DLC-D-adapt (1-norm), means of five starts.
PILOT: dict[Key, tuple[float, float]] = {
    ("Gauss-L1", _GAUSSIAN): (0.944, 0.243),
    ("DL-Gauss-L1", _GAUSSIAN): (0.946, 0.240),
    ("DLG-L1-adapt (0-norm)", _GAUSSIAN): (0.945, 0.239),
    ("DLG-L1-adapt (1-norm)", _GAUSSIAN): (0.945, 0.239),
    ("Cone-DL", _CONE): (0.927, 0.165),
    ("DLC-adapt (0-norm)", _CONE): (0.929, 0.157),
    ("DLC-adapt (1-norm)", _CONE): (0.938, 0.155),
    ("Cone-DL-D", _CONE): (0.932, 0.164),
    ("DLC-D-adapt (0-norm)", _CONE): (0.940, 0.155),
    ("DLC-D-adapt (1-norm)", _CONE): (0.945, 0.154),
}


def pilot_table(results: Results) -> Table:
    """Return mean ROC AUC and error of seed 1, averaged over starts, beside the pilot's."""
    first = results.of_seeds(_SEED)
    rows = [_row(first, key) for key in PILOT]
    names = (
        "method",
        "configuration",
        "ROC AUC",
        "within",
        "error",
        "within",
        "starts",
        "datasets",
    )
    notes = [
        f"Seed {_SEED} alone, mean over its starts: ours (pilot). Within: ROC AUC at most "
        f"{_AUC_BELOW} below, error within {_ERROR_SHARE:.0%}.",
    ]
    return Table("Seed 1 beside the pilot", [Column(name) for name in names], rows, notes)


def _row(results: Results, key: Key) -> list[Entry]:
    auc, error = PILOT[key]
    areas = results.per_dataset(key, "auc")
    our_auc = mean_of(areas.values())
    our_error = mean_of(results.per_dataset(key, "error").values())
    starts = [run.n_starts for by in results.runs.get(key, {}).values() for run in by.values()]
    return [
        Entry(key[0]),
        Entry(key[1]),
        _beside(our_auc, auc),
        _answer(None if our_auc is None else our_auc >= auc - _AUC_BELOW),
        _beside(our_error, error),
        _answer(None if our_error is None else abs(our_error / error - 1) <= _ERROR_SHARE),
        number(mean_of(starts), 1),
        number(len(areas), 0),
    ]


def _beside(own: float | None, pilot: float) -> Entry:
    return Entry(number(own, 4).text, own, beside=Entry(f"{pilot:.3f}", pilot))


def _answer(holds: bool | None) -> Entry:
    emphasis: Emphasis = "best" if holds is False else ""
    return Entry("-" if holds is None else "yes" if holds else "NO", emphasis=emphasis)
