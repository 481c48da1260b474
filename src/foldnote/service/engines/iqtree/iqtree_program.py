"""IQ-TREE as a program: ``python iqtree_program.py -s alignment.fasta -m LG -asr -seed 7``.

The package piqtree contains all of IQ-TREE as one compiled library, but functions only for a part of it,
without ancestral sequences and the standard bootstrap. This program passes its arguments to IQ-TREE's own
parser, uses IQ-TREE's own random numbers and starts the analysis, as IQ-TREE's ``main`` does; so every option
of the manual works. It is a separate process, since IQ-TREE exits when it finds an error.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Sequence

SEED_OPTION = "-seed"
CHECKPOINT_BYTES = 1 << 14
"""Bytes for an object of IQ-TREE's class Checkpoint, many times its size."""
AVX, AVX512 = 7, 9
"""Ids of instruction sets, as IQ-TREE's vectorclass library numbers them."""


def main(arguments: Sequence[str]) -> None:
    """Run IQ-TREE; it writes its files and prints its log."""
    library = load_library()
    words = [b"iqtree", b"-lk", find_kernel(library), *map(os.fsencode, arguments)]
    array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    parameters = library.get_parameters()
    library.parse_arguments(len(words), array, parameters)
    checkpoint = ctypes.create_string_buffer(CHECKPOINT_BYTES)
    library.make_checkpoint(checkpoint)
    seed = int(arguments[list(arguments).index(SEED_OPTION) + 1])
    library.start_random_numbers(seed, True, None)
    library.run_analysis(parameters, checkpoint)


class Library:
    """IQ-TREE's functions under the names that its C++ compiler gives them (Itanium ABI)."""

    def __init__(self, path: str) -> None:
        loaded = ctypes.CDLL(path)
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self.get_parameters = take(loaded, "_ZN6Params11getInstanceEv", pointer)
        self.parse_arguments = take(loaded, "_Z8parseArgiPPcR6Params", None, number, pointer, pointer)
        self.make_checkpoint = take(loaded, "_ZN10CheckpointC1Ev", None, pointer)
        self.start_random_numbers = take(
            loaded, "_Z11init_randomibPPi", number, number, ctypes.c_bool, pointer
        )
        self.run_analysis = take(loaded, "_Z16runPhyloAnalysisR6ParamsP10Checkpoint", None, pointer, pointer)
        self.find_instruction_set = take(loaded, "_Z15instrset_detectv", number)
        self.has_fma = take(loaded, "_Z7hasFMA3v", ctypes.c_bool)


def take(loaded: ctypes.CDLL, name: str, result: object, *arguments: object) -> object:
    """Return one function of the library with its types."""
    function = getattr(loaded, name)
    function.restype, function.argtypes = result, list(arguments)
    return function


def load_library() -> Library:
    """Return the compiled part of piqtree, without its Python part.

    Raises:
        SystemExit: piqtree is not installed.
    """
    found = importlib.util.find_spec("_piqtree")
    if found is None or found.origin is None:
        raise SystemExit("The package piqtree is not installed.")
    return Library(found.origin)


def find_kernel(library: Library) -> bytes:
    """Return the fastest of IQ-TREE's likelihood kernels that this processor can run."""
    known = library.find_instruction_set()
    if known >= AVX512:
        return b"AVX512"
    if known >= AVX:
        return b"FMA" if library.has_fma() else b"AVX"
    return b"SSE"


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # the library's own exit handlers expect to be linked into the program
