"""The image of deploy/image: its steps run in folders with Debian, and then what is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from command_line import EXAMPLE, EXAMPLES, called
from engine_parts import need

from deploy.image import chroot
from deploy.local.places import Place
from deploy.local.processes import free_port


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The built image. BEAM_BLEU_IMAGE names a folder to keep it in."""
    need("image")
    kept = os.environ.get("BEAM_BLEU_IMAGE")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("image")
    if not (folder / "image.json").exists():
        chroot.build(folder)
    return folder


@pytest.fixture
def shared(tmp_path):
    """A folder that the image's user can write, and that has the same name inside."""
    folder = Path("/var/tmp") / f"beam-bleu-{tmp_path.name}-{os.getpid()}"
    shutil.copytree(EXAMPLES, folder / "examples")
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def run(image, *command, bind=None):
    binds = [str(bind)] if bind else []
    words = chroot.container(image, [str(word) for word in command], binds)
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_user_is_not_root_and_can_write_only_temporary_files(image):
    assert run(image, "id", "-u")[1] == "10001\n"
    assert run(image, "beam-bleu", "doctor")[0] == 0
    for path in ("/file", "/opt/beam-bleu/file", "/opt/beam-bleu/kernel/file", "/usr/file"):
        code, _, err = run(image, "touch", path)
        assert code != 0
        assert "Read-only file system" in err
    assert run(image, "touch", "/tmp/file")[0] == 0


def test_flink_scores_with_launcher_and_pool_of_the_image(image, shared, flink):
    port = free_port()
    pool = ["python", "/opt/beam-bleu/worker_pool.py", "--port", str(port)]
    inside = [word.replace(str(EXAMPLES), f"{shared}/examples") for word in map(str, EXAMPLE)]
    log = shared / "pool.log"
    with open(log, "wb") as stream:
        workers = subprocess.Popen(chroot.container(image, pool, [str(shared)]), stderr=stream)
    try:
        place = Place(shared)
        while not place.listening(port):
            assert workers.poll() is None
            time.sleep(0.1)
        flags = [*flink.flags(), f"--environment_config=127.0.0.1:{port}", f"--output={shared}/out"]
        code, _, err = run(image, "beam-bleu", *inside, *flags, "--verbose", bind=shared)
        assert code == 0, err
        assert " 0 compiled; cache folder: /opt/beam-bleu/kernel" in err
    finally:
        workers.kill()  # unshare ignores a SIGTERM; the pool ends with it
        workers.wait(timeout=30)
    assert "Starting worker" in log.read_text()
    assert "compiled code cannot be kept" not in log.read_text()  # nothing is compiled
    scores = (shared / "out" / "scores.json").read_bytes()
    assert scores == called(*EXAMPLE, "--format=json").out
    assert (shared / "out" / "scores.json").stat().st_uid == 10001
