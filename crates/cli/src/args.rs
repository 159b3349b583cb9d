//! The demo's command line.
//!
//! `clap` parses; this module bends its conventions to ours: a mistake is one line and exit code 1 (not a
//! usage page and 2), and `--help` and `--version` go to the standard output with exit code 0.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use purlin::choose::Choice;

use crate::error::one_line;
use crate::picture::SAME;
use crate::size::Size;

/// Renders a glTF model, or a procedural scene without one, through the render graph.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "purlin-demo", version, about)]
pub struct Args {
    /// A model to show (.gltf or .glb); without it, a procedural scene of about a thousand instances
    #[arg(value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// The size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720")]
    pub size: Size,
    /// Frames to render before the picture is taken
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Use this backend: vulkan, wgpu-vulkan, wgpu-gl or another that is compiled; auto takes the first that works
    /// [default: what PURLIN_BACKEND names, else auto]
    #[arg(long, value_name = "NAME", value_parser = backend)]
    pub backend: Option<Choice>,
    /// Use the first adapter whose name contains this text, in any case
    #[arg(long, value_name = "SUBSTRING")]
    pub adapter: Option<String>,
    /// Print what each format may be used for on the device, as a Markdown table, and end
    #[arg(long)]
    pub formats: bool,
    /// Run under the validation layer with synchronization validation; any message fails the run
    #[arg(long)]
    pub validate: bool,
    /// Write the picture to this PNG file
    #[arg(long, value_name = "FILE.png", default_value = "target/demo/frame.png")]
    pub out: PathBuf,
    /// Write the frame's report to this HTML file
    #[arg(long, value_name = "FILE.html", default_value = "target/demo/report.html")]
    pub report: PathBuf,
    /// Compare the picture with this PNG file and fail when they differ visibly
    #[arg(long, value_name = "FILE.png")]
    pub compare: Option<PathBuf>,
    /// The signal-to-noise ratio in whole decibels below which compared pictures differ
    #[arg(long, value_name = "DB", default_value_t = SAME)]
    pub same: u32,
}

fn backend(name: &str) -> Result<Choice, String> {
    Choice::named(name).map_err(|error| error.to_string())
}

/// Why the program ends before it starts: what to print, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// Print to the standard output and exit with 0.
    Help(String),
    /// Print this one line to the standard error and exit with 1.
    Usage(String),
}

impl Args {
    /// Parses a command line whose first item is the program's name.
    pub fn parse_line<I, T>(line: I) -> Result<Self, Exit>
    where
        I: IntoIterator<Item = T>,
        T: Into<OsString> + Clone,
    {
        Self::try_parse_from(line).map_err(|error| {
            let text = error.to_string();
            if error.exit_code() == 0 {
                return Exit::Help(text);
            }
            // The first paragraph is the mistake; usage and hints follow after an empty line.
            let first = text.split("\n\n").next().unwrap_or_default();
            let first = one_line(first);
            Exit::Usage(first.strip_prefix("error: ").unwrap_or(&first).to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Args, Exit> {
        Args::parse_line(std::iter::once("purlin-demo").chain(words.iter().copied()))
    }

    #[test]
    fn defaults() {
        let args = parse(&[]).unwrap();
        assert_eq!(args.model, None);
        assert_eq!(args.size, Size { width: 1280, height: 720 });
        assert_eq!(args.frames, 30);
        assert!(!args.validate && !args.formats);
    }

    #[test]
    fn everything_given() {
        let args = parse(&[
            "a.glb",
            "--size",
            "64X32",
            "--frames",
            "2",
            "--backend",
            "vulkan",
            "--adapter",
            "llvm",
            "--validate",
            "--out",
            "o.png",
            "--report",
            "r.html",
        ])
        .unwrap();
        assert_eq!(args.model, Some("a.glb".into()));
        assert_eq!(args.size, Size { width: 64, height: 32 });
        assert_eq!((args.frames, args.validate), (2, true));
        assert_eq!(args.backend, Some(Choice::Only("vulkan")));
        assert_eq!(args.report, PathBuf::from("r.html"));
    }

    #[test]
    fn a_mistake_is_one_line() {
        for words in [
            &["--size", "0x5"][..],
            &["--size", "12"],
            &["--size", "1x99999"],
            &["--size", "-1x4"],
            &["--size", "99999999999999x4"],
            &["--frames", "0"],
            &["--frames", "many"],
            &["--backend", "glide"],
            &["--what"],
            &["a.glb", "b.glb"],
            &["--out"],
        ] {
            match parse(words) {
                Err(Exit::Usage(line)) => {
                    assert!(!line.is_empty() && !line.contains('\n'), "{words:?}: {line:?}");
                    assert!(!line.starts_with("error"), "{words:?}: {line:?}");
                }
                other => panic!("{words:?} gave {other:?}"),
            }
        }
        let Err(Exit::Usage(line)) = parse(&["--size", "0x5"]) else { panic!("a zero width was accepted") };
        assert!(line.contains("the width is zero"), "{line}");
    }

    #[test]
    fn help_is_not_a_mistake() {
        assert!(matches!(parse(&["--help"]), Err(Exit::Help(text)) if text.contains("--size")));
        assert!(matches!(parse(&["--version"]), Err(Exit::Help(_))));
    }
}
