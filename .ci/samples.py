#!/usr/bin/env python3
"""Compiles the Swift blocks of README.md and of the guides, against what 'swift build' made. An error names the guide's line.

A block becomes the body of a function of its own. A comment on the line before it says otherwise:
    <!-- sample: top -->        it stands at the top level of its document: a program, or types that later blocks use
    <!-- sample: fragment -->   it is not compiled: it is no code by itself
    <!-- sample: file -->       it is the file that the comment's next line names, without imports; another build compiles that
Lines that follow within the comment are compiled before the block, and shown to nobody. Imports count for the document.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:^<!-- sample: *(?P<mode>\w*) *(?P<hidden>(?:\n(?:(?!-->).)*)?)-->\n)?"
                   r"^```swift\n(?P<code>.*?)^```$", re.S | re.M)
IMPORT = re.compile(r"^(?:@\w+ )?import \w+$", re.M)
MODES = ("", "top", "fragment", "file")


def main():
    built = run("swift", "build", "--show-bin-path").stdout.strip()
    compile_ = ["swiftc", "-swift-version", "6", "-suppress-warnings", "-module-name", "Samples", "-c", "-o", os.devnull,
                "-I", f"{built}/Modules", "-I", "Sources/CCurl", "-I", "Sources/COpenSSL"]
    count, failed = 0, False
    for path in sorted([ROOT / "README.md", *ROOT.glob("Sources/*/*.docc/*.md"), *ROOT.glob("Tests/*/*.docc/*.md")]):
        name = str(path.relative_to(ROOT))
        blocks = [b for b in samples(path.read_text(), name) if b["mode"] != "fragment"]
        count += len(blocks)
        for block in [b for b in blocks if b["mode"] == "file"]:
            blocks.remove(block)
            failed = differs(block, name) or failed
        if not blocks:
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "main.swift"
            program.write_text(source(blocks, name))
            done = run(*compile_, str(program), check=False)
        sys.stderr.write(done.stderr)
        failed = failed or done.returncode != 0
    if failed:
        sys.exit("A sample above does not compile: mend it, or say on the line before it what it is (.ci/samples.py tells how).")
    print(f"{count} samples compile")


def samples(text, name):
    """The Swift blocks of a document, each with its line and what its comment says."""
    found = [{**{key: value or "" for key, value in match.groupdict().items()},
              "line": text.count("\n", 0, match.start("code")) + 1} for match in BLOCK.finditer(text)]
    if wrong := [block for block in found if block["mode"] not in MODES]:
        sys.exit(f"{name}:{wrong[0]['line']}: there is no sample of the kind '{wrong[0]['mode']}'")
    if len(found) != text.count("\n```swift\n"):
        sys.exit(f"{name}: a Swift block does not end")
    return found


def differs(block, name):
    """Whether a block is not the code of its file."""
    file = ROOT / block["hidden"].strip()
    code, there = (IMPORT.sub("", text).strip() for text in (block["code"], file.read_text() if file.is_file() else ""))
    if code != there:
        print(f"{name}:{block['line']}: the sample differs from {block['hidden'].strip()}", file=sys.stderr)
    return code != there


def source(blocks, name):
    """One program of all blocks."""
    imports = sorted({line for block in blocks for line in IMPORT.findall(block["hidden"] + "\n" + block["code"])})
    parts = ["\n".join(imports)]
    for number, block in enumerate(blocks):
        # Imports leave an empty line behind, so that the lines keep their numbers.
        hidden, code = (IMPORT.sub("", block[key]) for key in ("hidden", "code"))
        code = f'{hidden}\n#sourceLocation(file: "{name}", line: {block["line"]})\n{code}#sourceLocation()'
        parts.append(code if block["mode"] == "top" else f"func sample{number}() async throws {{\n{code}\n}}")
    return "\n".join(parts) + "\n"


def run(*command, check=True):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=check)


if __name__ == "__main__":
    main()
