//! A package: some shader files, the targets they must reach, and where the generated code will live.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use naga::valid::Capabilities;

use crate::compile::{Checked, check};
use crate::error::Error;
use crate::generate;
use crate::layout::host_types;
use crate::manifest::{self, Options};
use crate::output::{self, Written};
use crate::reflect::{Reflection, entries};
use crate::source::{Root, SourceMap};
use crate::target::{BoundsChecks, Target, spirv};

/// A package of shaders to compile together.
///
/// Builder methods take and return the package, so a declaration reads as one expression.
#[derive(Debug, Clone)]
pub struct Package {
    name: String,
    sources: Vec<Root>,
    include_dirs: Vec<PathBuf>,
    targets: Vec<Target>,
    crate_path: String,
    capabilities: Capabilities,
    bounds_checks: BoundsChecks,
}

impl Package {
    /// A package of this name, which names the generated files: ASCII letters, digits, `_` and `-`.
    ///
    /// Starts with every target, [`BoundsChecks::Restrict`], the crate path `::purlin_rhi`, and all capabilities
    /// that Purlin's binding model can express.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            sources: Vec::new(),
            include_dirs: Vec::new(),
            targets: Target::PORTABLE.to_vec(),
            crate_path: "::purlin_rhi".into(),
            capabilities: default_capabilities(),
            bounds_checks: BoundsChecks::default(),
        }
    }

    /// Adds a `.wgsl` file. Its stem names the generated module.
    #[must_use]
    pub fn source(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.push(Root::File(path.into()));
        self
    }

    /// Adds several files.
    #[must_use]
    pub fn sources<P: Into<PathBuf>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        paths.into_iter().fold(self, |package, path| package.source(path))
    }

    /// Adds WGSL from memory under a file name, such as `cull.wgsl`.
    #[must_use]
    pub fn text(mut self, name: impl Into<String>, wgsl: impl Into<String>) -> Self {
        self.sources.push(Root::Text { name: name.into(), text: wgsl.into() });
        self
    }

    /// Adds a directory in which imports are looked up, after the importing file's own and those added before.
    #[must_use]
    pub fn include_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.include_dirs.push(dir.into());
        self
    }

    /// Replaces the declared targets. What one of them cannot express fails the build.
    #[must_use]
    pub fn targets(mut self, targets: &[Target]) -> Self {
        self.targets = targets.to_vec();
        self.targets.sort();
        self.targets.dedup();
        self
    }

    /// The path under which generated code finds purlin-rhi, such as `::purlin::rhi`. Starts with `::` or `crate`.
    #[must_use]
    pub fn crate_path(mut self, path: impl Into<String>) -> Self {
        self.crate_path = path.into();
        self
    }

    /// Replaces the optional language features that shaders may use, to hold a package to what its devices have.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Replaces what SPIR-V does with indices out of range.
    #[must_use]
    pub fn bounds_checks(mut self, checks: BoundsChecks) -> Self {
        self.bounds_checks = checks;
        self
    }

    /// The source files, without what they import and without texts from memory.
    pub fn source_files(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().filter_map(|root| match root {
            Root::File(path) => Some(path.as_path()),
            Root::Text { .. } => None,
        })
    }

    /// Compiles every source.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, in the order of sources; see [`Error`].
    pub fn compile(&self) -> Result<Compiled, Error> {
        self.check_declaration()?;
        let mut shaders = Vec::new();
        let mut by_name = BTreeMap::new();
        for root in &self.sources {
            let path = match root {
                Root::File(path) => path.as_path(),
                Root::Text { name, .. } => Path::new(name),
            };
            let name = shader_name(path)?;
            if let Some(other) = by_name.insert(name.clone(), path) {
                let message =
                    format!("`{}` and `{}` would both be module `{name}`", other.display(), path.display());
                return Err(self.wrong(message));
            }
            shaders.push(self.compile_one(root, name)?);
        }
        let mut compiled = Compiled { name: self.name.clone(), shaders, files: Vec::new() };
        compiled.files = self.files(&compiled.shaders)?;
        Ok(compiled)
    }

    fn check_declaration(&self) -> Result<(), Error> {
        if !generate::is_package_name(&self.name) {
            return Err(self.wrong(
                "the name must be ASCII letters, digits, `_` or `-`, and start with a letter".into(),
            ));
        }
        if !generate::is_crate_path(&self.crate_path) {
            let message =
                format!("crate path `{}` must be a path that starts with `::` or `crate`", self.crate_path);
            return Err(self.wrong(message));
        }
        if self.sources.is_empty() {
            return Err(self.wrong("no sources".into()));
        }
        if self.targets.is_empty() {
            return Err(self.wrong("no targets".into()));
        }
        Ok(())
    }

    fn compile_one(&self, root: &Root, name: String) -> Result<Shader, Error> {
        let source = SourceMap::resolve(root, &self.include_dirs)?;
        let Checked { written, resolved, info } = check(&source, self.capabilities, &self.targets)?;
        let types = host_types(&source, &written)?;
        let reflection = Reflection {
            entries: entries(&source, &resolved, &info)?,
            structs: types.structs,
            arrays: types.arrays,
        };
        // A module without entry points only declares types; there is no code to write for it.
        let has_code = !reflection.entries.is_empty();
        let spirv = if has_code && self.targets.contains(&Target::SpirV) {
            spirv(&resolved, &info, self.bounds_checks)?
        } else {
            Vec::new()
        };
        let wgsl = if has_code && self.targets.iter().any(|target| target.is_wgsl()) {
            source.text.clone()
        } else {
            String::new()
        };
        Ok(Shader { name, spirv, wgsl, reflection, source })
    }

    fn files(&self, shaders: &[Shader]) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let inputs: Vec<generate::Input<'_>> = shaders
            .iter()
            .map(|shader| generate::Input {
                name: &shader.name,
                source: shader.source.files.first().map_or("", |file| file.logical.as_str()),
                spirv: &shader.spirv,
                wgsl: &shader.wgsl,
                reflection: &shader.reflection,
            })
            .collect();
        let module = generate::module(&self.name, &self.crate_path, &inputs);
        let mut files = vec![(format!("{}.rs", self.name), module.into_bytes())];
        for shader in shaders {
            let mut add = |target: Target, content: Vec<u8>| {
                if !content.is_empty() {
                    files.push((format!("{}/{}.{}", self.name, shader.name, target.extension()), content));
                }
            };
            add(Target::SpirV, shader.spirv.iter().flat_map(|word| word.to_le_bytes()).collect());
            // One text: what the narrower of both targets accepts.
            add(Target::Wgsl, shader.wgsl.clone().into_bytes());
        }
        let options = Options {
            targets: self.targets.iter().map(|target| target.name()).collect(),
            bounds_checks: self.bounds_checks.name(),
            crate_path: &self.crate_path,
        };
        let manifest = manifest::manifest(&self.name, options, shaders, &files)
            .map_err(|error| self.wrong(format!("the manifest cannot be written: {error}")))?;
        files.push((format!("{}/manifest.json", self.name), manifest));
        Ok(files)
    }

    fn wrong(&self, message: String) -> Error {
        Error::Package { package: self.name.clone(), message }
    }
}

fn shader_name(path: &Path) -> Result<String, Error> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    if extension != "wgsl" {
        return Err(Error::UnsupportedSource { path: path.to_owned(), extension: extension.into_owned() });
    }
    Ok(generate::module_name(&path.file_stem().unwrap_or_default().to_string_lossy()))
}

/// All that the binding model expresses. Ray tracing, mesh shading, cooperative matrices and external textures have
/// no place in it yet.
fn default_capabilities() -> Capabilities {
    Capabilities::all()
        - (Capabilities::RAY_QUERY
            | Capabilities::RAY_HIT_VERTEX_POSITION
            | Capabilities::RAY_TRACING_PIPELINE
            | Capabilities::ACCELERATION_STRUCTURE_BINDING_ARRAY
            | Capabilities::MESH_SHADER
            | Capabilities::MESH_SHADER_POINT_TOPOLOGY
            | Capabilities::COOPERATIVE_MATRIX
            | Capabilities::TEXTURE_EXTERNAL)
}

/// A compiled package, in memory.
#[derive(Debug)]
pub struct Compiled {
    name: String,
    shaders: Vec<Shader>,
    files: Vec<(String, Vec<u8>)>,
}

impl Compiled {
    /// The shaders in the order of sources.
    pub fn shaders(&self) -> &[Shader] {
        &self.shaders
    }

    /// The shader of this module name.
    pub fn shader(&self, name: &str) -> Option<&Shader> {
        self.shaders.iter().find(|shader| shader.name == name)
    }

    /// The generated Rust module.
    pub fn module(&self) -> &str {
        self.files.first().and_then(|(_, content)| std::str::from_utf8(content).ok()).unwrap_or_default()
    }

    /// Every output file: its path relative to the output directory, and its content.
    ///
    /// `<package>.rs`, then `<package>/<shader>.spv` and `.wgsl` for each shader, then `<package>/manifest.json`.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// Every file that was read, imports included, each once.
    pub fn inputs(&self) -> Vec<&Path> {
        let mut inputs: Vec<&Path> = self
            .shaders
            .iter()
            .flat_map(|shader| &shader.source.files)
            .filter_map(|file| file.path.as_deref())
            .collect();
        inputs.sort();
        inputs.dedup();
        inputs
    }

    /// Writes every output under `dir`, which is created if need be: all of them, or on error none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the file that could not be written, or that is a source and would be overwritten.
    pub fn write(&self, dir: impl AsRef<Path>) -> Result<Written, Error> {
        let dir = dir.as_ref();
        let files = output::write_all(dir, &self.files, &self.inputs())?;
        Ok(Written {
            module: dir.join(format!("{}.rs", self.name)),
            manifest: dir.join(&self.name).join("manifest.json"),
            files,
        })
    }
}

/// One compiled shader file.
#[derive(Debug)]
pub struct Shader {
    /// The module's name, from the file stem.
    pub name: String,
    /// SPIR-V words; empty if the package does not declare that target.
    pub spirv: Vec<u32>,
    /// WGSL with imports resolved; empty if the package does not declare that target.
    pub wgsl: String,
    /// What is known of it.
    pub reflection: Reflection,
    pub(crate) source: SourceMap,
}

/// Compiles a package from a build script and writes it to `OUT_DIR`.
///
/// Tells Cargo to run again when a source, an import or the build script changes. On error, prints what
/// [`Error::report`] says and ends the process with status 1, so that the reader sees the shader's error and no
/// backtrace. Use [`Package::compile`] to handle errors otherwise.
pub fn build(package: Package) {
    println!("cargo:rerun-if-changed=build.rs");
    for root in &package.sources {
        if let Root::File(path) = root {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let Some(out_dir) = std::env::var_os("OUT_DIR") else {
        eprintln!("error: OUT_DIR is not set: `purlin_shader::build` is for build scripts");
        std::process::exit(1);
    };
    let result = package.compile().and_then(|compiled| {
        compiled.write(Path::new(&out_dir))?;
        Ok(compiled)
    });
    match result {
        Ok(compiled) => {
            for input in compiled.inputs() {
                println!("cargo:rerun-if-changed={}", input.display());
            }
        }
        Err(error) => {
            eprintln!("{}", error.report());
            std::process::exit(1);
        }
    }
}
