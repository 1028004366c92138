//! Requests as nobody should send them to `bethe serve`: changed at random, broken, given up midway.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::AddAssign;
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// Text that readers of numbers, JSON, forms, CSV and HTTP trip over.
const PIECES: [&[u8]; 24] = [
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\xff\xfe",
    b"\xc3",
    "\u{202e}".as_bytes(),
    b"\"",
    b"\\",
    b"\\ud800",
    b"{",
    b"[[[[[[[[",
    b"}",
    b",",
    b":",
    b"-1",
    b"0",
    b"1e999",
    b"99999999999999999999",
    b"null",
    b"%00",
    b"../",
    b"&citations=",
    b"Content-Length: 7\r\n",
    b"Transfer-Encoding: chunked\r\n",
];

/// A valid request of every address: its head without the length, and its body.
#[derive(Clone)]
pub struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn new(line: &str, headers: &str, body: impl Into<Vec<u8>>) -> Self {
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}");
        Self { head, body: body.into() }
    }

    fn json(path: &str, headers: &str, body: &Value) -> Self {
        Self::new(&format!("POST {path}"), headers, body.to_string())
    }

    /// As it is sent.
    pub fn bytes(&self) -> Vec<u8> {
        let head = format!("{}Content-Length: {}\r\n\r\n", self.head, self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

const EVENTS: &str = "Accept: text/event-stream\r\n";

/// A problem that takes long: RDA is slow to the last digits.
pub fn long() -> Value {
    let scopes =
        (0..59).map(|at| json!({ "scope": [at, at + 1], "log_potentials": vec![0.3; 400] }));
    let energies = (0..60).map(|at| {
        json!({
            "kind": "measurement", "weight": 50.0, "offset": -0.4, "penalty": { "kind": "squared" },
            "terms": [{ "scope": [at], "coefficients": (0..20).map(|s| s % 3).collect::<Vec<_>>() }],
        })
    });
    let problem = json!({
        "variables": vec![20; 60],
        "factors": scopes.collect::<Vec<_>>(),
        "energies": energies.collect::<Vec<_>>(),
    });
    json!({ "problem": problem, "solver": "rda", "tolerance": 1e-15, "max_iterations": 100_000_000 })
}

/// A request for it, which answers at once that it has a place and then goes on.
pub fn long_request() -> Vec<u8> {
    Request::json("/api/v1/solve", EVENTS, &long()).bytes()
}

/// Requests of all addresses; the last ones take longest.
pub fn requests() -> Vec<Request> {
    let text = "[1] Smith, J. Deep graphs. Nature 12, 3-9 (2004).\n[2] Knuth, D. E. TAOCP. 1997.\n";
    let problem = json!({
        "variables": [2, { "name": "b", "states": ["x", "y", "z"] }, 2],
        "factors": [{ "scope": [0, "b"], "log_potentials": [0, 1, null, 2, 0.5, -1] }],
        "energies": [{
            "kind": "measurement", "weight": 2.0, "offset": -1.0, "penalty": { "kind": "squared" },
            "terms": [{ "scope": [0], "coefficients": [0, 1] }],
        }],
    });
    let forced = json!({
        "references": [{
            "text": "Smith, J. Deep graphs. Nature 12, 3-9 (2004).",
            "force": [{ "first": 4, "end": 8, "label": "title" }],
        }],
        "rules": false,
    });
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let parts = "Content-Type: multipart/form-data; boundary=x\r\n";
    let part = "--x\r\nContent-Disposition: form-data; name=\"citations\"\r\n\r\nSmith, J. 2004.\r\n--x--\r\n";
    let flows = json!({
        "counts": "week,A,B\n1,9,1\n2,6,4\n", "cells": "cell,x,y\nA,0,0\nB,1,0\n", "population": 10,
        "options": { "fit": "none" },
    });
    let gets = [
        "GET /",
        "GET /app.js",
        "GET /api/v1/version",
        "GET /api/v1/models",
        "GET /api/isalive",
        "HEAD /api/v1/openapi.json",
        "GET /api/version",
        "GET /api/v1/flows/0/index.html",
    ];
    let mut requests: Vec<Request> = gets.iter().map(|line| Request::new(line, "", "")).collect();
    requests.extend([
        Request::json("/api/v1/cite", "", &json!({ "text": text })),
        Request::json(
            "/api/v1/cite",
            "",
            &json!({ "text": text, "format": "ris", "unwrap": "auto" }),
        ),
        Request::json("/api/v1/cite", "", &forced),
        Request::json("/api/v1/tag", "", &json!({ "text": "Smith, J. 2004.", "n_best": 2 })),
        Request::json("/api/v1/check", "", &json!({ "problem": problem })),
        Request::json("/api/v1/solve", "", &json!({ "problem": problem, "tolerance": 1e-6 })),
        Request::json("/api/v1/solve", EVENTS, &json!({ "problem": problem.to_string() })),
        Request::new("POST /api/processCitation", form, "citations=Smith%2C+J.+2004&a=1"),
        Request::new("PUT /api/processCitationList", form, "citations=A+2004&citations=B+1999"),
        Request::new("POST /api/processCitationList", parts, part),
        Request::json("/api/v1/flows", "", &flows),
    ]);
    requests
}

/// Changes some bytes.
fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..=2) {
        let at = random.random_range(0..=bytes.len());
        let end = bytes.len().min(at + random.random_range(0..16));
        match random.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 => {
                let digits = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit());
                digits.into_iter().for_each(|own| *own = b'0' + random.random_range(0..10));
            }
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again: Vec<u8> = bytes[at..end].repeat(random.random_range(1..200));
                bytes.splice(at..at, again).for_each(drop);
            }
            4 => bytes.truncate(at),
            _ => {
                let piece = PIECES.choose(random).expect("pieces");
                bytes.splice(at..at, piece.iter().copied()).for_each(drop);
            }
        }
    }
}

/// One of some requests, changed: mostly its body, else its head, or all of it.
fn mutated(requests: &[Request], random: &mut StdRng) -> Vec<u8> {
    let last = requests.len() - usize::from(random.random_ratio(19, 20));
    let mut own = requests[..last].choose(random).expect("requests").clone();
    match random.random_range(0..5) {
        0..3 if !own.body.is_empty() => {
            damage(&mut own.body, random);
            own.bytes()
        }
        0..4 => {
            let mut head = own.head.clone().into_bytes();
            damage(&mut head, random);
            let length = format!("Content-Length: {}\r\n\r\n", own.body.len());
            [&head, length.as_bytes(), &own.body].concat()
        }
        _ => {
            let mut bytes = own.bytes();
            damage(&mut bytes, random);
            bytes
        }
    }
}

/// What came back: how often which status, 0 for a connection without an answer.
#[derive(Debug, Default)]
pub struct Tally(pub BTreeMap<u16, u64>);

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (status, count) in other.0 {
            *self.0.entry(status).or_default() += count;
        }
    }
}

/// Does something on several threads, each with its share of the count and numbers of its own.
fn shared<T: Send>(
    (count, clients): (u64, u64),
    seed: u64,
    act: impl Fn(u64, StdRng) -> T + Sync,
) -> Vec<T> {
    let act = &act;
    thread::scope(|scope| {
        let own = (0..clients).map(|client| {
            let share = (count + clients - 1 - client) / clients;
            scope.spawn(move || act(share, StdRng::seed_from_u64(seed << 16 | client)))
        });
        let own: Vec<_> = own.collect();
        own.into_iter().map(|client| client.join().expect("a client")).collect()
    })
}

/// Sends so many changed requests from so many clients.
///
/// # Panics
/// If nobody listens any more.
pub fn mutate(address: &str, amount: (u64, u64), seed: u64) -> Tally {
    let requests = requests();
    let tallies = shared(amount, seed, |share, mut random| {
        let mut tally = Tally::default();
        for _ in 0..share {
            let bytes = mutated(&requests, &mut random);
            *tally.0.entry(status(address, &bytes, random.random())).or_default() += 1;
        }
        tally
    });
    tallies.into_iter().fold(Tally::default(), |mut all, own| {
        all += own;
        all
    })
}

/// The status of the answer to some bytes, if it comes soon. The client may say that it is done.
fn status(address: &str, bytes: &[u8], is_done: bool) -> u16 {
    let mut stream = TcpStream::connect(address).expect("the service listens");
    let mut line = [0; 12];
    let mut talk = || -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_millis(50)))?;
        stream.write_all(bytes)?;
        if is_done {
            stream.shutdown(std::net::Shutdown::Write)?;
        }
        stream.read_exact(&mut line)
    };
    match talk() {
        Ok(()) => String::from_utf8_lossy(&line[9..]).parse().unwrap_or(0),
        Err(_) => 0,
    }
}

/// Begins so many requests and goes away soon, wherever they are.
pub fn abandon(address: &str, amount: (u64, u64), seed: u64) {
    let mut requests: Vec<Vec<u8>> = requests().iter().map(Request::bytes).collect();
    requests.push(long_request());
    requests.push(Request::json("/api/v1/solve", "", &long()).bytes());
    shared(amount, seed, |share, mut random| {
        for _ in 0..share {
            let mut stream = TcpStream::connect(address).expect("the service listens");
            let bytes = requests.choose(&mut random).expect("requests");
            let sent =
                if random.random() { bytes.len() } else { random.random_range(0..bytes.len()) };
            // It may have been dropped already.
            let _ = stream.write_all(&bytes[..sent]);
            thread::sleep(Duration::from_millis(random.random_range(0..20)));
        }
    });
}

/// How many requests have a place at once, up to some number.
pub fn places(address: &str, most: usize) -> usize {
    let request = long_request();
    let mut open = Vec::new();
    let begun = (0..most).take_while(|_| {
        let mut stream = TcpStream::connect(address).expect("the service listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let mut line = [0; 12];
        let answered = stream.write_all(&request).and_then(|()| stream.read_exact(&mut line));
        open.push(stream);
        answered.is_ok() && &line[9..] == b"200"
    });
    begun.count()
}

/// What a process holds: its memory in bytes, and its open descriptors. Linux tells.
pub fn held(process: u32) -> Option<(u64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count();
    Some((kilobytes * 1024, descriptors))
}
