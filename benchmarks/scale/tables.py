"""A large table in Parquet, made part by part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

N_FEATURES, N_CAUSES = 20, 6
ROWS_OF_A_FILE = 500_000
_ROWS_OF_A_GROUP = 125_000


def make_rows(n_rows: int, seed: int) -> NDArray[np.float32]:
    """Return rows (n_rows, 20) with six causes, the same for all seeds; some values are swapped."""
    mix = np.random.default_rng(0).standard_normal((N_CAUSES, N_FEATURES), dtype=np.float32)
    rng = np.random.default_rng([1, seed])
    X = rng.standard_normal((n_rows, N_CAUSES), dtype=np.float32) @ mix
    X += 0.2 * rng.standard_normal(X.shape, dtype=np.float32)
    wrong = rng.choice(n_rows, n_rows // 1000, replace=False)
    X[wrong, 3] = rng.permutation(X[wrong, 3])
    return X


def write_table(folder: Path, n_rows: int) -> list[Path]:
    """Write that many rows to Parquet files, unless they are there, and return these."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for seed, start in enumerate(range(0, n_rows, ROWS_OF_A_FILE)):
        file = folder / f"part-{seed:03d}.parquet"
        files.append(file)
        if not file.exists():
            X = make_rows(min(ROWS_OF_A_FILE, n_rows - start), seed)
            columns = {f"c{j:02d}": X[:, j] for j in range(N_FEATURES)}
            draft = file.with_suffix(".draft")
            pq.write_table(pa.table(columns), draft, row_group_size=_ROWS_OF_A_GROUP)
            draft.rename(file)
    return files
