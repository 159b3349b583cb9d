//! A server for one folder on the loopback address. It knows GET and the few types that the pages need.

use crate::process::{Failure, Outcome};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// Serves until the program ends.
pub struct Server {
    address: SocketAddr,
    thread: JoinHandle<()>,
}

impl Server {
    /// Serves the folder; port 0 takes any that is free.
    pub fn start(folder: &Path, port: u16) -> Outcome<Self> {
        let failed = |error| Failure::new(format!("cannot serve on 127.0.0.1:{port}: {error}; try --port"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let folder = folder.to_path_buf();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                // Browsers keep spare connections open and say nothing on them, so each has its own thread.
                std::thread::spawn(move || {
                    let _ = answer(&stream, &folder);
                });
            }
        });
        Ok(Self { address, thread })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for ever.
    pub fn wait(self) -> Outcome {
        self.thread.join().map_err(|_| Failure::new("the server panicked"))
    }
}

/// One request; the connection closes after it.
fn answer(stream: &TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut reader = BufReader::new(stream.take(64 << 10));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut writer = stream;
    match file_of(&first, folder).map(|path| (std::fs::read(&path), path)) {
        Some((Ok(bytes), path)) => {
            let (kind, size) = (kind(&path), bytes.len());
            write!(
                writer,
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
            )?;
            writer.write_all(&bytes)
        }
        _ => writer
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot found"),
    }
}

/// The file that a request line asks for, which lies inside the folder.
fn file_of(request: &str, folder: &Path) -> Option<PathBuf> {
    let path = request.strip_prefix("GET /")?.split_whitespace().next().unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    // `GET / HTTP/1.1` leaves the protocol where the path would be.
    let path = if path.is_empty() || path.starts_with("HTTP/") { "index.html" } else { path };
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| folder.join(path))
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_stays_in_its_folder() {
        let folder = Path::new("/site");
        let file = |line: &str| file_of(line, folder);
        assert_eq!(file("GET / HTTP/1.1\r\n"), Some("/site/index.html".into()));
        assert_eq!(file("GET /demo/a.wasm?x=1 HTTP/1.1\r\n"), Some("/site/demo/a.wasm".into()));
        for outside in ["GET /../secret HTTP/1.1", "GET //etc/passwd HTTP/1.1", "POST / HTTP/1.1", ""] {
            assert_eq!(file(outside), None, "{outside}");
        }
    }

    #[test]
    fn files_are_served_and_others_are_not() {
        let folder = std::env::temp_dir().join(format!("purlin-serve-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        std::fs::write(folder.join("index.html"), "hello").expect("a file for the test");
        let server = Server::start(&folder, 0).expect("a free port");
        let get = |path: &str| {
            let mut stream = TcpStream::connect(server.address).expect("it listens");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").expect("it reads");
            let mut text = String::new();
            stream.read_to_string(&mut text).expect("it answers");
            text
        };
        let page = get("/");
        assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("\r\n\r\nhello"), "{page}");
        assert!(get("/absent.js").starts_with("HTTP/1.1 404"));
        std::fs::remove_dir_all(&folder).expect("the test's folder goes");
    }
}
