//! Strips and primitive restart.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BufferUsages, IndexFormat, PrimitiveTopology, TextureFormat, VertexAttribute, VertexFormat,
    VertexStepMode,
};
use purlin_rhi::{Device, Features, PrimitiveDesc, VertexBufferLayout};

use crate::kit::{Canvas, Checked, Image, Program, Raster, all_of, clear, one_color, perform, refused};
use crate::shaders::grid;
use crate::{Answer, Outcome};

const ATTRIBUTES: [VertexAttribute; 1] =
    [VertexAttribute { format: VertexFormat::Float32x2, offset: 0, shader_location: 0 }];
const BUFFERS: [VertexBufferLayout<'_>; 1] =
    [VertexBufferLayout { stride: 8, step: VertexStepMode::Vertex, attributes: &ATTRIBUTES }];
const FORMAT: TextureFormat = TextureFormat::Rgba8Unorm;
const SIDE: u32 = 8;

/// Draws white primitives by these indices over black.
fn draw<B: Backend>(
    device: &mut Device<B>,
    primitive: PrimitiveDesc,
    places: &[[f32; 2]],
    (format, indices, count): (IndexFormat, &[u8], u32),
) -> Checked<Image> {
    let names = [grid::entries::PLACE, grid::entries::COLOR];
    let program = Program::new(device, &grid::SHADER, &names)?;
    let targets = [Some(FORMAT.into())];
    let raster = Raster { targets: &targets, primitive, vertex_buffers: &BUFFERS, ..Default::default() };
    let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
    let bytes: &[u8] = bytemuck::cast_slice(places);
    let vertices = device.create_buffer_with("places", BufferUsages::VERTEX, bytes)?;
    let index_buffer = device.create_buffer_with("indices", BufferUsages::INDEX, indices)?;
    let canvas = Canvas::new(device, SIDE, SIDE, FORMAT)?;
    perform(device, |recorder| {
        let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
        recorder.render_pass(&one_color("strip", &colors), |pass| {
            pass.set_pipeline(*pipeline);
            pass.set_vertex_buffer(0, all_of(*vertices, bytes.len() as u64));
            pass.set_index_buffer(all_of(*index_buffer, indices.len() as u64), format);
            pass.draw_indexed(0..count, 0, 0..1);
        })?;
        Ok(())
    })?;
    canvas.image(device)
}

/// Two columns of two pixels, at the left and at the right edge, each a strip of four vertices.
const COLUMNS: [[f32; 2]; 8] =
    [[-1.0, -1.0], [-0.5, -1.0], [-1.0, 1.0], [-0.5, 1.0], [0.5, -1.0], [1.0, -1.0], [0.5, 1.0], [1.0, 1.0]];

fn two_columns(image: &Image, what: &str) -> Checked {
    image.expect(what, 0, |x, _| if (2..6).contains(&x) { [0, 0, 0, 255] } else { [255; 4] })
}

pub(crate) fn c040_restart_in_strips<B: Backend>(device: &mut Device<B>) -> Answer {
    let narrow: [u16; 9] = [0, 1, 2, 3, 0xFFFF, 4, 5, 6, 7];
    let wide: [u32; 9] = narrow.map(|index| if index == 0xFFFF { u32::MAX } else { u32::from(index) });
    for (format, bytes) in [
        (IndexFormat::Uint16, bytemuck::cast_slice::<u16, u8>(&narrow)),
        (IndexFormat::Uint32, bytemuck::cast_slice::<u32, u8>(&wide)),
    ] {
        let primitive = PrimitiveDesc {
            topology: PrimitiveTopology::TriangleStrip,
            strip_index_format: Some(format),
            ..Default::default()
        };
        let image = draw(device, primitive, &COLUMNS, (format, bytes, 9))?;
        two_columns(&image, &format!("two strips by {format:?}"))?;
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c040_lists_do_not_restart<B: Backend>(device: &mut Device<B>) -> Answer {
    if !device.capabilities().features.contains(Features::LARGEST_INDEX_IN_LISTS) {
        return Ok(Outcome::Unsupported("feature LARGEST_INDEX_IN_LISTS".into()));
    }
    // The index 65535 is an ordinary vertex of a list.
    let mut places = vec![[0.0, 0.0]; 65536];
    places[..3].copy_from_slice(&[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]);
    places[65535] = [1.0, 1.0];
    let indices: [u16; 6] = [0, 1, 2, 2, 1, 0xFFFF];
    let bytes = bytemuck::cast_slice(&indices);
    let image = draw(device, PrimitiveDesc::default(), &places, (IndexFormat::Uint16, bytes, 6))?;
    image.expect("the list's second triangle", 0, |_, _| [255; 4])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c040_strip_format_on_a_list_is_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [grid::entries::PLACE, grid::entries::COLOR];
    let program = Program::new(device, &grid::SHADER, &names)?;
    let targets = [Some(FORMAT.into())];
    let primitive = PrimitiveDesc { strip_index_format: Some(IndexFormat::Uint16), ..Default::default() };
    let raster = Raster { targets: &targets, primitive, vertex_buffers: &BUFFERS, ..Default::default() };
    let desc = program.describe(names[0], Some(names[1]), &raster);
    refused("a strip format on a list", "strip_index_format", device.create_render_pipeline(&desc))?;
    Ok(Outcome::Passed)
}

pub(crate) fn winding_alternates_in_strips<B: Backend>(device: &mut Device<B>) -> Answer {
    // With back faces culled a strip stays whole: its second triangle counts as turned around.
    let indices: [u16; 4] = [0, 1, 2, 3];
    let primitive = PrimitiveDesc {
        topology: PrimitiveTopology::TriangleStrip,
        strip_index_format: Some(IndexFormat::Uint16),
        cull: Some(purlin_rhi::types::Face::Back),
        ..Default::default()
    };
    let square = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    let image = draw(device, primitive, &square, (IndexFormat::Uint16, bytemuck::cast_slice(&indices), 4))?;
    image.expect("both triangles of the strip", 0, |_, _| [255; 4])?;
    Ok(Outcome::Passed)
}
