//! What a device can do: features, limits, format uses, and the adapter behind it.

use crate::types::{DeviceType, StorageTextureAccess};

bitflags::bitflags! {
    /// Optional abilities beyond the core tier. Enabled when requested, never by accident.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Features: u64 {
        /// Indirect draws whose `first_instance` is not zero.
        const INDIRECT_FIRST_INSTANCE = 1 << 0;
        /// Several indirect draws by one call (without it the backend makes them one by one).
        const MULTI_DRAW_INDIRECT = 1 << 1;
        /// GPU timestamps: around passes, and of whole frames.
        const TIMESTAMP_QUERY = 1 << 2;
        /// Lines as polygon mode.
        const POLYGON_MODE_LINE = 1 << 3;
        /// Depth clamped instead of clipped.
        const DEPTH_CLIP_CONTROL = 1 << 4;
        /// Anisotropic filtering.
        const ANISOTROPY = 1 << 5;
        /// Storage writes from vertex shaders.
        const VERTEX_STORAGE = 1 << 6;
        /// Block compression BC1 to BC7.
        const TEXTURE_COMPRESSION_BC = 1 << 7;
        /// Block compression ETC2 and EAC.
        const TEXTURE_COMPRESSION_ETC2 = 1 << 8;
        /// Block compression ASTC.
        const TEXTURE_COMPRESSION_ASTC = 1 << 9;
        /// Blend state that differs between color targets.
        const INDEPENDENT_BLEND = 1 << 10;
        /// The depth of 32-bit formats written from buffers and by uploads, which WebGPU does not allow.
        const DEPTH_UPLOADS = 1 << 11;
        /// Arguments from buffers, for draws and dispatches.
        const INDIRECT_EXECUTION = 1 << 12;
        /// Views of another format than their texture's.
        const VIEW_FORMATS = 1 << 13;
        /// The largest index restarts a strip.
        const PRIMITIVE_RESTART = 1 << 14;
        /// A square texture of six layers is viewed as an array as well as a cube.
        const CUBE_AS_ARRAY = 1 << 15;
        /// Volumes are the source of copies.
        const VOLUME_COPIES = 1 << 16;
        /// Multisampled textures that shaders read; without it they are attachments only.
        const MULTISAMPLED_TEXTURES = 1 << 17;
        /// Masks that keep some samples of a pixel from being written.
        const SAMPLE_MASKS = 1 << 18;
        /// Buffers that hold indices and something else, the frame arena's pages among them.
        const MIXED_INDEX_BUFFERS = 1 << 19;
        /// The largest index of a format names a vertex in lists; WebGL 2 takes it for a restart there too.
        const LARGEST_INDEX_IN_LISTS = 1 << 20;
        /// Arrays of sampled textures and of samplers in one binding, whose index is the same for all invocations of a
        /// draw or dispatch. An index past the length that the shader declares is that of the last element; wgpu
        /// checks no such index, so for it the shader must.
        const BINDING_ARRAYS = 1 << 21;
        /// Indices into such arrays that differ between invocations. Comes with [`Features::BINDING_ARRAYS`].
        const NON_UNIFORM_INDEXING = 1 << 22;
        /// Queries that count what pipelines do.
        const PIPELINE_STATISTICS_QUERY = 1 << 23;
        /// Views of six square layers, or a multiple of six, as cubes in an array.
        const CUBE_ARRAYS = 1 << 24;
        /// Compressed textures whose sides are no multiples of their format's block; the blocks at the edges are whole.
        const UNALIGNED_BLOCK_EXTENTS = 1 << 25;
        /// Volumes of BC blocks, slice by slice. Brings [`Features::TEXTURE_COMPRESSION_BC`] along.
        const TEXTURE_COMPRESSION_BC_SLICED_3D = 1 << 26;
        /// Volumes of ASTC blocks, slice by slice. Brings [`Features::TEXTURE_COMPRESSION_ASTC`] along.
        const TEXTURE_COMPRESSION_ASTC_SLICED_3D = 1 << 27;
        /// Samplers that answer a border color outside of their texture.
        const ADDRESS_MODE_CLAMP_TO_BORDER = 1 << 28;
        /// Several indirect draws by one call, as many as a buffer says.
        const MULTI_DRAW_INDIRECT_COUNT = 1 << 32;
        /// Shaders sample views of some of a texture's layers: a slice of an array, or a face of a cube. Without it a
        /// sampled view has all of them; as attachments and storage textures there are such views everywhere.
        const LAYER_VIEWS = 1 << 33;
    }
}

impl Features {
    /// What every WebGPU adapter has and OpenGL may lack: enabled wherever it is there, without being asked for. A program
    /// that cannot do without requires it like any other feature.
    pub const CORE: Features = Features::INDIRECT_EXECUTION
        .union(Features::VIEW_FORMATS)
        .union(Features::PRIMITIVE_RESTART)
        .union(Features::CUBE_AS_ARRAY)
        .union(Features::LAYER_VIEWS)
        .union(Features::VOLUME_COPIES)
        .union(Features::MULTISAMPLED_TEXTURES)
        .union(Features::SAMPLE_MASKS)
        .union(Features::MIXED_INDEX_BUFFERS)
        .union(Features::LARGEST_INDEX_IN_LISTS)
        .union(Features::CUBE_ARRAYS);

    /// The set with the features that its members cannot do without.
    pub fn with_needs(self) -> Features {
        let mut all = self;
        for (feature, needs) in [
            (Features::TEXTURE_COMPRESSION_BC_SLICED_3D, Features::TEXTURE_COMPRESSION_BC),
            (Features::TEXTURE_COMPRESSION_ASTC_SLICED_3D, Features::TEXTURE_COMPRESSION_ASTC),
        ] {
            all.set(needs, all.intersects(needs | feature));
        }
        all
    }

    /// The names of the features in the set, comma-separated.
    pub fn names(self) -> String {
        let names: Vec<_> = self.iter_names().map(|(name, _)| name).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }
}

macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident: $ty:ty = $default:expr, $order:ident;)*) => {
        /// Numeric ceilings. In a request, the least that is needed; on a device, what it has.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits { $($(#[$doc])* pub $field: $ty,)* }

        impl Default for Limits {
            /// What every WebGPU adapter has.
            fn default() -> Self { Self { $($field: $default,)* } }
        }

        impl Limits {
            /// The first field by which `self`, as a need, goes past `available`.
            pub fn first_unmet(&self, available: &Limits) -> Option<UnmetLimit> {
                $(if !limits!(@fits $order, self.$field, available.$field) {
                    return Some(UnmetLimit {
                        field: stringify!($field),
                        requested: u64::from(self.$field),
                        available: u64::from(available.$field),
                    });
                })*
                None
            }

            /// Asks for one more than there is, field by field.
            #[cfg(test)]
            fn each_beyond(&self) -> Vec<(&'static str, Limits)> {
                vec![$((stringify!($field), {
                    let mut over = self.clone();
                    over.$field = limits!(@beyond $order, self.$field);
                    over
                }),)*]
            }

            /// Every field with its value, for reports.
            pub fn fields(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), u64::from(self.$field)),)*]
            }
        }
    };
    (@fits most, $need:expr, $have:expr) => { $need <= $have };
    (@fits least, $need:expr, $have:expr) => { $need >= $have };
    (@beyond most, $have:expr) => { $have + 1 };
    (@beyond least, $have:expr) => { $have / 2 };
}

limits! {
    /// Texels on a side of a 2D texture.
    max_texture_dimension_2d: u32 = 8192, most;
    /// Texels on a side of a volume.
    max_texture_dimension_3d: u32 = 2048, most;
    /// Layers of a texture.
    max_texture_array_layers: u32 = 256, most;
    /// Groups of a pipeline layout.
    max_bind_groups: u32 = 4, most;
    /// Highest binding number plus one.
    max_bindings_per_group: u32 = 1000, most;
    /// Uniform buffers with dynamic offsets in a pipeline layout.
    max_dynamic_uniform_buffers: u32 = 8, most;
    /// Storage buffers with dynamic offsets in a pipeline layout.
    max_dynamic_storage_buffers: u32 = 4, most;
    /// Sampled textures that one stage sees, each element of an array counted.
    max_sampled_textures_per_stage: u32 = 16, most;
    /// Samplers that one stage sees, each element of an array counted.
    max_samplers_per_stage: u32 = 16, most;
    /// Storage buffers that one stage sees.
    max_storage_buffers_per_stage: u32 = 8, most;
    /// Storage textures that one stage sees.
    max_storage_textures_per_stage: u32 = 4, most;
    /// Uniform buffers that one stage sees.
    max_uniform_buffers_per_stage: u32 = 12, most;
    /// Bytes of a uniform binding.
    max_uniform_binding_size: u64 = 65536, most;
    /// Bytes of a storage binding.
    max_storage_binding_size: u64 = 134_217_728, most;
    /// Bytes of a buffer.
    max_buffer_size: u64 = 268_435_456, most;
    /// The multiple that uniform offsets must be.
    min_uniform_offset_alignment: u32 = 256, least;
    /// The multiple that storage offsets must be.
    min_storage_offset_alignment: u32 = 256, least;
    /// Vertex buffers of a pipeline.
    max_vertex_buffers: u32 = 8, most;
    /// Vertex attributes of a pipeline.
    max_vertex_attributes: u32 = 16, most;
    /// Bytes from one vertex to the next.
    max_vertex_stride: u32 = 2048, most;
    /// Color attachments of a pass.
    max_color_attachments: u32 = 8, most;
    /// Invocations of a workgroup.
    max_workgroup_invocations: u32 = 256, most;
    /// Width of a workgroup.
    max_workgroup_size_x: u32 = 256, most;
    /// Height of a workgroup.
    max_workgroup_size_y: u32 = 256, most;
    /// Depth of a workgroup.
    max_workgroup_size_z: u32 = 64, most;
    /// Workgroups on a side of a dispatch, inclusive.
    max_workgroups_per_dimension: u32 = 65535, most;
    /// Bytes of immediates.
    max_immediate_size: u32 = 0, most;
    /// Samples of an anisotropic filter.
    max_anisotropy: u32 = 1, most;
}

impl Limits {
    /// What every WebGL 2 context has through wgpu: no compute and no storage buffers or textures.
    pub fn webgl2() -> Self {
        Self {
            max_texture_dimension_2d: 2048,
            max_texture_dimension_3d: 256,
            max_dynamic_storage_buffers: 0,
            max_storage_buffers_per_stage: 0,
            max_storage_textures_per_stage: 0,
            max_uniform_buffers_per_stage: 11,
            max_uniform_binding_size: 16384,
            max_storage_binding_size: 0,
            max_vertex_stride: 255,
            max_color_attachments: 4,
            max_workgroup_invocations: 0,
            max_workgroup_size_x: 0,
            max_workgroup_size_y: 0,
            max_workgroup_size_z: 0,
            max_workgroups_per_dimension: 0,
            ..Self::default()
        }
    }
}

/// A limit that an adapter does not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnmetLimit {
    /// The field of [`Limits`].
    pub field: &'static str,
    /// What was needed.
    pub requested: u64,
    /// What is there.
    pub available: u64,
}

bitflags::bitflags! {
    /// What a format may be used for on a device.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct FormatUses: u32 {
        /// Sampled in shaders.
        const SAMPLED = 1 << 0;
        /// Sampled with linear filters.
        const FILTERABLE = 1 << 1;
        /// A color attachment.
        const COLOR = 1 << 2;
        /// A color attachment with blending.
        const BLENDABLE = 1 << 3;
        /// A depth or stencil attachment.
        const DEPTH_STENCIL = 1 << 4;
        /// A storage texture of some access; the three that say which come with it.
        const STORAGE = 1 << 5;
        /// The source of a copy.
        const COPY_SRC = 1 << 6;
        /// The destination of a copy.
        const COPY_DST = 1 << 7;
        /// An attachment of two samples a texel.
        const MULTISAMPLE_X2 = 1 << 8;
        /// An attachment of four samples a texel, as WebGPU guarantees for most.
        const MULTISAMPLE_X4 = 1 << 9;
        /// An attachment of eight samples a texel.
        const MULTISAMPLE_X8 = 1 << 10;
        /// An attachment of 16 samples a texel.
        const MULTISAMPLE_X16 = 1 << 11;
        /// The average of an attachment's samples at the end of a pass.
        const MULTISAMPLE_RESOLVE = 1 << 12;
        /// A storage texture that shaders only read.
        const STORAGE_READ_ONLY = 1 << 13;
        /// A storage texture that shaders only write.
        const STORAGE_WRITE_ONLY = 1 << 14;
        /// A storage texture that one shader both reads and writes.
        const STORAGE_READ_WRITE = 1 << 15;
    }
}

impl FormatUses {
    /// Every count of samples beyond one.
    pub const SAMPLE_COUNTS: FormatUses = FormatUses::MULTISAMPLE_X2
        .union(FormatUses::MULTISAMPLE_X4)
        .union(FormatUses::MULTISAMPLE_X8)
        .union(FormatUses::MULTISAMPLE_X16);

    /// The use as an attachment of this many samples a texel: none for one, and `None` for what no device has.
    pub const fn samples(count: u32) -> Option<FormatUses> {
        match count {
            1 => Some(FormatUses::empty()),
            2 => Some(FormatUses::MULTISAMPLE_X2),
            4 => Some(FormatUses::MULTISAMPLE_X4),
            8 => Some(FormatUses::MULTISAMPLE_X8),
            16 => Some(FormatUses::MULTISAMPLE_X16),
            _ => None,
        }
    }

    /// The use as a storage texture of this access; none for atomics.
    pub const fn of_access(access: StorageTextureAccess) -> FormatUses {
        match access {
            StorageTextureAccess::ReadOnly => FormatUses::STORAGE_READ_ONLY,
            StorageTextureAccess::WriteOnly => FormatUses::STORAGE_WRITE_ONLY,
            StorageTextureAccess::ReadWrite => FormatUses::STORAGE_READ_WRITE,
            StorageTextureAccess::Atomic => FormatUses::empty(),
        }
    }

    /// The names of the uses in the set, comma-separated.
    pub fn names(self) -> String {
        let names: Vec<_> = self.iter_names().map(|(name, _)| name).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }
}

/// One adapter as the system lists it. What a *device* can do is in [`Capabilities`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterInfo {
    /// The backend that found it: `vulkan`, `null`.
    pub backend: &'static str,
    /// The adapter's name.
    pub name: String,
    /// What it is.
    pub device_type: DeviceType,
    /// The driver's name and version.
    pub driver: String,
    /// The native API's version.
    pub api_version: String,
    /// PCI vendor.
    pub vendor: u32,
    /// PCI device.
    pub device: u32,
    /// Whether this backend can make a device of it, or why not.
    pub usable: std::result::Result<(), String>,
    /// The features it could enable.
    pub features: Features,
    /// The limits it could enable.
    pub limits: Limits,
}

/// What a device can do, as enabled end to end.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// The features that are enabled.
    pub features: Features,
    /// The limits that are enabled.
    pub limits: Limits,
    /// Nanoseconds of a timestamp tick; zero without [`Features::TIMESTAMP_QUERY`].
    pub timestamp_period: f32,
    /// Bits of a timestamp, which comes round after them; `None` where the API does not say, and without the feature.
    pub timestamp_valid_bits: Option<u32>,
    /// The multiple that `bytes_per_row` of buffer-texture copies must be on this backend (1 where any pitch does).
    pub copy_row_alignment: u32,
    /// The multiple that buffer offsets of buffer-texture copies must be, besides the texel block's size.
    pub copy_offset_alignment: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D2: each limit alone, exactly met and passed by the least.
    #[test]
    fn each_limit_is_met_exactly_and_not_beyond() {
        let have = Limits::default();
        assert_eq!(have.first_unmet(&have), None);
        for (field, over) in have.each_beyond() {
            let unmet = over.first_unmet(&have).expect(field);
            assert_eq!(unmet.field, field);
            assert_ne!(unmet.requested, unmet.available, "{field}");
            assert_eq!(have.first_unmet(&over), None, "{field}: more than is needed is enough");
        }
    }

    #[test]
    fn features_bring_what_they_need() {
        let sliced = Features::TEXTURE_COMPRESSION_BC_SLICED_3D;
        assert_eq!(sliced.with_needs(), sliced | Features::TEXTURE_COMPRESSION_BC);
        assert_eq!(Features::TEXTURE_COMPRESSION_BC.with_needs(), Features::TEXTURE_COMPRESSION_BC);
        assert_eq!(Features::empty().with_needs(), Features::empty());
        assert_eq!(Features::all().with_needs(), Features::all());
    }
}
