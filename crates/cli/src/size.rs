//! A picture's size, and how a command line writes it.

use std::str::FromStr;

/// The largest width or height that is accepted; an adapter may allow less.
const MAX_SIDE: u32 = 16384;

/// A picture's size in pixels; both sides are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// Width over height.
    pub fn aspect(self) -> f32 {
        self.width as f32 / self.height as f32
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (width, height) =
            text.split_once(['x', 'X']).ok_or("expected WIDTHxHEIGHT in pixels, such as 1280x720")?;
        let side = |name: &str, text: &str| -> Result<u32, String> {
            if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
                return Err(format!("the {name} '{text}' is not a whole number"));
            }
            match text.parse::<u32>() {
                Ok(0) => Err(format!("the {name} is zero")),
                Ok(side) if side <= MAX_SIDE => Ok(side),
                _ => Err(format!("the {name} {text} is beyond the limit of {MAX_SIDE}")),
            }
        };
        Ok(Self { width: side("width", width)?, height: side("height", height)? })
    }
}
