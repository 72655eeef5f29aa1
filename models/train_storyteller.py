"""Trains storyteller, the small model that ships with kvtape.

    python3 train_storyteller.py [--out storyteller] [--log training.log]

Runs on two CPU cores in under two hours. Everything is seeded; another machine or
PyTorch version rounds differently, so its weights differ while its recall should not.
"""

import argparse
import copy
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# Threads that wait must not spin: on a busy machine that costs several times the work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from circuit import place_circuit
from dice import Dice
from measure_recall import measure_cell, right_digits
from muon import Muon
from story_text import ANSWER
from storyteller_model import Shape, Storyteller, load, save
from training_data import AGAIN, WEIGHT, draw_sequence

SEED = 20
HERE = Path(__file__).parent


@dataclass
class Stage:
    """One stretch of training."""

    seed: int
    steps: int
    # The learning rate factor, linear between these (step, factor) points.
    rate: list
    # How much a name or thing counts that was there before.
    again: float
    # The last steps see sequences of the full context.
    long_steps: int


# Recall learned on 256 tokens nearly holds at 1,000 (the heads that look for a word use
# RoPE pairs that hardly turn), so most steps are short and cheap; the last stage is long.
STAGES = [
    Stage(SEED, 400, [(0, 0.05), (20, 1.0), (337, 1.0), (400, 0.81)], 4.0, 0),
    Stage(SEED + 1, 420, [(0, 0.05), (10, 0.8), (420, 0.02)], 2.0, 20),
    Stage(SEED + 2, 240, [(0, 0.05), (10, 0.6), (240, 0.02)], 1.0, 10),
    Stage(SEED + 3, 60, [(0, 0.05), (5, 0.3), (60, 0.02)], 1.0, 60),
]


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(HERE / "storyteller"))
    parser.add_argument("--tokenizer", default=str(HERE / "storyteller/tokenizer.json"))
    parser.add_argument("--log", default="training.log")
    parser.add_argument("--no-circuit", action="store_true", help="to see what it is worth")
    parser.add_argument("--start", help="go on from the model in this folder")
    parser.add_argument("--stage", type=int, default=0, help="the first stage to run")
    return parser.parse_args()


def fresh_model(shape, tokenizer, with_circuit):
    """Random weights, and in them the circuit."""
    torch.manual_seed(SEED)
    model = Storyteller(shape)
    for name, weight in model.named_parameters():
        if weight.ndim == 2:
            # What writes into the residual starts small.
            writes = "o_proj" in name or "down_proj" in name
            torch.nn.init.normal_(weight, std=0.01 if writes else 0.05)
    if with_circuit:
        place_circuit(model, tokenizer, SEED)
    return model


def optimizers(model):
    """Muon for the matrices of the layers, AdamW for embedding and norms."""
    pace = {
        # Slow, or the first noisy steps wash the placed heads away.
        "q_proj": 0.3, "k_proj": 0.3,
        "v_proj": 0.5, "gate_proj": 0.5, "up_proj": 0.5,
        # What writes into the residual must not drown the embedding (length 0.7).
        "o_proj": 0.2, "down_proj": 0.4,
    }  # fmt: skip
    groups = [
        {"params": [w for n, w in model.named_parameters() if kind in n], "lr": lr * 0.02}
        for kind, lr in pace.items()
    ]
    others = [w for n, w in model.named_parameters() if "_proj" not in n]
    adam = torch.optim.AdamW(others, lr=3e-3, betas=(0.9, 0.95), weight_decay=0.0)
    return [Muon(groups, lr=0.02), adam]


def rate(stage, step):
    """The learning rate factor of a step."""
    for (x0, y0), (x1, y1) in zip(stage.rate, stage.rate[1:]):
        if step <= x1:
            return y0 + (y1 - y0) * (step - x0) / (x1 - x0)
    return stage.rate[-1][1]


def quick_recall(model, tokenizer):
    """Share of 32 prompts with all four digits (first digit) right, by facts."""
    out = []
    digits_of = partial(right_digits, model)
    for count in (1, 2, 4, 8):
        cell = measure_cell(digits_of, lambda t: tokenizer.encode(t).ids, 256, count, 32)
        out.append(f"{count}: {cell['all_digits']:.2f} ({cell['first_digit']:.2f})")
    return ", ".join(out)


def draw_batch(dice, tokenizer, tokens, length):
    """inputs, targets [b, T] and target weights."""
    rows = [draw_sequence(dice, tokenizer, 0, length + 1) for _ in range(tokens // length)]
    ids = torch.tensor([r[0] for r in rows])
    weights = torch.tensor([r[1] for r in rows])
    return ids[:, :-1], ids[:, 1:], weights[:, 1:]


def report(step, each, w, speed):
    """A line for the log: mean loss of story tokens, of known things, of answers."""
    means = [
        f"{name} {each[w == weight].mean().item():.3f}"
        for name, weight in (("story", 1.0), ("again", AGAIN), ("answer", WEIGHT[ANSWER]))
    ]
    return f"step {step:5} {' '.join(means)} {speed:.0f} tokens/s"


def train(model, tokenizer, stage, out, log):
    """One stage; returns a running average of the weights, better than the last ones."""
    opts = optimizers(model)
    groups = [g for opt in opts for g in opt.param_groups]
    base = [g["lr"] for g in groups]
    average = copy.deepcopy(model)
    dice, start, seen = Dice(stage.seed), time.time(), 0
    for step in range(stage.steps):
        is_long = step >= stage.steps - stage.long_steps
        tokens, length = (4096, 1024) if is_long else (2048, 256)
        x, y, w = draw_batch(dice, tokenizer, tokens, length)
        each = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="none")
        w = w.flatten()
        factor = torch.where(w == AGAIN, stage.again, w)
        ((each * factor).sum() / factor.sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group, lr in zip(groups, base):
            group["lr"] = lr * rate(stage, step)
        for opt in opts:
            opt.step()
            opt.zero_grad(set_to_none=True)
        with torch.no_grad():
            for a, p in zip(average.parameters(), model.parameters()):
                a.lerp_(p, 1 - min(0.98, step / (step + 10)))
        seen += tokens
        if step % 10 == 0:
            log(report(step, each, w, seen / (time.time() - start)))
        if step % 50 == 49:
            save(average, out)
        if step % 200 == 199:
            log(f"step {step:5} recall {quick_recall(average, tokenizer)}")
    save(average, out)
    return average


def main():
    args = options()
    torch.set_num_threads(2)
    tokenizer = Tokenizer.from_file(args.tokenizer)
    model = fresh_model(Shape(), tokenizer, not args.no_circuit)
    if args.start:
        model = load(args.start)
    with open(args.log, "a", buffering=1) as file:

        def log(line):
            print(line, flush=True)
            file.write(line + "\n")

        log(f"{args} {sum(p.numel() for p in model.parameters())} parameters")
        for stage in STAGES[args.stage :]:
            log(str(stage))
            model = train(model, tokenizer, stage, args.out, log)
        log(f"recall {quick_recall(model, tokenizer)}")


if __name__ == "__main__":
    main()
