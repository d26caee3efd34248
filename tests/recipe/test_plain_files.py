"""Plain repositories: manifests, compose files, Helm values, kustomize, and files that belong to recipes."""

from __future__ import annotations

import pytest

from bot.errors import BadInput, Refusal
from bot.layout import Layout, load
from bot.model.recipe import Edit
from bot.plan import movable
from bot.recipe import edit
from bot.recipe.read import read
from bot.recipe.shelf import Shelf
from tests.recipe.conftest import MemoryTree

VLLM, SGLANG = "vllm/vllm-openai", "lmsysorg/sglang"
CONTAINERS = ".spec.template.spec.containers.*.image"


def layout(recipes: str, *, allow: str = f"docker.io/{VLLM}, docker.io/{SGLANG}") -> Layout:
    return load(f"recipes: [{recipes}]\nallow: [{allow}]\n")


def files(**named: str) -> MemoryTree:
    return MemoryTree({name.replace("__", "/").replace("_", "."): text.encode() for name, text in named.items()})


def moved(tree: MemoryTree, found: Layout, keys: str, image: str) -> Edit:
    return edit.move(tree, found, keys.split(), image)


def after(tree: MemoryTree, found: Layout, keys: str, image: str) -> dict[str, str]:
    """The files that an edit changes. Undone, it must give the bytes back."""
    old = read(tree, found, keys.split()[0]).image
    made = moved(tree, found, keys, image).files
    assert moved(tree.after(made), found, keys, old).files == {name: tree.files[name] for name in made}
    return {name: data.decode() for name, data in made.items()}


def deployment(name: str, *images: str) -> str:
    listed = "".join(f"        - image: {image}\n" for image in images)
    return f"kind: Deployment\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n      containers:\n{listed}"


class TestManifests:
    KUBE = f"{{files: '*.yaml', key: .metadata.name, image: [{CONTAINERS}, .spec.template.spec.initContainers.*.image]}}"

    def test_of_one_name_are_no_two_recipes_where_only_one_has_an_image(self) -> None:
        service = "kind: Service\nmetadata: {name: chat}\nspec: {ports: []}\n"
        tree = files(a_yaml=f"{service}---\n{deployment('chat', f'{VLLM}:v1')}---\n{service}", b_yaml=service)
        assert list(Shelf(tree).homes(layout(self.KUBE))) == ["chat"]
        assert after(tree, layout(self.KUBE), "chat", f"{VLLM}:v2") == {"a.yaml": tree.files["a.yaml"].decode().replace("v1", "v2")}

    def test_that_hold_no_image_are_named_when_asked_for(self) -> None:
        tree = files(a_yaml="kind: Service\nmetadata: {name: front}\n", b_yaml=deployment("chat", f"{VLLM}:v1"))
        with pytest.raises(BadInput, match=r"a\.yaml:1: front: this recipe names no image: expected at \.spec\.template\.spec\.containers"):
            moved(tree, layout(self.KUBE), "front", f"{VLLM}:v2")

    @pytest.mark.parametrize("images", [("nginx:1.27", f"{VLLM}:v1"), (f"{VLLM}:v1", "nginx:1.27", f"{VLLM}:v1"), (f"'{VLLM}:v1'",)])
    def test_move_the_image_that_the_layout_allows_and_no_sidecar(self, images: tuple[str, ...]) -> None:
        tree = files(a_yaml=deployment("chat", *images))
        assert after(tree, layout(self.KUBE), "chat", f"{VLLM}:v2") == {"a.yaml": deployment("chat", *images).replace("v1", "v2")}
        assert movable(tree, layout(self.KUBE), "chat") == ("chat",)

    def test_with_two_tags_of_one_repository_are_refused_until_the_layout_picks_one(self) -> None:
        """BR068: a change of one tag rewrote the other."""
        tree = files(a_yaml=deployment("chat", f"{VLLM}:v1", f"{VLLM}:v1-cpu"))
        with pytest.raises(BadInput) as caught:
            moved(tree, layout(self.KUBE), "chat", f"{VLLM}:v2")
        where = ".spec.template.spec.containers.0.image"
        assert f"{VLLM}:v1 at {where}, {VLLM}:v1-cpu at" in str(caught.value) and "write the path of one" in str(caught.value)
        picked = layout(f"{{files: '*.yaml', key: .metadata.name, image: [{where}]}}")
        assert after(tree, picked, "chat", f"{VLLM}:v2") == {"a.yaml": deployment("chat", f"{VLLM}:v2", f"{VLLM}:v1-cpu")}

    def test_without_an_allow_list_begin_with_the_recipes_image_and_the_others_are_told(self) -> None:
        tree, found = files(a_yaml=deployment("chat", f"{VLLM}:v1", f"{VLLM}:v0", "nginx:1")), layout(self.KUBE, allow="")
        made = moved(tree, found, "chat", f"{VLLM}:v2")
        assert made.files["a.yaml"].decode() == deployment("chat", f"{VLLM}:v2", f"{VLLM}:v0", "nginx:1")
        assert [line.split(": ", 1)[1] for line in made.findings] == [
            f"spec.template.spec.containers.1.image says {VLLM}:v0, the recipe {VLLM}:v1; it stays",
            "spec.template.spec.containers.2.image is another image, nginx:1; it stays"]

    def test_with_an_image_of_another_tool_are_not_written_over(self) -> None:
        tree = files(a_yaml=deployment("chat", "'{{ .Values.image }}'"), b_yaml=deployment("talk", "${IMAGE:-x/y:1}"))
        for key in ("chat", "talk"):
            with pytest.raises(BadInput, match="its image is filled in from elsewhere"):
                moved(tree, layout(self.KUBE), key, f"{VLLM}:v2")


class TestComposeFiles:
    def test_hold_a_recipe_a_service_that_has_an_image(self) -> None:
        text = f"name: x\nservices:\n  chat: {{image: '{VLLM}:v1'}}\n  built: {{build: .}}\n  talk:\n    image: {VLLM}:v1\n"
        tree, found = files(compose_yaml=text), layout("{files: compose.yaml, key: .services.*}")
        assert list(Shelf(tree).homes(found)) == ["chat", "talk"]
        assert after(tree, found, "talk", f"{VLLM}:v2")["compose.yaml"] == text.replace(f"image: {VLLM}:v1\n", f"image: {VLLM}:v2\n")

    def test_share_an_anchor_or_not_and_are_edited_only_together(self) -> None:
        text = f"services:\n  a: {{image: &i {VLLM}:v1}}\n  b: {{image: *i}}\n"
        tree, found = files(compose_yaml=text), layout("{files: compose.yaml, key: .services.*}")
        with pytest.raises(Refusal, match="cannot be edited without touching something else"):
            moved(tree, found, "a", f"{VLLM}:v2")
        assert after(tree, found, "a b", f"{VLLM}:v2")["compose.yaml"] == text.replace("v1", "v2")


class TestAnImageInParts:
    HELM = "{files: values.yaml, key: chat, image: [.image]}"

    @pytest.mark.parametrize(("text", "to", "made"), [
        (f"image:\n  repository: {VLLM}\n  tag: v1  # pinned\n", f"{VLLM}:v2", f"image:\n  repository: {VLLM}\n  tag: v2  # pinned\n"),
        (f"image: {{registry: docker.io, repository: {VLLM}, tag: 'v1'}}\n", f"{VLLM}:v2",
         f"image: {{registry: docker.io, repository: {VLLM}, tag: 'v2'}}\n"),
        (f"image: {{repository: {VLLM}, tag: v1, digest: ''}}\n", "ghcr.io/a/b:v2", "image: {repository: ghcr.io/a/b, tag: v2, digest: ''}\n"),
        (f"image: {{repository: {VLLM}, tag: v1}}\n", f"{VLLM}:1.20", f"image: {{repository: {VLLM}, tag: '1.20'}}\n"),
        (f"image: {{repository: {VLLM}, digest: 'sha256:{'a' * 64}'}}\n", f"{VLLM}@sha256:{'b' * 64}",
         f"image: {{repository: {VLLM}, digest: 'sha256:{'b' * 64}'}}\n"),
    ])
    def test_of_helm_moves_part_by_part(self, text: str, to: str, made: str) -> None:
        found = layout(self.HELM, allow="")
        assert moved(files(values_yaml=text), found, "chat", to).files["values.yaml"].decode() == made

    def test_of_kustomize_keeps_the_name_that_it_is_found_by(self) -> None:
        found = layout("{files: kustomization.yaml, key: chat, image: [.images.*]}")
        tree = files(kustomization_yaml=f"images:\n- name: nginx\n  newTag: '1.27'\n- {{name: engine, newName: {VLLM}, newTag: v1}}\n")
        assert after(tree, found, "chat", f"{VLLM}:v2")["kustomization.yaml"] == tree.files["kustomization.yaml"].decode().replace(
            "v1", "v2")
        bare = files(kustomization_yaml=f"images: [{{name: {VLLM}, newTag: v1}}]\n")
        with pytest.raises(Refusal, match=f"does not fit {VLLM}:<images.0.newTag>"):
            moved(bare, found, "chat", f"{SGLANG}:v2")

    @pytest.mark.parametrize(("text", "to", "said"), [
        (f"image: {{repository: {VLLM}, tag: 1.20}}\n", f"{VLLM}:v2", "values.yaml:1: image.tag: image.tag is no text: put it in quotes"),
        (f"image: {{repository: {VLLM}, tag: v1}}\n", f"{VLLM}:v2@sha256:{'b' * 64}", "does not fit <image.repository>:<image.tag>"),
        (f"image: {{repository: {VLLM}, tag: v1, digest: 'sha256:{'a' * 64}'}}\n", f"{VLLM}@sha256:{'b' * 64}", "does not fit"),
        (f"image: {{repository: {VLLM}}}\n", f"{VLLM}:v2", "does not fit <image.repository>"),
        (f"image: {{repository: {VLLM}, tag: 'v1@sha256:{'a' * 64}'}}\n", f"{VLLM}@sha256:{'b' * 64}", "does not fit"),
        (f"image:\n  repository: {VLLM}\n  tag: v1\n  digest:\n", f"{VLLM}:v2@sha256:{'b' * 64}", "does not fit"),
        (f"image: {{repository: {VLLM}, tag: v1, tag: v2}}\n", f"{VLLM}:v3", "values.yaml:1: tag: this key stands twice"),
        ("image: {tag: v1}\n", f"{VLLM}:v2", "chat: this recipe names no image"),
    ])
    def test_is_refused_where_a_part_cannot_say_it(self, text: str, to: str, said: str) -> None:
        with pytest.raises((BadInput, Refusal)) as caught:
            moved(files(values_yaml=text), layout(self.HELM), "chat", to)
        assert said in str(caught.value)


class TestAPartThatIsEmpty:
    """`digest: ""` is how charts write that there is none: it is the place of one."""

    HELM = TestAnImageInParts.HELM
    PINNED = f"image: {{repository: {VLLM}, tag: v1, digest: 'sha256:{'a' * 64}'}}\n"
    EMPTY = PINNED.replace(f"sha256:{'a' * 64}", "")

    @pytest.mark.parametrize(("text", "to", "made"), [
        (EMPTY, f"{VLLM}:v2@sha256:{'a' * 64}", PINNED.replace("v1", "v2")),
        (PINNED, f"{VLLM}:v2", EMPTY.replace("v1", "v2")),
        (PINNED.replace("'", ""), f"{VLLM}:v2", EMPTY.replace("v1", "v2")),
        (EMPTY.replace("''", "~"), f"{VLLM}:v1@sha256:{'a' * 64}", PINNED.replace("'", "")),
        (EMPTY.replace("''", "null"), f"{VLLM}:v2", EMPTY.replace("v1", "v2").replace("''", "null")),
        (f"image: {{registry: '', repository: {VLLM}, tag: v1}}\n", "ghcr.io/a/b:v2", "image: {registry: 'ghcr.io', repository: a/b, tag: v2}\n"),
        (f"image: {{registry: '', repository: {VLLM}, tag: v1}}\n", "a/b:v2", "image: {registry: '', repository: a/b, tag: v2}\n"),
        ("image: {registry: '', repository: ghcr.io/a/b, tag: v1}\n", "ghcr.io/a/b:v2", "image: {registry: '', repository: ghcr.io/a/b, tag: v2}\n"),
        (f"image: {{repository: {VLLM}, tag: ''}}\n", f"{VLLM}:v2", f"image: {{repository: {VLLM}, tag: 'v2'}}\n"),
        (f"image: {{repository: {VLLM}, tag: 'v1@sha256:{'a' * 64}'}}\n", f"{VLLM}:v2", f"image: {{repository: {VLLM}, tag: 'v2'}}\n"),
    ])
    def test_is_filled_in_and_emptied_as_the_image_has_it(self, text: str, to: str, made: str) -> None:
        assert moved(files(values_yaml=text), layout(self.HELM, allow=""), "chat", to).files["values.yaml"].decode() == made

    def test_is_no_site_while_it_stays_empty(self) -> None:
        made = moved(files(values_yaml=self.EMPTY), layout(self.HELM), "chat", f"{VLLM}:v2")
        assert [site.path for site in made.sites] == ["image.repository", "image.tag"]


class TestAValueThatIsNoImage:
    @pytest.mark.parametrize(("value", "kind"), [("3", "a number"), ("1.20", "a number"), ("no", "a truth value"), ("2024-01-02", "a date"), ("=", "no text")])
    def test_for_its_type_is_told_with_its_line(self, value: str, kind: str) -> None:
        with pytest.raises(BadInput, match=rf"a\.yaml:2: image: image is {kind}: put it in quotes"):
            moved(files(a_yaml=f"name: a\nimage: {value}\n"), layout("{files: a.yaml}"), "a", f"{VLLM}:v2")

    @pytest.mark.parametrize("value", ["", "null", "~", "''"])
    def test_for_it_says_nothing_is_none(self, value: str) -> None:
        with pytest.raises(BadInput, match="this recipe names no image"):
            moved(files(a_yaml=f"name: a\nimage: {value}\n"), layout("{files: a.yaml}"), "a", f"{VLLM}:v2")

    @pytest.mark.parametrize(("text", "path"), [
        (f"image: {{repository: {VLLM}, tag: v1}}\n", ".image.tag"), (f"image: {{repository: {VLLM}, tag: ''}}\n", ".image.repository"),
        (f"images: [{{name: x, newName: {VLLM}, newTag: v1}}]\n", ".images.*.newTag"), (f"{{repository: {VLLM}, digest: x}}\n", ".digest"),
    ])
    def test_for_it_is_but_a_part_of_one_takes_no_whole(self, text: str, path: str) -> None:
        with pytest.raises(BadInput, match=r"a\.yaml:1: .* is a part of the image that .* holds: name that mapping in the layout"):
            moved(files(a_yaml=text), layout(f"{{files: a.yaml, key: chat, image: ['{path}']}}"), "chat", f"{VLLM}:v2")

    def test_in_part_may_be_a_whole_one(self) -> None:
        found = layout("{files: a.yaml, key: chat, image: [.image.repository]}")
        assert after(files(a_yaml=f"image: {{repository: '{VLLM}:v1'}}\n"), found, "chat", f"{VLLM}:v2") == {
            "a.yaml": f"image: {{repository: '{VLLM}:v2'}}\n"}


class TestFilesThatBelongToRecipes:
    LINKED = "{files: deploy/*.yaml, key: .name, linked: {files: [Dockerfile, values.yaml]}}"

    def tree(self, **more: str) -> MemoryTree:
        return files(**{"deploy__a_yaml": f"name: a\nimage: {VLLM}:v1\n", "deploy__b_yaml": f"name: b\nimage: {SGLANG}:v1\n",
                        "Dockerfile": f"FROM {VLLM}:v1\nCOPY --from={VLLM}:v0 x y\n",
                        "values_yaml": f"x: [{{image: {{repository: {VLLM}, tag: v1}}}}]\nold: '{VLLM}:v1'\ny: {SGLANG}:v1\n", **more})

    def test_move_where_they_hold_its_image_and_nowhere_else(self) -> None:
        tree = self.tree()
        found = layout(self.LINKED)
        assert sorted(after(tree, found, "a", f"{VLLM}:v2")) == ["Dockerfile", "deploy/a.yaml", "values.yaml"]
        made = moved(tree, found, "a", f"{VLLM}:v2")
        assert made.files["Dockerfile"].decode() == f"FROM {VLLM}:v2\nCOPY --from={VLLM}:v0 x y\n"
        assert made.files["values.yaml"] == tree.files["values.yaml"].replace(b"tag: v1", b"tag: v2").replace(b"openai:v1", b"openai:v2")
        assert made.findings == (f"Dockerfile:2: COPY.0 says {VLLM}:v0, the recipe {VLLM}:v1; it stays",)
        assert sorted(after(tree, found, "b", f"{SGLANG}:v2")) == ["deploy/b.yaml", "values.yaml"]

    def test_hold_it_only_at_the_paths_named_where_some_are(self) -> None:
        found = layout("{files: deploy/*.yaml, key: .name, linked: {files: [values.yaml], image: [.old]}}")
        assert after(self.tree(), found, "a", f"{VLLM}:v2")["values.yaml"] == (
            self.tree().files["values.yaml"].decode().replace("openai:v1", "openai:v2"))

    def test_move_with_every_recipe_whose_image_they_hold_or_not_at_all(self) -> None:
        tree = self.tree(deploy__c_yaml=f"name: c\nimage: {VLLM}:v1\n")
        with pytest.raises(Refusal, match="Dockerfile is shared with c: name c too"):
            moved(tree, layout(self.LINKED), "a", f"{VLLM}:v2")
        assert len(after(tree, layout(self.LINKED), "a c", f"{VLLM}:v2")) == 4

    def test_may_be_recipes_themselves(self) -> None:
        found = layout(f"{self.LINKED}, {{files: Dockerfile}}")
        for key, other in (("a", "Dockerfile"), ("Dockerfile", "a")):
            with pytest.raises(Refusal, match=f"Dockerfile is shared with {other}"):
                moved(self.tree(), found, key, f"{VLLM}:v2")

    @pytest.mark.parametrize("text", [
        f"a: {{image: &i {VLLM}:v1}}\nb: {{image: *i}}\nc: [*i]\n", f"a: &c {{image: {VLLM}:v1}}\nb: {{<<: *c}}\nd: {{<<: *c, image: x}}\n",
        f"a: &c {{image: {{repository: {VLLM}, tag: v1}}}}\nb: {{<<: *c}}\n"])
    def test_move_at_an_anchor_and_all_that_use_it(self, text: str) -> None:
        found = layout("{files: deploy/*.yaml, key: .name, linked: {files: [values.yaml]}}")
        assert after(self.tree(values_yaml=text), found, "a", f"{VLLM}:v2")["values.yaml"] == text.replace("v1", "v2")

    def test_cost_no_time_where_aliases_unfold_without_end(self) -> None:
        levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20))
        with pytest.raises(Refusal, match="cannot be edited"):
            moved(self.tree(values_yaml=f"a0: &a0 [{VLLM}:v1]\n{levels}"), layout(self.LINKED), "a", f"{VLLM}:v2")

    def test_that_cannot_be_read_stop_the_edit(self) -> None:
        with pytest.raises(BadInput, match=r"values\.yaml:2: not YAML"):
            moved(self.tree(values_yaml="x: [\n"), layout(self.LINKED), "a", f"{VLLM}:v2")
