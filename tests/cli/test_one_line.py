"""Whatever goes wrong, the answer is one line that says what helps."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setatoms.persistence.models import StoredModel, read_model, write_model

from .conftest import COLUMNS, Answer

Call = Callable[..., Answer]


def one_line(answer: Answer, message: str, status: int = 1) -> bool:
    return (
        answer.status == status
        and message in answer.err
        and answer.err.count("\n") == 1
        and "Traceback" not in answer.err
    )


@pytest.mark.parametrize("encoding", ["rot13", "base64", "undefined", "a\0b", "nothing"])
def test_an_encoding_that_is_not_of_text(call: Call, table: Path, encoding: str) -> None:
    answer = call("detect", table, "--encoding", encoding)
    assert one_line(answer, "is unknown or not one of text; try utf-8, latin-1 or cp1252")


def shell(command: str, **more: Any) -> Answer:
    script = command.format(setatoms=f"'{sys.executable}' -m setatoms")
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, **more
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def test_standard_input_that_is_closed() -> None:
    assert one_line(shell("{setatoms} detect - <&-"), "standard input is closed; name a file")


def test_standard_output_that_is_closed(table: Path) -> None:
    answer = shell(f"{{setatoms}} detect '{table}' --method cone >&-")
    assert one_line(answer, "standard output is closed; redirect it")


def test_standard_error_that_is_closed(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    answer = shell(f"{{setatoms}} fit '{table}' --method cone --save '{model}' 2>&-")
    assert answer.status == 0
    assert answer.out.startswith("parts.csv: 300 rows")
    assert model.stat().st_size > 0


def test_a_reader_that_has_read_enough(table: Path, model: Path) -> None:
    # nobody reads from the start
    answer = shell(
        f"{{setatoms}} score '{model}' '{table}' --out - > >(exec <&-) ; echo $? >&2; wait"
    )
    assert answer.err.endswith("141\n")
    assert "Traceback" not in answer.err
    assert "Exception" not in answer.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output(table: Path, model: Path) -> None:
    answer = shell(f"{{setatoms}} score '{model}' '{table}' > /dev/full")
    assert one_line(answer, "No space left on device")


def test_a_terminal_that_knows_ascii_alone(tmp_path: Path) -> None:
    data = tmp_path / "données.csv"
    rows = "\n".join(f"{i % 7},{(i % 7) * 2 + i % 2}" for i in range(60))
    data.write_text(f"é,b\n{rows}\n", encoding="utf-8")
    answer = shell(
        f"{{setatoms}} detect '{data}' --method vector",
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert answer.status == 0
    assert "donn\\xe9es.csv: 60 rows" in answer.out


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([*COLUMNS, COLUMNS[0]], "a column occurs twice"),
        (COLUMNS[:3], "has 4 features and says how to read 3 from a table"),
    ],
)
def test_a_crafted_model_that_misnames_its_columns(
    call: Call, model: Path, table: Path, tmp_path: Path, columns: list[str], message: str
) -> None:
    crafted = tmp_path / "crafted.setatoms"
    stored = read_model(model)
    entries = [{"name": name, "kind": "number"} for name in columns]
    notes = {"table": {"columns": entries}}
    write_model(crafted, StoredModel(stored.header | {"notes": notes}, stored.arrays))
    assert one_line(call("score", crafted, table), message)


def test_an_error_that_nobody_thought_of(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from setatoms.cli import info

    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(info.command, "invoke", fail)
    assert one_line(call("info", "x"), "should not happen, ZeroDivisionError: by zero; please")
    monkeypatch.setenv("SETATOMS_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        call("info", "x")
