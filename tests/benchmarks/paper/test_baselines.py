"""The baselines: PyOD's detectors on ADBench's scaling, and DAGMM against its definition."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler

from benchmarks.paper import Peer
from benchmarks.paper.baselines import BASELINES
from benchmarks.paper.rows import Rows

PEERS = {peer.name: peer for peer in BASELINES}
# These two compile for half a minute; the others say the same.
QUICK = [name for name in PEERS if name not in ("CBLOF", "SOD", "DeepSVDD", "DAGMM")]


def test_the_baselines_are_the_fourteen_of_the_paper() -> None:
    assert list(PEERS) == [
        "IForest", "OCSVM", "CBLOF", "COF", "COPOD", "ECOD", "HBOS",
        "KNN", "LODA", "LOF", "PCA", "SOD", "DeepSVDD", "DAGMM",
    ]  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_baseline_is_pyods_default_on_min_max_scaled_rows(name: str, rows: Rows) -> None:
    detector_class = getattr(importlib.import_module(f"pyod.models.{name.lower()}"), name)
    seeded = {"random_state": 3} if name in ("IForest", "LODA", "PCA") else {}
    scaler = MinMaxScaler().fit(rows.train)
    detector = detector_class(**seeded)
    detector.fit(scaler.transform(rows.train))
    expected = detector.decision_function(scaler.transform(rows.test))
    scored = PEERS[name].score(rows, "default", seed=3)
    np.testing.assert_array_equal(scored.abnormality, expected)
    assert scored.error is None


@pytest.mark.parametrize("name", ["COF", "LOF"])
def test_neighbour_study_has_the_papers_values(name: str) -> None:
    values = [10, 15, 18, 20, 22, 25]
    configs = PEERS[name].configs
    assert [configs[f"k{k}"] for k in values] == [{"n_neighbors": k} for k in values]


def test_leaf_sizes_do_not_change_lof(rows: Rows) -> None:
    default, leaf = (PEERS["LOF"].score(rows, name, seed=1) for name in ("default", "leaf10"))
    np.testing.assert_allclose(leaf.abnormality, default.abnormality, rtol=1e-12)


@pytest.mark.parametrize("name", QUICK)
def test_same_seed_gives_the_same_scores(name: str, rows: Rows) -> None:
    one, two = (PEERS[name].score(rows, "default", seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.abnormality, two.abnormality)


def test_detectors_of_both_conventions_are_oriented_alike(rows: Rows) -> None:
    sklearn_peer = Peer("forest", IsolationForest)
    for peer in (sklearn_peer, PEERS["IForest"]):
        abnormality = peer.score(rows, "default", seed=1).abnormality
        # anomalies lie further out, so that a detector turned round is below 0.5
        assert roc_auc_score(rows.truth, abnormality) > 0.5


class TestDAGMM:
    """Against its definition; needs PyTorch."""

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch", reason='pip install "setatoms[deep]"')

    def test_energy_is_minus_the_log_density_of_the_mixture(self) -> None:
        import torch
        from scipy.special import logsumexp
        from scipy.stats import multivariate_normal

        from benchmarks.paper.dagmm import Mixture, energy

        rng = np.random.default_rng(0)
        factors = rng.normal(size=(2, 3, 3))
        covariances = factors @ factors.transpose(0, 2, 1) + np.eye(3)
        weights, means, z = np.array([0.3, 0.7]), rng.normal(size=(2, 3)), rng.normal(size=(9, 3))
        logs = [
            np.log(w) + multivariate_normal(mean, covariance).logpdf(z)
            for w, mean, covariance in zip(weights, means, covariances, strict=True)
        ]
        ours = energy(torch.tensor(z), Mixture(*map(torch.tensor, (weights, means, covariances))))
        # double precision, well-conditioned covariances
        np.testing.assert_allclose(ours.numpy(), -logsumexp(logs, axis=0), rtol=1e-10)

    def test_mixture_of_sure_members_has_their_means_and_covariances(self) -> None:
        import torch

        from benchmarks.paper.dagmm import fit_mixture

        z = np.random.default_rng(1).normal(size=(50, 3))
        sure = np.eye(2)[np.repeat([0, 1], [20, 30])]
        mixture = fit_mixture(torch.tensor(z), torch.tensor(sure))
        np.testing.assert_allclose(mixture.weights, [0.4, 0.6])
        np.testing.assert_allclose(mixture.means[1], z[20:].mean(axis=0))
        # the ridge that keeps covariances invertible is 1e-6
        expected = np.cov(z[:20].T, bias=True)
        np.testing.assert_allclose(mixture.covariances[0], expected, atol=1.1e-6)

    def test_training_lowers_the_loss(self, rows: Rows) -> None:
        import torch

        from benchmarks.paper.dagmm import DAGMM

        X = MinMaxScaler().fit_transform(rows.train)
        tensor = torch.as_tensor(X, dtype=torch.float32)
        before, after = (DAGMM(epochs=epochs).fit(X) for epochs in (0, 50))
        assert after._loss(tensor) < before._loss(tensor)

    def test_same_seed_gives_the_same_scores_and_spares_the_global_stream(self, rows: Rows) -> None:
        import torch

        from benchmarks.paper.dagmm import DAGMM

        torch.manual_seed(1)
        expected = torch.rand(3)
        torch.manual_seed(1)
        one, two = (DAGMM(epochs=3, random_state=4).fit(rows.train) for _ in range(2))
        np.testing.assert_array_equal(
            one.decision_function(rows.test), two.decision_function(rows.test)
        )
        assert torch.equal(torch.rand(3), expected)
