//! One module from text to checked IR: parse, validate, check each target, give overrides their values.
//!
//! Two IRs leave this phase. The one as written keeps every structure and global, for layouts. The resolved one has
//! no overrides, for reflection (workgroup sizes are numbers by then) and for code.

use std::error::Error as StdError;
use std::ops::Range;

use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, WithSpan};

use crate::error::{Diagnostic, Error, Location};
use crate::source::SourceMap;
use crate::target::Target;

/// A module that is valid and that every declared target can express, as far as capabilities tell.
pub(crate) struct Checked {
    /// The module as written.
    pub written: Module,
    /// The module with overrides replaced by their values.
    pub resolved: Module,
    /// What validation learned of `resolved`.
    pub info: ModuleInfo,
}

pub(crate) fn check(
    source: &SourceMap,
    capabilities: Capabilities,
    targets: &[Target],
) -> Result<Checked, Error> {
    let options = naga::front::wgsl::Options { parse_doc_comments: false, capabilities };
    let written = naga::front::wgsl::Frontend::new_with_options(options)
        .parse(&source.text)
        .map_err(|error| Error::Parse(Box::new(parse_diagnostic(source, &error))))?;

    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&written)
        .map_err(|error| Error::Validation(Box::new(validation_diagnostic(source, &written, &error))))?;
    for &target in targets {
        Validator::new(ValidationFlags::all(), capabilities & target.capabilities())
            .validate(&written)
            .map_err(|error| Error::Target {
                target,
                diagnostic: Box::new(validation_diagnostic(source, &written, &error)),
            })?;
    }

    let (resolved, info) = {
        let (module, info) = process_overrides(&written, &info, None, &Default::default())
            .map_err(|error| override_error(source, &written, error))?;
        (module.into_owned(), info.into_owned())
    };
    Ok(Checked { written, resolved, info })
}

fn parse_diagnostic(source: &SourceMap, error: &naga::front::wgsl::ParseError) -> Diagnostic {
    let mut labels = error.labels().filter_map(|(span, text)| Some((span.to_range()?, text)));
    let primary = labels.next();
    let mut diagnostic = Diagnostic::new(
        error.message(),
        primary.as_ref().and_then(|(range, _)| source.locate(range.clone())),
    );
    if let Some((_, label)) = primary {
        diagnostic.label = label.to_owned();
    }
    diagnostic.notes.extend(labels.filter_map(|(range, text)| place_note(source, range, text)));
    diagnostic.notes.extend(error.notes().map(str::to_owned));
    if diagnostic.message.starts_with("no definition in scope") {
        diagnostic.hint = Some("declare it, or `#import` the file that does".into());
    }
    diagnostic
}

fn validation_diagnostic(
    source: &SourceMap,
    module: &Module,
    error: &WithSpan<ValidationError>,
) -> Diagnostic {
    let mut message = subject(error.as_inner());
    let mut cause = error.as_inner().source();
    while let Some(error) = cause {
        message = if message.is_empty() { error.to_string() } else { format!("{message}: {error}") };
        cause = error.source();
    }
    // naga adds spans from the innermost out, so the first is the most exact.
    let mut spans = error.spans().filter_map(|(span, text)| Some((span.to_range()?, text)));
    let primary = spans.next();
    let mut diagnostic =
        Diagnostic::new(message, primary.as_ref().and_then(|(range, _)| source.locate(range.clone())));
    if diagnostic.location.is_none() {
        diagnostic.location = first_use(source, module, error.as_inner());
    }
    if let Some((_, label)) = primary.filter(|(_, label)| speaks(label)) {
        diagnostic.label = label.clone();
    }
    if diagnostic.message.contains("address space Uniform") && diagnostic.message.contains("stride") {
        let hint = "elements of arrays in uniform buffers are multiples of 16 bytes: use `vec4`, or a storage buffer";
        diagnostic.hint = Some(hint.into());
    }
    diagnostic.notes.extend(spans.filter_map(|(range, text)| place_note(source, range, text)));
    diagnostic
}

/// Predeclared types have no place of their own; the variable that has the type does.
fn first_use(source: &SourceMap, module: &Module, error: &ValidationError) -> Option<Location> {
    let ValidationError::Type { handle, .. } = error else { return None };
    let (variable, _) = module.global_variables.iter().find(|(_, variable)| variable.ty == *handle)?;
    source.locate(module.global_variables.get_span(variable).to_range()?)
}

/// naga labels some spans with the name of its own type and an index, which says nothing about the shader.
fn speaks(label: &str) -> bool {
    !label.is_empty() && !label.starts_with("naga::")
}

fn place_note(source: &SourceMap, range: Range<usize>, text: &str) -> Option<String> {
    if !speaks(text) {
        return None;
    }
    source.locate(range).map(|at| format!("{at}: {text}"))
}

/// What the error is about, without naga's arena indices, which mean nothing to the author of a shader.
fn subject(error: &ValidationError) -> String {
    match error {
        ValidationError::Type { name, .. } if name.is_empty() => "type".into(),
        ValidationError::Type { name, .. } => format!("type `{name}`"),
        ValidationError::Constant { name, .. } => format!("constant `{name}`"),
        ValidationError::Override { name, .. } => format!("override `{name}`"),
        ValidationError::GlobalVariable { name, .. } => format!("variable `{name}`"),
        ValidationError::Function { name, .. } => format!("function `{name}`"),
        ValidationError::EntryPoint { stage, name, .. } => {
            format!("{} entry point `{name}`", format!("{stage:?}").to_lowercase())
        }
        ValidationError::ConstExpression { .. } => "constant expression".into(),
        ValidationError::ArraySizeError { .. } => "array size is not strictly positive".into(),
        ValidationError::Layouter(error) => error.inner.to_string(),
        other => other.to_string(),
    }
}

fn override_error(source: &SourceMap, module: &Module, error: PipelineConstantError) -> Error {
    let diagnostic = match &error {
        PipelineConstantError::MissingValue(key) => {
            let found = module.overrides.iter().find(|(_, item)| {
                item.name.as_ref() == Some(key) || item.id.is_some_and(|id| id.to_string() == *key)
            });
            let name = found.and_then(|(_, item)| item.name.as_deref()).unwrap_or(key);
            let at = found
                .and_then(|(handle, _)| module.overrides.get_span(handle).to_range())
                .and_then(|range| source.locate(range));
            Diagnostic::new(format!("override `{name}` has no default value"), at)
                .with_hint("shaders are compiled offline, so give it a value here, or make it a `const`")
        }
        PipelineConstantError::ValidationError(error) => {
            return Error::Validation(Box::new(validation_diagnostic(source, module, error)));
        }
        other => Diagnostic::new(other.to_string(), None),
    };
    Error::Override(Box::new(diagnostic))
}
