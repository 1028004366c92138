//! One reference a request: as many requests as it takes, and half as many.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use bethe_bench::bethe;
use bethe_io::results::{Table, grouped};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::Faults;
use super::client::{Service, first_answer};

/// The table's name in the page.
pub const TABLE: &str = "serve-load";
/// Clients at once, each with one request at a time.
const CLIENTS: u64 = 64;
/// Requests are worked on by so many threads.
const THREADS: &str = "2";
/// Starts whose middle is told.
const STARTS: usize = 11;
/// Seconds until memory is what it stays.
const WARM: u64 = 5;

const REFERENCES: [&str; 4] = [
    "Kschischang, F. R., Frey, B. J., & Loeliger, H.-A. (2001). Factor graphs and the sum-product \
     algorithm. IEEE Transactions on Information Theory, 47(2), 498–519.",
    "H. A. Bethe, Statistical theory of superlattices, Proc. Roy. Soc. London A 150 (1935), 552–575.",
    "Knuth, D. E. The Art of Computer Programming. Addison-Wesley, 1997.",
    "World Health Organization. Global tuberculosis report 2019. Geneva: WHO; 2019.",
];

/// What clients saw: statuses (0 for a broken connection), and seconds to each answer.
#[derive(Default)]
struct Seen {
    statuses: BTreeMap<u16, u64>,
    seconds: Vec<f64>,
}

impl Seen {
    fn add(&mut self, status: u16, seconds: f64) {
        *self.statuses.entry(status).or_default() += 1;
        self.seconds.push(seconds);
    }

    fn join(mut self, other: Self) -> Self {
        other.statuses.iter().for_each(|(own, n)| *self.statuses.entry(*own).or_default() += n);
        self.seconds.extend(other.seconds);
        self
    }

    fn of(&self, status: u16) -> u64 {
        self.statuses.get(&status).copied().unwrap_or(0)
    }

    /// The time that this share of the answers took at most, in words.
    fn quantile(&mut self, share: f64) -> String {
        self.seconds.sort_by(f64::total_cmp);
        let at = (share * (self.seconds.len().max(1) - 1) as f64) as usize;
        self.seconds.get(at).map_or("none".to_string(), |own| format!("{:.1} ms", 1e3 * own))
    }
}

/// What was measured.
struct Run {
    /// Seconds from the start to the first answer, in the middle of some starts.
    start: f64,
    seconds: u64,
    full: Seen,
    half: Seen,
    /// What the service held at the start, warm, after all clients, and after half of the requests.
    held: [Option<(f64, usize)>; 4],
}

/// Starts the service, loads it, and looks at what it holds.
pub fn measure(seconds: u64, faults: &mut Faults) -> Table {
    let bethe = bethe();
    let requests: Vec<Vec<u8>> = REFERENCES.iter().map(|own| request(own)).collect();
    let mut starts: Vec<f64> = (0..STARTS).map(|_| first_answer(&bethe, &requests[0])).collect();
    starts.sort_by(f64::total_cmp);

    let service = Service::start(&bethe, &["--threads", THREADS]);
    let cold = service.held();
    drive(&service, &requests, (WARM, None));
    let warm = service.held();
    let full = drive(&service, &requests, (seconds, None));
    let after = service.held();
    let rate = full.of(200) as f64 / seconds as f64;
    let half = drive(&service, &requests, (seconds, Some(rate / 2.0)));
    let held = [cold, warm, after, service.held()];

    for seen in [&full, &half] {
        for (status, n) in seen.statuses.iter().filter(|(own, _)| ![200, 503].contains(*own)) {
            faults.push(format!("{n} answers with status {status}"));
        }
    }
    if !service.said().is_empty() {
        faults.push(service.said());
    }
    table(Run { start: starts[STARTS / 2], seconds, full, half, held })
}

fn table(Run { start, seconds, mut full, mut half, held }: Run) -> Table {
    let rate = |seen: &Seen| grouped(seen.of(200) as f64 / seconds as f64);
    let memory = |at: usize| held[at].map_or("unknown".into(), |(mb, _)| format!("{mb:.0} MB"));
    let rows = [
        ("from the start to the first answer".to_string(), format!("{:.0} ms", 1e3 * start)),
        (format!("{CLIENTS} clients for {seconds} s: answers a second"), rate(&full)),
        ("… answers with 503".into(), full.of(503).to_string()),
        ("… other errors".into(), others(&full).to_string()),
        ("… half of the answers within".into(), full.quantile(0.5)),
        ("… 99 % within".into(), full.quantile(0.99)),
        ("half as many requests: answers a second".into(), rate(&half)),
        ("… errors".into(), (half.of(503) + others(&half)).to_string()),
        ("… half of the answers within".into(), half.quantile(0.5)),
        ("… 99 % within".into(), half.quantile(0.99)),
        ("memory at the start".into(), memory(0)),
        (format!("… after {WARM} s of load"), memory(1)),
        ("… after all clients".into(), memory(2)),
        ("… after half as many requests".into(), memory(3)),
    ];
    let mut table = Table::new(TABLE, &["measured", "found"]);
    rows.into_iter().for_each(|(name, found)| table.push([name, found]));
    table
}

fn others(seen: &Seen) -> u64 {
    seen.statuses.iter().filter(|(own, _)| ![200, 503].contains(*own)).map(|(_, n)| n).sum()
}

fn request(reference: &str) -> Vec<u8> {
    let body = json!({ "references": [{ "text": reference }] }).to_string();
    let length = body.len();
    format!(
        "POST /api/v1/cite HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// All clients ask for so many seconds: as fast as they are answered, or so often a second together.
/// Then times count from when a request was due.
fn drive(service: &Service, requests: &[Vec<u8>], (seconds, rate): (u64, Option<f64>)) -> Seen {
    let begun = Instant::now();
    let end = begun + Duration::from_secs(seconds);
    let ask = |client: u64| {
        let (mut random, mut seen) = (StdRng::seed_from_u64(client), Seen::default());
        let (mut connection, mut due) = (service.connect(), begun);
        for request in requests.iter().cycle() {
            match rate {
                None => due = Instant::now(),
                Some(rate) => {
                    let gap = -(1.0 - random.random::<f64>()).ln() * CLIENTS as f64 / rate;
                    due += Duration::from_secs_f64(gap);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                }
            }
            if due >= end {
                break;
            }
            let status = connection.ask(request).unwrap_or_else(|_| {
                connection = service.connect();
                0
            });
            seen.add(status, due.elapsed().as_secs_f64());
        }
        seen
    };
    let ask = &ask;
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || ask(client))).collect();
        let seen = clients.into_iter().map(|client| client.join().expect("a client"));
        seen.fold(Seen::default(), Seen::join)
    })
}
