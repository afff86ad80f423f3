"""Where a table comes from: files, standard input; and its bytes as UTF-8 text."""

from __future__ import annotations

import codecs
import glob
import gzip
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from setatoms.files.errors import FileError
from setatoms.files.remote import OnBytes, fetch, is_remote

_CHUNK = 1 << 20
LONGEST_LINE = 4 << 20
_HEAD, _TAIL = 1 << 18, 1 << 16
# Lines may be long: so much is looked at, to see some of them.
_LONGEST_HEAD, _FEW_LINES = 1 << 25, 20
# Linux: a path for each open file.
OPEN_FILES = Path("/proc/self/fd")
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_TABLES = frozenset([
    ".csv", ".tsv", ".tab", ".txt", ".dat", ".parquet", ".pq", ".json", ".jsonl", ".ndjson", ".gz",
    ".zst",
])  # fmt: skip
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

    What can be read only once (standard input, a pipe) or is elsewhere is first copied to a
    temporary file.

    Parameters
    ----------
    path : str
        A file, a pattern of names as ``data/*.csv``, a folder, an address as
        ``https://example.org/data.csv`` or ``s3://store/*.parquet``, or ``-`` for standard input.
    encoding : str, optional
        How text is encoded; by default UTF-8, what a byte order mark says, or Windows-1252.
    on_bytes : callable, optional
        Is told of what has come of a file that is elsewhere, or was looked through, and of how
        much there is.
    """

    def __init__(
        self, path: str, encoding: str | None = None, on_bytes: OnBytes | None = None
    ) -> None:
        self.name = "standard input" if path == "-" else path
        self.encoding = _known_encoding(encoding)
        self.on_bytes = on_bytes or _ignore
        self._spools: list[IO[bytes]] = []
        self.paths: list[Path] = []
        self.named: Path | None = None
        if path == "-":
            if sys.stdin is None:
                raise FileError("standard input is closed; name a file, or pipe the table in")
            self.paths = [self._spool(sys.stdin.buffer)]
        elif is_remote(path):
            for copy in fetch(path, temporary, self.on_bytes):
                copy.flush()
                self._spools.append(copy)
                self.paths.append(path_of(copy))
        else:
            self.paths = self._find(path)
        named = Path(urlsplit(path).path) if is_remote(path) else self.named or self.paths[0]
        self.suffixes = [] if path == "-" else [s.lower() for s in named.suffixes]
        self._facts = [_identity(each) for each in self.paths]

    def _find(self, name: str) -> list[Path]:
        """Return the files that a name stands for."""
        path = Path(name)
        try:
            if path.is_dir():
                found = [p for p in path.rglob("*") if p.suffix.lower() in _TABLES and p.is_file()]
                if not found:
                    raise FileError(f"{name} is a folder without tables; name a file")
                return [self._literal(each) for each in sorted(found)]
            if glob.has_magic(name) and not os.path.lexists(name):
                found = [p for p in map(Path, glob.glob(name, recursive=True)) if p.is_file()]  # noqa: PTH207
                if not found:
                    raise FileError(f"{name} matches no file; is the pattern right?")
                return [self._literal(each) for each in sorted(found)]
            with path.open("rb") as stream:
                regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
                return [self._literal(path) if regular else self._spool(stream)]
        except (OSError, ValueError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{name}: {getattr(error, 'strerror', None) or error}") from error

    def _literal(self, path: Path) -> Path:
        """Return a path of a file that DuckDB does not take for a pattern of names."""
        self.named = self.named or path
        if not glob.has_magic(str(path)) or not OPEN_FILES.is_dir():
            return path
        self._spools.append(path.open("rb"))
        return path_of(self._spools[-1])

    def _spool(self, stream: IO[bytes]) -> Path:
        """Copy a stream to a file that is gone when this process is, and return its path."""
        spool = temporary()
        self._spools.append(spool)
        shutil.copyfileobj(stream, spool, _CHUNK)
        spool.flush()
        return path_of(spool)

    def check_unchanged(self) -> None:
        """Raise an error if a file is not the one that was opened, or was written to since."""
        for path, facts in zip(self.paths, self._facts, strict=True):
            if _identity(path) != facts:
                raise FileError(
                    f"{self.name} has changed while it was read; run the command again when "
                    "nothing writes to it, or on a copy"
                )

    @property
    def in_place(self) -> bool:
        """Whether all files are read where they are, under names that others can use too."""
        return not self._spools

    @property
    def size(self) -> int:
        """How many bytes there are to read, as they are stored."""
        return sum(path.stat().st_size for path in self.paths)

    def partitions(self) -> list[dict[str, str]]:
        """Return for each file what folders as ``year=2024`` say of it, those that all have."""
        found = [
            dict(
                part.split("=", 1) for part in path.parts[:-1] if re.fullmatch("[^=]+=[^=]+", part)
            )
            for path in self.paths
        ]
        # in the order of DuckDB
        shared = [key for key in sorted(found[0]) if all(key in one for one in found)]
        return [{unquote(key): _part_value(one[key]) for key in shared} for one in found]

    def fingerprint(self) -> str:
        """Return the SHA-256 of the stored bytes."""
        digest = hashlib.sha256()
        for path in self.paths:
            with path.open("rb") as stream:
                while piece := stream.read(_CHUNK):
                    digest.update(piece)
        return digest.hexdigest()

    def start(self, path: Path | None = None) -> bytes:
        """Return the first bytes of a file, by default the first one."""
        with (path or self.paths[0]).open("rb") as stream:
            return stream.read(16)


def _part_value(written: str) -> str:
    return "" if written == "__HIVE_DEFAULT_PARTITION__" else unquote(written)


class TextFile:
    """A file of text, as UTF-8 that DuckDB can read.

    Parameters
    ----------
    path : Path
        The file, plain or packed with gzip.
    name : str
        Its name, for messages.
    encoding : str, optional
        Its encoding.
    on_bytes : callable, optional
        Is told of what was looked through.

    Attributes
    ----------
    path : Path
        Where the text is: the file itself, or a copy in UTF-8.
    packed : bool
        Whether it is packed with gzip.
    head, tail : str
        The first and the last whole lines.
    n_quotes : int
        How many double quotes there are.
    """

    def __init__(
        self, path: Path, name: str, encoding: str | None, on_bytes: OnBytes | None = None
    ) -> None:
        self.path, self.name = path, name
        self._on_bytes = on_bytes or _ignore
        self._copy: IO[bytes] | None = None
        self.encoding, self.n_bytes, self.n_quotes = self._examine(encoding)
        if self.encoding != "utf-8":
            self._copy = temporary()
            with self._opened() as stream:
                self.n_quotes = _transcode(stream, self._copy, self.encoding, name)
            self.path = path_of(self._copy)
        with self.path.open("rb") as stream:
            self.packed = stream.read(2) == _GZIP
        self.head, self.tail = self._ends()

    def read(self) -> str:
        """Return the whole text."""
        with self._opened() as stream:
            return _as_text(_read(stream, -1, self.name))

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends, a part of the file in memory at a time."""
        held = b""
        with self._opened() as stream:
            while piece := _read(stream, _CHUNK, self.name):
                held += piece
                # a carriage return at the end may be the first half of the end of a line
                cut = max(held.rfind(b"\n"), held[:-1].rfind(b"\r")) + 1
                yield from lines_of(_as_text(held[:cut]))
                held = held[cut:]
                if len(held) > _LONGEST_HEAD:
                    raise self._line_too_long()
        yield from lines_of(_as_text(held))

    def _line_too_long(self) -> FileError:
        return FileError(f"{self.name} has a line of more than {LONGEST_LINE >> 20} MiB")

    def _examine(self, given: str | None) -> tuple[str, int, int]:
        """Return the encoding, the number of bytes and that of quotes."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        encoding, n_bytes, n_quotes = given, 0, 0
        with self._opened() as stream:
            size = None if isinstance(stream, gzip.GzipFile) else self.path.stat().st_size
            while piece := _read(stream, _CHUNK, self.name):
                if n_bytes == 0 and encoding is None:
                    encoding = _marked(piece)
                n_bytes += len(piece)
                self._on_bytes(len(piece), size)
                n_quotes += piece.count(b'"')
                plain = piece.isascii() and not decoder.getstate()[0]
                if encoding is None and not plain:
                    try:
                        decoder.decode(piece)
                    except UnicodeDecodeError:
                        encoding = "cp1252"
        if encoding is None and decoder.getstate()[0]:
            encoding = "cp1252"  # the end of the file is in the middle of a character
        return encoding or "utf-8", n_bytes, n_quotes

    def _ends(self) -> tuple[str, str]:
        with self._opened() as stream:
            head, whole = b"", False
            while not whole and (not head or _count_lines(head) < _FEW_LINES):
                piece = _read(stream, _HEAD, self.name)
                head += piece
                whole = not piece
                if len(head) - max(head.rfind(b"\n"), head.rfind(b"\r")) > LONGEST_LINE:
                    raise self._line_too_long()
                if len(head) >= _LONGEST_HEAD:
                    break
            rest = b"" if whole else _read(stream, _HEAD, self.name)
            head, whole = head + rest, whole or not rest
            if not whole:
                head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1] or head
            tail = head
            if not whole:
                last = b""
                if self.packed:
                    while piece := _read(stream, _CHUNK, self.name):
                        last = (last + piece)[-_TAIL:]
                else:
                    stream.seek(-_TAIL, os.SEEK_END)
                    last = stream.read()
                tail = last[min(i for i in (last.find(b"\n"), len(last) - 1) if i >= 0) + 1 :]
        return _as_text(head), _as_text(tail)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self.path.open("rb") as stream:
            packed = stream.read(2) == _GZIP
            stream.seek(0)
            yield gzip.GzipFile(fileobj=stream) if packed else stream


def _ignore(n_bytes: int, total: int | None) -> None:
    """Tell nobody."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    # str.splitlines cuts at other characters too, which stand in cells
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", text)


def temporary() -> IO[bytes]:
    """Return a file that is gone when this process is."""
    stream = tempfile.NamedTemporaryFile(prefix="setatoms-")  # noqa: SIM115  outlives this function
    if OPEN_FILES.is_dir():
        # without a name nothing is left of it, however this process ends
        Path(stream.name).unlink()
        stream._closer.delete = False
    return stream


def path_of(stream: IO[bytes]) -> Path:
    """Return a path by which a temporary file can be opened again."""
    return OPEN_FILES / str(stream.fileno()) if OPEN_FILES.is_dir() else Path(stream.name)


def is_packed_otherwise(start: bytes) -> bool:
    """Tell whether bytes are the start of a file packed with Zstandard."""
    return start.startswith(_ZSTANDARD)


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") or data.count(b"\r")


def _as_text(data: bytes) -> str:
    text = data.decode("utf-8", errors="replace")
    return text.removeprefix("\ufeff")


def _marked(start: bytes) -> str | None:
    """Return the encoding that a byte order mark, or every second byte, says."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return None if encoding == "utf-8-sig" else encoding
    sample = start[:1000]
    if len(sample) > 3 and sample[1::2].count(0) > 0.4 * len(sample[1::2]):
        return "utf-16-le"
    if len(sample) > 3 and sample[::2].count(0) > 0.4 * len(sample[::2]):
        return "utf-16-be"
    return None


def _transcode(source: IO[bytes], target: IO[bytes], encoding: str, name: str) -> int:
    """Copy text as UTF-8, and return how many double quotes there are."""
    # bytes that Windows-1252 lacks are those of Latin-1
    errors = "latin-1-rest" if encoding == "cp1252" else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors=errors)
    n_lines, n_quotes = 1, 0
    while True:
        piece = _read(source, _CHUNK, name)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
            raise FileError(
                f"{name}, after line {n_lines}: the encoding is wrong: {reason}"
            ) from error
        n_lines += text.count("\n")
        n_quotes += text.count('"')
        target.write(text.encode("utf-8", errors="replace"))
        if not piece:
            break
    target.flush()
    return n_quotes


def _latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin-1-rest", _latin_1)


def _read(stream: Any, n_bytes: int, name: str) -> bytes:
    try:
        piece: bytes = stream.read(n_bytes)
    except (EOFError, zlib.error, OSError) as error:
        raise FileError(f"{name} cannot be read to its end: {error}") from error
    return piece


def _identity(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is replaced or written to; nothing if it is gone."""
    try:
        facts = path.stat()
    except OSError:
        return ()
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
    return name
