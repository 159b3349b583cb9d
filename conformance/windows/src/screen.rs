//! The screen as the X server has it: what a person would see.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat};
use x11rb::rust_connection::RustConnection;

use crate::Outcome;
use crate::picture::{Rgb, compare};

/// A connection of its own, beside the window's.
pub struct Screen {
    connection: RustConnection,
    window: u32,
}

impl Screen {
    pub fn new(window: u32) -> Outcome<Self> {
        let (connection, _) = x11rb::connect(None)?;
        if connection.setup().image_byte_order != x11rb::protocol::xproto::ImageOrder::LSB_FIRST {
            return Err("only servers with the low byte first are read".into());
        }
        Ok(Self { connection, window })
    }

    /// The size of the window's content, as the server has it.
    pub fn size(&self) -> Outcome<(u32, u32)> {
        let geometry = self.connection.get_geometry(self.window)?.reply()?;
        Ok((geometry.width.into(), geometry.height.into()))
    }

    /// The window's pixels.
    pub fn pixels(&self, (width, height): (u32, u32)) -> Outcome<Vec<Rgb>> {
        let image = self.connection.get_image(
            ImageFormat::Z_PIXMAP,
            self.window,
            0,
            0,
            width as u16,
            height as u16,
            u32::MAX,
        )?;
        let data = image.reply()?.data;
        let pixels: Vec<Rgb> = data.chunks_exact(4).map(|texel| [texel[2], texel[1], texel[0]]).collect();
        if pixels.len() as u32 != width * height {
            return Err(format!("the server answers {} pixels of {width}x{height}", pixels.len()).into());
        }
        Ok(pixels)
    }

    /// Waits until the window shows the picture.
    pub fn shows(&self, extent: (u32, u32), tint: u32) -> Outcome {
        let begun = Instant::now();
        loop {
            let pixels = self.pixels(extent)?;
            let compared = compare(extent, tint, |x, y| pixels[(y * extent.0 + x) as usize]);
            match compared {
                Ok(()) => return Ok(()),
                Err(difference) if begun.elapsed() > Duration::from_secs(5) => {
                    return Err(format!("the screen: {difference}").into());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}
