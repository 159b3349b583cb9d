//! What `cargo xtask web --test` runs in the browser: every conformance fixture, and the selection of a backend.
//!
//! Fixtures wait, and a browser's work completes only while its event loop turns. So the page runs them through
//! JavaScript promise integration: a wait suspends this module's stack and the page goes on. See
//! `docs/decisions/009-browser.md`.

#[cfg(target_arch = "wasm32")]
mod fixtures;
#[cfg(target_arch = "wasm32")]
mod selection;

fn main() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| web_sys::console::error_1(&info.to_string().into())));
}
