#!/usr/bin/env python3
"""Writes .build/PROMISES.md: each group of promises, checks that prove it, and the mutations that they caught; and every check.

It is made of the mutations (Tests/Mutations), the contract in NetworkStack.swift, the capabilities in
Tests/Capabilities.json, which name mutations, and the checks. --check writes nothing, and fails if these do not fit together.
"""
import json
import re
import sys

import checks
from mutations import ROOT, Problem, load, parse

TABLE = ROOT / ".build" / "PROMISES.md"
CONTRACT = ROOT / "Sources" / "NetworkStack" / "Client" / "NetworkStack.swift"
CAPABILITIES = ROOT / "Tests" / "Capabilities.json"
NUMBERED = re.compile(r"(\d+)\. ")
INTRODUCTION = """# Promises

Made by `make promises` from the mutations in `Tests/Mutations`, the contract in `NetworkStack.swift`,
`Tests/Capabilities.json` and the checks in `Tests/NetworkStackConformance`: change those, not this file.

A check proves a promise, and a mutation proves the check: a defect put into the library on purpose, with which the check
goes red. `make mutations` puts them in, one at a time, and fails if one is not noticed. Each group of promises has at least
one. The checks are those of the suite in `Tests/NetworkStackConformance`, run on CurlStack, on URLSessionStack, or on a
transport in memory where the engine alone is meant; a name with a slash is a test's. All of them follow, section by section,
with the specifications that they rest on.
"""


def main():
    mutations, suite = load(), checks.load()
    named(mutations, suite)
    text = "\n".join([INTRODUCTION, *contract(mutations), *groups(mutations), *capabilities(mutations), *sections(suite)])
    if sys.argv[1:] == ["--check"]:
        parse(mutations.values())
    else:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text)
        print(TABLE.relative_to(ROOT))


def named(mutations, suite):
    """Every mutation of a conformance suite names a check that there is."""
    whole = [re.compile(".+".join(map(re.escape, check.name.split("…")))) for check in suite if "…" in check.name]
    names = [check.name for check in suite]
    problems = [f"{mutation.area}.json: {mutation.id}: there is no check {mutation.check!r}" for mutation in mutations.values()
                if not any(mutation.check in name for name in names)
                and not any(name.fullmatch(mutation.check) for name in whole)]
    if problems:
        raise Problem("\n".join(problems))


def sections(suite):
    """Every check of the suite."""
    for section in dict.fromkeys(check.section for check in suite):
        yield f"## {section}\n\n| check | rests on |\n|---|---|"
        yield from (f"| {cell(check.name)} | {', '.join(check.rests)} |" for check in suite if check.section == section)
        yield ""


def contract(mutations):
    """The contract's numbered lines, in its own words."""
    comment = CONTRACT.read_text().split("public protocol NetworkStack")[0]
    lines = {}
    for line in re.findall(r"^/// (.*)$", comment, re.MULTILINE):
        if begun := NUMBERED.match(line):
            lines[begun[1]] = line[begun.end():]
        elif lines and line.startswith("   "):
            lines[max(lines, key=int)] += " " + line.strip()
    proofs = {number: [] for number in lines}
    for mutation in mutations.values():
        if begun := NUMBERED.match(mutation.promise):
            if begun[1] not in proofs:
                raise Problem(f"{mutation.id}: the contract has no line {begun[1]}")
            proofs[begun[1]].append(mutation)
    if bare := [number for number, found in proofs.items() if not found]:
        raise Problem(f"no mutation proves line {', '.join(bare)} of the contract")
    # DocC's links are plain code elsewhere.
    said = {number: line.replace("``", "`") for number, line in lines.items()}
    return table("The contract of `NetworkStack`", [(f"{n}. {said[n]}", proofs[n]) for n in lines])


def groups(mutations):
    """The promises beyond the contract."""
    proofs = {}
    for mutation in mutations.values():
        if not NUMBERED.match(mutation.promise):
            proofs.setdefault(mutation.promise, []).append(mutation)
    return table("Beyond the contract", proofs.items())


def capabilities(mutations):
    """What the libraries that this one follows can do, and this one can."""
    if not CAPABILITIES.is_file():
        return
    for section, rows in json.loads(CAPABILITIES.read_text()).items():
        proofs = []
        for capability, ids in rows.items():
            if unknown := [id for id in ids if id not in mutations] or not ids:
                raise Problem(f"{CAPABILITIES.name}, {capability!r}: there is no mutation {unknown}")
            proofs.append((capability, [mutations[id] for id in ids]))
        yield from table(section, proofs)


def table(title, proofs):
    yield f"## {title}\n\n| promise | check | mutation |\n|---|---|---|"
    for promise, mutations in proofs:
        for mutation in mutations:
            yield f"| {cell(promise)} | {cell(proof(mutation))} | `{mutation.id}` |"
            promise = ""
    yield ""


def proof(mutation):
    """The check, as people say it."""
    return f"{mutation.suite.removesuffix('Conformance')}: {mutation.check}" if mutation.check else f"`{mutation.suite}`"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"promises: {problem}")
