use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_io::half_of_memory;
use bethe_terminal::size;
use clap::Args;

/// How much memory one input may take.
#[derive(Args)]
pub struct MemoryFlag {
    /// Refuse what needs more memory than this, e.g. 500MB or 2GiB [default: half of the machine's
    /// or container's]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    memory_limit: Option<String>,
}

impl MemoryFlag {
    /// The limit of the flag, or of the machine.
    pub fn limit(&self) -> Result<MemoryLimit> {
        match &self.memory_limit {
            Some(text) => size::parse("--memory-limit", text),
            None => Ok(half_of_memory()),
        }
    }
}
