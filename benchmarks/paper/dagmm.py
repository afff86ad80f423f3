"""DAGMM, a baseline that PyOD lacks, on PyTorch. Needs the extra ``deep``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from benchmarks.paper.sources import Array

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError('DAGMM needs PyTorch: pip install "setatoms[deep]"') from error

_RIDGE = 1e-6  # keeps the covariance of rows that coincide invertible


class Mixture(NamedTuple):
    """A Gaussian mixture: weights (k,), means (k, d) and covariances (k, d, d)."""

    weights: Tensor
    means: Tensor
    covariances: Tensor


@dataclass
class DAGMM:
    r"""Deep autoencoding Gaussian mixture model.

    An autoencoder compresses a row :math:`x` to :math:`z`: its code, the relative error
    :math:`\|x - x'\| / \|x\|` and the cosine of :math:`x` and :math:`x'`. A second network gives
    the membership of :math:`z` in each component of a Gaussian mixture. All is learned at once by

    .. math::
        \frac1N \sum_i \|x_i - x_i'\|^2 + \frac{w_1}N \sum_i E(z_i) + w_2 \sum_{k,j}
        \frac1{\Sigma_{k,jj}}

    and the score is the energy :math:`E(z) = -\log p(z)`.

    Parameters
    ----------
    hidden : tuple of int, default=(60, 30, 10, 1)
        Widths of the encoder; the decoder is its mirror image.
    n_components : int, default=4
        Components of the mixture.
    epochs, batch_size, learning_rate : int, int, float, default=200, 256, 1e-4
        Training, by Adam.
    energy_weight, covariance_weight : float, default=0.1, 0.005
        :math:`w_1` and :math:`w_2`.
    max_gradient : float, default=5.0
        Norm to which gradients are cut.
    random_state : int, default=0
        Seed of the weights, the order of the rows and dropout.

    References
    ----------
    B. Zong et al.: Deep autoencoding Gaussian mixture model for unsupervised anomaly detection.
    ICLR 2018.
    """

    hidden: tuple[int, ...] = (60, 30, 10, 1)
    n_components: int = 4
    epochs: int = 200
    batch_size: int = 256
    learning_rate: float = 1e-4
    energy_weight: float = 0.1
    covariance_weight: float = 0.005
    max_gradient: float = 5.0
    random_state: int = 0

    def fit(self, X: Array, y: object = None) -> Self:
        """Learn from the rows of `X` (n_samples, n_features)."""
        rows = torch.as_tensor(X, dtype=torch.float32)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            self._build(rows.shape[1])
            self._train(rows)
        self.mixture_ = self._mixture_of(rows)
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the energy of each row of `X` (n_rows,), higher for more abnormal rows."""
        rows = torch.as_tensor(X, dtype=torch.float32)
        with torch.no_grad():
            z, _ = self._compress(rows)
            return np.asarray(energy(z.double(), self.mixture_).numpy())

    def _build(self, n_features: int) -> None:
        widths = (n_features, *self.hidden)
        self.encoder_ = _tanh_net(widths)
        self.decoder_ = _tanh_net(widths[::-1])
        self.estimator_ = nn.Sequential(
            nn.Linear(self.hidden[-1] + 2, 10),
            nn.Tanh(),
            nn.Dropout(0.5),
            nn.Linear(10, self.n_components),
            nn.Softmax(dim=1),
        )

    def _train(self, rows: Tensor) -> None:
        self.estimator_.train()
        weights = list(chain.from_iterable(net.parameters() for net in self._nets()))
        optimizer = torch.optim.Adam(weights, lr=self.learning_rate)
        for _ in range(self.epochs):
            for batch in torch.randperm(len(rows)).split(self.batch_size):
                optimizer.zero_grad()
                self._loss(rows[batch]).backward()
                nn.utils.clip_grad_norm_(weights, self.max_gradient)
                optimizer.step()
        self.estimator_.eval()

    def _nets(self) -> tuple[Any, ...]:
        return self.encoder_, self.decoder_, self.estimator_

    def _loss(self, rows: Tensor) -> Tensor:
        z, restored = self._compress(rows)
        mixture = fit_mixture(z, self.estimator_(z))
        variances = torch.diagonal(mixture.covariances, dim1=1, dim2=2)
        return (
            (rows - restored).square().sum(dim=1).mean()
            + self.energy_weight * energy(z, mixture).mean()
            + self.covariance_weight * (1 / variances).sum()
        )

    def _compress(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the mixture sees of each row (n, d), and the rows restored (n, m)."""
        code = self.encoder_(rows)
        restored = self.decoder_(code)
        # after min-max scaling a row may be zero
        length = rows.norm(dim=1).clamp_min(1e-10)
        distance = (rows - restored).norm(dim=1) / length
        cosine = nn.functional.cosine_similarity(rows, restored, dim=1)
        return torch.cat([code, distance[:, None], cosine[:, None]], dim=1), restored

    def _mixture_of(self, rows: Tensor) -> Mixture:
        """Return the mixture of all training rows, as the paper scores by it."""
        with torch.no_grad():
            z, _ = self._compress(rows)
            return fit_mixture(z.double(), self.estimator_(z).double())


def _tanh_net(widths: tuple[int, ...]) -> nn.Sequential:
    """Return linear layers of these widths with tanh between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def fit_mixture(z: Tensor, membership: Tensor) -> Mixture:
    """Return the Gaussian mixture of `z` (n, d) given each row's membership (n, k)."""
    share = membership.sum(dim=0)
    means = (membership.T @ z) / share[:, None]
    centred = z[:, None, :] - means
    scatter = torch.einsum("nk,nki,nkj->kij", membership, centred, centred)
    ridge = _RIDGE * torch.eye(z.shape[1], dtype=z.dtype)
    return Mixture(share / len(z), means, scatter / share[:, None, None] + ridge)


def energy(z: Tensor, mixture: Mixture) -> Tensor:
    """Return minus the log-density of each row of `z` (n, d) under `mixture`, (n,)."""
    factors = torch.linalg.cholesky(mixture.covariances)
    centred = (z[:, None, :] - mixture.means).permute(1, 2, 0)
    whitened = torch.linalg.solve_triangular(factors, centred, upper=False)
    log_root = torch.diagonal(factors, dim1=1, dim2=2).log().sum(dim=1)
    log_density = -0.5 * (whitened.square().sum(dim=1).T + z.shape[1] * math.log(2 * math.pi))
    return -torch.logsumexp(log_density - log_root + mixture.weights.log(), dim=1)
