//! The command line over the library: check, build, reflect.
//!
//! Errors go to standard error in rustc's form and end with status 1. Nothing is half-written.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use purlin_shader::{Error, Package, Target};

/// Compiles WGSL shaders offline: SPIR-V, reflection, a manifest and typed Rust.
#[derive(Parser)]
#[command(name = "purlin-shader", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Validates shaders for every target and writes nothing.
    Check {
        #[command(flatten)]
        common: Common,
        /// WGSL files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Compiles a package of shaders into a directory.
    Build {
        /// Name of the package and of the generated module.
        #[arg(long)]
        name: String,
        /// Output directory.
        #[arg(long)]
        out: PathBuf,
        /// Path under which generated code finds purlin-rhi.
        #[arg(long, default_value = "::purlin_rhi")]
        crate_path: String,
        #[command(flatten)]
        common: Common,
        /// WGSL files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Prints the reflection of one shader as JSON.
    Reflect {
        #[command(flatten)]
        common: Common,
        /// A WGSL file.
        file: PathBuf,
    },
}

#[derive(Args)]
struct Common {
    /// Directory in which imports are looked up; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Target that must be reached, `spirv` or `wgsl`; may be repeated. Without it, all of them.
    #[arg(short, long = "target", value_name = "TARGET")]
    targets: Vec<Target>,
}

impl Common {
    fn package(&self, name: &str, files: &[PathBuf]) -> Package {
        let mut package = Package::new(name).sources(files);
        for dir in &self.include {
            package = package.include_dir(dir);
        }
        if !self.targets.is_empty() {
            package = package.targets(&self.targets);
        }
        package
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    let report = |error: Error| error.report();
    match command {
        Command::Check { common, files } => {
            // One file at a time: two of the same name are fine when nothing is generated, and every bad file gets
            // its message.
            let errors: Vec<String> = files
                .iter()
                .filter_map(|file| common.package("check", std::slice::from_ref(file)).compile().err())
                .map(report)
                .collect();
            if errors.is_empty() { Ok(()) } else { Err(errors.join("\n\n")) }
        }
        Command::Build { name, out, crate_path, common, files } => {
            let written = common
                .package(&name, &files)
                .crate_path(crate_path)
                .compile()
                .and_then(|compiled| compiled.write(&out))
                .map_err(report)?;
            println!("{}", written.module.display());
            Ok(())
        }
        Command::Reflect { common, file } => {
            let compiled = common.package("reflect", &[file]).compile().map_err(report)?;
            for shader in compiled.shaders() {
                let json = serde_json::to_string_pretty(&shader.reflection)
                    .map_err(|error| format!("error: {error}"))?;
                println!("{json}");
            }
            Ok(())
        }
    }
}
