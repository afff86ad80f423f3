"""What is drawn is what the detector says: looked up in the artists."""

import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid  # NumPy has it from 2.0 on
from sklearn.metrics import roc_auc_score

import setatoms
from setatoms import plot

mpl.use("Agg")
NAMES = list("abcdef")


@pytest.fixture(autouse=True)
def _close():
    yield
    plot.import_pyplot().close("all")


@pytest.fixture(scope="module")
def data():
    """Return rows (200, 6) as a frame, and labels: every tenth row has a broken relation."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    y = np.arange(200) % 10 == 0
    X[y, 3] += 3.0
    return pd.DataFrame(X * [1, 10, 1, 5, 1, 1], columns=NAMES), y.astype(int)


@pytest.fixture(scope="module")
def detector(data):
    model = setatoms.GaussianAtomDetector(n_atoms=9, n_iter=30, contamination=0.1, random_state=0)
    return model.fit(data[0])


def bars(ax):
    return np.array([patch.get_height() for patch in ax.patches])


def lengths(ax):
    return np.array([patch.get_width() for patch in ax.patches])


def test_the_histogram_holds_every_row_and_the_threshold(detector, data):
    ax = plot.score_histogram(detector, data[0])
    assert bars(ax).sum() == len(data[0])
    (line,) = ax.lines
    assert list(line.get_xdata()) == [-detector.offset_] * 2
    # the threshold is an edge: the bars right of it are the flagged rows
    left = np.array([patch.get_x() for patch in ax.patches])
    flagged = np.sum(detector.predict(data[0]) == -1)
    assert bars(ax)[left >= -detector.offset_].sum() == flagged
    assert sum(patch.get_height() for patch in ax.containers[1]) == flagged


def test_the_histogram_tells_anomalies_from_normal_rows(detector, data):
    X, y = data
    ax = plot.score_histogram(detector, X, y)
    counts = [sum(p.get_height() for p in container) for container in ax.containers]
    assert counts == [np.sum(y == 0), np.sum(y == 1)]
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {"normal", "anomalies", "threshold"}


@pytest.mark.parametrize("rank", ["contribution", "refill"])
def test_a_row_is_drawn_in_standard_deviations_most_responsible_on_top(detector, data, rank):
    X = data[0][:1]
    ax = plot.observed_and_expected(detector, X, top=4, rank=rank)
    columns = detector.explain(X, top=4, rank=rank).records[0]["columns"]
    at = [NAMES.index(column["column"]) for column in columns]
    observed, expected = (line.get_xdata() for line in ax.lines)
    np.testing.assert_allclose(observed, detector.standardizer_.apply(X.to_numpy())[0, at])
    wanted = [column["expected"] for column in columns]
    mean, scale = detector.standardizer_.mean[at], detector.standardizer_.scale[at]
    np.testing.assert_allclose(mean + scale * expected, wanted)
    labels = [text.get_text().split()[0] for text in ax.get_yticklabels()]
    assert labels == [column["column"] for column in columns]
    assert ax.yaxis_inverted()


def test_the_title_of_a_row_has_the_words_and_digits_of_its_explanation(detector, data):
    X = data[0][:1].copy()
    X.iloc[0, 0] = 1e7  # a score of more than three digits
    title = plot.observed_and_expected(detector, X).get_title(loc="right")
    assert title in str(detector.explain(X)).splitlines()[0]
    assert "e+" not in title


def test_a_single_row_may_be_flat(data):
    X = data[0].to_numpy()
    model = setatoms.VectorAtomDetector(n_atoms=6, n_iter=5, random_state=0).fit(X)
    ax = plot.observed_and_expected(model, X[0], top=None)
    assert len(ax.get_yticks()) == 6
    with pytest.raises(ValueError, match="X has 2 rows, one is drawn"):
        plot.observed_and_expected(model, X[:2])


def test_atoms_are_bars_of_their_entries_widest_first(detector):
    panels = plot.atoms(detector, most=5)
    widest = np.argsort(-detector.radii_, kind="stable")[:5]
    assert len(panels) == 5
    for panel, j in zip(panels, widest, strict=True):
        np.testing.assert_array_equal(lengths(panel), detector.components_[j])
        assert panel.get_title().startswith(f"{j}: radius")
    # the first panel of each line names the columns
    named = [[text.get_text() for text in panel.get_yticklabels()] for panel in panels]
    assert named == [NAMES, [], [], NAMES, []]


def test_atoms_are_images_of_their_pixels(detector):
    panels = plot.atoms(detector, most=4, image_shape=(2, 3))
    first = detector.components_[np.argmax(detector.radii_)]
    np.testing.assert_array_equal(panels[0].images[0].get_array(), first.reshape(2, 3))
    # the same colour means the same number in every panel, and grey is zero
    limits = {panel.images[0].get_clim() for panel in panels}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high
    with pytest.raises(ValueError, match="has 8 pixels, but atoms have 6 features"):
        plot.atoms(detector, image_shape=(2, 4))


@pytest.mark.parametrize("what", ["radii", "usage"])
def test_radii_and_usage_are_drawn_over_iterations(detector, what):
    ax = getattr(plot, what)(detector)
    assert len(ax.lines) == len(detector.components_)
    drawn = np.column_stack([line.get_ydata() for line in ax.lines])
    np.testing.assert_array_equal(drawn, getattr(detector.history_, what))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), detector.history_.adapted_at)


@pytest.mark.parametrize("draw", [plot.radii, plot.usage])
def test_a_detector_without_adaptation_has_no_such_history(data, draw):
    model = setatoms.VectorAtomDetector(n_atoms=6, n_iter=5, random_state=0).fit(data[0])
    with pytest.raises(ValueError, match="VectorAtomDetector has no history"):
        draw(model)


def test_the_roc_has_the_area_and_the_threshold_its_rates(detector, data):
    X, y = data
    ax = plot.roc(detector, X, y)
    curve, _, threshold = ax.lines
    area = trapezoid(curve.get_ydata(), curve.get_xdata())
    assert area == pytest.approx(roc_auc_score(y, -detector.score_samples(X)))
    flagged = detector.predict(X) == -1
    assert threshold.get_xydata()[0] == pytest.approx(
        [flagged[y == 0].mean(), flagged[y == 1].mean()]
    )


@pytest.mark.parametrize("y", [np.zeros(200), np.full(200, -1), np.zeros(3)])
def test_labels_that_make_no_roc_are_refused(detector, data, y):
    with pytest.raises(ValueError, match=r"one label only|1 for anomalies and 0"):
        plot.roc(detector, data[0], y)


def test_plots_go_where_they_are_told(detector, data):
    X, y = data
    _, panels = plot.import_pyplot().subplots(1, 5)
    drawn = [
        plot.score_histogram(detector, X, ax=panels[0]),
        plot.observed_and_expected(detector, X[:1], ax=panels[1]),
        plot.radii(detector, ax=panels[2]),
        plot.usage(detector, ax=panels[3]),
        plot.roc(detector, X, y, ax=panels[4]),
    ]
    assert drawn == list(panels)


def test_a_missing_matplotlib_is_named(detector, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "setatoms\[plot\]"'):
        plot.score_histogram(detector, data[0])


@pytest.fixture(scope="module")
def ensemble(data):
    model = setatoms.SetAtomEnsemble(n_members=3, n_atoms=9, n_iter=10, random_state=0)
    return model.fit(data[0])


def test_a_member_of_an_ensemble_is_drawn_by_number_or_alone(ensemble):
    second = ensemble.members_[1]
    widest = int(np.argmax(second.radii))
    for panels in (plot.atoms(ensemble, member=1, most=3), plot.atoms(second, most=3)):
        np.testing.assert_allclose(lengths(panels[0]), second.atoms[widest])
    for draw in (plot.radii, plot.usage):
        name = draw.__name__
        lines = draw(ensemble, member=1).lines
        wanted = getattr(second.history, name).T
        np.testing.assert_array_equal([line.get_ydata() for line in lines], wanted)
        with pytest.raises(ValueError, match="member=3 is none of this SetAtomEnsemble"):
            draw(ensemble, member=3)


def test_an_ensemble_is_drawn_as_a_whole_in_a_colour_per_kind(ensemble):
    panels = plot.atoms(ensemble, most=5)
    assert len(panels) == 5
    kind, number = panels[0].get_title().split()[0], int(panels[0].get_title().split()[2])
    assert ensemble.members_[number].kind.name == kind
    for draw in (plot.radii, plot.usage):
        ax = draw(ensemble)
        columns = [line for line in ax.lines if len(line.get_xdata())]
        assert len(columns) == len(ensemble.members_)
        for i, (column, member) in enumerate(zip(columns, ensemble.members_, strict=True)):
            assert set(column.get_xdata()) == {i}
            last = getattr(member.history, draw.__name__)[-1]
            np.testing.assert_array_equal(column.get_ydata(), last)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["gaussian", "cone"]


def test_outliers_leave_the_rest_to_be_seen(ensemble, data):
    X = data[0].copy()
    X.iloc[5, 2] = -9999.0
    ax = plot.score_histogram(ensemble, X)
    # the threshold, which normal rows are left of, is not squeezed into a corner
    assert shares(ax, -ensemble.offset_) > 0.3
    assert ax.containers[1][-1].get_height() == 1
    ax = plot.observed_and_expected(ensemble, X.iloc[5])
    observed, expected = (line.get_xdata() for line in ax.lines)
    low, high = ax.get_xlim()
    assert low < min(observed) < max(*observed, *expected) < high
    # of the axis, three deviations on either side take half or more
    assert shares(ax, 3.0) - shares(ax, -3.0) >= 0.5
    assert "c  -9999" in ax.get_yticklabels()[0].get_text()
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def shares(ax, x):
    """Return where `x` is between the left and the right end of the axes."""
    return ax.transAxes.inverted().transform(ax.transData.transform([[x, 0.5]]))[0, 0]


def test_names_with_dollars_are_no_formulas(data):
    X = data[0].set_axis(["$x_1$", "$", "cost $", "<b>", "e" * 200, "f"], axis=1)
    model = setatoms.VectorAtomDetector(n_atoms=6, n_iter=5, random_state=0).fit(X)
    ax = plot.observed_and_expected(model, X[:1], top=None)
    ax.figure.draw_without_rendering()
    assert any("$x_1$" in text.get_text() for text in ax.get_yticklabels())
    plot.atoms(model)[0].figure.draw_without_rendering()


def test_a_row_of_a_frame_keeps_its_names_and_its_label(detector, data, recwarn):
    ax = plot.observed_and_expected(detector, data[0].loc[7])
    assert ax.get_title(loc="right").startswith("row 7: score")
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_no_plot_returns_a_figure_that_a_notebook_would_draw_again(ensemble, data):
    X, y = data
    drawn = [
        *(plot.score_histogram(ensemble, X), plot.observed_and_expected(ensemble, X[:1])),
        *(plot.atoms(ensemble), plot.radii(ensemble), plot.usage(ensemble)),
        plot.roc(ensemble, X, y),
    ]
    assert not any(hasattr(each, "savefig") for each in drawn)
    assert len(plot.import_pyplot().get_fignums()) == len(drawn)
