//! Pictures of eight bits a channel: compared texel by texel, and kept for people on request.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Checked, wrong};

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Keeps the pictures of diagnostic scenes in this folder from now on.
pub(crate) fn keep_pictures_in(folder: &Path) {
    let _ = FOLDER.set(folder.to_path_buf());
}

/// Red, green, blue and alpha, row 0 first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Texels in a row.
    pub width: u32,
    /// The texels.
    pub texels: Vec<[u8; 4]>,
}

impl Image {
    /// Tight rows of RGBA bytes.
    pub fn from_bytes(width: u32, bytes: &[u8]) -> Self {
        let texels = bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect();
        Self { width, texels }
    }

    /// Texels in a column.
    pub fn height(&self) -> u32 {
        self.texels.len() as u32 / self.width.max(1)
    }

    /// The texel at a column and row.
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        self.texels[(y * self.width + x) as usize]
    }

    /// How many texels are of this color.
    pub fn count(&self, color: [u8; 4]) -> usize {
        self.texels.iter().filter(|texel| **texel == color).count()
    }

    /// Every texel is within `tolerance` of the expected one, channel by channel.
    pub fn expect(
        &self,
        what: impl Display,
        tolerance: u8,
        expected: impl Fn(u32, u32) -> [u8; 4],
    ) -> Checked {
        let mut far = 0;
        let mut first = None;
        for (index, found) in self.texels.iter().enumerate() {
            let (x, y) = (index as u32 % self.width, index as u32 / self.width);
            let wanted = expected(x, y);
            if found.iter().zip(wanted).any(|(a, b)| a.abs_diff(b) > tolerance) {
                far += 1;
                first.get_or_insert((x, y, wanted, *found));
            }
        }
        match first {
            None => Ok(()),
            Some((x, y, wanted, found)) => {
                let what = format!("{what}: {far} of {} texels differ, first {x},{y}", self.texels.len());
                Err(wrong(what, format!("{wanted:?} within {tolerance}"), format!("{found:?}")))
            }
        }
    }
}

/// Writes a picture where pictures are kept, enlarged so that people can see texels.
pub(crate) fn keep_picture(backend: &str, name: &str, image: &Image) -> Checked {
    let Some(folder) = FOLDER.get() else { return Ok(()) };
    let zoom = (256 / image.width.max(1)).max(1);
    let large = image::RgbaImage::from_fn(image.width * zoom, image.height() * zoom, |x, y| {
        image::Rgba(image.at(x / zoom, y / zoom))
    });
    let path = folder.join(format!("{backend}-{name}.png"));
    let saved =
        std::fs::create_dir_all(folder).map_err(image::ImageError::IoError).and_then(|()| large.save(&path));
    saved.map_err(|error| wrong(format!("picture {name}"), "a file that can be written", error))
}
