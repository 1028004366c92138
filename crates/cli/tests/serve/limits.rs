//! Too much, too many, too slow.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::abused::{long, long_request};
use super::client::{Service, reply};

#[test]
fn too_much_at_once_is_refused() {
    let service = Service::start(&["--body-limit", "1"]);
    let text = "a\n".repeat(1001);
    let reply = service.post("/api/v1/cite", &json!({ "text": text, "unwrap": "never" }));
    assert_eq!(reply.status, 413);
    assert!(reply.error().contains("found 1001"), "{reply:?}");
    let reply = service.post("/api/v1/cite", &json!({ "text": "a".repeat(1_000_000) }));
    assert_eq!(reply.status, 413);
    assert!(reply.error().contains("1000000 bytes"), "{reply:?}");
}

/// A token is answered with much that is said of it.
#[test]
fn too_many_tokens_are_refused() {
    let service = Service::start(&[]);
    let text = ["word "; 1001].concat() + "\n";
    let reply =
        service.post("/api/v1/cite", &json!({ "text": text.repeat(100), "unwrap": "never" }));
    assert_eq!(reply.status, 413);
    assert!(reply.error().contains("found 100100 tokens, expected at most 100000"), "{reply:?}");
    let many = json!({ "text": text.repeat(2), "n_best": 50 });
    let reply = service.post("/api/v1/tag", &many);
    assert_eq!(reply.status, 413);
    assert!(reply.error().contains("at most 2000 with 50 label sequences each"), "{reply:?}");
}

#[test]
fn a_full_queue_says_when_to_come_back_and_work_that_nobody_wants_ends() {
    let service = Service::start(&["--threads", "1", "--queue", "0", "--time-limit", "60s"]);
    let mut first = service.connect();
    first.write_all(&long_request()).unwrap();
    let one = json!({ "text": "A. Chen. On graphs. 2004." });
    // Until the first one is at work.
    let refused = (0..200).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        Some(service.post("/api/v1/cite", &one)).filter(|reply| reply.status == 503)
    });
    let refused = refused.expect("the queue is full");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Whoever goes away makes room long before the minute is over.
    drop(first);
    let begun = Instant::now();
    while service.post("/api/v1/cite", &one).status == 503 {
        assert!(begun.elapsed() < Duration::from_secs(20), "it still works for nobody");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_time_limit_gives_the_best_so_far() {
    let service = Service::start(&["--time-limit", "1s"]);
    let begun = Instant::now();
    let reply = service.post("/api/v1/solve", &long());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = reply.json();
    assert_eq!(answer["answer"]["status"], "time_limit");
}

#[test]
fn a_client_that_sends_nothing_is_dropped() {
    let service = Service::start(&[]);
    let mut silent = service.connect();
    silent.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    let begun = Instant::now();
    let answer = reply(silent);
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    assert!([0, 408].contains(&answer.status), "{answer:?}");
    assert_eq!(service.get("/").status, 200);
}
