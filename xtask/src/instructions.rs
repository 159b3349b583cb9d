//! `cargo xtask bench --instructions`: the cost of a draw, a pass, a group in instructions, against committed figures.
//!
//! Callgrind counts, the null backend stands where a driver would, and `purlin-instructions` does the work: see there how
//! a figure comes about. The same build counts the same on every run, so a growth is the code's and not the machine's.
//! Another compiler moves figures without anyone's doing: it is named, and the bound is wider until someone blesses.

use crate::process::{self, Failure, Outcome};
use crate::setup;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const PACKAGE: &str = "purlin-instructions";
/// The function that callgrind counts in.
const REGION: &str = "*counted_region";
/// How much a figure may grow, in percent, and how much when another compiler built it.
const BOUND: u64 = 5;
const BOUND_OTHER_COMPILER: u64 = 15;
const BLESS: &str = "cargo xtask bench --instructions --bless";

/// The one system whose figures are committed.
pub fn possible() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// Runs with the arguments after `bench`.
pub fn run(args: &[String]) -> Outcome {
    let mut bless = false;
    for arg in args {
        match arg.as_str() {
            "--instructions" => {}
            "--bless" => bless = true,
            _ => return Err(Failure::new(format!("--instructions takes only `--bless`, found `{arg}`"))),
        }
    }
    if !possible() {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        return Err(Failure::new(format!("the committed figures are for x86_64 Linux, this is {arch} {os}")));
    }
    setup::ensure_valgrind()?;
    let found = Figures { rustc: compiler()?, units: count()? };
    let path = process::root().join("benches").join("instructions.json");
    let committed = match std::fs::read_to_string(&path) {
        Ok(text) => Figures::parse(&text)
            .ok_or_else(|| Failure::new(format!("{} has no figures; {BLESS} writes them", path.display()))),
        Err(error) => {
            Err(Failure::new(format!("cannot read {}: {error}; {BLESS} writes it", path.display())))
        }
    };
    // Whatever is there, a blessing replaces it.
    let committed = if bless { committed.unwrap_or_default() } else { committed? };
    let compared = compare(&committed, &found);
    print!("{}", compared.table);
    if bless {
        std::fs::write(&path, found.text())
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
        println!("wrote {}", path.display());
        return Ok(());
    }
    for note in &compared.notes {
        println!("note: {note}");
    }
    if compared.broken.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("{}; if it is meant: {BLESS}", compared.broken.join("; "))))
}

/// Instructions by unit, in the order of the program, and who compiled it.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    rustc: String,
    units: Vec<(String, u64)>,
}

impl Figures {
    fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let units = value["units"].as_array()?.iter();
        let units =
            units.map(|unit| Some((unit["unit"].as_str()?.to_owned(), unit["instructions"].as_u64()?)));
        Some(Self { rustc: value["rustc"].as_str()?.to_owned(), units: units.collect::<Option<_>>()? })
    }

    /// A unit a line, so that a change reads well in review.
    fn text(&self) -> String {
        let units: Vec<_> = self
            .units
            .iter()
            .map(|(unit, count)| format!("    {{ \"unit\": {}, \"instructions\": {count} }}", json!(unit)))
            .collect();
        format!("{{\n  \"rustc\": {},\n  \"units\": [\n{}\n  ]\n}}\n", json!(self.rustc), units.join(",\n"))
    }

    fn of(&self, unit: &str) -> Option<u64> {
        self.units.iter().find(|(name, _)| name == unit).map(|(_, count)| *count)
    }
}

#[derive(Debug, Default)]
struct Compared {
    table: String,
    /// What fails.
    broken: Vec<String>,
    /// What someone should know.
    notes: Vec<String>,
}

fn compare(committed: &Figures, found: &Figures) -> Compared {
    let mut compared = Compared::default();
    let same_compiler = committed.rustc == found.rustc;
    let bound = if same_compiler { BOUND } else { BOUND_OTHER_COMPILER };
    if !same_compiler {
        compared.notes.push(format!(
            "the committed figures are of rustc {}, these are of rustc {}: growth fails above {bound} % instead of \
             {BOUND} %; bless with the new compiler: {BLESS}",
            committed.rustc, found.rustc
        ));
    }
    let mut shrunk = Vec::new();
    compared.table = format!("{:<52}{:>10}{:>10}{:>10}\n", "instructions", "committed", "found", "change");
    for (unit, now) in &found.units {
        let Some(then) = committed.of(unit) else {
            compared.table += &format!("{unit:<52}{:>10}{now:>10}{:>10}\n", "-", "new");
            compared.broken.push(format!("\"{unit}\" has no committed figure, found {now}"));
            continue;
        };
        let percent = (*now as f64 / then.max(1) as f64 - 1.0) * 100.0;
        compared.table += &format!("{unit:<52}{then:>10}{now:>10}{:>10}\n", format!("{percent:+.1} %"));
        if now * 100 > then * (100 + bound) {
            compared.broken.push(format!(
                "\"{unit}\" grew by {percent:.1} %, from {then} instructions to {now} (at most {bound} %)"
            ));
        } else if now * 100 < then * (100 - BOUND) {
            shrunk.push(format!("\"{unit}\""));
        }
    }
    for (unit, _) in committed.units.iter().filter(|(unit, _)| found.of(unit).is_none()) {
        compared.broken.push(format!("\"{unit}\" has a committed figure and is not measured"));
    }
    if !shrunk.is_empty() {
        let list = shrunk.join(", ");
        compared.notes.push(format!("{list} shrank by more than {BOUND} %: keep the gain with {BLESS}"));
    }
    compared
}

/// What `rustc --version` says after the name.
fn compiler() -> Outcome<String> {
    let text = process::capture(process::command("rustc").arg("--version"))?;
    Ok(text.trim().trim_start_matches("rustc ").to_owned())
}

/// Builds, runs under callgrind, and answers instructions by unit.
fn count() -> Outcome<Vec<(String, u64)>> {
    let build = ["build", "--release", "--package", PACKAGE, "--message-format", "json-render-diagnostics"];
    let messages = process::capture_stdout(&mut process::cargo(&build))?;
    let program = executable(&messages)
        .ok_or_else(|| Failure::new(format!("cargo named no executable of the package {PACKAGE}")))?;

    let folder = process::root().join("target").join("instructions");
    let emptied = match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(&folder),
    };
    emptied.map_err(|error| Failure::new(format!("cannot empty {}: {error}", folder.display())))?;
    let out = folder.join("callgrind.out");
    let mut command = process::command("valgrind");
    command
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(format!("--zero-before={REGION}"))
        .arg(format!("--dump-after={REGION}"))
        .arg(program);
    let named = process::capture_stdout(&mut command)?;
    let totals = (1..).map_while(|part| totals(&folder, part)).collect::<Outcome<Vec<_>>>()?;
    figures(&named, &totals)
}

/// The executable in cargo's messages.
fn executable(messages: &str) -> Option<PathBuf> {
    let found = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    found.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back()
}

/// The total of one part that callgrind wrote; `None` after the last.
fn totals(folder: &Path, part: u32) -> Option<Outcome<u64>> {
    let path = folder.join(format!("callgrind.out.{part}"));
    let text = std::fs::read_to_string(&path).ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    Some(total.ok_or_else(|| Failure::new(format!("callgrind wrote no total into {}", path.display()))))
}

/// Two counted regions a unit: the difference of totals over the difference of counts.
fn figures(named: &str, totals: &[u64]) -> Outcome<Vec<(String, u64)>> {
    let broken = |what: String| Err(Failure::new(format!("{PACKAGE} and callgrind disagree: {what}")));
    let regions: Vec<(&str, u64)> = named
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(unit, count)| Some((unit, count.parse().ok()?)))
        .collect();
    if regions.is_empty() || regions.len() != totals.len() {
        return broken(format!("{} regions were named, {} counted", regions.len(), totals.len()));
    }
    let mut units = Vec::new();
    for (regions, totals) in regions.chunks(2).zip(totals.chunks(2)) {
        match (regions, totals) {
            (&[(unit, small), (again, large)], &[less, more])
                if unit == again && small < large && less < more =>
            {
                let each = (more - less) as f64 / (large - small) as f64;
                units.push((unit.to_owned(), each.round() as u64));
            }
            _ => return broken(format!("regions {regions:?} took {totals:?} instructions")),
        }
    }
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rustc: &str, units: &[(&str, u64)]) -> Figures {
        let units = units.iter().map(|(unit, count)| ((*unit).to_owned(), *count)).collect();
        Figures { rustc: rustc.to_owned(), units }
    }

    #[test]
    fn a_figure_is_the_difference_of_two_sizes() {
        let units = figures("draw\t1000\ndraw\t2000\npass\t5\npass\t10\n", &[82_063, 159_063, 50, 63]);
        let expected = vec![("draw".to_owned(), 77), ("pass".to_owned(), 3)];
        assert!(units.is_ok_and(|units| units == expected));
    }

    #[test]
    fn regions_that_do_not_match_are_refused() {
        let refused = |named: &str, totals: &[u64]| match figures(named, totals) {
            Err(Failure::Message(line)) => {
                assert!(line.contains("disagree") && !line.contains('\n'), "{line}")
            }
            other => panic!("{named} was accepted: {other:?}"),
        };
        refused("", &[]);
        refused("draw\t1\ndraw\t2\n", &[5]);
        refused("draw\t1\npass\t2\n", &[5, 6]);
        refused("draw\t2\ndraw\t2\n", &[5, 6]);
        refused("draw\t1\ndraw\t2\n", &[5, 5]);
        refused("draw\t1\ndraw\t2\npass\t1\n", &[5, 6, 7]);
    }

    #[test]
    fn growth_above_the_bound_fails_and_names_all() {
        let committed = of("1", &[("draw", 100), ("pass", 1000)]);
        assert!(compare(&committed, &of("1", &[("draw", 105), ("pass", 1050)])).broken.is_empty());
        let compared = compare(&committed, &of("1", &[("draw", 106), ("pass", 1000)]));
        assert_eq!(compared.broken, ["\"draw\" grew by 6.0 %, from 100 instructions to 106 (at most 5 %)"]);
        assert!(compared.notes.is_empty());
    }

    #[test]
    fn shrinking_asks_to_bless_and_does_not_fail() {
        let compared = compare(&of("1", &[("draw", 100)]), &of("1", &[("draw", 94)]));
        assert!(compared.broken.is_empty());
        assert!(compared.notes.len() == 1 && compared.notes[0].contains("\"draw\""), "{:?}", compared.notes);
    }

    #[test]
    fn units_come_and_go_only_with_a_blessing() {
        let compared = compare(&of("1", &[("draw", 100)]), &of("1", &[("pass", 7)]));
        assert_eq!(compared.broken.len(), 2, "{:?}", compared.broken);
    }

    #[test]
    fn another_compiler_is_named_and_has_a_wider_bound() {
        let committed = of("1.95.0", &[("draw", 100)]);
        let compared = compare(&committed, &of("1.96.0", &[("draw", 112)]));
        assert!(compared.broken.is_empty());
        assert!(compared.notes[0].contains("1.95.0") && compared.notes[0].contains("1.96.0"));
        assert_eq!(compare(&committed, &of("1.96.0", &[("draw", 116)])).broken.len(), 1);
    }

    #[test]
    fn the_file_reads_back_as_it_was_written() {
        let figures = of("1.95.0 (5980 2026-04-14)", &[("draw, \"own\"", 77), ("pass", 4070)]);
        assert_eq!(Figures::parse(&figures.text()), Some(figures));
        assert_eq!(Figures::parse("{}"), None);
    }
}
