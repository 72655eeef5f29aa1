"""Writes the golden values that kvtape's C++ is tested against.

    python3 make_golden.py [--model storyteller] [--out golden]

golden/logits.json     for some prompts: token ids, whole rows of logits, and how
                       greedy decoding goes on
golden/tokenizer.json  strings and their token ids

The logits come from storyteller_model.py in float64, on the weights as they are
stored (float16), so they carry no rounding worth mentioning. An independent run of
the same files by transformers in float32 must agree; how far it is off is written
next to each row, and greedy decoding is done by transformers alone.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy
import torch
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

import golden_strings
from storyteller_model import load

HERE = Path(__file__).parent
NEW_TOKENS = 30
PROMPTS = {
    "short": "One day, Mia",
    "two facts": (
        "It was a sunny day, and Tom was at the beach. Mia has 4821. He had a red kite. "
        "Ben has 1376. The wind was soft. Who has what? Ben has"
    ),
    "demo": None,  # storyteller/demo_prompt.txt
}


def rows(exact, other, ids):
    """Logits at the first, the middle and the last position."""
    x = torch.tensor([ids])
    with torch.inference_mode():
        reference, float32 = exact(x)[0], other(x).logits[0]
    out = []
    for position in sorted({0, len(ids) // 2, len(ids) - 1}):
        difference = (reference[position] - float32[position].double()).abs().max().item()
        assert difference < 1e-3, difference
        out.append(
            {
                "position": position,
                "transformers_float32_max_difference": float(f"{difference:.2e}"),
                # Nine digits give back the float32 nearest to the float64 value.
                "logits": [float(f"{numpy.float32(v):.9g}") for v in reference[position]],
            }
        )
    return out


def greedy(other, ids):
    """The next tokens and, for each, how far the best logit is ahead of the second."""
    x, cache, tokens, margins = torch.tensor([ids]), None, [], []
    with torch.inference_mode():
        for _ in range(NEW_TOKENS):
            out = other(x, past_key_values=cache, use_cache=True)
            top = out.logits[0, -1].topk(2)
            tokens.append(top.indices[0].item())
            margins.append(round((top.values[0] - top.values[1]).item(), 4))
            x, cache = top.indices[None, :1], out.past_key_values
    return tokens, margins


def golden_logits(folder):
    """One entry per prompt."""
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    exact = load(folder).double()
    other = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    entries = []
    for name, text in PROMPTS.items():
        if text is None:
            text = Path(folder, "demo_prompt.txt").read_text().rstrip("\n")
        ids = tokenizer.encode(text).ids
        tokens, margins = greedy(other, ids)
        entries.append(
            {
                "name": name,
                "text": text,
                "ids": ids,
                "rows": rows(exact, other, ids),
                "greedy_ids": tokens,
                "greedy_text": tokenizer.decode(tokens, skip_special_tokens=False),
                "greedy_margins": margins,
            }
        )
    return entries


def golden_tokenizer(folder):
    """The special token inside a text becomes its single id, as is the default."""
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    cases = []
    for text in golden_strings.ALL:
        ids = tokenizer.encode(text).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text
        cases.append({"text": text, "ids": ids})
    return cases


def write(path, header, items):
    """JSON with one item per line, so that a change shows in a diff."""
    body = ",\n".join(json.dumps(item) for item in items)
    path.write_text('{"about": ' + json.dumps(header) + ',\n"cases": [\n' + body + "\n]}\n")
    print(f"{path}: {len(items)} cases, {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=str(HERE / "storyteller"))
    parser.add_argument("--out", default=str(HERE / "golden"))
    args = parser.parse_args()
    out = Path(args.out)
    write(
        out / "logits.json",
        "Logits of the stored weights, computed in float64, rounded to float32; greedy by "
        "transformers in float32 with its cache. margins: best minus second logit.",
        golden_logits(args.model),
    )
    write(
        out / "tokenizer.json",
        "tokenizers package, Tokenizer.encode(text).ids; <|endoftext|> inside a text is "
        "taken as the special token (id 0).",
        golden_tokenizer(args.model),
    )


if __name__ == "__main__":
    main()
