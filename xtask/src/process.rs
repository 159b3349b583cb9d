//! Child processes, paths, and the one failure type of every task.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

/// Why a task failed.
#[derive(Debug)]
pub enum Failure {
    /// One line, still to be printed.
    Message(String),
    /// The child process that failed has already said why.
    Explained,
}

impl Failure {
    /// A failure with its one line.
    pub fn new(line: impl Into<String>) -> Self {
        Self::Message(line.into())
    }
}

/// What a task answers.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Environment variables to set for a child process.
pub type Env = Vec<(&'static str, String)>;

/// Is help asked for, before any `--`?
pub fn wants_help(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h")
}

/// The folder of the workspace. Cargo says at run time where the manifest is, so that a binary in a target folder
/// shared by two checkouts works in the one that called it.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|dir| dir.ends_with("xtask"))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().map(Path::to_path_buf).unwrap_or(manifest)
}

/// A command that does not inherit what `cargo run` set for xtask itself. The caller's folder stays the current
/// one, so that paths in arguments mean what the caller meant.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (key, _) in std::env::vars_os() {
        let Some(name) = key.to_str() else { continue };
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&key);
        }
    }
    command
}

/// `cargo SUBCOMMAND` on this workspace, with the cargo that runs xtask.
pub fn cargo(subcommand: &[&str]) -> Command {
    let mut command = cargo_without_manifest(subcommand);
    command.arg("--manifest-path").arg(root().join("Cargo.toml"));
    command
}

/// `cargo SUBCOMMAND` where the subcommand takes no manifest.
pub fn cargo_without_manifest(subcommand: &[&str]) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(subcommand);
    command
}

/// Run to the end, with the caller's terminal.
pub fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    judge(command, status)
}

/// Run to the end and take what it wrote to standard output; fail with the last line it wrote to standard error.
pub fn capture(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").trim();
    Err(Failure::new(format!("`{}` failed: {last}", display(command))))
}

/// Run to the end and take what it wrote to standard output; what it says on standard error is the caller's to see.
pub fn capture_stdout(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| cannot_start(command, &error))?;
    judge(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Does it run, and end well? Its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Run to the end, pass every line of output on, and let `watch` see it too.
pub fn run_watched(command: &mut Command, watch: impl FnMut(&str) + Send + 'static) -> Outcome {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(command, &error))?;
    let watch = Arc::new(Mutex::new(watch));
    let stdout = child.stdout.take().map(|pipe| relay(pipe, std::io::stdout(), Arc::clone(&watch)));
    let stderr = child.stderr.take().map(|pipe| relay(pipe, std::io::stderr(), watch));
    let status = child.wait().map_err(|error| Failure::new(format!("`{}`: {error}", display(command))))?;
    for thread in [stdout, stderr].into_iter().flatten() {
        // A relay that panicked has lost output, not the verdict: the exit status decides.
        let _ = thread.join();
    }
    judge(command, status)
}

fn relay<W>(
    pipe: impl Read + Send + 'static,
    mut out: W,
    watch: Arc<Mutex<impl FnMut(&str) + Send + 'static>>,
) -> std::thread::JoinHandle<()>
where
    W: Write + Send + 'static,
{
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            // Keep draining when our own output is closed, so that the child never blocks on a full pipe.
            let _ = out.write_all(&line).and_then(|()| out.flush());
            if let Ok(mut watch) = watch.lock() {
                watch(&plain(String::from_utf8_lossy(&line).trim_end()));
            }
            line.clear();
        }
    })
}

/// The line without terminal colors.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A color sequence ends at its first letter.
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            text.push(c);
        }
    }
    text
}

fn judge(command: &Command, status: ExitStatus) -> Outcome {
    match status.code() {
        Some(0) => Ok(()),
        Some(_) => Err(Failure::Explained),
        None => Err(Failure::new(format!("`{}` was killed ({status})", display(command)))),
    }
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot run `{}`: {error}", command.get_program().to_string_lossy()))
}

fn display(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_stripped() {
        assert_eq!(plain("\u{1b}[32;1m  PASS\u{1b}[0m [ 0.1s] x"), "  PASS [ 0.1s] x");
        assert_eq!(plain("no color"), "no color");
    }

    #[test]
    fn help_after_the_separator_is_not_ours() {
        let args = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(wants_help(&args(&["x", "--help"])));
        assert!(!wants_help(&args(&["x", "--", "--help"])));
    }

    #[test]
    fn the_root_holds_this_workspace() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }
}
