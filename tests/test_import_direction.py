"""Tests the rules for imports between rooms, from Beam, and between library and application.

The rules hold for every file of the project, so also for new files.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

import beam_bleu
from beam_bleu.pipeline.command_line.subcommands import SUBCOMMANDS

PROJECT = pathlib.Path(beam_bleu.__file__).parent.parent
LIBRARY, APPLICATION = "beam_bleu.transforms", "beam_bleu.pipeline"

COMMON_ROOMS = ["text", "pairing", "inspection", "statistics", "totals", "score", "examples"]
"""The rooms in the order of the data. A room can import only the rooms before it."""

METRIC_ROOMS = sorted(
    f"metrics.{file.parent.name}" for file in PROJECT.glob("transforms/metrics/*/__init__.py")
)
"""The folders of metrics. Each one can import the common rooms, and no other metric.

So only the folder of a metric knows the metric. All others know columns (`metrics`).
"""

ROOMS = [*COMMON_ROOMS, *METRIC_ROOMS]

FLOORS = ["native", "definition", "wiring", "metrics"]
"""The folders that all rooms can import. They import no room, and not each other."""

FRONT = [
    "__init__",
    "beam_yaml",
    "beam_yaml_segments",
    "chosen_metrics",
    "compare_systems",
    "corpus_scores",
    "known_metrics",
    "reading",
    "segment_columns",
    "segment_scores",
    "several_scores",
    "sum_segments",
]
"""The files next to the rooms that use several rooms. The other files there import no room."""

FRONT_FOLDERS = ["calls"]
"""The folders that use several rooms, as the files of the front do."""

LOADS_BEAM = {
    LIBRARY: [
        "beam_yaml",
        "beam_yaml_segments",
        "compare_systems",
        "corpus_scores",
        "examples.sum_examples",
        "inspection.sum_samples",
        "pairing.files.found_files",
        "pairing.line_parallel.source",
        "pairing.lines.line_steps",
        "pairing.lines.visible",
        "pairing.records.record_files",
        "pairing.records.text.line_files",
        "pairing.records.text.plan_records",
        "pairing.records.text.source",
        "pairing.records.joins.join_sources",
        "pairing.records.joins.joining",
        "pairing.records.row_groups.source",
        "pairing.records.read_segments",
        "pairing.segments.gather",
        "reading",
        "score.score_segments",
        "segment_scores",
        "several_scores",
        "statistics.batch_steps",
        "text.read_model",
        "sum_segments",
        "totals.sum_documents",
        "totals.summing",
        "wiring.add_up",
        "wiring.coders",
        "wiring.filesystems",
        "wiring.object_store_clients",
        "wiring.object_stores",
        "wiring.steps",
        "wiring.threads",
        "wiring.web_redirects",
    ],
    APPLICATION: [
        "command_line.beam_flags",
        "command_line.job_flags",
        "command_line.layouts",
        "command_line.options",
        "command_line.paths",
        "command_line.slice_flags",
        "command_line.record_sources",
        "command_line.source_flags",
        "command_line.systems",
        "doctor.on_engine",
        "engines.awaited_workers",
        "engines.engine_failure",
        "engines.flink_master",
        "engines.handshake",
        "engines.hanging_starts",
        "engines.in_process",
        "engines.job_server",
        "engines.probing",
        "engines.runners",
        "engines.sent_job",
        "engines.worker_pool",
        "scoring.batch_sums",
        "scoring.gathering",
        "graph",
        "library.asked",
        "library.beam_yaml_evaluate",
        "library.evaluate",
        "library.panes",
        "errors.marked_steps",
        "starting.plain_steps",
        "output.leases",
        "output.handover",
        "output.locking",
        "output.output_folder",
        "output.ownership",
        "output.part_files",
        "output.publication",
        "output.rejected_files",
        "output.storage",
        "reruns.request",
        "reruns.reruns",
        "saved.writing",
    ],
}
"""All files that load Beam. In the library these are the wiring files."""

SHARED_BY_FORMS = ["files", "lines"]
"""The folders in pairing for several forms of input. Each one knows only those before it."""

FORMS_OF_INPUT = ["line_parallel", "records", "segments"]
"""The folders in pairing of one form of input each."""

FOLDERS_OF_RECORDS = ["columns", "text", "row_groups", "joins"]
"""The folders in records. Each one knows `columns` and the files next to the folders, which know
only `columns`. So a join can read each format, and no format knows joins."""

KNOWS_FORMS_OF_INPUT = [
    "beam_bleu",
    f"{LIBRARY}.beam_yaml",
    f"{LIBRARY}.beam_yaml_segments",
    f"{LIBRARY}.calls.segments",
    f"{LIBRARY}.calls.texts",
    f"{LIBRARY}.compare_systems",
    f"{LIBRARY}.corpus_scores",
    f"{LIBRARY}.reading",
    f"{LIBRARY}.segment_scores",
    f"{LIBRARY}.several_scores",
    f"{LIBRARY}.sum_segments",
    f"{APPLICATION}.command_line.keep_flag",
    f"{APPLICATION}.command_line.layouts",
    f"{APPLICATION}.command_line.paths",
    f"{APPLICATION}.command_line.record_flags",
    f"{APPLICATION}.command_line.record_sources",
    f"{APPLICATION}.command_line.slice_flags",
    f"{APPLICATION}.command_line.source_flags",
    f"{APPLICATION}.command_line.systems",
    f"{APPLICATION}.command_line.temporary_files",
    f"{APPLICATION}.doctor.packages",
    f"{APPLICATION}.library.beam_yaml_evaluate",
    f"{APPLICATION}.library.evaluate",
    f"{APPLICATION}.lineage.datasets",
    f"{APPLICATION}.reruns.request",
    f"{APPLICATION}.subcommands.copy",
    f"{APPLICATION}.subcommands.files",
]
"""The files outside of a folder in pairing that may import it."""

NEEDS_AN_EXTRA = {f"{APPLICATION}.lineage.events": f"{APPLICATION}.lineage.run_lineage"}
"""Files that import a library of an extra, and the only file that imports each of them."""

FOR_OBJECT_STORES = [
    f"{LIBRARY}.wiring.{name}"
    for name in (
        *("object_store_clients", "object_store_errors", "object_stores", "objects"),
        "web_redirects",
    )
]
"""Files that need obstore. Runs on files of this machine do not import them."""

LOADS_BEAM_LATER = [
    f"{APPLICATION}.doctor.engines",
    f"{APPLICATION}.result.saved_result",
    f"{APPLICATION}.main",
]
"""Files that import Beam only in a function."""


@dataclasses.dataclass(frozen=True)
class Import:
    """An import of a module, somewhere in a file.

    Attributes:
      module: the module.
      when: "always", "later" (in a function) or "never" (for type checkers).
    """

    module: str
    when: str


class Tree:
    """The imports of each module.

    Args:
      sources: the source of each module.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        packages = {name[:at] for name in sources for at, char in enumerate(name) if char == "."}
        modules = packages | sources.keys()
        self.imports = {
            name: [
                Import(f"{package}.{of_package}", when)
                if f"{package}.{of_package}" in modules
                else Import(package, when)
                for package, of_package, when in _written(source)
            ]
            for name, source in sources.items()
        }


@functools.cache
def _written(source: str) -> list[tuple[str, str | None, str]]:
    """The imports as they are written: a module, perhaps a name in it, and when."""
    return list(_in_nodes([ast.parse(source)], "always"))


def _in_nodes(nodes: list[ast.AST], when: str) -> Iterator[tuple[str, str | None, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((name.name, None, when) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            yield from ((package, name.name, when) for name in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _in_nodes(list(node.body), "never")
            yield from _in_nodes(list(node.orelse), when)
        else:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            inside = "later" if is_function else when
            yield from _in_nodes(list(ast.iter_child_nodes(node)), inside)


def sources() -> dict[str, str]:
    """The source of each module of the project."""
    parts = ("transforms/**/*.py", "pipeline/**/*.py", "beam_bleu/*.py")
    files = [file for part in parts for file in PROJECT.glob(part)]
    return {module_of(file.relative_to(PROJECT)): file.read_text() for file in files}


def module_of(file: pathlib.PurePath) -> str:
    """The module of a file in the project."""
    parts = file.with_suffix("").parts
    below = parts[1:] if parts[0] == "beam_bleu" else parts
    return ".".join(("beam_bleu", *(below[:-1] if below[-1] == "__init__" else below)))


def is_beam(module: str) -> bool:
    """Whether a module belongs to Beam."""
    return module.partition(".")[0] == "apache_beam"


def part_of(module: str) -> str:
    """The part of the library that a module is in: a room, a floor, or the files next to them."""
    if module in ("beam_bleu", LIBRARY):
        return "__init__"
    part, _, rest = module.removeprefix(f"{LIBRARY}.").partition(".")
    folder = f"{part}.{rest.partition('.')[0]}"
    return folder if folder in ROOMS else part


def may_import(part: str, other: str) -> bool:
    """Whether the modules of one part of the library may import those of another part."""
    if part in [*FRONT, *FRONT_FOLDERS] or part == other:
        return True
    if part in ROOMS:
        before = COMMON_ROOMS if part in METRIC_ROOMS else ROOMS[: ROOMS.index(part)]
        return other not in [*FRONT, *FRONT_FOLDERS, *ROOMS] or other in before
    return other not in [*FRONT, *FRONT_FOLDERS, *ROOMS, *FLOORS]


def folder_in_pairing(module: str) -> str | None:
    """The folder in pairing that a module is in, or None."""
    return folder_below(f"{LIBRARY}.pairing.", module)


def folder_below(before: str, module: str) -> str | None:
    """The folder below a package that a module is in, or None. `before` ends with a dot."""
    folder, dot, _ = module.removeprefix(before).partition(".")
    return folder if module.startswith(before) and dot else None


def may_know(name: str, module: str) -> bool:
    """Whether a module may import another one, as far as it belongs to a folder in pairing.

    A folder of a form of input knows itself and the shared folders. The files that choose the
    form know all: the flags of the command, and the library's front. The graph, the job and the
    other forms do not.
    """
    folder, known = folder_in_pairing(name), folder_in_pairing(module)
    if folder == known == "records":
        return may_know_of_records(name, module)
    if known is None or folder == known or name in KNOWS_FORMS_OF_INPUT:
        return True
    if folder in FORMS_OF_INPUT:
        return known in SHARED_BY_FORMS
    return folder in SHARED_BY_FORMS and known in SHARED_BY_FORMS[: SHARED_BY_FORMS.index(folder)]


def may_know_of_records(name: str, module: str) -> bool:
    """Whether a module of records may import another one."""
    before = f"{LIBRARY}.pairing.records."
    folder, known = folder_below(before, name), folder_below(before, module)
    if folder == known or known == "columns":
        return True
    return known is None and folder != "columns"


def wrong_imports(tree: Tree) -> set[tuple[str, str]]:
    """Pairs of a module and an import that breaks the rules."""
    wrong = set()
    for name, imports in tree.imports.items():
        of_library = not name.startswith(APPLICATION)
        for each in imports:
            outside = name.startswith(LIBRARY) and each.module.startswith(APPLICATION)
            if not may_know(name, each.module) or outside or each.module.startswith("."):
                wrong.add((name, each.module))
            elif of_library and each.module.startswith("beam_bleu"):
                if not may_import(part_of(name), part_of(each.module)):
                    wrong.add((name, each.module))
            elif is_beam(each.module) and each.when != "never" and not may_import_beam(name):
                wrong.add((name, each.module))
    return wrong


def loading_beam() -> set[str]:
    """The modules that `LOADS_BEAM` names."""
    return {f"{package}.{each}" for package, those in LOADS_BEAM.items() for each in those}


def in_circles(tree: Tree) -> set[str]:
    """The modules whose imports lead back to them, also by imports that are for type checkers."""
    known = {
        name: {
            each.module if each.module in tree.sources else each.module.rpartition(".")[0]
            for each in imports
        }
        & tree.sources.keys()
        for name, imports in tree.imports.items()
    }
    while True:
        imported = {each for others in known.values() for each in others}
        # Whoever imports nothing that is left, or is imported by nothing that is left, is in none.
        left = {
            name: others & known.keys()
            for name, others in known.items()
            if name in imported and others & known.keys()
        }
        if left == known:
            return set(known)
        known = left


def may_import_beam(name: str) -> bool:
    """Whether a module may import Beam itself."""
    return name in loading_beam() or name in LOADS_BEAM_LATER


def in_a_fresh_interpreter(program: str) -> list[str]:
    """The output of a program. It runs with the project as its current folder."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(sources())


def test_every_import_follows_the_rules(tree):
    assert wrong_imports(tree) == set()


def test_no_import_is_in_a_circle(tree):
    assert in_circles(tree) == set()


def test_the_output_does_not_know_the_command_line(tree):
    # The command line knows the output: it refuses an output that is also an input.
    for name, imports in tree.imports.items():
        if name.startswith(f"{APPLICATION}.output."):
            of_command_line = f"{APPLICATION}.command_line"
            assert not [each for each in imports if each.module.startswith(of_command_line)], name


def test_gates_and_saved_results_are_below_the_subcommands(tree):
    # The command line knows gates: its flags are thresholds. Only subcommands know both.
    for name, imports in tree.imports.items():
        of_gates = name.startswith(f"{APPLICATION}.gates.")
        unknown = [f"{APPLICATION}.subcommands"]
        unknown += [f"{APPLICATION}.command_line"] if of_gates else []
        if not name.startswith(f"{APPLICATION}.subcommands"):
            assert not [each for each in imports if each.module.startswith(tuple(unknown))], name


def test_every_folder_of_pairing_is_shared_or_a_form_of_input(tree):
    of_pairing = {
        name.split(".")[3] for name in tree.sources if name.startswith(f"{LIBRARY}.pairing.")
    }
    files = {file.stem for file in (PROJECT / "transforms" / "pairing").glob("*.py")}
    assert of_pairing - files == {*SHARED_BY_FORMS, *FORMS_OF_INPUT}


def test_the_rules_know_every_folder_of_records(tree):
    of_records = {folder_below(f"{LIBRARY}.pairing.records.", name) for name in tree.sources}
    assert of_records == {*FOLDERS_OF_RECORDS, None}


def test_every_folder_of_the_library_is_a_room_or_a_floor(tree):
    folders = {part_of(name) for name in tree.sources if name.startswith(f"{LIBRARY}.")}
    files = {file.stem for file in (PROJECT / "transforms").glob("*.py")}
    assert folders - files == {*FRONT_FOLDERS, *ROOMS, *FLOORS}
    assert files >= set(FRONT)


def test_no_subcommand_loads_beam_before_it_has_set_up_its_log():
    # Beam logs what is not installed while it is imported, and the command leaves that out.
    assert {row.module for row in SUBCOMMANDS.values()} & loading_beam() == set()


def test_no_other_file_loads_beam_in_a_fresh_interpreter(tree):
    modules = sorted(
        set(tree.sources) - loading_beam() - {f"{APPLICATION}.__main__", *NEEDS_AN_EXTRA}
    )
    imports = "\n".join(
        f"import {module}\nif 'apache_beam' in sys.modules: print('{module}'); sys.exit()"
        for module in modules
    )
    assert in_a_fresh_interpreter(f"import sys\n{imports}") == []


def test_files_that_need_an_extra_are_imported_by_one_file_only(tree):
    importing = {
        (each.module, name)
        for name, imports in tree.imports.items()
        for each in imports
        if each.module in NEEDS_AN_EXTRA and name not in NEEDS_AN_EXTRA and each.when != "never"
    }
    assert {name for _, name in importing} == {*NEEDS_AN_EXTRA.values()}
    assert importing <= {*NEEDS_AN_EXTRA.items()}


def test_obstore_is_imported_only_for_object_stores(tree):
    importing = {
        name
        for name, imports in tree.imports.items()
        for each in imports
        if each.module.partition(".")[0] == "obstore" or each.module in FOR_OBJECT_STORES
    }
    assert importing - {*FOR_OBJECT_STORES} == {
        f"{LIBRARY}.wiring.filesystems",
        f"{APPLICATION}.command_line.options",  # in a function, for --allow redirects
    }


def test_the_public_names_come_from_the_top_of_the_package(tree):
    written = _in_nodes([ast.parse(tree.sources["beam_bleu"])], "always")
    for_type_checkers = {name: module for module, name, when in written if when == "never"}
    assert for_type_checkers == beam_bleu._HOMES
    names = [name for name in beam_bleu.__all__ if name != "__version__"]
    assert set(names) == set(for_type_checkers)
    imported = ", ".join(names)
    program = f"from beam_bleu import {imported}\nprint(*(each.__name__ for each in ({imported})))"
    assert in_a_fresh_interpreter(program) == names
