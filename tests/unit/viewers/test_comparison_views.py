"""Views of a comparison: one scene with all structures, marked differences, and tables of what differs."""

from result_archives import FV, open_fold, write_fold_result, write_zip

from foldnote.results import Structure, compare, open_result
from foldnote.viewers import bundle, overlay
from foldnote.viewers.scene.superposed import compose_comparison


def results(folder):
    return [
        open_result(write_fold_result(folder, "job-1", "6y1l_imgt", {"seed": 1}, {"ptm": 0.5})),
        open_result(write_fold_result(folder, "job-2", "c143_imgt", {"seed": 2}, {"ptm": 0.6})),
    ]


def test_all_structures_are_in_one_scene_under_the_names_of_the_jobs(tmp_path):
    scene = compose_comparison(compare(results(tmp_path), align="framework"))

    assert [model.label for model in scene.models] == ["job-1", "job-2"]
    assert len({model.color for model in scene.models}) == 2
    assert [mark.tag for mark in scene.models[0].highlights] == ["H1", "H2", "H3", "L1", "L2", "L3"]
    assert (scene.group, scene.title) == ("job", "2 structures superposed on job-1, by the framework")


def test_a_structure_that_lies_on_the_reference_is_named_since_it_cannot_be_seen(tmp_path):
    same = open_result(write_fold_result(tmp_path, "job-3", "6y1l_imgt", {"seed": 3}, {"ptm": 0.5}))
    first, other = results(tmp_path)

    assert compose_comparison(compare([first, other, same])).notes[0] == (
        "job-3 lies exactly on job-1, so the picture shows one."
    )
    assert compose_comparison(compare([first, other])).notes == ()
    assert overlay([first, same]).notes[0] == "job-3 lies exactly on job-1, so the picture shows one."
    assert "<td>0.00</td>" in bundle(compare([first, same]))["text/html"]


def test_a_structure_that_has_more_than_the_reference_is_seen(tmp_path):
    whole, part = tmp_path / "whole.pdb", tmp_path / "part.pdb"
    whole.write_text(FV)
    part.write_text("\n".join(line for line in FV.splitlines() if line[21:22] != "L"))
    assert not any("lies exactly on" in note for note in overlay([part, whole]).notes)
    assert any("lies exactly on" in note for note in overlay([whole, part]).notes)


def test_deviations_colour_each_residue_in_angstroms(tmp_path):
    found = compare(results(tmp_path), align="framework")
    coloring = next(each for each in compose_comparison(found).colorings if each.key == "deviation")
    row = found.deviations.set_index(["mobile_chain", "mobile_number"]).loc[("H", "110"), "distance"]
    chain = next(chain for chain in open_fold("c143_imgt").chains if chain.name == "H")

    assert coloring.values[1]["H"][chain.numbers.index("110")] == round(row, 2)
    assert [item.label for item in coloring.legend] == ["0 Å", "3 Å", "6 Å or more"]
    assert coloring.shades[1]["H"][chain.numbers.index("111A")] == -1


def test_an_overlay_offers_the_colours_that_all_structures_have():
    scene = overlay([Structure("a.pdb", "pdb", FV), Structure("b.pdb", "pdb", FV)])

    assert [coloring.key for coloring in scene.colorings] == [
        "deviation",
        "rainbow",
        "secondary",
        "hydrophobicity",
    ]
    assert all(len(coloring.shades) == 2 for coloring in scene.colorings)


def test_differences_settings_and_scores_are_written(tmp_path):
    shown = bundle(compare(results(tmp_path)))

    assert "<mark>" in shown["text/html"]
    assert "Sequences of chain H: 67 columns of 130 with differences" in shown["text/plain"]
    assert "Settings that differ (1)" in shown["text/plain"]
    assert "H3─" in shown["text/html"]
    assert "<code></code>" not in shown["text/html"], "without styles an empty grey box would remain"


def test_a_long_sequence_is_written_as_what_it_changes(tmp_path):
    wild = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHW"
    changed = f"{wild[:27]}A{wild[28:-1]}Y"
    chains = {"wild": wild, "changed": changed, "short": wild[:-3]}
    jobs = [write_fold_result(tmp_path, name, "6y1l_imgt", {"heavy": chains[name]}, {}) for name in chains]
    shown = bundle(compare([open_result(job) for job in jobs]))["text/plain"]

    assert "the first with N28A and W36Y" in shown
    assert changed not in shown
    assert wild[:-3] in shown


def test_scores_have_their_labels_or_the_words_of_their_names(tmp_path):
    score = '{"ptm": 0.5, "heavyResidues": 120}'
    archives = [write_zip(tmp_path / f"{n}.zip", {"score.json": score}) for n in "ab"]
    shown = bundle(compare([open_result(archive) for archive in archives]))["text/plain"]

    assert "Heavy residues" in shown
    assert "pTM" in shown
    assert "heavyResidues" not in shown


def test_without_structures_the_rest_is_shown_with_the_reason(tmp_path):
    archives = [write_zip(tmp_path / f"{n}.zip", {"score.json": '{"ptm": 0.5}'}) for n in "ab"]
    shown = bundle(compare([open_result(archive) for archive in archives]))

    assert "No structures are compared: at least two are needed." in shown["text/html"]
    assert '<div class="fnv-stage"' not in shown["text/html"]
    assert "0 to 1" in shown["text/plain"]
