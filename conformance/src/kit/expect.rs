//! Comparisons that say what was compared.

use std::fmt::{Debug, Display};

use super::Checked;
use crate::Failure;

/// A failure by its three parts.
#[cold]
pub(crate) fn wrong(what: impl Display, expected: impl Display, found: impl Display) -> Failure {
    Failure::Wrong { what: what.to_string(), expected: expected.to_string(), found: found.to_string() }
}

/// Both are the same. Long lists are shown from their first difference on.
pub(crate) fn equal<T: PartialEq + Debug>(what: impl Display, found: &[T], expected: &[T]) -> Checked {
    if found == expected {
        return Ok(());
    }
    let at = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(found.len().min(expected.len()));
    let show = |list: &[T]| format!("{:?} of {} elements", &list[at..list.len().min(at + 16)], list.len());
    Err(wrong(format!("{what}, from element {at}"), show(expected), show(found)))
}

/// Each pair differs by at most the tolerance; a number that is none is never close.
pub(crate) fn close(what: impl Display, found: &[f32], expected: &[f32], tolerance: f32) -> Checked {
    let far = |(a, b): (&f32, &f32)| (a - b).abs().partial_cmp(&tolerance) != Some(std::cmp::Ordering::Less);
    if found.len() != expected.len() {
        return Err(wrong(what, format!("{} numbers", expected.len()), found.len()));
    }
    match found.iter().zip(expected).position(|(a, b)| a != b && far((a, b))) {
        None => Ok(()),
        Some(at) => {
            let show = |list: &[f32]| format!("{:?}", &list[at..list.len().min(at + 16)]);
            let expected = format!("{} within {tolerance}", show(expected));
            Err(wrong(format!("{what}, from element {at}"), expected, show(found)))
        }
    }
}

/// The call was refused by an error that says this.
pub(crate) fn refused<T>(what: impl Display, says: &str, result: purlin_rhi::Result<T>) -> Checked {
    match result {
        Ok(_) => Err(wrong(what, format!("an error that says \"{says}\""), "success")),
        Err(error) if error.to_string().contains(says) => Ok(()),
        Err(error) => Err(wrong(what, format!("an error that says \"{says}\""), error)),
    }
}
