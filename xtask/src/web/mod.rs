//! The browser: `cargo xtask web` builds the demo page and serves it, `cargo xtask web --test` drives a browser.
//!
//! Everything that is built lies in `target/web`: `site` is what a server would publish, `node` has npm's packages, `test`
//! what a test left behind (pictures, results).

mod build;
mod serve;

use crate::process::{self, Failure, Outcome};
use crate::{setup, tasks};
use build::{Module, Site};
use std::path::{Path, PathBuf};

/// The most that `wasm-opt` may leave of the demo, in bytes.
const MOST: u64 = 3_000_000;
/// The same with WebGPU alone.
const MOST_WEBGPU: u64 = 1_000_000;

/// `cargo xtask web`
pub fn run(args: &[String]) -> Outcome {
    let args = Args::parse(args)?;
    if args.test { test(&args) } else { show(&args) }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Args {
    test: bool,
    port: Option<u16>,
    json: Option<PathBuf>,
    filters: Vec<String>,
}

impl Args {
    fn parse(words: &[String]) -> Outcome<Self> {
        let mut args = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value =
                || words.next().ok_or_else(|| Failure::new(format!("web: `{word}` needs a value")));
            match word.as_str() {
                "--test" => args.test = true,
                "--json" => args.json = Some(value()?.into()),
                "--port" => {
                    let text = value()?;
                    let port = text.parse();
                    args.port =
                        Some(port.map_err(|_| Failure::new(format!("web: `{text}` is no port number")))?);
                }
                option if option.starts_with('-') => {
                    return Err(Failure::new(format!("web has no option `{option}`")));
                }
                _ => args.filters.push(word.clone()),
            }
        }
        if !args.test && (args.json.is_some() || !args.filters.is_empty()) {
            return Err(Failure::new("web takes `--json` and filters only with `--test`"));
        }
        Ok(args)
    }
}

/// The demo page, until it is interrupted.
fn show(args: &Args) -> Outcome {
    let site = Site::prepare()?;
    site.add(&Module::DEMO)?;
    let server = serve::Server::start(site.folder(), args.port.unwrap_or(8080))?;
    println!("the demo page: {}", server.url());
    println!("Ctrl+C ends it. A WebGPU page needs a secure context: this address or HTTPS.");
    server.wait()
}

/// Every module, their sizes, and the driver's verdict.
fn test(args: &Args) -> Outcome {
    let node = setup::ensure_node()?;
    let chromium = setup::ensure_browser()?;
    let site = Site::prepare()?;
    let both = site.add(&Module::DEMO)?;
    let alone = site.add(&Module::DEMO_WEBGPU)?;
    site.add(&Module::TESTS)?;
    println!("wasm after wasm-opt: {both} bytes with both backends, {alone} with WebGPU alone");
    for (size, most, what) in [(both, MOST, "with both backends"), (alone, MOST_WEBGPU, "with WebGPU alone")]
    {
        if size > most {
            return Err(Failure::new(format!("the demo {what} has {size} bytes of wasm, more than {most}")));
        }
    }
    let server = serve::Server::start(site.folder(), args.port.unwrap_or(0))?;
    let out = process::root().join("target/web/test");
    std::fs::create_dir_all(&out)
        .map_err(|error| Failure::new(format!("cannot create {}: {error}", out.display())))?;
    // The driver lies with its packages, where node looks for them.
    let driver = build::copy_driver()?;
    let mut command = process::command(node);
    command.arg(driver.join("main.mjs")).args(["--url", &server.url()]);
    command.arg("--browser").arg(chromium).arg("--out").arg(&out);
    command.args(["--sizes", &format!("{both},{alone}")]);
    if let Some(json) = &args.json {
        command.arg("--json").arg(absolute(json));
    }
    process::run(command.args(&args.filters))?;
    if args.filters.is_empty() || args.filters.iter().any(|filter| filter == "demo") {
        compare(&out)?;
    }
    Ok(())
}

/// The browser's pictures with the one of the native demo, by the demo's own measure.
fn compare(out: &Path) -> Outcome {
    for backend in ["webgpu", "webgl"] {
        let path = |name: String| out.join(name).display().to_string();
        let mut args = ["--size", "640x360", "--frames", "3"].map(str::to_owned).to_vec();
        // The browser's rasterizer is another: edges of a pixel's width differ. WebGL 2's text says that it has fewer passes.
        args.extend(["--same".to_owned(), "37".to_owned()]);
        args.extend(["--compare".to_owned(), path(format!("demo-{backend}.png"))]);
        args.extend(["--out".to_owned(), path("demo-native.png".to_owned())]);
        args.extend(["--report".to_owned(), path("demo-native.html".to_owned())]);
        println!("the picture of {backend} and the native one:");
        tasks::demo_in(&[], &args)?;
    }
    Ok(())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_and_results_are_for_tests() {
        let args =
            |words: &[&str]| Args::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let parsed = args(&["--test", "--json", "a.json", "draws"]).expect("all are known");
        assert_eq!((parsed.test, parsed.filters.len(), parsed.json), (true, 1, Some("a.json".into())));
        assert_eq!(args(&["--port", "9000"]).expect("a port").port, Some(9000));
        for wrong in [&["draws"][..], &["--port", "x"], &["--port"], &["--tset"]] {
            assert!(args(wrong).is_err(), "{wrong:?}");
        }
    }
}
