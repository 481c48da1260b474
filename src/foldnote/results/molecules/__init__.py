"""Small molecules: readers of SDF, MOL2, PDBQT and SMILES."""
