//! Small deterministic numbers for the procedural scene.
//!
//! The picture must be the same on every run and machine, so it draws from this fixed integer hash and not
//! from a random generator.

/// A well mixed 32-bit hash of a number and a salt.
pub fn bits(value: u32, salt: u32) -> u32 {
    // Two rounds of multiply and xor-shift: the finisher of common 32-bit hashes.
    let mut x = value.wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b) ^ 0x27d4_eb2f;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A number in `0.0..1.0`.
pub fn unit(value: u32, salt: u32) -> f32 {
    (bits(value, salt) >> 8) as f32 / (1 << 24) as f32
}

/// Smooth noise in `0.0..1.0` that repeats every `period` cells in both directions.
pub fn value_noise(x: f32, y: f32, period: u32, salt: u32) -> f32 {
    let cell = |ix: i32, iy: i32| {
        let wrap = |i: i32| i.rem_euclid(period.max(1) as i32) as u32;
        unit(wrap(ix).wrapping_add(wrap(iy).wrapping_mul(0x1_0001)), salt)
    };
    let (fx, fy) = (x.floor(), y.floor());
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (tx, ty) = (smooth(x - fx), smooth(y - fy));
    let (ix, iy) = (fx as i32, fy as i32);
    let top = cell(ix, iy) * (1.0 - tx) + cell(ix + 1, iy) * tx;
    let bottom = cell(ix, iy + 1) * (1.0 - tx) + cell(ix + 1, iy + 1) * tx;
    top * (1.0 - ty) + bottom * ty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_repeats_and_stays_in_range() {
        for i in 0..500 {
            let (x, y) = (i as f32 * 0.37, i as f32 * 0.11);
            let n = value_noise(x, y, 8, 3);
            assert!((0.0..=1.0).contains(&n));
            assert!((n - value_noise(x + 8.0, y - 16.0, 8, 3)).abs() < 1e-3);
        }
    }

    #[test]
    fn units_spread_evenly() {
        let mean = (0..4096).map(|i| unit(i, 1)).sum::<f32>() / 4096.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
