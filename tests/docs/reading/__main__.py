"""Says which pages and which sentences are hard to read: `make readability`. It is a guide, and no test."""

from tests.cfn import ROOT
from tests.docs.reading.ease import ease, words
from tests.docs.reading.prose import Sentence, sentences

SHORT = 8  # a sentence with fewer words is hard only by its terms
HARDEST = 20


def main() -> None:
    files = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "adr").glob("*.md"), ROOT / "README.md"])
    pages = {file.relative_to(ROOT).as_posix(): sentences(file.read_text()) for file in files}
    print(table(pages), hardest(pages), sep="\n\n")


def table(pages: dict[str, list[Sentence]]) -> str:
    """The hardest page first."""
    measured = sorted((ease(read), name, read) for name, read in pages.items() if read)
    rows = [
        f"{value:5.0f}  {len(read):9}  {sum(len(words(one.text)) for one in read) / len(read):5.1f}  {name}"
        for value, name, read in measured
    ]
    return "\n".join([" ease  sentences  words  page (Flesch: from 60 it is plain English)", *rows])


def hardest(pages: dict[str, list[Sentence]], number: int = HARDEST) -> str:
    """With their places."""
    measured = sorted(
        (ease([one]), name, one.line, one.text)
        for name, read in pages.items()
        for one in read
        if len(words(one.text)) >= SHORT
    )
    return "\n".join(
        ["The hardest sentences:"]
        + [f"{value:5.0f}  {name}:{line}: {text}" for value, name, line, text in measured[:number]]
    )


if __name__ == "__main__":
    main()
