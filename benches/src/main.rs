//! Paired benchmarks: Purlin on Vulkan, wgpu, and hand-written Vulkan, in one process on one adapter.
//!
//! `cargo xtask bench --help` lists what it takes; `docs/performance.md` says how to read and reproduce the figures.

mod args;
mod bars;
mod case;
mod contenders;
mod data;
mod hardware;
mod report;
mod runner;
mod stats;
mod workloads;

#[allow(missing_docs, dead_code, unused_imports)]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

mod array_shaders {
    include!(concat!(env!("OUT_DIR"), "/array_shaders.rs"));

    /// The shader whose array has this many textures.
    pub fn array(textures: u32) -> &'static purlin_rhi::shader::ShaderSource {
        match textures {
            50 => &array_50::SHADER,
            500 => &array_500::SHADER,
            _ => &array_5000::SHADER,
        }
    }

    /// Its groups.
    pub fn array_groups(textures: u32) -> &'static [&'static [purlin_rhi::types::BindGroupLayoutEntry]] {
        match textures {
            50 => array_50::GROUPS,
            500 => array_500::GROUPS,
            _ => array_5000::GROUPS,
        }
    }
}

use std::path::Path;
use std::process::ExitCode;

use args::Args;
use case::{Contender, Outcome};
use contenders::{purlin::Purlin, vulkan::Ash, wgpu::Wgpu};
use hardware::Choice;
use report::{CONTENDERS, Header, Report};
use runner::{Found, Plan};
use workloads::Workload;

fn main() -> ExitCode {
    match args::parse(std::env::args().skip(1)).and_then(|args| run(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    if args.help {
        print!("{}", args::HELP);
        return Ok(());
    }
    if args.list {
        for workload in Workload::all() {
            println!("{}", workload.name());
        }
        return Ok(());
    }
    for path in [&args.json, &args.html].into_iter().flatten() {
        writable(path)?;
    }
    let (header, found) = match &args.read {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
            report::read(&text).map_err(|error| format!("`{}` is no report: {error}", path.display()))?
        }
        None => measure(args)?,
    };
    let report = Report { header: &header, found: &found };
    print!("{}", report::table(&report));
    if let Some(path) = &args.json {
        let text = report::json(&report).map_err(|error| format!("JSON: {error}"))?;
        write(path, &text)?;
    }
    if let Some(path) = &args.html {
        write(path, &report::html(&report))?;
    }
    let over = report.over_bar();
    if args.check_bars && !over.is_empty() {
        return Err(format!("not within the bars: {}", over.join("; ")));
    }
    Ok(())
}

/// Runs the workloads.
fn measure(args: &Args) -> Result<(Header, Found), String> {
    let choice = hardware::choose(args.adapter.as_deref())?;
    if args.mock && !choice.mock {
        return Err(format!(
            "--mock needs the mock driver, found \"{}\": run `cargo xtask bench --mock`, or name the driver's JSON in \
             VK_DRIVER_FILES",
            choice.name
        ));
    }
    let workloads: Vec<_> =
        if args.workloads.is_empty() { Workload::all().collect() } else { args.workloads.clone() };
    if args.on_wgpu && choice.mock {
        return Err(
            "--on-wgpu needs a driver that wgpu opens: it refuses the limits of the mock driver".into()
        );
    }
    let header = Header { on_wgpu: args.on_wgpu, ..Header::of(&choice) };
    let plan = Plan { frames: args.frames, compare: header.compared };
    let mut found = Found::default();
    let mut any = false;
    for workload in workloads {
        eprintln!("{}", workload.name());
        // Fresh devices for each: what a library keeps of 70,000 textures must not weigh on the workloads after them.
        let mut contenders = open(args, &choice, workload, &mut found);
        any |= !contenders.is_empty();
        runner::run(workload, &mut contenders, plan, &mut found);
    }
    match found.notes.first() {
        Some(note) if !any => Err(format!("{} could not be opened: {}", note.contender, note.text)),
        _ => Ok((header, found)),
    }
}

/// Opens the contenders; one that cannot be opened is noted, and the others run.
fn open(args: &Args, choice: &Choice, workload: Workload, found: &mut Found) -> Vec<Box<dyn Contender>> {
    type Open = fn(&Choice, Workload) -> Outcome<Box<dyn Contender>>;
    let purlin: Open = if args.on_wgpu {
        |choice, workload| Ok(Box::new(Purlin::on_wgpu(choice, workload)?))
    } else {
        |choice, workload| Ok(Box::new(Purlin::new(choice, workload)?))
    };
    let all: [Open; 3] =
        [purlin, |choice, _| Ok(Box::new(Wgpu::new(choice)?)), |choice, _| Ok(Box::new(Ash::new(choice)?))];
    let mut opened = Vec::new();
    for (contender, open) in CONTENDERS.into_iter().zip(all) {
        let asked = args.contenders.is_empty() || args.contenders.iter().any(|name| name == contender);
        if !asked || !workload.has(contender) {
            continue;
        }
        match runner::guarded(|| open(choice, workload)) {
            Ok(contender) => opened.push(contender),
            Err(failure) => found.notes.push(runner::note(workload, contender, failure)),
        }
    }
    opened
}

/// Finds out before the run, not after it. An existing file keeps its contents until there are new ones, and a new one is
/// not left behind by a run that fails.
fn writable(path: &Path) -> Result<(), String> {
    let new = !path.exists();
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    if new {
        std::fs::remove_file(path).map_err(|error| format!("cannot replace `{}`: {error}", path.display()))
    } else {
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
