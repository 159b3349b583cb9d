//! The bytes that all contenders work on, and the results that follow from them.

use crate::workloads::{
    CHAIN_VALUES, DISPATCH_SAMPLE, DISPATCHES, DRAWS, DRAWS_TARGET, INDEPENDENT, MATERIALS, SCENE_TEXTURE,
    STRIDE, TEXTURES_PER_DRAW,
};

/// Pixels of a small triangle's side, and from one to the next.
const SIDE: f32 = 6.0;
pub const STEP: u32 = 8;

/// Spreads numbers without a pattern, the same way every time.
fn mix(value: u32) -> u32 {
    let mut x = value.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    x ^= x >> 16;
    x = x.wrapping_mul(0x21F0_AAAD);
    x ^= x >> 15;
    x = x.wrapping_mul(0x735A_2D97);
    x ^ (x >> 15)
}

/// The numbers below `count` in a mixed order, the same every time.
pub fn shuffled(count: u32, seed: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for index in (1..count).rev() {
        let other = mix(index ^ mix(seed)) % (index + 1);
        order.swap(index as usize, other as usize);
    }
    order
}

fn put(bytes: &mut Vec<u8>, values: &[f32]) {
    bytes.extend_from_slice(bytemuck::cast_slice(values));
}

/// The uniforms of `draws10k`, `STRIDE` bytes apart.
pub fn draw_uniforms() -> Vec<u8> {
    let mut bytes = Vec::with_capacity((DRAWS * STRIDE) as usize);
    let row = DRAWS_TARGET.0 / STEP;
    for draw in 0..DRAWS {
        let (x, y) = (draw % row * STEP, draw / row * STEP);
        put(&mut bytes, &[x as f32, y as f32, SIDE, STEP as f32]);
        let color = [mix(draw) % 100, mix(draw + DRAWS) % 100, mix(draw + 2 * DRAWS) % 100, 55];
        put(&mut bytes, &color.map(|channel| channel as f32 / 255.0));
        put(&mut bytes, &[DRAWS_TARGET.0 as f32, DRAWS_TARGET.1 as f32, row as f32, 0.0]);
        put(&mut bytes, &[0.0; 4]);
        bytes.resize(((draw + 1) * STRIDE) as usize, 0);
    }
    bytes
}

/// The uniforms of the materials, `STRIDE` bytes apart.
pub fn material_uniforms() -> Vec<u8> {
    let mut bytes = Vec::with_capacity((MATERIALS * STRIDE) as usize);
    for material in 0..MATERIALS {
        let tint = [material % 50, material % 7, material % 11, 100];
        put(&mut bytes, &tint.map(|channel| channel as f32 / 255.0));
        bytes.resize(((material + 1) * STRIDE) as usize, 0);
    }
    bytes
}

/// The one texel of a material's texture.
pub fn material_texel(material: u32) -> [u8; 4] {
    [(mix(material) % 80) as u8, (mix(material + 1000) % 80) as u8, (mix(material + 2000) % 80) as u8, 100]
}

/// The one texel of a texture of `renderpass`: over the seven of a draw, a channel adds up to one or zero.
pub fn renderpass_texel(texture: u32) -> [u8; 4] {
    let (draw, place) = (texture / TEXTURES_PER_DRAW, texture % TEXTURES_PER_DRAW);
    let lit =
        |every: u32| if draw.is_multiple_of(every) && place == draw % TEXTURES_PER_DRAW { 255 } else { 0 };
    [lit(5), lit(7), lit(11), lit(13)]
}

/// Positions of a triangle that covers everything.
pub fn renderpass_positions() -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, &[-1.0, -1.0, 0.0, 1.0, 3.0, -1.0, 0.0, 1.0, -1.0, 3.0, 0.0, 1.0]);
    bytes
}

/// Factors of the same triangle's vertices.
pub fn renderpass_factors() -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, &[1.0; 12]);
    bytes
}

/// Indices of the same triangle.
pub fn renderpass_indices() -> Vec<u8> {
    bytemuck::cast_slice(&[0u32, 1, 2]).to_vec()
}

/// One texel of half floats that counts the lit draws.
pub fn renderpass_expected() -> Vec<u8> {
    let counted = [5, 7, 11, 13].map(|every| half(DRAWS.div_ceil(every)));
    bytemuck::cast_slice(&counted).to_vec()
}

/// A whole number up to 2,048 as a half float.
fn half(value: u32) -> u16 {
    assert!((1..=2048).contains(&value), "{value} is not exact");
    let exponent = 31 - value.leading_zeros();
    let mantissa = (value << (10 - exponent.min(10)) >> (exponent.max(10) - 10)) & 0x3FF;
    ((exponent + 15) << 10 | mantissa) as u16
}

/// The one texel of a sampled texture of `computepass`.
pub fn computepass_texel(texture: u32) -> [u8; 4] {
    [(mix(texture) % 251) as u8, 0, 0, 255]
}

/// The first values of both storage buffers of the sampled dispatches.
pub fn computepass_expected() -> Vec<u8> {
    let mut bytes = Vec::new();
    for dispatch in (0..DISPATCHES).step_by(DISPATCH_SAMPLE as usize) {
        let a = f32::from(computepass_texel(dispatch * 2)[0]);
        let b = f32::from(computepass_texel(dispatch * 2 + 1)[0]);
        put(&mut bytes, &[a + b, a * 2.0 + b]);
    }
    bytes
}

fn chain_words(buffer: u32) -> Vec<u32> {
    (0..CHAIN_VALUES).map(|index| mix(index + buffer * CHAIN_VALUES)).collect()
}

fn step(words: &mut [u32]) {
    for word in words {
        *word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
}

/// What a buffer of `compute_chain` holds at first.
pub fn chain_values(buffer: u32) -> Vec<u8> {
    bytemuck::cast_slice(&chain_words(buffer)).to_vec()
}

/// The first buffer after an even number of steps from its first values.
pub fn chain_expected(steps: u32) -> Vec<u8> {
    let mut words = chain_words(0);
    for _ in 0..steps {
        step(&mut words);
    }
    bytemuck::cast_slice(&words).to_vec()
}

/// The written buffers of the independent passes, one after the other.
pub fn independent_expected() -> Vec<u8> {
    let mut out = Vec::new();
    for pass in 0..INDEPENDENT {
        let mut words = chain_words(pass);
        step(&mut words);
        out.extend_from_slice(bytemuck::cast_slice(&words));
    }
    out
}

/// The scene's texture.
pub fn scene_texels() -> Vec<u8> {
    (0..SCENE_TEXTURE * SCENE_TEXTURE)
        .flat_map(|texel| {
            [(mix(texel) % 100) as u8, (mix(texel + 100) % 100) as u8, (mix(texel + 200) % 100) as u8, 255]
        })
        .collect()
}

/// The values that slices of a uniform buffer hold, one after the other.
pub fn slices_bytes(count: u32) -> Vec<u8> {
    let values: Vec<[u32; 4]> = (0..count).map(|index| [index, mix(index), mix(index + 1), count]).collect();
    bytemuck::cast_slice(&values).to_vec()
}

/// The same, `STRIDE` bytes apart.
pub fn slices_uniforms(count: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((count * STRIDE) as usize);
    for slice in slices_bytes(count).chunks_exact(16) {
        bytes.extend_from_slice(slice);
        bytes.resize(bytes.len() + (STRIDE - 16) as usize, 0);
    }
    bytes
}

/// The one texel of a texture of a group of so many; its alpha says which group.
pub fn group_texel(texture: u32, per_group: u32) -> [u8; 4] {
    let [r, g, b, _] = mix(texture).to_le_bytes();
    [r, g, b, (texture / per_group) as u8]
}

/// The sums of each group's texels.
pub fn group_sums(count: u32, per_group: u32) -> Vec<u8> {
    let mut sums = vec![[0u32; 4]; count as usize];
    for texture in 0..count * per_group {
        let texel = group_texel(texture, per_group);
        for (sum, byte) in sums[(texture / per_group) as usize].iter_mut().zip(texel) {
            *sum += u32::from(byte);
        }
    }
    bytemuck::cast_slice(&sums).to_vec()
}

/// Bytes to write to a resource and read back.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|index| mix(index) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_whole_numbers() {
        assert_eq!([1, 2, 3, 1024, 2047, 2048].map(half), [0x3C00, 0x4000, 0x4200, 0x6400, 0x67FF, 0x6800]);
    }

    #[test]
    fn a_shuffle_keeps_every_number() {
        let mut order = shuffled(1000, 3);
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_textures_of_a_draw_add_up_to_whole_numbers() {
        for draw in 0..DRAWS {
            let sum = (0..TEXTURES_PER_DRAW)
                .map(|place| u32::from(renderpass_texel(draw * TEXTURES_PER_DRAW + place)[0]));
            assert_eq!(sum.sum::<u32>(), if draw % 5 == 0 { 255 } else { 0 });
        }
    }
}
