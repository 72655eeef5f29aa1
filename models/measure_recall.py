"""Measures how well storyteller recalls a planted number.

    python3 measure_recall.py [--model storyteller] [--prompts 500] [--json out.json]
    python3 measure_recall.py --program ../build/release/cli/kvtape

One prompt: story text with 1, 2, 4 or 8 planted facts, then "Who has what? Mia
has". Distance counts tokens from the first digit planted to the first digit to be
answered; the other facts stand anywhere before the question. Numbers are those
that training never used, and the seeds of the stories are others too.

With --program, kvtape decodes each prompt greedily with a contiguous float32 cache.
Without, PyTorch is asked for all four digits in one pass, with the true digits before
them. Both count the same: decoding gets all four right if, and only if, each digit is
the best one after the right ones before.
"""

import argparse
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from tokenizers import Tokenizer

from dice import Dice
from story_text import QUESTION, draw_facts, story
from storyteller_model import load

HERE = Path(__file__).parent
DISTANCES = (16, 64, 128, 256, 512, 768, 960)
COUNTS = (1, 2, 4, 8)
CONTEXT = 1024
FACT = 7  # tokens of " Mia has 4821."
ASKED = 11  # tokens from the first digit of " 4821." over the question to the answer
DIGITS = 4


def sentences(dice, encode, budget):
    """Story sentences of at most `budget` tokens, within about five of it."""
    out, used, misses = [], 0, 0
    while budget - used >= 5 and misses < 40:
        for line in story(dice):
            ids = encode(" " + line)
            # A group such as 'It was gone. "Where is it?"' may be too long to fit.
            if used + len(ids) <= budget:
                out.append(ids)
                used += len(ids)
            else:
                misses += 1
    return out


def with_facts(dice, lines, facts, encode):
    """One list of ids: the lines, with the facts at random places between them."""
    for name, number in facts:
        lines.insert(dice.below(len(lines) + 1), encode(f" {name} has {number}."))
    return [i for line in lines for i in line]


def draw_prompt(dice, encode, distance, count):
    """(ids up to and with the answer, distance really reached)."""
    target, *others = draw_facts(dice, count, held_out=True)
    lead = min(128, CONTEXT - 24 - distance)
    room = (distance - ASKED) // FACT
    inside = [f for f in others if dice.below(lead + distance) < distance][:room]
    before = [f for f in others if f not in inside]
    # A prompt starts with the middle of a story; the model is used to that.
    lead_lines = sentences(dice, encode, max(16, lead - FACT * len(before)))
    ids = with_facts(dice, lead_lines, before, encode)
    name, number = target
    digits = encode(f" {number}")
    ids += encode(f" {name} has")
    start = len(ids)
    ids += digits + encode(".")
    gap = sentences(dice, encode, distance - ASKED - FACT * len(inside))
    ids += with_facts(dice, gap, inside, encode)
    ids += encode(f"{QUESTION} {name} has")
    reached = len(ids) - start
    return ids + digits, reached


def decoded_digits(program, model, rows):
    """[prompts, 4] true where kvtape, decoding greedily, picked the right digit."""

    def decode(row):
        ids = ",".join(map(str, row[:-DIGITS]))
        command = [program, "run", "--model", model, "--ids", ids]
        command += ["--cache", "contiguous", "--kv-cache-dtype", "f32", "--temperature", "0"]
        command += ["--max-tokens", str(DIGITS), "--threads", "1", "--json"]
        made = json.loads(subprocess.check_output(command))["token_ids"]
        return [a == b for a, b in zip(made + [-1] * DIGITS, row[-DIGITS:])]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return torch.tensor(list(pool.map(decode, rows)))


def right_digits(model, rows):
    """[prompts, 4] true where PyTorch's best token is the right digit."""
    longest = max(map(len, rows))
    x = torch.tensor([r + [0] * (longest - len(r)) for r in rows])
    # Each digit is guessed at the position before it.
    at = torch.tensor([[len(r) - DIGITS - 1 + i for i in range(DIGITS)] for r in rows])
    with torch.inference_mode():
        h = model.hidden(x).gather(1, at[..., None].expand(-1, -1, model.shape.hidden))
        best = (h @ model.model.embed_tokens.weight.T).argmax(-1)
    return best == x.gather(1, at + 1)


def measure_cell(digits_of, encode, distance, count, prompts):
    """Recall of one cell: all four digits, first digit, mean distance.

    digits_of: from rows of ids to [prompts, 4], which digits are right.
    """
    dice = Dice(0x5EED0000 + 10 * distance + count)
    drawn = [draw_prompt(dice, encode, distance, count) for _ in range(prompts)]
    rows = sorted((ids for ids, _ in drawn), key=len)
    assert len(rows[-1]) <= CONTEXT
    right = torch.cat([digits_of(rows[i : i + 8]) for i in range(0, prompts, 8)])
    return {
        "distance": distance,
        "facts": count,
        "prompts": prompts,
        "all_digits": right.all(1).float().mean().item(),
        "first_digit": right[:, 0].float().mean().item(),
        "mean_distance": sum(reached for _, reached in drawn) / prompts,
    }


def measure(digits_of, encode, prompts, distances=DISTANCES, counts=COUNTS):
    """All cells, printed as they come."""
    cells = []
    for count in counts:
        for distance in distances:
            cell = measure_cell(digits_of, encode, distance, count, prompts)
            print(json.dumps(cell), flush=True)
            cells.append(cell)
    return cells


def table(cells):
    """Markdown: percent of prompts with all four digits (first digit) right."""
    head = "| facts | " + " | ".join(str(d) for d in DISTANCES) + " |"
    lines = [head, "| ---: " * (len(DISTANCES) + 1) + "|"]
    for count in COUNTS:
        row = [c for c in cells if c["facts"] == count]
        shown = [f"{100 * c['all_digits']:.1f} ({100 * c['first_digit']:.1f})" for c in row]
        lines.append(f"| {count} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=str(HERE / "storyteller"))
    parser.add_argument("--tokenizer", default=str(HERE / "storyteller/tokenizer.json"))
    parser.add_argument("--program", help="decode with this kvtape instead of PyTorch")
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--json")
    args = parser.parse_args()
    torch.set_num_threads(2)
    tokenizer = Tokenizer.from_file(args.tokenizer)
    if args.program:
        digits_of = partial(decoded_digits, args.program, args.model)
    else:
        digits_of = partial(right_digits, load(args.model))
    cells = measure(digits_of, lambda t: tokenizer.encode(t).ids, args.prompts)
    print(table(cells))
    if args.json:
        Path(args.json).write_text(json.dumps(cells, indent=1) + "\n")


if __name__ == "__main__":
    main()
