"""Trains the byte-level BPE of storyteller on the stories and writes tokenizer.json.

    python3 train_tokenizer.py [storyteller/tokenizer.json]

1,024 pieces: 256 bytes (so any text can be encoded), one special token, and the
merges. The pattern cuts digits one by one, the first with the space before it:
"Mia has 4821." becomes " Mia" " has" " 4" "8" "2" "1" ".". So a number always
takes four positions of the cache, right after the word it belongs to.
"""

import sys
from itertools import chain
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import story_words as words
from circuit import HE, KINDS, SHE
from dice import Dice
from story_text import as_text, document, draw_facts

END = "<|endoftext|>"
VOCAB = 1024
PATTERN = r" ?\p{L}+| ?\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
HERE = Path(__file__).parent


def training_text():
    """Stories, and each word that must become one piece often enough to be one."""
    dice = Dice(2024)
    for _ in range(1500):
        yield as_text(document(dice, 20, draw_facts(dice, 4)))
    single = words.NAMES + words.OBJECTS + words.COLOURS + words.PLACES
    for word in single + words.ANIMALS + words.FOODS + [str(d) for d in range(10)]:
        yield f" {word}" * 500


def train():
    """The trained `Tokenizer`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(training_text(), trainer)
    return tokenizer


def check(tokenizer):
    """The promises that the training text and circuit.py rely on."""
    assert tokenizer.get_vocab_size() <= VOCAB
    for word in [*chain(*KINDS), *SHE, *HE]:  # circuit.py writes to the embedding of each
        piece = tokenizer.token_to_id("Ġ" + word)
        assert piece is not None and tokenizer.encode(" " + word).ids == [piece], word
    assert len(tokenizer.encode(" Mia has 4821.").ids) == 7
    # Encoding span by span must give the ids of the whole text.
    dice = Dice(5)
    spans = document(dice, 60, draw_facts(dice, 8))
    parts = [i for _, text in spans for i in tokenizer.encode(text).ids]
    assert parts == tokenizer.encode(as_text(spans)).ids
    assert tokenizer.decode(parts) == as_text(spans)


def main():
    default = HERE / "storyteller" / "tokenizer.json"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    tokenizer = train()
    check(tokenizer)
    tokenizer.save(str(path))
    print(f"{path}: {tokenizer.get_vocab_size()} pieces, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
