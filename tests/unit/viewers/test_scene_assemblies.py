"""Biological assemblies offered in a view, compared with those that gemmi makes."""

import base64
import gzip
import json
from collections import Counter

import gemmi
import numpy as np
import pytest
from assembly_files import IDENTITY, write_trimer
from hypothesis import given
from hypothesis import strategies as st
from result_archives import DATA

import foldnote as fn
from foldnote.results import Structure
from foldnote.results.structure.assemblies import list_parts
from foldnote.viewers.render.html import make_view
from foldnote.viewers.scene.assemblies import MAX_ATOMS
from foldnote.viewers.scene.compose import compose

QUARTER_TURN = gemmi.Transform(gemmi.Mat33([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), gemmi.Vec3(1, 2, 3))
MOTIONS = (
    gemmi.Transform(),
    QUARTER_TURN,
    gemmi.Transform(gemmi.Mat33(), gemmi.Vec3(30, 0, 0)),
    gemmi.Transform(gemmi.Mat33([[-1, 0, 0], [0, -1, 0], [0, 0, 1]]), gemmi.Vec3(0, -7.5, 40)),
)


@pytest.fixture(scope="module")
def trimer():
    return Structure("trimer.pdb", "pdb", write_trimer("A"))


def test_a_view_offers_the_assemblies_that_differ_from_the_file(trimer):
    (offered,) = compose(trimer).assemblies
    (part,) = offered.parts
    assert offered.label == "Assembly 1: trimeric (author)"
    assert offered.atoms == len(trimer.make_assembly("1").to_frame())
    assert not offered.is_too_large
    assert (part.chain, part.numbers) == ("A", None)
    assert [number for number, _ in part.copies] == [1, 2, 3]
    assert part.copies[0][1] == (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)


def test_what_the_file_holds_anyway_is_not_offered():
    structure = Structure("same.pdb", "pdb", write_trimer("A, C", [IDENTITY]))
    assert [one.copies for one in structure.assemblies] == [1]
    assert compose(structure).assemblies == ()
    assert compose(Structure.open(DATA / "c143_h3.pdb")).assemblies == ()


def test_an_assembly_that_a_page_could_not_draw_is_named_as_too_large(trimer):
    shifts = [(np.eye(3), (40.0 * place, 0.0, 0.0)) for place in range(MAX_ATOMS // 1000)]
    (offered,) = compose(Structure("capsid.pdb", "pdb", write_trimer("A, C", shifts))).assemblies
    assert offered.atoms > MAX_ATOMS
    assert offered.is_too_large
    assert not compose(trimer).assemblies[0].is_too_large


def test_structures_that_were_moved_offer_none(tmp_path, trimer):
    path = tmp_path / "trimer.pdb"
    path.write_text(trimer.text)
    assert _unpack(make_view(compose(trimer), "a1", ""))["assemblies"]
    assert _unpack(make_view(fn.view([path, path]), "a2", ""))["assemblies"] == []


def _unpack(view):
    return json.loads(gzip.decompress(base64.b64decode(view["data"]["packed"])))


def _make_generator(model, chains, motions, form):
    generator = gemmi.Assembly.Gen()
    if form == "pdb":
        generator.chains = chains
    else:
        generator.subchains = [
            subchain.subchain_id() for name in chains for subchain in model[name].subchains()
        ]
    for motion in motions:
        operator = gemmi.Assembly.Operator()
        operator.transform = motion
        generator.operators.append(operator)
    return generator


_GENERATORS = st.lists(
    st.tuples(
        st.sampled_from([("A",), ("C",), ("A", "C")]),
        st.lists(st.sampled_from(MOTIONS), min_size=1, max_size=4, unique_by=id),
    ),
    min_size=1,
    max_size=2,
)


@given(generators=_GENERATORS, form=st.sampled_from(["pdb", "mmcif"]))
def test_parts_put_every_atom_where_gemmi_puts_it(trimer, generators, form):
    structure = trimer.to_gemmi().clone()
    structure.setup_entities()
    model = structure[0]
    assembly = gemmi.Assembly("1")
    for chains, motions in generators:
        assembly.generators.append(_make_generator(model, list(chains), motions, form))
    structure.assemblies.clear()
    structure.assemblies.append(assembly)
    made = gemmi.make_assembly(assembly, model, gemmi.HowToNameCopiedChain.AddNumber)
    expected = Counter(_round(site.atom.pos.tolist()) for site in made.all())
    ours, names = Counter(), set()
    parts = list_parts(structure, "1")
    for part in parts:
        atoms = [site for site in model.all() if site.chain.name == part.chain]
        own = [
            site.atom.pos.tolist()
            for site in atoms
            if part.numbers is None or str(site.residue.seqid) in part.numbers
        ]
        for number, operation in part.copies:
            rows = np.array(operation).reshape(3, 4)
            ours.update(_round(place) for place in np.array(own) @ rows[:, :3].T + rows[:, 3])
            assert (part.chain, number) not in names
            names.add((part.chain, number))
    # A chain that two generators put at the same position appears once.
    assert set(ours) == set(expected)
    assert all(1 in {number for number, _ in part.copies} for part in parts)


def _round(place):
    return tuple(round(float(value), 2) + 0.0 for value in place)
