"""ADBench's tables: found on disk or fetched, and never another file than the known one."""

from __future__ import annotations

import functools
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest

from setatoms.datasets import ADBENCH_DATASETS, adbench, fetch_adbench

WINE = "45_wine.npz"
WINE_SHA256 = "d5ad8965d92cc57122fe1e6572bb301adbaf795b3e166d187ae00a704d8f6e20"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return the cache of a user without any file."""
    monkeypatch.delenv("SETATOMS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "setatoms" / "adbench"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def own_data(cache, shared, monkeypatch):
    """Point $SETATOMS_DATA at the tables beside the repository."""
    monkeypatch.setenv("SETATOMS_DATA", str(shared / "adbench"))


def damage(source, target):
    target.write_bytes(source.read_bytes()[:-1])


def test_there_are_thirty_tables():
    assert len(set(ADBENCH_DATASETS)) == 30


@pytest.mark.parametrize("name", ADBENCH_DATASETS)
def test_every_table_loads_from_the_users_folder(own_data, load_adbench, name):
    X, y = fetch_adbench(name)
    expected_X, expected_y = load_adbench(name)
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)
    assert X.dtype == np.float64
    assert set(y) == {0, 1}


@pytest.mark.parametrize("name", ["wine", "45_wine", "WINE", "45_Wine.npz"])
def test_names_go_with_or_without_number_in_any_case(own_data, name):
    assert fetch_adbench(name)[0].shape == (129, 13)


def test_an_unknown_name_lists_near_ones():
    with pytest.raises(ValueError, match="no table 'pendigit'; did you mean pendigits"):
        fetch_adbench("pendigit")


def test_a_name_unlike_any_lists_all():
    with pytest.raises(ValueError, match=r"ALOI, .*yeast"):
        fetch_adbench("#")


def test_the_cache_is_used_without_network_or_pooch(cache, shared, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    shutil.copy(shared / "adbench" / WINE, cache)
    assert fetch_adbench("wine")[0].shape == (129, 13)


def test_a_damaged_file_in_the_users_folder_is_refused(cache, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("SETATOMS_DATA", str(tmp_path))
    damage(shared / "adbench" / WINE, tmp_path / WINE)
    with pytest.raises(ValueError, match=f"{WINE} is damaged.*SHA-256 is .*{WINE_SHA256}"):
        fetch_adbench("wine")


def test_a_damaged_file_in_the_cache_is_refused(cache, shared):
    damage(shared / "adbench" / WINE, cache / WINE)
    with pytest.raises(ValueError, match=f"{WINE} is damaged.*delete it to fetch it again"):
        fetch_adbench("wine")


def test_without_pooch_the_error_says_how_to_install_it(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r'pip install "setatoms\[bench\]"; or download https://'):
        fetch_adbench("wine")


def test_without_network_the_error_says_what_to_download_where(cache, monkeypatch):
    def retrieve(*args, **kwargs):
        raise OSError("name resolution failed")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=retrieve))
    with pytest.raises(ConnectionError) as caught:
        fetch_adbench("wine")
    for part in ("name resolution failed", "Classical/45_wine.npz", str(cache), "SETATOMS_DATA"):
        assert part in str(caught.value)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder on this machine in place of ADBench's repository; return the folder."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        monkeypatch.setattr(adbench, "_SOURCE", f"http://127.0.0.1:{http.server_port}/")
        yield folder
        http.shutdown()


def test_a_download_lands_in_the_cache(cache, shared, server, require):
    require("pooch")
    shutil.copy(shared / "adbench" / WINE, server)
    assert fetch_adbench("wine")[0].shape == (129, 13)
    (server / WINE).unlink()
    assert fetch_adbench("wine")[0].shape == (129, 13)


def test_a_download_of_another_file_is_refused_and_not_kept(cache, shared, server, require):
    require("pooch")
    damage(shared / "adbench" / WINE, server / WINE)
    with pytest.raises(ValueError, match=f"{WINE}.*{WINE_SHA256}"):
        fetch_adbench("wine")
    assert not (cache / WINE).exists()


def test_a_file_gone_from_the_repository_says_what_to_do(cache, server, require):
    require("pooch")
    with pytest.raises(ConnectionError, match=r"404.*download http"):
        fetch_adbench("wine")
