"""A server in an Enroot container, alone and under Slurm."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.bench.launch.enroot import CONFIG
from bot.errors import Missing, Refusal
from tests.bench.launch.worlds import FULL, IMAGE, PROGRAM, TOKEN, Scene, over


@pytest.fixture
def scene(tmp_path) -> Scene:
    made = Scene(tmp_path)
    made.world.install("enroot")
    return made


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


def squashed(scene: Scene) -> list[str]:
    return sorted(file.name for file in scene.folder.rglob("*.sqsh"))


class TestPlainEnroot:
    def test_imports_by_digest_runs_and_removes(self, scene):
        digest = scene.world.holds(FULL, program=PROGRAM)
        scene.env |= {"HF_TOKEN": TOKEN}
        with ExitStack() as stack:
            server = scene.begin(stack, "enroot", image=f"{IMAGE}@{digest}", env={"A": 1})
            log = scene.server_says("variables")
            assert server.over() is None
        assert scene.world.called("enroot", "import")[0][-1] == f"docker://vllm/vllm-openai:{digest}"
        assert server.launched.digest == digest
        assert "'--host', '127.0.0.1'" in log and "variables ['A', 'HF_TOKEN']" in log
        assert not list((scene.world.folder / "roots").iterdir())
        assert TOKEN not in f"{scene.launch_log}{scene.world.calls()}{server.launched}"

    def test_a_squash_file_is_kept_under_its_digest(self, scene, stack):
        digest = scene.world.holds(FULL, program=PROGRAM)
        for _ in range(2):
            with ExitStack() as one:
                scene.begin(one, "enroot", image=f"{IMAGE}@{digest}")
        assert len(scene.world.called("enroot", "import")) == 1
        assert [name.partition("-")[2] for name in squashed(scene)] == [f"{digest.replace(':', '-')}.sqsh"]

    def test_a_tag_is_imported_each_time_and_proves_no_digest(self, scene):
        scene.world.holds(FULL, program=PROGRAM)
        for _ in range(2):
            with ExitStack() as stack:
                launched = scene.begin(stack, "enroot").launched
        assert len(scene.world.called("enroot", "import")) == 2
        assert launched.digest is None and any("no digest" in note for note in launched.notes)
        assert squashed(scene) == []

    def test_an_import_that_breaks_off_leaves_no_half_file(self, scene):
        digest = scene.world.holds(FULL, program=PROGRAM)
        scene.world.breaks("import", "FATAL ERROR: write failed: No space left on device")
        with pytest.raises(Refusal, match="no space left"), ExitStack() as stack:
            scene.begin(stack, "enroot", image=f"{IMAGE}@{digest}")
        assert not [file for file in (scene.folder / ".cache").rglob("*") if file.is_file()]

    def test_no_such_image_and_another_platform_are_said(self, scene, stack):
        with pytest.raises(Refusal, match="there is no image"):
            scene.begin(stack, "enroot")
        scene.world.holds(FULL, program=PROGRAM, architecture="riscv64")
        with pytest.raises(Refusal, match="no build for this machine"):
            scene.begin(stack, "enroot")

    def test_a_registry_with_a_name_stands_before_the_hash(self, scene, stack):
        scene.world.holds("nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc18", program=PROGRAM)
        scene.begin(stack, "enroot", image="nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc18", engine="trtllm")
        assert scene.world.called("enroot", "import")[0][-1] == "docker://nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc18"

    def test_a_server_that_crashes_is_over(self, scene, stack):
        scene.world.holds(FULL, program=PROGRAM)
        assert over(scene.begin(stack, "enroot", args={"crash": True})) == "exit code 3"

    def test_without_enroot_that_is_said(self, tmp_path, stack):
        with pytest.raises(Missing, match="enroot is not installed"):
            Scene(tmp_path).begin(stack, "enroot")


class TestTheImagesOwnFiles:
    """Enroot would mount what an image's fstab names, and fill this client's variables into its environment."""

    READS = """set -e
common::envsubst() { [ ! -f "$1" ] || cat "$1"; }
start() { export ENROOT_ROOTFS="$1"; source "$2"; common::envsubst "$1/etc/fstab"; common::envsubst "$3"; common::envsubst /no/such; }
"""

    def said(self, tmp_path, reads: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "root" / "etc").mkdir(parents=True)
        (tmp_path / "root" / "etc" / "fstab").write_text("/var/run/docker.sock /x none bind\n")
        (tmp_path / "operators.fstab").write_text("/data /data none bind\n")
        (tmp_path / "made.conf").write_text(CONFIG)
        return subprocess.run(["bash", "-c", f'{reads}start "$@"', "bash", tmp_path / "root", tmp_path / "made.conf",
                               tmp_path / "operators.fstab"], capture_output=True, text=True)

    def test_are_not_read_and_the_operators_are(self, tmp_path):
        done = self.said(tmp_path, self.READS)
        assert (done.stdout, done.stderr, done.returncode) == ("/data /data none bind\n", "", 0)

    def test_an_enroot_that_reads_them_another_way_does_not_start(self, tmp_path):
        done = self.said(tmp_path, self.READS.replace("common::envsubst() {", "other() {"))
        assert done.returncode and not done.stdout and "not known here" in done.stderr

    def test_the_script_is_handed_over_and_removed(self, scene):
        scene.world.holds(FULL, program=PROGRAM)
        with ExitStack() as stack:
            command = scene.begin(stack, "enroot").launched.command
            file = Path(command[command.index("--conf") + 1])
            assert file.read_text() == CONFIG
        assert not file.exists()


class TestUnderSlurm:
    def test_a_step_of_the_allocation_on_this_node_is_cancelled_by_its_name(self, scene):
        scene.world.install("srun", "scancel", "squeue").holds(FULL, program=PROGRAM)
        scene.env |= {"SLURM_JOB_ID": "77"}
        with ExitStack() as stack:
            scene.begin(stack, "enroot", {"slurm": ("--partition=batch",)})
            scene.server_says("variables")
        [call] = scene.world.called("srun")
        assert call[1] == "--partition=batch" and {"--ntasks=1", "--nodes=1", "--overlap", "--gres=gpu:2"} < set(call)
        assert any(word.startswith("--nodelist=") for word in call)
        assert scene.world.called("scancel") == [["scancel", "77.3"]]  # neither the allocation nor another's step

    def test_a_job_of_its_own_takes_the_gpus_that_the_machine_file_names(self, scene):
        scene.world.install("srun", "scancel").holds(FULL, program=PROGRAM)
        with ExitStack() as stack:
            scene.begin(stack, "enroot", {"slurm": ("--partition=batch", "--gres=gpu:h200:2")})
            scene.server_says("variables")
        [call] = scene.world.called("srun")
        assert "--gres=gpu:2" not in call and "--overlap" not in call
        assert [word[:14] for word in scene.world.called("scancel")[0][1:]] == ["--name=bumpbot"]

    def test_srun_that_is_there_and_not_asked_for_is_not_used(self, scene, stack):
        scene.world.install("srun").holds(FULL, program=PROGRAM)
        scene.begin(stack, "enroot")
        assert scene.world.called("srun") == []
