//! Requests that clients of GROBID send.

use std::process::Command;

use super::client::Service;
use super::common::Folder;

const REFERENCE: &str = "Graff, Expert. Opin. Ther. Targets (2002) 6(1): 103-113";
const ENCODED: &str = "Graff%2C+Expert.+Opin.+Ther.+Targets+%282002%29+6%281%29%3A+103-113";

/// The request of JabRef's `GrobidService.processCitation`, as Jsoup sends it.
#[test]
fn jabref_gets_bibtex() {
    let service = Service::start(&[]);
    let body = format!("citations={ENCODED}&consolidateCitations=0");
    let headers = [
        "Accept: application/x-bibtex",
        "Accept-Encoding: gzip",
        "User-Agent: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36",
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8",
    ];
    let reply = service.request("POST", "/api/processCitation", &headers, body.as_bytes());
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("application/x-bibtex"));
    assert!(reply.body.starts_with("@article{"), "{}", reply.body);
    for field in ["author = {Graff}", "volume = {6}", "number = {1}", "pages = {103--113}"] {
        assert!(reply.body.contains(field), "{field} is missing in {}", reply.body);
    }
}

/// What `grobid_client processCitationList` sends for a text file: is the service alive, then all
/// lines, blank ones too.
#[test]
fn the_python_client_gets_tei() {
    let service = Service::start(&[]);
    let alive = service.request("GET", "/api/isalive", &["User-Agent: python-requests/2.32"], b"");
    assert_eq!((alive.status, alive.body.as_str()), (200, "true"));
    let headers = ["Accept: application/xml", "Content-Type: application/x-www-form-urlencoded"];
    let body = format!("includeRawCitations=1&citations={ENCODED}&citations=&citations={ENCODED}");
    let reply = service.request("POST", "/api/processCitationList", &headers, body.as_bytes());
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("application/xml"));
    assert!(reply.body.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TEI "));
    assert_eq!(reply.body.matches("<biblStruct xml:id=").count(), 2, "{}", reply.body);
    assert_eq!(reply.body.matches(&format!(">{REFERENCE}</note>")).count(), 2);
    let version = service.get("/api/version").json();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
}

/// `grobid_client` itself, where it is installed: `pip install grobid-client-python`.
#[test]
fn the_python_client_itself_is_served() {
    let client = std::env::var("GROBID_CLIENT").unwrap_or_else(|_| "grobid_client".to_string());
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    let folder = folder.with("in/refs.txt", &format!("{REFERENCE}\n\n{REFERENCE}\n"));
    let service = Service::start(&[]);
    let run = |more: &[&str]| {
        let server = format!("http://{}/", service.address);
        let mut command = Command::new(&client);
        command.args(["--server", &server, "--input", "in", "--output", "out"]);
        command.current_dir(folder.path("")).args(more).arg("processCitationList").output()
    };
    let output = match run(&["--include_raw_citations", "--n", "4"]) {
        Ok(output) => output,
        Err(_) => return println!("{client} is not installed: skipped"),
    };
    assert!(output.status.success(), "{output:?}");
    let written = folder.read("out/refs.grobid.tei.xml");
    assert_eq!(written.matches("<biblStruct xml:id=").count(), 2, "{written}");
    assert_eq!(written.matches(&format!(">{REFERENCE}</note>")).count(), 2, "{written}");
}

#[test]
fn forms_in_parts_are_read_too() {
    let service = Service::start(&[]);
    let part = |name: &str, value: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let body = part("citations", REFERENCE) + &part("consolidateCitations", "1") + "--x--\r\n";
    let headers = ["Content-Type: Multipart/Form-Data; boundary=x"];
    let reply = service.request("PUT", "/api/processCitation", &headers, body.as_bytes());
    assert_eq!(reply.status, 200);
    assert!(reply.body.starts_with("<biblStruct>"), "{}", reply.body);
    assert!(!reply.body.contains("raw_reference"), "it was not asked for");
    let broken = service.request("POST", "/api/processCitation", &headers, b"--x\r\nno");
    assert_eq!(broken.status, 400);
}

#[test]
fn status_codes_are_those_of_grobid() {
    let service = Service::start(&[]);
    let post = |path: &str, body: &str| service.request("POST", path, &[], body.as_bytes()).status;
    assert_eq!(post("/api/processCitation", "citations=+%0A"), 204);
    assert_eq!(post("/api/processCitationList", "citations=&citations="), 204);
    assert_eq!(post("/api/processCitation", "other=1"), 400);
    assert_eq!(post("/api/processCitationList", &"citations=a&".repeat(1001)), 400);
}
