"""The 14 baselines of the paper, with PyOD's defaults as ADBench uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.paper.configurations import LEAVES, NEIGHBOURS
from benchmarks.paper.peers import Peer

_DEFAULT: dict[str, dict[str, Any]] = {"default": {}}


def _pyod(
    name: str,
    configs: Mapping[str, Mapping[str, Any]] = _DEFAULT,
    *,
    needs: tuple[str, ...] = (),
    compiles: bool = False,
) -> Peer:
    module = {"DeepSVDD": "deep_svdd"}.get(name, name.lower())
    return Peer(name, f"pyod.models.{module}:{name}", configs, ("pyod", *needs), compiles)


BASELINES: tuple[Peer, ...] = (
    _pyod("IForest"),
    _pyod("OCSVM"),
    _pyod("CBLOF", compiles=True),
    _pyod("COF", _DEFAULT | NEIGHBOURS),
    _pyod("COPOD"),
    _pyod("ECOD"),
    _pyod("HBOS", compiles=True),
    _pyod("KNN"),
    _pyod("LODA"),
    _pyod("LOF", _DEFAULT | NEIGHBOURS | LEAVES),
    _pyod("PCA"),
    _pyod("SOD", compiles=True),
    _pyod("DeepSVDD", needs=("torch",)),
    Peer("DAGMM", "benchmarks.paper.dagmm:DAGMM", _DEFAULT, ("torch",)),
)
