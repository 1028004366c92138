//! `bethe serve` on a free port, and requests to it byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The service, until the test ends.
pub struct Service {
    pub child: Child,
    pub address: String,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_string()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let own = |line: &&str| line.to_lowercase().starts_with(&format!("{name}: "));
        self.head.lines().find(own).map(|line| &line[name.len() + 2..])
    }

    /// Events and their data.
    pub fn events(&self) -> Vec<(String, Value)> {
        let blocks = self.body.split("\n\n").filter(|block| block.starts_with("event: "));
        let event = |block: &str| {
            let (name, data) = block.split_once('\n').unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            (name["event: ".len()..].to_string(), serde_json::from_str(data).unwrap())
        };
        blocks.map(event).collect()
    }
}

impl Service {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bethe"))
            .args(["serve", "--port", "0", "--quiet"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|own| own.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_string();
        Self { child, address }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes as they are and reads what comes until the connection closes.
    pub fn send(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        reply(stream)
    }

    pub fn request(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Reply {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        headers.iter().for_each(|header| request.push_str(&format!("{header}\r\n")));
        request.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        self.send(&[request.as_bytes(), body].concat())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.request("POST", path, &[], body.to_string().as_bytes())
    }

    /// The answer to a request that must succeed.
    pub fn answer(&self, path: &str, body: &Value) -> Value {
        let reply = self.post(path, body);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// As [`post`](Self::post), with events.
    pub fn events(&self, path: &str, body: &Value) -> Vec<(String, Value)> {
        let body = body.to_string();
        let reply = self.request("POST", path, &["Accept: text/event-stream"], body.as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.events()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer until the connection closes.
pub fn reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A connection that was reset has nothing more to say.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_string() };
    Reply { status, head: head.to_string(), body }
}

/// The chunks of a body, joined.
fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, chunk)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&chunk[..size]);
        rest = &chunk[(size + 2).min(chunk.len())..];
    }
    body
}
