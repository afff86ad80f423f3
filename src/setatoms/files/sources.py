"""Bytes of a table: from a file, a pipe or standard input, unpacked and as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from setatoms.files.errors import FileError, located

_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
# the longer marks first: that of UTF-32 begins with that of UTF-16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Source:
    """Where a table comes from; it can be read again and again.

    What can be read only once (standard input, a pipe) is first copied to a temporary file, since
    the types of columns are known only after the last line.

    Parameters
    ----------
    path : str
        A file, or ``-`` for standard input.
    encoding : str, optional
        How text is encoded; by default UTF-8, or what a byte order mark says.
    """

    def __init__(self, path: str, encoding: str | None = None) -> None:
        self.name = "standard input" if path == "-" else path
        self.suffixes = [] if path == "-" else [s.lower() for s in Path(path).suffixes]
        self._encoding = _known_encoding(encoding)
        self._spool: IO[bytes] | None = None
        self._path: Path | None = None
        self._facts: tuple[int, ...] = ()
        self._raw: IO[bytes] | None = None
        if path == "-":
            if sys.stdin is None:
                raise FileError("standard input is closed; name a file, or pipe the table in")
            self._spool = _copy(sys.stdin.buffer)
        else:
            self._find(Path(path))

    def _find(self, path: Path) -> None:
        facts = self._stat(path)
        if stat.S_ISDIR(facts.st_mode):
            raise FileError(f"{self.name} is a folder; name one file")
        if stat.S_ISREG(facts.st_mode):
            self._path, self._facts = path, _identity(facts)
        else:
            with path.open("rb") as stream:
                self._spool = _copy(stream)

    def _stat(self, path: Path) -> os.stat_result:
        try:
            return path.stat()
        except OSError as error:
            raise FileError(f"{self.name}: {error.strerror or error}") from error

    def check_unchanged(self) -> None:
        """Raise an error if the file is not the one that was opened, or was written to since."""
        if self._path is not None and _identity(self._stat(self._path)) != self._facts:
            raise FileError(
                f"{self.name} has changed while it was read; run the command again when nothing "
                "writes to it, or on a copy"
            )

    @property
    def size(self) -> int:
        """How many bytes there are to read, as they are stored."""
        if self._spool is not None:
            return os.fstat(self._spool.fileno()).st_size
        return 0 if self._path is None else self._path.stat().st_size

    @property
    def packed(self) -> bool:
        """Whether the bytes are packed with gzip."""
        with self.raw() as stream:
            return stream.read(2) == _GZIP

    @property
    def position(self) -> int:
        """How many of these bytes have been read in the current pass."""
        if self._raw is None or self._raw.closed:
            return self.size
        return self._raw.tell()

    def fingerprint(self) -> str:
        """Return the SHA-256 of the stored bytes."""
        digest = hashlib.sha256()
        with self.raw() as stream:
            while piece := stream.read(_CHUNK):
                digest.update(piece)
        return digest.hexdigest()

    @contextmanager
    def raw(self) -> Iterator[IO[bytes]]:
        """Open the bytes as they are stored."""
        try:
            stream = self._spool or self._path.open("rb")  # type: ignore[union-attr]
        except OSError as error:
            raise FileError(f"{self.name}: {error.strerror or error}") from error
        stream.seek(0)
        self._raw = stream
        try:
            yield stream
        finally:
            if stream is not self._spool:
                stream.close()

    @contextmanager
    def text(self) -> Iterator[Utf8]:
        """Open the bytes unpacked and as UTF-8, without a byte order mark."""
        with self.raw() as stream:
            packed = stream.read(2) == _GZIP
            stream.seek(0)
            opened = gzip.GzipFile(fileobj=stream) if packed else stream
            yield Utf8(opened, self.name, self._encoding)


class Utf8:
    """A stream of UTF-8 bytes made from one of any encoding.

    Parameters
    ----------
    stream : binary file object
        What to read from.
    name : str
        The file's name, for messages.
    encoding : str, optional
        Its encoding; by default UTF-8 or what a byte order mark says.
    """

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, name: str, encoding: str | None) -> None:
        self._stream = stream
        self._name = name
        self._held = self._read(4)
        self._n_lines = 1
        mark = next((mark for mark in _MARKS if self._held.startswith(mark[0])), None)
        encoding = encoding or (mark[1] if mark else None)
        if mark and encoding == "utf-8-sig":
            self._held = self._held[len(mark[0]) :]
            encoding = None
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding else None

    def read(self, n_bytes: int) -> bytes:
        """Return about `n_bytes` more, nothing at the end."""
        while True:
            piece = self._held + self._read(n_bytes - len(self._held))
            self._held = b""
            if self._decoder is None:
                return piece
            text = self._decode(piece)
            if text or not piece:
                return text

    def _decode(self, piece: bytes) -> bytes:
        try:
            text = self._decoder.decode(piece, final=not piece).encode()  # type: ignore[union-attr]
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
            raise located(
                self._name, f"the encoding is wrong: {reason}", place=f"after line {self._n_lines}"
            ) from error
        self._n_lines += text.count(b"\n")
        return text

    def _read(self, n_bytes: int) -> bytes:
        try:
            return self._stream.read(max(0, n_bytes))
        except (EOFError, zlib.error, OSError) as error:
            raise FileError(f"{self._name} cannot be read to its end: {error}") from error


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file is replaced or written to."""
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _known_encoding(encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        bytes(4).decode(name)  # raises for what makes no text of bytes, such as rot13 or base64
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError, ValueError) as error:
        raise FileError(
            f"encoding {encoding!r} is unknown or not one of text; try utf-8, latin-1 or cp1252"
        ) from error
    return "utf-8-sig" if name in {"utf-8", "utf-8-sig"} else name


def _copy(stream: IO[bytes]) -> IO[bytes]:
    spool = tempfile.TemporaryFile(prefix="setatoms-")  # noqa: SIM115  lives as long as its source
    shutil.copyfileobj(stream, spool, _CHUNK)
    spool.seek(0, io.SEEK_SET)
    return spool
