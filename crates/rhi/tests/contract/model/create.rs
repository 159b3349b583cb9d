//! Creation, destruction and uploads.

use purlin_rhi::types::*;
use purlin_rhi::*;

use super::objects::{Bound, Image, Object, Upload, What, services};
use super::{Reason, Step, World, judged};
use crate::support::*;

/// Texels of a mip's side.
pub fn side(mip: usize) -> u32 {
    4 >> mip
}

pub fn mip_bytes(mip: usize) -> usize {
    (side(mip) * side(mip) * 4) as usize
}

impl World {
    /// The reasons why an object of a kind may not fit, as maintenance would find it.
    fn no_room(&self, kind: ResourceKind, bytes: u64) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let state = &self.state;
        let exists = state.surviving(state.control.completed());
        let (buffers, service_bytes) = services(&self.gpu);
        let of_kind = |(object, exists): &(&Object, &bool)| **exists && object.what.kind() == kind;
        let count = state.objects.iter().zip(&exists).filter(of_kind).count();
        let count = count + if kind == ResourceKind::Buffer { buffers } else { 0 };
        let storage = self.setup.storage();
        if count >= storage.objects.of(ResourceKind::Buffer) as usize {
            reasons.push(Reason::Capacity);
        }
        if state.weight(&exists) + service_bytes + bytes > storage.memory_budget {
            reasons.push(Reason::Budget);
        }
        reasons
    }

    /// Completes a creation: compares the answer, and enters the object.
    fn created<K: handle::kind::Kind>(
        &mut self,
        result: Result<Owned<K>>,
        mut reasons: Vec<Reason>,
        fails: bool,
        bytes: u64,
        needs: Vec<usize>,
        what: impl FnOnce(&Owned<K>) -> What,
    ) -> Option<usize> {
        // Completion may go on behind a creation that had room, never before one that had none.
        let room = self.no_room(K::KIND, bytes);
        reasons.extend(room);
        if fails && reasons.is_empty() {
            reasons.push(Reason::Memory);
        }
        let owner = judged(result, &reasons)?;
        let what = what(&owner);
        assert_eq!(what.kind(), K::KIND);
        let object = Object { bytes, ..Object::new(owner, what, needs) };
        self.state.objects.push(object);
        Some(self.state.objects.len() - 1)
    }

    pub fn create(&mut self, step: Step) {
        let [_, kind, a, b, c, d] = step;
        let fails = d >= 240;
        if fails {
            self.state.control.fail_allocation(1);
        }
        match kind % 14 {
            0..=2 => self.create_buffer(a, b, fails),
            3 | 4 => self.create_texture(a, b, fails),
            5 => self.create_view(a, b, fails),
            6 => {
                let result = self.gpu.create_sampler(&SamplerDesc::linear("sampler"));
                self.created(result, vec![], fails, 0, vec![], |owner| What::Sampler(owner.handle()));
            }
            7 => self.create_shape(a, fails),
            8 | 9 => self.create_group(a, b, c, fails),
            10 => self.create_layout(a, fails),
            11 => {
                let result = self.gpu.create_shader_module(&SIMPLE);
                self.created(result, vec![], fails, 0, vec![], |owner| What::Module(owner.handle()));
            }
            _ => self.create_pipeline(a, b, kind % 14 == 12, fails),
        }
        if fails {
            self.state.control.clear_failures();
            self.state.fails_submission = false;
        }
    }

    fn create_buffer(&mut self, a: u8, b: u8, fails: bool) {
        let size = if a.is_multiple_of(4) { 1024 } else { 4 + usize::from(a % 61) };
        let padded = size.next_multiple_of(4);
        let usage = BufferUsages::UNIFORM | BufferUsages::STORAGE | BOTH_COPIES;
        let uploaded = b.is_multiple_of(3);
        let desc = if uploaded {
            BufferDesc::uploaded("buffer", size as u64, usage)
        } else {
            BufferDesc::new("buffer", size as u64, usage)
        };
        let result = self.gpu.create_buffer(&desc);
        let made = |owner: &Owned<kind::Buffer>| What::Buffer(owner.handle());
        if let Some(index) = self.created(result, vec![], fails, padded as u64, vec![], made) {
            let object = &mut self.state.objects[index];
            (object.size, object.uploaded) = (size, uploaded);
            object.contents.images.push(Image::new(padded));
        }
    }

    fn create_texture(&mut self, a: u8, b: u8, fails: bool) {
        let mips = 1 + usize::from(a % 2);
        let uploaded = b.is_multiple_of(3);
        let mut desc = TextureDesc::uploaded("texture", 4, 4, mips as u32, COLOR);
        desc.usage |= TextureUsages::COPY_SRC;
        if !uploaded {
            desc.contents = Contents::Tracked;
            desc.usage |= TextureUsages::RENDER_ATTACHMENT;
        }
        let bytes: usize = (0..mips).map(mip_bytes).sum();
        let result = self.gpu.create_texture(&desc);
        let made = |owner: &Owned<kind::Texture>| What::Texture(owner.handle());
        if let Some(index) = self.created(result, vec![], fails, bytes as u64, vec![], made) {
            let object = &mut self.state.objects[index];
            object.uploaded = uploaded;
            object.contents.images.extend((0..mips).map(|mip| Image::new(mip_bytes(mip))));
        }
    }

    /// An object of a kind to make another one of, and the reason if it cannot be used.
    fn part(&self, n: u8, fits: impl Fn(&Object) -> bool, reasons: &mut Vec<Reason>) -> Option<usize> {
        let index = self.state.pick(n, fits)?;
        if self.state.objects[index].is_gone() {
            reasons.push(Reason::Handle);
        }
        Some(index)
    }

    fn create_view(&mut self, a: u8, b: u8, fails: bool) {
        let mut reasons = Vec::new();
        let is_texture = |object: &Object| matches!(object.what, What::Texture(_));
        let Some(index) = self.part(a, is_texture, &mut reasons) else { return };
        let object = &self.state.objects[index];
        let (What::Texture(texture), mips) = (object.what, object.contents.images.len()) else { return };
        let mip = usize::from(b) % mips;
        let desc = TextureViewDesc { label: "view", base_mip: mip as u32, mips: 1, ..Default::default() };
        let result = self.gpu.create_texture_view(texture, &desc);
        let made = |owner: &Owned<kind::TextureView>| What::View(owner.handle());
        if let Some(index) = self.created(result, reasons, fails, 0, vec![index], made) {
            self.state.objects[index].mip = mip;
        }
    }

    fn create_shape(&mut self, a: u8, fails: bool) {
        const CS: ShaderStages = ShaderStages::COMPUTE;
        let writes = a.is_multiple_of(2);
        let sampler = BindingType::Sampler(SamplerBindingType::Filtering);
        let entries = [entry(0, CS, if writes { storage(false) } else { uniform(4) }), entry(1, CS, sampler)];
        let desc = BindGroupLayoutDesc { label: "shape", entries: &entries };
        let result = self.gpu.create_bind_group_layout(&desc);
        let made = |owner: &Owned<kind::BindGroupLayout>| What::Shape(owner.handle());
        if let Some(index) = self.created(result, vec![], fails, 0, vec![], made) {
            self.state.objects[index].writes = writes;
        }
    }

    fn create_group(&mut self, a: u8, b: u8, c: u8, fails: bool) {
        let mut reasons = Vec::new();
        let shape = self.part(a, |object| matches!(object.what, What::Shape(_)), &mut reasons);
        let buffer = self.part(b, |object| matches!(object.what, What::Buffer(_)), &mut reasons);
        let sampler = self.part(c, |object| matches!(object.what, What::Sampler(_)), &mut reasons);
        let (Some(shape), Some(buffer), Some(sampler)) = (shape, buffer, sampler) else { return };
        let of = |index: usize| &self.state.objects[index];
        let (What::Shape(layout), What::Buffer(bytes), What::Sampler(filter)) =
            (of(shape).what, of(buffer).what, of(sampler).what)
        else {
            return;
        };
        let (size, writes) = (of(buffer).size & !3, of(shape).writes);
        if writes && of(buffer).uploaded {
            reasons.push(Reason::Description);
        }
        let entries =
            [BindGroupEntry::buffer_range(0, bytes, 0, size as u64), BindGroupEntry::sampler(1, filter)];
        let desc = BindGroupDesc { label: "group", layout, entries: &entries };
        let result = self.gpu.create_bind_group(&desc);
        let made = |owner: &Owned<kind::BindGroup>| What::Group(owner.handle());
        if let Some(index) = self.created(result, reasons, fails, 0, vec![shape, buffer, sampler], made) {
            self.state.objects[index].bound = Some(Bound { buffer, size, writes });
        }
    }

    fn create_layout(&mut self, a: u8, fails: bool) {
        let mut reasons = Vec::new();
        let is_shape = |object: &Object| matches!(object.what, What::Shape(_));
        let Some(shape) = self.part(a, is_shape, &mut reasons) else { return };
        let What::Shape(handle) = self.state.objects[shape].what else { return };
        let groups = [handle, handle];
        let desc = PipelineLayoutDesc { label: "layout", groups: &groups, immediate_size: 0 };
        let result = self.gpu.create_pipeline_layout(&desc);
        let made = |owner: &Owned<kind::PipelineLayout>| What::Layout(owner.handle());
        self.created(result, reasons, fails, 0, vec![shape], made);
    }

    fn create_pipeline(&mut self, a: u8, b: u8, is_raster: bool, fails: bool) {
        let mut reasons = Vec::new();
        let layout = self.part(a, |object| matches!(object.what, What::Layout(_)), &mut reasons);
        let module = self.part(b, |object| matches!(object.what, What::Module(_)), &mut reasons);
        let (Some(layout), Some(module)) = (layout, module) else { return };
        let needs = vec![layout, module];
        let (What::Layout(layout), What::Module(module)) =
            (self.state.objects[layout].what, self.state.objects[module].what)
        else {
            return;
        };
        if is_raster {
            let targets = [Some(COLOR.into())];
            let result = self.gpu.create_render_pipeline(&raster(module, layout, &targets));
            self.created(result, reasons, fails, 0, needs, |owner| What::Raster(owner.handle()));
        } else {
            let compute = ShaderStageDesc { module, entry: "cs" };
            let desc = ComputePipelineDesc { label: "compute", layout, compute };
            let result = self.gpu.create_compute_pipeline(&desc);
            self.created(result, reasons, fails, 0, needs, |owner| What::Compute(owner.handle()));
        }
    }

    /// Destroys by handle, of which the second time is refused.
    pub fn destroy(&mut self, n: u8) {
        let Some(index) = self.state.pick(n, |_| true) else { return };
        let object = &self.state.objects[index];
        let reasons = if object.is_gone() { vec![Reason::Handle] } else { vec![] };
        let what = object.what;
        self.state.note_drops();
        let answer = destroy(&mut self.gpu, what);
        if judged(answer, &reasons).is_some() {
            let object = &mut self.state.objects[index];
            object.dies_after = Some(self.state.submitted);
            // The owner's note comes late, for a handle that is stale.
            object.owner = None;
        }
    }

    /// Writes into a buffer or into a whole mip.
    pub fn write(&mut self, step: Step) {
        let [_, a, b, c, d, value] = step;
        let writable = |object: &Object| matches!(object.what, What::Buffer(_) | What::Texture(_));
        let Some(index) = self.state.pick(a, writable) else { return };
        let object = &self.state.objects[index];
        let mut reasons = if object.is_gone() { vec![Reason::Handle] } else { vec![] };
        let in_use = self.gpu.uploads().in_use();
        let (answer, upload, needed) = match object.what {
            What::Buffer(buffer) => {
                let offset = usize::from(b) % object.size.div_ceil(4) * 4;
                let len = 1 + (usize::from(c) * 4 + usize::from(d % 4)) % (object.size - offset);
                let bytes: Vec<u8> = (0..len).map(|at| value.wrapping_add(at as u8)).collect();
                let (mut at, mut data) = (offset as u64, bytes.clone());
                match d {
                    250.. => at += 2,
                    245.. => data.resize(object.size - offset + 1, 0),
                    _ => {}
                }
                if d >= 245 {
                    reasons.push(Reason::Description);
                }
                let answer = self.gpu.write_buffer(buffer, at, &data);
                let mut bytes = bytes;
                if offset + len == object.size {
                    bytes.resize(object.contents.images[0].bytes.len() - offset, 0);
                }
                (answer, Upload { object: index, image: 0, offset, bytes }, 2048)
            }
            What::Texture(texture) => {
                let mip = usize::from(b) % object.contents.images.len();
                let bytes = vec![value; mip_bytes(mip)];
                let size = extent(side(mip), side(mip), 1);
                let layout = rows(side(mip) * 4, side(mip));
                let answer = self.gpu.write_texture(&at(texture, mip as u32, 0, 0, 0), size, &layout, &bytes);
                (answer, Upload { object: index, image: mip, offset: 0, bytes }, 2048)
            }
            _ => return,
        };
        let is_full =
            matches!(answer, Err(Error::Pending { .. })) && in_use + needed > self.gpu.uploads().capacity();
        if is_full && reasons.is_empty() {
            reasons.push(Reason::Pending);
        }
        if judged(answer, &reasons).is_some() {
            let object = &mut self.state.objects[index];
            object.pending += 1;
            object.written = true;
            self.state.uploads.push(upload);
        }
    }
}

pub fn destroy(gpu: &mut Gpu, what: What) -> Result<()> {
    match what {
        What::Buffer(handle) => gpu.destroy(handle),
        What::Texture(handle) => gpu.destroy(handle),
        What::View(handle) => gpu.destroy(handle),
        What::Sampler(handle) => gpu.destroy(handle),
        What::Shape(handle) => gpu.destroy(handle),
        What::Group(handle) => gpu.destroy(handle),
        What::Layout(handle) => gpu.destroy(handle),
        What::Module(handle) => gpu.destroy(handle),
        What::Raster(handle) => gpu.destroy(handle),
        What::Compute(handle) => gpu.destroy(handle),
    }
}
