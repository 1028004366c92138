use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bethe_terminal::{bad_input, time};
use clap::Args;

use crate::memory::MemoryFlag;

/// Serve pages and an HTTP service: references, tagging, flows, problems.
///
/// Prints its address and runs until Ctrl-C or SIGTERM; running requests may then finish. Programs
/// that speak to GROBID can ask it for references. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// The port; 0 for any free one
    #[arg(long, value_name = "N", default_value_t = 8070)]
    pub port: u16,

    /// A tagger to offer, under its file name; may be repeated
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<PathBuf>,

    /// The address to listen on; any other than the default lets other machines in
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,

    /// A host name that requests may use, besides localhost and addresses; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,

    /// Answer only requests that have this token: Authorization: Bearer TOKEN
    #[arg(long, value_name = "TOKEN", env = "BETHE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// The longest time that a request may take, e.g. 30s
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    pub time_limit: String,

    /// The largest request, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 16)]
    pub body_limit: usize,

    /// How many requests may wait before further ones are refused
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub queue: usize,

    /// How many requests are worked on at once [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub memory: MemoryFlag,

    /// No log of requests on standard error
    #[arg(long)]
    pub quiet: bool,
}

impl Flags {
    /// The time that a request may take.
    pub fn time_limit(&self) -> Result<Duration> {
        let limit = time::parse("--time-limit", &self.time_limit)?;
        match limit.is_zero() {
            true => Err(bad_input("--time-limit: found 0, expected more")),
            false => Ok(limit),
        }
    }

    /// The bytes that a request may have.
    pub fn body_limit(&self) -> Result<usize> {
        match self.body_limit.checked_mul(1_000_000).filter(|limit| *limit > 0) {
            Some(limit) => Ok(limit),
            None => Err(bad_input(format!(
                "--body-limit: found {}, expected at least 1",
                self.body_limit
            ))),
        }
    }
}
