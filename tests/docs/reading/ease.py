"""How easily a text is read: Flesch's measure of 1948. From 60 it is plain English, below 30 it is for scholars.

Libraries that count syllables fetch a dictionary from the network. Groups of vowels are as good for a guide.
"""

import re

from tests.docs.reading.prose import Sentence

WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|\d[\d,.:]*")
SILENT = re.compile(r"(?<=[^aeiouy])(e|es|ed)$")
SPOKEN = re.compile(r"([^aeiouy]le|[td]ed|[sxz]es|[cg]es|[sc]hes)$")
VOWELS = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """About as many as are spoken; a figure is one."""
    small = word.lower()
    heard = small if SPOKEN.search(small) else SILENT.sub("", small)
    return max(1, len(VOWELS.findall(heard)))


def words(text: str) -> list[str]:
    """Those that are read."""
    return WORD.findall(text)


def ease(read: list[Sentence]) -> float:
    """Of some sentences together."""
    spoken = [word for sentence in read for word in words(sentence.text)]
    if not spoken:
        return 100.0
    return 206.835 - 1.015 * len(spoken) / len(read) - 84.6 * sum(map(syllables, spoken)) / len(spoken)
