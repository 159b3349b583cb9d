//! Shaders that change while the program runs, with the `hot-reload` feature: for development.
//!
//! [`ShaderReload`] looks at the files of a shader package and compiles it when one has changed. What comes out is what a
//! build script would have generated, so the program goes the usual way with it: a module, a request, and a
//! [`LivePipeline`](purlin_rhi::LivePipeline) that takes the new pipeline at a frame boundary. Each step can fail, and none
//! takes the old pipeline away:
//!
//! - a shader that does not compile is an [`Error`] with file, line and column ([`Error::location`], [`Error::report`]);
//! - one whose bindings or outputs no longer fit is the request's error, which names both sides;
//! - what the driver refuses is [`LiveUpdate::Failed`](purlin_rhi::LiveUpdate::Failed).
//!
//! The rest of the RHI takes shaders as constants. So each new version of a shader stays in memory until the program ends:
//! some kilobytes an edit. An unchanged shader takes nothing.

mod convert;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use purlin_rhi::shader::ShaderSource;
pub use purlin_shader::{Error, Location, Package};

/// Watches the files of a package.
#[derive(Debug)]
pub struct ShaderReload {
    package: Package,
    /// What the files held at the last look; none for one that could not be read.
    seen: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// The newest version of each shader that compiled.
    shaders: Vec<(String, ShaderSource)>,
    /// The last failure, if the last attempt was one, and whether a file that is not watched could mend it.
    broken: Option<(String, bool)>,
}

/// The shaders after a change.
#[derive(Debug, Clone)]
pub struct Reloaded {
    shaders: Vec<(String, ShaderSource)>,
    changed: Vec<String>,
}

impl Reloaded {
    /// The shader of this module name.
    pub fn shader(&self, name: &str) -> Option<&ShaderSource> {
        self.shaders.iter().find(|(other, _)| other == name).map(|(_, source)| source)
    }

    /// Names of the shaders that differ from those before: at first all of them, and none where a mistake was taken back.
    pub fn changed(&self) -> &[String] {
        &self.changed
    }
}

impl ShaderReload {
    /// Watches the package's files, and whatever they import. Nothing is read yet: the first [`Self::poll`] compiles.
    pub fn new(package: Package) -> Self {
        Self { package, seen: BTreeMap::new(), shaders: Vec::new(), broken: None }
    }

    /// Looks whether a file has changed, and compiles if so. `None` when there is nothing new to say; a failure is said once.
    /// Reads every file, so some times a second are enough.
    ///
    /// # Errors
    /// Why the package does not compile. The next change is looked at as any other.
    pub fn poll(&mut self) -> Option<Result<Reloaded, Error>> {
        let first = self.seen.is_empty();
        let mut changed = first;
        for (path, seen) in &mut self.seen {
            let now = std::fs::read(path).ok();
            if now != *seen {
                *seen = now;
                changed = true;
            }
        }
        let elsewhere = self.broken.as_ref().is_some_and(|(_, elsewhere)| *elsewhere);
        if !changed && !elsewhere {
            return None;
        }
        let compiled = match self.package.compile() {
            Ok(compiled) => compiled,
            Err(error) => {
                let roots: Vec<PathBuf> = self.package.source_files().map(Path::to_path_buf).collect();
                let place = error.location().map(|at| PathBuf::from(&at.file));
                roots.into_iter().chain(place).for_each(|path| self.watch(path));
                let elsewhere = matches!(error, Error::Import(_) | Error::Io { .. });
                let text = error.to_string();
                let known = self.broken.as_ref().is_some_and(|(before, _)| *before == text);
                self.broken = Some((text, elsewhere));
                return if known && !changed { None } else { Some(Err(error)) };
            }
        };
        let mended = self.broken.take().is_some();
        compiled.inputs().into_iter().for_each(|path| self.watch(path.to_path_buf()));
        let mut names = Vec::new();
        for shader in compiled.shaders() {
            let before = self.shaders.iter().position(|(name, _)| *name == shader.name);
            let same = |index: usize| {
                let source = &self.shaders[index].1;
                source.spirv == shader.spirv && source.wgsl == shader.wgsl
            };
            if before.is_some_and(same) {
                continue;
            }
            let source = match convert::source(shader) {
                Ok(source) => source,
                Err(message) => return Some(Err(Error::Package { package: shader.name.clone(), message })),
            };
            names.push(shader.name.clone());
            match before {
                Some(index) => self.shaders[index].1 = source,
                None => self.shaders.push((shader.name.clone(), source)),
            }
        }
        if names.is_empty() && !mended {
            return None;
        }
        Some(Ok(Reloaded { shaders: self.shaders.clone(), changed: names }))
    }

    fn watch(&mut self, path: PathBuf) {
        self.seen.entry(path).or_insert_with_key(|path| std::fs::read(path).ok());
    }
}
