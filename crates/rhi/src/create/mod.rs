//! Creation: each description is checked against the enabled profile and the objects it names, then the backend is
//! called once, then the registry and the ledger learn of it. A failure at any point leaves nothing behind.

mod binding;
mod buffer;
mod group;
mod heap;
mod pipeline;
mod query;
mod sampler;
mod texture;

pub(crate) use texture::mip_bytes;

use crate::backend::Backend;
use crate::device::Device;
use crate::error::{Error, Result};

impl<B: Backend> Device<B> {
    /// Refuses bytes beyond the request's memory budget.
    fn check_budget(&self, bytes: u64, what: impl FnOnce() -> String) -> Result<()> {
        let available = self.storage.memory_budget.saturating_sub(self.registry.memory);
        if bytes > available {
            return Err(Error::BudgetExceeded {
                what: what(),
                requested: bytes,
                available,
                budget: self.storage.memory_budget,
            });
        }
        Ok(())
    }
}
