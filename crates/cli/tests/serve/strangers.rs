//! Who may ask, and what browsers are told.

use std::net::TcpListener;
use std::process::Command;

use serde_json::json;

use super::client::Service;
use super::common::Folder;

#[test]
fn other_names_and_other_sites_are_refused() {
    let service = Service::start(&["--host", "lab.example"]);
    let status = |headers: &[&str]| service.request("GET", "/api/v1/version", headers, b"").status;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&["Host: localhost"]), 200);
    assert_eq!(status(&["Host: lab.example:8070"]), 200);
    assert_eq!(status(&["Host: evil.example"]), 403);
    assert_eq!(status(&["Origin: http://evil.example"]), 403);
    assert_eq!(status(&["Origin: null"]), 403);
    assert_eq!(status(&["Host: localhost", "Host: evil.example"]), 403);
    assert_eq!(status(&["Sec-Fetch-Site: same-site"]), 403);
    let link =
        ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
    assert_eq!(status(&link), 403);
    assert_eq!(service.request("GET", "/", &link, b"").status, 200, "a link to the page");
    let reply = service.get("/");
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert!(reply.header("content-security-policy").unwrap().starts_with("default-src 'self';"));
    assert!(reply.header("access-control-allow-origin").is_none());
}

#[test]
fn a_token_shuts_others_out() {
    let service = Service::start(&["--token", "secret"]);
    assert_eq!(service.get("/").status, 200);
    assert_eq!(service.get("/api/v1/version").status, 401);
    assert_eq!(service.get("/api/isalive").status, 401);
    let with = service.request("GET", "/api/v1/version", &["Authorization: Bearer secret"], b"");
    assert_eq!(with.status, 200);
}

#[test]
fn wrong_addresses_and_requests_are_told() {
    let service = Service::start(&[]);
    assert_eq!(service.get("/../Cargo.toml").status, 404);
    // What clients ask that were given the address with a slash at its end.
    assert_eq!(service.get("//api/isalive").body, "true");
    assert_eq!(service.get("/api/v1/cite").status, 405);
    let wrong = service.request("POST", "/api/v1/cite", &[], b"{\"text\": 1}");
    assert_eq!(wrong.status, 400);
    assert!(wrong.error().contains("line 1 column 10"), "{wrong:?}");
    for (body, said) in [
        (json!({}), "either text or references"),
        (json!({ "text": "a", "model": "none" }), "expected one of references"),
        (json!({ "text": "a", "format": "odd" }), "expected one of bibtex, csl-json"),
    ] {
        let reply = service.post("/api/v1/cite", &body);
        assert_eq!(reply.status, 422);
        assert!(reply.error().contains(said), "{reply:?}");
    }
    assert_eq!(service.send(b"nonsense\r\n\r\n").status, 400);
}

#[test]
fn a_start_that_fails_says_why() {
    let folder = Folder::new().with("m.model", "no model");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let message = folder.refusal(&["serve", "--port", &port]);
    assert!(message.contains("--port 0 takes any free one"), "{message}");
    assert!(folder.refusal(&["serve", "--model", "m.model"]).starts_with("m.model"));
    folder.refusal(&["serve", "--time-limit", "0s"]);
    folder.refusal(&["serve", "--token", ""]);
    folder.refusal(&["serve", "--body-limit", "0"]);
    folder.refusal(&["serve", "--threads", "0"]);
}

#[test]
fn sigterm_ends_it_with_0() {
    let mut service = Service::start(&[]);
    assert_eq!(service.get("/").status, 200);
    let id = service.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(service.child.wait().unwrap().code(), Some(0));
}
