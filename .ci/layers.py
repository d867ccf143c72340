#!/usr/bin/env python3
"""Checks that each folder of a module uses only the folders before it in .ci/layers.txt. Prints every other use.

A folder uses another if one of its files names a type that the other declares, or a member that an extension there declares.
Only names that are declared once in the module count, so this is a lower bound: it may miss a use, and reports no false one.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN = 5
CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"""|"|[()]', re.DOTALL)
STRINGS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ('"', '"""')}
MODIFIERS = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]\w*(?:\(\w+\))?) )*?"
TYPE = re.compile(rf"^( *){MODIFIERS}(class|struct|enum|protocol|actor|typealias|associatedtype|extension) ([A-Z][\w.]*)")
MEMBER = re.compile(rf"^    (?!.*\b(?:private|fileprivate)\b.*\b(?:func|var|let)\b){MODIFIERS}(?:func|var|let) (\w+)")
ANY_MEMBER = re.compile(r"\b(?:func|var|let|case) (\w+)|\bcase [^\n]*?, (\w+)")
PARAMETERS = re.compile(r"(?:func [^\s(<]+|init|subscript|(?:class|struct|enum|typealias) \w+)<([^>(]*)>")
NAMES = re.compile(r"(?<![\w.])[A-Z]\w*(?:\.[A-Z]\w*)*|(?<=\.)\w+")


def code(text):
    """The text without comments and string literals; what is interpolated stays."""
    kept, opened, start = [], [], 0
    while True:
        string = STRINGS.get(opened[-1]) if opened else None
        found = (string or CODE).search(text, start)
        if not string:
            kept.append(text[start : found.start() if found else len(text)])
        if not found:
            return "".join(kept)
        mark, start = found[0], found.end()
        if mark == ")" or string and mark == opened[-1]:
            opened = opened[:-1]
        elif mark in ("(", "\\(") or not string and mark in STRINGS:
            opened.append(mark)
        if mark in ("(", "\\(", ")"):
            kept.append(mark[-1])


def declarations(files):
    """The file of each name that the module declares once: of a type, as Type or Outer.Type, or of an extension's member, as .member."""
    where, skipped = collections.defaultdict(set), {"Error", "Result", "Success", "Failure"}
    members, all_members = collections.defaultdict(set), collections.defaultdict(set)
    for file, text in files.items():
        outer = kind = ""
        for line in text.split("\n"):
            if declared := TYPE.match(line):
                indent, inner, name = declared[1], declared[2], declared[3].split(".")[-1]
                if not indent:
                    outer, kind = name, inner
                if inner == "extension":
                    continue
                if indent:
                    where[f"{outer}.{name}"].add(file)
                if inner == "associatedtype" or indent and inner == "typealias":
                    skipped.add(name)
                else:
                    where[name].add(file)
            elif kind == "extension" and (declared := MEMBER.match(line)):
                members[declared[1]].add(file)
        for names in ANY_MEMBER.findall(text):
            for name in filter(None, names):
                all_members[name].add(file)
        for parameters in PARAMETERS.findall(text):
            skipped.update(re.findall(r"(?:^|,)\s*(\w+)", parameters))
    for name, there in members.items():
        where[f".{name}"] = all_members[name] | there
    return {name: next(iter(there)) for name, there in where.items() if len(there) == 1 and name not in skipped}


def used(text):
    """The names that a file may use: Type, Outer.Type and .member."""
    for name in set(NAMES.findall(text)):
        parts = name.split(".")
        yield from parts
        yield from (".".join(pair) for pair in zip(parts, parts[1:]))
        yield f".{name}"


def uses(module):
    """What each folder uses of each other: file and name."""
    files = {file: code(file.read_text()) for file in sorted(module.rglob("*.swift"))}
    home = declarations(files)
    found = {folder(file, module): collections.defaultdict(set) for file in files}
    for file, text in files.items():
        for name in used(text):
            if name in home and folder(home[name], module) != folder(file, module):
                found[folder(file, module)][folder(home[name], module)].add(f"{file.name} names {name}")
    return found


def folder(file, module):
    return file.parent.relative_to(module).as_posix()


def layers():
    """The folders of each module, lower first; None for a module that is not yet in order."""
    order = {}
    for line in (ROOT / ".ci" / "layers.txt").read_text().splitlines():
        line = line.split("#")[0].rstrip()
        if line.endswith(": not yet in order"):
            order[line.split(":")[0]] = None
        elif line.startswith(" "):
            order[list(order)[-1]].append(line.strip())
        elif line:
            order[line] = []
    return order


def main():
    order, faults = layers(), []
    for module in sorted(path for path in (ROOT / "Sources").iterdir() if any(path.rglob("*.swift"))):
        listed = order.get(module.name, [])
        if listed is None:
            continue
        found = uses(module)
        faults += [f"{module.name}: the folder {name} is not in .ci/layers.txt" for name in found if name not in listed]
        faults += [f"{module.name}: there is no folder {name}" for name in listed if name not in found]
        for place, name in enumerate(listed):
            for other, why in sorted(found.get(name, {}).items()):
                if other in listed[place:]:
                    more = f", and {len(why) - SHOWN} more" if len(why) > SHOWN else ""
                    faults.append(f"{module.name}: {name} uses {other}: {'; '.join(sorted(why)[:SHOWN])}{more}")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())
