//! The program: arguments in; a picture, a report and a table out.

use std::path::Path;

use purlin::choose::{self, Choice, Program, Ran};
use purlin::rhi::backend::Backend;
use purlin::rhi::{AdapterSelector, Device, TimestampQuery};
use purlin::{DeviceRequest, Features, Validation};

use crate::args::Args;
use crate::error::{DemoError, one_line};
use crate::formats::Formats;
use crate::output::OutputFile;
use crate::picture::{Difference, decode_png, encode_png, fingerprint};
use crate::progress::{Progress, during};
use crate::renderer::{self, PREFERRED_FEATURES, REQUIRED_FEATURES, Renderer};
use crate::scene::{Scene, SceneOptions};
use crate::summary::{Summary, Times};

/// Runs the demo and answers the table to print.
///
/// # Errors
/// One line that says what went wrong. No file was written then, and what was there before is untouched.
pub fn run(args: &Args) -> Result<String, DemoError> {
    if args.formats {
        return Ok(open_and_run(args, Features::empty(), Features::all(), Formats)?.output);
    }
    let picture_file = OutputFile::reserve(&args.out)?;
    let report_file = OutputFile::reserve(&args.report)?;
    if picture_file.is_same(&report_file) {
        let both = std::io::Error::other("the picture and the report cannot be one file");
        return Err(DemoError::io("write", picture_file.path(), both));
    }

    let reference = args.compare.as_deref().map(|path| reference(path, args)).transpose()?;

    let scene = during("loading", || load(args))?;
    let demo = Demo { args, scene: &scene };
    let ran = open_and_run(args, REQUIRED_FEATURES, PREFERRED_FEATURES, demo)?;
    let rendered = ran.output?;
    if let Some(first) = ran.validation.first() {
        return Err(DemoError::Validation(format!(
            "{} messages, the first: {}",
            ran.validation.len(),
            one_line(first)
        )));
    }

    let png = during("encoding", || encode_png(args.size, &rendered.pixels))
        .map_err(|what| DemoError::Encode { path: picture_file.path().to_path_buf(), what })?;
    let mut summary = rendered.summary;
    summary.line("picture", format!("{}  fnv1a {:016x}", args.out.display(), fingerprint(&rendered.pixels)));
    if let (Some(path), Some(reference)) = (&args.compare, reference) {
        let difference = Difference::of(&rendered.pixels, &reference);
        if difference.psnr < f64::from(args.same) {
            return Err(DemoError::Differs { path: path.clone(), difference: difference.to_string() });
        }
        summary.line("compared", format!("{}: {difference}", path.display()));
    }
    summary.line("report", args.report.display());
    picture_file.commit(&png)?;
    report_file.commit(rendered.report.as_bytes())?;
    Ok(summary.to_string())
}

fn reference(path: &Path, args: &Args) -> Result<Vec<u8>, DemoError> {
    let file = std::fs::read(path).map_err(|error| DemoError::io("read", path, error))?;
    decode_png(&file, args.size)
        .map_err(|what| DemoError::io("compare with", path, std::io::Error::other(what)))
}

fn load(args: &Args) -> Result<Scene, DemoError> {
    let options = SceneOptions { aspect: args.size.aspect(), ..Default::default() };
    match &args.model {
        Some(path) => Scene::load(path, &options),
        None => Ok(Scene::procedural(&options)),
    }
}

fn open_and_run<P: Program>(
    args: &Args,
    required_features: Features,
    preferred_features: Features,
    program: P,
) -> Result<Ran<P::Output>, DemoError> {
    let mut choice = match args.backend {
        Some(choice) => choice,
        None => Choice::from_env()?,
    };
    if args.validate {
        // Backends on wgpu do not tell what the layer says, and silence that proves nothing is worse than none.
        choice = match choice {
            Choice::Auto | Choice::Only("vulkan") => Choice::named("vulkan")?,
            Choice::Only(name) => {
                let what = format!("--validate needs the backend vulkan, not {name}");
                return Err(DemoError::Validation(what));
            }
        };
    }
    let request = DeviceRequest {
        label: "demo",
        adapter: args.adapter.as_deref().map_or(AdapterSelector::Auto, AdapterSelector::Name),
        required_features,
        preferred_features,
        validation: if args.validate { Validation::Synchronization } else { Validation::Off },
        ..Default::default()
    };
    Ok(pollster::block_on(choose::run(&choice, &request, program))?)
}

/// The part of the program that has a device.
struct Demo<'a> {
    args: &'a Args,
    scene: &'a Scene,
}

impl Program for Demo<'_> {
    type Output = Result<Rendered, DemoError>;

    fn run<B: Backend>(self, mut device: Device<B>) -> Self::Output {
        render(self.args, &mut device, self.scene)
    }
}

struct Rendered {
    pixels: Vec<u8>,
    report: String,
    summary: Summary,
}

fn render<B: Backend>(args: &Args, device: &mut Device<B>, scene: &Scene) -> Result<Rendered, DemoError> {
    let progress = Progress::bytes("uploading", renderer::upload_bytes(scene));
    let mut renderer = Renderer::new(device, scene, args.size, &mut |bytes| progress.advance(bytes))?;
    drop(progress);
    if let Some(timestamps) = device.capability::<TimestampQuery>() {
        device.enable_timings(timestamps, true);
    }

    let progress = Progress::steps("rendering", u64::from(args.frames));
    let mut times = Times::default();
    for _ in 0..args.frames {
        let frame = renderer.render(device)?;
        times.frame(&frame.stats, device.pass_times()?);
        progress.advance(1);
    }
    drop(progress);
    renderer.finish(device)?;
    times.passes(device.pass_times()?);

    renderer.set_report(true);
    let (frame, pixels) = renderer.capture(device)?;
    let gpu = device.pass_times()?;
    let report = match frame.report {
        Some(mut report) => {
            report.set_gpu_times(gpu.as_deref().unwrap_or_default());
            report.to_html()
        }
        None => return Err(DemoError::graph("the frame has no report")),
    };

    let mut summary = Summary::default();
    summary.adapter(device.adapter(), device.missing_preferred());
    summary.scene(scene, renderer.visible());
    summary.graph(&frame.stats);
    summary.memory(&frame.stats, device.memory());
    summary.times(&times);
    Ok(Rendered { pixels, report, summary })
}
