//! Recordings: copies, clears, readbacks, raster and compute passes; submitted, given up or refused.

use purlin_rhi::null::{Null, POISON};
use purlin_rhi::*;

use super::create::{mip_bytes, side};
use super::objects::{Object, Progress, Read, State, What, services};
use super::{Reason, Step, World, judged};
use crate::support::*;

/// A recording on both sides.
struct Recording<'w, 'd> {
    state: &'w mut State,
    recorder: Recorder<'d, Null>,
    storage: StorageCeilings,
    /// Reasons of the first mistake; everything after it is refused.
    mistake: Option<Reason>,
}

fn is_buffer(object: &Object) -> bool {
    matches!(object.what, What::Buffer(_))
}

fn is_texture(object: &Object) -> bool {
    matches!(object.what, What::Texture(_))
}

impl World {
    /// Begins a recording, runs steps until one ends it, and ends it.
    pub fn record(&mut self, rest: &mut impl Iterator<Item = Step>) {
        let storage = self.setup.storage();
        self.state.note_drops();
        let recorder = self.gpu.record("frame").unwrap();
        let contents = self.state.objects.iter().map(|object| object.contents.clone()).collect();
        self.state.apply_uploads();
        self.state.recording = true;
        let mut recording = Recording { state: &mut self.state, recorder, storage, mistake: None };
        let mut is_submitted = true;
        for step in rest {
            match step[0] % 16 {
                14 => break,
                15 => {
                    is_submitted = false;
                    break;
                }
                _ => recording.act(step),
            }
        }
        let Recording { recorder, mistake, .. } = recording;
        self.state.recording = false;
        let fails = std::mem::take(&mut self.state.fails_submission);
        if !is_submitted {
            drop(recorder);
            self.state.fails_submission = fails;
        } else {
            let reasons = match mistake {
                Some(reason) => vec![reason],
                None if fails => vec![Reason::Backend],
                None => vec![],
            };
            // A recording with a mistake does not reach the backend, whose failure then waits for the next one.
            self.state.fails_submission = fails && mistake.is_some();
            if let Some(token) = judged(recorder.submit(), &reasons) {
                self.state.accepted(token);
                return;
            }
        }
        self.state.given_up(contents);
    }

    /// Submits what was written.
    pub fn flush(&mut self) {
        if self.state.uploads.is_empty() {
            assert_eq!(self.gpu.flush_uploads().unwrap(), self.gpu.last_submission());
            return;
        }
        self.record(&mut std::iter::empty());
    }
}

impl Recording<'_, '_> {
    fn act(&mut self, step: Step) {
        match step[0] % 16 {
            0 | 1 => self.copy_buffer(step),
            2 => self.clear_buffer(step),
            3 => self.read_buffer(step),
            4 => self.read_texture(step),
            5 => self.copy_texture(step),
            6 => self.copy_rows(step, true),
            7 => self.copy_rows(step, false),
            8 | 9 => self.render(step),
            10 => self.compute(step),
            11 => self.copy_frame_data(step),
            12 => self.state.drop_owner(step[1]),
            _ => self.state.complete(step[1]),
        }
    }

    /// Compares an answer; whether the call was accepted.
    #[track_caller]
    fn judge<T>(&mut self, result: Result<T>, reasons: &[Reason]) -> Option<T> {
        if self.mistake.is_some() {
            assert!(result.is_err(), "accepted after a mistake");
            return None;
        }
        self.mistake = result.as_ref().err().map(Reason::of);
        judged(result, reasons)
    }

    /// A source, mostly one of which everything is defined.
    fn source(&self, n: u8, fits: fn(&Object) -> bool) -> Option<usize> {
        let is_defined = |object: &Object| object.contents.images.iter().all(|image| image.all_defined());
        let defined =
            self.state.pick(n, |object| fits(object) && (n.is_multiple_of(5) || is_defined(object)));
        defined.or_else(|| self.state.pick(n, fits))
    }

    fn object(&self, index: usize) -> &Object {
        &self.state.objects[index]
    }

    /// Bytes of a buffer in words: the offset and the size.
    fn words(&self, index: usize, a: u8, b: u8) -> (usize, usize) {
        let words = self.object(index).contents.images[0].bytes.len() / 4;
        let first = usize::from(a) % words;
        (first * 4, (1 + usize::from(b) % (words - first)) * 4)
    }

    /// Why an object cannot be used at all, and why it cannot be written by GPU work.
    fn reasons(&self, index: usize, is_written: bool) -> Vec<Reason> {
        let object = self.object(index);
        let mut reasons = Vec::new();
        if object.is_gone() {
            reasons.push(Reason::Handle);
        }
        if is_written && object.uploaded {
            reasons.push(Reason::Description);
        }
        reasons
    }

    fn copy_buffer(&mut self, step: Step) {
        let [_, a, b, c, d, e] = step;
        let (Some(src), Some(dst)) = (self.source(a, is_buffer), self.state.pick(b, is_buffer)) else {
            return;
        };
        let (from, size) = self.words(src, c, d);
        let (to, room) = self.words(dst, d, e);
        let size = size.min(room);
        let (What::Buffer(source), What::Buffer(target)) = (self.object(src).what, self.object(dst).what)
        else {
            return;
        };
        let mut reasons = self.reasons(src, false);
        reasons.extend(self.reasons(dst, true));
        if src == dst && from < to + size && to < from + size {
            reasons.push(Reason::Description);
        }
        if !self.object(src).contents.images[0].is_defined(from, size) {
            reasons.push(Reason::State);
        }
        let range = slice(source, from as u64, size as u64);
        let answer = self.recorder.copy_buffer(range, target, to as u64);
        if self.judge(answer, &reasons).is_some() {
            let bytes = self.object(src).contents.images[0].bytes[from..from + size].to_vec();
            self.state.objects[dst].contents.images[0].put(to, &bytes);
        }
    }

    fn clear_buffer(&mut self, step: Step) {
        let [_, a, b, c, d, _] = step;
        let Some(index) = self.state.pick(a, is_buffer) else { return };
        let (offset, size) = self.words(index, b, c);
        let What::Buffer(buffer) = self.object(index).what else { return };
        let mut reasons = self.reasons(index, true);
        let mut range = slice(buffer, offset as u64, size as u64);
        if d >= 250 {
            range.offset += 2;
            reasons.push(Reason::Description);
        }
        let answer = self.recorder.clear_buffer(range);
        if self.judge(answer, &reasons).is_some() {
            self.state.objects[index].contents.images[0].put(offset, &vec![0; size]);
        }
    }

    /// Why the services may find no room for a buffer of this size, which they may have already.
    fn no_room(&self, size: u64) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let device = self.recorder.device();
        if device.memory().logical + size > self.storage.memory_budget {
            reasons.push(Reason::Budget);
        }
        let (buffers, _) = services(device);
        let objects = self.state.objects.iter().filter(|object| is_buffer(object) && object.exists).count();
        if objects + buffers >= self.storage.objects.of(ResourceKind::Buffer) as usize {
            reasons.push(Reason::Capacity);
        }
        reasons
    }

    fn judge_read(&mut self, result: Result<ReadTicket>, reasons: &[Reason], size: u64, expected: Vec<u8>) {
        // Staging comes in few sizes.
        let room = self.no_room(size.next_power_of_two().max(256));
        let lacks_room = result.as_ref().is_err_and(|error| room.contains(&Reason::of(error)));
        let reasons = if lacks_room { &room } else { reasons };
        if let Some(ticket) = self.judge(result, reasons) {
            self.state.reads.push(Read { ticket, expected, progress: Progress::Recorded });
        }
    }

    fn read_buffer(&mut self, step: Step) {
        let [_, a, b, c, ..] = step;
        let Some(index) = self.source(a, is_buffer) else { return };
        let (offset, size) = self.words(index, b, c);
        let What::Buffer(buffer) = self.object(index).what else { return };
        let mut reasons = self.reasons(index, false);
        let image = &self.object(index).contents.images[0];
        if !image.is_defined(offset, size) {
            reasons.push(Reason::State);
        }
        let expected = image.bytes[offset..offset + size].to_vec();
        let answer = self.recorder.read_buffer(slice(buffer, offset as u64, size as u64));
        self.judge_read(answer, &reasons, size as u64, expected);
    }

    fn read_texture(&mut self, step: Step) {
        let [_, a, b, ..] = step;
        let Some(index) = self.source(a, is_texture) else { return };
        let What::Texture(texture) = self.object(index).what else { return };
        let mip = usize::from(b) % self.object(index).contents.images.len();
        let mut reasons = self.reasons(index, false);
        let image = &self.object(index).contents.images[mip];
        if !image.all_defined() {
            reasons.push(Reason::State);
        }
        let (expected, size) = (image.bytes.clone(), side(mip));
        let place = at(texture, mip as u32, 0, 0, 0);
        let answer = self.recorder.read_texture(&place, extent(size, size, 1));
        self.judge_read(answer, &reasons, 1024, expected);
    }

    fn copy_texture(&mut self, step: Step) {
        let [_, a, b, c, ..] = step;
        let (Some(src), Some(dst)) = (self.source(a, is_texture), self.state.pick(b, is_texture)) else {
            return;
        };
        let (What::Texture(source), What::Texture(target)) = (self.object(src).what, self.object(dst).what)
        else {
            return;
        };
        let mips = self.object(src).contents.images.len().min(self.object(dst).contents.images.len());
        let mip = usize::from(c) % mips;
        let mut reasons = self.reasons(src, false);
        reasons.extend(self.reasons(dst, true));
        if src == dst {
            reasons.push(Reason::Description);
        }
        if !self.object(src).contents.images[mip].all_defined() {
            reasons.push(Reason::State);
        }
        let place = |texture| at(texture, mip as u32, 0, 0, 0);
        let size = extent(side(mip), side(mip), 1);
        let answer = self.recorder.copy_texture(&place(source), &place(target), size);
        if self.judge(answer, &reasons).is_some() {
            let image = self.object(src).contents.images[mip].clone();
            self.state.objects[dst].contents.images[mip] = image;
        }
    }

    /// Copies rows, 256 bytes apart, between a buffer and a whole mip.
    fn copy_rows(&mut self, step: Step, to_texture: bool) {
        const PITCH: usize = 256;
        let [_, a, b, c, d, _] = step;
        // Rows need a large buffer: a small one is refused.
        let is_large = |object: &Object| is_buffer(object) && object.size > 16;
        let (buffer, texture) = if to_texture {
            (self.source(a, is_large), self.state.pick(b, is_texture))
        } else {
            (self.state.pick(a, is_large), self.source(b, is_texture))
        };
        let (Some(buffer), Some(texture)) = (buffer, texture) else { return };
        let (What::Buffer(data), What::Texture(image)) =
            (self.object(buffer).what, self.object(texture).what)
        else {
            return;
        };
        let mip = usize::from(c) % self.object(texture).contents.images.len();
        let (rows, row) = (side(mip) as usize, side(mip) as usize * 4);
        let offset = usize::from(d % 4) * 4;
        let len = PITCH * (rows - 1) + row;
        let mut reasons = self.reasons(buffer, !to_texture);
        reasons.extend(self.reasons(texture, to_texture));
        let bytes = &self.object(buffer).contents.images[0];
        if offset + len > bytes.bytes.len() {
            reasons.push(Reason::Description);
        } else if to_texture && !bytes.is_defined(offset, len) {
            reasons.push(Reason::State);
        }
        if !to_texture && !self.object(texture).contents.images[mip].all_defined() {
            reasons.push(Reason::State);
        }
        let layout = TexelLayout { offset: offset as u64, ..crate::support::rows(PITCH as u32, rows as u32) };
        let (place, size) = (at(image, mip as u32, 0, 0, 0), extent(side(mip), side(mip), 1));
        let answer = if to_texture {
            self.recorder.copy_buffer_to_texture(data, &layout, &place, size)
        } else {
            self.recorder.copy_texture_to_buffer(&place, size, data, &layout)
        };
        if self.judge(answer, &reasons).is_none() {
            return;
        }
        if to_texture {
            let bytes = self.object(buffer).contents.images[0].bytes.clone();
            let image = &mut self.state.objects[texture].contents.images[mip];
            for at in 0..rows {
                let start = offset + at * PITCH;
                image.put(at * row, &bytes[start..start + row]);
            }
        } else {
            let texels = self.object(texture).contents.images[mip].bytes.clone();
            let image = &mut self.state.objects[buffer].contents.images[0];
            for at in 0..rows {
                image.put(offset + at * PITCH, &texels[at * row..(at + 1) * row]);
            }
            // The gaps between rows keep what they have and count as written.
            image.defined[offset..offset + len].fill(true);
        }
    }

    fn render(&mut self, step: Step) {
        let [_, a, b, c, d, _] = step;
        let Some(index) = self.state.pick(a, |object| matches!(object.what, What::View(_))) else { return };
        let What::View(view) = self.object(index).what else { return };
        let (texture, mip) = (self.object(index).needs[0], self.object(index).mip);
        let pipeline = self.state.pick(b, |object| matches!(object.what, What::Raster(_)));
        let load = match c % 3 {
            0 => LoadOp::Clear(ClearValue::Float([1.0, 0.0, 1.0, 0.0])),
            1 => LoadOp::Load,
            _ => LoadOp::DontCare,
        };
        let store = if c.is_multiple_of(5) { StoreOp::Discard } else { StoreOp::Store };
        let mut reasons = self.reasons(index, false);
        let target = self.object(texture);
        if target.is_gone() {
            reasons.push(Reason::State);
        }
        if target.uploaded {
            reasons.push(Reason::Description);
        }
        if matches!(load, LoadOp::Load) && !target.contents.images[mip].all_defined() {
            reasons.push(Reason::State);
        }
        let pipeline = pipeline.map(|pipeline| {
            reasons.extend(self.reasons(pipeline, false));
            self.object(pipeline).what
        });
        let draw = |pass: &mut RenderPass<'_, Null>| {
            if let Some(What::Raster(pipeline)) = pipeline {
                pass.set_pipeline(pipeline);
                pass.draw(0..3, 0..1);
            }
        };
        let colors = [Some(ColorAttachment { view, load, store, resolve: None })];
        let answer = match d % 4 {
            0 => self.recorder.render_pass_parallel(&pass(&colors, &[]), 2, |_, pass| draw(pass)),
            _ => self.recorder.render_pass(&pass(&colors, &[]), draw),
        };
        if self.judge(answer, &reasons).is_none() {
            return;
        }
        let image = &mut self.state.objects[texture].contents.images[mip];
        match load {
            LoadOp::Clear(_) => image.put(0, &[255, 0, 255, 0].repeat(mip_bytes(mip) / 4)),
            LoadOp::DontCare => image.put(0, &vec![POISON; mip_bytes(mip)]),
            LoadOp::Load => {}
        }
        if store == StoreOp::Discard {
            image.bytes.fill(POISON);
            image.defined.fill(false);
        }
    }

    fn compute(&mut self, step: Step) {
        let [_, a, b, c, ..] = step;
        let kernel = self.state.pick(a, |object| matches!(object.what, What::Compute(_)));
        let group = self.state.pick(b, |object| matches!(object.what, What::Group(_)));
        let (Some(kernel), Some(group)) = (kernel, group) else { return };
        let (What::Compute(pipeline), What::Group(handle)) =
            (self.object(kernel).what, self.object(group).what)
        else {
            return;
        };
        let mut reasons = self.reasons(kernel, false);
        reasons.extend(self.reasons(group, false));
        let Some(bound) = self.object(group).bound else { return };
        let data = self.object(bound.buffer);
        let is_tracked = !data.uploaded;
        if is_tracked && !bound.writes && !data.contents.images[0].is_defined(0, bound.size) {
            reasons.push(Reason::State);
        }
        if data.uploaded && !data.written {
            reasons.push(Reason::State);
        }
        // An undeclared group that reaches tracked contents is refused where it is bound.
        let is_declared = c < 240;
        if !is_declared && is_tracked {
            reasons.push(Reason::Description);
        }
        let groups = [handle];
        let groups = if is_declared { &groups[..] } else { &[] };
        let desc = ComputePassDesc { label: "compute", uses: &[], groups, ..Default::default() };
        let answer = self.recorder.compute_pass(&desc, |pass| {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, handle, &[]);
            pass.dispatch([1, 1, 1]);
        });
        if self.judge(answer, &reasons).is_some() && bound.writes {
            self.state.objects[bound.buffer].contents.images[0].defined[..bound.size].fill(true);
        }
    }

    fn copy_frame_data(&mut self, step: Step) {
        let [_, a, b, c, value, _] = step;
        let Some(index) = self.state.pick(a, is_buffer) else { return };
        let (offset, size) = self.words(index, b, c);
        let What::Buffer(buffer) = self.object(index).what else { return };
        let bytes = vec![value; size];
        let room = self.no_room(1024);
        let data = match self.recorder.push_frame_data(&bytes, 4) {
            Ok(data) => data,
            Err(error) => {
                assert!(room.contains(&Reason::of(&error)), "{error:?}");
                return;
            }
        };
        let reasons = self.reasons(index, true);
        let answer = self.recorder.copy_buffer(data, buffer, offset as u64);
        if self.judge(answer, &reasons).is_some() {
            self.state.objects[index].contents.images[0].put(offset, &bytes);
        }
    }
}
