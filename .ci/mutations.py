"""The mutations in Tests/Mutations: read strictly, found in the sources, and written into them as switches.

Tests/Mutations/CurlStack/TLS.json holds the mutations of Sources/CurlStack/TLS, and so on: one file per source folder.
"""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Tests" / "Mutations"
LIMIT = 400
# A declaration at the beginning of a line, attributes and modifiers included: a function, an initializer, a property.
DECLARATION = re.compile(r"(?:[@\w.()]+ )*?(?:func ([^\s(<]+)|(init|deinit|subscript)\b|(?:var|let) (\w+))")
# What a test's name consists of.
TESTS = re.compile(r"\b(?:struct|class|enum|actor|extension|func) (\w+)")


class Problem(Exception):
    """Something is wrong with the mutations; the text says what to change."""


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One defect on purpose, and the check that must notice it."""

    id: str
    promise: str
    file: str
    function: str
    kind: str
    find: str
    replace: str
    suite: str
    check: str
    area: str

    @property
    def path(self):
        """The source file, in the folder that the mutation's file stands for."""
        top = "Tests" if self.area.startswith("NetworkStackTesting") else "Sources"
        return f"{top}/{self.area}/{self.file}"

    @property
    def module(self):
        """The module that it breaks."""
        return self.area.split("/")[0]

    @property
    def filter(self):
        """The tests to run: of a conformance suite its promises alone."""
        return f"{self.suite}/keeps" if self.suite.endswith("Conformance") else self.suite

    @property
    def test(self):
        """The check, for people."""
        return f'{self.suite} "{self.check}"' if self.check else self.suite


KEYS = {field.name for field in dataclasses.fields(Mutation)} - {"area"}


def without_doubles(pairs):
    """The object, unless it has a key twice: two entries that a merge has run together have some."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError(f"duplicate keys after {pairs[0][1]!r}")
    return dict(pairs)


def load(folder=FOLDER, root=ROOT):
    """Every mutation, by id, in the order of the files and of the entries."""
    mutations = {}
    for path in sorted(folder.rglob("*.json")):
        area = path.relative_to(folder).with_suffix("").as_posix()
        try:
            entries = json.loads(path.read_text(), object_pairs_hook=without_doubles)
        except ValueError as error:
            raise Problem(f"{area}.json: no JSON: {error}") from error
        if not isinstance(entries, list):
            raise Problem(f"{area}.json: must be an array of mutations")
        for number, entry in enumerate(entries, 1):
            mutation = read(entry, f"{area}.json, entry {number}", area)
            if mutation.id in mutations:
                raise Problem(f"{area}.json: the id '{mutation.id}' is taken, in {mutations[mutation.id].area}.json")
            mutations[mutation.id] = mutation
    if not 0 < len(mutations) <= LIMIT:
        raise Problem(f"{folder} has {len(mutations)} mutations; it may have 1 to {LIMIT}")
    problems = []
    for path in sorted({mutation.path for mutation in mutations.values()}):
        try:
            mutated(path, mutations.values(), root)
        except Problem as problem:
            problems.append(str(problem))
    # The checks of a conformance suite are named in checks.py.
    declared = [set(TESTS.findall(path.read_text())) for path in (root / "Tests").rglob("*.swift")]
    for mutation in mutations.values():
        if not mutation.check and not any(names.issuperset(mutation.suite.split("/")) for names in declared):
            problems.append(f"{mutation.area}.json: {mutation.id}: there is no test {mutation.suite}")
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
    for key in ("promise", "file", "function", "find", "suite") + (("replace",) if mutation.kind == "expression" else ()):
        if not getattr(mutation, key).strip():
            raise Problem(f"{place}: '{key}' is empty")
    if mutation.kind == "statement" and re.match(r"(defer|let|var)\b", mutation.find):
        raise Problem(f"{place}: a '{mutation.find.split()[0]}' would end with the switch; replace an expression in it")
    if mutation.suite.endswith("Conformance") != bool(mutation.check):
        raise Problem(f"{place}: a conformance suite needs the check's name, another test none")
    if "/" in mutation.file:
        raise Problem(f"{place}: 'file' is a name; the folder is that of {area}.json")
    return mutation


def functions(text):
    """The name of the innermost function, initializer or property around each line, or None.

    Goes by indentation, which `make lint` keeps right. A local variable is part of the function around it.
    """
    names, around = [], []
    for line in text.splitlines():
        code = line.strip()
        indent = len(line) - len(line.lstrip())
        while code and around and (indent < around[-1][0] or indent == around[-1][0] and code[0] not in ")]}{"):
            around.pop()
        declared = DECLARATION.match(code)
        if declared and (declared[1] or declared[2] or not around):
            around.append((indent, declared[1] or declared[2] or declared[3]))
        names.append(around[-1][1] if around else None)
    return names


def place(mutation, text, names):
    """Where the text of a mutation begins and ends: in one place of its function."""
    starts = [match.start() for match in re.finditer(re.escape(mutation.find), text)]
    lines = {start: text.count("\n", 0, start) for start in starts}
    here = [start for start in starts if names[lines[start]] == mutation.function]
    if len(here) == 1:
        return here[0], here[0] + len(mutation.find)
    if here:
        numbers = ", ".join(str(lines[start] + 1) for start in here)
        fault = f"is {len(here)} times in '{mutation.function}' (lines {numbers}): take a longer one"
    elif starts:
        others = ", ".join(sorted({f"'{names[line]}'" if names[line] else "no function" for line in lines.values()}))
        fault = f"is not in '{mutation.function}', but in {others}"
    else:
        fault = "is not in the file" if mutation.function in names else f"is not in the file, nor is '{mutation.function}'"
    raise Problem(f"{mutation.path}: {mutation.id} ({mutation.area}.json): the text {mutation.find!r} {fault}")


def mutated(path, mutations, root=ROOT):
    """The text of a source file with every mutation of it as a switch."""
    try:
        text = (root / path).read_text()
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}; its mutations have to be deleted, or moved to the file's new folder") from error
    names, places, problems = functions(text), {}, []
    for mutation in mutations:
        if mutation.path == path:
            try:
                places.setdefault(place(mutation, text, names), []).append(mutation)
            except Problem as problem:
                problems.append(str(problem))
    if problems:
        raise Problem("\n".join(problems))
    # The wider comes first, so that what lies inside it can follow.
    ordered = sorted(places.items(), key=lambda item: (item[0][0], -item[0][1]))
    text = render(text, 0, len(text), ordered)
    if path.startswith("Sources/NetworkStack/") or re.search(r"^(\w+ )?import NetworkStack$", text, re.MULTILINE):
        return text
    return "internal import NetworkStack\n" + text


def parse(mutations):
    """Lets the compiler parse every mutated file: in a second, what a build would say after minutes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted({mutation.path for mutation in mutations})
        for path in paths:
            copy = pathlib.Path(folder, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(mutated(path, mutations))
        command = ["swiftc", "-frontend", "-parse", "-swift-version", "6", *paths]
        result = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise Problem("a mutation is no Swift:\n" + result.stderr)


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
