"""Installs beam-bleu on simulated hosts: makes a wheel, installs it, and compiles the kernel."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile

from deploy.local.cluster import PROJECT
from deploy.local.hosts.host import Host
from deploy.local.processes import run

_SOURCES = ("beam_bleu", "pipeline", "transforms", "pyproject.toml", "README.md", "LICENSE")

_OURS = ("beam_bleu*", "__editable__*beam_bleu*")
"""The files of an installed beam-bleu in site-packages."""


def copy_sources(folder: pathlib.Path) -> pathlib.Path:
    """Copies the sources of a wheel to a new folder, because building writes beside them."""
    folder.mkdir(parents=True)
    for source in (PROJECT / name for name in _SOURCES):
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / source.name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, folder)
    return folder


def make_wheel(folder: pathlib.Path) -> pathlib.Path:
    """Builds a wheel of this checkout in a folder; returns its path."""
    with tempfile.TemporaryDirectory() as made:
        sources = copy_sources(pathlib.Path(made, "sources"))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--wheel-dir", str(folder), str(sources)]
        run(command)
    (wheel,) = folder.glob("beam_bleu-*.whl")
    return wheel


def install(host: Host, wheel: pathlib.Path) -> None:
    """Installs a wheel on a host, in place of this Python's beam-bleu, and compiles the kernel."""
    shutil.copy(wheel, host.kept)
    pip = [host.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--root-user-action=ignore", "--no-index", "--no-deps", "--force-reinstall"]
    host.run(*pip, host.folder / wheel.name)
    text = host.folder / "text.txt"
    (host.kept / text.name).write_text("a b c d e\n")
    host.run("beam-bleu", "--candidates", text, "--references", text)


def copy(installed: pathlib.Path, host: Host) -> None:
    """Installs on a host what `keep` has copied from another one with the same Python."""
    target = host.site_packages
    for pattern in _OURS:
        for path in target.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(installed / "site-packages", target, symlinks=True, dirs_exist_ok=True)
    shutil.copy(installed / "beam-bleu", target.parents[2] / "bin")


def keep(host: Host, folder: pathlib.Path) -> None:
    """Copies what is installed on a host to a new folder."""
    made = folder.with_name(f".{folder.name}")
    shutil.rmtree(made, ignore_errors=True)
    for path in host.site_packages.glob(_OURS[0]):
        shutil.copytree(path, made / "site-packages" / path.name, symlinks=True)
    shutil.copy(host.site_packages.parents[2] / "bin" / "beam-bleu", made)
    os.replace(made, folder)
