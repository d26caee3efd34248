"""Whose rows prove a scope: the guest's own generator's, run for these stories as a program of the same command line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from bot import proof
from bot.adapters.generator import GuestGenerator
from bot.errors import Refusal, Unreachable
from bot.layout import Layout, resolve
from bot.model.recipe import Edit
from bot.proof import Proof
from bot.recipe import edit, matrix
from bot.recipe.read import read
from bot.recipe.shelf import Shelf
from tests.fakes.guests import COMMAND, DCP16, GLOBS, MASTER, NEW, OTHER, ROOT, SCRIPT, Files, code, guest, program

TRIM = 'parser.add_argument("--trim-conc", action="store_true")'
AFTER = f'moved = any(row["image"] == "{NEW}" for row in rows)\n'


@pytest.fixture(scope="module")
def layout() -> Layout:
    presets = {path.stem: path.read_text() for path in (ROOT / "bot" / "layout" / "presets").glob("*.yml")}
    return resolve("preset: inferencex\n", presets)


class Told(list[str]):
    """What was said on the way."""

    def __call__(self, line: str) -> None:
        self.append(line)


@cache
def generator(meddle: str = "pass", option: str = "pass") -> GuestGenerator:
    return GuestGenerator(COMMAND, GLOBS, code(meddle, option))


def proved(layout: Layout, asked: Any, keys: Sequence[str] = (DCP16,), moved: Edit | None = None,
           said: Told | None = None) -> Proof:
    """The proof of an edit of the excerpt, or of `moved`."""
    tree, say = Shelf(guest()), Told() if said is None else said
    moved = moved or edit.move(tree, layout, keys, NEW)
    return proof.prove(tree, layout, keys, moved, proof.witness(tree, layout, keys, asked, say), say)


def spoilt(layout: Layout, key: str, old: str, new: str) -> Edit:
    """An image edit that changes something else of a recipe too."""
    made = edit.move(Shelf(guest()), layout, [DCP16], NEW)
    before, found, after = made.files[MASTER].decode().partition(f"\n{key}:")
    assert old in after
    return replace(made, files={**made.files, MASTER: f"{before}{found}{after.replace(old, new, 1)}".encode()})


class TestTheGuestsGenerator:
    def test_proves_an_edit_of_the_image(self, layout: Layout) -> None:
        said = Told()
        found = proved(layout, generator(), said=said)
        assert (found.fault, found.notes, said) == (None, (), [])
        assert (found.scope.changed_rows, found.scope.other_rows_changed, found.scope.only_image) == (5, 0, True)
        assert found.scope.by == "generator"

    def test_proves_several_recipes_together(self, layout: Layout) -> None:
        found = proved(layout, generator(), (DCP16, OTHER))
        assert found.fault is None and found.scope.changed_rows > 5

    def test_sees_the_row_of_another_recipe(self, layout: Layout) -> None:
        moved = edit.move(Shelf(guest()), layout, [DCP16, OTHER], NEW)
        found = proved(layout, generator(), moved=moved)
        assert found.fault is not None and found.fault.startswith("another recipe: the row dsv4_8k1k")
        assert found.scope.only_image and found.scope.other_rows_changed > 0

    @pytest.mark.parametrize(("key", "old", "new", "said"), [
        (DCP16, "[1, 2, 4, 8, 16]", "[1, 2, 4, 8]", "at concurrency [16] vanished"),
        (DCP16, "[1, 2, 4, 8, 16]", "[1, 2, 4, 8, 16, 32]", "at concurrency [32] came"),
        (DCP16, "num-worker: 1\n", "num-worker: 2\n", f"{DCP16}: the row kimik3_p1x16_d0x16_conc1_kvdram-mooncake"),
        (DCP16, "dram-utilization: 0.1065", "dram-utilization: 0.2", "total-cpu-dram-gb 96 -> 180"),
        (DCP16, "agentic-coding:", "none-of-these:", f"the rows of {DCP16} dropped to nothing"),
        (OTHER, "tp: 8", "tp: 4", "another recipe: the row dsv4_8k1k at concurrency"),
        (OTHER, "fixed-seq-len:", "none-of-these:", "another recipe: the row dsv4_8k1k at concurrency"),
    ])
    def test_sees_what_changes_beside_the_image(self, layout: Layout, key: str, old: str, new: str, said: str) -> None:
        found = proved(layout, generator(), moved=spoilt(layout, key, old, new))
        assert found.fault is not None and said in found.fault

    def test_s_field_that_we_never_heard_of_counts(self, layout: Layout) -> None:
        found = proved(layout, generator(f"{AFTER}for row in rows: row['queue-token'] = 'b' if moved else 'a'"))
        assert found.fault is not None and 'queue-token "a" -> "b"' in found.fault

    def test_s_evals_count_by_themselves(self, layout: Layout) -> None:
        found = proved(layout, generator(f"{AFTER}if moved and asked.evals_only: rows = []"))
        assert found.fault == "evals of the family: the row kimik3_p1x16_d0x16_conc16_kvdram-mooncake at concurrency [16] vanished"

    def test_that_takes_the_image_from_elsewhere_is_seen(self, layout: Layout) -> None:
        found = proved(layout, generator("for row in rows: row['image'] = 'a/b:c'"))
        assert found.fault is not None and "no row of these recipes changed" in found.fault

    def test_that_refuses_the_files_after_the_edit_refuses_the_edit(self, layout: Layout) -> None:
        with pytest.raises(Refusal, match="after the edit: .*ValueError: no such image"):
            proved(layout, generator(f"{AFTER}if moved: raise ValueError('no such image')"))

    def test_that_refuses_the_files_as_they_stand_is_heard(self, layout: Layout) -> None:
        with pytest.raises(Refusal, match="ended with 1: ValueError: dram-utilization: Field required"):
            proved(layout, generator("raise ValueError('dram-utilization:\\n  Field required')"))

    @pytest.mark.parametrize("meddle", ["rows = []", f"{AFTER}rows = [] if asked.evals_only or not moved else rows",
                                        f"rows = [] if '{DCP16}' in asked.config_keys else rows"])
    def test_that_makes_no_row_of_a_recipe_proves_nothing(self, layout: Layout, meddle: str) -> None:
        with pytest.raises(Refusal, match=f"nothing was proved: by the guest's generator no row comes of {DCP16}"):
            proved(layout, generator(meddle), (OTHER, DCP16) if "config_keys" in meddle else (DCP16,))

    def test_that_makes_nothing_where_we_make_nothing_either_proves_nothing(self, layout: Layout) -> None:
        tree = guest()
        before, found, after = tree.files[MASTER].decode().partition(f"\n{DCP16}:")
        tree.files[MASTER] = f"{before}{found}{after.replace('agentic-coding:', 'none-of-these:', 1)}".encode()
        assert not matrix.generated(Shelf(tree), layout, Shelf(tree).homes(layout)[DCP16])
        with pytest.raises(Refusal, match="nothing was proved"):
            proof.witness(Shelf(tree), layout, [DCP16], generator(), Told())

    def test_is_not_asked_where_nothing_changes(self, layout: Layout) -> None:
        tree = Shelf(guest())
        moved = edit.move(tree, layout, [DCP16], tree.home(layout, DCP16).text(".image") or "")
        assert not moved.files
        assert proof.prove(tree, layout, [DCP16], moved, None, Told()).notes == ()


class TestCodeThatCannotBeAsked:
    """It is there, so the guest's answer is to be had: nothing is proved without it."""

    @pytest.mark.parametrize(("text", "why"), [
        (b"import pydantic_of_nobody", "does not start: ModuleNotFoundError: No module named pydantic_of_nobody"),
        (b"raise SystemExit(3)", "does not start: it said nothing"), (b"print('no help here')", "lists no option in its --help"),
        (b"import time; time.sleep(60)", "did not end within 1 s"),
        (program(option='raise SystemExit("half installed")'), "does not start: half installed"),
        (program("import time; time.sleep(60)"), "did not end within 1 s"),
        (program("print('not json')"), "not JSON"),
    ])
    def test_refuses_with_its_last_words_and_what_to_do(self, layout: Layout, text: bytes, why: str) -> None:
        said = Told()
        with pytest.raises(Refusal, match=why) as refused:
            proved(layout, GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: text}), limit_s=1.0), said=said)
        assert refused.value.hint and said == []

    @pytest.mark.parametrize(("command", "why"), [("no-python-here x.py", "no such program: no-python-here"),
                                                  ("", "names no generator-command")])
    def test_by_a_command_that_is_not_there(self, layout: Layout, command: str, why: str) -> None:
        with pytest.raises(Refusal, match=f"{why}.*generator-files: \\[\\]"):
            proved(layout, GuestGenerator(command, GLOBS, code()))

    def test_any_more_after_the_edit(self, layout: Layout) -> None:
        hangs = GuestGenerator(COMMAND, GLOBS, code(f"{AFTER}if moved: __import__('time').sleep(60)"), limit_s=1.0)
        with pytest.raises(Refusal, match="after the edit: the guest's generator did not end within 1 s"):
            proved(layout, hangs)

    def test_for_what_lies_where_nobody_answers_is_an_outage(self, layout: Layout) -> None:
        class Away(Files):
            def read(self, path: str) -> bytes | None:
                raise Unreachable("no answer")

        with pytest.raises(Unreachable, match="no answer"):
            proved(layout, GuestGenerator(COMMAND, GLOBS, Away(code().files)))


class TestWhereThereIsNone:
    """Our own rows prove what they can, and it is said that they did."""

    @pytest.mark.parametrize(("asked", "why"), [
        (GuestGenerator(COMMAND, GLOBS, Files({})), "the guest's generator is not there"),
        (GuestGenerator(COMMAND, (), code()), "the guest's generator is not asked: the layout's generator-files name none"),
        (GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: program().replace(b"test-config", b"full-sweep")})),
         "the guest's generator knows no command test-config"),
        (GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: program().replace(b"--config-keys", b"--key")})),
         "the guest's generator knows no option --config-keys of test-config"),
    ])
    def test_its_reason_is_told(self, layout: Layout, asked: Any, why: str) -> None:
        said = Told()
        found = proved(layout, asked, said=said)
        assert found.fault is None and found.scope.by == "bumpbot" and found.scope.changed_rows == 5
        assert said == [f"the scope is proved by bumpbot's own rows: {why}"]
        assert [note.en for note in found.notes] == [
            "the guest's own generator could not be asked here: the scope was proved by bumpbot's own rows"]

    def test_our_own_rows_see_the_same_faults(self, layout: Layout) -> None:
        for key, old, new in ((DCP16, "[1, 2, 4, 8, 16]", "[1, 2, 4, 8]"), (OTHER, "tp: 8", "tp: 4")):
            moved = spoilt(layout, key, old, new)
            theirs, ours = proved(layout, generator(), moved=moved), proved(layout, None, moved=moved)
            assert ours.fault == theirs.fault is not None
            assert replace(ours.scope, by="generator") == theirs.scope


class TestWhereTheRowsDiffer:
    """The guest's are the authority."""

    def seen(self, layout: Layout, meddle: str) -> tuple[Any, Told]:
        said = Told()
        return proof.witness(Shelf(guest()), layout, [DCP16], generator(meddle), said), said

    def test_it_is_told_with_recipe_and_field(self, layout: Layout) -> None:
        witness, said = self.seen(layout, "for row in rows: row['duration'] = 1800")
        assert witness is not None and len(said) == 1
        assert said[0].startswith(f"bumpbot's own rows are not the guest's, whose count: {DCP16}: the row kimik3")
        assert said[0].endswith("duration 3600 -> 1800")
        assert [note.en for note in witness.notes] == [
            f"the guest's generator and bumpbot's own rows disagree on {DCP16}; the generator's count"]

    def test_the_points_are_those_of_the_guest(self, layout: Layout) -> None:
        tree = Shelf(guest())
        witness, _ = self.seen(layout, "rows = [row for row in rows if row['conc'] != [8]]")
        recipe, = proof.recipes(tree, layout, [read(tree, layout, DCP16)], witness)
        assert [(point.kind, point.concurrency) for point in recipe.points] == [
            ("throughput", 1), ("throughput", 2), ("throughput", 4), ("throughput", 16), ("eval", 16)]
        assert recipe.points[-1].eval is not None and recipe.points[-1].eval.task == "gsm8k"

    def test_an_eval_that_only_one_of_both_picks_is_told(self, layout: Layout) -> None:
        witness, said = self.seen(layout, "if asked.evals_only: rows = []")
        assert witness is not None and "evals: the row kimik3_p1x16_d0x16_conc16" in said[0] and "vanished" in said[0]
        recipe, = proof.recipes(Shelf(guest()), layout, [read(Shelf(guest()), layout, DCP16)], witness)
        assert {point.kind for point in recipe.points} == {"throughput"}

    def test_where_they_agree_the_points_are_ours_and_the_same(self, layout: Layout) -> None:
        tree = Shelf(guest())
        witness, said = self.seen(layout, "pass")
        recipe = read(tree, layout, DCP16)
        assert said == [] and proof.recipes(tree, layout, [recipe], witness) == (recipe,)
        assert matrix.of_rows(tree, layout, witness.before.family, witness.before.evals) == recipe.points

    def test_an_old_generator_without_evals_is_asked_for_rows_alone(self, layout: Layout) -> None:
        (name, text), = code().files.items()
        lines = [line for line in text.decode().splitlines() if "either" not in line]
        text = "\n".join(lines).replace("asked.no_evals", "True").replace("asked.evals_only", "False").encode()
        said = Told()
        found = proved(layout, GuestGenerator(COMMAND, GLOBS, Files({name: text})), said=said)
        assert found.scope.by == "generator" and found.fault is None and found.scope.changed_rows == 5
        assert said == ["the guest's generator knows no --evals-only: its evals are not compared"]


class TestTheSmoke:
    def asked(self, layout: Layout, meddle: str = "pass", option: str = "pass", *, control: bool = False, **smoke: Any) -> Layout:
        """Plans a smoke as the layout says, and asks for its rows; the layout that came of it."""
        assert layout.smoke is not None
        layout = replace(layout, smoke=replace(layout.smoke, **smoke))
        tree, say = Shelf(guest()), Told()
        witness = proof.witness(tree, layout, [DCP16], generator(meddle, option), say)
        layout, family = proof.stages(layout, witness), [read(tree, layout, DCP16)]
        assert layout.smoke is not None
        points = matrix.smoke(family[0].points, sample=50, stages=layout.smoke.stages)
        proof.smoke(tree, layout, family, points, edit.move(tree, layout, [DCP16], NEW), witness, control=control)
        return layout

    def test_is_asked_for_a_control_arm_as_for_a_repeat(self, layout: Layout) -> None:
        assert layout.smoke is not None and self.asked(layout, control=True) == layout
        wrong = {**layout.smoke.arguments, "repeat": ("--no-evals", "--conc", "3")}
        assert self.asked(layout, arguments=wrong)
        with pytest.raises(Refusal, match="the smoke's repeat would run nothing"):
            self.asked(layout, arguments=wrong, control=True)

    def test_runs_where_every_stage_has_its_rows(self, layout: Layout) -> None:
        assert self.asked(layout) == layout

    def test_uses_a_newer_option_where_it_is_known(self, layout: Layout) -> None:
        found = self.asked(layout, option=TRIM, stages=("trim",))
        assert found.smoke is not None and found.smoke.stages == ("trim",)

    def test_falls_back_where_it_is_not(self, layout: Layout) -> None:
        found = self.asked(layout, stages=("trim",))
        assert found.smoke is not None and found.smoke.stages == ("evals", "lowest")

    def test_of_no_rows_is_refused_with_stage_and_words(self, layout: Layout) -> None:
        assert layout.smoke is not None
        wrong = {**layout.smoke.arguments, "evals": ("--evals-only", "--conc", "1")}
        with pytest.raises(Refusal, match=f"smoke's evals would run nothing: no row comes of `test-config --config-files {MASTER} "
                                          f"--config-keys {DCP16} --evals-only --conc 1`"):
            self.asked(layout, arguments=wrong)

    def test_that_misses_a_concurrency_is_refused(self, layout: Layout) -> None:
        assert layout.smoke is not None
        wrong = {**layout.smoke.arguments, "highest": ("--no-evals", "--conc", "1", "2")}
        with pytest.raises(Refusal, match="smoke's highest would not run concurrency 16"):
            self.asked(layout, arguments=wrong)

    def test_with_an_unknown_option_in_its_template_is_refused(self, layout: Layout) -> None:
        inputs = {"generate-cli-command": "test-config --config-files {file} --config-keys {keys} --fast {arguments}"}
        with pytest.raises(Refusal, match="knows no option --fast, which the smoke's evals names"):
            self.asked(layout, inputs=inputs)

    def test_by_a_command_that_the_generator_lacks_is_refused(self, layout: Layout) -> None:
        inputs = {"generate-cli-command": "fast-config --config-files {file} --config-keys {keys} {arguments}"}
        with pytest.raises(Refusal, match="smoke's evals cannot be asked for: the guest's generator knows no command fast-config"):
            self.asked(layout, inputs=inputs)

    def test_of_a_layout_that_names_no_command_is_not_asked_for(self, layout: Layout) -> None:
        assert layout.smoke is not None
        wrong = {**layout.smoke.arguments, "evals": ("--evals-only", "--conc", "1")}
        self.asked(layout, command="", arguments=wrong)
