//! Carries out what a completed submission recorded.
//!
//! Only movement of bytes is carried out: copies, clears, layout changes, timestamps. Draws and dispatches change
//! nothing, but queries count them, and the layouts that they would find are checked. Contents that the native API would leave undefined
//! (a transition from `Undefined`, attachments not loaded or not stored) become [`POISON`].

use std::collections::VecDeque;
use std::ops::Range;

use arrayvec::ArrayVec;

use super::log::{NullCommand, NullRenderPass, NullState};
use super::memory::{Memory, POISON, Part, block_bytes, bytes, get, get_mut};
use crate::backend::{
    ClearValue, NativeAspect, NativeBufferTextureCopy, NativeLoad, NativeTextureCopy, StoreOp,
};
use crate::plan::{Aspects, Layout, TextureBarrier, TextureRange};
use crate::types::{TextureDimension, TextureFormat};

/// The GPU's clock in ticks, and by how much each timestamp moves it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub now: u64,
    pub step: u64,
}

/// Runs the commands of one encoder on memory.
pub(super) struct Executor<'a> {
    pub memory: &'a mut Memory,
    pub clock: &'a mut Clock,
    /// Timestamps that come before those of the clock.
    pub scripted: &'a mut VecDeque<Option<u64>>,
    /// Which bits of a timestamp count.
    pub timestamp_mask: u64,
    /// Whether layouts are checked.
    pub check: bool,
    /// The ordinal, for messages.
    pub ordinal: u64,
    pub label: &'a str,
}

impl Executor<'_> {
    pub fn run(&mut self, commands: &[NullCommand]) {
        let mut pass = None;
        let mut open = ArrayVec::<(u32, u32), 2>::new();
        for command in commands {
            match command {
                NullCommand::Barriers { textures, .. } => textures.iter().for_each(|b| self.transition(b)),
                NullCommand::BeginRenderPass(begun) => {
                    self.begin(begun);
                    pass = Some(begun);
                }
                NullCommand::EndRenderPass => pass.take().into_iter().for_each(|begun| self.end(begun)),
                NullCommand::Draw { changed, .. } | NullCommand::Dispatch { changed, .. } => {
                    self.groups(changed);
                    for &(set, index) in &open {
                        self.query(set, index, |count| count.map(|count| count + 1));
                    }
                }
                &NullCommand::CopyBuffer { src, src_offset, dst, dst_offset, size } => {
                    let read = get(&self.memory.buffers, src).and_then(|b| b.get(bytes(src_offset, size)));
                    let data = read.unwrap_or_default().to_vec();
                    let write = get_mut(&mut self.memory.buffers, dst);
                    if let Some(write) = write.and_then(|b| b.get_mut(bytes(dst_offset, data.len() as u64))) {
                        write.copy_from_slice(&data);
                    }
                }
                &NullCommand::ClearBuffer { buffer, offset, size } => {
                    let write = get_mut(&mut self.memory.buffers, buffer);
                    if let Some(write) = write.and_then(|b| b.get_mut(bytes(offset, size))) {
                        write.fill(0);
                    }
                }
                NullCommand::CopyBufferToTexture(copy) => self.buffer_to_texture(copy),
                NullCommand::CopyTextureToBuffer(copy) => self.texture_to_buffer(copy),
                NullCommand::CopyTexture(copy) => self.texture_to_texture(copy),
                &NullCommand::WriteTimestamp { query_set, index } => {
                    let now = self.scripted.pop_front().unwrap_or_else(|| {
                        self.clock.now += self.clock.step;
                        Some(self.clock.now)
                    });
                    let now = now.map(|now| now & self.timestamp_mask);
                    self.query(query_set, index, |_| now);
                }
                &NullCommand::ResetQueries { query_set, first, count } => {
                    (first..first + count).for_each(|index| self.query(query_set, index, |_| None));
                }
                &NullCommand::BeginQuery { query_set, index, .. } => {
                    self.query(query_set, index, |value| {
                        assert!(value.is_none(), "null backend: begin_query: query {index} was not reset");
                        Some(0)
                    });
                    open.push((query_set, index));
                }
                &NullCommand::EndQuery { query_set, index, .. } => {
                    open.retain(|query| *query != (query_set, index));
                }
                &NullCommand::CopyQueries { query_set, first, count, buffer, offset } => {
                    self.copy_queries(query_set, first..first + count, buffer, offset);
                }
                NullCommand::PushLabel(_)
                | NullCommand::PopLabel
                | NullCommand::Section(_)
                | NullCommand::BeginComputePass(_)
                | NullCommand::EndComputePass => {}
            }
        }
    }

    /// Changes every word of a query.
    fn query(&mut self, set: u32, index: u32, to: impl Fn(Option<u64>) -> Option<u64>) {
        if let Some(set) = get_mut(&mut self.memory.queries, set) {
            set.of(index, 1).iter_mut().for_each(|word| *word = to(*word));
        }
    }

    fn copy_queries(&mut self, set: u32, queries: Range<u32>, buffer: u32, offset: u64) {
        let Some(set) = get_mut(&mut self.memory.queries, set) else { return };
        let Some(buffer) = get_mut(&mut self.memory.buffers, buffer) else { return };
        let words = set.of(queries.start, queries.end - queries.start);
        let Some(to) = buffer.get_mut(bytes(offset, 8 * words.len() as u64)) else { return };
        for (word, to) in words.iter().zip(to.chunks_exact_mut(8)) {
            // A GPU waits here for ever.
            let Some(word) = word else {
                panic!("null backend: copy_queries: one of {queries:?} has no value")
            };
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn transition(&mut self, barrier: &TextureBarrier) {
        if barrier.old != Layout::Undefined {
            self.expect("barriers", barrier.texture, barrier.range, &[barrier.old]);
        }
        let Some(texture) = get_mut(&mut self.memory.textures, barrier.texture) else { return };
        texture.each_image(barrier.range, |_, _, _, image| {
            image.layout = barrier.new;
            if barrier.old == Layout::Undefined {
                image.bytes.fill(POISON);
            }
        });
    }

    /// Panics unless the range is in one of these layouts.
    fn expect(&mut self, call: &str, texture: u32, range: TextureRange, layouts: &[Layout]) {
        let (check, ordinal, label) = (self.check, self.ordinal, self.label);
        let Some(memory) = get_mut(&mut self.memory.textures, texture).filter(|_| check) else { return };
        memory.each_image(range, |aspect, mip, layer, image| {
            assert!(
                layouts.contains(&image.layout),
                "null backend: {call}: texture slot {texture}, {aspect:?} of mip {mip}, layer {layer} is in layout \
                 {:?}, expected {layouts:?} (submission {ordinal}, encoder \"{label}\")",
                image.layout,
            );
        });
    }

    fn expect_view(&mut self, call: &str, view: u32, aspects: Aspects, layouts: &[Layout]) {
        if let Some(&view) = get(&self.memory.views, view) {
            let range = TextureRange { aspects: view.range.aspects & aspects, ..view.range };
            self.expect(call, view.texture, range, layouts);
        }
    }

    fn groups(&mut self, changed: &NullState) {
        for group in &changed.groups {
            let views = get(&self.memory.groups, group.slot).cloned().unwrap_or_default();
            for (view, layout) in views {
                self.expect_view("bound group", view, Aspects::all(), &[layout]);
            }
        }
    }

    fn fill_view(&mut self, view: u32, aspects: Aspects, pattern: impl FnOnce(TextureFormat) -> Texel) {
        let Some(&view) = get(&self.memory.views, view) else { return };
        let range = TextureRange { aspects: view.range.aspects & aspects, ..view.range };
        let texture = get_mut(&mut self.memory.textures, view.texture);
        // Which slices of a volume are attached the range cannot say; they keep what they have.
        if let Some(texture) = texture.filter(|texture| texture.dimension != TextureDimension::D3) {
            texture.fill(range, &pattern(view.format));
        }
    }

    fn begin(&mut self, pass: &NullRenderPass) {
        const CALL: &str = "begin_render_pass";
        for color in pass.colors.iter().flatten() {
            self.expect_view(CALL, color.view, Aspects::all(), &[Layout::ColorAttachment]);
            if let Some(target) = color.resolve {
                self.expect_view(CALL, target, Aspects::all(), &[Layout::ColorAttachment]);
            }
            match color.load {
                NativeLoad::Load => {}
                NativeLoad::Clear(value) => self.fill_view(color.view, Aspects::COLOR, |f| texel(f, value)),
                NativeLoad::DontCare => self.fill_view(color.view, Aspects::COLOR, |_| poison()),
            }
        }
        let Some(target) = pass.depth_stencil else { return };
        if let Some(depth) = target.depth {
            self.begin_aspect(target.view, Aspects::DEPTH, depth, depth_texel);
        }
        if let Some(stencil) = target.stencil {
            self.begin_aspect(target.view, Aspects::STENCIL, stencil, |_, value| {
                Texel::from_iter([value as u8])
            });
        }
    }

    fn begin_aspect<T>(
        &mut self,
        view: u32,
        aspect: Aspects,
        state: NativeAspect<T>,
        encode: impl FnOnce(TextureFormat, T) -> Texel,
    ) {
        let both = [Layout::DepthStencilAttachment, Layout::DepthStencilReadOnly];
        let layouts = if state.read_only { &both[..] } else { &both[..1] };
        self.expect_view("begin_render_pass", view, aspect, layouts);
        match state.load {
            NativeLoad::Load => {}
            _ if state.read_only => {}
            NativeLoad::Clear(value) => self.fill_view(view, aspect, |format| encode(format, value)),
            NativeLoad::DontCare => self.fill_view(view, aspect, |_| poison()),
        }
    }

    fn end(&mut self, pass: &NullRenderPass) {
        for color in pass.colors.iter().flatten() {
            if let Some(target) = color.resolve {
                self.resolve(color.view, target);
            }
            if color.store == StoreOp::Discard {
                self.fill_view(color.view, Aspects::COLOR, |_| poison());
            }
        }
        let Some(target) = pass.depth_stencil else { return };
        let discards = |store, read_only: bool| store == StoreOp::Discard && !read_only;
        if target.depth.is_some_and(|a| discards(a.store, a.read_only)) {
            self.fill_view(target.view, Aspects::DEPTH, |_| poison());
        }
        if target.stencil.is_some_and(|a| discards(a.store, a.read_only)) {
            self.fill_view(target.view, Aspects::STENCIL, |_| poison());
        }
    }

    /// Nothing is drawn here, so all samples of a texel are equal, and their average is any of them.
    fn resolve(&mut self, from: u32, to: u32) {
        let (Some(&from), Some(&to)) = (get(&self.memory.views, from), get(&self.memory.views, to)) else {
            return;
        };
        let texel = block_bytes(from.format, Aspects::COLOR) as usize;
        let mut samples = Vec::new();
        let Some(texture) = get_mut(&mut self.memory.textures, from.texture) else { return };
        texture.each_image(from.range, |_, _, _, image| samples.extend_from_slice(&image.bytes));
        let Some(texture) = get_mut(&mut self.memory.textures, to.texture) else { return };
        texture.each_image(to.range, |_, _, _, image| {
            let texels = image.bytes.len() / texel.max(1);
            let count = (samples.len() / texel.max(1)).checked_div(texels).unwrap_or(1).max(1);
            let first = samples.chunks_exact(texel * count).filter_map(|all| all.get(..texel));
            for (to, from) in image.bytes.chunks_exact_mut(texel).zip(first) {
                to.copy_from_slice(from);
            }
        });
    }

    fn buffer_to_texture(&mut self, copy: &NativeBufferTextureCopy) {
        let part = part_of(copy);
        self.expect("copy_buffer_to_texture", copy.texture, part.range(), &[Layout::CopyDst]);
        let Some(buffer) = get(&self.memory.buffers, copy.buffer) else { return };
        let Some(texture) = get_mut(&mut self.memory.textures, copy.texture) else { return };
        texture.each_row(&part, |layer, row, texels| {
            if let Some(data) = buffer.get(bytes(row_offset(copy, layer, row), texels.len() as u64)) {
                texels.copy_from_slice(data);
            }
        });
    }

    fn texture_to_buffer(&mut self, copy: &NativeBufferTextureCopy) {
        let part = part_of(copy);
        self.expect("copy_texture_to_buffer", copy.texture, part.range(), &[Layout::CopySrc]);
        let Some(buffer) = get_mut(&mut self.memory.buffers, copy.buffer) else { return };
        let Some(texture) = get_mut(&mut self.memory.textures, copy.texture) else { return };
        texture.each_row(&part, |layer, row, texels| {
            if let Some(data) = buffer.get_mut(bytes(row_offset(copy, layer, row), texels.len() as u64)) {
                data.copy_from_slice(texels);
            }
        });
    }

    fn texture_to_texture(&mut self, copy: &NativeTextureCopy) {
        let [src, dst] = parts_of(copy);
        self.expect("copy_texture", copy.src.0, src.range(), &[Layout::CopySrc]);
        self.expect("copy_texture", copy.dst.0, dst.range(), &[Layout::CopyDst]);
        // Through a copy, for both may be one texture. Rows come in the same order on both sides.
        let mut rows = Vec::new();
        let Some(texture) = get_mut(&mut self.memory.textures, copy.src.0) else { return };
        texture.each_row(&src, |_, _, texels| rows.extend_from_slice(texels));
        let mut rest = &rows[..];
        let Some(texture) = get_mut(&mut self.memory.textures, copy.dst.0) else { return };
        texture.each_row(&dst, |_, _, texels| {
            if let Some((data, after)) = rest.split_at_checked(texels.len()) {
                texels.copy_from_slice(data);
                rest = after;
            }
        });
    }
}

/// The texels of a copy.
pub(super) fn part_of(copy: &NativeBufferTextureCopy) -> Part {
    Part {
        aspects: Aspects::of(copy.format, copy.aspect),
        mip: copy.mip,
        origin: copy.origin,
        extent: copy.extent,
        volume: copy.volume,
    }
}

/// The texels of a copy's source and destination.
pub(super) fn parts_of(copy: &NativeTextureCopy) -> [Part; 2] {
    let aspects = Aspects::of(copy.format, copy.aspect);
    let part = |(_, mip, origin), volume| Part { aspects, mip, origin, extent: copy.extent, volume };
    [part(copy.src, copy.volume.0), part(copy.dst, copy.volume.1)]
}

/// Where a row of blocks begins in the buffer.
pub(super) fn row_offset(copy: &NativeBufferTextureCopy, layer: u64, row: u64) -> u64 {
    copy.offset + (layer * u64::from(copy.rows_per_image) + row) * u64::from(copy.bytes_per_row)
}

/// One encoded texel.
type Texel = ArrayVec<u8, 16>;

fn poison() -> Texel {
    Texel::from_iter([POISON])
}

/// A clear value in the format's bytes; poison for formats whose encoding takes more than a cast.
fn texel(format: TextureFormat, value: ClearValue) -> Texel {
    use TextureFormat as F;
    let components = usize::from(format.components());
    let bits: [u32; 4] = match value {
        ClearValue::Uint(value) => value,
        ClearValue::Sint(value) => value.map(|v| v as u32),
        ClearValue::Float(value) => match format {
            F::R32Float | F::Rg32Float | F::Rgba32Float => value.map(f32::to_bits),
            F::R8Unorm | F::Rg8Unorm | F::Rgba8Unorm => value.map(unorm8),
            F::Bgra8Unorm => [value[2], value[1], value[0], value[3]].map(unorm8),
            _ => return poison(),
        },
    };
    let whole = format.block_copy_size(None).map_or(0, |size| size as usize);
    let width = whole.checked_div(components).unwrap_or(0);
    if width == 0 || width > 4 || format == F::Rgb10a2Uint {
        return poison();
    }
    bits.iter().take(components).flat_map(|bits| bits.to_le_bytes().into_iter().take(width)).collect()
}

fn unorm8(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u32
}

fn depth_texel(format: TextureFormat, value: f32) -> Texel {
    match format {
        TextureFormat::Depth16Unorm => {
            Texel::from_iter(((value.clamp(0.0, 1.0) * 65535.0).round() as u16).to_le_bytes())
        }
        TextureFormat::Depth32Float | TextureFormat::Depth32FloatStencil8 => {
            Texel::from_iter(value.to_le_bytes())
        }
        _ => poison(),
    }
}
