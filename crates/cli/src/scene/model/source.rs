//! From bytes to a validated glTF document with its buffers.
//!
//! The GLB container, URIs and base64 are parsed here and not by the `gltf` crate's own importer: every
//! length is checked before it is used, and an error says which buffer or image of the document it is about.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::error::{DemoError, one_line};

/// The extensions whose meaning is implemented. Others may be used by a model, and must not be required.
const SUPPORTED: [&str; 4] = [
    "KHR_texture_transform",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
];

/// A document whose structure is valid, and the bytes that it refers to.
#[derive(Debug)]
pub(super) struct Source {
    /// The model's file, for errors.
    pub path: PathBuf,
    /// The document; the `gltf` crate has validated all indices and enumerations.
    pub document: gltf::Document,
    /// The bytes of each buffer, at least as many as it declares.
    pub buffers: Vec<Vec<u8>>,
}

impl Source {
    /// Reads a file and all buffers that it refers to.
    pub fn open(path: &Path) -> Result<Self, DemoError> {
        let bytes = std::fs::read(path).map_err(|error| DemoError::io("read", path, error))?;
        Self::parse(path, &bytes)
    }

    /// As [`Source::open`] with the file's bytes in hand.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, DemoError> {
        let fault = |what: String| DemoError::model(path, what);
        let (json, blob) =
            if bytes.starts_with(b"glTF") { split_glb(bytes).map_err(fault)? } else { (bytes, None) };
        let mut root: gltf::json::Root = gltf::json::deserialize::from_slice(json)
            .map_err(|error| fault(format!("the JSON is broken: {error}")))?;
        if let Some(name) = root.extensions_required.iter().find(|name| !SUPPORTED.contains(&name.as_str())) {
            return Err(DemoError::UnsupportedExtension {
                path: path.to_path_buf(),
                extension: one_line(name),
            });
        }
        // The crate's validation looks at position accessors before it checks that they exist.
        let primitives = root.meshes.iter().flat_map(|mesh| &mesh.primitives);
        let attributes = primitives.flat_map(|primitive| primitive.attributes.values());
        if let Some(index) =
            attributes.map(|index| index.value()).find(|index| *index >= root.accessors.len())
        {
            let count = root.accessors.len();
            return Err(fault(format!("a mesh uses accessor {index}, but there are {count}")));
        }
        // The list above is longer than what the crate was built with, and has just been checked.
        root.extensions_required.clear();
        let document = gltf::Document::from_json(root).map_err(|error| match error {
            gltf::Error::Validation(list) => {
                let more =
                    if list.len() > 1 { format!(" (and {} more)", list.len() - 1) } else { String::new() };
                let first = list.first().map(|(at, what)| format!("{}: {what}", at.as_str()));
                fault(format!("invalid: {}{more}", first.unwrap_or_default()))
            }
            other => fault(other.to_string()),
        })?;
        let mut source = Self { path: path.to_path_buf(), document, buffers: Vec::new() };
        source.buffers = source.load_buffers(blob)?;
        Ok(source)
    }

    /// An error about this model.
    pub fn fault(&self, what: impl Display) -> DemoError {
        DemoError::model(&self.path, what)
    }

    fn load_buffers(&self, blob: Option<&[u8]>) -> Result<Vec<Vec<u8>>, DemoError> {
        let mut buffers = Vec::new();
        for (index, buffer) in self.document.as_json().buffers.iter().enumerate() {
            let what = format!("buffer {index}");
            let bytes = match (&buffer.uri, blob) {
                (Some(uri), _) => self.read_uri(uri, &what)?,
                (None, Some(blob)) if index == 0 => blob.to_vec(),
                (None, _) => {
                    return Err(
                        self.fault(format!("{what} has no URI and the file has no binary chunk for it"))
                    );
                }
            };
            let declared = buffer.byte_length.0;
            if (bytes.len() as u64) < declared {
                let got = bytes.len();
                return Err(self.fault(format!("{what} declares {declared} bytes, but only {got} are there")));
            }
            buffers.push(bytes);
        }
        Ok(buffers)
    }

    /// The bytes behind a data URI or a path relative to the model.
    pub fn read_uri(&self, uri: &str, what: &str) -> Result<Vec<u8>, DemoError> {
        if let Some(rest) = uri.strip_prefix("data:") {
            let (media, payload) = rest
                .split_once(',')
                .ok_or_else(|| self.fault(format!("{what}: the data URI has no comma")))?;
            if !media.ends_with(";base64") {
                return Err(self.fault(format!("{what}: the data URI is not base64")));
            }
            return decode_base64(payload).map_err(|error| self.fault(format!("{what}: {error}")));
        }
        let is_scheme = |s: &str| {
            s.len() > 1 && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        };
        if uri.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
            return Err(self
                .fault(format!("{what}: only relative paths and data URIs are read, not '{}'", clip(uri))));
        }
        let relative = percent_decode(uri)
            .ok_or_else(|| self.fault(format!("{what}: the URI '{}' is broken", clip(uri))))?;
        let path = self.path.parent().unwrap_or(Path::new("")).join(relative.as_ref());
        std::fs::read(&path).map_err(|error| DemoError::io("read", &path, error))
    }

    /// The part of a buffer behind a view.
    pub fn view_bytes(&self, view: &gltf::buffer::View<'_>) -> Result<&[u8], DemoError> {
        let buffer = &self.buffers[view.buffer().index()];
        let end = view.offset().checked_add(view.length());
        end.and_then(|end| buffer.get(view.offset()..end)).ok_or_else(|| {
            self.fault(format!(
                "buffer view {} covers bytes {}..+{} of buffer {}, which has {}",
                view.index(),
                view.offset(),
                view.length(),
                view.buffer().index(),
                buffer.len()
            ))
        })
    }
}

/// The start of a URI, for an error line.
fn clip(uri: &str) -> Cow<'_, str> {
    match uri.char_indices().nth(80) {
        Some((end, _)) => Cow::Owned(format!("{}...", &uri[..end])),
        None => Cow::Borrowed(uri),
    }
}

fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The JSON chunk and the binary chunk of a GLB container.
fn split_glb(file: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let (Some(version), Some(length)) = (le_u32(file, 4), le_u32(file, 8)) else {
        return Err("the GLB header is cut off".to_owned());
    };
    if version != 2 {
        return Err(format!("GLB version {version} is not supported, only 2"));
    }
    let Some(file) = file.get(..length as usize) else {
        return Err(format!("the GLB header declares {length} bytes, but the file has {}", file.len()));
    };
    let (mut json, mut binary, mut at) = (None, None, 12);
    while at < file.len() {
        let (Some(size), Some(kind)) = (le_u32(file, at), file.get(at + 4..at + 8)) else {
            return Err(format!("the GLB chunk at byte {at} has a broken header"));
        };
        let start = at + 8;
        let chunk =
            start.checked_add(size as usize).and_then(|end| file.get(start..end)).ok_or_else(|| {
                format!("the GLB chunk at byte {at} declares {size} bytes, but {} follow", file.len() - start)
            })?;
        match kind {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if binary.is_none() => binary = Some(chunk),
            // The container's rule: unknown chunks are skipped.
            _ => {}
        }
        at = start + chunk.len();
    }
    Ok((json.ok_or("the GLB file has no JSON chunk")?, binary))
}

fn percent_decode(uri: &str) -> Option<Cow<'_, str>> {
    if !uri.contains('%') {
        return Some(Cow::Borrowed(uri));
    }
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = rest else { return None };
        let digit = |b: u8| char::from(b).to_digit(16);
        bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut filled) = (0u32, 0);
    for (at, byte) in text.trim_end_matches('=').bytes().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return Err(format!("byte {byte:#04x} at {at} is not base64")),
        };
        group = group << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            bytes.push((group >> filled) as u8);
        }
    }
    if filled == 6 { Err("the base64 text is cut off".to_owned()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64() {
        assert_eq!(decode_base64("").unwrap(), b"");
        assert_eq!(decode_base64("Zg==").unwrap(), b"f");
        assert_eq!(decode_base64("Zm8=").unwrap(), b"fo");
        assert_eq!(decode_base64("Zm9vYmFy").unwrap(), b"foobar");
        assert!(decode_base64("Z").is_err());
        assert!(decode_base64("Zm 8").is_err());
    }

    #[test]
    fn percent_escapes() {
        assert_eq!(percent_decode("a%20b%C3%A9.bin").unwrap(), "a b\u{e9}.bin");
        assert_eq!(percent_decode("a%2"), None);
        assert_eq!(percent_decode("%zz"), None);
        assert_eq!(percent_decode("%ff"), None);
    }

    #[test]
    fn containers() {
        let chunk =
            |kind: &[u8; 4], data: &[u8]| [&(data.len() as u32).to_le_bytes()[..], kind, data].concat();
        let glb = |length: Option<u32>, version: u32, chunks: &[u8]| {
            let length = length.unwrap_or(12 + chunks.len() as u32);
            [b"glTF", &version.to_le_bytes()[..], &length.to_le_bytes(), chunks].concat()
        };
        let good = [chunk(b"JSON", b"{}  "), chunk(b"BIN\0", &[1, 2, 3, 4])].concat();
        let file = glb(None, 2, &good);
        assert_eq!(split_glb(&file).unwrap(), (&b"{}  "[..], Some(&[1, 2, 3, 4][..])));
        for broken in [
            b"glTF".to_vec(),
            glb(Some(4), 2, &good),
            glb(Some(999), 2, &good),
            glb(None, 1, &good),
            glb(None, 2, b""),
            glb(None, 2, &good[..good.len() - 2]),
            glb(None, 2, &chunk(b"BIN\0", b"")),
            glb(None, 2, b"\xff\xff\xff\xffJSON"),
        ] {
            assert!(split_glb(&broken).is_err(), "{broken:?}");
        }
    }
}
