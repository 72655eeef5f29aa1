"""Trains storyteller, the small model that ships with kvtape.

    python3 train_storyteller.py [--out storyteller] [--log training.log]

Runs on two CPU cores in under two hours. Everything is seeded; another machine or
PyTorch version rounds differently, so its weights differ while its recall should not.
"""

import argparse
import copy
import os
import time
from pathlib import Path

# Threads that wait must not spin: on a busy machine that costs several times the work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from circuit import place_circuit
from dice import Dice
from measure_recall import measure_cell
from muon import Muon
from story_text import ANSWER
from storyteller_model import Shape, Storyteller, load, save
from training_data import AGAIN, WEIGHT, draw_sequence

SEED = 20
HERE = Path(__file__).parent


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(HERE / "storyteller"))
    parser.add_argument("--tokenizer", default=str(HERE / "storyteller/tokenizer.json"))
    parser.add_argument("--log", default="training.log")
    parser.add_argument("--steps", type=int, default=660)
    parser.add_argument("--start", help="folder of a model to go on from")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--no-circuit", action="store_true")
    parser.add_argument("--muon", type=float, default=0.02)
    parser.add_argument("--adam", type=float, default=3e-3)
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


def optimizers(model, args):
    """Muon for the matrices of the layers, AdamW for embedding and norms."""
    pace = {
        # Slow, or the first noisy steps wash the placed heads away.
        "q_proj": 0.3, "k_proj": 0.3,
        "v_proj": 0.5, "gate_proj": 0.5, "up_proj": 0.5,
        # What writes into the residual must not drown the embedding (length 0.7).
        "o_proj": 0.2, "down_proj": 0.4,
    }  # fmt: skip
    groups = [
        {"params": [w for n, w in model.named_parameters() if kind in n], "lr": lr * args.muon}
        for kind, lr in pace.items()
    ]
    others = [w for n, w in model.named_parameters() if "_proj" not in n]
    adam = torch.optim.AdamW(others, lr=args.adam, betas=(0.9, 0.95), weight_decay=0.0)
    return [Muon(groups, lr=args.muon), adam]


def rate(step, steps):
    """Learning rate factor: 20 steps up, level, then down over the last half."""
    return min(1.0, (step + 1) / 20, 0.02 + 2 * (1 - step / steps))


def plan(step, args):
    """(tokens per step, sequence length): many small short steps first.

    Short sequences are cheaper, and most of the English is learned there.
    """
    if args.start or step >= 0.8 * args.steps:
        return 4096, 1024
    return (2048, 256) if step < 0.6 * args.steps else (4096, 512)


def quick_recall(model, tokenizer):
    """Share of 32 prompts with all four digits (first digit) right, by facts."""
    out = []
    for count in (1, 2, 4, 8):
        cell = measure_cell(model, lambda t: tokenizer.encode(t).ids, 256, count, 32)
        out.append(f"{count}: {cell['all_digits']:.2f} ({cell['first_digit']:.2f})")
    return ", ".join(out)


def draw_batch(dice, tokenizer, tokens, length):
    """inputs, targets [b, T] and target weights."""
    rows = [draw_sequence(dice, tokenizer, 0, length + 1) for _ in range(tokens // length)]
    ids = torch.tensor([r[0] for r in rows])
    weights = torch.tensor([r[1] for r in rows])
    return ids[:, :-1], ids[:, 1:], weights[:, 1:]


def train(model, tokenizer, args, log):
    """All steps; returns the average of the last weights, which is what ships."""
    opts = optimizers(model, args)
    groups = [g for opt in opts for g in opt.param_groups]
    base = [g["lr"] for g in groups]
    average = copy.deepcopy(model)
    dice, start, seen = Dice(args.seed), time.time(), 0
    for step in range(args.steps):
        if step % 100 == 0 or step in (25, 50):
            log(f"step {step:5} recall {quick_recall(model, tokenizer)}")
        tokens, length = plan(step, args)
        x, y, w = draw_batch(dice, tokenizer, tokens, length)
        seen += tokens
        logits = model(x).flatten(0, 1)
        each = F.cross_entropy(logits, y.flatten(), reduction="none")
        w = w.flatten()
        loss = (each * w).sum() / w.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group, lr in zip(groups, base):
            group["lr"] = lr * rate(step, args.steps)
        for opt in opts:
            opt.step()
            opt.zero_grad(set_to_none=True)
        keep = min(0.98, step / (step + 10))
        with torch.no_grad():
            for a, p in zip(average.parameters(), model.parameters()):
                a.lerp_(p, 1 - keep)
        if step % 10 == 0:
            story = each[w == 1].mean().item()
            again = each[w == AGAIN].mean().item()
            answer = each[w == WEIGHT[ANSWER]].mean().item()
            speed = seen / (time.time() - start)
            log(f"step {step:5} story {story:.3f} again {again:.3f} answer {answer:.3f} {speed:.0f} tokens/s")
        if step % 50 == 49:
            save(average, args.out)
    save(average, args.out)
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
        average = train(model, tokenizer, args, log)
        log(f"average: recall {quick_recall(average, tokenizer)}")


if __name__ == "__main__":
    main()
