//! The service as it is released, and a client that keeps its connection.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::abused::held;

/// A running service, ended when it is dropped.
pub struct Service {
    child: Child,
    pub address: String,
    /// What it says on standard error.
    said: NamedTempFile,
}

impl Service {
    /// Starts it on a free port, and waits until it tells its address.
    pub fn start(bethe: &Path, flags: &[&str]) -> Self {
        let said = NamedTempFile::new().expect("a temporary file");
        let mut child = Command::new(bethe)
            .args(["serve", "--port", "0", "--quiet"])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(File::create(said.path()).expect("a temporary file"))
            .spawn()
            .expect("bethe starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its standard output");
        BufReader::new(stdout).read_line(&mut line).expect("its address");
        let address = line.trim().strip_prefix("http://").and_then(|own| own.strip_suffix('/'));
        Self { child, address: address.expect("an address").to_string(), said }
    }

    /// Its memory in megabytes and its open descriptors, where the system tells.
    pub fn held(&self) -> Option<(f64, usize)> {
        held(self.child.id()).map(|(bytes, open)| (bytes as f64 / 1e6, open))
    }

    /// What it said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.said.path()).unwrap_or_default()
    }

    /// A connection to it.
    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("the service listens");
        stream.set_nodelay(true).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a connection");
        Client(BufReader::new(stream))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that asks one thing after another.
pub struct Client(BufReader<TcpStream>);

impl Client {
    /// The status of the answer, which is read to its end.
    pub fn ask(&mut self, request: &[u8]) -> Result<u16> {
        self.0.get_mut().write_all(request)?;
        let (mut status, mut length) = (0, 0);
        for number in 0.. {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            if number == 0 {
                status = line.split(' ').nth(1).and_then(|own| own.parse().ok()).unwrap_or(0);
            }
            match line.trim_end().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", own)) => length = own.parse().unwrap_or(0),
                Some(_) => {}
                None if number > 0 => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).map(|()| status)
    }
}

/// Seconds from the start of the program to its first answer.
pub fn first_answer(bethe: &Path, request: &[u8]) -> f64 {
    let begun = Instant::now();
    let service = Service::start(bethe, &[]);
    assert_eq!(service.connect().ask(request).expect("an answer"), 200);
    begun.elapsed().as_secs_f64()
}
