"""Starts and stops real engines and an object store on this machine, only for trying and testing.

    python -m deploy.local start flink     downloads what is missing, starts Flink, and returns
    python -m deploy.local flags flink     prints the flags that send a job there
    python -m deploy.local stop flink

`./run.sh cluster ...` runs this program. `start` leaves a process running, `python -m deploy.local
serve flink`, which keeps the cluster, and ends when the cluster is stopped.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shlex
import sys

from deploy.local import keeper
from deploy.local.cluster import PROJECT
from deploy.local.engines import SERVICES
from deploy.local.hosts import commands
from deploy.local.parts import PartMissingError
from deploy.local.processes import ClusterError

_ACTIONS = {
    "start": "fetches what is missing, starts the cluster, and returns",
    "status": "prints what runs, of all clusters if none is named; exit code 1 if a part has ended",
    "flags": "prints the flags that send a job there; s3 also prints, on stderr, the commands that "
    "set the environment of other programs",
    "run": "with --hosts: runs beam-bleu on the host head, with the flags of the engine",
    "put": "with --hosts: copies a file or a folder to the object store",
    "get": "with --hosts: copies an object or a folder of them to this machine",
    "stop": "stops the cluster",
    "serve": "keeps a cluster until it gets a SIGTERM; start runs this itself",
}


def main() -> int:
    """Runs the command; returns its exit code: 0, or 1 after an error."""
    arguments = _parser().parse_args()
    clusters = pathlib.Path(os.environ.get("BEAM_BLEU_CLUSTERS") or PROJECT / ".cluster")
    try:
        if arguments.service is None:
            running = [*filter(keeper.is_running, (clusters / name for name in SERVICES))]
            if not running:
                print("no cluster is running")
            return 0 if keeper.status(running) else 1
        return _do(arguments, clusters / arguments.service)
    except (ClusterError, PartMissingError, OSError) as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run.sh cluster",
        description="Starts and stops real engines, and an object store (s3), on this machine: for "
        "trying and testing, not for production. The engines' ports have no authentication.",
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        action.add_argument("service", choices=SERVICES, nargs="?" if name == "status" else None)
        if name in ("start", "serve"):
            action.add_argument(
                "--hosts",
                type=int,
                metavar="N",
                help="on N hosts (groups of Linux namespaces): a head, N - 1 workers, and one more "
                "for an object store. For Prism, N is 1. Needs Linux and root",
            )
        elif name == "run":
            action.add_argument("words", nargs=argparse.REMAINDER, metavar="ARGUMENT")
        elif name == "put":
            action.add_argument("path", type=pathlib.Path, help="a file or a folder")
            action.add_argument("url", help="s3://beam-bleu/NAME")
        elif name == "get":
            action.add_argument("url", help="s3://beam-bleu/NAME, or a folder: .../NAME/")
            action.add_argument("path", type=pathlib.Path)
    return parser


def _do(arguments: argparse.Namespace, folder: pathlib.Path) -> int:
    if arguments.action == "start":
        keeper.start(folder, arguments.hosts)
    elif arguments.action == "serve":
        keeper.serve(folder, arguments.hosts)
    elif arguments.action == "stop":
        keeper.stop(folder)
    elif arguments.action == "status":
        if not keeper.is_running(folder):
            print(f"{folder.name} is not running")
            return 1
        return 0 if keeper.status([folder]) else 1
    elif arguments.action == "flags":
        _print_flags(folder)
    elif arguments.action == "run":
        commands.run(_state(folder), arguments.words)
    elif arguments.action == "put":
        commands.put(_state(folder), arguments.path, arguments.url)
    else:
        commands.get(_state(folder), arguments.url, arguments.path)
    return 0


def _print_flags(folder: pathlib.Path) -> None:
    # Without a cluster, prints a flag that beam-bleu refuses, or the job would run in-process.
    running = keeper.is_running(folder)
    print(shlex.join(keeper.state(folder)["flags"] if running else ["--cluster_is_not_running"]))
    for name, value in keeper.state(folder)["environment"].items():
        print(f"export {name}={shlex.quote(value)}", file=sys.stderr)


def _state(folder: pathlib.Path) -> dict[str, object]:
    if not keeper.is_running(folder):
        raise ClusterError(
            f"{folder.name} is not running: ./run.sh cluster start {folder.name} --hosts 3"
        )
    return keeper.state(folder)


if __name__ == "__main__":
    sys.exit(main())
