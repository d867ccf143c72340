"""The mutations in Tests/Mutations/*.json: read strictly, and written into sources as switches."""
import dataclasses
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Tests" / "Mutations"
# What users link against.
FOLDERS = ("Sources/", "Tests/NetworkStackTesting/")


class Problem(Exception):
    """Something is wrong with the mutations; the text says what to change."""


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One defect on purpose, and the check that must notice it."""

    id: str
    promise: str
    file: str
    kind: str
    find: str
    replace: str
    suite: str
    check: str
    area: str

    @property
    def filter(self):
        """What chooses the check's suite among the tests: a conformance suite runs its promises only."""
        return f"{self.suite}/keeps" if self.suite.endswith("Conformance") else self.suite

    @property
    def test(self):
        """The check, for people."""
        return f'{self.suite} "{self.check}"' if self.check else self.suite


KEYS = {field.name for field in dataclasses.fields(Mutation)} - {"area"}


def without_doubles(pairs):
    """An object, as long as no key of it stands there twice: two entries that a merge has run together have some."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError(f"keys that stand there twice, after {pairs[0][1]!r}")
    return dict(pairs)


def load(folder=FOLDER, root=ROOT):
    """Every mutation, by id, in the order of the files and of the entries."""
    mutations = {}
    for path in sorted(folder.glob("*.json")):
        try:
            entries = json.loads(path.read_text(), object_pairs_hook=without_doubles)
        except ValueError as error:
            raise Problem(f"{path.name}: no JSON: {error}") from error
        if not isinstance(entries, list):
            raise Problem(f"{path.name}: must be an array of mutations")
        for number, entry in enumerate(entries, 1):
            mutation = read(entry, f"{path.name}, entry {number}", path.stem)
            if mutation.id in mutations:
                raise Problem(f"{path.name}: the id '{mutation.id}' is taken, in {mutations[mutation.id].area}.json")
            mutations[mutation.id] = mutation
    if not mutations:
        raise Problem(f"there is no mutation in {folder}")
    problems = []
    for file in sorted({mutation.file for mutation in mutations.values()}):
        try:
            mutated(file, mutations.values(), root)
        except Problem as problem:
            problems.append(str(problem))
    if problems:
        raise Problem("\n".join(problems))
    return mutations


def read(entry, place, area):
    """One entry, checked as far as it can be by itself."""
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise Problem(f"{place}: must be an object of strings")
    place = f"{place} ({entry.get('id', 'without an id')})"
    if entry.keys() != KEYS:
        missing, strange = KEYS - entry.keys(), entry.keys() - KEYS
        raise Problem(f"{place}: missing {sorted(missing)}, unknown {sorted(strange)}")
    mutation = Mutation(**entry, area=area)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mutation.id):
        raise Problem(f"{place}: an id is lower-case words joined by hyphens")
    if mutation.kind not in ("statement", "expression"):
        raise Problem(f"{place}: kind is 'statement' or 'expression'")
    for key in ("promise", "find", "suite") + (("replace",) if mutation.kind == "expression" else ()):
        if not getattr(mutation, key).strip():
            raise Problem(f"{place}: '{key}' is empty")
    if mutation.kind == "statement" and re.match(r"(defer|let|var)\b", mutation.find):
        raise Problem(f"{place}: what '{mutation.find.split()[0]}' says would end with the switch; replace what is in it")
    if mutation.suite.endswith("Conformance") != bool(mutation.check):
        raise Problem(f"{place}: a conformance suite needs the check's name, another test none")
    if not mutation.file.startswith(FOLDERS) or ".." in mutation.file:
        raise Problem(f"{place}: '{mutation.file}' is no file under {' or '.join(FOLDERS)}")
    return mutation


def mutated(file, mutations, root=ROOT):
    """The text of a source file with every mutation of it as a switch."""
    try:
        text = (root / file).read_text()
    except OSError as error:
        raise Problem(f"{file}: {error.strerror}; the mutations of it have to go, or follow") from error
    here = [mutation for mutation in mutations if mutation.file == file]
    stale = [mutation for mutation in here if text.count(mutation.find) != 1]
    if stale:
        names = ", ".join(f"{mutation.id} ({mutation.area}.json)" for mutation in stale)
        raise Problem(f"{file}: what they find must stand there once, so the mutations have to follow the code: {names}")
    places = {}
    for mutation in here:
        start = text.index(mutation.find)
        places.setdefault((start, start + len(mutation.find)), []).append(mutation)
    # The wider comes first, so that what lies inside it can follow.
    ordered = sorted(places.items(), key=lambda place: (place[0][0], -place[0][1]))
    text = render(text, 0, len(text), ordered)
    if file.startswith("Sources/NetworkStack/") or re.search(r"^(\w+ )?import NetworkStack$", text, re.MULTILINE):
        return text
    return "internal import NetworkStack\n" + text


def render(text, start, end, places):
    """The text from start to end, with the places in it switched; one may lie inside another, but not half."""
    parts = []
    while places:
        (first, last), here = places[0]
        inner = [place for place in places[1:] if place[0][0] < last]
        for (_, inner_last), others in inner:
            if inner_last > last:
                raise Problem(f"{here[0].id} and {others[0].id} overlap: widen one, or narrow it")
        parts.append(text[start:first] + switch(here, render(text, first, last, inner)))
        start, places = last, places[1 + len(inner):]
    return "".join(parts) + text[start:end]


def switch(mutations, original):
    """The original text, or one of its replacements."""
    if len({mutation.kind for mutation in mutations}) > 1:
        raise Problem(f"{mutations[0].id} and {mutations[1].id} replace the same text, and must be of one kind")
    for mutation in reversed(mutations):
        if mutation.kind == "statement":
            # On lines of their own: either may end in a comment.
            original = f'if mutation("{mutation.id}") {{\n{mutation.replace}\n}} else {{\n{original}\n}}'
        else:
            original = f'(mutation("{mutation.id}") ? ({mutation.replace}) : ({original}))'
    return original
