"""The demo and the command line, as a newcomer meets them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import setatoms
from setatoms import demo
from setatoms.cli import main
from setatoms.progress import Progress

# The tables of the demo are small on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.* rows per atom")


def test_demo_prints_an_auc_for_every_method_and_table(capsys: pytest.CaptureFixture[str]) -> None:
    demo.run(n_seeds=1)
    out = capsys.readouterr().out
    for name in demo.OURS | demo.OTHERS:
        line = re.search(rf"^  {re.escape(name)}(.*)$", out, flags=re.MULTILINE)
        assert line is not None, f"{name} is missing"
        areas = [float(word) for word in line[1].split()]
        assert len(areas) == len(demo.load_tables())
        assert all(0.0 <= area <= 1.0 for area in areas)


def test_demo_lists_the_five_most_anomalous_rows_worst_first() -> None:
    table = demo.load_tables()[0]
    lines = demo.most_anomalous(table)[-5:]
    scores = [float(line.split()[1]) for line in lines]
    assert scores == sorted(scores)
    for line in lines:
        assert any(column in line for column in table.columns)


def test_detectors_find_broken_relations_better_than_chance() -> None:
    table = demo.load_tables()[0]
    areas = demo.compare(table, demo.OURS, [0], Progress(1, "", enabled=False))
    # 171 unseen normal rows and 17 anomalies: by chance an AUC above 0.75 is
    # 3.4 standard deviations (0.073) away from 0.5.
    assert min(areas.values()) > 0.75


def test_demo_splits_keep_every_row_once() -> None:
    table = demo.load_tables()[1]
    rows = demo.split(table, seed=0)
    n_injected = round(0.1 * len(table.X))
    assert len(rows.train) + len(rows.test) == len(table.X) + n_injected
    assert 0 < rows.truth.sum() < n_injected


def test_version_option_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"setatoms {setatoms.__version__}\n"


def test_no_command_prints_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "demo" in capsys.readouterr().err


def test_unknown_command_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dance"]) == 2
    assert "demo" in capsys.readouterr().err


def test_interrupted_demo_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    # 130 is what shells report for a program ended by SIGINT
    assert main(["demo"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_python_dash_m_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "setatoms", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"setatoms {setatoms.__version__}\n"
