"""Files of newer versions say what to do."""

from __future__ import annotations

import pytest

import setatoms
from setatoms.persistence import ModelFileError, read_header
from setatoms.persistence.header import VERSION


@pytest.mark.parametrize("read", [setatoms.load, read_header])
@pytest.mark.parametrize("writer", ["9.1.0", "$(reboot)\x1b[31m", "x" * 10_000, None])
def test_a_newer_version_asks_for_an_upgrade(stored, forged, read, writer):
    _, arrays = stored
    newer = {"version": VERSION + 1, "versions": {"setatoms": writer}, "anything": "else"}
    words = rf"format version {VERSION + 1}, .* reads version {VERSION}; upgrade: pip install"
    with pytest.raises(ModelFileError, match=words) as caught:
        read(forged(newer, arrays))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("version", [0, -1, 1.0, True, None, "2", [2]])
def test_a_version_is_a_whole_number(stored, forged, version):
    header, arrays = stored
    with pytest.raises(ModelFileError, match="its format version is"):
        setatoms.load(forged(header | {"version": version}, arrays))
