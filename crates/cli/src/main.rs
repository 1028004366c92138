//! The `bethe` command.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Keeps freed memory for the next request. The system's allocator returns it to the kernel, and
/// every page then costs a microsecond again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(bethe::run(std::env::args_os()))
}
