//! `purlin-demo`: see the library for everything but the exit code.

use std::io::Write;
use std::process::ExitCode;

use purlin_cli::args::{Args, Exit};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    // Errors are reported once, as the last line. Logs are for those who ask: PURLIN_LOG=debug.
    let filter = EnvFilter::try_from_env("PURLIN_LOG").unwrap_or_else(|_| EnvFilter::new("off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();

    match Args::parse_line(std::env::args_os()) {
        Ok(args) => match purlin_cli::run::run(&args) {
            Ok(table) => print(&table),
            Err(error) => fail(&error.to_string()),
        },
        Err(Exit::Help(text)) => print(&text),
        Err(Exit::Usage(line)) => fail(&line),
    }
}

/// A reader that has gone away (`| head -1`) is no failure of ours.
fn print(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    ExitCode::SUCCESS
}

fn fail(line: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {line}");
    ExitCode::FAILURE
}
