"""Clients for the benchmarks in Python: pycurl (a check of the floor), aiohttp and httpx."""
import asyncio
import json
import resource
import ssl
import sys
import time

settings = dict(argument.split("=", 1) for argument in sys.argv[1:])


def number(key, standard=0):
    return int(settings.get(key, standard))


class Tally:
    def __init__(self, fetches, milliseconds):
        self.fetches = self.errors = 0
        self.error = ""
        self.latencies = {}
        self.left = fetches if fetches > 0 else sys.maxsize
        self.deadline = None if fetches > 0 else time.monotonic_ns() + milliseconds * 1_000_000
        self.expected = number("expect", -1)

    def takes_another(self, now):
        self.left -= 1
        return self.left >= 0 and (self.deadline is None or now < self.deadline)

    def ended(self, started, value=None, error=None):
        now = time.monotonic_ns()
        if error is None and 0 <= self.expected != value:
            error = f"a fetch returned {value} and not {self.expected}"
        if error is not None:
            self.errors += 1
            self.error = self.error or str(error) or repr(error)
            return now
        self.fetches += 1
        shift = max(0, (now - started).bit_length() - 8)
        key = (now - started) >> shift << shift
        self.latencies[key] = self.latencies.get(key, 0) + 1
        return now


def measured(data):
    return len(json.loads(data)) if settings.get("decode") == "json" else len(data)


def memory():
    with open("/proc/self/status") as file:
        values = dict(line.split(":", 1) for line in file)
    return [int(values[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")]


def report(run):
    """Warms up, measures, prints. `run(tally)` carries out a phase."""
    run(Tally(number("warm_up_fetches"), number("warm_up_ms", 100)))
    resident, _ = memory()
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    tally = Tally(number("fetches"), number("run_ms", 500))
    run(tally)
    after, end = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    resident_after, peak = memory()
    print(json.dumps({
        "fetches": tally.fetches, "errors": tally.errors, "error": tally.error, "seconds": end - start,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "voluntary_switches": after.ru_nvcsw - before.ru_nvcsw,
        "involuntary_switches": after.ru_nivcsw - before.ru_nivcsw,
        "rss_before": resident, "rss_held": resident, "rss_after": resident_after, "rss_peak": peak,
        "latencies": tally.latencies,
    }))


def run_pycurl():
    import pycurl
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, number("in_flight", 1) * 2)
    handles = []
    for _ in range(number("in_flight", 1)):
        easy = pycurl.Curl()
        easy.chunks = []
        easy.setopt(pycurl.URL, settings["url"])
        easy.setopt(pycurl.NOSIGNAL, 1)
        easy.setopt(pycurl.WRITEFUNCTION, easy.chunks.append)
        if "ca" in settings:
            easy.setopt(pycurl.CAINFO, settings["ca"])
        handles.append(easy)

    def start(easy, now):
        easy.chunks.clear()
        easy.started = now
        multi.add_handle(easy)

    def run(tally):
        under_way = 0
        for easy in handles:
            now = time.monotonic_ns()
            if tally.takes_another(now):
                start(easy, now)
                under_way += 1
        while under_way:
            multi.perform()
            _, whole, broken = multi.info_read()
            for easy in whole:
                multi.remove_handle(easy)
                now = tally.ended(easy.started, sum(map(len, easy.chunks)))
                if tally.takes_another(now):
                    start(easy, now)
                else:
                    under_way -= 1
            for easy, _, message in broken:
                multi.remove_handle(easy)
                tally.ended(easy.started, error=message)
                under_way -= 1
            if not whole:
                multi.select(1.0)

    report(run)


async def lanes(tally, fetch):
    async def lane():
        now = time.monotonic_ns()
        while tally.takes_another(now):
            try:
                now = tally.ended(now, await fetch())
            except Exception as error:
                now = tally.ended(now, error=error)

    await asyncio.gather(*(lane() for _ in range(number("in_flight", 1))))


def run_asynchronous(make):
    loop = asyncio.new_event_loop()
    fetch, close = loop.run_until_complete(make())
    report(lambda tally: loop.run_until_complete(lanes(tally, fetch)))
    loop.run_until_complete(close())


async def make_aiohttp():
    import aiohttp
    context = ssl.create_default_context(cafile=settings["ca"]) if "ca" in settings else None
    connector = aiohttp.TCPConnector(limit=number("in_flight", 1), ssl=context)
    session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
    body = b"x" * number("body_bytes") or None

    async def fetch():
        async with session.request(settings.get("method", "GET"), settings["url"], data=body) as response:
            response.raise_for_status()
            return measured(await response.read())

    return fetch, session.close


async def make_httpx():
    import httpx
    limits = httpx.Limits(max_connections=number("in_flight", 1), max_keepalive_connections=number("in_flight", 1))
    verify = ssl.create_default_context(cafile=settings["ca"]) if "ca" in settings else True
    client = httpx.AsyncClient(limits=limits, verify=verify, http2=settings.get("http") == "2", timeout=60)
    body = b"x" * number("body_bytes") or None

    async def fetch():
        response = await client.request(settings.get("method", "GET"), settings["url"], content=body)
        response.raise_for_status()
        return measured(response.content)

    return fetch, client.aclose


try:
    if settings["client"] == "pycurl":
        run_pycurl()
    else:
        run_asynchronous({"python-aiohttp": make_aiohttp, "python-httpx": make_httpx}[settings["client"]])
except Exception as error:
    print(json.dumps({"fetches": 0, "errors": 1, "error": str(error)}))
