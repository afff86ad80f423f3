"""ADBench's tables: find them on disk or fetch them, always checked against their SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setatoms.datasets.numeric_npz import load_numbers

# The tables of our benchmark; `fetch_adbench` knows the rest of the collection too.
ADBENCH_DATASETS = (
    "annthyroid",
    "breastw",
    "cardio",
    "Cardiotocography",
    "fault",
    "glass",
    "Hepatitis",
    "Ionosphere",
    "landsat",
    "letter",
    "Lymphography",
    "magic.gamma",
    "mammography",
    "musk",
    "PageBlocks",
    "pendigits",
    "Pima",
    "satellite",
    "satimage-2",
    "SpamBase",
    "Stamps",
    "thyroid",
    "vertebral",
    "vowels",
    "Waveform",
    "WBC",
    "Wilt",
    "wine",
    "WPBC",
    "yeast",
)

_SOURCE = "https://raw.githubusercontent.com/Minqi824/ADBench/main/adbench/datasets/Classical/"


def fetch_adbench(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return one of ADBench's classical tables, downloading it on first use.

    A file is looked for in the folder ``$SETATOMS_DATA``, then in the cache
    (``$XDG_CACHE_HOME/setatoms/adbench``, by default below ``~/.cache``), then downloaded into
    the cache, which needs the extra ``bench``. Wherever it comes from, its SHA-256 must be the
    known one.

    Parameters
    ----------
    name : str
        Such as ``"pendigits"`` or ``"28_pendigits"``; upper and lower case are the same.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        0 for a normal row, 1 for an anomaly.

    Raises
    ------
    ValueError
        When there is no such table, or its file is not the known one.
    ImportError
        When the file must be downloaded and pooch is not installed.
    ConnectionError
        When the download fails; the message says what to download from where, and where to put it.

    See Also
    --------
    adbench_anomalies : Replace the anomalies of a table by synthetic ones.

    Examples
    --------
    >>> from setatoms.datasets import fetch_adbench
    >>> X, y = fetch_adbench("pendigits")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (6870, 16)
    """
    file_name = _find_file_name(name)
    path = _find_local(file_name)
    if path is None:
        path = _download(file_name)
    _check_hash(path)
    X, y = load_numbers(path, "X", "y")
    return X, y.ravel().astype(np.int64)


@cache
def _known_hashes() -> dict[str, str]:
    """Return file name -> SHA-256 of the whole collection."""
    text = files("setatoms.datasets").joinpath("adbench_sha256.json").read_text(encoding="ascii")
    hashes: dict[str, str] = json.loads(text)
    return hashes


def _find_file_name(name: str) -> str:
    """Return the file of a table given with or without its number, in any case."""
    stems = [file_name.removesuffix(".npz") for file_name in _known_hashes()]
    spellings = {spelling.lower(): stem for stem in stems for spelling in (stem, _short(stem))}
    wanted = name.lower().removesuffix(".npz")
    if wanted in spellings:
        return f"{spellings[wanted]}.npz"
    near = get_close_matches(wanted, spellings, n=3, cutoff=0.5)
    choice = dict.fromkeys(_short(spellings[spelling]) for spelling in near)
    hint = (
        f"did you mean {' or '.join(choice)}?"
        if choice
        else f"choose from {', '.join(map(_short, stems))}"
    )
    raise ValueError(f"ADBench has no table {name!r}; {hint}")


def _short(stem: str) -> str:
    """Return ``"pendigits"`` of ``"28_pendigits"``."""
    return stem.split("_", maxsplit=1)[1]


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "setatoms" / "adbench"


def _find_local(file_name: str) -> Path | None:
    """Return the file in ``$SETATOMS_DATA`` or else the cache, or None."""
    own = os.environ.get("SETATOMS_DATA")
    folders = [Path(own), _cache_folder()] if own else [_cache_folder()]
    return next((folder / file_name for folder in folders if (folder / file_name).is_file()), None)


def _download(file_name: str) -> Path:
    """Fetch a file into the cache and return its path."""
    by_hand = (
        f"download {_SOURCE}{file_name} (repository Minqi824/ADBench on GitHub, folder "
        f"adbench/datasets/Classical) and put it into {_cache_folder()} or the folder that "
        "$SETATOMS_DATA names"
    )
    try:
        import pooch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            f'fetching {file_name} needs pooch: pip install "setatoms[bench]"; or {by_hand}'
        ) from error
    try:
        return Path(
            pooch.retrieve(
                f"{_SOURCE}{file_name}",
                known_hash=f"sha256:{_known_hashes()[file_name]}",
                fname=file_name,
                path=_cache_folder(),
            )
        )
    except OSError as error:
        raise ConnectionError(f"could not fetch {file_name} ({error}); {by_hand}") from error


def _check_hash(path: Path) -> None:
    """Refuse a file that is not the known one, byte for byte."""
    expected = _known_hashes()[path.name]
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != expected:
        raise ValueError(
            f"{path} is damaged or another version: its SHA-256 is {actual}, expected {expected}; "
            "delete it to fetch it again"
        )
