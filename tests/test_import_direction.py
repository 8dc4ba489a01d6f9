"""Tests the rules for imports between rooms, from Beam, and between library and application."""

from __future__ import annotations

import ast
import functools
import pathlib
import subprocess
import sys

import beam_bleu
from beam_bleu.transforms.known_metrics import METRICS as KNOWN_METRICS

PROJECT = pathlib.Path(beam_bleu.__file__).parent.parent
LIBRARY, APPLICATION = "beam_bleu.transforms.", "beam_bleu.pipeline."

ROOMS = ["text", "pairing", "inspection", "metrics", "statistics", "totals", "score", "examples"]
"""The rooms in the order of the data. A room can import only the rooms before it; `metrics` is what
metrics have in common. A metric can import all rooms, but no other metric."""

FLOORS = ["native", "definition", "wiring"]
"""The folders that all rooms can import. They import no room."""

METRICS = {row.home.partition(".")[0] for row in KNOWN_METRICS.values()}

FORMS_OF_INPUT = ["line_parallel", "records", "segments"]
"""The folders in pairing of one form of input each. They do not know each other."""

WIRING = """
compare_systems corpus_scores reading segment_scores
pairing.files.found_files pairing.line_parallel.source
pairing.records.joins.join_sources pairing.records.line_records pairing.records.record_files
pairing.records.row_group_records pairing.segments.gather
statistics.batch_steps text.read_model totals.sum_documents totals.summing
wiring.filesystems wiring.object_store_clients wiring.object_stores
wiring.steps wiring.threads
""".split()  # noqa: SIM905
"""The files of the library that import Beam."""

WITHOUT_BEAM = ["display", "gates", "history", "notebook", "report", "result"]
"""The folders of the application that do not import Beam. So the subcommands start quickly."""


@functools.cache
def modules() -> dict[str, set[str]]:
    """The modules of the project; for each of them, the modules and names that it imports."""
    found = {}
    for folder in ("transforms", "pipeline"):
        for file in (PROJECT / folder).rglob("*.py"):
            name = ".".join(("beam_bleu", *file.relative_to(PROJECT).with_suffix("").parts))
            found[name] = imports_of(file)
    return found


def imports_of(file: pathlib.Path) -> set[str]:
    nodes = [*ast.walk(ast.parse(file.read_text()))]
    whole = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return whole | {
        f"{node.module}.{name.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def room_of(module: str) -> str:
    """The folder of the library that a module is in: `metrics.bleu` if it is that of a metric."""
    _, _, folder, *below = module.split(".")
    return f"metrics.{below[0]}" if folder == "metrics" and below[0] in METRICS else folder


def form_of(module: str) -> str | None:
    """The form of input to whose folder a module belongs."""
    parts = module.removeprefix(f"{LIBRARY}pairing.").split(".")
    return parts[0] if parts[0] in FORMS_OF_INPUT else None


def is_allowed(module: str, imported: str) -> bool:
    """Whether a module of the library may import another module of the project."""
    if not imported.startswith(LIBRARY):
        return imported == "beam_bleu"
    room, known = room_of(module), room_of(imported)
    if known == room:
        return not form_of(module) or form_of(imported) in (None, form_of(module))
    if room in FLOORS:
        return known not in ROOMS and not known.startswith("metrics.")
    before = ROOMS[: ROOMS.index(room)] if room in ROOMS else ROOMS
    is_room = known in ROOMS or known.startswith("metrics.")
    return not is_room or known in before


def in_a_fresh_interpreter(program: str) -> str:
    """The output of a program. It runs with the project as its current folder."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_room_imports_only_rooms_before_it() -> None:
    wrong = [
        (module, imported)
        for module, imports in modules().items()
        if module.startswith(LIBRARY)
        and (room_of(module) in [*ROOMS, *FLOORS] or room_of(module).startswith("metrics."))
        for imported in imports
        if imported.startswith("beam_bleu") and not is_allowed(module, imported)
    ]
    assert wrong == []


def test_the_library_does_not_import_the_application() -> None:
    of_library = [imports for name, imports in modules().items() if name.startswith(LIBRARY)]
    assert not [each for imports in of_library for each in imports if each.startswith(APPLICATION)]


def test_only_wiring_files_load_beam() -> None:
    wiring = {f"{LIBRARY}{name}" for name in WIRING}
    free = tuple(f"{APPLICATION}{folder}." for folder in WITHOUT_BEAM)
    names = [
        name.removesuffix(".__init__")
        for name in modules()
        if (name.startswith(LIBRARY) and name not in wiring) or name.startswith(free)
    ]
    loading = "".join(
        f"import {name}\nif 'apache_beam' in sys.modules: sys.exit('{name}')\n" for name in names
    )
    in_a_fresh_interpreter(f"import sys\n{loading}")
