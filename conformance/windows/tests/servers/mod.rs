//! Window servers without a screen, one for each test, ended with it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    X11,
    Wayland,
}

/// A running server; dropping it ends it.
pub struct Server {
    child: Child,
    folder: PathBuf,
    env: Vec<(&'static str, String)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Server {
    /// Starts a server; `None`, with the reason printed, where it is not installed. With `PURLIN_REQUIRE_WINDOWS` set,
    /// that fails instead.
    pub fn start(system: System, test: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("purlin-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        // Wayland's sockets want a folder that is nobody else's.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&folder, private).expect("a private folder");
        let (program, mut command) = match system {
            System::X11 => {
                let mut command = Command::new("Xvfb");
                command.args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]);
                command.stdout(Stdio::piped());
                ("Xvfb", command)
            }
            System::Wayland => {
                let mut command = Command::new("weston");
                command.args(["--backend=headless-backend.so", "--no-config", "--idle-time=0"]);
                command.args(["--width=1024", "--height=768", "--socket=purlin"]);
                command.env("XDG_RUNTIME_DIR", &folder).stdout(Stdio::null());
                ("weston", command)
            }
        };
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) => {
                let required = std::env::var_os("PURLIN_REQUIRE_WINDOWS").is_some();
                let what =
                    format!("{test}: cannot start {program} ({error}); Debian and Ubuntu: xvfb weston");
                assert!(!required, "{what}");
                println!("{what}; skipped");
                let _ = std::fs::remove_dir_all(&folder);
                return None;
            }
        };
        let mut server = Self { child, folder, env: Vec::new() };
        server.env = match system {
            System::X11 => vec![("DISPLAY", server.display())],
            System::Wayland => {
                server.await_socket();
                let folder = server.folder.display().to_string();
                vec![("WAYLAND_DISPLAY", "purlin".into()), ("XDG_RUNTIME_DIR", folder)]
            }
        };
        Some(server)
    }

    /// The display that the X server has chosen and serves.
    fn display(&mut self) -> String {
        let mut line = String::new();
        let out = self.child.stdout.as_mut().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("the server's display");
        assert!(!line.trim().is_empty(), "Xvfb ended before it had a display");
        format!(":{}", line.trim())
    }

    fn await_socket(&mut self) {
        let (socket, begun) = (self.folder.join("purlin"), Instant::now());
        while !socket.exists() {
            let ended = self.child.try_wait().expect("weston's state");
            assert!(ended.is_none(), "weston ended with {ended:?} before it had a socket");
            assert!(begun.elapsed() < Duration::from_secs(20), "weston makes no socket");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A program on this server and no other.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Runs to the end, at most this long; what it said.
pub fn finish(mut command: Command, most: Duration) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut pipes = Vec::new();
    if let Some(out) = child.stdout.take() {
        pipes.push(std::thread::spawn(move || std::io::read_to_string(out).unwrap_or_default()));
    }
    if let Some(err) = child.stderr.take() {
        pipes.push(std::thread::spawn(move || std::io::read_to_string(err).unwrap_or_default()));
    }
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break Some(status),
            None if begun.elapsed() > most => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let said: String = pipes.into_iter().filter_map(|pipe| pipe.join().ok()).collect();
    match status {
        Some(status) if status.success() => Ok(said),
        Some(status) => Err(format!("{status}\n{said}")),
        None => Err(format!("not done after {most:?}\n{said}")),
    }
}
