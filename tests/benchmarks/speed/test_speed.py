"""The benchmark's lines run and their results are right; how long they take is no test."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.command import main
from benchmarks.paper.configurations import AtomConfiguration
from benchmarks.speed import command, ensembles, growth, report
from benchmarks.speed.child import in_child
from benchmarks.speed.coders import cone_lines, gauss_lines, omp_lines
from benchmarks.speed.detectors import detector_lines
from benchmarks.speed.ensembles import ensemble_lines
from benchmarks.speed.goals import _GOALS, AtLeast, AtMost
from benchmarks.speed.learners import aksvd_lines
from benchmarks.speed.lines import Line, compare
from benchmarks.speed.paper_grid import Cell, _fit_and_score, all_cells
from benchmarks.speed.rounds import TRIALS, Contender, Kind, Skipped, Timing, alternate
from benchmarks.speed.settings import FULL, Settings
from benchmarks.speed.shapes import dependent_rows, random_problems, table_problems

TINY = Settings(threads=2, rounds=1, shrink=5_000, tables=())
PARTS: dict[str, Callable[[Settings], Iterator[Line]]] = {
    "omp": omp_lines,
    "cone": cone_lines,
    "gauss": gauss_lines,
    "aksvd": aksvd_lines,
}


@pytest.fixture(scope="module")
def coder_lines() -> dict[str, list[Line]]:
    """Return the lines of every coder and of AK-SVD, on a handful of signals."""
    return {name: list(part(TINY)) for name, part in PARTS.items()}


def cases(lines: Iterable[Line]) -> dict[str, dict[str, Line]]:
    """Return the lines that ran by case and contender."""
    found: dict[str, dict[str, Line]] = {}
    for line in lines:
        if line.skipped is None:
            found.setdefault(line.case, {})[line.contender] = line
    return found


def contender(name: str, kind: Kind = "ours", rows: int = 1) -> Contender:
    return Contender(name, kind, lambda: name, rows, lambda _: np.empty(0))


@pytest.mark.parametrize("part", PARTS)
def test_every_line_ran_or_says_why_not(coder_lines: dict[str, list[Line]], part: str) -> None:
    for line in coder_lines[part]:
        if line.skipped is None:
            assert line.rate is not None
            assert line.rate > 0
            assert line.kind == "machine" or "error" in line.results
            assert line.kind != "peer" or line.ratio is not None
        else:
            assert "not installed" in line.skipped


@pytest.mark.parametrize("part", ["omp", "cone", "aksvd"])
def test_every_goal_of_a_random_shape_has_its_line(
    coder_lines: dict[str, list[Line]], part: str
) -> None:
    names = {(line.part, line.case, line.contender) for line in coder_lines[part]}
    assert {key for key in _GOALS if key[0] == part} <= names


def test_every_goal_of_gauss_l1_has_its_line(coder_lines: dict[str, list[Line]]) -> None:
    contenders = {line.contender for line in coder_lines["gauss"]}
    for part, case, name in _GOALS:
        if part == "gauss":
            assert name in contenders
            assert case in {"A", *FULL.tables}


def test_peers_of_omp_reach_our_error(coder_lines: dict[str, list[Line]]) -> None:
    for lines in cases(coder_lines["omp"]).values():
        ours = lines["setatoms omp"].results["error"]
        for name in ("scikit-learn omp", "dictlearn omp (Numba)"):
            if name in lines:
                # the same selections and least squares: rounding alone
                assert lines[name].results["error"] == pytest.approx(ours, rel=1e-9)


def test_spams_chooses_the_second_atom_at_least_as_well(coder_lines: dict[str, list[Line]]) -> None:
    pytest.importorskip("spams")
    for case, lines in cases(coder_lines["omp"]).items():
        if case.endswith("s=2"):
            ours = lines["setatoms omp"].results["error"]
            assert lines["SPAMS omp"].results["error"] <= ours * (1 + 1e-9)


def test_the_peer_of_cone_omp_reaches_our_error(coder_lines: dict[str, list[Line]]) -> None:
    pytest.importorskip("dictlearn")
    for case, lines in cases(coder_lines["cone"]).items():
        if case.endswith("s=2"):
            errors = [line.results["error"] for line in lines.values() if line.kind != "machine"]
            # noise is inside no cone, where rules would differ: rounding alone
            assert errors == pytest.approx([errors[0]] * len(errors), rel=1e-9)


def test_the_lasso_of_both_peers_is_the_same(coder_lines: dict[str, list[Line]]) -> None:
    pytest.importorskip("spams")
    for lines in cases(coder_lines["gauss"]).values():
        spams = lines["SPAMS lasso"].results["error"]
        # scikit-learn stops at a duality gap of 1e-4 of the signal's square
        assert lines["scikit-learn lasso_cd"].results["error"] == pytest.approx(spams, rel=1e-2)


def test_gauss_l1_reports_how_far_it_is_from_converged(coder_lines: dict[str, list[Line]]) -> None:
    for lines in cases(coder_lines["gauss"]).values():
        # the bound to which the speed of Gauss-L1 is held
        assert abs(lines["setatoms tol=1e-7 (default)"].results["excess"]) <= 2e-4
        if "dictlearn L1" in lines:
            # the authors' coder minimises the same objective, so it cannot be far below
            assert lines["dictlearn L1"].results["excess"] > -1e-2


def test_learned_atoms_beat_those_they_start_from(coder_lines: dict[str, list[Line]]) -> None:
    start = cases(coder_lines["omp"])["A, s=2"]["setatoms omp"].results["error"]
    for lines in cases(coder_lines["aksvd"]).values():
        assert all(line.results["error"] < start for line in lines.values())


@pytest.mark.filterwarnings("ignore:.*rows per atom")
def test_detectors_of_a_made_table_find_its_anomalies() -> None:
    pytest.importorskip("pyod")
    lines = list(detector_lines(Settings(rounds=1, shrink=100, tables=())))
    assert [line.contender for line in lines if line.skipped] == ["COF", "OCSVM"]
    for line in lines:
        if line.kind == "ours":
            # broken relations of nine causes in 27 features leave large errors
            assert line.results["AUC"] > 0.9
            assert line.share is not None


@pytest.mark.filterwarnings("ignore:.*fewer than 10 rows per feature:UserWarning")
def test_ensembles_grow_and_do_not_depend_on_threads() -> None:
    lines = list(ensemble_lines(Settings(threads=2, rounds=1, shrink=40, tables=())))
    assert [line.case for line in lines] == [
        *["50 to 500 rows"] * 2, *["6 to 60 members"] * 2, *["threads"] * 2
    ]  # fmt: skip
    found = {line.contender: line for line in lines}
    for small, large in (("50 rows", "500 rows"), ("6 members", "60 members")):
        # one round each, so the median over rounds is that of this one
        (few,), (many,) = found[small].rounds, found[large].rounds
        assert found[large].results["growth"] == many / few
    assert found["all threads"].results["difference"] == 0


@pytest.mark.filterwarnings("ignore:.*fewer than 10 rows per feature:UserWarning")
def test_every_ensemble_is_timed_on_a_table(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyod", reason="the ensembles of others are PyOD's")
    monkeypatch.setenv("SETATOMS_DATA", str(shared / "adbench"))
    monkeypatch.setattr(ensembles, "TABLE", "wine")
    settings = Settings(threads=2, rounds=1, shrink=100, tables=("wine",))
    lines = {line.contender: line for line in ensemble_lines(settings) if line.case == "wine"}
    assert set(lines) == {
        *(f"setatoms {budget}" for budget in ("balanced", "fast", "best")),
        *("LOF", "COF", "LOF ensemble", "COF ensemble"),
    }
    assert all(line.results["AUC"] > 0.5 for line in lines.values())


def test_real_tables_come_with_unit_atoms_and_z_scores(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SETATOMS_DATA", str(shared / "adbench"))
    (problem,) = table_problems(Settings(tables=("wine",)))
    assert problem.X.std(axis=0) == pytest.approx(1, abs=1e-9)
    assert np.linalg.norm(problem.atoms, axis=1) == pytest.approx(1, abs=1e-9)
    assert len(problem.atoms) == len(problem.radii) == 3 * problem.X.shape[1]


def test_random_shapes_are_those_announced() -> None:
    shapes = [problem.shape for problem in random_problems(Settings(shrink=100))]
    assert shapes == ["70 x 27, n=81", "500 x 64, n=256", "10,000 x 16, n=48"]


def test_made_rows_do_not_depend_on_how_they_are_filled() -> None:
    assert np.array_equal(dependent_rows(10_500, 6)[:10_000], dependent_rows(10_000, 6))


def test_contenders_are_timed_in_turn() -> None:
    order: list[str] = []

    def record(name: str) -> Contender:
        one = contender(name)
        return Contender(
            name, one.kind, lambda: order.append(name), 1, one.read, warm_up=lambda: None
        )

    timings = alternate([record("a"), record("b")], rounds=3)
    assert order == ["a", "b"] * 3
    assert [len(timing.rounds) for timing in timings] == [3, 3]


def test_a_call_that_is_held_up_does_not_decide_how_often_a_fast_one_is_repeated() -> None:
    calls = []

    def call() -> None:
        assert not gc.isenabled()  # which would hold up a call among many
        calls.append(len(calls))
        time.sleep(0.1 if len(calls) == 2 else 0.002)

    alternate([Contender("ours", "ours", call, 1, lambda _: np.empty(0))], rounds=1)
    assert len(calls) > 1 + TRIALS + 10
    assert gc.isenabled()


def test_ratios_compare_rates_and_not_times() -> None:
    timings = [
        Timing(contender("ours", rows=1_000), 1.0, (1.0,), None),
        Timing(contender("slow, few rows", "peer", rows=10), 1.0, (1.0,), None),
        Timing(contender("fast", "peer", rows=1_000), 2.0, (2.0,), None),
    ]
    lines = compare("part", "case", "shape", timings, [Skipped("absent", "why")])
    assert [line.ratio for line in lines] == [2.0, 100.0, 2.0, None]
    assert lines[-1].skipped == "why"


def test_ratios_are_taken_round_by_round() -> None:
    # the machine was ten times slower in the second round
    ours = Timing(contender("ours", rows=10), 1.0, (1.0, 10.0, 1.1), None)
    peer = Timing(contender("peer", "peer", rows=10), 3.0, (3.0, 30.0, 2.2), None)
    assert ours.times_as_fast(peer) == pytest.approx(3.0)
    assert peer.times_as_fast(ours) == pytest.approx(1 / 3)


def test_verdicts_follow_the_bounds() -> None:
    assert [AtLeast("ratio", 2, 5).judge(x) for x in (1.9, 2, 5)] == ["FAIL", "pass", "aim"]
    assert [AtMost("seconds", 2, 1).judge(x) for x in (2.1, 2, 1)] == ["FAIL", "pass", "aim"]


def test_a_goal_reads_its_own_quantity() -> None:
    assert Line("omp", "A, s=2", "SPAMS omp", ratio=5.0).verdict == "pass"
    assert Line("paper", "27,000 fits", "all methods", results={"minutes": 20}).verdict == "aim"
    assert Line("omp", "A, s=2", "SPAMS omp", skipped="absent").verdict == "not run"
    assert Line("omp", "C, s=2", "SPAMS omp", ratio=3.0).verdict == ""


def test_growth_compares_each_size_with_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(task: str, rows: int, rounds: int, threads: int) -> dict[str, float]:
        return {"seconds": 1e-6 * rows, "input": 8.0 * 27 * rows, "beyond": 27.0 * rows}

    monkeypatch.setattr(growth, "in_child", found)
    lines = list(growth.growth_lines(FULL))
    times = [line.results.get("growth") for line in lines if line.part == "growth"]
    assert times == pytest.approx([None, 10, 10, None, 10, 10])
    assert {line.results["of input"] for line in lines if line.part == "memory"} == {1 / 8}
    assert sum(line.goal is not None for line in lines) == 4


def test_a_child_measures_time_and_memory() -> None:
    found = in_child("score", 20_000, 1, 2)
    assert found["input"] == 20_000 * 27 * 8
    assert found["seconds"] > 0
    # at least the scores are new
    assert found["beyond"] >= 20_000 * 8


def test_a_child_that_fails_says_how() -> None:
    with pytest.raises(RuntimeError, match="no_such_task"):
        in_child("no_such_task")


def test_the_grid_of_the_paper_has_27_000_cells() -> None:
    cells = all_cells()
    assert len(cells) == len(set(cells)) == 27_000


@pytest.mark.filterwarnings("ignore:.*rows per atom")
@pytest.mark.parametrize(
    "method", ["Gauss-L1", "DLG-L1-adapt (0-norm)", "Cone-DL", "DLC-D-adapt (1-norm)"]
)
def test_a_cell_of_the_paper_fits(method: str) -> None:
    X = dependent_rows(200, 6)
    assert (
        _fit_and_score(
            Cell("made", method, AtomConfiguration(2.0, (0.01, 0.1), "50-50"), 1), (X, X)
        )
        > 0
    )


def test_json_gives_the_lines_back(coder_lines: dict[str, list[Line]]) -> None:
    about = {"command": "python -m benchmarks", "complete": True}
    lines, said = report.read_json(report.as_json(coder_lines["omp"], about))
    assert said == about
    assert list(map(report.text_row, lines)) == list(map(report.text_row, coder_lines["omp"]))


def test_the_command_prints_writes_and_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = Line("omp", "A, s=2", "SPAMS omp", "peer", rows=10, seconds=0.1, ratio=5.0)
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setitem(command.PARTS, "omp", lambda _: iter([line]))
    page, written = tmp_path / "page.md", tmp_path / "deep" / "results.json"
    page.write_text("<!-- results: begin --><!-- results: end -->", encoding="utf-8")
    options = ["--quick", "--only", "omp", "--json", str(written), "--write", str(page)]
    assert main(["speed", *options]) == 0
    assert "1 of 1 goals reached" in capsys.readouterr().out
    assert report.read_json(written.read_text(encoding="utf-8"))[0][0].ratio == 5.0
    text = page.read_text(encoding="utf-8")
    assert "Not a complete run" in text
    assert "| omp: A, s=2 | SPAMS omp | 5 x | ≥ 4; 6 | pass |" in text
    assert main(["speed", "--read", str(written)]) == 0
    assert "SPAMS omp" in capsys.readouterr().out


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["speed", "--only", "nothing"]) == 2
    assert "choose from omp, cone" in capsys.readouterr().err
