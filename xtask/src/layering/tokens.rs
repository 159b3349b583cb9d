//! A scanner that sees Rust as identifiers and punctuation, without comments and literals.
//!
//! It is no parser: it only has to tell a name in code from the same word in a comment, a string or a character.

/// An identifier or one punctuation character, with its line (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The identifier (without `r#`), or the punctuation.
    pub text: &'a str,
    /// The line it stands on.
    pub line: usize,
}

impl Token<'_> {
    /// Is this a name or keyword?
    pub fn is_word(&self) -> bool {
        self.text.chars().next().is_some_and(starts_word)
    }
}

/// Does the crate root carry `#![forbid(unsafe_code)]`, alone or in a list?
pub fn forbids_unsafe(text: &str) -> bool {
    let tokens = tokens(text);
    tokens.windows(5).enumerate().any(|(index, window)| {
        let head: Vec<&str> = window.iter().map(|token| token.text).collect();
        head == ["#", "!", "[", "forbid", "("]
            && tokens[index + 5..]
                .iter()
                .take_while(|token| token.text != ")")
                .any(|token| token.text == "unsafe_code")
    })
}

/// The tokens of a Rust source text.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(c) = scanner.peek() {
        let line = scanner.line;
        if c.is_whitespace() {
            scanner.advance(c.len_utf8());
        } else if scanner.rest().starts_with("//") {
            let length = scanner.rest().find('\n').unwrap_or(scanner.rest().len());
            scanner.advance(length);
        } else if scanner.rest().starts_with("/*") {
            scanner.block_comment();
        } else if let Some(hashes) = raw_string(scanner.rest()) {
            scanner.raw_string(hashes);
        } else if c == '"' {
            scanner.quoted('"');
        } else if c == '\'' {
            scanner.character_or_lifetime();
        } else if c.is_ascii_digit() {
            scanner.take_while(continues_word);
        } else if starts_word(c) {
            let word = scanner.take_while(continues_word);
            // A prefix glued to a quote belongs to a literal, and `r#` to a raw identifier.
            let prefix = matches!(word, "b" | "c") && matches!(scanner.peek(), Some('"' | '\''));
            let raw = word == "r" && scanner.rest().starts_with('#');
            if raw {
                scanner.advance(1);
            } else if !prefix {
                found.push(Token { text: word, line });
            }
        } else {
            let start = scanner.at;
            scanner.advance(c.len_utf8());
            found.push(Token { text: &text[start..scanner.at], line });
        }
    }
    found
}

fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The number of hashes, when a raw string starts here (`r"`, `br#"`, `cr##"`).
fn raw_string(rest: &str) -> Option<usize> {
    let after = ["r", "br", "cr"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix).filter(|after| after.starts_with(['#', '"'])))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self, bytes: usize) {
        let passed = &self.rest()[..bytes];
        self.line += passed.matches('\n').count();
        self.at += bytes;
    }

    fn take_while(&mut self, keep: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.advance(length);
        &rest[..length]
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek() {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.advance(2);
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.advance(2);
                if depth == 0 {
                    return;
                }
            } else {
                self.advance(c.len_utf8());
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        let open = self.rest().find('"').map_or(1, |quote| quote + 1);
        self.advance(open);
        let close = format!("\"{}", "#".repeat(hashes));
        let length = self.rest().find(&close).map_or(self.rest().len(), |at| at + close.len());
        self.advance(length);
    }

    fn quoted(&mut self, quote: char) {
        self.advance(1);
        while let Some(c) = self.peek() {
            self.advance(c.len_utf8());
            if c == '\\' {
                let escaped = self.peek().map_or(0, char::len_utf8);
                self.advance(escaped);
            } else if c == quote {
                return;
            }
        }
    }

    /// `'x'` and `'\n'` are characters, `'a` is a lifetime.
    fn character_or_lifetime(&mut self) {
        let mut ahead = self.rest().chars().skip(1);
        let (first, second) = (ahead.next(), ahead.next());
        if first == Some('\\') || second == Some('\'') {
            self.quoted('\'');
        } else {
            self.advance(1);
            self.take_while(continues_word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().filter(Token::is_word).map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        assert_eq!(words("a // light\nb /* sky /* camera */ widget */ c"), ["a", "b", "c"]);
        assert_eq!(words(r#"let x = "light \" sky"; y"#), ["let", "x", "y"]);
        assert_eq!(words("r#\"light \" sky\"# a b\"sky\" c\"sky\" br\"light\" z"), ["a", "z"]);
        assert_eq!(words("/// light\n//! sky\nstruct A;"), ["struct", "A"]);
    }

    #[test]
    fn characters_lifetimes_and_numbers() {
        assert_eq!(words(r"let a = '\''; let b = '\u{41}'; b'x'; ' '"), ["let", "a", "let", "b"]);
        assert_eq!(words("fn f<'sky>(x: &'sky str) -> 'a' 1u32 0xff"), ["fn", "f", "x", "str"]);
        assert_eq!(words("'\"' light '\"'"), ["light"]);
    }

    #[test]
    fn raw_identifiers_lose_their_prefix() {
        assert_eq!(words("r#type r x"), ["type", "r", "x"]);
    }

    #[test]
    fn lines_count_through_everything() {
        let found = tokens("a\n/* \n */ b \"\n\" c");
        let lines: Vec<_> = found.iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(lines, [("a", 1), ("b", 3), ("c", 4)]);
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["\"open", "/* open", "r#\"open", "'", "'\\", "b'", "\"\\"] {
            tokens(text);
        }
    }

    #[test]
    fn forbid_is_an_attribute_and_not_a_comment() {
        assert!(forbids_unsafe("#![forbid(unsafe_code)]"));
        assert!(forbids_unsafe("#![forbid(missing_docs, unsafe_code)]"));
        assert!(!forbids_unsafe("// #![forbid(unsafe_code)]"));
        assert!(!forbids_unsafe("#![deny(unsafe_code)]"));
        assert!(!forbids_unsafe("#![forbid(missing_docs)] fn unsafe_code() {}"));
    }
}
