//! Labels of records: short ones lie in the record, so that creating a resource needs no heap for its name.

use std::fmt;
use std::ops::Deref;

use arrayvec::ArrayString;

/// Bytes that fit beside the length without making the type larger than it is for long labels.
const SHORT: usize = 24;

/// A label that a record keeps.
#[derive(Clone)]
pub(crate) enum Label {
    Short(ArrayString<SHORT>),
    Long(Box<str>),
}

impl From<&str> for Label {
    #[inline]
    fn from(text: &str) -> Self {
        match ArrayString::from(text) {
            Ok(short) => Self::Short(short),
            Err(_) => Self::Long(text.into()),
        }
    }
}

impl Label {
    /// Becomes another label, mostly in place.
    #[inline]
    pub(crate) fn set(&mut self, text: &str) {
        match self {
            Self::Short(short) if text.len() <= SHORT => {
                short.clear();
                short.push_str(text);
            }
            _ => *self = text.into(),
        }
    }
}

impl Default for Label {
    fn default() -> Self {
        Self::Short(ArrayString::new_const())
    }
}

impl Deref for Label {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Short(text) => text,
            Self::Long(text) => text,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_any_length_come_back() {
        assert!(size_of::<Label>() <= 32);
        for length in [0, 1, SHORT - 1, SHORT, SHORT + 1, 1000] {
            let text = "é".repeat(length / 2) + &"x".repeat(length % 2);
            let label = Label::from(&*text);
            assert_eq!(&*label, text);
            assert_eq!(matches!(label, Label::Short(_)), length <= SHORT, "{length}");
            for before in ["", "before", "one before that is long enough for the heap"] {
                let mut set = Label::from(before);
                set.set(&text);
                assert_eq!(*set, *text, "over \"{before}\"");
            }
        }
    }
}
