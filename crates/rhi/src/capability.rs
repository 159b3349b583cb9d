//! Tokens of the extension tier: proof that a capability is enabled, taken by the calls that need it.

use crate::caps::{Capabilities, Features};

/// An ability beyond the core tier. [`crate::Device::capability`] answers the token when it is enabled.
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
    /// Several indirect draws in one native call.
    MultiDrawIndirect = MULTI_DRAW_INDIRECT;
    /// Several indirect draws in one call, as many as a buffer says.
    MultiDrawIndirectCount = MULTI_DRAW_INDIRECT_COUNT;
    /// GPU timestamps.
    TimestampQuery = TIMESTAMP_QUERY;
    /// Queries that count what pipelines do.
    PipelineStatisticsQuery = PIPELINE_STATISTICS_QUERY;
}
