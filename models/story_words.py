"""Words and sentences from which story_text.py builds its stories.

Fields in braces are filled by story_text.py:
  {A} the hero, {He} {he} {him} {his}   the hero's pronouns
  {B} the friend, {bHe} {bhe} {bhim} {bhis}   the friend's pronouns
  {rel} what the friend is to the hero ("friend", "sister", ...)
  {O} the object with its colour ("red kite"), {o} the bare object ("kite")
  {P} the place ("the park"), {Q} another place, {H} a hiding place
  {n} an animal, {f} something to eat
Each {A}, {B} stands after a space: then the name with its space is one token.
A plot is a list of slots; a slot is a list of ways to say the same thing.
"""

GIRLS = (
    "Mia Lily Anna Rosa Zoe Ella Nora Ruth Clara Ivy Tina Jane Emma Kate Sara Lucy Maya Amy"
).split()
BOYS = (
    "Tom Ben Sam Max Leo Finn Jack Hugo Paul Oscar Noah Adam Luke Omar Carl Peter Theo Ned"
).split()
NAMES = GIRLS + BOYS

OBJECTS = (
    "kite ball lamp book hat drum boat cup bell key map coin box clock doll "
    "flute basket blanket scarf ring rope spoon bowl mirror brush pencil "
    "whistle wagon lantern bucket coat glove stone shell feather button "
    "ribbon puzzle robot horn mask bag cap jar"
).split()
BREAKABLE = (
    "kite lamp drum boat clock doll flute basket wagon lantern bucket robot "
    "mirror bowl cup jar whistle mask box horn"
).split()
LIGHT = "kite ball hat cap scarf ribbon feather glove bag mask".split()

COLOURS = ("red blue green yellow brown white black pink silver golden gray purple").split()

PLACES = (
    "park beach forest market garden school farm river lake library hill "
    "village bridge station castle barn mill harbor meadow tower shop bakery "
    "square cave"
).split()

ANIMALS = "dog cat duck rabbit goat bird fox frog pony lamb turtle mouse".split()
FOODS = "bread soup cake apples cheese honey berries nuts milk pie".split()

HIDING = [
    "under a bench",
    "behind a tree",
    "under a big leaf",
    "behind a rock",
    "in the tall grass",
    "next to the gate",
    "behind the door",
    "on top of a wall",
    "in a deep hole",
    "under a pile of leaves",
    "inside a hollow log",
    "behind a barrel",
    "beside the path",
    "under the stairs",
    "between two stones",
    "near the old well",
]

FRIEND_GIRL = ["friend", "friend", "sister", "cousin", "neighbor"]
FRIEND_BOY = ["friend", "friend", "brother", "cousin", "neighbor"]

# ---- how every story may begin -------------------------------------------

OPENING = [
    "One day, {A} went to {P}.",
    "One morning, {A} walked to {P}.",
    "Once there was a {kid} named {A}. {He} lived near {P}.",
    "It was a sunny day, and {A} was at {P}.",
    "On a cold day, {A} went out to {P}.",
    "Early in the morning, {A} ran to {P}.",
    "There was a {kid} called {A} who loved {P}.",
    "After lunch, {A} took a walk to {P}.",
    "In a small house by {P}, there lived a {kid} named {A}.",
    "Last summer, {A} spent a whole day at {P}.",
    "It was windy, but {A} still went to {P}.",
    "When the sun came up, {A} was already at {P}.",
    "A long time ago, a {kid} named {A} lived close to {P}.",
    "Every day, {A} came to {P} to play.",
]

OWNS = [
    "{He} had a {O}.",
    "{He} took {his} {O} along.",
    "{He} carried a {O} in {his} hands.",
    "In {his} hands was a {O}.",
    "{He} had a new {O} and was very proud of it.",
    "{His} grandma had given {him} a {O}.",
    "The thing {he} loved most was {his} {O}.",
    "{He} never went out without {his} {O}.",
    "With {him} was {his} best thing, a {O}.",
    "{He} wanted to show {his} {O} to everyone.",
]

MEETS = [
    "There {he} met {his} {rel} {B}.",
    "{His} {rel} {B} came too.",
    "{His} {rel} {B} was there as well.",
    "Soon {he} saw {B}, {his} {rel}.",
    "{He} went with {his} {rel} {B}.",
    "On the way, {he} met {his} {rel} {B}.",
    "At the gate, {his} {rel} {B} was waiting.",
]

# Sentences that fit almost anywhere; they make no claim that a plot denies.
FILLER = [
    "The sky was blue.",
    "The wind was soft.",
    "Birds were singing.",
    "The air was fresh and clean.",
    "Some clouds moved slowly by.",
    "It was very quiet.",
    "A {n} ran across the path.",
    "Far away, a bell rang.",
    "The sun was warm.",
    "Leaves fell from the trees.",
    "A {n} looked at them and went away.",
    "People walked by and smiled.",
    "It smelled like {f}.",
    "Someone was selling {f} nearby.",
    "The grass was still wet.",
    "A small {n} slept in the sun.",
    "Children were playing not far away.",
    "A light rain began and soon stopped.",
    "An old man was reading on a bench.",
    "The shadows were long.",
    "{A} and {B} ate some {f}.",
    "{A} and {B} sang a song.",
    "{A} told {B} a funny story.",
    "{B} laughed out loud.",
    "{A} took a deep breath.",
    "{B} had some {f} and gave half to {A}.",
    "The two of them sat down for a while.",
    "They could see {Q} from there.",
]

ENDING = [
    "They went home together and were happy.",
    "In the evening, {A} told the whole story at home.",
    "{A} smiled all the way home.",
    "It was the best day of the year.",
    "From that day on, {A} and {B} were best friends.",
    "That night, {A} slept very well.",
    "Then they shared some {f} and went home.",
    "When the moon came up, everyone was home again.",
    "{A} never forgot that day.",
    "And so the day ended well.",
    "After that, they met at {P} every week.",
    "At home, both of them ate {f}.",
    "{A} waved to {B} and went to bed with a smile.",
    "Both of them were tired but glad.",
]

# ---- plots: problem, tries, solution --------------------------------------

LOST = [
    [
        "But then the {o} was gone.",
        "After a while, {A} could not find the {o}.",
        "Suddenly {A} saw that the {o} was missing.",
        "But when {A} looked down, the {o} was not there.",
        "Then something bad happened. {A} lost the {o}.",
        "{A} put the {o} down to play, and then it was gone.",
    ],
    [
        "{He} was sad and began to cry.",
        "{He} did not know what to do.",
        "{He} felt very bad about it.",
        '"Where is my {o}?" asked {A}.',
        '"Oh no, my {O} is lost!" said {A}.',
        "{He} ran back the way {he} had come.",
    ],
    [
        '"Do not worry, I will help you," said {B}.',
        '{B} said, "We will find it together."',
        "{B} wanted to help.",
        '"When did you see it last?" asked {B}.',
        '"Let us look for it," said {B}.',
    ],
    [
        "They looked everywhere.",
        "First they looked near the water, but the {o} was not there.",
        "They asked a woman with a {n}, but she had not seen it.",
        "They walked around {P} two times.",
        "They looked behind every tree and under every stone.",
        "A man told them to look again more slowly.",
        "They looked for a long time and found only an old shoe.",
    ],
    [
        "At last {B} found the {o} {H}.",
        "Then {A} saw something {c} {H}. It was the {o}!",
        "Finally, {A} found the {O} {H}.",
        "A {n} was sitting {H}, and next to it was the {O}.",
        '"Here it is!" said {B}. The {o} was {H}.',
        "{B} looked {H}, and there was the {O}.",
    ],
    [
        "{A} hugged {B} and said thank you.",
        '"Thank you, {B}," said {A}.',
        "{A} was so glad to have the {o} back.",
        "{A} held the {o} tight and laughed.",
        '"I will take better care of my {o}," said {A}.',
    ],
]

BROKEN = [
    [
        "But {A} fell, and the {o} broke.",
        "Then {A} dropped the {o}, and it broke in two.",
        "But after a while, the {o} stopped working.",
        "Then a big {n} ran into {A}, and the {o} broke.",
        "But the {o} hit a stone and cracked.",
    ],
    [
        "{A} looked at the pieces and was sad.",
        '"My {O} is broken," said {A}.',
        "{He} tried to fix it alone, but it was too hard.",
        "{He} sat down and held the broken {o}.",
        '"What can I do now?" asked {A}.',
    ],
    [
        "{B} looked at the {o} with care.",
        '"I think we can fix it," said {B}.',
        '{B} said, "My father has some glue."',
        "{B} knew how to fix things.",
        '"Let me try," said {B}.',
    ],
    [
        "They took it to an old man at {Q}, who gave them wood and nails.",
        "They used some glue and a piece of string.",
        "They worked on it all afternoon.",
        "First they cleaned it, and then they put the pieces together.",
        "{B} held the pieces, and {A} tied them with string.",
        "A kind woman at {Q} showed them how to do it.",
    ],
    [
        "Soon the {O} was as good as new.",
        "In the end, the {o} was whole again.",
        "Then the {o} worked again.",
        "Now the {o} was even stronger than before.",
        "When they were done, the {O} looked better than before.",
    ],
    [
        "{A} was so happy that {he} danced.",
        '"Thank you for your help, {B}," said {A}.',
        "{A} let {B} have the {o} for a day.",
        "{A} learned that broken things can be fixed.",
        '"You are a good {rel}," said {A}.',
    ],
]

STUCK = [
    [
        "Then the wind took the {o} away.",
        "{A} threw the {o} up, and it did not come down.",
        "But a strong wind came and blew the {o} up high.",
        "Then a cheeky bird took the {o} and flew off.",
        "{A} wanted to see how high the {o} could go.",
    ],
    [
        "It was stuck in a tall tree.",
        "It landed on the roof of a house.",
        "Now the {o} hung on a high branch.",
        "The {O} got stuck at the top of a tall tree.",
    ],
    [
        "{A} jumped and jumped but could not reach it.",
        '"It is too high for me," said {A}.',
        "{He} tried to climb up, but {he} was too small.",
        "{He} threw a stick at it, but that did not help.",
        "{He} looked up at the {o} and did not know what to do.",
    ],
    [
        "{B} had an idea.",
        '"Wait here, I know what to do," said {B}.',
        '"We need a long ladder," said {B}.',
        "{B} ran to {Q} to get help.",
        "Then {B} came back with a long stick.",
    ],
    [
        "Together they carried a ladder from the barn.",
        "{B} stood on a box and reached up.",
        "{A} stood on the back of a pony.",
        "{B} shook the branch as hard as {bhe} could.",
        "A tall farmer came by and lifted {B} up.",
    ],
    [
        "The {o} came down, and {A} caught it.",
        "At last, {B} gave the {O} back to {A}.",
        "The {O} fell into the hands of {A}.",
        "Soon {A} had the {o} again.",
        '"I have it!" said {B}, and gave the {o} to {A}.',
    ],
]

GIFT = [
    [
        "It was the birthday of {B}, {his} {rel}.",
        "{A} wanted to make {his} {rel} {B} happy.",
        "{His} {rel} {B} was sick, and {A} wanted to bring a gift.",
        "{A} was thinking about a gift for {his} {rel} {B}.",
        "{His} {rel} {B} had been sad for days.",
    ],
    [
        "{A} looked at many things, but nothing was right.",
        "{He} had only a few coins.",
        "{He} thought about it for a long time.",
        '"What would {B} like?" {A} asked a woman at {Q}.',
        "First {he} thought of {f}, but {B} did not like {f}.",
    ],
    [
        "Then {he} saw a {O}.",
        "Then {A} found a {O} {H}.",
        "In a small shop, there was a {O}.",
        "At home, {A} made a {O} with {his} own hands.",
        "An old man gave {him} a {O} for helping him with his {n}.",
    ],
    [
        "{A} put the {o} in a box with a bow.",
        "{He} cleaned the {o} until it was bright.",
        "{He} hid the {o} under {his} coat.",
        "{He} carried the {o} home with great care.",
        "{A} wrote a small note and tied it to the {o}.",
    ],
    [
        "{B} opened the door and saw {A} with the {o}.",
        '"This is for you," said {A} and gave {B} the {o}.',
        "When {B} saw the {O}, {bhe} jumped with joy.",
        '"A {O}! I always wanted one!" said {B}.',
        "{B} could not believe it. It was a {O}!",
    ],
    [
        "{B} gave {A} a big hug.",
        '"You are the best {rel2} in the world," said {B}.',
        "{B} put the {o} next to {bhis} bed.",
        "{B} played with the {o} all day.",
        "{B} showed the {o} to everyone.",
    ],
]

SHARE = [
    [
        "{B} had nothing to play with.",
        "{B} looked at the {o} and was quiet.",
        '"May I have a turn?" asked {B}.',
        "{B} wanted to play with the {o} too.",
        '"I like your {O}," said {B}.',
    ],
    [
        "At first {A} did not want to share.",
        '"No, it is mine," said {A}.',
        "{A} held the {o} tight and turned away.",
        "{A} was afraid that {B} would break it.",
        "{A} pretended not to hear.",
    ],
    [
        "{B} walked away and sat alone.",
        "{B} said nothing, but {bhis} eyes were wet.",
        "{B} went to play with a {n}.",
        "So {B} just watched.",
        "{B} sat down on a stone and looked at the ground.",
    ],
    [
        "Then {A} felt sorry.",
        "Playing alone was no fun.",
        "{A} thought about it again.",
        "Soon {A} was bored all alone.",
        "Then {A} remembered that {B} always shared {bhis} {f}.",
    ],
    [
        '"Here, you can have the {o} now," said {A}.',
        "{A} gave the {o} to {B} with a smile.",
        '"Let us play with the {o} together," said {A}.',
        "So {A} put the {o} into the hands of {B}.",
    ],
    [
        "They took turns until it was dark.",
        "With two it was much more fun.",
        "They played and laughed for hours.",
        '"Sharing is better," said {A}.',
        "{B} thanked {A} and showed {him} a new game.",
    ],
]

MARKET = [
    [
        "{He} wanted to buy a {O}.",
        "In a window, {he} saw a {O}.",
        "There was a {O} for sale.",
        "More than anything, {he} wanted a {O}.",
        "{He} had dreamed of a {O} for a long time.",
    ],
    [
        "But it cost too much.",
        '"How much is the {o}?" asked {A}. It was too much.',
        "{He} counted {his} coins, but there were not enough.",
        "{A} had only two coins, and the {o} cost ten.",
        "The man wanted ten coins for the {o}.",
    ],
    [
        "{His} {rel} {B} came by and saw {his} sad face.",
        "So {he} went to {his} {rel} {B} and asked for help.",
        '"You can work for it," said {his} {rel} {B}.',
        '{His} {rel} {B} said, "I know how you can earn some coins."',
    ],
    [
        "{A} and {B} carried bags of {f} for an old woman.",
        "For three days, {A} fed a {n} at {Q}.",
        "They picked berries and sold them at {Q}.",
        "{A} helped a baker, and {B} cleaned the floor.",
        "{A} and {B} washed the windows of the shop.",
    ],
    [
        "In the end, {A} had enough coins.",
        "They worked hard and got ten coins.",
        "Coin by coin, the money grew.",
        "At last the coins were enough.",
    ],
    [
        "{A} went back and bought the {O}.",
        "Now the {o} was {hisown}.",
        '"Here is your {O}," said the man, and {A} took it with a smile.',
        "{A} ran to the shop and came out with the {O}.",
    ],
]

ANIMAL = [
    [
        "There {he} found a small {n}.",
        "{A} heard a sound. It was a {n}.",
        "{H0}, there sat a little {n}.",
        "A lost {n} came up to {A}.",
        "Then {he} saw a {n} that could not walk well.",
    ],
    [
        "The {n} was cold and hungry.",
        "The {n} was all alone.",
        "The {n} looked at {A} with big eyes.",
        "The poor {n} was afraid.",
        "The {n} had a string around its leg.",
    ],
    [
        "{A} gave the {n} some {f}.",
        '"Do not be afraid," said {A}.',
        "{A} put the {n} into {his} {o}.",
        "{A} sat down next to the {n} and waited.",
        "{A} gave the {n} some water.",
    ],
    [
        "{A} took the {n} to {his} {rel} {B}.",
        "Then {A} called {his} {rel} {B}.",
        "{His} {rel} {B} knew a lot about animals.",
        '"Is this your {n}?" {A} asked {his} {rel} {B}.',
    ],
    [
        '{B} said, "It must belong to someone at {Q}."',
        '"We must find its home," said {B}.',
        "{B} thought that the {n} came from {Q}.",
        '"I saw a {n} like this at {Q}," said {B}.',
    ],
    [
        "So they walked to {Q}, and a girl there was so glad to see her {n}.",
        "They brought the {n} to {Q}, where its mother was waiting.",
        "At {Q}, the {n} ran to an old man and jumped with joy.",
        "Nobody at {Q} knew the {n}, so {A} and {B} kept it.",
    ],
]

CONTEST = [
    [
        "That day there was a big race.",
        "{A} and {B} wanted to see who was faster.",
        "Everyone had come for the big race.",
        '"Let us race to {Q}," said {B}.',
    ],
    [
        "The winner would get a {O}.",
        "The prize was a {O}.",
        "A {O} was waiting for the winner.",
    ],
    [
        "At first {B} was ahead.",
        "{A} ran as fast as {he} could.",
        "They ran past the trees and over the hill.",
        "The two of them ran side by side.",
        "{B} was fast, but {A} was fast too.",
    ],
    [
        "Then {B} fell and hurt {bhis} leg.",
        "But {B} stepped on a stone and fell.",
        "Near the end, {B} cried out and stopped.",
        "Suddenly {B} fell into the mud.",
    ],
    [
        "{A} stopped and went back to help.",
        "{A} could have won, but {he} turned around.",
        '"Are you all right?" asked {A}.',
        "{A} took the hand of {B} and helped {bhim} up.",
    ],
    [
        "They walked over the line together, and both of them got the {o}.",
        "Someone else won, but {A} did not care about the {o}.",
        "The people clapped and gave the {O} to {A}.",
        "In the end, {B} said that {A} should have the {o}.",
    ],
]

TREASURE = [
    [
        "{A} found an old map {H}.",
        "{B} had an old map of {P}.",
        "An old man told them about something hidden at {P}.",
        "{A} and {B} wanted to find a treasure.",
        "A strange note said that something was hidden at {P}.",
    ],
    [
        "They walked ten steps to the left and ten steps to the right.",
        "They followed a small path between the trees.",
        "They went past {Q} and over a small bridge.",
        '"It must be near here," said {A}.',
        '"Are we lost?" asked {B}.',
    ],
    [
        "It became dark, and {B} was afraid.",
        "A big {n} stood in their way.",
        "The ground was wet and cold.",
        "They had to climb over a wall.",
        "Then the path ended.",
    ],
    [
        '"Take my hand," said {A}.',
        "{A} was brave and went on.",
        "{A} lit a small light, and they went on.",
        '"We can do it," said {A}.',
    ],
    [
        "Then {B} looked {H} and saw a box.",
        "At last they found a box {H}.",
        "There was something {H}.",
        "{A} began to dig, and soon there was an old box.",
    ],
    [
        "In it was a {O}.",
        "It was a {O}!",
        "They opened it and found a {O}.",
        "Inside, there was nothing but a {O}.",
    ],
    [
        '"This {o} is ours now," said {B}.',
        "They took the {o} home and cleaned it.",
        "{A} gave the {o} to {B}, who had found it.",
        "They put the {o} on a shelf, and everyone came to see it.",
        "The {o} was old but beautiful.",
    ],
]

STORM = [
    [
        "Suddenly the sky became dark.",
        "Then a big storm came.",
        "But soon it began to rain hard.",
        "A cold wind came up, and then the rain fell.",
    ],
    [
        '"We must go inside," said {B}.',
        "{A} and {B} ran to a small house.",
        "They hid {H}.",
        "They ran until they came to {Q}.",
        '"Quick, this way!" said {A}.',
    ],
    [
        "It was dark and cold there.",
        "{B} was afraid of the storm.",
        "The rain was so loud that they could not talk.",
        "They were wet and hungry.",
    ],
    [
        "{A} held up the {O} and told {B} a story about it.",
        "{A} gave {B} the {o} to hold, and {B} felt better.",
        "{A} and {B} played with the {o} and forgot the rain.",
        "They had the {o} and some {f}, and that was enough.",
        '"Look at my {o}," said {A}, and {B} smiled.',
    ],
    [
        "After an hour, the rain stopped.",
        "At last the storm went away.",
        "Then the sun came out again.",
        "When they looked out, there was a rainbow.",
    ],
    [
        "The {o} was a bit wet, but it was fine.",
        "{A} dried the {o} with {his} coat.",
        '"That was not so bad," said {B}.',
        '"My {o} saved us," said {A}, and they laughed.',
    ],
]

# (slots, does the hero own the object at the start?, must the friend be met?,
#  which objects fit)
PLOTS = [
    (LOST, True, True, OBJECTS),
    (BROKEN, True, True, BREAKABLE),
    (STUCK, True, True, LIGHT),
    (GIFT, False, False, OBJECTS),
    (SHARE, True, True, OBJECTS),
    (MARKET, False, False, OBJECTS),
    (ANIMAL, True, False, ["bag", "basket", "hat", "coat", "box", "blanket"]),
    (CONTEST, False, True, OBJECTS),
    (TREASURE, False, True, OBJECTS),
    (STORM, True, True, OBJECTS),
]
