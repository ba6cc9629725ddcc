"""The guide reads prose alone, and tells hard sentences from easy ones."""

import pytest

from tests.docs.reading.__main__ import hardest, table
from tests.docs.reading.ease import ease, syllables
from tests.docs.reading.prose import Sentence, sentences

PAGE = """---
number: 1
---
# A title is no sentence

It fires on time. A call of [the interface](../use/api.md) with `a: b` is
answered at once.

| a table | is none |
|---|---|

```sh
Code is none.
```

- Each entry is one.
- Considerable organisational responsibilities necessitate comprehensive interdisciplinary communication procedures.
"""


def test_code_tables_and_titles_are_left_out() -> None:
    assert [(one.line, one.text) for one in sentences(PAGE)][:3] == [
        (6, "It fires on time."),
        (6, "A call of the interface with CODE is answered at once."),
        (16, "Each entry is one."),
    ]


@pytest.mark.parametrize(
    ("word", "number"),
    [("time", 1), ("table", 2), ("stopped", 1), ("needed", 2), ("responsibility", 6), ("17", 1), ("pages", 2)],
)
def test_syllables_are_counted(word: str, number: int) -> None:
    assert syllables(word) == number


def test_short_words_and_sentences_are_easy() -> None:
    """Flesch's own bounds: 60 for plain English, 30 for scholars."""
    easy, *_, hard = sentences(PAGE)
    assert ease([hard]) < 30 < 60 < ease([easy])
    assert ease([Sentence(line=1, text="…")]) == 100


def test_pages_and_sentences_are_printed_with_the_hardest_first() -> None:
    pages = {"easy.md": sentences("It fires on time."), "hard.md": sentences(PAGE), "empty.md": sentences("# Title")}
    assert [line.split()[-1] for line in table(pages).splitlines()[1:]] == ["hard.md", "easy.md"]
    [first] = hardest(pages, 1).splitlines()[1:]
    assert "hard.md:17: Considerable" in first
