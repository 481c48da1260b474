"""The settings reference as a table, copied by hand and independent of the catalog's files.

A line is a tool's type, or (indented) a field: name, type, then ``R`` and ``key=value``. Values of an enum
are joined by ``|``; defaults are JSON where they are not text; ``when`` is the condition on ``task``.
"""

import json
from dataclasses import dataclass, field

TABLE = """
abb4
  heavy string R maxLength=1000
  light string R maxLength=1000
  numSamples number R minimum=1 maximum=1000 default=100
  model string default=abb4_STEROIDS enum=abb4_STEROIDS|abb4_STEROIDS_CG|abb4_base
  numTimesteps number minimum=5 maximum=200 default=50
  renumber boolean default=true
abfe
  proteinPDB file R ext=pdb
  ligandsSDF file R ext=sdf
  cofactorsSDF file ext=sdf
  simulationType string default=abfe
  chargeMethod string R default=am1bcc enum=am1bcc|nagl
  protocolRepeats number R minimum=2 maximum=5 default=3
  equilLength number R unit=ps minimum=0 maximum=10000 default=1000
  prodLength number R unit=ps minimum=0 maximum=10000 default=5000
  temperature number unit=K minimum=100 maximum=400 default=298.15
  timestep number unit=fs minimum=0.5 maximum=5 default=4
  forcefieldSmallMolecule string default=openff-2.2.1 enum=openff-2.3.0|openff-2.2.1|openff-2.2.0|openff-2.1.1|openff-2.1.0|openff-2.0.0
  ionConcentration number unit=molar minimum=0 maximum=1 default=0.15
  solventModel string default=tip3p enum=tip3p|tip4pew|spce|tip5p
  solventPadding number unit=nm minimum=0.8 maximum=2.5 default=1
  earlyTerminationTargetError number unit=kcal/mol minimum=0 maximum=2 default=0
abgpt
  startingResidues string R
  chainType string R default=heavy enum=heavy|light
  numSequences number default=100
ablang
  task string R default=scan enum=scan|embeddings|mask
  heavySequence string
  lightSequence string
  heavyMask string when=mask
  lightMask string when=mask
ablang-mpnn
  pdbFile file R ext=pdb
  heavyChain string
  lightChain string
  customHeavyResidues string
  customLightResidues string
  mpnn_weight number minimum=0 maximum=1 default=0.5
  ablang_weight number minimum=0 maximum=1 default=0.5
  temperature number minimum=0.01 maximum=2 default=0.1
  num_sequences number minimum=1 maximum=100 default=5
abmap
  task string R default=embeddings enum=embeddings
  sequence string
  chainType string R default=H enum=H|L
abmpnn
  pdbFile file R ext=pdb
  designedChains strings
  designedResidues object
  numSequences number default=2
  temperature number minimum=0 maximum=1 default=0.1
  noiseLevel string default=0.2 enum=0.02|0.1|0.2|0.3
  omitAAs string default=C
  verifySequences string default=verify-none enum=verify-none|verify-alphafold|verify-chai
  verifyTopK number minimum=0 default=0
  detectCDRs boolean default=false
  regions strings enum=FWH1|FWL1|CDRH1|CDRL1|FWH2|FWL2|CDRH2|CDRL2|FWH3|FWL3|CDRH3|CDRL3|FWH4|FWL4
abnativ
  task string R default=score enum=score|paired_score|hum_vhh|hum_vh_vl|hum_vh_vl_paired
  sequence string maxLength=5000 when=score|hum_vhh
  nat string default=VHH2 enum=VH2|VL2|VHH2
  vhSequence string maxLength=5000 when=paired_score|hum_vh_vl|hum_vh_vl_paired
  vlSequence string maxLength=5000 when=paired_score|hum_vh_vl|hum_vh_vl_paired
abodybuilder
  heavy string R maxLength=1000
  light string R maxLength=1000
adapt
  pmhcTargets file R ext=tsv
  tcrPdbids string default=1oga_5bs0_3gsn_3qdg
  designCdrs string default=0_1_3_4_5_7
  numDesigns number R minimum=1 maximum=100 default=10
admet
  smilesStrings strings R default=[]
aev-plig
  pdbFile file R ext=pdb
  sdfFile file R ext=sdf
af-multistate
  sequence string R
  state string default=active enum=active|inactive
af-traj
  sequence string R
af-unmasked
  sequence string R maxLength=5000 chains=1
  templateFile file R ext=pdb
  modelType string default=multimer_v3 enum=multimer_v2|multimer_v3
  predictionsPerModel number minimum=1 maximum=50 default=5
  useDropout boolean default=false
  modelsToUse string
  crossChainTemplatesOnly boolean default=false
  inpaint_clashes boolean default=true
  align boolean default=false
  repeat_template number minimum=1 maximum=4 default=4
af2bind
  pdbFile file R ext=pdb
  chain string R
af2dock
  receptorFile file R ext=pdb
  ligandFile file R ext=pdb
  numSamples number default=40
  numSteps number default=10
af2rave
  sequence string R
afcluster
  a3mFile file R ext=a3m
afcycdesign
  pdbFile file R
  chain string R
  numDesigns integer default=1
afsample
  sequence string R chains=1
  numSamples string default=10 enum=1|2|5|10|20
  msaRandomization string default=0.1 enum=0.0|0.1|0.2
aggrescan3d
  pdbFile file R ext=pdb
alde
  csvFile file R ext=csv
align-pdbs
  pdbFiles files R ext=pdb
  alignChain string
allmetal3d
  pdbFile file R ext=pdb
  models string default=all enum=all|water3d|allmetal3d
  mode string default=fast enum=fast|all|site
  centralResidue string
  radius number
  threshold number
alphabind-finetune
  csvFile file R ext=csv
  sequenceColumn string R
  targetColumn string R
  KdColumn string R
alphacutter
  pdbFile file R ext=pdb
  loop_min number minimum=0 default=20
  helix_min number minimum=0 default=30
  fragment_min number minimum=0 default=5
  domain_min number minimum=0 default=0
  pLDDT_min number minimum=0 maximum=100 default=0
  local_contact_range number minimum=0 default=5
  domain_out boolean default=false
  single_out boolean default=false
alphaflow
  task string R default=alphaflow enum=alphaflow|esmflow
  sequence string R
  model string default=pdb enum=pdb|md-atlas
  conformations number R default=10
  msaFile file ext=a3m when=alphaflow
  numBatches integer maximum=100 default=1
alphafold
  sequence string R maxLength=5000 chains=1
  numModels string default=5 enum=1|2|3|4|5
  numRecycles number minimum=0 maximum=20 default=3
  numRelax number minimum=0 maximum=5 default=0
  useMSA boolean default=true
  pairMode string enum=paired|unpaired|unpaired_paired
  msaDatabase string default=uniref enum=uniref|swissprot|uniref+swissprot
  templateMode string default=pdb100 enum=pdb100|custom|none
  templateFiles file ext=cif
  initialGuess file ext=pdb|cif
  logan boolean
  bfvdTemplates boolean default=false
  randomSeed number
  maxMsa string enum=508:2048|512:1024|256:512|128:256|64:128|32:64|16:32
  recycleEarlyStopTolerance string enum=0.0|0.5|1.0
  ipsaeScoring boolean default=false
  dropout boolean default=false
  modelType string default=auto enum=auto|alphafold2_ptm|alphafold2_multimer_v1|alphafold2_multimer_v2|alphafold2_multimer_v3|deepfold_v1|alphafold2
  chooseBest boolean default=true
alphalink2
  sequence string R maxLength=3000 chains=2
  crosslinksFile file R ext=csv|txt
  numSamples number minimum=1 maximum=25 default=5
  recyclingIterations number minimum=1 maximum=20 default=20
  crosslinkCutoff number unit=angstrom minimum=5 maximum=40 default=25
  neff number minimum=1
  dropoutCrosslinks boolean default=false
amplify
  sequence string R
anarci
  sequence string R
  scheme string default=kabat enum=imgt|kabat|chothia|martin|aho|wolfguy
ancestral-reconstruction
  alignmentFile file R ext=fasta|fa|aln|phy|phylip
  mode string default=AA enum=AA|DNA|CODON
  outgroup string
  model string default=MFP enum=MFP|JTT|WAG|LG|Dayhoff|GTR|HKY|JC|K2P
  bootstrap number minimum=100 maximum=10000 default=1000
  fast boolean default=false
antiberty
  task string R default=antibody-mask enum=antibody-mask|nanobody-mask|antibody-log-likelihood|nanobody-log-likelihood|antibody-embeddings|nanobody-embeddings
  heavyChain string R
  heavyMask string
  lightChain string
  lightMask string
  attention boolean default=false when=antibody-embeddings|nanobody-embeddings
antibody-annotation
  task string R default=antibody enum=antibody|nanobody
  heavySequence string R
  lightSequence string
antibody-diffusion-properties
  task string R default=Antibody enum=Antibody|Nanobody
  pdbFile file R ext=pdb
  sampleCDRTogether boolean default=false
  property string default=DDG_Hydropathy enum=DDG_Hydropathy|Hydropathy|DDG
  numDesigns number R default=10
  heavyChain string
  lightChain string when=Antibody
  scoring string enum=binding-ddg|netsolp|temstapro
antibody-evolution
  sequence string R
antidif
  pdbFile file R ext=pdb
  chains strings R
  numSamples number default=4
antifold
  task string R default=antibody enum=antibody|nanobody
  pdbFile file R ext=pdb
  heavyChain string R
  lightChain string when=antibody
  includeAntigen boolean default=true
  antigenChain string
"""

_KINDS = {
    "file": {"type": "string", "format": "binary"},
    "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
    "strings": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object", "additionalProperties": {"type": "string"}},
}
_NUMBERS = {"minimum", "maximum", "maxLength"}


@dataclass
class Row:
    """One field of the reference."""

    name: str
    required: bool
    keywords: dict = field(default_factory=dict)
    unit: str | None = None
    extensions: list | None = None
    condition: dict | None = None
    least_chains: int | None = None


def read_table() -> dict[str, list[Row]]:
    tools: dict[str, list[Row]] = {}
    for line in TABLE.strip().splitlines():
        if line.startswith(" "):
            tools[list(tools)[-1]].append(_read_row(*line.split()))
        else:
            tools[line] = []
    return tools


def _read_row(name: str, kind: str, *words: str) -> Row:
    keywords = json.loads(json.dumps(_KINDS.get(kind, {"type": kind})))
    row = Row(name, "R" in words, keywords)
    for key, text in (word.split("=", 1) for word in words if "=" in word):
        if key in _NUMBERS:
            keywords[key] = json.loads(text)
        elif key == "enum":
            (keywords["items"] if kind == "strings" else keywords)["enum"] = text.split("|")
        elif key == "default":
            keywords[key] = (
                text.replace("_", " ") if name in ("tcrPdbids", "designCdrs") else _read(text, kind)
            )
        elif key == "unit":
            row.unit = text
        elif key == "ext":
            row.extensions = text.split("|")
        elif key == "when":
            row.condition = {"task": text.split("|")}
        elif key == "chains":
            row.least_chains = int(text)
    return row


def _read(text: str, kind: str) -> object:
    return text if kind == "string" else json.loads(text)
