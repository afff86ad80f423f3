"""``setatoms explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setatoms.cli.options import (
    Reading,
    data_argument,
    index_option,
    json_option,
    model_argument,
    reading_options,
)

if TYPE_CHECKING:
    from setatoms.cli.models import Array, Model
    from setatoms.cli.printing import Printer
    from setatoms.cli.reading import Data

_IN_SENTENCE = 3
_MOST_ATOMS = 12
_MOST_OTHERS = 5


@click.command("explain")
@model_argument
@data_argument
@click.option("--row", type=click.IntRange(1), help="Which row, from 1.")
@index_option
@click.option("--at", metavar="VALUE", help="Which row, by what its index column holds.")
@click.option(
    "--rank",
    type=click.Choice(["contribution", "refill"]),
    default="contribution",
    show_default=True,
    help="Order columns by their part in the score, or by what replacing them changes.",
)
@click.option(
    "--counterfactual",
    type=click.IntRange(1),
    metavar="K",
    help="Say what K columns would have to be for the row to look normal.",
)
@click.option("--top", type=click.IntRange(1), help="How many columns to list; by default all.")
@json_option
@reading_options
def command(
    model: Path,
    data: str | None,
    row: int | None,
    index: str | None,
    at: str | None,
    rank: str,
    counterfactual: int | None,
    top: int | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Explain one row of a table: what was observed, what was expected, and by which atoms.

    Rows are counted from 1, the header aside, as in the file of scores; or named by --index COL
    --at VALUE.
    """
    from setatoms.cli.models import load_model
    from setatoms.cli.reading import open_data
    from setatoms.terminal import print_json

    # an index beside --row does no harm: it is copied from the call of detect
    if (row is None) == (at is None) or (index is None and at is not None):
        raise click.UsageError("give --row N, or --index COL and --at VALUE")
    loaded = load_model(model, data)
    opened = open_data(data, reading, loaded.encoding)
    if at is None or index is None:
        features = _row_at(loaded, opened, row or 1)
        others: list[int] = []
    else:
        (row, *others), features = _rows_named(loaded, opened, index, at)
    (record,) = loaded.explain(features, top, rank)
    (brief,) = loaded.explain(features, _IN_SENTENCE, rank)
    p_values = loaded.p_values(loaded.scores(features))
    record = record | {
        "row": row,
        "sentence": brief["sentence"],
        "p_value": None if p_values is None else float(p_values[0]),
    }
    if others:
        record["same_index"] = others
    if counterfactual is not None:
        record["counterfactual"] = loaded.counterfactual(features, counterfactual)
    if as_json:
        print_json(record)
    else:
        _show(record, loaded)


def _row_at(model: Model, data: Data, row: int) -> Array:
    """Return the features (1, n_features) of a row, by its number from 1."""
    from setatoms.files import FileError, feature_chunks

    n_rows = 0
    for features, *_ in feature_chunks(data.table, model.encoding):
        if row <= n_rows + len(features):
            return features[row - n_rows - 1 : row - n_rows]
        n_rows += len(features)
    raise FileError(f"{data.table.name} has {n_rows} rows, so there is no row {row}")


def _rows_named(model: Model, data: Data, index: str, at: str) -> tuple[list[int], Array]:
    """Return the numbers, from 1, of the rows of a name, and the features of the first."""
    from setatoms.files import FileError, feature_chunks
    from setatoms.files.choose import check_known

    check_known(data.table, [index])
    rows: list[int] = []
    found: Array | None = None
    n_rows, example = 0, ""
    for features, words, _ in feature_chunks(data.table, model.encoding, [index]):
        names = ["" if word is None else word.strip() for word in words[index]]
        places = [i for i, name in enumerate(names) if name and name == at]
        example = example or next(filter(None, names), "")
        if places and found is None:
            found = features[places[0] : places[0] + 1]
        rows += [n_rows + i + 1 for i in places]
        n_rows += len(features)
    if found is None:
        known = f"give --at a value as it stands there, such as {example!r}"
        remedy = known if example else "it is empty in all rows"
        raise FileError(f"{data.table.name} has no row whose {index!r} is {at!r}; {remedy}")
    return rows, found


def _show(record: dict[str, Any], model: Model) -> None:
    from setatoms.cli.printing import Printer

    printer = Printer()
    chance = "" if record["p_value"] is None else f", p-value {record['p_value']:.2g}"
    verdict = _verdict(record["score"], model)
    printer.line(
        f"row {record['row']}: score {record['score']:.4g}{chance}, {verdict}", style="bold"
    )
    if others := record.get("same_index"):
        listed = ", ".join(map(str, others[:_MOST_OTHERS]))
        more = ", ..." if len(others) > _MOST_OTHERS else ""
        printer.line(
            f"the first of {len(others) + 1:,} rows of this name; the others: --row {listed}{more}"
        )
    if "kind" in record:
        printer.line(_kind_in_words(record))
    printer.line(record["sentence"])
    printer.line()
    rows = [
        [
            "missing" if entry["observed"] is None else f"{entry['observed']:.6g}",
            f"{entry['expected']:.6g}",
            f"{entry['contribution']:.1%}",
            entry["column"],
        ]
        for entry in record["columns"]
    ]
    printer.table(["observed", "expected", "share", "column"], rows)
    printer.line()
    if "counterfactual" in record:
        _show_counterfactual(record["counterfactual"], model, printer)
    _show_atoms(record["atoms"], printer)


def _show_counterfactual(found: dict[str, Any], model: Model, printer: Printer) -> None:
    new = -model.detector.offset_
    verdict = (
        f"{'flagged' if found['score'] > new else 'not flagged'} (new rows above {new:.4g} are)"
    )
    noun = "this column" if len(found["columns"]) == 1 else "these columns"
    printer.line(f"with {noun} replaced: score {found['score']:.4g}, {verdict}")
    rows = [
        ["missing" if entry["from"] is None else f"{entry['from']:.6g}", f"{entry['to']:.6g}", name]
        for name, entry in found["columns"].items()
    ]
    printer.table(["from", "to", "column"], rows)
    printer.line()


def _verdict(score: float, model: Model) -> str:
    """Say whether a row is flagged; rows that were learned from have their own threshold."""
    new, learned = -model.detector.offset_, -model.detector.training_offset_
    if learned < score <= new:
        return (
            f"flagged if the model learned from it (above {learned:.4g}), not flagged if it is new "
            f"(above {new:.4g})"
        )
    limits = f"rows above {new:.4g} are"
    if learned != new:
        limits = f"new rows above {new:.4g} are, rows learned from above {learned:.4g}"
    return f"{'flagged' if score > new else 'not flagged'} ({limits})"


def _kind_in_words(record: dict[str, Any]) -> str:
    from setatoms.explain.evidence import OUTSIDE

    views = {view: part for view, part in record["views"].items() if view != OUTSIDE or part}
    parts = ", ".join(f"{view} {part:.2g}" for view, part in views.items())
    return f"{record['kind']}; parts of the score: {parts}"


def _show_atoms(atoms: list[dict[str, Any]], printer: Printer) -> None:
    """Print the atoms with the largest coefficients; those of an ensemble with their member."""
    members = ["member"] if any("member" in atom for atom in atoms) else []
    lines = [
        [
            *(str(atom[name]) for name in (*members, "atom")),
            f"{atom['coefficient']:.4g}",
            f"{atom['distance']:.3g}",
            _boundary(atom),
        ]
        for atom in atoms[:_MOST_ATOMS]
    ]
    printer.table([*members, "atom", "coefficient", "distance", ""], lines)
    if len(atoms) > _MOST_ATOMS:
        printer.line(f"and {len(atoms) - _MOST_ATOMS} more (--json has all)")


def _boundary(atom: dict[str, Any]) -> str:
    return "on its boundary" if atom["on_boundary"] else ""
