//! Tokens of the extension tier: proof that a capability is enabled, taken by the calls that are of no use without it.
//!
//! Where only one choice in a description needs a capability, the call answers [`Error::Unsupported`](crate::Error) with
//! the capability's name instead; the token then is how code above asks once, keeps the answer in a type, and hands it
//! to what may rely on it.

use crate::caps::{Capabilities, Features};

/// An ability beyond the core tier. [`crate::Device::capability`] answers the token when it is enabled.
///
/// A token is made by a device and by nothing else, so what takes one does not compile without having asked:
///
/// ```compile_fail
/// use purlin_rhi::TimestampQuery;
/// # let mut device = pollster::block_on(purlin_rhi::Device::<purlin_rhi::null::Null>::request(&Default::default())).unwrap();
/// device.enable_timings(TimestampQuery(()), true);
/// ```
pub trait Capability: Copy + Sized {
    /// The name in errors and matrices.
    const NAME: &'static str;

    /// The token, when the device has the capability.
    fn of(capabilities: &Capabilities) -> Option<Self>;
}

macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident = $feature:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(());

        impl Capability for $name {
            const NAME: &'static str = stringify!($feature);
            fn of(capabilities: &Capabilities) -> Option<Self> {
                capabilities.features.contains(Features::$feature).then_some(Self(()))
            }
        }
    )*};
}

tokens! {
    /// Indirect draws whose first instance is not zero.
    IndirectFirstInstance = INDIRECT_FIRST_INSTANCE;
    /// Several indirect draws in one native call.
    MultiDrawIndirect = MULTI_DRAW_INDIRECT;
    /// Several indirect draws in one call, as many as a buffer says.
    MultiDrawIndirectCount = MULTI_DRAW_INDIRECT_COUNT;
    /// GPU timestamps.
    TimestampQuery = TIMESTAMP_QUERY;
    /// Queries that count what pipelines do.
    PipelineStatisticsQuery = PIPELINE_STATISTICS_QUERY;
    /// Lines as polygon mode.
    PolygonModeLine = POLYGON_MODE_LINE;
    /// Depth clamped instead of clipped.
    DepthClipControl = DEPTH_CLIP_CONTROL;
    /// Anisotropic filtering.
    Anisotropy = ANISOTROPY;
    /// Storage writes from vertex shaders.
    VertexStorage = VERTEX_STORAGE;
    /// Blocks of BC1 to BC7.
    TextureCompressionBc = TEXTURE_COMPRESSION_BC;
    /// Blocks of ETC2 and EAC.
    TextureCompressionEtc2 = TEXTURE_COMPRESSION_ETC2;
    /// Blocks of ASTC.
    TextureCompressionAstc = TEXTURE_COMPRESSION_ASTC;
    /// Volumes of BC blocks.
    TextureCompressionBcSliced3d = TEXTURE_COMPRESSION_BC_SLICED_3D;
    /// Volumes of ASTC blocks.
    TextureCompressionAstcSliced3d = TEXTURE_COMPRESSION_ASTC_SLICED_3D;
    /// Compressed textures whose sides are no multiples of their blocks.
    UnalignedBlockExtents = UNALIGNED_BLOCK_EXTENTS;
    /// Blend state that differs between color targets.
    IndependentBlend = INDEPENDENT_BLEND;
    /// The depth of 32-bit formats written from buffers.
    DepthUploads = DEPTH_UPLOADS;
    /// Border colors outside of textures.
    AddressModeClampToBorder = ADDRESS_MODE_CLAMP_TO_BORDER;
}
