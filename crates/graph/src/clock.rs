//! Time for figures. Where the platform has no clock, every duration is zero.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod source {
    /// A moment.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Moment(std::time::Instant);

    impl Moment {
        pub(crate) fn now() -> Self {
            Self(std::time::Instant::now())
        }

        /// Nanoseconds since.
        pub(crate) fn elapsed(self) -> u64 {
            u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod source {
    /// No clock.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Moment;

    impl Moment {
        pub(crate) fn now() -> Self {
            Self
        }

        pub(crate) fn elapsed(self) -> u64 {
            0
        }
    }
}

pub(crate) use source::Moment;
