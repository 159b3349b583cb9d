//! The demo page's module: the demo's scene and renderer, with an orbit around it.
//!
//! The page (`web/pages/demo.js`) has the canvas, the controls and the loop. This module has the device and the
//! canvas's surface. Nothing here waits: a frame is shown when the GPU is less than two behind.

#[cfg(target_arch = "wasm32")]
mod orbit;
#[cfg(target_arch = "wasm32")]
mod page;

fn main() {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| web_sys::console::error_1(&info.to_string().into())));
}
