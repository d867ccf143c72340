#!/usr/bin/env python3
"""Counts words to avoid, and long sentences, in what people read: comments, identifiers, messages of tests, names of checks and
tests, and Markdown. --show lists them.

Fails above a limit per 10,000 words, or above a mean sentence in Markdown. Limits only go down. The list finds idioms that
are hard to read, such as an inanimate thing that "tells" or "says"; a sentence without them is not yet a good one.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The most hits per 10,000 words.
LIMITS = {"comments in Sources": 3, "comments in Tests": 1, "identifiers in Sources": 9, "identifiers in Tests": 2,
          "names of checks and tests": 1, "messages in Tests": 1, "Markdown": 1}
MEAN_SENTENCE = 17

LIST = [
    r"tell(?:s|ing)?", r"told", r"say(?:s|ing)?", r"said", r"nobody", r"whoever", r"farewells?", r"wish(?:es)?", r"lets? go(?: of)?",
    r"letting go of", r"given up", r"of (?:its|one's|their|his) own", r"hears?", r"heard", r"heed(?:s|ed)?", r"lends?", r"for good",
    r"news", r"misled", r"doubts?",
]
WORDS = re.compile(r"\b(?:" + "|".join(LIST) + r")\b", re.I)
OPENERS = re.compile(r"(?:^|[.!?:] )(?:Whoever|Who|What) (?:is|are|has|have|was|were|comes?|goes|waits?|asks?|takes?|gives?|makes?)\b")
TEXT = r'"((?:\\.|[^"\\\n])*)"'


def files(pattern):
    """The files of the repository that fit, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", pattern], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if listed.returncode != 0:
        sys.exit("git lists no files: see above.")
    return [path for path in map(ROOT.joinpath, sorted(set(listed.stdout.splitlines()))) if path.is_file()]


def comments(text):
    return "\n".join(re.findall(r"//+!?\s?([^\n]*)", re.sub(TEXT, '""', text)))


def identifiers(text):
    """The names in code, one a line, in words: isReused is 'is Reused'."""
    code = re.sub(r'"""(?:.|\n)*?"""|' + TEXT + r"|//[^\n]*", "", text)
    return "\n".join(" ".join(re.findall(r"[A-Z]?[a-z]+", name)) for name in re.findall(r"[A-Za-z_]\w*", code))


def messages(text):
    """The literals with two spaces or more: most others are data."""
    return "\n\n".join(literal for literal in re.findall(TEXT, text) if literal.count(" ") >= 2)


def names(text):
    return "\n\n".join(re.findall(r"(?:ConformanceCheck|@Test|@Suite)\(\s*" + TEXT, text))


def prose(text):
    """Markdown without code, tables, addresses and hidden lines."""
    text = re.sub(r"```(?:.|\n)*?```|^\s*\|.*$", "\n", text, flags=re.M)
    return re.sub(r"`[^`\n]*`|\(https?:[^)]*\)|<!--(?:.|\n)*?-->", "x", text)


def sentences(text):
    text = re.sub(r"^\s*(?:[-*#>]+|\d+\.)\s+", "\n\n", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(paragraph.split())):
            if len(sentence.split()) >= 4:
                yield sentence


def main():
    show = "--show" in sys.argv[1:]
    sources, tests, markdown = files("Sources/*.swift"), files("Tests/*.swift"), files("*.md")
    groups = dict(zip(LIMITS, [(sources, comments), (tests, comments), (sources, identifiers), (tests, identifiers),
                               (tests, names), (tests, messages), (markdown, prose)]))
    failed = False
    for group, (paths, read) in groups.items():
        words = hits = 0
        for path in paths:
            text = read(path.read_text())
            words += len(text.split())
            for match in [*WORDS.finditer(text), *OPENERS.finditer(text)]:
                hits += 1
                if show:
                    start = text.rfind("\n", 0, match.start()) + 1
                    print(f"{path.relative_to(ROOT)}: {match[0]!r}: {' '.join(text[start:match.end() + 60].split())[:120]}")
        if not words:
            sys.exit(f"{group}: there is nothing to read")
        rate = 10_000 * hits / words
        if rate > LIMITS[group]:
            failed = True
            print(f"{group}: {rate:.1f} words to avoid per 10,000, above {LIMITS[group]}: '.ci/words.py --show' lists them", file=sys.stderr)
    lengths = [len(sentence.split()) for path in markdown for sentence in sentences(prose(path.read_text()))]
    mean = sum(lengths) / max(1, len(lengths))
    if mean > MEAN_SENTENCE:
        failed = True
        print(f"Markdown: a sentence has {mean:.1f} words on average, above {MEAN_SENTENCE}", file=sys.stderr)
    sys.exit(failed)


main()
