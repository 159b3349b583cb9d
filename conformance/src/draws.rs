//! Draws and dispatches from the CPU: direct, indexed, instanced, first and base values, points and lines.
//!
//! The scene is a grid of four by four cells: a quad's color comes with its vertices and its cell with its instance,
//! so each parameter of a draw decides which cell gets which color.

use purlin_rhi::backend::Backend;
use purlin_rhi::types::{
    BufferUsages, IndexFormat, PrimitiveTopology, TextureFormat, VertexAttribute, VertexFormat,
    VertexStepMode,
};
use purlin_rhi::{
    BufferDesc, BufferSlice, Device, Owned, PrimitiveDesc, RenderPass, VertexBufferLayout, kind,
};

use crate::kit::{
    Canvas, Checked, Image, Program, Raster, all_of, clear, equal, numbers, one_color, perform, wrong,
};
use crate::shaders::{compute, grid};
use crate::{Answer, Outcome};

/// The colors of the four quads.
pub(crate) const COLORS: [[u8; 4]; 4] =
    [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]];
pub(crate) const BLACK: [u8; 4] = [0, 0, 0, 255];
/// Pixels on a side of a cell.
const CELL: u32 = 4;
/// Corners of a quad in strip order.
const CORNERS: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// Two triangles of those corners.
const QUAD: [u16; 6] = [0, 1, 2, 2, 1, 3];

const VERTEX: [VertexAttribute; 2] = [
    VertexAttribute { format: VertexFormat::Float32x2, offset: 0, shader_location: 0 },
    VertexAttribute { format: VertexFormat::Unorm8x4, offset: 8, shader_location: 1 },
];
const INSTANCE: [VertexAttribute; 1] =
    [VertexAttribute { format: VertexFormat::Float32x2, offset: 0, shader_location: 2 }];
const VERTEX_BUFFERS: [VertexBufferLayout<'_>; 2] = [
    VertexBufferLayout { stride: 12, step: VertexStepMode::Vertex, attributes: &VERTEX },
    VertexBufferLayout { stride: 8, step: VertexStepMode::Instance, attributes: &INSTANCE },
];

/// What the scenes draw with.
pub(crate) struct Grid {
    canvas: Canvas,
    vertices: (Owned<kind::Buffer>, u64),
    cells: (Owned<kind::Buffer>, u64),
    indices16: (Owned<kind::Buffer>, u64),
    indices32: (Owned<kind::Buffer>, u64),
    /// Quads as strips of four vertices.
    pub strip: Owned<kind::RenderPipeline>,
    /// Quads as two triangles.
    pub list: Owned<kind::RenderPipeline>,
}

impl Grid {
    pub fn new<B: Backend>(device: &mut Device<B>) -> Checked<Self> {
        let mut vertices: Vec<u8> = Vec::new();
        for color in COLORS {
            for corner in CORNERS {
                vertices.extend_from_slice(bytemuck::cast_slice(&corner));
                vertices.extend_from_slice(&color);
            }
        }
        let cells: Vec<[f32; 2]> = (0..16).map(|i| [(i % 4) as f32, (i / 4) as f32]).collect();
        // Twice: as they are, and eight vertices further on for negative base vertices.
        let indices: Vec<u16> = QUAD.iter().copied().chain(QUAD.iter().map(|index| index + 8)).collect();
        let wide: Vec<u32> = indices.iter().map(|index| u32::from(*index)).collect();
        let mut upload = |label: &str, usage, bytes: &[u8]| -> Checked<(Owned<kind::Buffer>, u64)> {
            Ok((device.create_buffer_with(label, usage, bytes)?, bytes.len() as u64))
        };
        let vertices = upload("vertices", BufferUsages::VERTEX, &vertices)?;
        let cells = upload("cells", BufferUsages::VERTEX, bytemuck::cast_slice(&cells))?;
        let indices16 = upload("indices", BufferUsages::INDEX, bytemuck::cast_slice(&indices))?;
        let indices32 = upload("wide indices", BufferUsages::INDEX, bytemuck::cast_slice(&wide))?;
        let names = [grid::entries::CELL, grid::entries::COLOR];
        let program = Program::new(device, &grid::SHADER, &names)?;
        let canvas = Canvas::new(device, CELL * 4, CELL * 4, TextureFormat::Rgba8Unorm)?;
        let targets = [Some(TextureFormat::Rgba8Unorm.into())];
        let mut pipeline = |topology| {
            let primitive = PrimitiveDesc { topology, ..Default::default() };
            let raster = Raster {
                targets: &targets,
                primitive,
                vertex_buffers: &VERTEX_BUFFERS,
                ..Default::default()
            };
            program.raster(device, names[0], Some(names[1]), &raster)
        };
        let strip = pipeline(PrimitiveTopology::TriangleStrip)?;
        let list = pipeline(PrimitiveTopology::TriangleList)?;
        Ok(Self { canvas, vertices, cells, indices16, indices32, strip, list })
    }

    /// Binds vertices, cells and 16-bit indices.
    pub fn bind<B: Backend>(&self, pass: &mut RenderPass<'_, B>) {
        pass.set_vertex_buffer(0, all_of(*self.vertices.0, self.vertices.1));
        pass.set_vertex_buffer(1, all_of(*self.cells.0, self.cells.1));
        pass.set_index_buffer(all_of(*self.indices16.0, self.indices16.1), IndexFormat::Uint16);
    }

    fn bind_wide<B: Backend>(&self, pass: &mut RenderPass<'_, B>) {
        self.bind(pass);
        pass.set_index_buffer(all_of(*self.indices32.0, self.indices32.1), IndexFormat::Uint32);
    }

    /// Draws with everything bound, over black.
    pub fn draw<B: Backend>(
        &self,
        device: &mut Device<B>,
        uses: &[purlin_rhi::plan::ResourceUse],
        body: impl FnOnce(&mut RenderPass<'_, B>),
    ) -> Checked<Image> {
        perform(device, |recorder| {
            let colors = [clear(*self.canvas.view, [0.0, 0.0, 0.0, 1.0])];
            let desc = purlin_rhi::RenderPassDesc { uses, ..one_color("grid", &colors) };
            recorder.render_pass(&desc, |pass| {
                self.bind(pass);
                body(pass);
            })?;
            Ok(())
        })?;
        self.canvas.image(device)
    }
}

/// Every listed cell has its quad's color, and every other is black.
pub(crate) fn expect_cells(what: &str, image: &Image, cells: &[(u32, usize)]) -> Checked {
    image.expect(what, 0, |x, y| {
        let cell = x / CELL + y / CELL * 4;
        cells.iter().find(|(at, _)| *at == cell).map_or(BLACK, |(_, quad)| COLORS[*quad])
    })
}

pub(crate) fn direct<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.strip);
        pass.draw(0..4, 0..1);
        pass.draw(8..12, 5..6);
        pass.draw(4..8, 10..13);
        // Nothing to draw.
        pass.draw(0..0, 0..1);
        pass.draw(0..4, 3..3);
    })?;
    expect_cells("direct", &image, &[(0, 0), (5, 2), (10, 1), (11, 1), (12, 1)])?;
    Ok(Outcome::Passed)
}

pub(crate) fn indexed<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.list);
        pass.draw_indexed(0..6, 0, 0..1);
        pass.draw_indexed(0..6, 4, 1..2);
        pass.draw_indexed(6..12, 0, 2..3);
        pass.draw_indexed(6..12, -8, 3..4);
        pass.draw_indexed(6..12, 4, 14..16);
    })?;
    let expected = [(0, 0), (1, 1), (2, 2), (3, 0), (14, 3), (15, 3)];
    expect_cells("16-bit indices", &image, &expected)?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.list);
        grid.bind_wide(pass);
        pass.draw_indexed(0..6, 0, 0..1);
        pass.draw_indexed(0..6, 4, 1..2);
        pass.draw_indexed(6..12, 0, 2..3);
        pass.draw_indexed(6..12, -8, 3..4);
        pass.draw_indexed(6..12, 4, 14..16);
    })?;
    expect_cells("32-bit indices", &image, &expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn index_buffer_at_an_offset<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.list);
        let slice = BufferSlice { buffer: *grid.indices16.0, offset: 12, size: 12 };
        pass.set_index_buffer(slice, IndexFormat::Uint16);
        pass.draw_indexed(0..6, 0, 0..1);
        let slice = BufferSlice { buffer: *grid.indices32.0, offset: 24, size: 24 };
        pass.set_index_buffer(slice, IndexFormat::Uint32);
        pass.draw_indexed(0..6, 4, 7..8);
        // The same vertices from their third quad on.
        let slice = BufferSlice { buffer: *grid.vertices.0, offset: 96, size: 96 };
        pass.set_vertex_buffer(0, slice);
        pass.set_pipeline(*grid.strip);
        pass.draw(0..4, 9..10);
    })?;
    expect_cells("offsets of bindings", &image, &[(0, 2), (7, 3), (9, 2)])?;
    Ok(Outcome::Passed)
}

pub(crate) fn builtin_indices_count_first_and_base<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let names = [grid::entries::INDEXED_CELL, grid::entries::COLOR];
    let program = Program::new(device, &grid::SHADER, &names)?;
    let buffers = [VertexBufferLayout { stride: 12, step: VertexStepMode::Vertex, attributes: &VERTEX[..1] }];
    let targets = [Some(TextureFormat::Rgba8Unorm.into())];
    let mut pipeline = |topology| {
        let primitive = PrimitiveDesc { topology, ..Default::default() };
        let raster = Raster { targets: &targets, primitive, vertex_buffers: &buffers, ..Default::default() };
        program.raster(device, names[0], Some(names[1]), &raster)
    };
    let strip = pipeline(PrimitiveTopology::TriangleStrip)?;
    let list = pipeline(PrimitiveTopology::TriangleList)?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*strip);
        pass.draw(8..12, 6..7);
        pass.set_pipeline(*list);
        pass.draw_indexed(0..6, 4, 1..2);
        pass.draw_indexed(6..12, 4, 15..16);
    })?;
    // The red channel is the vertex index over four, in thirds.
    image.expect("indices as the shader sees them", 0, |x, y| match x / CELL + y / CELL * 4 {
        6 => [170, 0, 255, 255],
        1 => [85, 0, 255, 255],
        15 => [255, 0, 255, 255],
        _ => BLACK,
    })?;
    Ok(Outcome::Passed)
}

pub(crate) fn out_of_range_draws_are_refused<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    type Body<B> = fn(&Grid, &mut RenderPass<'_, B>);
    let cases: [(&str, Body<B>); 4] = [
        ("vertices", |grid, pass| {
            pass.set_pipeline(*grid.strip);
            pass.draw(13..17, 0..1);
        }),
        ("instances", |grid, pass| {
            pass.set_pipeline(*grid.strip);
            pass.draw(0..4, 16..17);
        }),
        ("indices", |grid, pass| {
            pass.set_pipeline(*grid.list);
            pass.draw_indexed(7..13, 0, 0..1);
        }),
        ("a pipeline", |_, pass| pass.draw(0..4, 0..1)),
    ];
    for (says, body) in cases {
        match grid.draw(device, &[], |pass| body(&grid, pass)) {
            Err(crate::Failure::Device(error)) => crate::kit::refused::<()>(says, says, Err(error))?,
            _ => return Err(wrong(says, "an error", "success")),
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c009_odd_number_of_u16_indices<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    // The slice ends where its allocation ends; a sentinel stands right after it.
    let mut memory: Vec<u16> = QUAD[..3].to_vec();
    memory.push(0xABCD);
    let indices: &[u8] = &bytemuck::cast_slice(&memory)[..6];
    let usage = BufferUsages::INDEX | BufferUsages::COPY_SRC;
    let buffer = device.create_buffer_with("three indices", usage, indices)?;
    equal("bytes that the buffer reports", &[device.buffer_size(*buffer)?], &[6])?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.list);
        pass.set_index_buffer(all_of(*buffer, 6), IndexFormat::Uint16);
        pass.draw_indexed(0..3, 0, 0..1);
    })?;
    // The triangle of the upper left half of the cell: with 4 pixels and corners on the diagonal, 6 or 10 of 16.
    let red = image.count(COLORS[0]);
    if !(6..=10).contains(&red) || image.at(0, 0) != COLORS[0] || image.at(3, 3) != BLACK {
        return Err(wrong("one triangle", "6 to 10 red pixels around 0,0", red));
    }
    // The padding that the copy of whole words needs is zero.
    let found = crate::kit::read_buffer(device, *buffer, 8)?;
    equal("bytes on the device", &found, &[0, 0, 1, 0, 2, 0, 0, 0])?;
    let six = device.create_buffer_with("six indices", usage, bytemuck::cast_slice(&QUAD))?;
    equal("bytes of six", &[device.buffer_size(*six)?], &[12])?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.list);
        pass.set_index_buffer(all_of(*six, 12), IndexFormat::Uint16);
        pass.draw_indexed(0..6, 0, 0..1);
    })?;
    expect_cells("two triangles", &image, &[(0, 0)])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c019_empty_buffers<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let usage = BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::VERTEX | BufferUsages::INDEX;
    let empty = device.create_buffer(&BufferDesc::new("empty", 0, usage | BufferUsages::INDIRECT))?;
    device.write_buffer(*empty, 0, &[])?;
    let image = grid.draw(
        device,
        &[crate::kit::buffer_use(*empty, 0, purlin_rhi::plan::BufferUse::Vertex)],
        |pass| {
            pass.set_pipeline(*grid.strip);
            pass.set_vertex_buffer(0, all_of(*empty, 0));
            pass.draw(0..0, 0..1);
        },
    )?;
    expect_cells("no vertices", &image, &[])?;
    let uses = [crate::kit::buffer_use(*empty, 0, purlin_rhi::plan::BufferUse::Vertex)];
    let drawn = grid.draw(device, &uses, |pass| {
        pass.set_pipeline(*grid.strip);
        pass.set_vertex_buffer(0, all_of(*empty, 0));
        pass.draw(0..3, 0..1);
    });
    match drawn {
        Err(crate::Failure::Device(error)) => {
            crate::kit::refused::<()>("three vertices", "vertices", Err(error))?
        }
        _ => return Err(wrong("three vertices of an empty buffer", "an error", "success")),
    }
    Ok(Outcome::Passed)
}

pub(crate) fn c035_bind_a_b_a<B: Backend>(device: &mut Device<B>) -> Answer {
    let grid = Grid::new(device)?;
    let quad = |color: [u8; 4]| -> Vec<u8> {
        CORNERS
            .iter()
            .flat_map(|corner| bytemuck::cast_slice::<f32, u8>(corner).iter().copied().chain(color))
            .collect()
    };
    let a = device.create_buffer_with("a", BufferUsages::VERTEX, &quad(COLORS[1]))?;
    let b = device.create_buffer_with("b", BufferUsages::VERTEX, &quad(COLORS[3]))?;
    let image = grid.draw(device, &[], |pass| {
        pass.set_pipeline(*grid.strip);
        for (buffer, cell) in [(*a, 0), (*b, 1), (*a, 2)] {
            pass.set_vertex_buffer(0, all_of(buffer, 48));
            pass.draw(0..4, cell..cell + 1);
        }
    })?;
    expect_cells("a, b, a", &image, &[(0, 1), (1, 3), (2, 1)])?;
    Ok(Outcome::Passed)
}

pub(crate) fn c036_last_vertex_needs_no_full_stride<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [grid::entries::COLUMN, grid::entries::COLOR];
    let program = Program::new(device, &grid::SHADER, &names)?;
    let attributes = [VertexAttribute { format: VertexFormat::Float32, offset: 0, shader_location: 0 }];
    let numbers: [f32; 7] = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0];
    let buffer =
        device.create_buffer_with("numbers", BufferUsages::VERTEX, bytemuck::cast_slice(&numbers))?;
    let canvas = Canvas::new(device, 8, 1, TextureFormat::Rgba8Unorm)?;
    let targets = [Some(TextureFormat::Rgba8Unorm.into())];
    let mut draw = |stride: u64, size: u64, vertices: u32| -> Checked<Image> {
        let buffers = [VertexBufferLayout { stride, step: VertexStepMode::Vertex, attributes: &attributes }];
        let primitive = PrimitiveDesc { topology: PrimitiveTopology::PointList, ..Default::default() };
        let raster = Raster { targets: &targets, primitive, vertex_buffers: &buffers, ..Default::default() };
        let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
            recorder.render_pass(&one_color("columns", &colors), |pass| {
                pass.set_pipeline(*pipeline);
                pass.set_vertex_buffer(0, all_of(*buffer, size));
                pass.draw(0..vertices, 0..1);
            })?;
            Ok(())
        })?;
        canvas.image(device)
    };
    // Quarters of 255, rounded either way.
    let gray = |n: u32| [((n * 255) as f32 / 4.0).round() as u8, 0, 0, 255];
    draw(8, 28, 4)?.expect("four of stride 8", 1, |x, _| gray(if x < 4 { x + 1 } else { 0 }))?;
    draw(0, 4, 8)?.expect("stride 0", 1, |_, _| gray(1))?;
    for (stride, size, vertices) in [(8, 28, 5), (0, 0, 1)] {
        match draw(stride, size, vertices) {
            Err(crate::Failure::Device(error)) => {
                crate::kit::refused::<()>("too many", "vertices", Err(error))?
            }
            _ => return Err(wrong(format!("{vertices} of {size} bytes"), "an error", "success")),
        }
    }
    Ok(Outcome::Passed)
}

pub(crate) fn points_and_lines<B: Backend>(device: &mut Device<B>) -> Answer {
    let names = [grid::entries::PLACE, grid::entries::COLOR];
    let program = Program::new(device, &grid::SHADER, &names)?;
    let buffers = [VertexBufferLayout { stride: 8, step: VertexStepMode::Vertex, attributes: &VERTEX[..1] }];
    // Pixel centers of an 8 by 8 target: the ends of a row, and of a column.
    let center = |x: u32, y: u32| [(x as f32 + 0.5) / 4.0 - 1.0, 1.0 - (y as f32 + 0.5) / 4.0];
    let places = [center(1, 2), center(6, 2), center(3, 1), center(3, 6)];
    let buffer = device.create_buffer_with("places", BufferUsages::VERTEX, bytemuck::cast_slice(&places))?;
    let canvas = Canvas::new(device, 8, 8, TextureFormat::Rgba8Unorm)?;
    let targets = [Some(TextureFormat::Rgba8Unorm.into())];
    let mut draw = |topology, vertices: std::ops::Range<u32>| -> Checked<Image> {
        let primitive = PrimitiveDesc { topology, ..Default::default() };
        let raster = Raster { targets: &targets, primitive, vertex_buffers: &buffers, ..Default::default() };
        let pipeline = program.raster(device, names[0], Some(names[1]), &raster)?;
        perform(device, |recorder| {
            let colors = [clear(*canvas.view, [0.0, 0.0, 0.0, 1.0])];
            recorder.render_pass(&one_color("points and lines", &colors), |pass| {
                pass.set_pipeline(*pipeline);
                pass.set_vertex_buffer(0, all_of(*buffer, 32));
                pass.draw(vertices, 0..1);
            })?;
            Ok(())
        })?;
        canvas.image(device)
    };
    let white = |on: bool| if on { [255; 4] } else { BLACK };
    let points = draw(PrimitiveTopology::PointList, 0..4)?;
    points.expect("points", 0, |x, y| white([(1, 2), (6, 2), (3, 1), (3, 6)].contains(&(x, y))))?;
    // The last pixel of a line is not drawn (diamond exit); drivers with wide lines may draw it, so ends are not compared.
    let lines = draw(PrimitiveTopology::LineList, 0..4)?;
    lines.expect("lines", 0, |x, y| match (x, y) {
        (6, 2) | (3, 6) => lines.at(x, y),
        _ => white((y == 2 && (1..6).contains(&x)) || (x == 3 && (1..6).contains(&y))),
    })?;
    let strip = draw(PrimitiveTopology::LineStrip, 0..2)?;
    strip.expect("line strip", 0, |x, y| match (x, y) {
        (6, 2) => strip.at(x, y),
        _ => white(y == 2 && (1..6).contains(&x)),
    })?;
    Ok(Outcome::Passed)
}

pub(crate) fn c039_direct_dispatch_up_to_the_limit<B: Backend>(device: &mut Device<B>) -> Answer {
    let most = device.limits().max_workgroups_per_dimension;
    let mut count = |groups: [u32; 3]| -> Checked<u32> {
        let source = &compute::SHADER;
        let entry = compute::entries::COUNT_GROUPS;
        let program = Program::new(device, source, &[entry])?;
        let pipeline = program.compute(device, entry)?;
        let result = crate::kit::result_buffer(device, 4)?;
        let group = program.group(device, 0, &[purlin_rhi::BindGroupEntry::buffer(0, *result)])?;
        let usage = purlin_rhi::plan::BufferUse::StorageWrite(purlin_rhi::types::ShaderStages::COMPUTE);
        let uses = [crate::kit::buffer_use(*result, 4, usage)];
        let bytes = crate::kit::fetch(device, |recorder| {
            recorder.clear_buffer(all_of(*result, 4))?;
            recorder.compute_pass(
                &purlin_rhi::ComputePassDesc { label: entry, uses: &uses, ..Default::default() },
                |pass| {
                    pass.set_pipeline(*pipeline);
                    pass.set_bind_group(0, *group, &[]);
                    pass.dispatch(groups);
                },
            )?;
            Ok(recorder.read_buffer(all_of(*result, 4))?)
        })?;
        Ok(numbers::<u32>(&bytes)[0])
    };
    // A device may allow billions; what every device has is enough to count.
    equal("65535 workgroups", &[count([65535, 1, 1])?], &[65535])?;
    equal("3 by 4 by 5", &[count([3, 4, 5])?], &[60])?;
    equal("a zero in each place", &[count([0, 1, 1])?, count([1, 0, 1])?, count([1, 1, 0])?], &[0, 0, 0])?;
    if most < u32::MAX {
        match count([most + 1, 1, 1]) {
            Err(crate::Failure::Device(error)) => {
                crate::kit::refused::<()>("one more", "max_workgroups_per_dimension", Err(error))?;
            }
            _ => return Err(wrong("a workgroup over the limit", "an error", "success")),
        }
    }
    Ok(Outcome::Passed)
}
