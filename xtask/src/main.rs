//! `cargo xtask`: the only door to tasks, for people and for CI alike.
//!
//! Each task is one function that answers `Outcome`. A failure prints one clear line and ends with exit code 1;
//! a failure that a child process already explained prints nothing more. Nothing here ever asks a question.

mod check_targets;
mod ci;
mod instructions;
mod layering;
mod metadata;
mod process;
mod proofs;
mod setup;
mod tasks;
#[cfg(test)]
mod testing;
mod web;

use process::{Failure, Outcome};
use std::process::ExitCode;

/// A task: its name, how it is called, what it does.
struct Task {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task {
        name: "demo",
        usage: "demo [MODEL.gltf|MODEL.glb] [OPTIONS]",
        summary: "render a picture and a report into target/demo (`demo --help` lists the options)",
        run: tasks::demo,
    },
    Task {
        name: "test",
        usage: "test [-p PACKAGE]... [FILTER...]",
        summary: "run the tests and doctests, GPU tests under the validation layer",
        run: tasks::test,
    },
    Task {
        name: "ci",
        usage: "ci [--keep-going] [STEP...]",
        summary: "everything CI runs, or only the named steps (`ci --help` lists them)",
        run: ci::run,
    },
    Task {
        name: "bench",
        usage: "bench [WORKLOAD...] [OPTIONS] | bench --instructions [--bless]",
        summary: "measure against wgpu and hand-written Vulkan (`bench --help` lists workloads and options), or count\n      \
                  instructions and compare with benches/instructions.json, which --bless rewrites",
        run: tasks::bench,
    },
    Task {
        name: "conformance",
        usage: "conformance [--json FILE] [--markdown FILE] [--with FILE]... [--backend NAME]... [FILTER...]",
        summary: "run the conformance fixtures on this machine's adapters; with options, as a matrix",
        run: tasks::conformance,
    },
    Task {
        name: "web",
        usage: "web [--port N] | web --test [--json FILE] [FILTER...]",
        summary: "build the demo for browsers and serve it; with --test run fixtures, selection and demo in Chromium\n      \
                  (filters: fixtures, webgpu, webgl, selection, demo, or parts of fixtures' names)",
        run: web::run,
    },
    Task {
        name: "miri",
        usage: "miri",
        summary: "run the RHI's tests of handles, owners, leases and recorders under Miri (needs a nightly toolchain)",
        run: proofs::miri,
    },
    Task {
        name: "fuzz",
        usage: "fuzz [SECONDS] | fuzz --check",
        summary: "run random sequences of calls against the model, guided by coverage (needs a nightly toolchain and\n      \
                  cargo-fuzz); --check only type-checks",
        run: proofs::fuzz,
    },
    Task {
        name: "docs",
        usage: "docs [--no-open]",
        summary: "build the API documentation and open it",
        run: tasks::docs,
    },
    Task {
        name: "layering",
        usage: "layering",
        summary: "check crate dependencies, vocabulary, `unsafe` and file sizes",
        run: layering::run,
    },
    Task {
        name: "check-targets",
        usage: "check-targets [TARGET...]",
        summary: "type-check the libraries for macOS and Windows from here",
        run: check_targets::run,
    },
    Task {
        name: "setup",
        usage: "setup [--mock]",
        summary: "install what demo and test need from the system; --mock describes the mock driver for benches",
        run: setup::run,
    },
];

const ENVIRONMENT: &str = "\
Environment
  PURLIN_NO_INSTALL=1   never install anything: print the command instead
  PURLIN_BROWSER        the browser that `web --test` drives, instead of Chromium
  VK_DRIVER_FILES       Vulkan drivers to use, as the loader reads it
  VK_LAYER_PATH         a folder with your own validation layer, if you have one to prefer

Set for tests and the validated demo (set them yourself to run `cargo test` by hand)
  VK_LAYER_PATH         target/vulkan-layers, where setup describes the validation layer
  VK_KHRONOS_VALIDATION_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1
  PURLIN_VALIDATE=1     tests: ask for validation with synchronization validation
  PURLIN_REQUIRE_GPU=1  tests: no adapter is a failure, not a skip
  PURLIN_REQUIRE_WINDOWS=1  tests: no Xvfb or Weston is a failure, not a skip
";

fn main() -> ExitCode {
    let args: Vec<String> = match std::env::args_os().skip(1).map(|arg| arg.into_string()).collect() {
        Ok(args) => args,
        Err(arg) => {
            eprintln!("error: argument {arg:?} is not valid UTF-8");
            return ExitCode::FAILURE;
        }
    };
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Explained) => ExitCode::FAILURE,
        Err(Failure::Message(line)) => {
            eprintln!("error: {line}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome {
    let Some((name, rest)) = args.split_first() else {
        print!("{}", help());
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return Ok(());
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        let names: Vec<&str> = TASKS.iter().map(|task| task.name).collect();
        return Err(Failure::new(format!("no task `{name}`; the tasks are {}", names.join(", "))));
    };
    // These answer `--help` themselves: they have options or steps of their own to list.
    let own_help = matches!(task.name, "demo" | "bench" | "ci");
    if !own_help && process::wants_help(rest) {
        println!("cargo xtask {}\n\n{}", task.usage, task.summary);
        return Ok(());
    }
    (task.run)(rest)
}

fn help() -> String {
    let mut text = String::from("Purlin's tasks\n\nUsage: cargo xtask TASK [ARGS...]\n\nTasks\n");
    for task in TASKS {
        text.push_str(&format!("  {}\n      {}\n", task.usage, task.summary));
    }
    text.push('\n');
    text.push_str(ENVIRONMENT);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_task() {
        let text = help();
        for task in TASKS {
            assert!(text.contains(&format!("  {}\n", task.usage)), "{} is missing from the help", task.name);
            assert!(task.usage.starts_with(task.name), "the usage of {} names another task", task.name);
        }
    }

    #[test]
    fn an_unknown_task_is_one_line_that_lists_the_tasks() {
        let Err(Failure::Message(line)) = dispatch(&["tset".to_owned()]) else {
            panic!("an unknown task was accepted");
        };
        assert!(!line.contains('\n'));
        assert!(line.starts_with("no task `tset`"));
        for task in TASKS {
            assert!(line.contains(task.name));
        }
    }
}
