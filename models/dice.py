"""A random number generator that gives the same numbers everywhere.

Python's own `random` may change how it draws between versions. What ships was
trained on these draws, so they are spelled out: SplitMix64 (Steele, Lea and
Flood, 2014), 64-bit integers only.
"""

MASK = (1 << 64) - 1


class Dice:
    """A stream of random choices; the same seed gives the same stream."""

    def __init__(self, seed):
        self.state = seed & MASK

    def bits(self):
        """The next 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        """An integer in 0 .. n-1 (the bias of the product is under n / 2^64)."""
        return (self.bits() * n) >> 64

    def between(self, low, high):
        """An integer in low .. high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent):
        """True in `percent` of 100 cases."""
        return self.below(100) < percent

    def choice(self, items):
        """One of the items."""
        return items[self.below(len(items))]

    def sample(self, items, count):
        """`count` different items in random order (first steps of a shuffle)."""
        items = list(items)
        for i in range(count):
            j = self.between(i, len(items) - 1)
            items[i], items[j] = items[j], items[i]
        return items[:count]
