//! The manifest: which inputs, which tools and which choices gave which outputs, by hash.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::package::Shader;
use crate::reflect::Entry;

/// The version of the manifest's own form.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Manifest<'a> {
    format: u32,
    package: &'a str,
    tools: Tools,
    options: Options<'a>,
    shaders: Vec<ShaderRecord<'a>>,
    outputs: Vec<FileRecord>,
}

#[derive(Serialize)]
struct Tools {
    #[serde(rename = "purlin-shader")]
    purlin_shader: &'static str,
    naga: &'static str,
}

/// Choices that change the outputs.
#[derive(Serialize)]
pub(crate) struct Options<'a> {
    pub targets: Vec<&'static str>,
    pub bounds_checks: &'static str,
    pub crate_path: &'a str,
}

#[derive(Serialize)]
struct ShaderRecord<'a> {
    name: &'a str,
    inputs: Vec<FileRecord>,
    entries: &'a [Entry],
}

/// A file by its content.
#[derive(Serialize)]
struct FileRecord {
    path: String,
    bytes: usize,
    sha256: String,
}

impl FileRecord {
    fn new(path: &str, content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: path.to_owned(), bytes: content.len(), sha256 }
    }
}

/// The manifest as JSON. `outputs` are all files but the manifest itself.
pub(crate) fn manifest(
    package: &str,
    options: Options<'_>,
    shaders: &[Shader],
    outputs: &[(String, Vec<u8>)],
) -> Result<Vec<u8>, serde_json::Error> {
    let manifest = Manifest {
        format: FORMAT,
        package,
        tools: Tools { purlin_shader: crate::VERSION, naga: crate::NAGA_VERSION },
        options,
        shaders: shaders
            .iter()
            .map(|shader| ShaderRecord {
                name: &shader.name,
                inputs: shader
                    .source
                    .files
                    .iter()
                    .map(|file| FileRecord::new(&file.logical, &file.bytes))
                    .collect(),
                entries: &shader.reflection.entries,
            })
            .collect(),
        outputs: outputs.iter().map(|(path, content)| FileRecord::new(path, content)).collect(),
    };
    let mut json = serde_json::to_vec_pretty(&manifest)?;
    json.push(b'\n');
    Ok(json)
}
