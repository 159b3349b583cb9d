//! What must be known of a module's text, and the one change to it.
//!
//! Reflection is made for Vulkan and names bindings; it does not say what a structure holds. So the few questions that
//! only OpenGL and browsers raise are answered from the text, which `purlin-shader` has parsed and validated before.

/// The text without comments. WGSL's block comments nest.
fn plain(wgsl: &str) -> String {
    let mut text = String::with_capacity(wgsl.len());
    let mut rest = wgsl;
    while let Some(at) = rest.find("/") {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            let mut depth = 0;
            let mut end = 0;
            while end < rest.len() {
                if rest[end..].starts_with("/*") {
                    depth += 1;
                    end += 2;
                } else if rest[end..].starts_with("*/") {
                    depth -= 1;
                    end += 2;
                    if depth == 0 {
                        break;
                    }
                } else {
                    end += rest[end..].chars().next().map_or(1, char::len_utf8);
                }
            }
            rest = &rest[end..];
        } else {
            text.push('/');
            rest = &rest[1..];
        }
    }
    text.push_str(rest);
    text
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Does this entry point ask which vertex it runs for, as a parameter or in a structure of its parameters?
pub(crate) fn asks_for_vertex_index(wgsl: &str, entry: &str) -> bool {
    let text = plain(wgsl);
    let mut functions = text.match_indices("fn ").filter_map(|(at, word)| {
        let (name, rest) = text[at + word.len()..].split_once('(')?;
        (name.trim() == entry).then_some(rest)
    });
    let Some(rest) = functions.next() else { return false };
    let parameters = rest.split('{').next().unwrap_or_default();
    let asks = |text: &str| text.split(|c| !is_word(c)).any(|word| word == "vertex_index");
    let named = |name: &str| parameters.split(|c| !is_word(c)).any(|word| word == name);
    asks(parameters) || structures(&text).iter().any(|(name, body)| named(name) && asks(body))
}

/// Every structure and alias, with what it stands for.
fn structures(text: &str) -> Vec<(&str, &str)> {
    let mut types = Vec::new();
    for (keyword, open, close) in [("struct ", '{', '}'), ("alias ", '=', ';')] {
        for (at, _) in text.match_indices(keyword) {
            let after = &text[at + keyword.len()..];
            let Some((name, rest)) = after.split_once(open) else { continue };
            let Some((body, _)) = rest.split_once(close) else { continue };
            types.push((name.trim(), body));
        }
    }
    types
}

/// Does the module read immediates?
pub(crate) fn has_immediates(wgsl: &str) -> bool {
    wgsl.contains("var<immediate>")
}

/// The binding that stands for immediates. Other entry points of the module may use the group for something else, and
/// browsers compare all of a module's bindings; so it is the last number that WebGPU allows.
pub(crate) const IMMEDIATES: u32 = 999;

/// The module with its immediates in a uniform buffer of this group.
pub(crate) fn with_uniform_immediates(wgsl: &str, group: u32) -> String {
    plain(wgsl).replace("var<immediate>", &format!("@group({group}) @binding({IMMEDIATES}) var<uniform>"))
}

/// The names of uniform variables that hold a matrix with columns of two numbers, directly or deep inside.
pub(crate) fn narrow_uniforms(wgsl: &str) -> Vec<String> {
    let text = plain(wgsl);
    if !["mat2x2", "mat3x2", "mat4x2"].iter().any(|narrow| text.contains(narrow)) {
        return Vec::new();
    }
    let types = structures(&text);
    let mut names = Vec::new();
    for (at, keyword) in text.match_indices("var<uniform>") {
        let declaration = text[at + keyword.len()..].split(';').next().unwrap_or_default();
        if let Some((name, ty)) = declaration.split_once(':')
            && is_narrow(ty, &types, 0)
        {
            names.push(name.trim().to_string());
        }
    }
    names
}

fn is_narrow(ty: &str, types: &[(&str, &str)], depth: usize) -> bool {
    let words = || ty.split(|c| !is_word(c));
    let narrow = |word: &str| {
        ["mat2x2", "mat3x2", "mat4x2"]
            .iter()
            .any(|matrix| word.strip_prefix(matrix).is_some_and(|scalar| ["", "f", "h"].contains(&scalar)))
    };
    // Structures cannot contain themselves; the bound is for text that nobody validated.
    words().any(narrow)
        || (depth < 64
            && types
                .iter()
                .any(|(name, body)| words().any(|w| w == *name) && is_narrow(body, types, depth + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
// struct Hidden { m: mat2x2<f32> } in a /* comment
struct Inner { pad: f32, m: array<mat3x2f, 2> }
struct Outer { inner: Inner }
struct Wide { m: mat2x3<f32>, n: mat4x4<f32> }
alias Deep = Outer;
/* outer /* inner */ var<uniform> hidden: mat2x2<f32>; */
@group(0) @binding(0) var<uniform> deep: Deep;
@group(0) @binding(1) var<uniform> wide: Wide;
@group(0) @binding(2)
var<uniform> bare : mat2x2<f32>;
@group(0) @binding(3) var<storage> stored: Outer;
var<immediate> small: vec4<f32>; // vertex_index
@vertex fn vs(@builtin(instance_index) i: u32) -> @builtin(position) vec4<f32> { return small / 2.0; }
";

    #[test]
    fn narrow_matrices_are_found_through_structures_and_aliases() {
        assert_eq!(narrow_uniforms(TEXT), ["deep", "bare"]);
        assert!(narrow_uniforms("var<uniform> a: mat4x4<f32>;").is_empty());
    }

    #[test]
    fn comments_say_nothing() {
        assert!(!asks_for_vertex_index(TEXT, "vs"));
        assert!(plain("a / b // c\nd").contains("a / b \nd"));
    }

    #[test]
    fn an_entry_point_asks_for_itself() {
        let text = "struct In { @builtin(vertex_index) index: u32 }
@vertex fn a(@builtin(vertex_index) i: u32) {}
@vertex fn b(in: In) {}
@vertex fn c(@location(0) p: vec4<f32>) { let vertex_index = 0u; }";
        let asks = ["a", "b", "c", "d"].map(|entry| asks_for_vertex_index(text, entry));
        assert_eq!(asks, [true, true, false, false]);
    }

    #[test]
    fn immediates_move_to_a_group() {
        let text = with_uniform_immediates(TEXT, 3);
        assert!(text.contains("@group(3) @binding(999) var<uniform> small: vec4<f32>;"));
        assert!(has_immediates(TEXT) && !has_immediates(&text));
    }
}
