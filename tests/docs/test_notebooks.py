"""The notebooks that the site offers run in Jupyter, and objects show themselves there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.slow

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
NOTEBOOKS = sorted((SITE / "_downloads").rglob("plot_*.ipynb"))
OBJECTS = """
import pandas as pd
from sklearn.datasets import load_iris
from setatoms import GaussianAtomDetector
table = load_iris(as_frame=True).data
table.index = [f"flower {i}" for i in range(len(table))]
detector = GaussianAtomDetector(n_atoms=6, n_iter=10, random_state=0, verbose=True).fit(table)
---
detector
---
detector.explain(table)
---
detector.explain(table).loc["flower 7"]
---
detector.counterfactual(table[:2], k=1)
"""


def run(notebook: Any, folder: Path) -> list[list[Any]]:
    """Run all cells in a kernel of its own; return the outputs of each cell with code."""
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_of_the_gallery_runs_and_draws(path: Path, tmp_path: Path) -> None:
    outputs = run(nbformat.read(path, as_version=4), tmp_path)
    kinds = {kind for cell in outputs for output in cell for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert not [output for cell in outputs for output in cell if output.get("name") == "stderr"]


def test_there_is_a_notebook_for_each_example(root: Path) -> None:
    if not (SITE / "index.html").is_file():
        if os.environ.get("SETATOMS_CI") == "1":
            pytest.fail("the notebooks are tested as the site has them: make docs")
        pytest.skip("no site in build/site: make docs")
    examples = {path.stem for path in (root / "docs" / "gallery").glob("plot_*.py")}
    assert {path.stem for path in NOTEBOOKS} == examples


def test_objects_show_themselves_in_a_notebook(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in OBJECTS.split("---")]
    fitted, *shown = run(nbformat.v4.new_notebook(cells=cells), tmp_path)
    assert any("text/html" in output.get("data", {}) for output in fitted)  # the progress bar
    pages = [cell[-1]["data"] for cell in shown]
    assert all("text/html" in page and len(page["text/plain"]) < 2000 for page in pages)
    detector, explanation, row, counterfactual = (page["text/html"] for page in pages)
    assert "150" in detector  # fitted sizes below scikit-learn's diagram
    assert "flower 7" in row
    assert all("<table" in page for page in (explanation, row, counterfactual))
