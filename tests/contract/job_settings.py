"""The settings that the contract tests submit; the probe engine runs them."""

TOOLS = ("abodybuilder", "anarci", "align-pdbs", "vina")
SETTINGS = {
    "sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS",
    "scheme": "imgt",
}
PDB = "".join(
    f"ATOM  {i:5d}  CA  ALA A{i:4d}    {i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for i in range(1, 6)
)
