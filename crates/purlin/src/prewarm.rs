//! Compiling before the first frame what the last run needed.
//!
//! A program gives its pipelines names, notes each one it asks for in a [`VariantManifest`], and writes that at its end. At the
//! next start [`Prewarm`] asks for all of them while a loading screen is shown. What a name means stays the program's: the
//! manifest knows names, never descriptions, so it fits every backend and driver.
//!
//! ```
//! use purlin::prewarm::{Prewarm, VariantManifest};
//! use purlin::rhi::{Device, DeviceRequest, null::Null};
//!
//! # pollster::block_on(async {
//! let mut device = Device::<Null>::request(&DeviceRequest::default()).await?;
//! let manifest = VariantManifest::from_json(r#"["removed last week"]"#).unwrap();
//! let mut warm = Prewarm::new(&manifest);
//! while !warm.is_done() {
//!     let progress = warm.advance(&mut device, |_device, name| match name {
//!         // "scene" => Some(device.request_render_pipeline(&scene_desc()).map(Into::into)),
//!         _ => None,
//!     })?;
//!     println!("{} of {}", progress.done, progress.total);
//! }
//! let report = warm.finish();
//! assert_eq!(report.missing, ["removed last week"]);
//! # Ok::<(), purlin::Error>(())
//! # }).unwrap();
//! ```

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use purlin_rhi::backend::Backend;
use purlin_rhi::{Device, Error, PipelineState, PipelineTicket, kind};

/// Names of the pipelines that a program asked for. On disk a list of texts in JSON, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariantManifest {
    names: BTreeSet<String>,
}

/// Why a manifest could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// It is no list of texts.
    #[error("a variant manifest is a JSON list of names: {0}")]
    Form(#[from] serde_json::Error),
}

impl VariantManifest {
    /// No names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that a pipeline was asked for; whether it is new.
    pub fn record(&mut self, name: &str) -> bool {
        !self.names.contains(name) && self.names.insert(name.into())
    }

    /// The names, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// What is here and not in the other: what a run asked for that its manifest had not prewarmed.
    pub fn beyond<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        self.names.difference(&other.names).map(String::as_str).collect()
    }

    /// Reads a list of names.
    ///
    /// # Errors
    /// [`ManifestError::Form`] with the place in the text.
    pub fn from_json(json: &str) -> Result<Self, ManifestError> {
        Ok(Self { names: serde_json::from_str::<Vec<String>>(json)?.into_iter().collect() })
    }

    /// The names as a list.
    pub fn to_json(&self) -> String {
        let values = self.names.iter().cloned().map(serde_json::Value::String).collect();
        format!("{:#}\n", serde_json::Value::Array(values))
    }

    /// Reads a file; one that is not there has no names.
    ///
    /// # Errors
    /// A file that cannot be read or is no manifest.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ManifestError> {
        let path = path.as_ref();
        match std::fs::read_to_string(path) {
            Ok(json) => Self::from_json(&json),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::new()),
            Err(source) => Err(ManifestError::Io { path: path.into(), source }),
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ManifestError> {
        let path = path.as_ref();
        std::fs::write(path, self.to_json()).map_err(|source| ManifestError::Io { path: path.into(), source })
    }
}

/// A requested pipeline of either kind.
#[derive(Debug, Clone)]
pub enum AnyTicket {
    /// A raster pipeline.
    Render(PipelineTicket<kind::RenderPipeline>),
    /// A compute pipeline.
    Compute(PipelineTicket<kind::ComputePipeline>),
}

impl From<PipelineTicket<kind::RenderPipeline>> for AnyTicket {
    fn from(ticket: PipelineTicket<kind::RenderPipeline>) -> Self {
        Self::Render(ticket)
    }
}
impl From<PipelineTicket<kind::ComputePipeline>> for AnyTicket {
    fn from(ticket: PipelineTicket<kind::ComputePipeline>) -> Self {
        Self::Compute(ticket)
    }
}

impl AnyTicket {
    /// Whether it is ready; why not, if it failed.
    fn is_ready<B: Backend>(&self, device: &Device<B>) -> Result<Option<Result<(), Error>>, Error> {
        fn ended<K: kind::Kind>(state: PipelineState<K>) -> Option<Result<(), Error>> {
            match state {
                PipelineState::Pending => None,
                PipelineState::Ready(_) => Some(Ok(())),
                PipelineState::Failed(error) => Some(Err(error)),
            }
        }
        Ok(match self {
            Self::Render(ticket) => ended(device.pipeline_state(ticket)?),
            Self::Compute(ticket) => ended(device.pipeline_state(ticket)?),
        })
    }
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Names that are ready, failed or missing.
    pub done: usize,
    /// Names of the manifest.
    pub total: usize,
}

/// What a prewarming came to. Each name is in one of the lists.
#[derive(Debug, Default)]
pub struct PrewarmReport {
    /// Pipelines that are there. Keep the tickets until the program has asked for the same itself: then it shares them.
    pub ready: Vec<(String, AnyTicket)>,
    /// Those that could not be asked for, or that the driver refused.
    pub failed: Vec<(String, Error)>,
    /// Names that the program does not know any more.
    pub missing: Vec<String>,
}

/// Asks for the pipelines of a manifest, as many at a time as there is room for.
#[derive(Debug)]
pub struct Prewarm {
    waiting: VecDeque<String>,
    asked: Vec<(String, AnyTicket)>,
    report: PrewarmReport,
    total: usize,
}

impl Prewarm {
    /// Begins; nothing is asked for yet.
    pub fn new(manifest: &VariantManifest) -> Self {
        Self {
            waiting: manifest.names().map(String::from).collect(),
            asked: Vec::new(),
            report: PrewarmReport::default(),
            total: manifest.names.len(),
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress { done: self.total - self.waiting.len() - self.asked.len(), total: self.total }
    }

    /// Whether every name is ready, failed or missing.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }

    /// Goes on, once a frame of the loading screen: asks for what there is room for, publishes what is compiled. `request`
    /// asks for the pipeline of a name, and knows none of a name that the program has no more. Never waits for the driver
    /// where the device has a worker; elsewhere compiles one pipeline.
    ///
    /// # Errors
    /// Device loss. What one name fails with is in the report.
    pub fn advance<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        mut request: impl FnMut(&mut Device<B>, &str) -> Option<purlin_rhi::Result<AnyTicket>>,
    ) -> purlin_rhi::Result<Progress> {
        while let Some(name) = self.waiting.pop_front() {
            match request(device, &name) {
                None => self.report.missing.push(name),
                Some(Ok(ticket)) => self.asked.push((name, ticket)),
                Some(Err(Error::Pending { .. })) => {
                    self.waiting.push_front(name);
                    break;
                }
                Some(Err(error)) => {
                    let lost = matches!(error, Error::DeviceLost { .. });
                    self.report.failed.push((name, error.clone()));
                    if lost {
                        return Err(error);
                    }
                }
            }
        }
        device.maintain()?;
        self.sort(device)?;
        Ok(self.progress())
    }

    /// Goes on until all is done or the time is over, without a loading screen.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn run<B: Backend>(
        &mut self,
        device: &mut Device<B>,
        timeout: Duration,
        mut request: impl FnMut(&mut Device<B>, &str) -> Option<purlin_rhi::Result<AnyTicket>>,
    ) -> purlin_rhi::Result<Progress> {
        loop {
            self.advance(device, &mut request)?;
            let in_time = device.wait_for_pipelines(timeout)?;
            self.sort(device)?;
            if self.waiting.is_empty() || !in_time {
                return Ok(self.progress());
            }
        }
    }

    /// Moves what has ended to the report.
    fn sort<B: Backend>(&mut self, device: &Device<B>) -> purlin_rhi::Result<()> {
        for (name, ticket) in std::mem::take(&mut self.asked) {
            match ticket.is_ready(device)? {
                None => self.asked.push((name, ticket)),
                Some(Ok(())) => self.report.ready.push((name, ticket)),
                Some(Err(error)) => self.report.failed.push((name, error)),
            }
        }
        Ok(())
    }

    /// What it came to. What is not done yet is in no list.
    pub fn finish(self) -> PrewarmReport {
        self.report
    }
}
