"""Turns documents into token sequences with a training weight for each token."""

import story_words as words
from story_text import ANSWER, PLANTED, STORY, document, draw_facts, drill, story

# A planted number cannot be foreseen; an answer is what this model is about.
WEIGHT = {STORY: 1.0, PLANTED: 0.0, ANSWER: 10.0}
# A name or thing that was there before: to keep to it is what makes it a story.
AGAIN = 4.0
KINDS = set(
    words.NAMES + words.OBJECTS + words.COLOURS + words.PLACES + words.ANIMALS + words.FOODS
)


def encode(tokenizer, spans):
    """(ids, weights) of the spans of one document."""
    ids, weights, seen = [], [], set()
    encodings = tokenizer.encode_batch([text for _, text in spans])
    for (kind, _), encoding in zip(spans, encodings):
        ids += encoding.ids
        for token in encoding.tokens:  # "Ġ" stands for the space before a word
            again = kind == STORY and token in seen and token[1:] in KINDS
            weights.append(AGAIN if again else WEIGHT[kind])
            seen.add(token)
    return ids, weights


def plain_stories(dice, count):
    """Stories without facts."""
    return [(STORY, "\n".join(" ".join(story(dice)) for _ in range(count)))]


def draw_documents(dice):
    """Yields documents for one sequence; no name has two numbers in them."""
    kind = dice.below(100)
    names = dice.sample(words.NAMES, len(words.NAMES))
    if kind < 50:  # one long document: facts and questions far apart
        facts = draw_facts(dice, dice.between(1, 12), names)
        yield document(dice, dice.between(60, 100), facts)
    elif kind < 70:  # many facts at once
        yield drill(dice, draw_facts(dice, dice.between(4, 16), names))
    elif kind < 85:  # a few short documents
        for i in range(4):
            mine = names[i * 4 : i * 4 + 4]
            facts = draw_facts(dice, dice.between(1, 4), mine)
            yield document(dice, dice.between(8, 25), facts)
    while True:
        yield plain_stories(dice, 1 + dice.below(2))


def draw_sequence(dice, tokenizer, end_id, length):
    """One training sequence of `length` ids and weights, cut to fit."""
    # Half the sequences begin without the end token, as a reader's prompt does.
    ids, weights = ([end_id], [0.0]) if dice.chance(50) else ([], [])
    for spans in draw_documents(dice):
        more, more_weights = encode(tokenizer, spans)
        ids += more + [end_id]
        weights += more_weights + [1.0]
        if len(ids) >= length:
            return ids[:length], weights[:length]
