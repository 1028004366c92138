//! Mutated requests, and clients that go away midway.

use std::thread;
use std::time::{Duration, Instant};

use bethe_bench::bethe;
use bethe_io::results::{Table, grouped};

use super::Faults;
use super::abused::{Tally, abandon, mutate, places};
use super::client::Service;

/// The table's name in the page.
pub const TABLE: &str = "serve-abuse";
const CLIENTS: u64 = 64;
/// Two requests that run and as many that wait as by default.
const PLACES: usize = 2 + 64;
const FLAGS: [&str; 4] = ["--threads", "2", "--time-limit", "1s"];
/// Whatever was begun has ended by then.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service after what was done to it.
struct Abused {
    service: Service,
    /// Memory in megabytes and open descriptors.
    before: (f64, usize),
    after: (f64, usize),
    /// Places that are free.
    free: usize,
}

impl Abused {
    /// Starts a service, does something to it a little, looks at what it holds, and does all of it.
    fn by(flags: &[&str], count: u64, mut act: impl FnMut(&str, u64)) -> Self {
        let service = Service::start(&bethe(), flags);
        act(&service.address, count / 20);
        let before = settled(&service, 0);
        act(&service.address, count);
        let after = settled(&service, before.1);
        Self { before, after, free: free(&service), service }
    }

    /// Lines on standard error: there is no reason for any.
    fn lines(&self) -> u64 {
        self.service.said().lines().count() as u64
    }

    fn tell(&self, faults: &mut Faults) {
        if self.lines() > 0 {
            faults.push(self.service.said());
        }
        let ask = b"GET /api/isalive HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if self.service.connect().ask(ask).ok() != Some(200) {
            faults.push("it answers no more".to_string());
        }
        if self.free != PLACES {
            faults.push(format!("{} free places, expected {PLACES}", self.free));
        }
    }
}

/// Does both, and looks at what is left.
pub fn measure((mutations, kills): (u64, u64), faults: &mut Faults) -> Table {
    let mut tally = Tally::default();
    let mutated = Abused::by(&FLAGS, mutations, |address, count| {
        tally = mutate(address, (count, CLIENTS), count);
    });
    let left = Abused::by(&FLAGS[..2], kills, |address, count| {
        abandon(address, (count, CLIENTS), count);
    });
    [&mutated, &left].iter().for_each(|own| own.tell(faults));
    let count =
        |statuses: std::ops::Range<u16>| -> u64 { tally.0.range(statuses).map(|(_, n)| n).sum() };
    let faulty = count(500..501);
    if faulty > 0 {
        faults.push(format!("statuses: {tally:?}"));
    }
    let number = |own: u64| grouped(own as f64);
    let none = || "–".to_string();
    let rows = [
        ("sent", number(mutations), number(kills)),
        ("answered", number(count(200..300)), none()),
        ("refused", number(count(400..500)), none()),
        ("queue full or out of time", number(count(503..505)), none()),
        ("closed without an answer", number(count(0..1)), none()),
        ("faults", number(faulty + mutated.lines()), number(left.lines())),
        ("memory before", memory(mutated.before.0), memory(left.before.0)),
        ("memory after", memory(mutated.after.0), memory(left.after.0)),
        ("open descriptors before", mutated.before.1.to_string(), left.before.1.to_string()),
        ("open descriptors after", mutated.after.1.to_string(), left.after.1.to_string()),
        ("free places of 66 after", mutated.free.to_string(), left.free.to_string()),
    ];
    let mut table = Table::new(TABLE, &["measured", "mutated requests", "clients that go away"]);
    rows.into_iter().for_each(|(name, a, b)| table.push([name.to_string(), a, b]));
    table
}

fn memory(megabytes: f64) -> String {
    format!("{megabytes:.0} MB")
}

/// Memory and descriptors, once there are no more descriptors than before or patience ends.
fn settled(service: &Service, before: usize) -> (f64, usize) {
    let begun = Instant::now();
    thread::sleep(Duration::from_secs(2));
    loop {
        let held = service.held().unwrap_or((f64::NAN, 0));
        if held.1 <= before.max(16) || begun.elapsed() > PATIENCE {
            return held;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// The free places, once all are or patience ends.
fn free(service: &Service) -> usize {
    let begun = Instant::now();
    loop {
        let found = places(&service.address, PLACES + 1);
        if found == PLACES || begun.elapsed() > PATIENCE {
            return found;
        }
        thread::sleep(Duration::from_millis(200));
    }
}
