//! Textual imports, and the way back from the flattened text to the file a person wrote.
//!
//! An import is a whole line, and is replaced by whole lines. Hence a line of the flattened text belongs to one
//! line of one file and columns never move: the map back is one table with an entry for each flattened line.
//!
//! Rules:
//! - `#import "path"` or `#include "path"` alone on a line (a trailing `;` or `//` comment is allowed), or
//!   `// #include "path"` for tools that insist on plain WGSL. A commented-out `// #import` stays a comment.
//! - The path is relative: first to the importing file's directory, then to each include directory in order.
//! - Each file is included once in a module; a second import, or a cycle, adds nothing. WGSL declarations do not
//!   depend on order, so this is always right.
//! - `enable` and `requires` directives must come first in WGSL, so they belong into the root file, above imports.
//! - Lines inside a block comment are text. Line ends become `\n`, and a leading byte order mark is dropped.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Diagnostic, Error, Location};

/// One file that went into a module.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// As the package or the import reached it: what messages show.
    pub display: String,
    /// Relative to the working directory with forward slashes: what generated files show.
    pub logical: String,
    /// Where it was read; `None` for text given in memory.
    pub path: Option<PathBuf>,
    /// Its bytes as read, for hashing.
    pub bytes: Vec<u8>,
    lines: Vec<String>,
}

/// A module's flattened text and where each of its lines came from.
#[derive(Debug)]
pub(crate) struct SourceMap {
    /// WGSL with imports resolved.
    pub text: String,
    /// The files in the order they were reached; the root is first.
    pub files: Vec<SourceFile>,
    origins: Vec<Origin>,
}

#[derive(Debug, Clone, Copy)]
struct Origin {
    file: usize,
    line: usize,
}

/// Where a module's text comes from.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    File(PathBuf),
    Text { name: String, text: String },
}

impl SourceMap {
    pub(crate) fn resolve(root: &Root, include_dirs: &[PathBuf]) -> Result<Self, Error> {
        let mut map = Self { text: String::new(), files: Vec::new(), origins: Vec::new() };
        let mut seen = HashSet::new();
        let file = match root {
            Root::File(path) => {
                seen.insert(identity(path));
                map.read(path)?
            }
            Root::Text { name, text } => {
                map.add(name.clone(), name.clone(), None, text.clone().into_bytes(), text)
            }
        };
        map.append(file, include_dirs, &mut seen)?;
        Ok(map)
    }

    /// The place in the original sources of a byte range of the flattened text.
    pub(crate) fn locate(&self, range: std::ops::Range<usize>) -> Option<Location> {
        let start = range.start.min(self.text.len());
        let before = self.text.get(..start)?;
        let flat_line = before.matches('\n').count();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let length = self
            .text
            .get(start..range.end.clamp(start, self.text.len()))
            .map_or(1, |covered| covered.lines().next().map_or(0, |line| line.trim_end().chars().count()));
        // The end of the text is one past the last line: point behind that line instead.
        let column = before[line_start..].chars().count();
        match self.origins.get(flat_line) {
            Some(origin) => Some(self.at(*origin, column, length)),
            None => {
                let origin = *self.origins.last()?;
                let end = self.files[origin.file].lines[origin.line].chars().count();
                Some(self.at(origin, end, 1))
            }
        }
    }

    fn at(&self, origin: Origin, column: usize, length: usize) -> Location {
        let file = &self.files[origin.file];
        Location {
            file: file.display.clone(),
            line: origin.line as u32 + 1,
            column: column as u32 + 1,
            length: length.max(1) as u32,
            text: file.lines[origin.line].clone(),
        }
    }

    fn append(
        &mut self,
        file: usize,
        include_dirs: &[PathBuf],
        seen: &mut HashSet<PathBuf>,
    ) -> Result<(), Error> {
        let mut comment_depth = 0;
        for line in 0..self.files[file].lines.len() {
            let text = self.files[file].lines[line].clone();
            let origin = Origin { file, line };
            let directive = if comment_depth == 0 { directive(&text) } else { Directive::None };
            match directive {
                Directive::None => {
                    comment_depth = block_comment_depth(&text, comment_depth);
                    self.text.push_str(&text);
                    self.text.push('\n');
                    self.origins.push(origin);
                }
                Directive::Malformed { column, length, message } => {
                    let at = self.at(origin, column, length);
                    return Err(Error::Import(Box::new(Diagnostic::new(message, Some(at)).with_hint(
                        "write `#import \"file.wgsl\"`; for constants use WGSL's `const` or `override`",
                    ))));
                }
                Directive::Import { path, column } => {
                    let at = self.at(origin, column, path.chars().count());
                    if let Some(found) = self.find(file, &path, include_dirs, &at)?
                        && seen.insert(identity(&found))
                    {
                        let imported = self.read(&found)?;
                        self.append(imported, include_dirs, seen)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn find(
        &self,
        importer: usize,
        path: &str,
        include_dirs: &[PathBuf],
        at: &Location,
    ) -> Result<Option<PathBuf>, Error> {
        let fail = |message: String, hint: String| {
            Err(Error::Import(Box::new(Diagnostic::new(message, Some(at.clone())).with_hint(hint))))
        };
        if Path::new(path).is_absolute() {
            return fail(
                format!("import of an absolute path `{path}`"),
                "name it relative to this file or to an include directory".into(),
            );
        }
        let own = self.files[importer].path.as_deref().and_then(Path::parent);
        let dirs: Vec<&Path> = own.into_iter().chain(include_dirs.iter().map(PathBuf::as_path)).collect();
        if let Some(found) = dirs.iter().map(|dir| tidy(&dir.join(path))).find(|file| file.is_file()) {
            return Ok(Some(found));
        }
        let searched: Vec<String> = dirs
            .iter()
            .map(|dir| if dir.as_os_str().is_empty() { "`.`".into() } else { format!("`{}`", dir.display()) })
            .collect();
        let hint = if searched.is_empty() {
            "text given in memory imports from include directories only; add one".into()
        } else {
            format!("searched {}", searched.join(", "))
        };
        fail(format!("cannot find the imported file `{path}`"), hint)
    }

    fn read(&mut self, path: &Path) -> Result<usize, Error> {
        let bytes = fs::read(path).map_err(|source| Error::io(path, source))?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::io(path, std::io::Error::other("the file is not valid UTF-8")))?
            .to_owned();
        Ok(self.add(path.display().to_string(), logical(path), Some(path.to_owned()), bytes, &text))
    }

    fn add(
        &mut self,
        display: String,
        logical: String,
        path: Option<PathBuf>,
        bytes: Vec<u8>,
        text: &str,
    ) -> usize {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
        let lines = text.lines().map(str::to_owned).collect();
        self.files.push(SourceFile { display, logical, path, bytes, lines });
        self.files.len() - 1
    }
}

#[derive(Debug, PartialEq)]
enum Directive {
    None,
    Import { path: String, column: usize },
    Malformed { column: usize, length: usize, message: String },
}

fn directive(line: &str) -> Directive {
    let trimmed = line.trim_start();
    let column = line.chars().count() - trimmed.chars().count();
    if let Some(comment) = trimmed.strip_prefix("//") {
        let inner = comment.trim_start();
        let quoted = inner.strip_prefix("#include").is_some_and(|rest| rest.trim_start().starts_with('"'));
        let skipped = trimmed.chars().count() - inner.chars().count();
        return if quoted { import(inner, column + skipped) } else { Directive::None };
    }
    if trimmed.starts_with('#') { import(trimmed, column) } else { Directive::None }
}

/// Reads a line that starts with `#`, `column` characters into the source line.
fn import(text: &str, column: usize) -> Directive {
    let word_end = text[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(text.len(), |end| end + 1);
    let word = &text[..word_end];
    let malformed =
        |message: String| Directive::Malformed { column, length: text.trim_end().chars().count(), message };
    if word != "#import" && word != "#include" {
        return malformed(format!("unknown directive `{word}`"));
    }
    let rest = text[word_end..].trim_start();
    let Some((path, tail)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
        return malformed(format!("`{word}` needs a file name in double quotes"));
    };
    if path.is_empty() {
        return malformed(format!("`{word}` of an empty file name"));
    }
    let tail = tail.trim_start();
    let tail = tail.strip_prefix(';').unwrap_or(tail).trim_start();
    if !tail.is_empty() && !tail.starts_with("//") {
        return malformed(format!("unexpected text after `{word} \"{path}\"`"));
    }
    let before_path = text.len() - rest.len() + 1;
    Directive::Import { path: path.to_owned(), column: column + text[..before_path].chars().count() }
}

/// Follows WGSL's nesting block comments over one line.
fn block_comment_depth(line: &str, mut depth: usize) -> usize {
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'/', Some(b'/')) if depth == 0 => return 0,
            (b'/', Some(b'*')) => {
                bytes.next();
                depth += 1;
            }
            (b'*', Some(b'/')) if depth > 0 => {
                bytes.next();
                depth -= 1;
            }
            _ => {}
        }
    }
    depth
}

/// Two spellings of one file are one file.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| tidy(path))
}

/// Removes `.` and `name/..` from a path, so that messages show the short way.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// The path as generated files may show it: never absolute, with forward slashes.
pub(crate) fn logical(path: &Path) -> String {
    let path = tidy(path);
    let here = std::env::current_dir().unwrap_or_default();
    let relative = match path.strip_prefix(&here) {
        Ok(inside) => inside,
        Err(_) if path.is_absolute() => path.file_name().map_or(path.as_path(), Path::new),
        Err(_) => &path,
    };
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let at = |path: &str, column| Directive::Import { path: path.into(), column };
        assert_eq!(directive("#import \"a.wgsl\""), at("a.wgsl", 9));
        assert_eq!(directive("  #include \"lib/a.wgsl\"; // why"), at("lib/a.wgsl", 12));
        assert_eq!(directive("// #include \"a.wgsl\""), at("a.wgsl", 13));
        assert_eq!(directive("// #import \"a.wgsl\""), Directive::None);
        assert_eq!(directive("// #include is a directive"), Directive::None);
        assert_eq!(directive("let x = 1; // #include \"a\""), Directive::None);
        for bad in ["#import a.wgsl", "#import \"a", "#import \"\"", "#define X 1", "#", "#import \"a\" b"] {
            assert!(matches!(directive(bad), Directive::Malformed { .. }), "{bad}");
        }
    }

    #[test]
    fn block_comments_nest_and_line_comments_hide_them() {
        assert_eq!(block_comment_depth("a /* b /* c */", 0), 1);
        assert_eq!(block_comment_depth("*/ x", 1), 0);
        assert_eq!(block_comment_depth("x // /*", 0), 0);
        assert_eq!(block_comment_depth("/*/", 0), 1);
    }

    #[test]
    fn paths() {
        assert_eq!(tidy(Path::new("a/./b/../c.wgsl")), Path::new("a/c.wgsl"));
        assert_eq!(tidy(Path::new("../c.wgsl")), Path::new("../c.wgsl"));
        assert_eq!(logical(Path::new("/far/away/c.wgsl")), "c.wgsl");
        assert_eq!(logical(&std::env::current_dir().unwrap().join("s/c.wgsl")), "s/c.wgsl");
    }
}
