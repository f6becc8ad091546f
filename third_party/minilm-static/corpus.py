"""The two tasks by which the table is measured.

Questions: what `pairs.txt` has after each tab asks for what stands before it, among the paragraphs of the project's own
documents. They share hardly a word with their answers. Halves: the first half of each paragraph of two sentences or
more asks for its second half, among all second halves.
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


def questions():
    """Passages, questions, and for each question the place of its passage."""
    known = pairs()
    passages = [passage for passage, _ in known] + paragraphs()
    return passages, [question for _, question in known], list(range(len(known)))


def halves():
    """The same of paragraphs: each first half asks for its second."""
    cut = [re.split(r"(?<=[.!?:;]) ", block) for block in paragraphs()]
    cut = [parts for parts in cut if len(parts) > 1]
    firsts = [" ".join(parts[: len(parts) // 2]) for parts in cut]
    seconds = [" ".join(parts[len(parts) // 2 :]) for parts in cut]
    return seconds, firsts, list(range(len(cut)))
