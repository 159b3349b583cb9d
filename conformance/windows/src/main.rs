//! Opens a window, resizes it at random while it draws, and looks at what is presented.
//!
//! Usage: `purlin-window-probe x11|wayland [--resizes N] [--seed N] [--capture FILE.png]`, on the backend that
//! `PURLIN_BACKEND` names. The last line of output is a summary; the exit code says whether everything held: pictures as
//! computed, validation silent.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
mod picture;
#[cfg(target_os = "linux")]
mod resizes;
#[cfg(target_os = "linux")]
mod screen;
#[cfg(target_os = "linux")]
mod session;

#[allow(missing_docs)]
mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// What a failure says.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The window system, how long, and where a picture goes.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
struct Options {
    wayland: bool,
    resizes: u32,
    seed: u64,
    capture: Option<std::path::PathBuf>,
}

fn options() -> Outcome<Options> {
    let mut args = std::env::args().skip(1);
    let wayland = match args.next().as_deref() {
        Some("x11") => false,
        Some("wayland") => true,
        other => return Err(format!("expected x11 or wayland, found {other:?}").into()),
    };
    let mut options = Options { wayland, resizes: 500, seed: 1, capture: None };
    while let Some(name) = args.next() {
        let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--resizes" => options.resizes = value.parse()?,
            "--seed" => options.seed = value.parse()?,
            "--capture" => options.capture = Some(value.into()),
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(options)
}

fn main() -> Outcome {
    let options = options()?;
    #[cfg(target_os = "linux")]
    return resizes::run(&options);
    #[cfg(not(target_os = "linux"))]
    return Err(format!("no window server to test with here: {options:?}").into());
}
