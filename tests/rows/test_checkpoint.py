"""A fit that ends early goes on from its checkpoint, and the model is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import setatoms
from setatoms.estimators import checkpoint as checkpoints
from setatoms.estimators.checkpoint import CheckpointError, Stage
from setatoms.rows import MemoryRows

RNG = np.random.default_rng(1)
X = RNG.normal(size=(600, 2)) @ RNG.normal(size=(2, 5)) + 0.1 * RNG.normal(size=(600, 5))
HOLED = np.where(RNG.random(X.shape) < 0.05, np.nan, X)

MAKERS = {
    "ensemble": lambda **more: setatoms.SetAtomEnsemble(budget="fast", random_state=0, **more),
    "gaussian": lambda **more: setatoms.GaussianAtomDetector(n_iter=12, random_state=0, **more),
    "cone": lambda **more: setatoms.ConeAtomDetector(n_iter=12, random_state=0, **more),
    "vector": lambda **more: setatoms.VectorAtomDetector(n_iter=4, random_state=0, **more),
}


class StoppedError(Exception):
    """The process ends here."""


@pytest.mark.parametrize("writes", [1, 2, 4, 7, 11])
@pytest.mark.parametrize("table", [X, HOLED], ids=["whole", "holed"])
@pytest.mark.parametrize("kind", MAKERS)
def test_a_fit_goes_on_where_it_ended(
    kind: str, table: np.ndarray, writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_SECONDS", 0.0)
    make, folder, left = MAKERS[kind], tmp_path / "done", [writes]
    wanted = make(missing="fill").fit(table)
    write = Stage.write

    def write_some(self: Stage, what: str, value: object) -> None:
        if not left[0]:
            raise StoppedError
        left[0] -= 1
        write(self, what, value)

    with monkeypatch.context() as patch:
        patch.setattr(Stage, "write", write_some)
        try:
            make(missing="fill", n_jobs=1).fit(table, checkpoint=folder)
        except StoppedError:
            assert any(folder.iterdir())
    again = make(missing="fill").fit(table, checkpoint=folder)
    assert not folder.exists()
    assert again.offset_ == wanted.offset_
    np.testing.assert_array_equal(again.score_samples(table), wanted.score_samples(table))


def test_what_is_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, make = tmp_path / "done", MAKERS["ensemble"]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "remove", lambda _: None)
        make().fit(X, checkpoint=folder)
    members = {file.name: file.stat().st_mtime_ns for file in folder.glob("all-member-*")}
    assert len(members) == 6
    with monkeypatch.context() as patch:
        patch.setattr(Stage, "write", lambda *_: pytest.fail("a member was learned again"))
        make().fit(X, checkpoint=folder)


@pytest.mark.parametrize(
    ("other", "table", "named"),
    [({"n_iter": 11}, X, "n_iter"), ({}, X + 1e-9, "rows"), ({}, X[:500], "n_rows")],
)
def test_that_of_another_fit_is_refused(
    other: dict[str, int], table: np.ndarray, named: str, tmp_path: Path
) -> None:
    make = MAKERS["ensemble"]
    checkpoints.Checkpoint(tmp_path / "done", make().set_params(**other), MemoryRows(table))
    with pytest.raises(CheckpointError, match=f"another fit: .*{named}"):
        make().fit(X, checkpoint=tmp_path / "done")


def test_that_of_another_detector_or_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints.Checkpoint(tmp_path / "cone", MAKERS["cone"](), MemoryRows(X))
    with pytest.raises(CheckpointError, match="another fit: estimator"):
        MAKERS["gaussian"]().fit(X, checkpoint=tmp_path / "cone")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "__version__", "0.1.0")
        checkpoints.Checkpoint(tmp_path / "old", MAKERS["cone"](), MemoryRows(X))
    with pytest.raises(CheckpointError, match="another fit: version"):
        MAKERS["cone"]().fit(X, checkpoint=tmp_path / "old")
    assert {path.name for path in tmp_path.iterdir()} == {"cone", "old"}


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CheckpointError, match="not empty and no checkpoint"):
        MAKERS["cone"]().fit(X, checkpoint=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_what_others_put_into_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    wanted = MAKERS["cone"]().fit(X)
    # a draft of a process that was killed
    (link / f".setatoms-{16 * 'a'}.part").write_bytes(b"{")
    assert MAKERS["cone"]().fit(X, checkpoint=link).offset_ == wanted.offset_
    assert not list(link.iterdir())
    checkpoints.Checkpoint(link, MAKERS["cone"](), MemoryRows(X))
    (link / "letter.txt").write_text("dear")
    assert MAKERS["cone"]().fit(X, checkpoint=link).offset_ == wanted.offset_
    assert [file.name for file in link.iterdir()] == ["letter.txt"]


def test_atoms_to_start_from_are_compared_to_the_last(tmp_path: Path) -> None:
    atoms = np.random.default_rng(0).normal(size=(300, 5))
    other = atoms.copy()
    other[150, 2] += 1.0
    assert repr(atoms) == repr(other)  # which leaves out the middle
    make = MAKERS["cone"]
    checkpoints.Checkpoint(tmp_path / "done", make(init=other), MemoryRows(X))
    with pytest.raises(CheckpointError, match="another fit: init"):
        checkpoints.Checkpoint(tmp_path / "done", make(init=atoms), MemoryRows(X))
    checkpoints.Checkpoint(tmp_path / "done", make(init=other.copy()), MemoryRows(X))


def test_whole_numbers_of_numpy_are_seeds_too(tmp_path: Path) -> None:
    checkpoints.Checkpoint(tmp_path / "done", MAKERS["cone"](), MemoryRows(X))
    detector = MAKERS["cone"]().set_params(random_state=np.int64(0))
    assert detector.fit(X, checkpoint=tmp_path / "done").offset_ == MAKERS["cone"]().fit(X).offset_


def test_what_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(CheckpointError, match="is no folder and cannot be made one"):
            MAKERS["cone"]().fit(X, checkpoint=place)


def test_a_seed_is_needed(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="whole number as random_state"):
        setatoms.ConeAtomDetector().fit(X, checkpoint=tmp_path / "done")
    assert not (tmp_path / "done").exists()


def test_a_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, make = tmp_path / "done", MAKERS["ensemble"]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "remove", lambda _: None)
        make().fit(X, checkpoint=folder)
    file = folder / "all-member-2.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=r"all-member-2.*is damaged"):
        make().fit(X, checkpoint=folder)
