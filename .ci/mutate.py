#!/usr/bin/env python3
"""Breaks the library on purpose, one promise at a time, and expects the promise's check to go red.

Every mutation of the modules concerned is compiled into one copy of the library, as a switch that an environment variable turns
on. The copy is linked with the tests as the suite has built them: they are compiled once. First the chosen checks must be
green with every switch off; then each is run alone with its own mutation on, and must fail: by an expectation, by a crash, or
by not coming to an end. Exits non-zero if a mutation survives, twice, or if a check is red without one.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import time

from mutations import FOLDER, ROOT, Problem, load, mutated

COPY = ROOT / ".build-mutants"
PROGRAM = COPY / "tests"
SWITCH = "MUTATION"
SWITCH_FILE = "Sources/NetworkStack/Mutation.swift"
SWITCH_SOURCE = f"""internal import FoundationEssentials

private let chosen = ProcessInfo.processInfo.environment["{SWITCH}"]

/// Whether a defect is switched on. Public for the sake of inlinable functions.
public func mutation(_ id: String) -> Bool {{ chosen == id }}
"""
GREEN_MINUTES = 12
AT_ONCE = 4  # most of the time of a check that fails is waiting
RED_SECONDS = 75  # more than a conformance check may take


def main():
    choice = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice.add_argument("ids", nargs="*", help="the mutations to try, or source folders, such as CurlStack/TLS")
    choice.add_argument("--all", action="store_true", help="try every mutation")
    choice.add_argument("--count", type=int, help="try this many, chosen by the commit: every run of one commit tries the same")
    choice.add_argument("--seed", type=int, help="choose by this number instead")
    choice.add_argument("--one-module", action="store_true", help="with --count: choose them in one module, so that only that one is compiled")
    choice.add_argument("--build", action="store_true", help="build what the chosen mutations need, and try none")
    choice.add_argument("--list", action="store_true", help="print the mutations, and try none")
    arguments = choice.parse_args()

    mutations = load()
    if arguments.list:
        for mutation in mutations.values():
            print(f"{mutation.area}: {mutation.id}: {mutation.promise}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = choose(arguments, mutations)
    modules = {mutation.module for mutation in chosen}
    build([mutation for mutation in mutations.values() if mutation.module in modules])
    if arguments.build:
        return 0
    prove_green(chosen)
    return prove_red(chosen)


def choose(arguments, mutations):
    if bool(arguments.ids) + arguments.all + (arguments.count is not None) != 1:
        raise Problem("say which mutations to try: their ids, --all, or --count N")
    if arguments.one_module and arguments.count is None:
        raise Problem("--one-module is for --count N")
    if arguments.all:
        return list(mutations.values())
    if arguments.count is not None:
        seed = arguments.seed if arguments.seed is not None else commit()
        print(f"Mutations chosen with --count {arguments.count} --seed {seed}{' --one-module' * arguments.one_module}")
        some = sorted(mutations)
        if arguments.one_module:
            module = mutations[random.Random(seed).choice(some)].module
            some = [id for id in some if mutations[id].module == module]
        return [mutations[id] for id in random.Random(seed).sample(some, min(arguments.count, len(some)))]
    named = {name: [m for m in mutations.values() if m.id == name or f"{m.area}/".startswith(f"{name}/")] for name in arguments.ids}
    if unknown := [name for name, found in named.items() if not found]:
        raise Problem(f"there is no mutation {', '.join(unknown)}")
    return [m for m in mutations.values() if any(m in found for found in named.values())]


def commit():
    """A number that is as random as the next commit and the same for everybody who has this one."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(head.stdout[:8], 16) if head.returncode == 0 else random.SystemRandom().randrange(1 << 32)


def build(mutations):
    """Brings the copy up to date, touching only what differs, builds it, and links it with the tests."""
    began = time.monotonic()
    listed = run(["git", "ls-files", "-z", "-co", "--exclude-standard", "Package.swift", "Sources", "Tests"])
    files = {name: (ROOT / name).read_bytes() for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for path in {mutation.path for mutation in mutations}:
        files[path] = mutated(path, mutations).encode()
    files[SWITCH_FILE] = SWITCH_SOURCE.encode()
    for folder in ("Sources", "Tests"):
        for path in (COPY / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(COPY)) not in files:
                path.unlink()
    for name, content in files.items():
        path = COPY / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    flags = os.environ.get("BUILD_FLAGS", "")
    # Switches make code that the compiler warns of, such as what can never be reached.
    tolerant = flags.replace("-Xswiftc -warnings-as-errors", "")
    modules = sorted({mutation.module for mutation in mutations})
    for module in modules:
        compile(f"swift build --package-path {shlex.quote(str(COPY))} --target {module} {tolerant}")
    compile(f"swift build --build-tests {flags}")
    link(modules, re.findall(r"-Xlinker \S+", flags))
    print(f"Built with {len(mutations)} mutations in {time.monotonic() - began:.0f} s")


def compile(command):
    result = subprocess.run(
        shlex.split(command), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode != 0:
        raise Problem("the mutations do not compile:\n" + "\n".join(errors(result.stdout)))


def link(modules, flags):
    """Links the suite's test program once more, with the objects of the copied modules in the place of the originals.

    A mutation changes what a function does and never how it is called, and a debug build inlines none of them.
    """
    tests, copy = ROOT / ".build" / "debug", COPY / ".build" / "debug"
    objects = (tests / "network-stackPackageTests.product" / "Objects.LinkFileList").read_text().splitlines()
    objects = [path for path in objects if not path.endswith(".swiftmodule.o")]  # for debuggers
    changed = re.compile(rf".*/((?:{'|'.join(modules)})\.build/)")
    objects = [changed.sub(rf"{copy}/\1", path) for path in objects] + [f"{copy}/NetworkStack.build/{pathlib.Path(SWITCH_FILE).name}.o"]
    listed = COPY / "objects"
    listed.write_text("\n".join(objects))
    libraries = run(["pkg-config", "--libs", "libcurl", "openssl"])
    compile(f"swiftc -emit-executable -o {shlex.quote(str(PROGRAM))} @{shlex.quote(str(listed))} {' '.join(flags)} {libraries}")


def errors(log):
    """What the compiler found, with the switch next to it."""
    lines = sorted({line for line in log.splitlines() if re.match(r"/\S+: error: ", line)})
    for line in lines:
        place = re.match(r"(/.*?\.swift):(\d+)", line)
        near = []
        if place and os.path.exists(place[1]):
            text = open(place[1]).read().splitlines()[: int(place[2])]
            near = re.findall(r'mutation\("([^"]+)"\)', "\n".join(text[-8:]))[-1:]
        yield line.replace(f"{COPY}/", "") + (f"  <- near '{near[0]}'" if near else "")
    if not lines:
        yield log


def prove_green(chosen):
    """Runs every chosen check without a mutation, in one run."""
    checks = sorted({mutation.check for mutation in chosen if mutation.check})
    began = time.monotonic()
    code, log = test(sorted({mutation.filter for mutation in chosen}), checks, None, GREEN_MINUTES * 60)
    unknown = [m for m in chosen if m.check and not ran(m, log)]
    if code != 0 or unknown:
        print(excerpt(log))
        for mutation in unknown:
            print(f"{mutation.area}.json, {mutation.id}: no check of {mutation.suite} is named {mutation.check!r}")
        raise Problem("the checks are not green without a mutation, so nothing can be proved: see above")
    print(f"{len(checks)} checks and other tests are green without a mutation ({time.monotonic() - began:.0f} s)")


def ran(mutation, log):
    """Whether the conformance suite of a mutation has run a check of this name."""
    suite = None
    for line in log.splitlines():
        if begun := re.search(r"Suite .*\(aka '(\w+)'\) started", line):
            suite = begun[1]
        elif suite == mutation.suite and (case := re.search(r"argument check → (.*) to \"keeps", line)):
            if mutation.check in case[1]:
                return True
    return False


def excerpt(log):
    """What went wrong, without what went well."""
    lines = log.splitlines()
    return "\n".join([line for line in lines[:-5] if line.startswith("✘")] + lines[-5:])


def prove_red(chosen):
    """Runs each check alone with its mutation, and prints what came of it."""
    width = max(len(mutation.id) for mutation in chosen)
    survivors = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for mutation, (verdict, took) in zip(chosen, pool.map(judge, chosen)):
                if verdict is None:
                    survivors.append(mutation)
                print(f"{mutation.id:{width}}  {verdict or 'SURVIVED':16} {took:5.1f} s  {mutation.test}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            kill_running()
            raise
    for mutation in survivors:
        print(f"\n{mutation.id} survived: {mutation.test} did not notice it.", file=sys.stderr)
        print(f"  promise: {mutation.promise}\n  {mutation.path}, {mutation.function}: {mutation.find!r}", file=sys.stderr)
        print(f"  became {mutation.replace!r}; {FOLDER.relative_to(ROOT)}/{mutation.area}.json", file=sys.stderr)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutations were noticed")
    return 1 if survivors else 0


def judge(mutation):
    """Runs a mutation's check with it, and once more if that is green: where threads race, a defect may have no chance to show.

    Answers the kind of red, or None for green, and how long it took.
    """
    began = time.monotonic()
    for word in ("", " at last"):
        code, log = test([mutation.filter], [mutation.check] if mutation.check else [], mutation.id, RED_SECONDS)
        if verdict := name(code, log):
            return verdict + word, time.monotonic() - began
    return None, time.monotonic() - began


def name(code, log):
    """What kind of red it was, or None for green."""
    if code is None:
        return "red: hung"
    if code < 0:
        return "red: " + signal.Signals(-code).name
    if re.search(r"Test run with [1-9]\d* tests? .*failed", log):
        return "red"
    if code == 0 and re.search(r"Test run with [1-9]\d* tests?\b", log):
        return None
    print(excerpt(log))
    raise Problem("the tests did not run at all: see above")


RUNNING = set()


def kill_running():
    """Ends the test programs. Each is a separate session, which no signal to this process reaches."""
    for process in list(RUNNING):
        kill(process)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test(filters, checks, switch, seconds):
    """Runs tests of the copy. Answers the exit status (None if they had to be killed) and what was printed."""
    environment = {key: value for key, value in os.environ.items() if key not in ("CHECK", SWITCH)}
    environment["NO_COLOR"] = "1"
    if checks:
        environment["CHECK"] = "\n".join(checks)
    if switch:
        environment[SWITCH] = switch
    command = [str(PROGRAM), "--testing-library", "swift-testing", "--no-parallel", "-v"]
    for filter in filters:
        command += ["--filter", filter]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    RUNNING.add(process)
    try:
        log, _ = process.communicate(timeout=seconds)
        return process.returncode, log
    except subprocess.TimeoutExpired:
        kill(process)
        log, _ = process.communicate()
        return None, log
    except BaseException:
        kill(process)
        raise
    finally:
        RUNNING.discard(process)


def run(command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"mutations: {problem}")
