"""Finds out which engines can be tested on this machine, and which engines must be tested.

    python -m engine_parts ENGINE...    fetches what the tests of these engines need

Airflow, the object stores (s3, gcs, azure), LaTeX, Prometheus, Grafana, Chromium and the
tools for the image and for Kubernetes are no engines, but their tests also need large parts.
`hosts` is Flink on hosts, which needs Linux and root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from deploy.local import parts
from deploy.local.engines import SERVICES
from deploy.local.hosts.host import check_machine
from deploy.local.processes import ClusterError

REQUIRED = os.environ.get("BEAM_BLEU_REQUIRED_ENGINES", "").split()
"""If one of these engines is missing, its tests fail. Tests of another missing one are skipped."""


def need(engine: str) -> None:
    """Fetches an engine or another program that tests need, or skips the test."""
    assert set(REQUIRED) <= {*SERVICES, *_PARTS}, REQUIRED
    try:
        for fetch in _PARTS[engine]:
            fetch()
    except parts.PartMissingError as missing:
        if engine in REQUIRED:
            raise
        pytest.skip(f"no {engine} here: {missing}")


def _require_hosts() -> None:
    try:
        check_machine()
    except ClusterError as missing:
        raise parts.PartMissingError(str(missing)) from missing
    for other in ("flink", "s3"):
        need(other)


def _require_latex() -> None:
    has_booktabs = (
        shutil.which("pdflatex") is not None
        and subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode == 0
    )
    if not has_booktabs:
        raise parts.PartMissingError(
            "there is no pdflatex with booktabs: apt-get install texlive-latex-recommended"
        )


_PARTS: dict[str, list[Callable[[], object]]] = {
    "prism": [parts.prism],
    "flink": [lambda: parts.flink(parts.flink_job_server().engine)],
    "spark": [lambda: parts.spark(parts.spark_job_server().engine)],
    "boot": [parts.boot],
    "airflow": [parts.airflow],
    "chromium": [parts.chromium, parts.axe],
    "image": [parts.mmdebstrap, parts.checkers],
    "kubernetes": [parts.kubectl, parts.checkers, parts.flink_operator],
    "latex": [_require_latex],
    "prometheus": [parts.prometheus],
    "hosts": [_require_hosts],
    "s3": [parts.versitygw],
    "gcs": [],  # a program of this project stands in for it
    "azure": [parts.azurite],
}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        begin = time.monotonic()
        try:
            need(name)
        except pytest.skip.Exception as skipped:  # it may be installed before its tests run
            print(skipped)
        print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
