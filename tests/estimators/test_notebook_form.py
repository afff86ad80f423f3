"""The form of estimators in a notebook: scikit-learn's own and what was learned."""

import numpy as np
import pytest
import sklearn

import setatoms
from setatoms.estimators.summary import fitted_sizes

X = np.random.default_rng(0).normal(size=(300, 4))
MODELS = [
    setatoms.SetAtomEnsemble(budget="fast", random_state=0),
    setatoms.VectorAtomDetector(random_state=0),
    setatoms.GaussianDictionaryLearning(n_iter=20, random_state=0),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return sklearn.base.clone(request.param).fit(X)


def test_sizes_are_those_of_what_was_learned(model):
    sizes = fitted_sizes(model)
    assert sizes["rows"].startswith("300")
    assert sizes["columns"] == "4"
    atoms = sum(len(dictionary.atoms) for dictionary in model.dictionaries_)
    assert sizes["atoms"].startswith(str(atoms))
    assert ("members" in sizes) == hasattr(model, "members_")
    assert ("threshold" in sizes) == hasattr(model, "offset_")


def test_both_html_forms_have_them_below_the_diagram(model):
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        diagram, _, sizes = html.rpartition("<table>")
        assert "sk-top-container" in diagram
        for words in fitted_sizes(model).values():
            assert words in sizes


def test_an_unfitted_estimator_has_scikit_learn_s_form_alone(model):
    assert not sklearn.base.clone(model)._repr_html_().endswith("</table>")
    assert fitted_sizes(sklearn.base.clone(model)) == {}


def test_text_display_is_respected(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
