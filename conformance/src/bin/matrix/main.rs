//! Runs every fixture on every backend of this machine and writes the matrix.
//!
//!     matrix [--json FILE] [--markdown FILE] [--with FILE]... [--backend NAME]... [FILTER...]
//!
//! `--with` adds results that were written elsewhere, such as a browser's. It ends with 1 when a cell failed or a backend
//! that was named did not open.

mod report;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use purlin_conformance::{Fixtures, Verdict, run};
use purlin_rhi::backend::Backend;
use purlin_rhi::{AdapterInfo, Device, DeviceRequest, Error, Features, Validation};
use purlin_vulkan::Vulkan;
use purlin_wgpu::{Wgpu, WgpuOptions};

use report::{Adapter, Cell, Matrix};

#[derive(Debug, Default)]
struct Args {
    json: Option<PathBuf>,
    markdown: Option<PathBuf>,
    with: Vec<PathBuf>,
    backends: Vec<String>,
    filters: Vec<String>,
}

impl Args {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--json" => args.json = Some(value()?.into()),
                "--markdown" => args.markdown = Some(value()?.into()),
                "--with" => args.with.push(value()?.into()),
                "--backend" => args.backends.push(value()?),
                option if option.starts_with('-') => return Err(format!("no option {option}")),
                _ => args.filters.push(word),
            }
        }
        Ok(args)
    }

    fn wants(&self, fixture: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| fixture.contains(filter.as_str()))
    }
}

fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)).and_then(|args| all(&args)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::FAILURE
        }
    }
}

/// Whether no cell failed.
fn all(args: &Args) -> Result<bool, String> {
    let forced = !args.backends.is_empty();
    let names: Vec<&str> = if forced {
        args.backends.iter().map(String::as_str).collect()
    } else {
        std::iter::once("vulkan").chain(purlin_wgpu::compiled()).collect()
    };
    let mut matrix = Matrix::default();
    for name in names {
        let opened = match name {
            "vulkan" => {
                column::<Vulkan>(args, &mut matrix, |request| pollster::block_on(Device::request(request)))
            }
            other => {
                let options = WgpuOptions::named(other).ok_or(format!("no backend {other}"))?;
                column::<Wgpu>(args, &mut matrix, |request| {
                    let opened = pollster::block_on(Wgpu::open(request, &options))?;
                    Device::from_backend(opened, request)
                })
            }
        };
        match opened {
            Ok(()) => {}
            Err(error) if forced => return Err(format!("{name}: {error}")),
            Err(error) => eprintln!("{name}: not run: {error}"),
        }
    }
    for path in &args.with {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        matrix.add(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    for (path, text) in [(&args.json, matrix.to_json()?), (&args.markdown, matrix.to_markdown())] {
        if let Some(path) = path {
            std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    print!("{}", matrix.summary());
    Ok(!matrix.results.iter().any(|cell| cell.outcome == "fail"))
}

/// All fixtures on one backend, each on a device of its own.
fn column<B: Backend>(
    args: &Args,
    matrix: &mut Matrix,
    open: impl Fn(&DeviceRequest<'_>) -> Result<Device<B>, Error>,
) -> Result<(), Error> {
    // Backends on wgpu do not tell what the layer says.
    let validate =
        B::NAME == "vulkan" && std::env::var_os("PURLIN_VALIDATE").is_some_and(|value| value == "1");
    let request = DeviceRequest {
        label: "conformance",
        preferred_features: Features::all(),
        validation: if validate { Validation::Synchronization } else { Validation::Off },
        ..Default::default()
    };
    // Stays open, and the driver with it: there are drivers that cannot be unloaded and loaded once for each fixture
    // (NVIDIA 580 lists no device after some two dozen times).
    let first = open(&request)?;
    let adapter: AdapterInfo = first.adapter().clone();
    eprintln!("{}: {}", adapter.backend, adapter.name);
    matrix.adapters.push(Adapter {
        backend: adapter.backend.into(),
        name: adapter.name.clone(),
        driver: adapter.driver.clone(),
        validated: validate,
    });
    for fixture in Fixtures::<B>::ALL.iter().filter(|fixture| args.wants(fixture.name)) {
        let mut device = open(&request)?;
        let verdict = match catch_unwind(AssertUnwindSafe(|| run(&mut device, fixture))) {
            Ok(answer) => Verdict::of(fixture.name, &adapter, answer),
            Err(_) => Verdict::Fail("it panicked".into()),
        };
        let messages = device.validation_messages();
        let verdict = match verdict {
            Verdict::Pass if messages > 0 => Verdict::Fail(format!("{messages} validation messages")),
            verdict => verdict,
        };
        if let Verdict::Fail(why) = &verdict {
            eprintln!("{} on {}: {why}", fixture.name, adapter.backend);
        }
        matrix.results.push(Cell {
            fixture: fixture.name.into(),
            backend: adapter.backend.into(),
            outcome: verdict.name().into(),
            reason: verdict.reason().into(),
        });
    }
    Ok(())
}
