"""Checks of manifests for Kubernetes and of images, without a cluster, kubectl or a build."""

from __future__ import annotations

import fnmatch
import importlib.metadata
import re
from collections.abc import Iterator
from typing import Any

import yaml
from command_line import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.transforms.version import VERSION
from deploy.image.chroot import instructions

FOLDER = PROJECT / "deploy" / "kubernetes"


def of_kind(kind: str) -> list[dict[str, Any]]:
    """The objects in files, without what a kustomization adds."""
    paths = [path for path in FOLDER.glob("*/*.yaml") if path.name != "kustomization.yaml"]
    objects = [each for path in paths for each in yaml.safe_load_all(path.read_text())]
    return [each for each in objects if each["kind"] == kind]


def inside(value: Any, key: str) -> Iterator[Any]:
    """All values of a key, at any depth."""
    if isinstance(value, dict):
        yield from [value[key]] if key in value else []
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from inside(each, key)


RUN = [
    each for kind in ("FlinkDeployment", "CronJob", "SparkApplication") for each in of_kind(kind)
]


def containers() -> list[dict[str, Any]]:
    """All containers; of Spark's driver and executor, what their rights say."""
    lists = [*inside(RUN, "containers"), *inside(RUN, "initContainers")]
    of_spark = [each for name in ("driver", "executor") for each in inside(RUN, name)]
    return [*(container for each in lists for container in each), *of_spark]


def settings(folder: str) -> dict[str, str]:
    """The variables of nightly.sh in a kustomization."""
    kustomization = yaml.safe_load((FOLDER / folder / "kustomization.yaml").read_text())
    (generator,) = kustomization["configMapGenerator"]
    return dict(literal.split("=", 1) for literal in generator["literals"])


def pool() -> dict[str, Any]:
    pools = [each for each in containers() if each.get("name") == "python-workers"]
    assert len(pools) == 2
    assert pools[0]["command"] == pools[1]["command"]
    return next(each for each in pools if each["resources"].get("requests", {}).get("cpu"))


def test_the_nightly_jobs_flags_are_those_of_the_command_and_name_flink():
    for folder in ("base", "spark"):
        flags = settings(folder)["FLAGS"]
        texts = ["--candidates=s=/texts/s", "--references=/texts/r", "--output=/scores/day"]
        job = parse([*texts, "--partition=day", "--progress=off", *flags.split()]).job
        assert job.output == "/scores/day"
        assert f"--environment_config localhost:{pool()['command'][-1]}" in flags
    flags = settings("base")["FLAGS"]
    (server,) = (each for each in containers() if each.get("name") == "job-server")
    (flink,) = of_kind("FlinkDeployment")
    port = re.search(r"--job_endpoint localhost:(\d+)", flags)[1]
    rest = f"{flink['metadata']['name']}-rest:8081"
    assert {f"--job-port={port}", f"--flink-master={rest}"} <= {*server["args"]}
    assert f"--flink_master http://{rest}" in flags
    slots = int(flink["spec"]["flinkConfiguration"]["taskmanager.numberOfTaskSlots"])
    assert f"--parallelism {slots * flink['spec']['taskManager']['replicas']}" in flags
    assert pool()["resources"]["requests"]["cpu"] == str(slots)


def test_images_have_the_versions_of_this_project():
    images = {
        image["name"]: image
        for path in FOLDER.glob("**/kustomization.yaml")
        for image in yaml.safe_load(path.read_text()).get("images", [])
        if "newTag" in image
    }
    assert images["beam-bleu"]["newTag"] == VERSION
    requirements = (PROJECT / "deploy" / "constraints.txt").read_text()
    beam = re.search(r"^apache-beam==(\S+)", requirements, re.M)[1]
    (flink,) = of_kind("FlinkDeployment")
    version = re.fullmatch(r"flink:(\d+\.\d+)\.\d+-java17", flink["spec"]["image"])[1]
    assert flink["spec"]["flinkVersion"] == f"v{version.replace('.', '_')}"
    server = images["beam-flink-job-server"]
    assert (server["newName"], server["newTag"]) == (f"apache/beam_flink{version}_job_server", beam)


def test_no_container_has_more_rights_than_it_needs():
    rights = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert len(containers()) == 7
    for container in containers():
        assert container["securityContext"].items() >= rights.items(), container
    pods = [*inside(RUN, "podSecurityContext")]
    pods += [each for each in inside(RUN, "securityContext") if "runAsNonRoot" in each]
    assert len(pods) == 4
    for pod in pods:
        assert pod["runAsNonRoot"] is True
        assert pod["runAsUser"] > 0
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    accounts = of_kind("ServiceAccount")
    with_token = [each for each in accounts if each.get("automountServiceAccountToken", True)]
    # The driver of Spark starts executors.
    assert [each["metadata"]["name"] for each in with_token] == ["beam-bleu-spark"]


# The files of images


STEPS = {
    name: [*instructions((PROJECT / "deploy" / name / "Dockerfile").read_text())]
    for name in ("image", "dataflow")
}


def copied(image: str) -> list[list[str]]:
    """The words of each instruction that copies files of the project."""
    return [
        words.split() for kind, words in STEPS[image] if kind == "COPY" and "--from" not in words
    ]


def test_every_requirement_of_the_project_is_pinned_with_hashes():
    text = re.sub(r"^#.*\n", "", (PROJECT / "deploy/constraints.txt").read_text(), flags=re.M)
    pinned: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = line.split(" --hash=")
        assert hashes, line
        package, _, version = requirement.partition(";")[0].strip().partition("==")
        pinned.setdefault(package, []).append(version)
    bases = dict(words.split(":") for kind, words in STEPS["dataflow"] if kind == "FROM")
    pinned["apache-beam"].append(bases["apache/beam_python3.11_sdk"])
    for required in map(Requirement, importlib.metadata.requires("beam-bleu")):
        name = canonicalize_name(required.name)
        versions = ["0.1.0"] if name == "beam-bleu" else pinned[name]
        assert all(version in required.specifier for version in versions), (
            f"{required}: run the command at the head of deploy/constraints.txt"
        )


def test_the_copied_files_exist_and_are_sent_to_the_builder():
    assert ("ARG", f"VERSION={VERSION}") in STEPS["image"]
    (environment,) = (words for kind, words in STEPS["dataflow"] if kind == "ENV")
    name, _, path = environment.partition("=")
    assert name == "FLEX_TEMPLATE_PYTHON_PY_FILE"
    assert ["deploy/dataflow/launch.py", path] in copied("dataflow")
    ignored = (PROJECT / ".dockerignore").read_text().splitlines()
    sent = [line[1:] for line in ignored if line.startswith("!")]
    files = [*copied("image"), *copied("dataflow")]
    for source in (word for words in files for word in words[:-1]):
        if not source.startswith("--"):
            assert (PROJECT / source).exists(), source
            assert any(fnmatch.fnmatch(source, f"{name}*") for name in sent), source
