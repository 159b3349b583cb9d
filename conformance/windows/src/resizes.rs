//! Random resizes under load.

use std::time::{Duration, Instant};

use purlin::choose::{Choice, Program, run as choose};
use purlin::rhi::Device;
use purlin::rhi::backend::Backend;
use purlin::rhi::surface::{Acquired, Skip, Surface, SurfaceCapabilities, SurfaceConfig, SurfaceFrame};
use purlin::types::{PresentMode, TextureFormat, TextureUsages};
use purlin::{DeviceRequest, Validation};

use crate::listener;
use crate::picture::{Painter, compare, pixels};
use crate::session::Stage;
use crate::{Options, Outcome};

const PATIENCE: Duration = Duration::from_secs(10);
const USAGE: TextureUsages = TextureUsages::RENDER_ATTACHMENT.union(TextureUsages::COPY_SRC);

/// A generator that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most.max(1))) as u32
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}

/// What happened.
#[derive(Debug, Default)]
struct Counts {
    frames: u32,
    configurations: u32,
    zero: u32,
    outdated: u32,
    suboptimal: u32,
    timeouts: u32,
    given_up: u32,
    stale: u32,
    surfaces: u32,
    read: u32,
    seen: u32,
}

struct Run<B: Backend> {
    stage: Stage,
    device: Device<B>,
    surface: Surface,
    painter: Painter<B>,
    random: Random,
    counts: Counts,
    config: SurfaceConfig<'static>,
}

const FIRST: (u32, u32) = (320, 240);
const LAST: (u32, u32) = (480, 300);

pub fn run(options: &Options) -> Outcome {
    listener::listen();
    let begun = Instant::now();
    let stage = Stage::new(options.wayland, FIRST)?;
    let target = stage.target();
    let validation = match std::env::var_os("PURLIN_VALIDATE") {
        Some(_) => Validation::Synchronization,
        None => Validation::Off,
    };
    let request =
        DeviceRequest { label: "windows", surface: Some(&target), validation, ..Default::default() };
    let ran = pollster::block_on(choose(&Choice::from_env()?, &request, Resizes { stage, options }))?;
    let said = [ran.validation, listener::heard()].concat();
    let counts = ran.output.map_err(|error| format!("{error}; validation said: {said:?}"))?;
    println!(
        "{} on {}: {} resizes in {:.1} s, {counts:?}, {} validation messages",
        if options.wayland { "wayland" } else { "x11" },
        ran.backend,
        options.resizes,
        begun.elapsed().as_secs_f32(),
        said.len(),
    );
    if said.is_empty() { Ok(()) } else { Err(format!("validation said:\n{}", said.join("\n")).into()) }
}

/// The program, before it has a device.
struct Resizes<'a> {
    stage: Stage,
    options: &'a Options,
}

impl Program for Resizes<'_> {
    type Output = Outcome<Counts>;

    fn run<B: Backend>(self, mut device: Device<B>) -> Outcome<Counts> {
        let Self { stage, options } = self;
        let surface = device.create_surface("window", &stage.target())?;
        let painter = Painter::new(&mut device)?;
        let capabilities = surface.capabilities(&device)?;
        println!("{} offers {capabilities:?}", device.adapter().name);
        let format = formats(&capabilities)[0];
        // Where frames cannot be read, the screen is enough.
        let usage = USAGE & capabilities.usages;
        let config = SurfaceConfig { usage, ..SurfaceConfig::new(FIRST.0, FIRST.1, format) };
        let (random, counts) = (Random(options.seed), Counts::default());
        let mut run = Run { stage, device, surface, painter, random, counts, config };
        run.configure(FIRST)?;
        run.verified()?;
        for number in 1..=options.resizes {
            run.resize(number).map_err(|error| format!("resize {number}: {error}"))?;
        }
        run.stage.resize(LAST)?;
        run.configure(LAST)?;
        let picture = run.verified()?;
        if let Some(path) = &options.capture {
            save(path, &picture, LAST)?;
        }
        let Run { stage, device, surface, painter, counts, .. } = run;
        drop((painter, surface, device));
        drop(stage);
        Ok(counts)
    }
}

/// Formats whose pixels the test can read.
fn formats(capabilities: &SurfaceCapabilities) -> Vec<TextureFormat> {
    let bytes = |format: &&TextureFormat| format.remove_srgb_suffix().block_copy_size(None) == Some(4);
    let packed = |format: &&TextureFormat| **format != TextureFormat::Rgb10a2Unorm;
    capabilities.formats.iter().filter(bytes).filter(packed).copied().collect()
}

fn save(path: &std::path::Path, picture: &[[u8; 3]], extent: (u32, u32)) -> Outcome {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let bytes: Vec<u8> = picture.iter().flatten().copied().collect();
    image::save_buffer(path, &bytes, extent.0, extent.1, image::ColorType::Rgb8)?;
    Ok(())
}

impl<B: Backend> Run<B> {
    /// One resize, with the frames around it and now and then something unusual.
    fn resize(&mut self, number: u32) -> Outcome {
        let size = (1 + self.random.below(400), 1 + self.random.below(300));
        match number % 50 {
            10 | 30 => self.zero()?,
            20 => self.give_up()?,
            40 => self.outlive()?,
            // Mesa's EGL has no second surface for a window, not even when the first was destroyed.
            49 if self.device.adapter().backend != "wgpu-gl" => self.another_surface()?,
            _ => {}
        }
        if number.is_multiple_of(7) {
            self.vary()?;
        }
        if self.random.below(3) == 0 {
            // The frames in between find out by themselves.
            self.stage.request(size)?;
            for _ in 0..2 {
                self.draw()?;
            }
            self.stage.resize(size)?;
        } else {
            self.stage.resize(size)?;
        }
        self.configure(size)?;
        for _ in 0..self.random.below(3) {
            self.draw()?;
        }
        if number.is_multiple_of(5) {
            self.verified()?;
        }
        Ok(())
    }

    fn configure(&mut self, (width, height): (u32, u32)) -> Outcome {
        self.config = SurfaceConfig { width, height, ..self.config };
        let configured = self.surface.configure(&mut self.device, &self.config)?;
        self.counts.configurations += 1;
        if configured.extent != (width, height) {
            return Err(format!("asked for {width}x{height}, got {:?}", configured.extent).into());
        }
        Ok(())
    }

    /// Another format, mode, number of images or of frames in flight.
    fn vary(&mut self) -> Outcome {
        let capabilities = self.surface.capabilities(&self.device)?;
        let auto = [PresentMode::AutoVsync, PresentMode::AutoNoVsync];
        let modes = [&capabilities.present_modes[..], &auto].concat();
        let most = capabilities.max_images.min(capabilities.min_images + 2);
        self.config = SurfaceConfig {
            format: self.random.pick(&formats(&capabilities)),
            present_mode: self.random.pick(&modes),
            frames_in_flight: 1 + self.random.below(3),
            images: capabilities.min_images + self.random.below(most - capabilities.min_images + 1),
            ..self.config
        };
        Ok(())
    }

    /// Sides of zero, on which nothing may be made.
    fn zero(&mut self) -> Outcome {
        for (width, height) in [(0, 0), (120, 0), (0, 480)] {
            let config = SurfaceConfig { width, height, ..self.config };
            self.surface.configure(&mut self.device, &config)?;
            match self.surface.acquire(&mut self.device, PATIENCE)? {
                Acquired::Skipped(Skip::ZeroExtent) => self.counts.zero += 1,
                other => return Err(format!("{width}x{height} answers {other:?}").into()),
            }
        }
        self.configure(self.stage.size())
    }

    /// A frame that is dropped comes again.
    fn give_up(&mut self) -> Outcome {
        if let Some(frame) = self.frame()? {
            let texture = frame.texture();
            drop(frame);
            match self.frame()? {
                Some(again) if again.texture() == texture => self.counts.given_up += 1,
                other => return Err(format!("a frame was dropped, and then {other:?} came").into()),
            }
        }
        Ok(())
    }

    /// A frame does not outlive its configuration.
    fn outlive(&mut self) -> Outcome {
        let Some(frame) = self.frame()? else { return Ok(()) };
        self.configure(self.stage.size())?;
        let refused = self.painter.present(&mut self.device, frame, (0, 0), false);
        if refused.is_ok() {
            return Err("a stale frame was presented".into());
        }
        self.counts.stale += 1;
        Ok(())
    }

    /// The way back from a lost surface: another one of the same window.
    fn another_surface(&mut self) -> Outcome {
        self.draw()?;
        let target = self.stage.target();
        self.surface = self.device.create_surface("window again", &target)?;
        self.counts.surfaces += 1;
        self.configure(self.stage.size())
    }

    /// The next frame; `None` when the surface had to be configured again.
    fn frame(&mut self) -> Outcome<Option<SurfaceFrame>> {
        match self.surface.acquire(&mut self.device, PATIENCE)? {
            Acquired::Frame(frame) => {
                self.counts.suboptimal += u32::from(frame.is_suboptimal());
                Ok(Some(frame))
            }
            Acquired::Skipped(Skip::Outdated) => {
                self.counts.outdated += 1;
                self.stage.pump()?;
                let size = match &self.stage.screen {
                    Some(screen) => screen.size()?,
                    None => self.stage.size(),
                };
                self.configure(size)?;
                Ok(None)
            }
            Acquired::Skipped(Skip::Timeout) => {
                self.counts.timeouts += 1;
                Err("no image within ten seconds".into())
            }
            Acquired::Skipped(reason) => Err(format!("skipped: {reason:?}").into()),
        }
    }

    fn draw(&mut self) -> Outcome {
        self.stage.pump()?;
        if let Some(frame) = self.frame()? {
            let (tint, work) = (self.random.below(8), self.random.below(2000));
            self.painter.present(&mut self.device, frame, (tint, work), false)?;
            self.counts.frames += 1;
        }
        Ok(())
    }

    /// Draws a frame and looks at it: read back before it is presented and, where the window server lets one look, on
    /// the screen.
    fn verified(&mut self) -> Outcome<Vec<[u8; 3]>> {
        self.stage.pump()?;
        let mut frame = None;
        for _ in 0..10 {
            frame = self.frame()?;
            if frame.is_some() {
                break;
            }
        }
        let frame = frame.ok_or("the surface is outdated again and again")?;
        let (extent, format, tint) = (frame.extent(), frame.format(), self.random.below(8));
        let work = self.random.below(500);
        let read = self.config.usage.contains(TextureUsages::COPY_SRC);
        let (token, ticket) = self.painter.present(&mut self.device, frame, (tint, work), read)?;
        self.counts.frames += 1;
        let mut picture = None;
        if let Some(ticket) = ticket {
            let read = pixels(&mut self.device, format, extent, (token, ticket))?;
            compare(extent, tint, |x, y| read[(y * extent.0 + x) as usize])?;
            self.counts.read += 1;
            picture = Some(read);
        }
        if let Some(screen) = &self.stage.screen {
            screen.shows(extent, tint)?;
            self.counts.seen += 1;
            picture = Some(screen.pixels(extent)?);
        }
        picture.ok_or_else(|| {
            "nothing can be looked at: frames are not read, and the screen is not either".into()
        })
    }
}
