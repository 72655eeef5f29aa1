"""Makes the text that storyteller is trained on: stories with planted facts.

    story(dice)        a list of sentences: opening, problem, solution, ending
    document(dice, n)  stories of about n sentences with facts such as
                       "Mia has 4821." planted between the sentences, and asked
                       for later: "Who has what? Mia has 4821."

A document is a list of (kind, text) spans. The kind says what the training may
learn from the span: STORY everything, PLANTED nothing (a random number cannot be
foreseen), ANSWER most of all (the number was seen before).

Try it: python3 story_text.py 7
"""

import sys

import story_words as words
from dice import Dice

STORY, PLANTED, ANSWER = "story", "planted", "answer"
QUESTION = " Who has what?"


# ---- numbers --------------------------------------------------------------


def is_held_out(number):
    """Every eleventh number never occurs in training; recall is measured on it."""
    return number % 11 == 0


def draw_number(dice, held_out=False):
    """A number of four digits, from the training part or the held-out part."""
    while True:
        number = dice.between(1000, 9999)
        if is_held_out(number) == held_out:
            return number


def draw_facts(dice, count, names=words.NAMES, held_out=False):
    """`count` different names, each with its own number: [(name, number)]."""
    facts, seen = [], set()
    for name in dice.sample(names, count):
        number = draw_number(dice, held_out)
        while number in seen:
            number = draw_number(dice, held_out)
        seen.add(number)
        facts.append((name, number))
    return facts


# ---- stories --------------------------------------------------------------


def pronouns(name):
    """(he, him, his, his own, kid) for a name of words.NAMES."""
    if name in words.GIRLS:
        return "she", "her", "her", "hers", "girl"
    return "he", "him", "his", "his", "boy"


def draw_fields(dice, objects):
    """Who and what one story is about, as values of the template fields."""
    hero, friend = dice.sample(words.NAMES, 2)
    he, him, his, hisown, kid = pronouns(hero)
    bhe, bhim, bhis, _, _ = pronouns(friend)
    girl = friend in words.GIRLS
    rel = dice.choice(words.FRIEND_GIRL if girl else words.FRIEND_BOY)
    sibling = "sister" if hero in words.GIRLS else "brother"
    thing, colour = dice.choice(objects), dice.choice(words.COLOURS)
    place, other = dice.sample(words.PLACES, 2)
    hiding = dice.choice(words.HIDING)
    return {
        "A": hero, "he": he, "him": him, "his": his,
        "He": he.capitalize(), "His": his.capitalize(),
        "hisown": hisown, "kid": kid,
        "B": friend, "bhe": bhe, "bhim": bhim, "bhis": bhis, "rel": rel,
        "rel2": sibling if rel in ("sister", "brother") else rel,
        "o": thing, "c": colour, "O": colour + " " + thing,
        "P": "the " + place, "Q": "the " + other,
        "H": hiding, "H0": hiding[0].upper() + hiding[1:],
        "n": dice.choice(words.ANIMALS), "f": dice.choice(words.FOODS),
    }  # fmt: skip


def filler(dice, fields, friend_is_known):
    """A sentence that fits anywhere, with an animal and a food of its own."""
    while True:
        template = dice.choice(words.FILLER)
        if friend_is_known or ("{B}" not in template and "them" not in template):
            break
    own = {"n": dice.choice(words.ANIMALS), "f": dice.choice(words.FOODS)}
    return template.format(**{**fields, **own})


def story(dice):
    """One story as a list of sentences (or groups that belong together)."""
    slots, owns, meets, objects = dice.choice(words.PLOTS)
    fields = draw_fields(dice, objects)
    start = [words.OPENING]
    if owns:
        start.append(words.OWNS)
    if meets:
        start.append(words.MEETS)
    sentences, friend_is_known = [], False
    for slot in start + slots + [words.ENDING]:
        template = dice.choice(slot)
        sentences.append(template.format(**fields))
        friend_is_known = friend_is_known or "{B}" in template
        # Not before the ending: an ending follows what it ends.
        if slot is not words.ENDING and dice.chance(22):
            sentences.append(filler(dice, fields, friend_is_known))
    return sentences


# ---- documents ------------------------------------------------------------


def fact_spans(fact, kind):
    """The spans of " Mia has 4821." with the number as `kind`."""
    name, number = fact
    return [(STORY, f" {name} has"), (kind, f" {number}"), (STORY, ".")]


def question_spans(facts, dice):
    """ "Who has what?", answered for all of `facts`."""
    # A line of its own or not: a reader may type either.
    lead = "\nWho has what?" if dice.chance(40) else QUESTION
    spans = [(STORY, lead)]
    for fact in facts:
        spans += fact_spans(fact, ANSWER)
    return spans


def place_facts(dice, facts, gaps):
    """Where each fact is planted and asked for: {gap: [facts]} twice.

    Half the facts are asked for once, so that long distances stay long: an
    answer given earlier is itself a second, nearer place to copy from.
    """
    stops = sorted({dice.between(1, gaps) for _ in range(dice.between(1, 6))} | {gaps})
    planted, asked = {}, {}
    for fact in facts:
        where = dice.below(gaps)
        planted.setdefault(where, []).append(fact)
        later = [stop for stop in stops if stop > where]
        times = min(len(later), 1 if dice.chance(50) else dice.between(1, 3))
        for stop in dice.sample(later, times):
            asked.setdefault(stop, []).append(fact)
    return planted, asked


def document(dice, sentences, facts):
    """Stories of at least `sentences` sentences, with `facts` planted and asked."""
    lines = []
    while len(lines) < sentences:
        first, *rest = story(dice)
        # Each story after the first starts on a new line.
        lines += [("\n" if lines else "") + first] + [" " + s for s in rest]
    planted, asked = place_facts(dice, facts, len(lines))
    spans = []
    for gap, line in enumerate(lines, start=1):
        spans.append((STORY, line))
        for fact in planted.get(gap - 1, []):
            spans += fact_spans(fact, PLANTED)
        if gap in asked:
            spans += question_spans(dice.sample(asked[gap], len(asked[gap])), dice)
    return spans


def drill(dice, facts):
    """Facts one after the other, then all asked for twice in random order."""
    spans = [(STORY, story(dice)[0])]
    for fact in facts:
        spans += fact_spans(fact, PLANTED)
    for _ in range(2):
        spans += question_spans(dice.sample(facts, len(facts)), dice)
    return spans


def as_text(spans):
    """The text of a list of spans."""
    return "".join(text for _, text in spans)


def main():
    dice = Dice(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for _ in range(3):
        print(" ".join(story(dice)), "\n")
    print(as_text(document(dice, 20, draw_facts(dice, 4))), "\n")
    print(as_text(drill(dice, draw_facts(dice, 8))))


if __name__ == "__main__":
    main()
