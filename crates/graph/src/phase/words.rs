//! Parts, extents and origins in the words of errors and reports.

use purlin_rhi::plan::{Aspects, Part, TextureRange};

use crate::context::{Origin, Shape};

/// A part in words, `mip 2` or `bytes 0..16`; what is whole is not mentioned.
pub(crate) fn part_words(shape: &Shape, part: &Part) -> String {
    match (shape, part) {
        (Shape::Buffer { size }, Part::Bytes { offset, size: count }) => {
            if *offset == 0 && *count >= *size {
                "all".into()
            } else {
                bytes_words(*offset, *count)
            }
        }
        (Shape::Texture { mips, layers, aspects, .. }, Part::Subresources(range)) => {
            let mut words = Vec::new();
            if range.aspects != *aspects {
                words.push(aspect_words(range.aspects));
            }
            if (range.base_mip, range.mips) != (0, *mips) {
                words.push(span("mip", range.base_mip, range.mips));
            }
            if (range.base_layer, range.layers) != (0, *layers) {
                words.push(span("layer", range.base_layer, range.layers));
            }
            if words.is_empty() { "all".into() } else { words.join(", ") }
        }
        (_, Part::Bytes { offset, size }) => bytes_words(*offset, *size),
        (_, Part::Subresources(TextureRange { base_mip, mips, base_layer, layers, .. })) => {
            format!("{}, {}", span("mip", *base_mip, *mips), span("layer", *base_layer, *layers))
        }
    }
}

fn bytes_words(offset: u64, size: u64) -> String {
    format!("bytes {offset}..{}", offset.saturating_add(size))
}

fn aspect_words(aspects: Aspects) -> String {
    let mut words = Vec::new();
    for (aspect, word) in
        [(Aspects::COLOR, "color"), (Aspects::DEPTH, "depth"), (Aspects::STENCIL, "stencil")]
    {
        if aspects.contains(aspect) {
            words.push(word);
        }
    }
    words.join(" and ")
}

fn span(word: &str, first: u32, count: u32) -> String {
    if count == 1 {
        format!("{word} {first}")
    } else {
        format!("{word}s {first}..{}", first.saturating_add(count))
    }
}

/// What a resource has, in words.
pub(crate) fn extent_words(shape: &Shape) -> String {
    match *shape {
        Shape::Buffer { size } => format!("{size} bytes"),
        Shape::Texture { mips, layers, aspects, .. } => {
            let plural =
                |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            format!("{}, {}, {}", plural(mips, "mip"), plural(layers, "layer"), aspect_words(aspects))
        }
    }
}

/// Where in its pass a use was declared, in words.
pub(crate) fn origin_words(origin: Origin) -> String {
    match origin {
        Origin::Color(index) => format!("color attachment {index}"),
        Origin::Resolve(index) => format!("resolve of color attachment {index}"),
        Origin::Depth => "depth attachment".into(),
        Origin::Stencil => "stencil attachment".into(),
        Origin::Binding { group, binding } => format!("group {group} binding {binding}"),
        Origin::Declared(word) => word.into(),
        Origin::Source => "copy source".into(),
        Origin::Destination => "copy destination".into(),
    }
}
