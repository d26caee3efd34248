"""Packaged data in its two homes, a checkout and a wheel."""

from __future__ import annotations

import pytest

from bot.adapters.assets import PackagedAssets
from bot.errors import BadInput, Missing
from bot.images.tags import read


@pytest.fixture(params=["checkout", "wheel"])
def home(request, tmp_path):
    """A small package; templates/ beside it as in a checkout, or inside it as in a wheel."""
    package = tmp_path / "bot"
    templates = (tmp_path if request.param == "checkout" else package) / "templates"
    for path, text in {package / "knowledge/x.yaml": "a: 1\n", package / "layout/presets/own.yml": "b: 2\n",
                       package / "layout/presets/.hidden": "", package / "layout/presets/__pycache__/x": "",
                       templates / "en/say.md.j2": "hello", templates / "en/frames/full.md.j2": "frame",
                       templates / "zh/say.md.j2": "你好", templates / "en/.swp": "no"}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return PackagedAssets(package)


class TestPackagedData:
    def test_is_read_as_text_values_and_folders(self, home):
        assert home.text("knowledge/x.yaml") == "a: 1\n"
        assert home.knowledge("x") == {"a": 1}
        assert (home.folder("layout/presets") / "own.yml").read_text() == "b: 2\n"
        assert home.names("layout/presets") == ("own.yml",)

    def test_templates_are_the_same_in_both_homes(self, home):
        assert list(home.templates("en")) == [("frames/full.md.j2", "frame"), ("say.md.j2", "hello")]
        assert dict(home.templates("zh")) == {"say.md.j2": "你好"}
        assert home.text("templates/en/say.md.j2") == "hello"

    def test_that_is_not_there_is_missing_and_says_what_to_do(self, home):
        for ask in (lambda: home.text("knowledge/none.yaml"), lambda: home.folder("templates/fr"),
                    lambda: list(home.templates("fr")), lambda: home.text("layout"), lambda: home.knowledge("none")):
            with pytest.raises(Missing) as caught:
                ask()
            assert "reinstall" in caught.value.hint

    @pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b", "", "a\\b", "templates/../../x", "a\0b"])
    def test_paths_out_of_the_package_are_refused(self, home, path):
        for ask in (home.text, home.folder):
            with pytest.raises(BadInput):
                ask(path)

    def test_that_is_not_text_is_bad_input(self, home):
        (home.folder("knowledge") / "y.yaml").write_bytes(b"\xff")
        with pytest.raises(BadInput, match="UTF-8"):
            home.text("knowledge/y.yaml")


class TestTheInstallation:
    def test_carries_the_tag_schemes(self):
        assert len(read(PackagedAssets().text("knowledge/tags.yaml"))) > 15
        assert PackagedAssets().knowledge("tags")["schemes"]
