"""What a plan asks: a pinned part against the new engine and the old, the engine against its kernels, and what would fit."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from bot.model.uses import Pin, Used, Uses, Written
from bot.upstream.engines import Engine
from bot.upstream.imports import coupled, fits, kernels, newer
from bot.upstream.imports.pins import pinned
from tests.upstream.imports_world import PART, Files, surveyed

AT = Written(file="recipe.yaml")
ENGINE = Engine(repositories=(), module="engine", package="engine", folder="python", kernels={"toy_kernel": "sglang-kernel"},
                commands=("python3 -m engine.launch",))
KNOWN = {"engine": ENGINE}
PIN = Pin(name="part", package="part", module="part", version="1.0", at=AT)
OLD = {"python/engine/__init__.py": "", "python/engine/old.py": "", "python/engine/always.py": ""}
NEW = {"python/engine/__init__.py": "", "python/engine/always.py": ""}


def asked(consumer: Mapping[str, str], *options: Used, old: Mapping[str, str] | None = OLD):
    return coupled(PIN, Files({**PART, **consumer}), ENGINE, Files(NEW), Files(old) if old is not None else None, surveyed,
                   known=KNOWN, called="engine 2.0", uses=Uses(engine="engine", options=tuple(one for one in options if one.kind == "option"),
                             environment=tuple(one for one in options if one.kind == "environment")))


class TestAPinnedPart:
    def test_is_held_against_the_old_engine_too(self) -> None:
        told = asked({"part/engine/main.py": "import engine.old\nimport engine.never\n"})
        assert [row.module for row in told.missing] == ["engine.old", "engine.never"]
        assert told.before is not None and [row.module for row in told.before] == ["engine.never"]
        assert (told.consumer, told.provider, told.kernel) == ("part 1.0", "engine 2.0", False)

    def test_of_an_old_engine_that_nobody_has_is_not_known(self) -> None:
        assert asked({"part/engine/main.py": ""}, old=None).before is None
        assert asked({"part/engine/main.py": ""}, old={"README": ""}).before is None

    def test_is_made_to_run_more_by_an_option(self) -> None:
        files = {"part/engine/main.py": "", "part/frontend/__init__.py": "", "part/frontend/main.py": "",
                 "part/frontend/engine_processor.py": "import engine.old\n"}
        option = Used(kind="option", name="--dyn-chat-processor", value="engine", at=AT, program="part.frontend")
        assert [(row.stops, row.needs) for row in asked(files).missing] == [(False, ())]
        assert [(row.stops, row.needs) for row in asked(files, option).missing] == [(False, ("dyn_chat_processor=engine",))]

    @pytest.mark.parametrize("declares", [
        'add_argument(group, flag_name="--dyn-chat-processor", env_var="DYN_CHAT", default="x")',
        'parser.add_argument("--dyn-chat-processor", default=os.environ.get("DYN_CHAT", "x"))',
        'parser.add_argument("--dyn-chat-processor", default=os.environ["DYN_CHAT"])',
        '@click.option("--dyn-chat-processor", "processor", envvar=["DYN_CHAT"])\ndef main(processor): ...'])
    def test_is_made_to_run_more_by_a_variable_that_its_parser_declares(self, declares) -> None:
        files = {"part/engine/main.py": "", "part/frontend/__init__.py": "", "part/frontend/args.py": declares + "\n",
                 "part/frontend/engine_processor.py": "import engine.old\n"}
        option = Used(kind="option", name="--dyn-chat-processor", value="engine", at=AT, program="part.frontend")
        variable = Used(kind="environment", name="DYN_CHAT", value="engine", at=AT)
        told = asked(files, variable)
        assert [row.needs for row in told.missing] == [("dyn_chat_processor=engine",)]
        assert [(name, used.name, used.value) for name, used in told.asked] == [("DYN_CHAT", "--dyn-chat-processor", "engine")]
        said = replace(option, value="own")
        for others in ((replace(variable, name="DYN_OTHER"),), (replace(variable, value="own"),), (variable, said)):
            told = asked(files, *others)
            assert ([row.needs for row in told.missing], told.asked) == ([()], ())


class TestTheKernels:
    METADATA = '[project]\nname = "engine"\ndependencies = ["torch", "sglang-kernel=={}"]\n'
    WHEELS = {"0.4.7": {"toy_kernel/__init__.py": "a = 1\n"}, "0.4.8": {"toy_kernel/__init__.py": "a = b = 1\n"}}

    def engine(self, pin: str, text: str) -> Files:
        return Files({"python/pyproject.toml": self.METADATA.format(pin), "python/engine/__init__.py": "",
                      "python/engine/launch.py": text})

    def told(self, new: Files, old: Files | None, vendor: str | None = None):
        return kernels(ENGINE, new, old, surveyed, lambda name, version: Files(self.WHEELS[version]) if version in self.WHEELS else None,
                       known=KNOWN, called="engine 2.0", vendor=vendor)

    def test_that_the_engine_pins_lack_what_it_calls(self) -> None:
        (told,) = self.told(self.engine("0.4.7", "from toy_kernel import a, b\n"), self.engine("0.4.7", "from toy_kernel import a\n"))
        assert [(row.name, row.stops) for row in told.missing] == [("b", True)]
        assert (told.kernel, told.before, told.provider) == (True, (), "sglang-kernel 0.4.7")

    def test_have_it_in_the_version_that_goes_with_it(self) -> None:
        (told,) = self.told(self.engine("0.4.8", "from toy_kernel import a, b\n"), None)
        assert (told.missing, told.before) == ((), None)

    @pytest.mark.parametrize(("text", "rows"), [
        ("_is_hip = is_hip()\nif _is_hip:\n    from toy_kernel import b\n", []),
        ("_is_cuda = is_cuda()\nif _is_cuda:\n    from toy_kernel import b\n", [True]),
        ("if is_cuda() and not is_npu():\n    from toy_kernel import b\n", [True]),
        ("if current_platform.is_rocm():\n    pass\nelse:\n    from toy_kernel import b\n", [True]),
        ("if mode() == 3:\n    from toy_kernel import b\n", [False]),
    ])
    def test_are_those_of_one_platform(self, text: str, rows: list[bool]) -> None:
        (told,) = self.told(self.engine("0.4.7", text), None)
        assert [row.stops for row in told.missing] == rows

    def test_are_unknown_without_the_wheel_and_none_on_other_gpus(self) -> None:
        assert self.told(self.engine("0.9.9", "import toy_kernel\n"), None) == ()
        assert self.told(self.engine("0.4.7", "import toy_kernel\n"), None, vendor="rocm") == ()


class TestAPin:
    @pytest.mark.parametrize("files", [
        {"python/pyproject.toml": '[project]\ndependencies = ["sglang-kernel==0.4.7"]\n'},
        {"pyproject.toml": '[project]\ndependencies = ["SGLang_Kernel == 0.4.7"]\n'},
        {"engine-2.0.dist-info/METADATA": "Name: engine\nRequires-Dist: sglang-kernel==0.4.7\n\nRequires-Dist: sglang-kernel==9\n"},
        {"engine-2.0.dist-info/METADATA": 'Requires-Dist: sglang-kernel==9; extra == "x"\nRequires-Dist: sglang-kernel==0.4.7\n'},
        {"docker/Dockerfile": "FROM x\nARG SGLANG_KERNEL_VERSION=0.4.7\n"},
    ])
    def test_is_read_where_it_stands(self, files: dict[str, str]) -> None:
        assert pinned(Files(files), ["sglang-kernel", "sgl-kernel"], "python") == ("sglang-kernel", "0.4.7")

    def test_may_have_the_packages_older_name(self) -> None:
        text = {"python/pyproject.toml": '[project]\ndependencies = ["sgl-kernel==0.3.21"]\n'}
        assert pinned(Files(text), ["sglang-kernel", "sgl-kernel"], "python") == ("sgl-kernel", "0.3.21")

    @pytest.mark.parametrize("text", ["", "[project", "[project]\ndependencies = 3\n", "project = 3\n",
                                      '[project]\ndependencies = ["sglang-kernel>=0.4"]\n', '[project]\ndependencies = ["==", 3]\n'])
    def test_that_is_none_is_none(self, text: str) -> None:
        assert pinned(Files({"pyproject.toml": text}), ["sglang-kernel"]) is None


class TestWhatFits:
    def test_is_the_newest_that_misses_nothing_among_a_few(self) -> None:
        parts = {"1.3": "import engine.old\n", "1.2": "import engine.always\n", "1.1": ""}
        tried: list[str] = []

        def tree(version: str) -> Files | None:
            tried.append(version)
            return Files({**PART, "part/engine/main.py": parts[version]}) if version in parts else None

        def check(part: Files):
            return coupled(PIN, part, ENGINE, Files(NEW), None, surveyed, known=KNOWN, called="", uses=Uses(engine="engine"))

        assert fits(["1.4", "1.3", "1.2", "1.1"], tree, check) == "1.2" and tried == ["1.4", "1.3", "1.2"]
        assert fits(["1.4", "1.3", "1.2"], tree, check, tries=2) is None

    def test_is_a_release_where_there_are_any(self) -> None:
        versions = ["1.4.dev1", "1.3", "1.2rc1", "1.2", "1.1"]
        assert newer(versions, "1.1") == ["1.3", "1.2"]
        assert newer(versions, "1.3") == ["1.4.dev1"] and newer(versions, "no version") == []
