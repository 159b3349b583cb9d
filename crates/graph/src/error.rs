//! Errors of a graph: which pass, which resource, what was declared where, and what was found.

use std::panic::Location;

type At = &'static Location<'static>;

/// Why a graph was rejected. Nothing was submitted, and neither the ledger nor any ticket has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Contents are read that nothing wrote: not a pass, not an import, not a clear.
    #[error(
        "pass \"{pass}\" reads {part} of \"{resource}\", which holds nothing yet: {why} (read at {at}, declared at {declared})"
    )]
    Undefined {
        /// The reading pass; the sink for an export.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// Which part.
        part: Box<str>,
        /// Who wrote other parts before, or that nobody did.
        why: Box<str>,
        /// The read.
        at: At,
        /// The resource's declaration.
        declared: At,
    },
    /// One pass samples or reads what it also writes.
    #[error(
        "pass \"{pass}\" both reads and writes {part} of \"{resource}\": {first} (at {first_at}) and {second} (at {second_at})"
    )]
    Feedback {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// Which part.
        part: Box<str>,
        /// The earlier declaration.
        first: Box<str>,
        /// The later declaration.
        second: Box<str>,
        /// Where the earlier is.
        first_at: At,
        /// Where the later is.
        second_at: At,
    },
    /// One pass writes one part in two ways, or attaches one subresource twice.
    #[error(
        "pass \"{pass}\" uses {part} of \"{resource}\" twice in ways that exclude each other: {first} (at {first_at}) and {second} (at {second_at})"
    )]
    Conflict {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// Which part.
        part: Box<str>,
        /// The earlier declaration.
        first: Box<str>,
        /// The later declaration.
        second: Box<str>,
        /// Where the earlier is.
        first_at: At,
        /// Where the later is.
        second_at: At,
    },
    /// A version of another graph, or of an earlier frame.
    #[error("{user} uses a {kind} version of another graph (at {at})")]
    ForeignVersion {
        /// The pass or sink.
        user: Box<str>,
        /// Texture or buffer.
        kind: &'static str,
        /// The use.
        at: At,
    },
    /// An imported handle that the device does not know.
    #[error("import \"{resource}\" (at {at}): {source}")]
    Import {
        /// The resource.
        resource: Box<str>,
        /// The import.
        at: At,
        /// What the device says.
        source: Box<purlin_rhi::Error>,
    },
    /// An import whose contents only uploads write is written by a pass.
    #[error(
        "pass \"{pass}\" writes \"{resource}\", whose contents only uploads write (at {at}, imported at {declared})"
    )]
    ReadOnlyImport {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The write.
        at: At,
        /// The import.
        declared: At,
    },
    /// A pass writes a resource after it was exported.
    #[error("pass \"{pass}\" writes \"{resource}\" (at {at}) after it was exported (at {exported})")]
    WrittenAfterExport {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The write.
        at: At,
        /// The export.
        exported: At,
    },
    /// A description that no resource can have.
    #[error("resource \"{resource}\": invalid {field}: expected {expected}, found {found} (at {at})")]
    Description {
        /// The resource.
        resource: Box<str>,
        /// The field.
        field: &'static str,
        /// What is accepted.
        expected: Box<str>,
        /// What was given.
        found: Box<str>,
        /// The declaration.
        at: At,
    },
    /// A part that the resource does not have.
    #[error(
        "pass \"{pass}\": {part} of \"{resource}\" does not exist: it has {extent} (at {at}, declared at {declared})"
    )]
    OutOfRange {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The part.
        part: Box<str>,
        /// What there is.
        extent: Box<str>,
        /// The use.
        at: At,
        /// The resource's declaration.
        declared: At,
    },
    /// An attachment that cannot be one.
    #[error("pass \"{pass}\", {slot} \"{resource}\": expected {expected}, found {found} (at {at})")]
    Attachment {
        /// The pass.
        pass: Box<str>,
        /// Which attachment.
        slot: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// What is accepted.
        expected: Box<str>,
        /// What was given.
        found: Box<str>,
        /// The attachment.
        at: At,
    },
    /// A bind group that does not fit its layout.
    #[error("pass \"{pass}\", group {group}: expected {expected}, found {found} (at {at})")]
    Group {
        /// The pass.
        pass: Box<str>,
        /// The group number.
        group: u32,
        /// What is accepted.
        expected: Box<str>,
        /// What was given.
        found: Box<str>,
        /// The bind call.
        at: At,
    },
    /// A binding that does not fit its layout entry.
    #[error(
        "pass \"{pass}\", group {group}, binding {binding} (\"{resource}\"): expected {expected}, found {found} (at {at})"
    )]
    Binding {
        /// The pass.
        pass: Box<str>,
        /// The group number.
        group: u32,
        /// The binding number.
        binding: u32,
        /// What is bound.
        resource: Box<str>,
        /// What the layout accepts.
        expected: Box<str>,
        /// What was given.
        found: Box<str>,
        /// The binding.
        at: At,
    },
    /// A copy or readback that cannot be.
    #[error(
        "pass \"{pass}\": cannot copy \"{from}\" to \"{to}\": expected {expected}, found {found} (at {at})"
    )]
    Copy {
        /// The pass.
        pass: Box<str>,
        /// The source.
        from: Box<str>,
        /// The destination.
        to: Box<str>,
        /// What is accepted.
        expected: Box<str>,
        /// What was given.
        found: Box<str>,
        /// The copy.
        at: At,
    },
    /// A body asked for a resource that its pass did not declare.
    #[error(
        "pass \"{pass}\" asks for \"{resource}\" in its body and does not declare it (pass declared at {at})"
    )]
    Undeclared {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
        /// The pass's declaration.
        at: At,
    },
    /// The device refused something that a pass needs.
    #[error("pass \"{pass}\" (at {at}): {source}")]
    Pass {
        /// The pass.
        pass: Box<str>,
        /// The pass's declaration.
        at: At,
        /// What the device says.
        source: Box<purlin_rhi::Error>,
    },
    /// The device refused to make a transient.
    #[error("transient \"{resource}\" (at {at}): {source}")]
    Transient {
        /// The resource.
        resource: Box<str>,
        /// The declaration.
        at: At,
        /// What the device says.
        source: Box<purlin_rhi::Error>,
    },
    /// The device refused the frame as a whole.
    #[error("graph \"{graph}\": {source}")]
    Device {
        /// The graph.
        graph: Box<str>,
        /// What the device says.
        source: Box<purlin_rhi::Error>,
    },
}

impl GraphError {
    /// The pass that the error is about.
    pub fn pass(&self) -> Option<&str> {
        use GraphError::*;
        match self {
            Undefined { pass, .. }
            | Feedback { pass, .. }
            | Conflict { pass, .. }
            | ReadOnlyImport { pass, .. }
            | WrittenAfterExport { pass, .. }
            | OutOfRange { pass, .. }
            | Attachment { pass, .. }
            | Group { pass, .. }
            | Binding { pass, .. }
            | Copy { pass, .. }
            | Undeclared { pass, .. }
            | Pass { pass, .. } => Some(pass),
            ForeignVersion { .. } | Import { .. } | Description { .. } | Transient { .. } | Device { .. } => {
                None
            }
        }
    }

    /// The resource that the error is about.
    pub fn resource(&self) -> Option<&str> {
        use GraphError::*;
        match self {
            Undefined { resource, .. }
            | Feedback { resource, .. }
            | Conflict { resource, .. }
            | Import { resource, .. }
            | ReadOnlyImport { resource, .. }
            | WrittenAfterExport { resource, .. }
            | Description { resource, .. }
            | OutOfRange { resource, .. }
            | Attachment { resource, .. }
            | Binding { resource, .. }
            | Undeclared { resource, .. }
            | Transient { resource, .. } => Some(resource),
            Copy { from, .. } => Some(from),
            ForeignVersion { .. } | Group { .. } | Pass { .. } | Device { .. } => None,
        }
    }

    /// The source line that the error is about.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        use GraphError::*;
        match *self {
            Feedback { second_at: at, .. } | Conflict { second_at: at, .. } => Some(at),
            Undefined { at, .. }
            | ForeignVersion { at, .. }
            | Import { at, .. }
            | ReadOnlyImport { at, .. }
            | WrittenAfterExport { at, .. }
            | Description { at, .. }
            | OutOfRange { at, .. }
            | Attachment { at, .. }
            | Group { at, .. }
            | Binding { at, .. }
            | Copy { at, .. }
            | Undeclared { at, .. }
            | Pass { at, .. }
            | Transient { at, .. } => Some(at),
            Device { .. } => None,
        }
    }

    /// What the device said, where the error comes from it.
    pub fn device_error(&self) -> Option<&purlin_rhi::Error> {
        use GraphError::*;
        match self {
            Import { source, .. }
            | Pass { source, .. }
            | Transient { source, .. }
            | Device { source, .. } => Some(source),
            _ => None,
        }
    }
}
