//! Breaches of contract panic and say what was wrong. Only in debug builds.
#![cfg(debug_assertions)]

use super::*;
use crate::backend::{Dirty, Draw, NativeColor, NativeLoad, StoreOp};

const DRAW: Draw = Draw::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0 };
const FIRST: Dirty = Dirty::PIPELINE.union(Dirty::VIEWPORT).union(Dirty::SCISSOR);

#[track_caller]
fn breach(expected: &str, act: impl FnOnce(&mut Null)) {
    let mut null = Null::new(NullConfig::manual());
    buffer(&mut null, 0, 1024, MemoryClass::Device);
    null.create_texture(0, &desc(COLOR, 8, 8)).unwrap();
    pipelines(&mut null);
    let text = panic_of(|| act(&mut null));
    assert!(text.contains(expected), "expected {expected:?} in {text:?}");
}

#[track_caller]
fn recorded(expected: &str, record: impl FnOnce(&mut NullEncoder, &Null)) {
    breach(expected, |null| {
        submit(null, record);
    });
}

#[test]
fn slots() {
    breach("buffer slot 0 already holds \"b\"", |null| buffer(null, 0, 4, MemoryClass::Device));
    breach("texture slot 9 is empty; nothing was ever created there", |null| null.destroy_texture(9));
    breach("buffer slot 0 is empty; \"b\" was destroyed", |null| {
        null.destroy_buffer(0);
        null.destroy_buffer(0);
    });
    breach("past the last", |null| buffer(null, crate::handle::MAX_SLOTS, 4, MemoryClass::Device));
    breach("create_texture_view: texture slot 3 is empty", |null| view(null, 0, 3, &desc(COLOR, 8, 8)));
    breach("create_texture_view: texture slot 0 \"t\" has", |null| {
        view(null, 0, 0, &desc(COLOR, 8, 8).with_mips(2));
    });
    breach("create_bind_group: buffer slot 2 is empty", |null| {
        null.create_bind_group_layout(0, "l", &[]).unwrap();
        let binding = NativeBinding::Buffer { buffer: 2, offset: 0, size: 4 };
        null.create_bind_group(0, "g", 0, &[binding]).unwrap();
    });
    recorded("copy_buffer: buffer slot 7 is empty", |encoder, null| encoder.copy_buffer(null, 0, 0, 7, 0, 4));
}

#[test]
fn lifetimes() {
    breach("buffer slot 0 \"b\" is in use by submission 1, and only 0 is complete", |null| {
        submit(null, |encoder, null| encoder.clear_buffer(null, 0, 0, 4));
        null.destroy_buffer(0);
    });
    breach("texture slot 0 \"t\" is in use by submission 1", |null| {
        // Through an attachment's view.
        view(null, 0, 0, &desc(COLOR, 8, 8));
        let color = NativeColor { view: 0, load: NativeLoad::DontCare, store: StoreOp::Store, resolve: None };
        submit(null, |encoder, null| {
            encoder.begin_render_pass(null, &NativeRenderPass { colors: &[Some(color)], ..empty_pass() });
            encoder.end_render_pass(null);
        });
        null.destroy_texture(0);
    });
    breach("buffer slot 0 \"b\" is in use by submission 1", |null| {
        // Through a group.
        null.create_bind_group_layout(0, "l", &[]).unwrap();
        let binding = NativeBinding::Buffer { buffer: 0, offset: 0, size: 4 };
        null.create_bind_group(0, "g", 0, &[binding]).unwrap();
        submit(null, |encoder, null| {
            encoder.begin_render_pass(null, &empty_pass());
            encoder.draw(null, FIRST | Dirty::GROUP0, &bind_state(), DRAW);
            encoder.end_render_pass(null);
        });
        null.destroy_buffer(0);
    });
    breach("submit: buffer slot 0 is empty; \"b\" was destroyed", |null| {
        let mut encoder = null.begin("e").unwrap();
        encoder.clear_buffer(null, 0, 0, 4);
        null.destroy_buffer(0);
        null.submit(&mut vec![encoder], 1, &[]).unwrap();
    });
    breach("buffer slot 0, which was destroyed and filled again with \"b\" since", |null| {
        let mut encoder = null.begin("e").unwrap();
        encoder.clear_buffer(null, 0, 0, 4);
        null.destroy_buffer(0);
        buffer(null, 0, 4, MemoryClass::Device);
        null.submit(&mut vec![encoder], 1, &[]).unwrap();
    });
    let mut null = Null::new(NullConfig::manual());
    buffer(&mut null, 0, 4, MemoryClass::Device);
    let ordinal = submit(&mut null, |encoder, null| encoder.clear_buffer(null, 0, 0, 4));
    null.control().complete_to(ordinal);
    null.destroy_buffer(0);
}

#[test]
fn order() {
    breach("ordinal 1 comes after 1", |null| {
        submit(null, |_, _| {});
        let encoder = null.begin("e").unwrap();
        null.submit(&mut vec![encoder], 1, &[]).unwrap();
    });
    recorded("encoder \"e\" is still in a RenderPass", |encoder, null| {
        encoder.begin_render_pass(null, &empty_pass());
    });
    recorded("encoder \"e\" has 1 open labels", |encoder, null| encoder.push_label(null, "l"));
    recorded("pop_label: no label is open", |encoder, null| encoder.pop_label(null));
    recorded("end_render_pass: 1 labels are open", |encoder, null| {
        encoder.begin_render_pass(null, &empty_pass());
        encoder.push_label(null, "l");
        encoder.end_render_pass(null);
    });
}

#[test]
fn places() {
    recorded("draw: expected RenderPass, found Outside", |encoder, null| {
        encoder.draw(null, FIRST, &bind_state(), DRAW);
    });
    recorded("dispatch: expected ComputePass, found RenderPass", |encoder, null| {
        encoder.begin_render_pass(null, &empty_pass());
        let dispatch = crate::backend::Dispatch::Direct([1; 3]);
        encoder.dispatch(null, Dirty::PIPELINE, &bind_state(), dispatch);
    });
    recorded("clear_buffer: expected Outside, found ComputePass", |encoder, null| {
        encoder.begin_compute_pass(null, "c", None);
        encoder.clear_buffer(null, 0, 0, 4);
    });
    recorded("barriers inside a render pass", |encoder, null| {
        encoder.begin_render_pass(null, &empty_pass());
        encoder.barriers(null, BarrierBatch::default());
    });
}

#[test]
fn draws() {
    let in_pass = |expected, dirty, state: BindState, draw| {
        recorded(expected, |encoder, null| {
            encoder.begin_render_pass(null, &empty_pass());
            encoder.draw(null, dirty, &state, draw);
        });
    };
    in_pass("has not set Dirty(SCISSOR)", Dirty::PIPELINE | Dirty::VIEWPORT, bind_state(), DRAW);
    in_pass("render pipeline slot 4 is empty", FIRST, BindState { pipeline: 4, ..bind_state() }, DRAW);
    in_pass("bind group slot 0 is empty", FIRST | Dirty::GROUP2, bind_state(), DRAW);
    in_pass("the scissor is empty", FIRST, BindState { scissor: [0; 4], ..bind_state() }, DRAW);
    let indexed =
        Draw::Indexed { indices: 3, instances: 1, first_index: 0, base_vertex: 0, first_instance: 0 };
    in_pass("without an index buffer", FIRST, bind_state(), indexed);
    let indirect = Draw::Indirect { buffer: 0, offset: 1000, count: 2, stride: 16 };
    in_pass("has 1024 bytes; 1000 to 1032", FIRST, bind_state(), indirect);
}

#[test]
fn copies() {
    let copy = texels(COLOR, [0; 3], extent(8, 2, 1));
    let texel_copy = |expected, copy: NativeBufferTextureCopy| {
        recorded(expected, |encoder, null| encoder.copy_buffer_to_texture(null, &copy));
    };
    texel_copy("a multiple of 256", NativeBufferTextureCopy { bytes_per_row: 32, ..copy });
    texel_copy("buffer offset 2 is not a multiple", NativeBufferTextureCopy { offset: 2, ..copy });
    texel_copy(
        "has 1024 bytes",
        NativeBufferTextureCopy { extent: extent(8, 8, 1), rows_per_image: 8, ..copy },
    );
    texel_copy("0 to 9 of 8 texels", NativeBufferTextureCopy { extent: extent(9, 1, 1), ..copy });
    texel_copy("`volume` contradicts", NativeBufferTextureCopy { volume: true, ..copy });
    texel_copy(
        "the texture is Rgba8Unorm",
        NativeBufferTextureCopy { format: TextureFormat::R32Uint, ..copy },
    );
    let depth = TextureFormat::Depth24Plus;
    texel_copy("All of Depth24Plus cannot be copied", NativeBufferTextureCopy { format: depth, ..copy });
    recorded("overlap", |encoder, null| encoder.copy_buffer(null, 0, 0, 0, 4, 8));
    recorded("not whole words", |encoder, null| encoder.clear_buffer(null, 0, 0, 3));
    breach("\"b\" is Device memory, expected Upload", |null| null.write_mapped(0, 0, &[1]));
    breach("\"q\" has 2 queries; 1 to 3", |null| {
        null.create_query_set(0, &timestamps(2)).unwrap();
        null.read_timestamps(0, 1, &mut [None; 2]);
    });
}
