"""Whatever a file holds, loading it gives a model or a ModelFileError."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

import setatoms
from setatoms.persistence import ModelFileError, read_header
from setatoms.persistence.header import KEY
from setatoms.persistence.models import read_model

from .conftest import joined, split

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Return a path to write files to, again and again."""
    return tmp_path_factory.mktemp("hostile") / "model"


def refused(path, match="cannot load the model"):
    """Check that a file gives the one error, which names it and what helps."""
    with pytest.raises(ModelFileError, match=match) as caught:
        setatoms.load(path)
    assert str(path) in str(caught.value)
    assert "; " in str(caught.value)
    assert len(str(caught.value)) < 1500
    assert str(caught.value).isprintable()


def test_every_truncation_is_refused(saved, scratch):
    whole = saved.read_bytes()
    for length in {*range(200), *range(200, len(whole), 97), *range(len(whole) - 100, len(whole))}:
        scratch.write_bytes(whole[:length])
        refused(scratch)


def test_every_flipped_bit_is_found(saved, scratch):
    whole = saved.read_bytes()
    for bit in range(0, 8 * len(whole), 211):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        scratch.write_bytes(damaged)
        refused(scratch)


@settings(max_examples=200)
@given(data=st.data())
def test_splices_are_found(saved, scratch, data):
    whole = saved.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, len(whole)))
    filling = data.draw(st.binary(max_size=200))
    if whole[start:stop] == filling:
        return
    scratch.write_bytes(whole[:start] + filling + whole[stop:])
    refused(scratch)


@given(content=st.binary(max_size=500))
def test_other_bytes_are_refused(scratch, content):
    for start in (b"", b"PK\x03\x04", pickle.dumps(os.getcwd)):
        scratch.write_bytes(start + content)
        refused(scratch, "no model of setatoms")


def test_a_header_longer_than_its_file_is_refused_as_no_model(scratch):
    scratch.write_bytes(b"PK\x03\x04\x00\x00\x00\x00{")
    refused(scratch, "no model of setatoms")


NAMES = ["array", "list", "float", "record", "fields", "error", "_"]
WORDS = ["components_", "History", "nan", "VectorAtoms", "__class__", "-1", ""]
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.sampled_from(WORDS) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value, path=()):
    """Yield the way to every value inside a parsed JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))
        else:
            yield (*path, key)


@settings(max_examples=200)
@given(data=st.data())
def test_any_value_in_the_header_is_refused_or_makes_a_sound_model(saved, forge, scratch, data):
    header, arrays = read_model(saved)
    *way, last = data.draw(st.sampled_from(sorted(places(header), key=str)))
    inner = header
    for key in way:
        inner = inner[key]
    inner[last] = data.draw(JSON)
    sound_or_refused(forge(scratch, header, arrays))


@settings(max_examples=200)
@given(data=st.data())
def test_any_array_is_refused_or_makes_a_sound_model(saved, forge, scratch, data):
    header, arrays = read_model(saved)
    name = data.draw(st.sampled_from(sorted(arrays)))
    shape = data.draw(
        st.lists(st.integers(0, 20), max_size=3).map(tuple) | st.just(arrays[name].shape)
    )
    kind = data.draw(st.sampled_from(["<f8", "<f4", "<i8", "<i4", "|u1", "|b1"]))
    with np.errstate(all="ignore"):
        number = data.draw(st.sampled_from([0, 1, -1, np.nan, np.inf, 1e308, 5e-324, 0.1]))
        arrays[name] = np.full(shape, number if kind[1] == "f" else 1, dtype=kind)
    sound_or_refused(forge(scratch, header, arrays))


def sound_or_refused(path):
    try:
        model = setatoms.load(path)
    except ModelFileError:
        return
    scores = model.score_samples(np.ones((2, 5)))
    assert np.isfinite(scores).all()


NOT_FINITE = [np.nan, np.inf, -np.inf]


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize(
    "name", ["dictionary_.atoms", "dictionary_.radii", "standardizer_.mean", "standardizer_.scale"]
)
def test_an_array_of_nonsense_is_refused(stored, forged, name, number):
    header, arrays = stored
    arrays[name] = np.full_like(arrays[name], number)
    refused(forged(header, arrays), "not finite|or NaN in it")


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("dictionary_.atoms", lambda a: 2 * a, "not unit vectors"),
        ("dictionary_.atoms", lambda a: 1e200 * a, "not unit vectors"),
        ("dictionary_.atoms", lambda a: a[:, :4], r"atoms has shape \(20, 4\)"),
        ("dictionary_.atoms", lambda a: a[:0], "atoms has no rows"),
        ("dictionary_.atoms", lambda a: a.T.copy(), "atoms has shape"),
        ("dictionary_.atoms", lambda a: a.astype(np.float32), "not an array of type float64"),
        ("dictionary_.radii", lambda a: a[:-1], "radii has shape"),
        ("dictionary_.radii", lambda a: 0 * a, "radii has values outside"),
        ("dictionary_.radii", lambda a: a + 1.4, "radii has values outside"),
        ("standardizer_.scale", lambda a: 0 * a, "not positive"),
        ("standardizer_.scale", lambda a: -a, "not positive"),
        ("guard_.errors.spread", lambda a: 1e-300 * a, "spread has values outside"),
        ("guard_.measures.middle", lambda a: a + 1e300, "middle has values outside"),
        ("guard_.neighbours.columns", lambda a: 1e200 * a, "columns has values outside"),
        ("guard_.neighbours.density", lambda a: 1e300 + a, "density has values outside"),
        ("guard_.neighbours.reach", lambda a: -1 - a, "reach has values outside"),
        ("guard_.high", lambda a: a + 1e300, "high has values outside"),
        ("dictionary_.history.radii", lambda a: a[:, :3], "history.radii has shape"),
        (
            "dictionary_.history.unused",
            lambda a: a.astype(np.float64),
            "not an array of type int64",
        ),
    ],
)
def test_an_array_that_does_not_fit_is_named(stored, forged, name, change, match):
    header, arrays = stored
    arrays[name] = change(arrays[name])
    refused(forged(header, arrays), match)


def test_calibration_must_be_sorted_scores(stored, forged):
    header, arrays = stored
    attributes = header["attributes"] | {"calibration_scores_": {"array": "calibration_scores_"}}
    for scores in ([-1.0, -2.0], [np.nan], [[-1.0]]):
        arrays["calibration_scores_"] = np.array(scores)
        refused(forged(header | {"attributes": attributes}, arrays), "calibration_scores_")


@pytest.mark.parametrize(
    "shape", [[2**40], [2**62, 4], [2**31, 2**31], [0, 2**62], [1] * 40, [-1], [True], "5", [1.5]]
)
def test_huge_and_odd_shapes_are_refused_without_memory(stored, forged, shape):
    header, arrays = stored
    path = forged(header, arrays, **{"dictionary_.atoms": {"shape": shape}})
    tracemalloc.start()
    refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    "dtype", ["C64", "BF16", "F8_E5M2", "F4", "U32", "f64", "<f8", "object", "", 8, None]
)
def test_other_types_than_real_numbers_are_refused(stored, forged, dtype):
    header, arrays = stored
    path = forged(header, arrays, **{"dictionary_.radii": {"dtype": dtype}})
    refused(path, r"dtype=|damaged \(.*invalid shape, data type, or offset")


@pytest.mark.parametrize("offsets", [[0, 0], [8, 0], [0, 2**62], [-8, 0], [0], "0", None, [0.5, 1]])
def test_an_array_lies_where_it_must(stored, forged, offsets):
    header, arrays = stored
    path = forged(header, arrays, **{"dictionary_.radii": {"data_offsets": offsets}})
    refused(path, "data_offsets=|cut short, added to or damaged")


@pytest.mark.parametrize(
    "name", ["../radii_", "/radii_", "a..b", "", "a\\b", "ä", "\x1b[31m", "a" * 300, "__class__"]
)
def test_arrays_of_other_names_belong_nowhere(stored, forged, name):
    header, arrays = stored
    refused(forged(header, arrays | {name: np.zeros(2)}), "arrays that belong nowhere")


def test_an_array_too_many_or_too_few_is_refused(stored, forged):
    header, arrays = stored
    refused(
        forged(header, arrays | {"more": np.zeros(2)}), r"arrays that belong nowhere, \['more'\]"
    )
    attributes = header["attributes"] | {"again_": {"array": "dictionary_.radii"}}
    refused(forged(header | {"attributes": attributes}, arrays), "of no known form")
    del arrays["dictionary_.radii"]
    refused(forged(header, arrays), "of no known form")


@pytest.mark.parametrize(
    "name",
    [
        "__class__",
        "score_samples",
        "_sklearn_output_config",
        "n_iter",
        "Big_",
        "fit",
        "",
        "a" * 99 + "_",
    ],
)
def test_an_attribute_cannot_hide_anything(stored, forged, name):
    header, arrays = stored
    attributes = header["attributes"] | {name: 1}
    refused(forged(header | {"attributes": attributes}, arrays), "an estimator does not learn")


@pytest.mark.parametrize("lost", ["dictionary_", "offset_", "standardizer_"])
def test_a_model_without_a_part_is_refused(stored, forged, lost):
    header, arrays = stored
    attributes = {name: value for name, value in header["attributes"].items() if name != lost}
    kept = {name: array for name, array in arrays.items() if name.partition(".")[0] != lost}
    refused(forged(header | {"attributes": attributes}, kept), f"{lost} is missing")


@pytest.mark.parametrize("name", ["Popen", "os.system", "BaseEstimator", "AtomDetector", ""])
def test_only_known_classes_are_made(stored, forged, name):
    header, arrays = stored
    refused(forged(header | {"estimator": name}, arrays), "none of ConeAtomDetector, ConeDict")


def test_the_kind_must_be_that_of_the_class(stored, forged):
    header, arrays = stored
    refused(forged(header | {"estimator": "ConeDictionaryLearning"}, arrays), "no parameters")
    for kind, match in [
        ({"record": "VectorAtoms", "fields": {}}, "kind is a VectorAtoms"),
        (
            {"record": "ConeAtoms", "fields": {"n_nonzero": 21}},
            "n_nonzero=21, and there are 20 atoms",
        ),
        ({"record": "ConeAtoms", "fields": {"n_nonzero": True}}, "n_nonzero=True must be"),
        ({"record": "ConeAtoms", "fields": {"odd": 6}}, "with fields"),
        ({"record": "Popen", "fields": {}}, "a record 'Popen'"),
        ({"record": "Standardizer", "fields": {}}, "without all its fields"),
    ]:
        dictionary = header["attributes"]["dictionary_"]
        fields = dictionary["fields"] | {"kind": kind}
        attributes = header["attributes"] | {"dictionary_": dictionary | {"fields": fields}}
        refused(forged(header | {"attributes": attributes}, arrays), match)


@pytest.mark.parametrize(
    "change",
    [
        {"n_iter": 0},
        {"contamination": 2.0},
        {"n_jobs": 0},
        {"views": 5},
        {"views": ["relation", ["size"]]},
        {"radius": 1},
        {"tol": {"float": "nan"}},
    ],
)
def test_parameters_keep_their_rules(stored, forged, change):
    header, arrays = stored
    parameters = header["parameters"] | change
    refused(forged(header | {"parameters": parameters}, arrays), "must be|has no parameters")


TEXTS = {
    "deep": b'"parameters": ' + b"[" * 100_000,
    "deep and closed": b'"version": ' + b"[" * 900 + b"]" * 900 + b"}",
    "deep objects": b'"a": ' + b'{"a": ' * 100_000,
    "huge number": b'"version": ' + b"9" * 100_000 + b"}",
    "large number": b'"version": 99999999999999999999}',
    "infinite": b'"version": 1e999}',
    "constant": b'"version": NaN}',
    "not UTF-8": b'"version": "\xff\xfe"}',
    "not ASCII": '"version": "ä"}'.encode(),
    "UTF-16": '"version": 1}'.encode("utf-16"),
    "twice": b'"version": 1, "version": 1}',
    "spaced": b'"version":  1}',
    "open": b'"version": 1',
    "two": b'"version": 1}{}',
    "nothing": b"",
    "only a version": b'"version": 1}',
    "no version": b'"estimator": "ConeAtomDetector"}',
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_header_that_is_no_header_is_refused(scratch, case):
    for digest in (sha256(b"{" + TEXTS[case]).hexdigest(), "0" * 64):
        text = f'{{"sha256": "{digest}", '.encode() + TEXTS[case]
        scratch.write_bytes(safetensors_with(text))
        refused(scratch)
        with pytest.raises(ModelFileError):
            read_header(scratch)


def safetensors_with(text):
    """Return a safetensors file of a header alone, whatever its bytes are."""
    quoted = text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return joined(b'{"__metadata__":{"' + KEY.encode() + b'":"' + quoted + b'"}}')


STARTS = {
    "no object": b"[]",
    "no JSON": b"{",
    "empty": b"{}",
    "deep": b'{"a":' + b"[" * 100_000,
    "not UTF-8": b'{"\xff":{}}',
    "UTF-16": "{}".encode("utf-16-le"),
    "metadata of another": b'{"__metadata__":{"format":"pt"}}',
    "metadata of none": b'{"__metadata__":null}',
    "metadata of a number": b'{"__metadata__":{"setatoms":1}}',
    "half a character": b'{"__metadata__":{"setatoms":"\\ud800"}}',
    "no entry": b'{"a":1}',
}


@pytest.mark.parametrize("case", STARTS)
def test_a_safetensors_file_without_a_header_is_refused(scratch, case):
    scratch.write_bytes(joined(STARTS[case]))
    refused(scratch, "no model of setatoms|its header has")


def test_a_safetensors_file_of_another_program_is_refused(scratch):
    save_file({"weight": np.zeros(3)}, scratch)
    refused(scratch, "no model of setatoms: no metadata 'setatoms'")


def test_a_name_that_occurs_twice_is_refused(saved, scratch):
    start, numbers = split(saved.read_bytes())
    text = json.dumps(start)
    radii = json.dumps(start["dictionary_.radii"])
    for twice in (
        text[:-1] + f', "dictionary_.radii": {radii}' + "}",
        text[:-1] + f', "__metadata__": {json.dumps(start["__metadata__"])}' + "}",
        text.replace('"shape":', '"shape": [7], "shape":', 1),
        text.replace('{"setatoms":', '{"setatoms": "", "setatoms":', 1),
    ):
        scratch.write_bytes(joined(twice.encode(), numbers))
        refused(scratch, "a name occurs twice")


def test_an_array_that_the_digest_does_not_know_is_refused(saved, scratch):
    start, _ = split(saved.read_bytes())
    arrays = read_model(saved).arrays
    arrays["dictionary_.radii"] = arrays["dictionary_.radii"][::-1].copy()
    scratch.write_bytes(save(arrays, metadata=start["__metadata__"]))
    refused(scratch, "its arrays are damaged: their SHA-256 does not match")


def test_an_array_of_another_shape_or_name_is_found(saved, scratch):
    start, numbers = split(saved.read_bytes())
    atoms = start["dictionary_.atoms"]
    turned = atoms | {"shape": atoms["shape"][::-1]}
    scratch.write_bytes(joined(start | {"dictionary_.atoms": turned}, numbers))
    refused(scratch, "SHA-256 does not match")
    renamed = {key.replace("radii", "x"): entry for key, entry in start.items()}
    scratch.write_bytes(joined(renamed, numbers))
    refused(scratch, "SHA-256 does not match")


def test_truth_values_are_0_or_1(stored, forged):
    header, arrays = stored
    attributes = header["attributes"] | {"mask_": {"array": "mask_"}}
    arrays["mask_"] = np.array([0, 1, 2], dtype=np.uint8).view(np.bool_)
    refused(forged(header | {"attributes": attributes}, arrays), "truth values other than 0 and 1")


def test_what_is_added_to_a_file_is_found(saved, scratch):
    scratch.write_bytes(saved.read_bytes() + b"more")
    refused(scratch, "cut short, added to or damaged")
    start, numbers = split(saved.read_bytes())
    start["dictionary_.radii"] |= {"evil": 1}
    scratch.write_bytes(joined(start, numbers))
    refused(scratch, "for array 'dictionary_.radii', not dtype, shape, data_offsets")


_LOAD = """
import resource, sys
import numpy
from setatoms.persistence.models import read_model
from setatoms.persistence import ModelFileError
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_model(sys.argv[1])
except ModelFileError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used, error)
"""


HUGE = {"dtype": "F64", "shape": [2**20, 2**9], "data_offsets": [0, 2**32]}


@pytest.mark.parametrize("size", [0, 2**31, 2**40])
def test_a_file_that_announces_much_takes_no_memory(scratch, saved, size):
    start, _ = split(saved.read_bytes())
    scratch.write_bytes(joined({"__metadata__": start["__metadata__"], "a": HUGE}))
    os.truncate(scratch, max(size, scratch.stat().st_size))
    command = [sys.executable, "-c", _LOAD, str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    os.truncate(scratch, 0)
    kilobytes, _, message = done.stdout.partition(" ")
    assert int(kilobytes) < 5_000
    assert "cut short, added to or damaged" in message or "more than the 4294967296" in message


def test_a_large_header_is_refused_unread(scratch):
    scratch.write_bytes(joined(b'{"' + b" " * 9_000_000))
    refused(scratch, "8388608 allowed")


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        setatoms.load(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        refused(path, "no regular file")


def test_a_pickle_is_not_run(scratch, tmp_path):
    class Intruder:
        def __reduce__(self):
            return type(tmp_path).touch, (tmp_path / "trace",)

    np.savez(scratch.with_suffix(".npz"), components_=np.array([Intruder()], dtype=object))
    refused(scratch.with_suffix(".npz"))
    scratch.write_bytes(pickle.dumps(Intruder()))
    refused(scratch)
    assert not (tmp_path / "trace").exists()
