// Clients for the benchmarks on Rust's hyper and reqwest: the same settings on the command line, the same line of JSON.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

struct Settings(HashMap<String, String>);

impl Settings {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or("")
    }
    fn number(&self, key: &str, standard: i64) -> i64 {
        self.text(key).parse().unwrap_or(standard)
    }
}

enum Client {
    Hyper(hyper::Client<hyper::client::HttpConnector>),
    Reqwest(reqwest::Client),
}

impl Client {
    async fn fetch(&self, settings: &Settings, body: &[u8]) -> Result<i64, Failure> {
        let url = settings.text("url");
        let streams = settings.text("stream") == "1";
        let (status, count) = match self {
            Client::Hyper(client) => {
                let request = hyper::Request::builder()
                    .method(settings.text("method"))
                    .uri(url)
                    .body(hyper::Body::from(body.to_vec()))?;
                let mut response = client.request(request).await?;
                let status = response.status().as_u16();
                if streams {
                    use hyper::body::HttpBody;
                    let mut count = 0;
                    while let Some(piece) = response.body_mut().data().await {
                        count += piece?.len();
                    }
                    return counted(status, count);
                }
                (status, hyper::body::to_bytes(response.into_body()).await?.len())
            }
            Client::Reqwest(client) => {
                let mut request = client.request(settings.text("method").parse()?, url);
                if !body.is_empty() {
                    request = request.body(body.to_vec());
                }
                let mut response = request.send().await?;
                if streams {
                    let mut count = 0;
                    while let Some(piece) = response.chunk().await? {
                        count += piece.len();
                    }
                    return counted(response.status().as_u16(), count);
                }
                (response.status().as_u16(), response.bytes().await?.len())
            }
        };
        counted(status, count)
    }
}

fn counted(status: u16, count: usize) -> Result<i64, Failure> {
    if status / 100 != 2 {
        return Err(format!("status {status}").into());
    }
    Ok(count as i64)
}

#[derive(Default)]
struct Tally {
    fetches: i64,
    errors: i64,
    error: String,
    latencies: BTreeMap<u64, u32>,
    left: i64,
    deadline: Option<Instant>,
}

impl Tally {
    fn takes_another(&mut self, now: Instant) -> bool {
        if self.left <= 0 || self.deadline.map_or(false, |deadline| now >= deadline) {
            return false;
        }
        self.left -= 1;
        true
    }

    fn ended(&mut self, took: Duration, result: Result<i64, Failure>, expected: i64) {
        match result {
            Ok(count) if expected < 0 || count == expected => {
                self.fetches += 1;
                let nanoseconds = took.as_nanos() as u64;
                let shift = (64 - nanoseconds.leading_zeros()).saturating_sub(8);
                *self.latencies.entry(nanoseconds >> shift << shift).or_insert(0) += 1;
            }
            Ok(count) => {
                self.errors += 1;
                self.error = format!("a fetch returned {count} and not {expected}");
            }
            Err(error) => {
                self.errors += 1;
                self.error = error.to_string().replace(['"', '\\'], "'");
            }
        }
    }
}

async fn phase(client: &Rc<Client>, settings: &Rc<Settings>, body: &Rc<Vec<u8>>, fetches: i64, milliseconds: i64) -> Tally {
    let tally = Rc::new(RefCell::new(Tally { left: i64::MAX, ..Default::default() }));
    if fetches > 0 {
        tally.borrow_mut().left = fetches;
    } else {
        tally.borrow_mut().deadline = Some(Instant::now() + Duration::from_millis(milliseconds as u64));
    }
    let expected = settings.number("expect", -1);
    let lanes: Vec<_> = (0..settings.number("in_flight", 1))
        .map(|_| {
            let (client, settings, body, tally) = (client.clone(), settings.clone(), body.clone(), tally.clone());
            tokio::task::spawn_local(async move {
                let mut now = Instant::now();
                while tally.borrow_mut().takes_another(now) {
                    let result = client.fetch(&settings, &body).await;
                    let then = Instant::now();
                    tally.borrow_mut().ended(then - now, result, expected);
                    now = then;
                }
            })
        })
        .collect();
    for lane in lanes {
        let _ = lane.await;
    }
    let sum = tally.replace(Tally::default());
    sum
}

fn memory() -> (i64, i64) {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.split_whitespace().next()?.parse::<i64>().ok())
            .unwrap_or(0)
            * 1024
    };
    (value("VmRSS:"), value("VmHWM:"))
}

#[repr(C)]
#[derive(Default)]
struct Usage {
    user: [i64; 2],
    system: [i64; 2],
    rest: [i64; 14],
}

extern "C" {
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
}

fn usage() -> (f64, i64, i64) {
    let mut usage = Usage::default();
    unsafe { getrusage(0, &mut usage) };
    let seconds = |time: [i64; 2]| time[0] as f64 + time[1] as f64 / 1e6;
    (seconds(usage.user) + seconds(usage.system), usage.rest[12], usage.rest[13])
}

async fn run(settings: Settings) -> Result<(), Failure> {
    let connections = settings.number("in_flight", 1) as usize;
    let client = if settings.text("client") == "rust-reqwest" {
        let mut builder = reqwest::Client::builder()
            .pool_max_idle_per_host(connections)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if !settings.text("ca").is_empty() {
            // reqwest's OpenSSL backend takes one certificate at a time.
            let text = std::fs::read_to_string(settings.text("ca"))?;
            let mut seen = std::collections::HashSet::new();
            for part in text.split_inclusive("-----END CERTIFICATE-----\n") {
                if part.contains("BEGIN CERTIFICATE") && seen.insert(part.to_string()) {
                    builder = builder.add_root_certificate(reqwest::Certificate::from_pem(part.as_bytes())?);
                }
            }
        }
        Client::Reqwest(builder.build()?)
    } else {
        let mut connector = hyper::client::HttpConnector::new();
        connector.set_nodelay(true);
        Client::Hyper(hyper::Client::builder().pool_max_idle_per_host(connections).build(connector))
    };
    let client = Rc::new(client);
    let body = Rc::new(vec![b'x'; settings.number("body_bytes", 0) as usize]);
    let settings = Rc::new(settings);
    let _ = phase(&client, &settings, &body, settings.number("warm_up_fetches", 0), settings.number("warm_up_ms", 100)).await;
    let (resident, _) = memory();
    let (before, from) = (usage(), Instant::now());
    let sum = phase(&client, &settings, &body, settings.number("fetches", 0), settings.number("run_ms", 500)).await;
    let (after, seconds) = (usage(), from.elapsed().as_secs_f64());
    let (resident_after, peak) = memory();
    let latencies: Vec<_> = sum.latencies.iter().map(|(value, count)| format!("\"{value}\":{count}")).collect();
    println!(
        "{{\"fetches\":{},\"errors\":{},\"error\":\"{}\",\"seconds\":{seconds},\"cpu_seconds\":{},\"voluntary_switches\":{},\
         \"involuntary_switches\":{},\"rss_before\":{resident},\"rss_held\":{resident},\"rss_after\":{resident_after},\
         \"rss_peak\":{peak},\"latencies\":{{{}}}}}",
        sum.fetches, sum.errors, sum.error, after.0 - before.0, after.1 - before.1, after.2 - before.2, latencies.join(",")
    );
    Ok(())
}

fn main() {
    let settings = Settings(
        std::env::args()
            .skip(1)
            .filter_map(|argument| argument.split_once('=').map(|(key, value)| (key.to_string(), value.to_string())))
            .collect(),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Err(error) = tokio::task::LocalSet::new().block_on(&runtime, run(settings)) {
        println!("{{\"fetches\":0,\"errors\":1,\"error\":\"{}\"}}", error.to_string().replace(['"', '\\'], "'"));
    }
}
