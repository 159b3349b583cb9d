//! The generated module is what a person reviewed, compiles without unsafe code, and says the truth about bytes.
//!
//! The files in `tests/golden` are compiled into this test and compared with what the compiler generates now. Set
//! `UPDATE_GOLDEN=1` to write it anew after an intended change, and read the difference.

#![forbid(unsafe_code)]
#![deny(warnings, clippy::all)]

mod util;

/// Stands in for purlin-rhi, with the same names and types.
#[allow(dead_code)]
mod mirror {
    pub mod types {
        pub use wgpu_types::*;
    }

    pub mod shader {
        use super::types::{BindingType, ShaderStages, VertexFormat};

        #[derive(Debug, Clone, Copy)]
        pub struct ShaderSource {
            pub label: &'static str,
            pub spirv: &'static [u32],
            pub wgsl: &'static str,
            pub entries: &'static [EntryPoint],
        }

        #[derive(Debug, Clone, Copy)]
        pub struct EntryPoint {
            pub name: &'static str,
            pub stage: ShaderStages,
            pub workgroup_size: [u32; 3],
            pub bindings: &'static [ShaderBinding],
            pub inputs: &'static [ShaderIo],
            pub outputs: &'static [ShaderIo],
            pub immediate_size: u32,
            pub writes_depth: bool,
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct ShaderBinding {
            pub group: u32,
            pub binding: u32,
            pub name: &'static str,
            pub ty: BindingType,
            pub count: u32,
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct ShaderIo {
            pub location: u32,
            pub name: &'static str,
            pub format: VertexFormat,
        }
    }
}

mod demo {
    include!("golden/demo.rs");
}

mod shapes {
    include!("golden/shapes.rs");
}

use std::any::TypeId;
use std::mem::{align_of, offset_of, size_of};

use mirror::shader::ShaderSource;
use mirror::types::{BindingType, BufferBindingType, ShaderStages, TextureSampleType, VertexFormat};

#[test]
fn golden() {
    for (package, path) in
        [(util::demo(), "tests/golden/demo.rs"), (util::shapes(), "tests/golden/shapes.rs")]
    {
        let compiled = package.compile().unwrap_or_else(|error| panic!("{}", error.report()));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, compiled.module()).unwrap();
            continue;
        }
        let golden = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
        assert!(
            golden == compiled.module(),
            "{path} is out of date: run this test with UPDATE_GOLDEN=1 and review the difference"
        );
    }
}

#[test]
fn sources_carry_the_code() {
    let compiled = util::demo().compile().unwrap();
    for (source, shader) in [(&demo::cull::SHADER, "cull"), (&demo::draw::SHADER, "draw")] {
        let source: &ShaderSource = source;
        let shader = compiled.shader(shader).unwrap();
        assert_eq!(source.label, shader.name);
        assert_eq!(source.spirv, shader.spirv);
        assert_eq!(source.wgsl, shader.wgsl);
        assert_eq!(source.entries.len(), shader.reflection.entries.len());
    }
    assert_eq!(demo::cull::SHADER.spirv[0], 0x0723_0203);
    assert_eq!(demo::cull::entries::CS_MAIN, "cs_main");
}

#[test]
fn groups_merge_stages() {
    let [camera, instances] = demo::draw::GROUP0 else { panic!("two bindings in group 0") };
    assert_eq!(camera.visibility, ShaderStages::VERTEX_FRAGMENT);
    assert_eq!(instances.visibility, ShaderStages::VERTEX);
    let BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size } = camera.ty else {
        panic!("{:?}", camera.ty)
    };
    assert_eq!(ty, BufferBindingType::Uniform);
    assert_eq!(min_binding_size.unwrap().get(), 144);
    let [group0, group1, group2] = demo::draw::GROUPS else { panic!("three groups, the middle one empty") };
    assert_eq!((group0.len(), group1.len(), group2.len()), (2, 0, 4));
    let albedo = demo::draw::bindings::ALBEDO;
    assert_eq!((albedo.group, albedo.binding, albedo.name), (2, 0, "albedo"));
    assert!(matches!(
        albedo.ty,
        BindingType::Texture { sample_type: TextureSampleType::Float { filterable: true }, .. }
    ));
}

#[test]
fn vertex_attributes_are_packed() {
    let offsets: Vec<_> = demo::draw::vertex::VS_MAIN.iter().map(|a| (a.shader_location, a.offset)).collect();
    assert_eq!(offsets, [(0, 0), (1, 12), (2, 24), (3, 32)]);
    assert_eq!(demo::draw::vertex::VS_MAIN[3].format, VertexFormat::Uint32x4);
    assert_eq!(demo::draw::vertex::VS_MAIN_STRIDE, 48);
}

#[test]
fn structures_put_bytes_where_the_shader_reads_them() {
    use demo::cull::{Camera, Settings, Wide};
    let camera = Camera::new(
        [[1.0; 4]; 4],
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
        [10.0, 11.0, 12.0],
        13.0,
        [[14.0, 15.0], [16.0, 17.0]],
    );
    let floats: &[f32] = bytemuck::cast_slice(std::slice::from_ref(&camera));
    let (normal, rest) = floats[16..].split_at(12);
    assert_eq!(normal, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0, 0.0]);
    assert_eq!(rest, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]);

    // The author's own `_pad0` stays a member; the compiler's padding takes the next name.
    let settings = Settings { _pad0: 1, corner: [2.0; 3], ..Settings::default() };
    assert_eq!(settings.first, 0);
    assert_eq!(offset_of!(Settings, planes), 16);
    assert_eq!(size_of::<[[f32; 4]; 3]>(), 48);
    assert_eq!(offset_of!(Settings, type_), 64);
    assert_eq!(offset_of!(Settings, corner), 80);
    assert_eq!(size_of::<Settings>(), 96);

    assert_eq!(offset_of!(Wide, nested), 32);
    assert_eq!(offset_of!(Wide, list), 128);
    assert_eq!(size_of::<demo::cull::Nest>(), 16);
    assert_eq!(offset_of!(Wide, rows), 160);
    assert_eq!(offset_of!(Wide, tail), 224);
    assert_eq!(size_of::<Wide>(), 256);
}

/// Case C102.
#[test]
fn runtime_arrays_know_their_stride() {
    assert_eq!(size_of::<demo::cull::Item>(), 32);
    assert_eq!(size_of::<demo::cull::ItemsElement>(), 32);
    let items = demo::cull::ITEMS_ARRAY;
    assert_eq!((items.offset, items.stride, items.capacity(400), items.size(20)), (0, 32, 12, 640));
    let draws = demo::cull::DRAW_LIST_ARRAY;
    assert_eq!((draws.size(0), draws.size(1), draws.size(5), draws.capacity(3)), (8, 8, 24, 0));
    assert_eq!(demo::cull::DrawListHeader::new(3).count, 3);
}

#[test]
fn one_structure_in_two_shaders_is_one_type() {
    assert_eq!(TypeId::of::<demo::cull::Camera>(), TypeId::of::<demo::draw::Camera>());
    assert_eq!(TypeId::of::<demo::cull::Camera>(), TypeId::of::<demo::shared::Camera>());
}

/// Offsets by hand from the WGSL specification, section "Memory Layout".
#[test]
fn every_shape_lies_where_wgsl_says() {
    use shapes::shapes::{Grid, Half, LongHeader, Names};
    assert_eq!(offset_of!(Half, b), 8);
    assert_eq!(offset_of!(Half, c), 16);
    assert_eq!(offset_of!(Half, d), 40);
    assert_eq!(offset_of!(Half, e), 56);
    assert_eq!(size_of::<Half>(), 64);

    assert_eq!(
        (size_of::<LongHeader>(), align_of::<LongHeader>()),
        (12, 4),
        "packed: the array starts at 12"
    );
    let header = LongHeader::new(1, 2);
    assert_eq!(bytemuck::bytes_of(&header), [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(shapes::shapes::LONG_ARRAY.size(1), 16);

    let offsets = [
        (offset_of!(Grid, rows), 0),
        (offset_of!(Grid, names), 96),
        (offset_of!(Grid, m22), 128),
        (offset_of!(Grid, m32), 160),
        (offset_of!(Grid, m42), 184),
        (offset_of!(Grid, m23), 224),
        (offset_of!(Grid, m33), 256),
        (offset_of!(Grid, m43), 304),
        (offset_of!(Grid, m24), 368),
        (offset_of!(Grid, m34), 400),
        (offset_of!(Grid, counters), 448),
        (offset_of!(Grid, v2), 464),
        (offset_of!(Grid, v3), 480),
        (offset_of!(Grid, v4), 496),
        (size_of::<Grid>(), 512),
    ];
    for (found, expected) in offsets {
        assert_eq!(found, expected);
    }
    let grid = Grid { rows: [[[1; 4]; 2]; 3], counters: [1, 2, 3], ..Grid::default() };
    assert_eq!(grid.names[1], Names { r#dyn: 0, r#box: 0.0, r#in: 0, size: 0 });
}

#[test]
fn names_that_collide_are_told_apart() {
    use shapes::shapes as module;
    assert_eq!((module::entries::MAIN, module::entries::MAIN_2), ("Main", "main"));
    assert_eq!(module::facts_2::new(3).entries, 3);
    assert_eq!(module::BareElement::new(3).x, 3, "the author's own structure keeps its name");
    assert_eq!(size_of::<module::BareElement_2>(), 16);
    assert_eq!(size_of::<module::BareElementElement>(), 4);
}

#[test]
fn a_slot_of_two_kinds_has_no_group_layout() {
    use shapes::shapes as module;
    assert_eq!((module::GROUP0.len(), module::GROUP1.len(), module::GROUP3.len()), (3, 3, 1));
    assert!(matches!(module::bindings::SLOT_BUFFER.ty, BindingType::Buffer { .. }));
    assert!(matches!(module::bindings::SLOT_TEXTURE.ty, BindingType::Texture { .. }));
}
