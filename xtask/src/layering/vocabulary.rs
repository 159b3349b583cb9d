//! Scene words in code that should know hardware only.
//!
//! Looked at: names of types and modules, imports, public names, and every `UpperCamelCase` name, which in Rust is
//! a type, a trait or a variant. Local variables are free: a test may call a texture `sky`.

use super::tokens::Token;

/// The tokens that name a forbidden thing, each with the word it names.
pub fn check<'a>(tokens: &[Token<'a>], forbidden: &[&'static str]) -> Vec<(Token<'a>, &'static str)> {
    let mut found = Vec::new();
    let mut in_import = false;
    let mut public = false;
    let mut declares = false;
    for (index, token) in tokens.iter().enumerate() {
        if !token.is_word() {
            in_import &= token.text != ";";
            declares = false;
            // `pub(crate)` still waits for its name.
            public &= matches!(token.text, "(" | ")");
            continue;
        }
        match token.text {
            // `use<'a>` in a bound captures lifetimes and imports nothing.
            "use" => in_import = tokens.get(index + 1).is_some_and(|next| next.text != "<"),
            "pub" => public = true,
            "struct" | "enum" | "union" | "trait" | "type" | "mod" => declares = true,
            // Words that stand between `pub` and the name.
            "crate" | "self" | "super" | "in" | "fn" | "const" | "static" | "unsafe" | "async" | "extern"
            | "mut" => {}
            name => {
                let looked_at = in_import || public || declares || is_camel_case(name);
                (public, declares) = (false, false);
                if looked_at && let Some(word) = forbidden_word(name, forbidden) {
                    found.push((*token, word));
                }
            }
        }
    }
    found
}

fn is_camel_case(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// The forbidden word that this identifier has as a whole word, singular or plural.
fn forbidden_word(identifier: &str, forbidden: &[&'static str]) -> Option<&'static str> {
    let words = words(identifier);
    forbidden.iter().copied().find(|forbidden| words.iter().any(|word| is_form_of(word, forbidden)))
}

fn is_form_of(word: &str, singular: &str) -> bool {
    word == singular
        || word.strip_suffix('s') == Some(singular)
        || word.strip_suffix("ies").is_some_and(|stem| singular.strip_suffix('y') == Some(stem))
}

/// The words of a `snake_case`, `UpperCamelCase` or `SCREAMING_CASE` identifier, in lower case.
/// A run of capitals is one word up to the capital that starts the next (`HDRSky` is `hdr`, `sky`).
fn words(identifier: &str) -> Vec<String> {
    let chars: Vec<char> = identifier.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| chars[index]);
        let after = chars.get(index + 1);
        let starts_next = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        let boundary = !c.is_alphabetic();
        if (starts_next || boundary) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !boundary {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    const FORBIDDEN: &[&str] = &["light", "sky", "camera", "entity", "material"];

    fn found(text: &str) -> Vec<&str> {
        check(&tokens(text), FORBIDDEN).into_iter().map(|(token, _)| token.text).collect()
    }

    #[test]
    fn identifiers_split_into_words() {
        assert_eq!(words("PointLight2D"), ["point", "light", "d"]);
        assert_eq!(words("HDRSkyBox"), ["hdr", "sky", "box"]);
        assert_eq!(words("set_camera_matrix"), ["set", "camera", "matrix"]);
        assert_eq!(words("MAX_LIGHTS"), ["max", "lights"]);
        assert_eq!(words("__x__y1z"), ["x", "y", "z"]);
        assert_eq!(words("ID"), ["id"]);
        assert!(words("_").is_empty());
    }

    #[test]
    fn types_modules_imports_and_public_names_are_found() {
        assert_eq!(found("struct PointLight;"), ["PointLight"]);
        assert_eq!(found("mod sky;"), ["sky"]);
        assert_eq!(found("use crate::scene::{camera, Mesh};"), ["camera"]);
        assert_eq!(found("pub fn set_light() {}"), ["set_light"]);
        assert_eq!(found("pub(crate) const MAX_LIGHTS: u32 = 4;"), ["MAX_LIGHTS"]);
        assert_eq!(found("pub struct A { pub entities: u32 }"), ["entities"]);
        assert_eq!(found("fn f(x: scene::Camera) {}"), ["Camera"]);
        assert_eq!(found("enum Kind { Sky, Mesh }"), ["Sky"]);
        assert_eq!(found("pub type materials = u32;"), ["materials"]);
    }

    #[test]
    fn other_words_and_other_places_are_not() {
        assert!(found("struct Highlight; struct Lightweight; use a::identity; mod skyline;").is_empty());
        assert!(found("let sky = graph.texture(\"sky\"); // a Camera").is_empty());
        assert!(found("pub struct A; fn lit(light: u32) -> u32 { light }").is_empty());
        assert!(found("pub fn draw(light: u32) {}").is_empty());
        assert!(found("a.union(light); fn f<'a>() -> impl A + use<'a> { light }").is_empty());
        assert!(found("pub use a::B; let sky = 1;").is_empty());
    }
}
