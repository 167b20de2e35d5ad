//! Parse, run, exit code: nothing else.

use std::process::ExitCode;

use gateway::cli;

fn main() -> ExitCode {
    std::panic::catch_unwind(|| cli::run(std::env::args_os()))
        .map_or(cli::exit::Exit::Internal.into(), ExitCode::from)
}
