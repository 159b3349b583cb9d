//! What a batch keeps: checked commands, each with what it changes, and how they come back.
//!
//! The pass that a batch is recorded with has compared and checked everything, and hands over draws with what is dirty, as
//! it would to an encoder. They are kept as flat packets. A replay puts each into the bind state of its pass, where what
//! the command buffer has already is found out by comparison, as for direct draws: so both come to the same native calls. (What
//! is set twice before it is used, direct draws may tell again; a batch kept only what was used.)

use crate::backend::{Backend, BindState, BoundBuffer, Dirty, Draw, Encoder, MAX_VERTEX_BUFFERS, NOT_BOUND};
use crate::record::bind::Point;
use crate::record::sink::DrawSink;
use crate::types::IndexFormat;

/// A command with everything resolved.
#[derive(Debug, Clone, Copy)]
enum Packet {
    Draw(Draw),
    Pipeline {
        pipeline: u32,
        layout: u32,
    },
    /// The dynamic offsets begin at `first` in the stream's list; most groups that have any have one.
    Group {
        index: u8,
        count: u8,
        first: u32,
        native: u64,
    },
    /// `bound` is a place in the stream's list.
    VertexBuffer {
        index: u32,
        bound: u32,
    },
    IndexBuffer {
        format: IndexFormat,
        bound: u32,
    },
    /// `size` bytes at `first` in the stream's list.
    Immediates {
        offset: u32,
        first: u32,
        size: u32,
    },
    PushLabel {
        first: u32,
        end: u32,
    },
    PopLabel,
}

/// Packets in order, and the lists that they point into.
#[derive(Debug, Default)]
pub(super) struct Stream {
    packets: Vec<Packet>,
    offsets: Vec<u32>,
    buffers: Vec<BoundBuffer>,
    bytes: Vec<u8>,
    labels: String,
    /// Draws and debug groups, those without room for their packets included.
    pub commands: u32,
    pub draws: u32,
}

impl Stream {
    /// Appends what another one has.
    pub fn append(&mut self, other: &Self) {
        let offsets = self.offsets.len() as u32;
        let buffers = self.buffers.len() as u32;
        let bytes = self.bytes.len() as u32;
        let labels = self.labels.len() as u32;
        self.packets.extend(other.packets.iter().map(|packet| {
            let mut packet = *packet;
            match &mut packet {
                Packet::Group { first, .. } => *first += offsets,
                Packet::VertexBuffer { bound, .. } | Packet::IndexBuffer { bound, .. } => *bound += buffers,
                Packet::Immediates { first, .. } => *first += bytes,
                Packet::PushLabel { first, end } => (*first, *end) = (*first + labels, *end + labels),
                _ => {}
            }
            packet
        }));
        self.offsets.extend_from_slice(&other.offsets);
        self.buffers.extend_from_slice(&other.buffers);
        self.bytes.extend_from_slice(&other.bytes);
        self.labels.push_str(&other.labels);
        self.commands += other.commands;
        self.draws += other.draws;
    }

    pub fn clear(&mut self) {
        self.packets.clear();
        self.offsets.clear();
        self.buffers.clear();
        self.bytes.clear();
        self.labels.clear();
        (self.commands, self.draws) = (0, 0);
    }

    /// Gives back the room that nothing will fill any more.
    pub fn shrink(&mut self) {
        self.packets.shrink_to_fit();
        self.offsets.shrink_to_fit();
        self.buffers.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    /// Issues the commands. `point` is what the command buffer has; nothing that the batch uses was set in it since.
    #[inline]
    pub fn replay<B: Backend>(&self, backend: &B, encoder: &mut B::Encoder, point: &mut Point) {
        for packet in &self.packets {
            match packet {
                Packet::Draw(draw) => {
                    let dirty = std::mem::take(&mut point.dirty);
                    encoder.draw(backend, dirty, &point.state, *draw);
                    point.state.dirty_vertex_buffers = 0;
                }
                Packet::Group { index, count, first, native } => {
                    let first = *first as usize;
                    let offsets = &self.offsets[first..first + usize::from(*count)];
                    point.put_group(u32::from(*index), *native, offsets);
                }
                Packet::VertexBuffer { index, bound } => {
                    point.put_vertex_buffer(*index, self.buffers[*bound as usize]);
                }
                Packet::IndexBuffer { format, bound } => {
                    point.put_index_buffer(self.buffers[*bound as usize], *format);
                }
                Packet::Pipeline { pipeline, layout } => {
                    point.set(Dirty::PIPELINE, |state| &mut state.pipeline, *pipeline);
                    if point.state.layout != *layout {
                        // Another layout may disturb what is bound; the batch binds all of it again.
                        point.state.layout = *layout;
                        point.state.groups.iter_mut().for_each(|group| group.native = NOT_BOUND);
                    }
                }
                Packet::Immediates { offset, first, size } => {
                    let bytes = &self.bytes[*first as usize..(*first + *size) as usize];
                    point.put_immediates(*offset, bytes);
                }
                Packet::PushLabel { first, end } => {
                    encoder.push_label(backend, &self.labels[*first as usize..*end as usize]);
                }
                Packet::PopLabel => encoder.pop_label(backend),
            }
        }
    }
}

/// Keeps the commands of a pass instead of recording them.
#[derive(Debug)]
pub struct Capture<'p> {
    pub(super) stream: &'p mut Stream,
    /// The most commands that may be kept. More are counted, and refused when the recording ends.
    pub(super) room: u32,
}

impl Capture<'_> {
    /// Counts a command; whether it has room.
    fn count(&mut self) -> bool {
        self.stream.commands = self.stream.commands.saturating_add(1);
        self.stream.commands <= self.room
    }

    fn keep_changes(&mut self, dirty: Dirty, state: &BindState) {
        let Stream { packets, offsets, buffers, bytes, .. } = &mut *self.stream;
        if dirty.contains(Dirty::PIPELINE) {
            packets.push(Packet::Pipeline { pipeline: state.pipeline, layout: state.layout });
        }
        for (index, group) in (0..).zip(&state.groups) {
            if dirty.contains(Dirty::group(index)) {
                let (index, count) = (index as u8, group.offset_count as u8);
                packets.push(Packet::Group {
                    index,
                    count,
                    first: offsets.len() as u32,
                    native: group.native,
                });
                offsets.extend_from_slice(&group.offsets[..group.offset_count as usize]);
            }
        }
        for index in (0..MAX_VERTEX_BUFFERS).filter(|index| state.dirty_vertex_buffers >> index & 1 != 0) {
            packets.push(Packet::VertexBuffer { index: index as u32, bound: buffers.len() as u32 });
            buffers.push(state.vertex_buffers.get(index));
        }
        if dirty.contains(Dirty::INDEX_BUFFER) {
            packets.push(Packet::IndexBuffer { format: state.index_format, bound: buffers.len() as u32 });
            buffers.push(state.index_buffer);
        }
        if dirty.contains(Dirty::IMMEDIATES) {
            let (offset, end) = state.dirty_immediates;
            let (first, size) = (bytes.len() as u32, end - offset);
            packets.push(Packet::Immediates { offset, first, size });
            bytes.extend_from_slice(&state.immediates[offset as usize..end as usize]);
        }
    }
}

impl<B: Backend> DrawSink<B> for Capture<'_> {
    /// Whatever the replaying pass has, the first draw comes with all that it needs.
    fn keeps_state(&self) -> bool {
        false
    }

    fn draw(&mut self, _: &B, dirty: Dirty, state: &BindState, draw: Draw) {
        if self.count() {
            self.keep_changes(dirty, state);
            self.stream.packets.push(Packet::Draw(draw));
            self.stream.draws += 1;
        }
    }

    fn push_label(&mut self, _: &B, label: &str) {
        if self.count() {
            let first = self.stream.labels.len() as u32;
            self.stream.labels.push_str(label);
            self.stream.packets.push(Packet::PushLabel { first, end: self.stream.labels.len() as u32 });
        }
    }

    fn pop_label(&mut self, _: &B) {
        self.stream.packets.push(Packet::PopLabel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_half_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
