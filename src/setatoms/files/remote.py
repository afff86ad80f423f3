"""Files that are elsewhere: web addresses, and storage that DuckDB's httpfs extension knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import IO
from urllib.error import URLError
from urllib.request import Request, urlopen

import duckdb

from setatoms.files.errors import FileError

_SCHEME = re.compile(r"(https?|s3|gs|gcs|r2|az(?:ure)?|abfss?|hf)://", re.I)
_CHUNK = 1 << 20
_PATIENCE = 60.0  # seconds without an answer

# Told how many more bytes have come, of how many where that is known.
OnBytes = Callable[[int, int | None], None]


def is_remote(path: str) -> bool:
    """Tell whether a path is the address of something elsewhere."""
    return _SCHEME.match(path) is not None


def fetch(path: str, make: Callable[[], IO[bytes]], on_bytes: OnBytes) -> Iterator[IO[bytes]]:
    """Yield copies of the files at an address.

    Parameters
    ----------
    path : str
        A web address, or one of a file or a pattern in other storage.
    make : callable
        Returns a file to write to.
    on_bytes : callable
        Is told of what has come.
    """
    if path.lower().startswith("http"):
        yield _download(path, make(), on_bytes)
        return
    for content in _from_storage(path):
        copy = make()
        copy.write(content)
        on_bytes(len(content), None)
        yield copy


def _download(url: str, target: IO[bytes], on_bytes: OnBytes) -> IO[bytes]:
    try:
        request = Request(url, headers={"User-Agent": "setatoms"})
        with urlopen(request, timeout=_PATIENCE) as answer:
            size = answer.headers.get("Content-Length")
            total = int(size) if size and size.isdecimal() else None
            n_bytes = 0
            while piece := answer.read(_CHUNK):
                target.write(piece)
                n_bytes += len(piece)
                on_bytes(len(piece), total)
    except (URLError, HTTPException, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileError(f"{url} cannot be fetched: {reason}; is the address right?") from None
    if total is not None and n_bytes != total:
        raise FileError(f"{url} came short: {n_bytes:,} of {total:,} bytes; run the command again")
    return target


def _from_storage(path: str) -> Iterator[bytes]:
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    scheme = path[: path.index("://")]
    try:
        connection.execute("load httpfs")
    except duckdb.Error:
        raise FileError(
            f"{path}: {scheme} needs DuckDB's httpfs extension, which is not installed here; "
            "install it (python -c \"import duckdb; duckdb.execute('install httpfs')\"), or "
            "download the files first"
        ) from None
    try:
        names = connection.execute("select file from glob($1) order by file", [path]).fetchall()
        for (name,) in names:
            answer = connection.execute("select content from read_blob($1)", [name]).fetchone()
            yield answer[0] if answer else b""
    except duckdb.Error as error:
        line = str(error).splitlines()[0]
        raise FileError(f"{path} cannot be fetched: {line}"[:300]) from None
    if not names:
        raise FileError(f"{path} matches no file; is the address right?")
