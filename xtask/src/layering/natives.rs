//! Names of `std` that compile for browsers and panic there.

use super::rules::PANICS_IN_BROWSERS;
use super::tokens::Token;

/// The tokens that name such a thing by a path of `std`, up to the file's own tests: in an import or where it is used.
pub fn check<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    // Inside of a path or an import that began with `std`.
    let mut in_std = false;
    let mut braces = 0u32;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|next| next.text);
        match token.text {
            "cfg" if tokens.get(index + 2).is_some_and(|inner| inner.text == "test") => break,
            "std" => (in_std, braces) = (true, 0),
            ":" | "," => in_std &= token.text == ":" || braces > 0,
            "{" => braces += u32::from(in_std),
            "}" if in_std && braces > 0 => braces -= 1,
            _ if !token.is_word() => in_std = false,
            word => {
                if in_std && PANICS_IN_BROWSERS.contains(&word) {
                    found.push(*token);
                }
                // A path goes on after `::`; a list goes on in its braces.
                in_std &= next == Some(":") || braces > 0;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        check(&tokens(text)).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn imports_and_paths_of_std_are_found() {
        assert_eq!(found("use std::time::{Duration, Instant};"), ["Instant"]);
        assert_eq!(found("use std::{thread, time::SystemTime};"), ["thread", "SystemTime"]);
        assert_eq!(found("let begun = std::time::Instant::now();"), ["Instant"]);
        assert_eq!(found("std::thread::sleep(a);"), ["thread"]);
    }

    #[test]
    fn other_names_and_tests_are_not() {
        assert!(found("use crate::clock::Instant; use web_time::Instant;").is_empty());
        assert!(found("use std::time::Duration; let thread = Instant::now();").is_empty());
        assert!(found("use std::fmt; fn f(a: std::fmt::Error, thread: u32) {}").is_empty());
        assert!(found("#[cfg(test)]\nmod tests { use std::thread; }").is_empty());
    }
}
