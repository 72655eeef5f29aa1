"""Strings on which kvtape's tokenizer must agree with the `tokenizers` package."""

WORDS = [
    "", " ", "a", " a", "Mia", " Mia", "Mia has 4821.", " Mia has 4821.",
    "One day, Mia went to the park.", "Who has what? Mia has", " Who has what?",
    "the red kite", "kite", "kites", "unbelievable", "Donaudampfschifffahrt",
    "supercalifragilisticexpialidocious", "a" * 40, "ab" * 30, "MIA HAS", "mIa",
    "MiaTomBen", "cup,cup;cup", "hello world", "Hello, World!", "one-two-three",
    "snake_case_name", "camelCaseName", "x=y+z*2", "a/b\\c", "e-mail@example.org",
    "https://example.org/a?b=c&d=%20", "#include <vector>", "int main() { return 0; }",
]  # fmt: skip

NUMBERS = [
    "0", "7", " 7", "42", " 42", "4821", " 4821", "  4821", "4 8 2 1", "1,234.56",
    "-17", "+3", "3.14159", "1e-5", "0x1F", "v2.0", "2nd", "x2y", "12ab34",
    "٣٤٥", " ٣", "०१२", "¼½¾", "²³", "Ⅷ", "①②", " ½ cup", "1234567890" * 3,
]  # fmt: skip

SPACES = [
    "  ", "   ", "    ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n", "\n ", "a b",
    "a  b", "a   b", "a    b", "a\nb", "a\n\nb", "a \n b", "a\n  b", "a\tb", "a \tb",
    "a\r\nb", "a\r\n\r\nb", " a ", "  a  ", "a ", "a  ", "a\n", "a \n", "\na", "\n Mia",
    "\n\n  Mia", "end.\nWho has what?", "end. \nNext", "\u00a0", "a\u00a0b", "\u2003x",
    "a\u200bb", "\u3000全", "\u2028", "a\u2028b", "\u0085", "x\u0085y", "\v\f", "a\vb",
]  # fmt: skip

MARKS = [
    "don't", "it's", "we'll", "I'm they're you've", "Mia's kite", "'quoted'",
    '"Here it is!" said Mia.', "“curly”", "‘single’", "…", "...", "?!", "!!!", " !!!",
    "--", "—", "a—b", "(a)", "[b]", "{c}", "<d>", "$5", "€5", "50%", "~", "`code`",
    "a.b", "a. b", ". . .", ",,", "***bold***", "^_^", "|", "§1", "°C", "©®™",
]  # fmt: skip

SCRIPTS = [
    "café", "cafe\u0301", "naïve", "Ångström", "A\u030angström", "straße", "ŒUVRE",
    "ﬁne", "Привет, мир!", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم",
    "नमस्ते दुनिया", "สวัสดีชาวโลก", "你好，世界。", "こんにちは世界", "カタカナ", "안녕하세요",
    "\u1112\u1161\u11ab", "Việt Nam", "İstanbul", "ǅ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𐍈", "e\u0301\u0323",
    "a\u0300\u0301\u0302", "\u0301", " \u0301", "x\u0301y", "ʰ", "ªº", "々", "ー",
]  # fmt: skip

SYMBOLS = [
    "😀", " 😀", "😀😀", "a😀b", "👩‍👩‍👧", "👍🏽", "🇩🇪", "❤️", "❤", "♥", "☃", "→", "∑∫√",
    "≤≥≠", "\ufeffBOM", "a\ufeffb", "\u00ad", "\u200d", "\u202eabc", "\ufffd", "\ue000",
    "\U0010ffff", "\x00", "a\x00b", "\x01\x02\x03", "\x1b[0m", "\x7f", "\x80", "\x9f",
    "Ā", "Ġ", "Ċ", "ĠMia", "Ā\u0100",
]  # fmt: skip

SPECIAL = [
    "<|endoftext|>", "<|endoftext|><|endoftext|>", "a<|endoftext|>b",
    "The end. <|endoftext|> One day", " <|endoftext|>", "<|endoftext|>\n", "<|endoftext",
    "<|ENDOFTEXT|>", "<|endoftext|", "<<|endoftext|>>", "< |endoftext|>", "<|end|>",
]  # fmt: skip

ALL = WORDS + NUMBERS + SPACES + MARKS + SCRIPTS + SYMBOLS + SPECIAL
