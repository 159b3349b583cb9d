//! Heaps: what lies in them, what is refused, and when they go.

use purlin_rhi::plan::{BarrierBatch, Layout, Plan, Resource, ResourceUse, TextureUse};
use purlin_rhi::types::*;
use purlin_rhi::*;

use crate::support::*;

const USAGE: TextureUsages = TextureUsages::RENDER_ATTACHMENT.union(TextureUsages::TEXTURE_BINDING);

fn image<'a>(label: &'a str, side: u32) -> TextureDesc<'a> {
    TextureDesc::d2(label, side, side, COLOR, USAGE)
}

fn heap_of<'a>(label: &'a str, size: u64, needs: &MemoryNeeds) -> HeapDesc<'a> {
    HeapDesc { label, size, alignment: needs.alignment, class: needs.class }
}

#[test]
fn a_heap_counts_once_and_goes_with_what_lies_in_it() {
    let (mut gpu, control) = executing();
    let before = gpu.memory().logical;
    let needs = gpu.texture_memory(&image("a", 16)).unwrap().expect("heaps");
    let heap = gpu.create_heap(&heap_of("heap", needs.size * 2, &needs)).unwrap();
    assert_eq!(gpu.memory().logical - before, needs.size * 2);
    let a = gpu.create_placed_texture(&image("a", 16), *heap, 0).unwrap();
    let b = gpu.create_placed_texture(&image("b", 16), *heap, needs.size).unwrap();
    let over = gpu.create_placed_texture(&image("over", 16), *heap, 0).unwrap();
    assert_eq!(gpu.memory().logical - before, needs.size * 2);
    drop((heap, a, over));
    gpu.maintain().unwrap();
    assert_eq!((control.live(ResourceKind::Heap), control.live(ResourceKind::Texture)), (1, 1));
    drop(b);
    gpu.maintain().unwrap();
    assert_eq!((control.live(ResourceKind::Heap), control.live(ResourceKind::Texture)), (0, 0));
    assert_eq!(gpu.memory().logical, before);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mut gpu, control) = executing();
    let needs = gpu.texture_memory(&image("a", 16)).unwrap().expect("heaps");
    let heap = gpu.create_heap(&heap_of("heap", needs.size, &needs)).unwrap();
    invalid(gpu.create_heap(&heap_of("none", 0, &needs)), "size", &["heap \"none\""]);
    invalid(gpu.create_heap(&HeapDesc { alignment: 3, ..heap_of("odd", 4, &needs) }), "alignment", &["3"]);
    let mut place = |desc: TextureDesc<'_>, offset| gpu.create_placed_texture(&desc, *heap, offset);
    invalid(place(image("late", 16), needs.alignment), "offset", &["texture \"late\"", "heap \"heap\""]);
    invalid(place(image("large", 32), 0), "offset", &["texture \"large\""]);
    invalid(place(image("odd", 8), 1), "offset", &["a multiple of"]);
    invalid(place(image("end", 8), !(needs.alignment - 1)), "offset", &["texture \"end\""]);
    let uploaded = TextureDesc {
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        contents: Contents::Uploaded,
        ..image("uploaded", 8)
    };
    invalid(place(uploaded, 0), "contents", &["Uploaded"]);
    let other = HeapDesc { class: HeapClass(7), ..heap_of("other", needs.size, &needs) };
    let other = gpu.create_heap(&other).unwrap();
    invalid(gpu.create_placed_texture(&image("a", 8), *other, 0), "heap", &["heap \"other\""]);
    let stale = *other;
    drop(other);
    gpu.maintain().unwrap();
    let error = gpu.create_placed_texture(&image("a", 8), stale, 0).unwrap_err();
    assert!(matches!(error, Error::InvalidHandle { .. }), "{error}");
    assert_eq!(control.live(ResourceKind::Texture), 0);
}

/// The first use of what takes over waits for all that was done before, and finds nothing.
#[test]
fn memory_changes_hands_with_a_barrier() {
    let (mut gpu, _control) = executing();
    let needs = gpu.texture_memory(&image("a", 16)).unwrap().expect("heaps");
    let heap = gpu.create_heap(&heap_of("heap", needs.size, &needs)).unwrap();
    let a = gpu.create_placed_texture(&image("a", 16), *heap, 0).unwrap();
    let b = gpu.create_placed_texture(&image("b", 16), *heap, 0).unwrap();
    let range = color_range(0);
    let mut list = plan::PassList::new();
    let write = |texture| ResourceUse::Texture { texture, range, usage: TextureUse::Color { load: false } };
    list.push_use(write(*a));
    list.end_pass();
    list.push_alias(Resource::Texture(a.slot()), Resource::Texture(b.slot()));
    list.push_use(write(*b));
    list.end_pass();
    let mut plan = Plan::new();
    let mut recorder = gpu.record("frame").unwrap();
    recorder.plan(&list, &mut plan, |_| "pass".into()).unwrap();
    let BarrierBatch { textures, .. } = plan.batch(1);
    assert_eq!(textures.len(), 1);
    assert_eq!((textures[0].old, textures[0].new), (Layout::Undefined, Layout::ColorAttachment));
    assert!(!textures[0].src.access.is_empty(), "the write of the former owner is made available");
    recorder.submit().unwrap();
    assert!(!gpu.ledger().texture_defined(a.slot(), &range));
    assert!(gpu.ledger().texture_defined(b.slot(), &range));
}
