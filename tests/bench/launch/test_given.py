"""What a container is handed of its machine: switches, and folders without what would open the machine."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from bot.bench.launch import given
from bot.bench.launch.clients import DOCKER
from bot.bench.launch.containers import _Container
from bot.bench.launch.gpus import Chosen
from bot.bench.launch.start import Start
from bot.errors import Refusal
from bot.model.bench import Machine
from tests.bench.launch.worlds import Scene
from tests.bench.launch.worlds import order as given_order


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


class TestWhatIsHandedOver:
    @pytest.mark.parametrize("name, value, recipe, told", [
        ("HF_HUB_OFFLINE", "1", {"HF_HUB_OFFLINE": "0"}, "HF_HUB_OFFLINE=1"),
        ("TRANSFORMERS_OFFLINE", "1", {"HF_HUB_OFFLINE": 0, "TRANSFORMERS_OFFLINE": False}, "HF_HUB_OFFLINE=1"),
        ("OTHER", "1", {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE=1")])
    def test_a_recipe_lifts_no_switch_of_the_operator(self, scene, name, value, recipe, told):
        scene.env |= {name: value}
        point = given_order(env=recipe)
        start = Start(order=point, machine=Machine(), host=scene.host, place=scene.place, stack=ExitStack(), port=8000)
        options, _ = _Container(start, DOCKER)._environment(Chosen())
        assert told in options and "HF_HUB_OFFLINE=0" not in options and "TRANSFORMERS_OFFLINE=0" not in options

    @pytest.mark.parametrize("folder, variable", [("daemon", "DOCKER_HOST"), ("", "XDG_RUNTIME_DIR"), ("daemon", "")])
    def test_a_folder_with_a_daemons_socket_is_not_mounted_wherever_it_lies(self, scene, folder, variable, monkeypatch):
        place = scene.folder / "d" / "daemon"
        place.mkdir(parents=True)
        monkeypatch.chdir(place)
        if variable:
            scene.env |= {variable: f"unix://{place}/sock" if variable == "DOCKER_HOST" else str(place)}
        else:
            socket.socket(socket.AF_UNIX).bind("sock")
        start = Start(order=given_order(), machine=Machine(mounts=(f"{scene.folder}/d/{folder}:/x",)), host=scene.host,
                      place=scene.place, stack=ExitStack(), port=8000)
        with pytest.raises(Refusal, match="daemons"):
            given.mounts(start)
