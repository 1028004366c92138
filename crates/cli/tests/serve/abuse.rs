//! Requests that nobody should send.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use super::abused::{abandon, held, mutate, places, requests};
use super::client::{Service, reply};

/// What the service says on standard error until it is ended.
fn said(mut service: Service) -> String {
    let mut stderr = service.child.stderr.take().unwrap();
    drop(service);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    said
}

#[test]
fn requests_that_are_mutated_begin_valid() {
    use std::io::Write;
    let service = Service::start(&[]);
    for request in requests() {
        let mut stream = service.connect();
        stream.write_all(&request.bytes()).unwrap();
        let reply = reply(stream);
        assert!([200, 404].contains(&reply.status), "{reply:?}");
    }
}

#[test]
fn mutated_requests_do_no_harm() {
    let service = Service::start(&["--time-limit", "100ms"]);
    let tally = mutate(&service.address, (2_000, 16), 1);
    assert_eq!(tally.0.values().sum::<u64>(), 2_000);
    assert_eq!(tally.0.get(&500), None, "{tally:?}");
    for status in [200, 400, 422] {
        assert!(tally.0.contains_key(&status), "{tally:?}");
    }
    assert_eq!(service.get("/api/isalive").status, 200);
    assert_eq!(said(service), "");
}

#[test]
fn clients_that_go_away_leave_nothing() {
    let service = Service::start(&["--threads", "2", "--queue", "3"]);
    assert_eq!(service.get("/").status, 200);
    assert_eq!(settled(&service, 5), 5);
    let before = held(service.child.id());
    abandon(&service.address, (200, 8), 2);
    assert_eq!(settled(&service, 5), 5);
    let begun = Instant::now();
    while let (Some((_, before)), Some((_, now))) = (before, held(service.child.id())) {
        if now <= before {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{now} descriptors, {before} before");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(said(service), "");
}

/// The places that are free, once so many are or half a minute has passed.
fn settled(service: &Service, expected: usize) -> usize {
    let begun = Instant::now();
    loop {
        let found = places(&service.address, expected + 1);
        if found == expected || begun.elapsed() > Duration::from_secs(30) {
            return found;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
