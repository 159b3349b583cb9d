//! Static data to the GPU, in pieces that the upload ring can hold.

use std::time::Duration;

use purlin::rhi::backend::Backend;
use purlin::rhi::types::{BufferUsages, Extent3d, Origin3d};
use purlin::rhi::{
    BufferDesc, Device, Error, Owned, TexelLayout, TextureDesc, TexturePlace, UploadTicket, kind,
};

use crate::error::DemoError;
use crate::scene::MipLevel;

/// The most bytes of one write: small against the ring, so that copying on the CPU and on the GPU overlap.
const PIECE: u64 = 8 << 20;
/// How long a full ring may take to drain before the GPU counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates resources with uploaded contents and fills them.
pub(super) struct Uploader<'u, B: Backend> {
    device: &'u mut Device<B>,
    /// Told the bytes of each write.
    written: &'u mut dyn FnMut(u64),
}

impl<'u, B: Backend> Uploader<'u, B> {
    pub fn new(device: &'u mut Device<B>, written: &'u mut dyn FnMut(u64)) -> Self {
        Self { device, written }
    }

    pub fn device(&mut self) -> &mut Device<B> {
        self.device
    }

    /// A buffer with these bytes.
    pub fn buffer(
        &mut self,
        label: &str,
        usage: BufferUsages,
        bytes: &[u8],
    ) -> Result<Owned<kind::Buffer>, DemoError> {
        let buffer = self.device.create_buffer(&BufferDesc::uploaded(label, bytes.len() as u64, usage))?;
        let piece = self.piece();
        for (index, bytes) in bytes.chunks(piece).enumerate() {
            let offset = (index * piece) as u64;
            self.write(bytes, |device| device.write_buffer(*buffer, offset, bytes))?;
        }
        Ok(buffer)
    }

    /// A texture with these mips, rows tightly packed. Its format has blocks of one texel.
    pub fn texture<'m>(
        &mut self,
        desc: &TextureDesc<'_>,
        mips: impl IntoIterator<Item = &'m MipLevel>,
    ) -> Result<Owned<kind::Texture>, DemoError> {
        let texture = self.device.create_texture(desc)?;
        for (mip, level) in (0..).zip(mips) {
            let row_bytes = level.data.len() / level.height as usize;
            let rows = (self.piece() / row_bytes).max(1);
            for (band, bytes) in level.data.chunks(rows * row_bytes).enumerate() {
                let place = TexturePlace {
                    origin: Origin3d { y: (band * rows) as u32, ..Origin3d::ZERO },
                    ..TexturePlace::mip(*texture, mip)
                };
                let height = (bytes.len() / row_bytes) as u32;
                let extent = Extent3d { width: level.width, height, depth_or_array_layers: 1 };
                let layout =
                    TexelLayout { offset: 0, bytes_per_row: row_bytes as u32, rows_per_image: height };
                self.write(bytes, |device| device.write_texture(&place, extent, &layout, bytes))?;
            }
        }
        Ok(texture)
    }

    fn piece(&self) -> usize {
        PIECE.min(self.device.uploads().capacity() / 4).max(4).next_multiple_of(4) as usize
    }

    /// Writes once there is room in the ring: when it is full, what waits in it is sent off and awaited.
    fn write(
        &mut self,
        bytes: &[u8],
        mut write: impl FnMut(&mut Device<B>) -> Result<UploadTicket, Error>,
    ) -> Result<(), DemoError> {
        loop {
            match write(self.device) {
                Err(Error::Pending { .. }) if self.device.uploads().in_use() > 0 => {
                    let token = self.device.flush_uploads()?;
                    if !self.device.wait(token, PATIENCE)? {
                        return Err(DemoError::Rhi(format!(
                            "no upload finished in {} s",
                            PATIENCE.as_secs()
                        )));
                    }
                }
                Err(error) => return Err(error.into()),
                Ok(_) => {
                    (self.written)(bytes.len() as u64);
                    return Ok(());
                }
            }
        }
    }
}
