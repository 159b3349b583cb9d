//! Arguments.

use std::path::PathBuf;

use crate::workloads::Workload;

/// What the caller asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Args {
    pub workloads: Vec<Workload>,
    pub contenders: Vec<String>,
    pub adapter: Option<String>,
    pub json: Option<PathBuf>,
    pub html: Option<PathBuf>,
    /// A report of an earlier run to show instead of running.
    pub read: Option<PathBuf>,
    pub check_bars: bool,
    pub mock: bool,
    /// Purlin runs on wgpu instead of Vulkan.
    pub on_wgpu: bool,
    pub list: bool,
    pub help: bool,
    pub frames: usize,
}

/// Frames that percentiles are worth something with.
pub const FRAMES: usize = 200;

pub const HELP: &str = "\
Purlin, wgpu and hand-written Vulkan, the same work in one process

Usage: purlin-benches [WORKLOAD...] [OPTIONS]

  WORKLOAD         what to run: a workload or a family of them (default: all; see --list)
  --adapter PART   the first adapter whose name contains PART (default: the best one)
  --json FILE      write the figures
  --html FILE      write a page with a plot
  --read FILE      show a report that --json wrote, instead of running; with --html, write its page
  --check-bars     exit with 1 when a workload is over its bar
  --mock           run on the driver that does nothing; results are not compared
  --on-wgpu        run Purlin on its wgpu backend: what the layer adds to wgpu
  --frames N       timed frames of each contender (default: 200)
  --only NAME      run this contender: purlin, wgpu or ash (may be repeated; default: all)
  --list           list the workloads
  --help           show this

`cargo xtask bench --instructions [--bless]` counts instructions on the null backend instead, and compares them with
benches/instructions.json, which --bless rewrites.
";

/// Reads arguments.
///
/// # Errors
/// One line that says what is wrong.
pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Args, String> {
    let mut parsed = Args { frames: FRAMES, ..Args::default() };
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let (option, inline) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option.to_owned(), Some(value.to_owned())),
            _ => (arg.clone(), None),
        };
        let mut value =
            || inline.clone().or_else(|| args.next()).ok_or_else(|| format!("`{option}` needs a value"));
        match option.as_str() {
            "--adapter" => parsed.adapter = Some(value()?).filter(|part| !part.is_empty()),
            "--json" => parsed.json = Some(value()?.into()),
            "--read" => parsed.read = Some(value()?.into()),
            "--check-bars" if inline.is_none() => parsed.check_bars = true,
            "--html" => parsed.html = Some(value()?.into()),
            "--only" => {
                let name = value()?;
                if !crate::report::CONTENDERS.contains(&name.as_str()) {
                    let names = crate::report::CONTENDERS.join(", ");
                    return Err(format!("no contender `{name}`; the contenders are {names}"));
                }
                parsed.contenders.push(name);
            }
            "--frames" => {
                let text = value()?;
                let count = text.parse().ok().filter(|count| (1..=1_000_000).contains(count));
                parsed.frames =
                    count.ok_or_else(|| format!("`--frames` takes 1 to 1000000, found `{text}`"))?;
            }
            "--mock" if inline.is_none() => parsed.mock = true,
            "--on-wgpu" if inline.is_none() => parsed.on_wgpu = true,
            "--list" if inline.is_none() => parsed.list = true,
            "--help" | "-h" if inline.is_none() => parsed.help = true,
            _ if arg.starts_with('-') => return Err(format!("no option `{arg}`; see --help")),
            _ => {
                for workload in Workload::named(&arg)? {
                    if !parsed.workloads.contains(&workload) {
                        parsed.workloads.push(workload);
                    }
                }
            }
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Args, String> {
        parse(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn options_take_values_either_way() {
        let args = read(&["overlays/8", "--adapter", "H200", "--json=out.json", "--frames=300"]);
        let expected = Args {
            workloads: vec![Workload::Overlays { count: 8 }],
            adapter: Some("H200".into()),
            json: Some("out.json".into()),
            frames: 300,
            ..Args::default()
        };
        assert_eq!(args, Ok(expected));
    }

    #[test]
    fn mistakes_are_one_line() {
        let bad: &[&[&str]] = &[
            &["--frames", "0"],
            &["--frames"],
            &["--frames", "many"],
            &["--only", "metal"],
            &["--fast"],
            &["--mock=yes"],
            &["nonsense"],
        ];
        for args in bad {
            let Err(line) = read(args) else { panic!("{args:?} was accepted") };
            assert!(!line.is_empty() && !line.contains('\n'), "{line}");
        }
    }
}
