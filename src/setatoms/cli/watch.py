"""``setatoms watch``."""

from __future__ import annotations

from pathlib import Path

import click

from setatoms.cli.options import FILE, model_argument

_STANDARD_INPUT = 0


@click.command("watch")
@model_argument
@click.option(
    "--state", type=FILE, metavar="FILE", help="Keep model and place here, and go on from there."
)
@click.option("--learn", is_flag=True, help="Let the model follow the rows.")
@click.option(
    "--half-life",
    type=click.FloatRange(1),
    metavar="ROWS",
    help="With --learn: rows after which a row counts half; by default nothing is forgotten.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    help="How many columns to name of a flagged row; 0 leaves kind and columns out.",
)
@click.option("--replay", is_flag=True, help="The input begins again: pass over what was seen.")
@click.option("--strict", is_flag=True, help="Stop at a line that is no row.")
def command(
    model: Path,
    state: Path | None,
    learn: bool,
    half_life: float | None,
    top: int,
    replay: bool,
    strict: bool,
) -> None:
    """Score rows from standard input as they come, one line of JSON for each.

    Rows are JSON objects, one on a line, or CSV with a line that names the columns. Lines that are
    no rows get a line with an error. A line on a change of the rows comes soon after it.
    """
    from setatoms.cli.lines import LineReader
    from setatoms.cli.models import load_model
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.watching import Place, Watch, WatchWishes
    from setatoms.persistence import read_header

    if half_life is not None and not learn:
        raise click.UsageError("--half-life is for --learn; give both")
    if replay and state is None:
        raise click.UsageError("--replay needs --state, which knows what was seen")
    check_outputs([model], [state])
    begun_with = read_header(model)["arrays_sha256"]
    place = Place(begun_with)
    if state is not None and state.exists():
        place = Place.of_state(state, begun_with)
        model = state
    loaded = load_model(model)
    if half_life is not None:
        loaded.detector.set_params(half_life=half_life)
    wishes = WatchWishes(learn, top, strict, state, replay)
    Watch(loaded, place, wishes).run(LineReader(_STANDARD_INPUT))
