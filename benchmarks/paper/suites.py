"""Which cells a suite has, and how to choose among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from benchmarks.paper.baselines import BASELINES
from benchmarks.paper.cells import Cell
from benchmarks.paper.ensembles import ENSEMBLE, NEIGHBOUR_ENSEMBLES
from benchmarks.paper.methods import PAPER_METHODS, Method
from benchmarks.paper.near_names import choose
from benchmarks.paper.peers import own_method
from benchmarks.paper.rows import ANOMALIES
from benchmarks.paper.sources import AdbenchTable, CsvTable, Source
from benchmarks.paper.work import Task
from setatoms.datasets import ADBENCH_DATASETS

_OF_THE_PAPER: tuple[Method, ...] = (*PAPER_METHODS, *BASELINES)
_ALL: tuple[Method, ...] = (*_OF_THE_PAPER, ENSEMBLE, *NEIGHBOUR_ENSEMBLES)
METHODS = {method.name: method for method in _ALL}

_EXTRAS = {"pyod": "bench", "torch": "deep"}


@dataclass(frozen=True)
class Suite:
    """A choice of tables, methods and seeds, and which configurations go with a seed."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    configs: Callable[[Method, int], tuple[str, ...]]
    anomalies: tuple[str, ...] = ("dependency",)


def _paper_configs(method: Method, seed: int) -> tuple[str, ...]:
    return method.studied if seed == 1 else method.repeated


def _repeated(method: Method, _: int) -> tuple[str, ...]:
    return method.repeated


def _starts(method: Method, _: int) -> tuple[str, ...]:
    """Return the repeated configurations from each of the starts they have."""
    return tuple(name for name in method.configs if name.startswith(method.repeated))


def _ablations(method: Method, seed: int) -> tuple[str, ...]:
    """Return the budgets and single members, and with the first seed the ablations.

    An ensemble of COF, which takes longest, has the first seed alone.
    """
    if seed == 1:
        return method.studied if method is ENSEMBLE else method.repeated
    return () if method.name == "COF ensemble" else method.repeated


def _all_views(method: Method, _: int) -> tuple[str, ...]:
    return ("all views",) if method is ENSEMBLE else method.repeated


def _relation_alone(method: Method, _: int) -> tuple[str, ...]:
    configs = {ENSEMBLE.name: "balanced", _ADAPTIVE[0]: "n3 r0.04-0.12 linear"}
    return (configs[method.name],) if method.name in configs else method.repeated


# Time grows with the square of the rows, or they are networks.
_SLOW = ("COF", "SOD", "DeepSVDD", "DAGMM")
_QUICK = tuple(peer.name for peer in BASELINES if peer.name not in _SLOW)
_OF_AT_MOST_3000_ROWS = (
    *("Cardiotocography", "Hepatitis", "Ionosphere", "Lymphography", "Pima", "Stamps", "WBC"),
    *("WPBC", "breastw", "cardio", "fault", "glass", "letter", "vertebral", "vowels", "wine"),
    "yeast",
)

# They compile for most of a minute, PyTorch is large.
_NOT_IN_SMOKE = ("CBLOF", "SOD", "DeepSVDD", "DAGMM")
_ADAPTIVE = ("DLG-L1-adapt (1-norm)", "DLC-D-adapt (1-norm)")

SUITES: dict[str, Suite] = {
    "paper": Suite(
        ADBENCH_DATASETS,
        tuple(method.name for method in _OF_THE_PAPER),
        (1, 2, 3, 4, 5),
        _paper_configs,
    ),
    "ensemble": Suite(
        ADBENCH_DATASETS,
        (ENSEMBLE.name, *(peer.name for peer in NEIGHBOUR_ENSEMBLES)),
        (1, 2, 3, 4, 5),
        _ablations,
    ),
    "starts": Suite(ADBENCH_DATASETS, _ADAPTIVE, (1,), _starts),
    "kinds": Suite(
        ADBENCH_DATASETS, (ENSEMBLE.name, *_QUICK), (1, 2, 3, 4, 5), _all_views, ANOMALIES
    ),
    "kinds-slow": Suite(
        _OF_AT_MOST_3000_ROWS, (ENSEMBLE.name, *_QUICK, *_SLOW), (1,), _all_views, ANOMALIES
    ),
    "relation": Suite(
        ADBENCH_DATASETS,
        (ENSEMBLE.name, _ADAPTIVE[0], *_QUICK),
        (1,),
        _relation_alone,
        tuple(kind for kind in ANOMALIES if kind != "dependency"),
    ),
    "smoke": Suite(
        ("glass", "vertebral", "wine"),
        (
            *("AK-SVD + OMP", "DL-Gauss-L1", "Cone-DL-D", *_ADAPTIVE),
            *(peer.name for peer in BASELINES if peer.name not in _NOT_IN_SMOKE),
        ),
        (1, 2),
        _repeated,
    ),
}


def plan(
    suite: str = "paper",
    *,
    datasets: Iterable[str | Source] | None = None,
    methods: Iterable[str | Method] | None = None,
    configs: Iterable[str] | None = None,
    seeds: Sequence[int] | None = None,
    anomalies: Iterable[str] | None = None,
    skip: Iterable[str] = (),
) -> list[Task]:
    """List the cells of a suite, or of a choice from it.

    Parameters
    ----------
    suite : str, default="paper"
        What is taken where nothing else is said. ``"paper"``: all tables, methods and baselines;
        with seed 1 every configuration, with seeds 2 to 5 the paper's best. ``"smoke"``: three
        small tables. ``"starts"``: the two best methods from five starts on the tables of seed 1.
        ``"ensemble"``: `SetAtomEnsemble` beside its members and ensembles of neighbour methods;
        its ablations with seed 1, its budgets with all. ``"kinds"``: the same with all views beside
        the quick baselines, on all kinds of anomalies; ``"kinds-slow"``: beside all baselines, on
        small tables. ``"relation"``: methods that look at relations alone on the other kinds.
    datasets : iterable of str or Source, optional
        Names or patterns of ADBench's tables, paths of CSV files, or sources.
    methods : iterable of str or Method, optional
        Names or patterns, ``"module:name"`` of one's own, or methods such as `Peer`.
    configs : iterable of str, optional
        Names or patterns, such as ``"n3 *"``; taken with every seed. A method that has none of
        them is left out.
    seeds : sequence of int, optional
        Seeds of generation, split and initialisation.
    anomalies : iterable of str, optional
        Kinds of anomalies: those of `setatoms.datasets.adbench_anomalies`, and ``"real"``. By
        default those of the suite, which is mostly ``"dependency"`` alone.
    skip : iterable of str, default=()
        Methods to leave out: names or patterns.

    Returns
    -------
    list of Task
        The cells with what they need, those on the same table together.

    Raises
    ------
    ValueError
        When a name is unknown; the message has the nearest ones.
    ImportError
        When a method needs a package that is not installed.

    Examples
    --------
    >>> [task.cell.config for task in plan(datasets=["wine"], methods=["Cone-DL"], seeds=[2])]
    ['n4 r0.04-0.12 linear', 'n4 r0.04-0.12 50-50', 'n4 r0.04-0.12 80-20']
    """
    base = SUITES[choose("suite", [suite], SUITES)[0]]
    sources = _find_sources(base.datasets if datasets is None else datasets)
    chosen = _without(_find_methods(base.methods if methods is None else methods), skip)
    check_installed(chosen)
    wanted = base.anomalies if anomalies is None else anomalies
    kinds = choose("kind of anomalies", wanted, ANOMALIES)
    config_names = _config_chooser(base, chosen, configs)
    return [
        Task(Cell(source.name, kind, seed, method.name, config), source, method)
        for kind, source, seed, method in product(
            kinds, sources, base.seeds if seeds is None else seeds, chosen
        )
        for config in config_names(method, seed)
    ]


def check_installed(methods: Iterable[Method]) -> None:
    """Raise an ImportError if a method needs a package that is not installed."""
    for method in methods:
        missing = [package for package in method.needs if find_spec(package) is None]
        if missing:
            extra = _EXTRAS.get(missing[0])
            package = missing[0] if extra is None else f'"setatoms[{extra}]"'
            raise ImportError(
                f"{method.name} needs {missing[0]}: pip install {package}, or leave it out with "
                f"--skip {method.name}"
            )


def _find_sources(wanted: Iterable[str | Source]) -> list[Source]:
    sources: dict[str, Source] = {}
    for word in wanted:
        if not isinstance(word, str):
            found: list[Source] = [word]
        elif word.lower().endswith(".csv"):
            found = [CsvTable(Path(word).absolute())]
        else:
            found = [AdbenchTable(name) for name in choose("dataset", [word], ADBENCH_DATASETS)]
        sources |= {source.name: source for source in found}
    return list(sources.values())


def _find_methods(wanted: Iterable[str | Method]) -> list[Method]:
    methods: dict[str, Method] = {}
    for word in wanted:
        if not isinstance(word, str):
            found = [word]
        elif ":" in word:
            found = [own_method(word)]
        else:
            found = [METHODS[name] for name in choose("method", [word], METHODS)]
        methods |= {method.name: method for method in found}
    return list(methods.values())


def _without(methods: list[Method], skip: Iterable[str]) -> list[Method]:
    left_out = choose("method", skip, (*METHODS, *(method.name for method in methods)))
    return [method for method in methods if method.name not in left_out]


def _config_chooser(
    suite: Suite, methods: list[Method], configs: Iterable[str] | None
) -> Callable[[Method, int], tuple[str, ...]]:
    """Return the function from method and seed to the names of configurations."""
    if configs is None:
        return suite.configs
    known = [name for method in methods for name in method.configs]
    chosen = set(choose("configuration", configs, known))
    return lambda method, _: tuple(name for name in method.configs if name in chosen)
