#!/usr/bin/env python3
"""Counts the samples of "Six tasks, side by side" in ComingFromURLSession.md, prints the table, and fails if the guide has other numbers.

A cell begins with two numbers: statements, and distinct names. A statement goes to the end of its line, or further if a bracket is
open or the next line begins with a dot; with its block it is one. A name is a type, function, property or argument label, of
Foundation or the client. Swift's keywords, print, the shared client, and the program's own variables and types do not count.
"""
import re
import sys
from pathlib import Path

import samples

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "Sources/NetworkStack/NetworkStack.docc/ComingFromURLSession.md"
SECTION = "### Six tasks, side by side\n"
# How the paragraph before a client's samples begins, by column.
CLIENTS = {"here": "This library", "`URLSession`": "`URLSession`", "AsyncHTTPClient": "AsyncHTTPClient", "Alamofire": "Alamofire"}
# What the program has before each sample (SHARED stands where "here" has stack), and what the language has.
SHARED = r"\b(?:URLSession\.shared|HTTPClient\.shared|AF)\b"
OWN = {"url", "token", "order", "path", "file", "size", "stack", "current", "backup", "progress", "countedChunks", "Order", "Refused"}
LANGUAGE = set("let var try await guard else throw for in as if case self nil true false return print _".split())


def main():
    section = GUIDE.read_text().split(SECTION)[1]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in section.splitlines() if line.startswith("|")]
    columns, rows = rows[0][1:], rows[2:]
    if columns != list(CLIENTS):
        sys.exit(f"The table has the columns {columns} instead of {list(CLIENTS)}.")
    counted = {client: tasks(section, begin, [row[0] for row in rows]) for client, begin in CLIENTS.items()}
    wrong = []
    for name, *cells in rows:
        numbers = [counted[client].get(name, "") for client in columns]
        print(" | ".join([f"{name:30}", *(f"{number or '-':>7}" for number in numbers)]))
        for client, cell, number in zip(columns, cells, numbers):
            there = re.match(r"\d+ / \d+|\d*", cell).group()
            if there != number:
                wrong.append(f"{name}, {client}: '{there}' should be '{number}'")
    if wrong:
        sys.exit("The table of ComingFromURLSession.md has other numbers than its samples:\n" + "\n".join(wrong))


def tasks(section, begin, names):
    """The numbers of a client's samples, by task."""
    start = re.search(rf"^{re.escape(begin)}.*$", section.split("|\n\n")[-1], re.M)
    text = section.split("|\n\n")[-1][start.start():]
    for other in CLIENTS.values():
        if other != begin and (next_ := re.search(rf"^{re.escape(other)}.*compiled", text, re.M)):
            text = text[: next_.start()]
    found = {}
    for block in samples.samples(text, GUIDE.name):
        for part in re.split(r"^// ", block["code"], flags=re.M)[1:]:
            title, code = part.split("\n", 1)
            task = [name for name in names if title.lower().startswith(name.lower())]
            if len(task) != 1 or task[0] in found:
                sys.exit(f"{GUIDE.name}: the sample '// {title}' does not belong to one row of the table.")
            found[task[0]] = f"{statements(code)} / {len(called(code))}"
    return found


def statements(code):
    """How many statements a sample has, each with its block."""
    count = depth = 0
    for line in bare(code).splitlines():
        if not (text := line.strip()):
            continue
        count += depth == 0 and not text.startswith(".")
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    return count


def called(code):
    """The distinct names of a sample that the program has from elsewhere; labels with their colon."""
    code = re.sub(SHARED, "stack", bare(code))
    declared = set(OWN)
    for pattern in (r"\b(?:let|var)\s+\(?([\w, ]+?)\)?\s*[=:]", r"\bfor\b(?:\s+try)?(?:\s+await)?\s+(\w+)\s+in\b", r"\{\s*([\w, ]+?)\s+in\b"):
        for names in re.findall(pattern, code):
            declared.update(re.findall(r"\w+", names))
    found = set()
    for match in re.finditer(r"(?<![\w$])([A-Za-z_]\w*)(\s*:)?", code):
        name, label = match.groups()
        is_member = code[: match.start()].endswith(".")
        if label:
            found.add(name + ":")
        elif name not in LANGUAGE and (is_member or name not in declared):
            found.add(name)
    return found


def bare(code):
    """The code without comments and the contents of texts."""
    return re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', code))


if __name__ == "__main__":
    main()
