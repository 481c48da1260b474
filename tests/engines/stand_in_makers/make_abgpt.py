"""Stand-in weights of AbGPT: a random GPT-2 with the published vocabulary's size, two small layers, and tokens of residues.

    python make_abgpt.py FOLDER [LAYERS WIDTH]

Writes pytorch_model.bin, config.json and tokenizer.json, as on the authors' model page. 36 layers of width 1280 are
those of ProtGPT2, of which AbGPT is a version.
"""

import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel

TOKENS = 50_257
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
END = "<|endoftext|>"
folder = Path(sys.argv[1])
layers, width = map(int, sys.argv[2:4]) if len(sys.argv) > 2 else (2, 64)

places = {END: 0} | {
    sign: place for place, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), start=1)
}
merges, shorter = [], list(LETTERS)
while len(places) < TOKENS:
    pairs = [(each, letter) for each in shorter for letter in LETTERS][: TOKENS - len(places)]
    shorter = [first + second for first, second in pairs]
    places |= {text: len(places) + place for place, text in enumerate(shorter)}
    merges += pairs
tokenizer = Tokenizer(models.BPE(vocab=places, merges=merges))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens([AddedToken(END, special=True)])
tokenizer.save(str(folder / "tokenizer.json"))

torch.manual_seed(0)
shape = GPT2Config(
    vocab_size=TOKENS,
    n_embd=width,
    n_layer=layers,
    n_head=width // 64,
    bos_token_id=0,
    eos_token_id=0,
    # As in ProtGPT2's configuration; the package relies on it for the longest chain.
    task_specific_params={"text-generation": {"do_sample": True, "max_length": 50}},
)
model = GPT2LMHeadModel(shape)
with torch.no_grad():
    model.transformer.wte.weight[0] *= 25  # so that some chains end
shape.save_pretrained(folder)
torch.save(model.state_dict(), folder / "pytorch_model.bin")
