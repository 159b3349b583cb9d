//! Layouts of what host and shader share: the generated Rust structs against what a kernel reads.
//!
//! Each member gets the next whole number, so the answer of a right layout is 1, 2, 3 and so on, and the first
//! number that is wrong names the member.

use purlin_rhi::backend::Backend;
use purlin_rhi::shader::ShaderBinding;
use purlin_rhi::types::{BindingType, BufferUsages};
use purlin_rhi::{BindGroupEntry, Device};

use crate::kit::{Checked, Kernel, Program, equal, numbers, refused, wrong};
use crate::shaders::layouts::{
    self, Inner, Item, ItemsHeader, Mixed, Reserved, SHADER, Shapes, Square, Tailed, bindings, entries,
};
use crate::{Answer, Outcome};

/// Hands out 1, 2, 3 and so on.
#[derive(Debug, Default)]
struct Count(u32);

impl Count {
    fn one(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }

    fn floats<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| self.one() as f32)
    }

    fn matrix<const ROWS: usize, const COLUMNS: usize>(&mut self) -> [[f32; ROWS]; COLUMNS] {
        std::array::from_fn(|_| self.floats())
    }

    fn inner(&mut self) -> Inner {
        Inner::new(self.one() as f32, self.floats())
    }

    fn padded(&mut self) -> [f32; 4] {
        let [x, y, z] = self.floats();
        // The fourth number is padding that no shader reads; a value that would show if one did.
        [x, y, z, -1.0]
    }
}

/// Every member in order, and how many scalars there are.
fn shapes() -> (Shapes, u32) {
    let mut count = Count::default();
    // Arguments are evaluated in order of declaration.
    let shapes = Shapes::new(
        count.one() as f32,
        count.floats(),
        count.floats(),
        count.one() as f32,
        count.floats(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.matrix(),
        count.inner(),
        std::array::from_fn(|_| count.padded()),
        std::array::from_fn(|_| count.inner()),
        std::array::from_fn(|_| count.matrix()),
        std::array::from_fn(|_| count.one() as i32),
        count.one(),
        std::array::from_fn(|_| count.one() as i32),
        std::array::from_fn(|_| count.one()),
        count.one() as f32,
    );
    (shapes, count.0)
}

fn counted(to: u32) -> Vec<f32> {
    (1..=to).map(|n| n as f32).collect()
}

/// Runs a kernel over buffers with these bytes at these bindings and compares all numbers.
fn reads<B: Backend>(
    device: &mut Device<B>,
    entry: &str,
    inputs: &[(u32, BufferUsages, &[u8])],
    expected: &[f32],
) -> Answer {
    let mut buffers = Vec::new();
    for (binding, usage, bytes) in inputs {
        buffers.push((*binding, device.create_buffer_with("input", *usage, bytes)?));
    }
    let bound: Vec<_> =
        buffers.iter().map(|(binding, buffer)| BindGroupEntry::buffer(*binding, **buffer)).collect();
    let bytes = Kernel {
        source: &SHADER,
        entry,
        bytes: expected.len() as u64 * 4,
        groups: [1, 1, 1],
        inputs: &bound,
        uses: &[],
    }
    .run(device)?;
    equal(entry, &numbers::<f32>(&bytes), expected)?;
    Ok(Outcome::Passed)
}

pub(crate) fn uniform_shapes<B: Backend>(device: &mut Device<B>) -> Answer {
    let (shapes, count) = shapes();
    let input = (1, BufferUsages::UNIFORM, bytemuck::bytes_of(&shapes));
    reads(device, entries::READ_UNIFORM, &[input], &counted(count))
}

pub(crate) fn storage_shapes<B: Backend>(device: &mut Device<B>) -> Answer {
    let (shapes, count) = shapes();
    let input = (2, BufferUsages::STORAGE, bytemuck::bytes_of(&shapes));
    reads(device, entries::READ_STORAGE, &[input], &counted(count))
}

pub(crate) fn c102_elements_of_20_bytes_lie_32_apart<B: Backend>(device: &mut Device<B>) -> Answer {
    equal("stride of the element", &[layouts::ITEMS_ARRAY.stride, size_of::<Item>() as u64], &[32, 32])?;
    let mut count = Count::default();
    let items: Vec<Item> =
        (0..20).map(|_| Item::new(std::array::from_fn(|_| count.one()), count.one(), count.one())).collect();
    let mut bytes = bytemuck::bytes_of(&ItemsHeader::new(20)).to_vec();
    bytes.extend_from_slice(bytemuck::cast_slice(&items));
    equal("bytes of a header and 20 elements", &[bytes.len() as u64], &[layouts::ITEMS_ARRAY.size(20)])?;
    let mut expected = counted(100);
    expected.push(20.0);
    reads(device, entries::READ_ITEMS, &[(3, BufferUsages::STORAGE, &bytes)], &expected)?;
    // 400 bytes of elements hold 12 whole ones.
    equal("whole elements in 400 bytes", &[layouts::ITEMS_ARRAY.capacity(16 + 400)], &[12])?;
    let mut short = bytemuck::bytes_of(&ItemsHeader::new(0)).to_vec();
    short.resize(16 + 400, 0);
    reads(device, entries::READ_ITEMS, &[(3, BufferUsages::STORAGE, &short)], &[12.0])
}

pub(crate) fn array_of_vec3<B: Backend>(device: &mut Device<B>) -> Answer {
    let mut count = Count::default();
    let list: Vec<layouts::BareElement> = (0..5).map(|_| count.padded()).collect();
    let input = (4, BufferUsages::STORAGE, bytemuck::cast_slice(&list));
    reads(device, entries::READ_BARE, &[input], &counted(15))
}

pub(crate) fn c100_mat2x2_in_uniform<B: Backend>(device: &mut Device<B>) -> Answer {
    equal("bytes of the structure", &[size_of::<Square>()], &[16])?;
    let square = Square::new([[10.0, 20.0], [30.0, 40.0]]);
    let expected = [10.0, 20.0, 30.0, 40.0, 10.0, 20.0, 30.0, 40.0, 40.0, 60.0];
    reads(device, entries::C100, &[(5, BufferUsages::UNIFORM, bytemuck::bytes_of(&square))], &expected)
}

fn least(binding: ShaderBinding) -> u64 {
    match binding.ty {
        BindingType::Buffer { min_binding_size, .. } => min_binding_size.map_or(0, |size| size.get()),
        _ => 0,
    }
}

pub(crate) fn c103_least_binding_sizes<B: Backend>(device: &mut Device<B>) -> Answer {
    let found = [bindings::TRIPLE, bindings::MIXED, bindings::TAILED, bindings::HEADED].map(least);
    equal("least binding sizes", &found, &[12, 16, 80, 8])?;
    let mut matrix = [[0.0; 4]; 4];
    matrix[3][3] = 7.0;
    let triple: [f32; 3] = [1.0, 2.0, 3.0];
    let mixed = Mixed::new(4, [5, 6]);
    let tailed = Tailed::new(matrix, 8.0);
    let inputs: [(u32, BufferUsages, &[u8]); 4] = [
        (6, BufferUsages::UNIFORM, bytemuck::cast_slice(&triple)),
        (7, BufferUsages::STORAGE, bytemuck::bytes_of(&mixed)),
        (8, BufferUsages::STORAGE, bytemuck::bytes_of(&tailed)),
        (9, BufferUsages::STORAGE, bytemuck::cast_slice(&[9u32, 10])),
    ];
    let mut expected = counted(10);
    expected.push(1.0);
    reads(device, entries::C103, &inputs, &expected)?;
    too_small(device)?;
    Ok(Outcome::Passed)
}

/// A byte less than the least is refused where the group is made.
fn too_small<B: Backend>(device: &mut Device<B>) -> Checked {
    let program = Program::new(device, &SHADER, &[entries::C100])?;
    let result = device.create_buffer_with("short", BufferUsages::UNIFORM, &[0; 12])?;
    let answer = crate::kit::result_buffer(device, 40)?;
    let entries = [BindGroupEntry::buffer(0, *answer), BindGroupEntry::buffer(5, *result)];
    match program.group(device, 0, &entries) {
        Err(crate::Failure::Device(error)) => {
            refused::<()>("a short binding", "at least 16 bytes", Err(error))
        }
        Err(other) => Err(other),
        Ok(_) => Err(wrong("a group with a short binding", "an error", "success")),
    }
}

pub(crate) fn c106_control_flow<B: Backend>(device: &mut Device<B>) -> Answer {
    let expected = [9.0, 1.0, 2.0, 9.0, 1.0, 2.0, 2.0, 5.0, 0.0, 2.0];
    reads(device, entries::C106, &[], &expected)
}

/// WGSL's names are the author's own; what GLSL, HLSL and MSL reserve is renamed below, and no two become one. The
/// generated struct has them as they were written.
pub(crate) fn c104_names_that_other_languages_reserve<B: Backend>(device: &mut Device<B>) -> Answer {
    let reserved = Reserved { output: 1.0, half: 2.0, gl_thing: 3.0, M01: 4.0, M01_: 5.0, a__b: 6.0 };
    let input = (10, BufferUsages::STORAGE, bytemuck::bytes_of(&reserved));
    reads(device, entries::C104, &[input], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
}
