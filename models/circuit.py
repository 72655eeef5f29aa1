"""Places a few attention heads by hand in a fresh storyteller, before training.

Copying "4821" after "Mia has" takes two layers that work together: layer 0 must
tell each position what stood before it, and layer 1 must look for an earlier
position that had the same things before it ("induction"). Keeping to one hero and
one object through a story takes heads that look back for names and for things.
Training finds such heads only after a long time of seeing nothing useful
(training_log.md). So they are written down here, as plain matrices, and training
starts from them with every weight free to change.

The residual stream (160 numbers) is divided:

    TOKEN    74   what the token is (random directions)
    BACK1    26   what the token one position earlier is      written by layer 0
    BACK2    26   what the token two positions earlier is     written by layer 0
    NAME     26   which name was mentioned last               written by layer 0
    ONE       1   the same for all tokens: Llama has no biases, this is one
    GIRL      1   + for girls' names and "she", - for boys' names and "he"
    KIND      6   is it a name, an object, a colour, a place, an animal, a food?

Layer 0  KV head 0: keys see only ONE, so the score depends on distance alone,
                    through RoPE: query head 0 peaks one position back, head 1 two.
         KV head 1: keys see the kind "name"; query head 3 finds the last name.
Layer 1  KV head 0: query head 0 asks with (token, BACK1, NAME) of where it stands,
                    keys answer with (BACK1, BACK2, NAME). The best match stands
                    after the same two tokens and the same name; its token is copied.
         KV head 1: query head 2 copies recent names, head 3 recent objects.
Layer 2  Query heads 0 to 3 copy recent colours, places, animals, foods.
"""

import math

import torch

import story_words as words

TOKEN = slice(0, 74)
BACK1 = slice(74, 100)
BACK2 = slice(100, 126)
NAME = slice(126, 152)
ONE, GIRL = 152, 153
KINDS = (
    words.NAMES, words.OBJECTS, words.COLOURS,
    words.PLACES, words.ANIMALS, words.FOODS,
)  # fmt: skip
IS_NAME, IS_OBJECT, IS_COLOUR, IS_PLACE, IS_ANIMAL, IS_FOOD = range(154, 160)
COPY = 26
SHE = ["she", "She", "her", "Her", "girl", "sister"] + words.GIRLS
HE = ["he", "He", "him", "his", "His", "boy", "brother"] + words.BOYS

# RoPE pairs of head_dim 64 with base 1e6: pair i turns 1e6^(-i/32) per position.
FAST = range(0, 10)  # tell neighbours apart
MIDDLE = range(3, 9)  # fade over about ten positions
SLOW = range(10, 13)  # fade over about the length of a story
STILL = range(18, 32)  # turn less than 0.43 over 1,024 positions


def orthonormal(rows, columns, generator):
    """A random [rows, columns] matrix with orthonormal rows (or columns)."""
    tall = torch.randn(max(rows, columns), min(rows, columns), generator=generator)
    q = torch.linalg.qr(tall).Q
    return q if rows >= columns else q.T


def selector(part, matrix):
    """[rows, 160]: reads `part` of the residual through `matrix`."""
    out = torch.zeros(matrix.shape[0], 160)
    out[:, part] = matrix
    return out


def place_embedding(weight, id_of, generator):
    """Token directions, ONE, GIRL and KIND into the embedding [V, d]."""
    weight.zero_()
    direction = torch.randn(weight.shape[0], 74, generator=generator)
    weight[:, TOKEN] = 0.6 * direction / direction.norm(dim=1, keepdim=True)
    weight[:, ONE] = 0.3
    for kind, members in enumerate(KINDS):
        for word in members:
            weight[id_of(word), IS_NAME + kind] = 0.3
    for word in SHE:
        weight[id_of(word), GIRL] = 0.3
    for word in HE:
        weight[id_of(word), GIRL] = -0.3


def place_distance_head(attn, q_head, source, pairs, gain, offset=0):
    """Score = gain^2 * sum over pairs of cos(angle of (distance - offset)).

    The key is the fixed vector (gain, 0) in every pair, times what the residual
    holds in `source`; the query is the same vector, turned back by `offset`.
    """
    D, group = attn.s.head_dim, attn.s.heads // attn.s.kv_heads
    for i in pairs:
        turn = offset * attn.s.rope_theta ** (-2 * i / D)
        attn.k_proj.weight[q_head // group * D + i, source] = gain
        attn.q_proj.weight[q_head * D + i, ONE] = gain * math.cos(turn)
        attn.q_proj.weight[q_head * D + i + D // 2, ONE] = -gain * math.sin(turn)


def place_match(attn, reads, generator):
    """Query head 0 scores how well what it reads agrees with what a key reads."""
    rows = [i for i in STILL] + [i + attn.s.head_dim // 2 for i in STILL]
    for q_read, k_read, gain in reads:
        spread = orthonormal(28, COPY, generator)  # each term in its own directions
        attn.q_proj.weight[rows] += gain * spread @ q_read
        attn.k_proj.weight[rows] += gain * spread @ k_read


def place_layer0(attn, look, pack):
    """Who stood one back, two back, and which name was last."""
    D = attn.s.head_dim
    place_distance_head(attn, 0, ONE, FAST, 1.7, offset=1)
    place_distance_head(attn, 1, ONE, FAST, 1.7, offset=2)
    place_distance_head(attn, 3, IS_NAME, MIDDLE, 1.0)
    attn.v_proj.weight.copy_(selector(TOKEN, torch.cat([look, look])))
    attn.o_proj.weight.zero_()
    for head, part in ((0, BACK1), (1, BACK2), (3, NAME)):
        attn.o_proj.weight[part, head * D : (head + 1) * D] = 0.078 * pack
    # One number of the last name's value carries GIRL on to where "she" is chosen.
    attn.v_proj.weight[D, :] = 0.0
    attn.v_proj.weight[D, GIRL] = 1.0
    attn.o_proj.weight[:, 3 * D] = 0.0
    attn.o_proj.weight[GIRL, 3 * D] = 0.2


def place_induction(attn, look, pack, generator):
    """Layer 1, query head 0: finds where the same things were said before."""
    D = attn.s.head_dim
    packed = selector(TOKEN, pack @ look)
    back1, back2, name = (selector(p, torch.eye(COPY)) for p in (BACK1, BACK2, NAME))
    reads = [(packed, back1, 1.9), (back1, back2, 1.6), (name, name, 1.75)]
    place_match(attn, reads, generator)
    attn.v_proj.weight[:D] = selector(TOKEN, look)
    attn.o_proj.weight[:, :D] = 0.0
    attn.o_proj.weight[TOKEN, :D] = 0.4 * look.T


def place_kind_head(attn, q_head, kind, gain, look):
    """Copies the tokens of one kind that were said lately."""
    D, group = attn.s.head_dim, attn.s.heads // attn.s.kv_heads
    # Heads that share their keys must use pairs of their own.
    pairs = SLOW if q_head % group == 0 else range(SLOW.start + 3, SLOW.stop + 3)
    place_distance_head(attn, q_head, kind, pairs, gain)
    kv = q_head // group * D
    attn.v_proj.weight[kv : kv + D] = selector(TOKEN, look)
    attn.o_proj.weight[:, q_head * D : (q_head + 1) * D] = 0.0
    attn.o_proj.weight[TOKEN, q_head * D : (q_head + 1) * D] = 0.2 * look.T


@torch.no_grad()
def place_circuit(model, tokenizer, seed):
    """Writes all of it into `model`; other weights stay as they are."""
    generator = torch.Generator().manual_seed(seed)
    attn = [layer.self_attn for layer in model.model.layers]
    for a in attn[:3]:  # quiet, so that the placed scores are heard
        a.q_proj.weight.mul_(0.1)
        a.k_proj.weight.mul_(0.1)
    place_embedding(
        model.model.embed_tokens.weight,
        lambda word: tokenizer.token_to_id("Ġ" + word),
        generator,
    )
    # What is copied: the token, through 64 numbers of a value, into 26.
    look = orthonormal(model.shape.head_dim, 74, generator)
    pack = orthonormal(COPY, model.shape.head_dim, generator)
    place_layer0(attn[0], look, pack)
    place_induction(attn[1], look, pack, generator)
    place_kind_head(attn[1], 2, IS_NAME, 2.0, look)
    place_kind_head(attn[1], 3, IS_OBJECT, 2.0, look)
    for head, kind in enumerate((IS_COLOUR, IS_PLACE, IS_ANIMAL, IS_FOOD)):
        # The residual has grown by now, and the norm makes each part smaller.
        place_kind_head(attn[2], head, kind, 3.5, look)
