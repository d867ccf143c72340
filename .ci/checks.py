"""The conformance checks as a specification, read from the sources in the order of ConformanceCheck.all.

Parts of a name that only a run knows are read as "…"; a test of NetworkStackTests counts the words of the whole names.
"""
import collections
import dataclasses
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from mutations import ROOT, Problem  # noqa: E402

SUITE = ROOT / "Tests" / "NetworkStackConformance"
WORDS = 12
INTERPOLATION = r"\\\((?:[^()]|\([^()]*\))*\)"
LITERAL = rf'"(?:{INTERPOLATION}|\\.|[^"\\\n])*"'
# Where a member of a type begins, by the indentation that `make lint` keeps: its text reaches to the next one.
MEMBER = re.compile(r"^    (?:(?P<private>(?:file)?private )?(?:public )?static (?P<kind>let|var|func) (?P<name>\w+)|[/@\w]|\}).*",
                    re.MULTILINE)
SECTION = re.compile(r'"\d+(\.\d+)*"')
SPECIFICATION = re.compile(r'\.(rfc)\((\d+)(?:, "([^"]*)")?\)')


@dataclasses.dataclass(frozen=True)
class Check:
    """A promise: its section, its name, and the specifications that it rests on."""

    section: str
    name: str
    rests: tuple


@dataclasses.dataclass(frozen=True)
class Member:
    """A list of checks or of pairs, or a function that makes one; its code is the text without comments and texts."""

    file: pathlib.Path
    name: str
    is_private: bool
    is_function: bool
    text: str
    code: str


def members():
    """Every list of checks or pairs and every function that makes one, by name."""
    found = []
    for file in [SUITE / "ConformanceCheck+All.swift", *sorted((SUITE / "Checks").rglob("*.swift"))]:
        text = file.read_text()
        starts = [*MEMBER.finditer(text), None]
        for match, following in zip(starts, starts[1:]):
            if match["name"]:
                part = text[match.start():following.start() if following else None]
                # The section of a specification stays.
                code = re.sub(r"//.*", "", re.sub(LITERAL, lambda text: text[0] if SECTION.fullmatch(text[0]) else '""', part))
                found.append(Member(file, match["name"], bool(match["private"]), match["kind"] == "func", part, code))
    made = [member for member in found
            if re.search(r"(?:->|\w:)\s*\[?\b(?:ConformanceCheck|Pair)\b\]?\s*[={]", member.code)]
    makers = "|".join(["ConformanceCheck", "Pair", *(member.name for member in made if member.is_function)])
    made += [member for member in found
             if member not in made and not member.is_function and re.search(rf"\b(?:{makers})\(", member.code)]
    by_name = collections.defaultdict(list)
    for member in made:
        by_name[member.name].append(member)
    return by_name


def mentioned(member, by_name):
    """The lists that a member has outside of its closures, with what they rest on there, and the functions anywhere in it."""
    outside, before = member.code if not member.is_function else "", None
    while outside != before:
        outside, before = re.sub(r"\{[^{}]*\}", " ", outside), outside
    for text, functions in ((outside, False), (member.code, True)):
        for name, rests in re.findall(r"(?:(?<![\w.])|(?<=Pair\.))(\w+)(?:\.resting\(on: ([^\n]*?\))\))?", text):
            here = [other for other in by_name.get(name, []) if other.file == member.file]
            there = [other for other in by_name.get(name, []) if not other.is_private]
            yield from ((other, specifications(rests)) for other in here or there if other.is_function == functions)


def load():
    """Every check, section by section. Fails if ConformanceCheck.all does not lead to a list, or a name is taken or too long."""
    by_name = members()
    waiting = [(member, ()) for member in by_name["all"] if member.file.parent == SUITE]
    reached, checks = [], []
    while waiting:
        member, rests = waiting.pop(0)
        if member not in reached:
            reached.append(member)
            waiting = [*((other, rests + more) for other, more in mentioned(member, by_name)), *waiting]
            checks += checks_of(member, rests, by_name)
    problems = [f"{member.file.relative_to(ROOT)}: ConformanceCheck.all does not lead to '{member.name}'"
                for members in by_name.values() for member in members if member not in reached]
    counts = collections.Counter(check.name for check in checks if "…" not in check.name)
    problems += [f"two checks have one name: {name}" for name, count in counts.items() if count > 1]
    problems += [f"a name of more than {WORDS} words: {check.name}" for check in checks if len(check.name.split()) > WORDS]
    if problems:
        raise Problem("\n".join(problems))
    sections = list(dict.fromkeys(check.section for check in checks))
    return sorted(checks, key=lambda check: sections.index(check.section))


def checks_of(member, rests, by_name):
    """The checks that a list makes, itself or by functions."""
    if member.is_function or member.file.name.startswith("PairsOf"):
        return  # The names of pairs are made in one place, for which the list of all pairs stands.
    makers = {maker.name: template(maker.text) for maker, _ in mentioned(member, by_name) if maker.is_function}
    makers["ConformanceCheck"] = ("{}", ())
    calls = [*re.finditer(rf"\b({'|'.join(makers)})\(\s*(?:\w+: \w+,\s*)?({LITERAL})", member.text), None]
    found = []
    for call, following in zip(calls, calls[1:]):
        name, more = makers[call[1]]
        own = re.findall(r"\brests: \[(.*?)\]\n?\s*[,)]", member.text[call.end():following.start() if following else None])
        found.append((name.replace("{}", call[2][1:-1]), more + specifications(" ".join(own))))
    # Functions that have their texts from elsewhere, and the pairs.
    del makers["ConformanceCheck"]
    found += [made for maker, made in makers.items() if maker not in {call[1] for call in calls[:-1]}]
    if r"\.check" in member.text:
        found.append(template((SUITE / "Support" / "Pair.swift").read_text()))
    for name, more in found:
        yield Check(member.file.parent.name, re.sub(INTERPOLATION, "…", name.replace("{}", "…")), rests + more)


def template(text):
    """The name of the check that a function makes, with "{}" for its first text, and what the check rests on."""
    first = re.search(r"_ (\w+): String", text)
    name = re.search(rf"\bConformanceCheck\(\s*({LITERAL})", text)
    name = name[1][1:-1] if name else "{}"
    return name.replace(rf"\({first[1]})", "{}") if first else name, specifications(text)


def specifications(text):
    """The specifications that a text names."""
    return tuple(" ".join(filter(None, [kind.upper(), number, part and f"section {part}"]))
                 for kind, number, part in SPECIFICATION.findall(text))
