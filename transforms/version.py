"""The version of beam-bleu, which is in every signature, and those of what it runs on."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping

VERSION = "0.1.0"


@functools.cache  # a run writes two records, and looking up the versions takes milliseconds
def software_versions() -> Mapping[str, str]:
    from importlib import metadata

    libraries = ("apache-beam", "numba", "numpy", "pyarrow")
    return {
        "beam_bleu": VERSION,
        **{name.replace("-", "_"): metadata.version(name) for name in libraries},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
