"""Docker's own logins as commands use them: the file, the variable, and programs that keep passwords."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import docker
from bot.errors import BadInput

CONFIG = json.dumps({"auths": {"r.example": {"auth": "x"}}})


def helper(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program `docker-credential-NAME` on the path."""
    file = folder / f"docker-credential-{name}"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


class TestALogin:
    def test_is_the_variables_before_the_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "config.json").write_text("{}")
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        assert docker.login() == {}
        monkeypatch.setenv("DOCKER_AUTH_CONFIG", CONFIG)
        assert docker.login() == json.loads(CONFIG)

    def test_that_is_no_object_is_told_with_its_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DOCKER_AUTH_CONFIG", "[]")
        with pytest.raises(BadInput, match="DOCKER_AUTH_CONFIG"):
            docker.login()

    def test_is_none_where_docker_never_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "nowhere"))
        assert docker.login() is None


class TestAHelper:
    def test_is_asked_for_the_registry_and_sees_no_secret_of_ours(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BUMPBOT_TOKEN", "hush-hush")
        monkeypatch.setenv("GITHUB_TOKEN", "hush-hush")
        helper(tmp_path, "toy", f"""/bin/cat > {tmp_path}/asked; /usr/bin/env > {tmp_path}/env
printf '{{"ServerURL": "x", "Username": "me", "Secret": "pat"}}'""", monkeypatch)
        assert docker.helped("toy", "r.example:5000") == ("me", "pat")
        assert (tmp_path / "asked").read_text() == "r.example:5000" and "hush-hush" not in (tmp_path / "env").read_text()

    @pytest.mark.parametrize(("script", "said"), [
        ("echo credentials not found in native keychain; exit 1", ""), ("echo '{}'", ""), ("echo nonsense", "was not heard"),
        ("""printf '{"Username": "<token>", "Secret": "x"}'""", "identity token"),
    ])
    def test_that_keeps_nothing_usable_makes_us_nobody(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                       capsys: pytest.CaptureFixture[str], script: str, said: str) -> None:
        helper(tmp_path, "toy", script, monkeypatch)
        assert docker.helped("toy", "r.example") is None
        assert said in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["absent-helper", "../../bin/sh", "a b", "-x", ""])
    def test_that_is_not_there_or_has_no_such_name_is_told(self, capsys: pytest.CaptureFixture[str], name: str) -> None:
        assert docker.helped(name, "r.example") is None
        assert capsys.readouterr().err
