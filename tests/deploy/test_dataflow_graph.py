"""The job as Dataflow gets it: the launcher translates it with Dataflow's runner, offline."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2 as messages
from command_line import PROJECT

from beam_bleu.transforms.errors import UsageError
from deploy.dataflow.launch import command_line

OFFLINE_LAUNCH = pathlib.Path(__file__).with_name("offline_launch.py")

IMAGE = "europe-west4-docker.pkg.dev/project/images/beam-bleu:1"
ARGUMENTS = (
    "--candidates 'base=gs://corpus/base/part-*' --candidates=tuned=gs://corpus/tuned/part-* "
    "--references=gs://corpus/ref-a.txt --references=gs://corpus/ref-b.txt.gz --lowercase "
    "--output gs://corpus/scores"
)
PARAMETERS = [f"--arguments={ARGUMENTS}", f"--sdk_container_image={IMAGE}"]
BEAMS = [
    "--runner=DataflowRunner",
    "--project=some-project",
    "--region=europe-west4",
    "--job_name=bleu-of-today",
    "--temp_location=gs://bucket/tmp",
    "--staging_location=gs://bucket/staging",
    "--max_num_workers=7",
    "--no_use_public_ips=true",
]


def launch(folder: pathlib.Path, *parameters: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, OFFLINE_LAUNCH, folder, *parameters],
        capture_output=True,
        text=True,
        timeout=120,
    )


def staged(folder: pathlib.Path) -> messages.Pipeline:
    """The graph of the job that a launch has staged."""
    (path,) = folder.rglob("pipeline.pb")
    return messages.Pipeline.FromString(path.read_bytes())


@pytest.fixture(scope="module")
def launched(tmp_path_factory) -> pathlib.Path:
    """The folder of a launch. If it asked for the state of the job, it would end with 99."""
    folder = tmp_path_factory.mktemp("launched")
    done = launch(folder, *BEAMS, *PARAMETERS)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def pipeline(launched) -> messages.Pipeline:
    return staged(launched)


def transforms(pipeline: messages.Pipeline, urn: str) -> Iterator[messages.PTransform]:
    for transform in pipeline.components.transforms.values():
        if transform.spec.urn == urn:
            yield transform


PAR_DO = common_urns.primitives.PAR_DO.urn
GROUP_BY_KEY = common_urns.primitives.GROUP_BY_KEY.urn


def test_the_launcher_submits_one_job_whose_workers_run_in_the_image(launched, pipeline):
    job = json.loads((launched / "submitted.json").read_bytes())
    assert (job["name"], job["type"]) == ("bleu-of-today", "JOB_TYPE_BATCH")
    (docker,) = pipeline.components.environments.values()
    assert messages.DockerPayload.FromString(docker.payload).container_image == IMAGE


def test_every_primitive_is_one_that_dataflow_knows(pipeline):
    # The standard ones that batch needs: no stateful, splittable or cross-language step.
    primitives = {
        transform.spec.urn
        for transform in pipeline.components.transforms.values()
        if not transform.subtransforms
    }
    assert primitives == {
        common_urns.primitives.IMPULSE.urn,
        common_urns.primitives.FLATTEN.urn,
        PAR_DO,
        GROUP_BY_KEY,
    }
    assert list(pipeline.requirements) == []
    for step in transforms(pipeline, PAR_DO):
        payload = messages.ParDoPayload.FromString(step.spec.payload)
        assert payload.do_fn.urn == "beam:dofn:pickled_python_info:v1"
        assert not payload.restriction_coder_id
        assert not payload.state_specs
        assert not payload.timer_family_specs
        assert not payload.side_inputs, step.unique_name


def test_text_is_not_shuffled(pipeline):
    def named(name: str) -> messages.PTransform:
        (found,) = (
            each for each in pipeline.components.transforms.values() if each.unique_name == name
        )
        return found

    read, count = named("Pair lines/Read in lockstep"), named("Count matches")
    shuffled = {
        each for step in transforms(pipeline, GROUP_BY_KEY) for each in step.inputs.values()
    }
    assert len(shuffled) >= 4
    (text,) = count.inputs.values()
    assert text in read.outputs.values()
    assert text not in shuffled


# What belongs to the image and the template


def test_the_launcher_and_the_command_mean_the_same_job() -> None:
    assert command_line(PARAMETERS) == [*shlex.split(ARGUMENTS), PARAMETERS[1]]
    with pytest.raises(UsageError, match="No closing quotation"):
        command_line(["--arguments=--candidates 'a"])


def test_the_template_declares_the_parameters() -> None:
    metadata = PROJECT / "deploy" / "dataflow" / "metadata.json"
    declared = json.loads(metadata.read_text())["parameters"]
    assert [each["name"] for each in declared] == ["arguments", "sdk_container_image"]
    for parameter, given in zip(declared, PARAMETERS, strict=True):
        assert re.fullmatch(parameter["regexes"][0], given.partition("=")[2])
