#!/usr/bin/env python3
"""Lists public symbols without documentation, from symbol graphs; swift-format looks past enum cases and requirements."""
import json
import os
import sys

bare = []
for path in sys.argv[1:]:
    with open(path) as file:
        graph = json.load(file)
    # What implements or inherits a documented requirement says what that says.
    inherits = {r["source"] for r in graph["relationships"]
                if r["kind"] in ("defaultImplementationOf", "overrides") or "sourceOrigin" in r}
    for symbol in graph["symbols"]:
        kind = symbol["kind"]["identifier"]
        if kind == "swift.extension" or "docComment" in symbol or symbol["identifier"]["precise"] in inherits:
            continue
        location = symbol.get("location")
        if location:  # without one, the compiler made it
            file = os.path.relpath(location["uri"].removeprefix("file://"))
            bare.append((file, location["position"]["line"] + 1, ".".join(symbol["pathComponents"])))

for file, line, name in sorted(set(bare)):
    print(f"{file}:{line}: {name} is public and not documented", file=sys.stderr)
sys.exit("Every public symbol needs documentation: see the lines above." if bare else 0)
