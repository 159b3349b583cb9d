//! The format table of a device, as Markdown.

use std::fmt::Write;

use purlin::choose::Program;
use purlin::rhi::backend::Backend;
use purlin::rhi::{Device, FormatCapabilities, FormatShape, FormatUses};

/// Prints the table and nothing else.
pub(crate) struct Formats;

impl Program for Formats {
    type Output = String;

    fn run<B: Backend>(self, device: Device<B>) -> String {
        let adapter = device.adapter();
        let features = device.capabilities().features.names();
        let mut out = format!("# Formats of {}\n\n", adapter.name);
        let _ = writeln!(
            out,
            "{} {}, {}. Enabled: {features}.\n",
            adapter.backend, adapter.api_version, adapter.driver
        );
        out + &table(&device.format_table())
    }
}

const COLUMNS: [(&str, FormatUses); 6] = [
    ("sampled", FormatUses::SAMPLED),
    ("filterable", FormatUses::FILTERABLE),
    ("color", FormatUses::COLOR),
    ("blendable", FormatUses::BLENDABLE),
    ("depth-stencil", FormatUses::DEPTH_STENCIL),
    ("resolve", FormatUses::MULTISAMPLE_RESOLVE),
];

/// A row for each format: a mark for each use, and the most of each dimension.
fn table(rows: &[FormatCapabilities]) -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut out = format!("| format | {} | storage | copy | samples | 2D | 3D |\n", names.join(" | "));
    out += &"|---".repeat(COLUMNS.len() + 6);
    out += "|\n";
    for row in rows {
        let marks = COLUMNS.map(|(_, of)| if row.uses.contains(of) { "✓" } else { "" });
        let among = |names: &[(&'static str, FormatUses)]| {
            let has = names.iter().filter(|(_, of)| row.uses.contains(*of));
            has.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
        };
        let storage = among(&[
            ("r", FormatUses::STORAGE_READ_ONLY),
            ("w", FormatUses::STORAGE_WRITE_ONLY),
            ("rw", FormatUses::STORAGE_READ_WRITE),
        ]);
        let copy = among(&[("from", FormatUses::COPY_SRC), ("to", FormatUses::COPY_DST)]);
        let samples = among(&[
            ("2", FormatUses::MULTISAMPLE_X2),
            ("4", FormatUses::MULTISAMPLE_X4),
            ("8", FormatUses::MULTISAMPLE_X8),
            ("16", FormatUses::MULTISAMPLE_X16),
        ]);
        let flat = row.d2.map_or(String::new(), |FormatShape { extent, mips, layers }| {
            format!("{}x{}, {mips} mips, {layers} layers", extent.width, extent.height)
        });
        let deep = row.d3.map_or(String::new(), |FormatShape { extent, mips, .. }| {
            format!("{}x{}x{}, {mips} mips", extent.width, extent.height, extent.depth_or_array_layers)
        });
        let format = &row.format;
        let marks = marks.join(" | ");
        let _ = writeln!(out, "| {format:?} | {marks} | {storage} | {copy} | {samples} | {flat} | {deep} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin::rhi::{Features, null::Null, types::TextureFormat};

    #[test]
    fn a_row_says_all_of_a_format() {
        let request = purlin::DeviceRequest { preferred_features: Features::all(), ..Default::default() };
        let device = pollster::block_on(Device::<Null>::request(&request)).unwrap();
        let text = table(&device.format_table());
        let mut lines = text.lines();
        let columns = |line: &str| line.matches('|').count();
        let header = lines.next().unwrap();
        assert!(lines.all(|line| columns(line) == columns(header)), "{text}");
        let row = table(&[device.format_capabilities(TextureFormat::R32Uint)]);
        let expected = "| R32Uint | ✓ |  | ✓ |  |  |  | r w rw | from to |  | 16384x16384, 15 mips, 2048 layers | 2048x2048x2048, 12 mips |";
        assert_eq!(row.lines().last(), Some(expected));
        assert!(text.contains("| Bc7RgbaUnorm | ✓ | ✓ |") && !text.contains("NV12"));
    }
}
