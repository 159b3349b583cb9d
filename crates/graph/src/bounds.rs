//! Indirect arguments held to limits: one compute pass between what writes them and what draws or dispatches by them.

use purlin_rhi::backend::Backend;
use purlin_rhi::shader::ShaderSource;
use purlin_rhi::types::{BindGroupLayoutEntry, BindingType};
use purlin_rhi::{
    BindGroupLayoutDesc, BufferSlice, ComputePipelineDesc, Device, Error, Features, Owned,
    PipelineLayoutDesc, Result, ShaderStageDesc, kind,
};

use crate::{AsBufferMut, Graph, bind};

#[allow(missing_docs)]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/bounds_shaders.rs"));
}

use shaders::bounds::{Bounds, GROUPS, SHADER, entries};

/// What the arguments are for, and the words of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dispatch,
    Draw,
    DrawIndexed,
}

impl Kind {
    const fn words(self) -> u32 {
        match self {
            Kind::Dispatch => 3,
            Kind::Draw => 4,
            Kind::DrawIndexed => 5,
        }
    }
}

/// What indirect arguments may ask for, and where they lie.
///
/// A draw or dispatch that asks for more becomes one of nothing, all of its words zero; with [`clamped`](Self::clamped) it
/// does what lies inside. A base vertex is not looked at: where it leads to depends on the indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct ArgumentBounds {
    kind: Kind,
    most: [u32; 2],
    offset: u64,
    count: u32,
    stride: u32,
    clamped: bool,
}

impl ArgumentBounds {
    const fn new(kind: Kind, most: [u32; 2]) -> Self {
        Self { kind, most, offset: 0, count: 1, stride: kind.words() * 4, clamped: false }
    }

    /// Of a dispatch, 12 bytes: at most so many workgroups in each dimension.
    pub const fn dispatch(most: u32) -> Self {
        Self::new(Kind::Dispatch, [most; 2])
    }

    /// Of a draw, 16 bytes: vertices and instances before these ends, first ones and counts together.
    pub const fn draw(vertices: u32, instances: u32) -> Self {
        Self::new(Kind::Draw, [vertices, instances])
    }

    /// Of an indexed draw, 20 bytes: indices and instances before these ends, first ones and counts together.
    pub const fn draw_indexed(indices: u32, instances: u32) -> Self {
        Self::new(Kind::DrawIndexed, [indices, instances])
    }

    /// Where the first arguments begin, in bytes from the start of the version or part that is bound; a multiple of four.
    pub const fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    /// So many arguments, this many bytes from one to the next.
    pub const fn many(self, count: u32, stride: u32) -> Self {
        Self { count, stride, ..self }
    }

    /// Counts over a limit become the most that is inside, where anything is.
    pub const fn clamped(self) -> Self {
        Self { clamped: true, ..self }
    }

    /// As the kernel takes them.
    fn check<B: Backend>(&self, device: &Device<B>) -> Result<Bounds> {
        let invalid = |field, expected: &str, found: String| {
            let (what, expected) = (WHAT.into(), expected.into());
            Err(Error::InvalidDescription { what, field, expected, found })
        };
        let limits = device.limits();
        let bytes = self.kind.words() * 4;
        if self.kind == Kind::Dispatch && self.most[0] > limits.max_workgroups_per_dimension {
            let detail =
                format!("{} requested, {} available", self.most[0], limits.max_workgroups_per_dimension);
            return Err(Error::unsupported(WHAT, "limit max_workgroups_per_dimension", detail));
        }
        if !self.offset.is_multiple_of(4) {
            return invalid("offset", "a multiple of 4", self.offset.to_string());
        }
        if self.count == 0 || self.count.div_ceil(INVOCATIONS) > limits.max_workgroups_per_dimension {
            let most = u64::from(limits.max_workgroups_per_dimension) * u64::from(INVOCATIONS);
            return invalid("count", &format!("1 to {most}"), self.count.to_string());
        }
        if !self.stride.is_multiple_of(4) || self.stride < bytes {
            return invalid("stride", &format!("a multiple of 4, at least {bytes}"), self.stride.to_string());
        }
        let end = u64::from(self.count) * u64::from(self.stride);
        let first = self.offset / 4;
        if self.offset.checked_add(end).is_none_or(|end| end > limits.max_storage_binding_size) {
            let expected = format!("arguments within {} bytes", limits.max_storage_binding_size);
            return invalid("offset", &expected, format!("{end} bytes from {}", self.offset));
        }
        let any_instance = device.capabilities().features.contains(Features::INDIRECT_FIRST_INSTANCE);
        let third = match self.kind {
            Kind::Dispatch => self.most[0],
            _ if any_instance => u32::MAX,
            _ => 0,
        };
        let [x, y] = self.most;
        // The binding's size, in words, is far below what a word holds.
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        let clamped = u32::from(self.clamped);
        Ok(Bounds::new(first, self.stride / 4, self.count, self.kind as u32, [x, y, third], clamped))
    }
}

const WHAT: &str = "indirect bounds";
/// Of a workgroup.
const INVOCATIONS: u32 = 64;

/// Bounds that the GPU can read; for the next submission, as all of the frame arena.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct BoundsSlice {
    slice: BufferSlice,
    groups: u32,
}

/// Holds arguments that the GPU wrote to what they may ask for, before they are used. Beyond the device's limits Vulkan
/// leaves undefined what happens and WebGPU does nothing; what is held does the same everywhere.
///
/// ```no_run
/// # use purlin_graph::{ArgumentBounds, BufferVersion, Graph, GraphArena, IndirectBounds, TransientBuffer};
/// # use purlin_rhi::{ComputePipeline, Device, null::Null, types::BufferUsages};
/// # fn write(graph: &mut Graph<'_, Null>, arguments: &mut BufferVersion) {}
/// # fn frame(device: &mut Device<Null>, arena: &mut GraphArena<Null>, work: ComputePipeline) -> Result<(), Box<dyn std::error::Error>> {
/// let bounds = IndirectBounds::new(device)?; // kept
///
/// let most = device.limits().max_workgroups_per_dimension;
/// let limits = bounds.limits(device, ArgumentBounds::dispatch(most))?; // each frame
/// let mut graph = Graph::new("frame", arena);
/// let mut arguments = graph.buffer("arguments", TransientBuffer::new(12));
/// write(&mut graph, &mut arguments);
/// bounds.hold(&mut graph, "bounds", limits, &mut arguments);
/// graph.compute("work").dispatch_indirect(work, &arguments, 0);
/// graph.submit(device)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct IndirectBounds {
    group: Owned<kind::BindGroupLayout>,
    pipeline: Owned<kind::ComputePipeline>,
}

impl IndirectBounds {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device has no indirect execution, or no compute shaders.
    pub fn new<B: Backend>(device: &mut Device<B>) -> Result<Self> {
        const SOURCE: &ShaderSource = &SHADER;
        if !device.capabilities().features.contains(Features::INDIRECT_EXECUTION) {
            let detail = "the device takes no arguments from buffers";
            return Err(Error::unsupported(WHAT, "feature INDIRECT_EXECUTION", detail));
        }
        // Frame data lies at another offset each time; one group serves them all.
        let entries: Vec<BindGroupLayoutEntry> = GROUPS[0].iter().copied().map(dynamic_uniform).collect();
        let group =
            device.create_bind_group_layout(&BindGroupLayoutDesc { label: WHAT, entries: &entries })?;
        let groups = [*group];
        let layout = device.create_pipeline_layout(&PipelineLayoutDesc {
            label: WHAT,
            groups: &groups,
            immediate_size: 0,
        })?;
        let module = device.create_shader_module(SOURCE)?;
        let pipeline = device.create_compute_pipeline(&ComputePipelineDesc {
            label: WHAT,
            layout: *layout,
            compute: ShaderStageDesc { module: *module, entry: entries::HOLD },
        })?;
        Ok(Self { group, pipeline })
    }

    /// Copies bounds to the frame arena. They serve the next submission, any number of times.
    ///
    /// # Errors
    /// More workgroups than the device has, a misaligned offset or stride, no arguments or too many.
    pub fn limits<B: Backend>(&self, device: &mut Device<B>, bounds: ArgumentBounds) -> Result<BoundsSlice> {
        let words = bounds.check(device)?;
        let slice = device.push_frame_data(bytemuck::bytes_of(&words), 16)?;
        Ok(BoundsSlice { slice, groups: bounds.count.div_ceil(INVOCATIONS) })
    }

    /// Declares the pass that holds `arguments` to the limits. What lies beyond the version or part is left alone.
    #[track_caller]
    pub fn hold<B: Backend>(
        &self,
        graph: &mut Graph<'_, B>,
        label: &str,
        limits: BoundsSlice,
        arguments: &mut impl AsBufferMut,
    ) {
        graph
            .compute(label)
            .bind(0, *self.group, [bind::storage(arguments), bind::uploaded(limits.slice)])
            .dispatch(*self.pipeline, [limits.groups, 1, 1]);
    }
}

fn dynamic_uniform(mut entry: BindGroupLayoutEntry) -> BindGroupLayoutEntry {
    if let BindingType::Buffer {
        ty: purlin_rhi::types::BufferBindingType::Uniform, has_dynamic_offset, ..
    } = &mut entry.ty
    {
        *has_dynamic_offset = true;
    }
    entry
}
