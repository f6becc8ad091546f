"""The passages and questions by which the table is measured.

Passages: what `pairs.txt` has before each tab, and the paragraphs of the project's own documents. Questions: what
`pairs.txt` has after the tab; each has one passage that answers it.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# A paragraph below this says too little to be found.
SHORTEST = 80
# As many paragraphs of the documents as there are at most.
MOST = 600


def pairs():
    lines = (HERE / "pairs.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if "\t" in line]


def paragraphs():
    files = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
    found = []
    for file in files:
        if file.name == "embeddings.md":
            continue
        text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.S)
        for block in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text):
            block = " ".join(block.split())
            if len(block) >= SHORTEST and not block.startswith(("|", "#", "<")):
                found.append(block)
    return found[:MOST]


def load():
    """Passages, questions, and for each question the place of its passage."""
    known = pairs()
    passages = [passage for passage, _ in known] + paragraphs()
    return passages, [question for _, question in known], list(range(len(known)))
