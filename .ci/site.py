#!/usr/bin/env python3
"""Finishes the merged documentation: usage: site.py archive.doccarchive

It orders the modules, and checks that every link within the site leads to a page; docc checks links within a module only.
docc makes no page for an extended module all of whose symbols are curated, but links to it from the path above a page's title. Such
links are removed.
"""
import json
import sys
from pathlib import Path

ORDER = ["NetworkStack", "CurlStack", "URLSessionStack", "NetworkStackTesting", "NetworkStackConformance"]
ABSTRACT = "An HTTP client for Swift on Linux: one protocol, and two backends that an app swaps in one line."

# docc lets a long declaration break within names only, and cuts it at the right.
DECLARATIONS = "pre.source,pre.source code{white-space:pre-wrap!important}pre.source wbr{display:none}"


def main():
    site = Path(sys.argv[1])
    (site / "theme-settings.json").write_text("{}")  # asked for by each page
    for style in site.glob("css/index.*.css"):
        if DECLARATIONS not in (text := style.read_text()):
            style.write_text(text + DECLARATIONS)

    with Edited(site / "data/documentation.json") as page:
        page["abstract"] = [{"type": "text", "text": ABSTRACT}]
        page["topicSections"][0]["identifiers"].sort(key=lambda identifier: ORDER.index(identifier.rsplit("/", 1)[-1]))
    with Edited(site / "index/index.json") as index:
        index["interfaceLanguages"]["swift"][0]["children"].sort(key=lambda module: ORDER.index(module["title"]))

    count, dead = 0, []
    for file in sorted((site / "data").rglob("*.json")):
        with Edited(file) as page:
            paths = page.get("hierarchy", {}).get("paths", [])
            above = {identifier for path in paths for identifier in path}
            references = page.get("references", {})
            for identifier, reference in list(references.items()):
                target = reference.get("url") or reference.get("destination") or ""
                if reference["type"] not in ("topic", "link") or not target.startswith("/"):
                    continue
                count += 1
                if (site / "data" / (target.partition("#")[0].strip("/") + ".json")).exists():
                    continue
                if identifier in above and reference.get("kind") == "symbol":
                    page["hierarchy"]["paths"] = paths = [[i for i in path if i != identifier] for path in paths]
                    del references[identifier]
                else:
                    dead.append(f"{file.relative_to(site / 'data')}: a link leads nowhere: {target}")
    if dead:
        sys.exit("\n".join(dead))
    print(f"{count} links within the site lead to pages")


class Edited:
    """A JSON file that is written again if its value has changed."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()

    def __enter__(self):
        self.value = json.loads(self.text)
        self.before = json.dumps(self.value)
        return self.value

    def __exit__(self, *error):
        if (after := json.dumps(self.value)) != self.before:
            self.path.write_text(after)


main()
