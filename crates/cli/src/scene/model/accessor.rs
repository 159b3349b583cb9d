//! Accessors to numbers, with every bound checked.
//!
//! One element is read as bytes from a view (with its stride), from zeros where there is no view, and then
//! from the sparse overrides. What comes out is always `count` elements of `N` components, or an error that
//! names the accessor.

use gltf::Accessor;
use gltf::accessor::{DataType, sparse};

use super::source::Source;
use crate::error::DemoError;

/// The most elements that an accessor without stored data may declare: such a file costs no bytes to write.
const MAX_UNBACKED: usize = 1 << 20;

/// Elements as raw component bytes, and how to read them.
struct Raw {
    bytes: Vec<u8>,
    data_type: DataType,
    normalized: bool,
}

fn raw<const N: usize>(source: &Source, accessor: &Accessor<'_>, what: &str) -> Result<Raw, DemoError> {
    let fault = |why: String| source.fault(format!("{what} (accessor {}): {why}", accessor.index()));
    let components = accessor.dimensions().multiplicity();
    if components != N {
        return Err(fault(format!("has {components} components where {N} are expected")));
    }
    let size = accessor.data_type().size() * N;
    let count = accessor.count();
    let mut bytes = match accessor.view() {
        Some(view) => {
            let data = source.view_bytes(&view)?;
            let stride = view.stride().unwrap_or(size);
            if stride < size {
                return Err(fault(format!("has a stride of {stride} bytes for elements of {size}")));
            }
            gather(data, accessor.offset(), stride, size, count).ok_or_else(|| {
                fault(format!("{count} elements do not fit into buffer view {}", view.index()))
            })?
        }
        None if count > MAX_UNBACKED => return Err(fault(format!("declares {count} elements without data"))),
        None => vec![0; size * count],
    };
    if let Some(overrides) = accessor.sparse() {
        let amount = overrides.count();
        let (indices, values) = (overrides.indices(), overrides.values());
        let width = match indices.index_type() {
            sparse::IndexType::U8 => 1,
            sparse::IndexType::U16 => 2,
            sparse::IndexType::U32 => 4,
        };
        let at = gather(source.view_bytes(&indices.view())?, indices.offset(), width, width, amount)
            .ok_or_else(|| fault("the sparse indices do not fit into their view".to_owned()))?;
        let from = gather(source.view_bytes(&values.view())?, values.offset(), size, size, amount)
            .ok_or_else(|| fault("the sparse values do not fit into their view".to_owned()))?;
        for (at, value) in at.chunks_exact(width).zip(from.chunks_exact(size)) {
            let index = at.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
            let target = index.checked_mul(size).and_then(|start| bytes.get_mut(start..start + size));
            target
                .ok_or_else(|| fault(format!("sparse index {index} is beyond its {count} elements")))?
                .copy_from_slice(value);
        }
    }
    Ok(Raw { bytes, data_type: accessor.data_type(), normalized: accessor.normalized() })
}

/// `count` elements of `size` bytes, `stride` apart, or nothing where one is out of bounds.
fn gather(data: &[u8], offset: usize, stride: usize, size: usize, count: usize) -> Option<Vec<u8>> {
    let Some(last) = count.checked_sub(1) else { return Some(Vec::new()) };
    let end = last.checked_mul(stride)?.checked_add(offset)?.checked_add(size)?;
    let data = data.get(offset..end)?;
    Some(data.chunks(stride).flat_map(|element| &element[..size]).copied().collect())
}

impl Raw {
    fn component_floats(&self) -> Vec<f32> {
        let map = |width: usize, f: &dyn Fn(&[u8]) -> f32| self.bytes.chunks_exact(width).map(f).collect();
        // Normalized signed integers have two encodings of -1.0, hence the clamp.
        match (self.data_type, self.normalized) {
            (DataType::F32, _) => map(4, &|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            (DataType::U8, true) => map(1, &|b| f32::from(b[0]) / 255.0),
            (DataType::U8, false) => map(1, &|b| f32::from(b[0])),
            (DataType::I8, true) => map(1, &|b| (f32::from(b[0] as i8) / 127.0).max(-1.0)),
            (DataType::I8, false) => map(1, &|b| f32::from(b[0] as i8)),
            (DataType::U16, true) => map(2, &|b| f32::from(u16::from_le_bytes([b[0], b[1]])) / 65535.0),
            (DataType::U16, false) => map(2, &|b| f32::from(u16::from_le_bytes([b[0], b[1]]))),
            (DataType::I16, true) => {
                map(2, &|b| (f32::from(i16::from_le_bytes([b[0], b[1]])) / 32767.0).max(-1.0))
            }
            (DataType::I16, false) => map(2, &|b| f32::from(i16::from_le_bytes([b[0], b[1]]))),
            (DataType::U32, _) => map(4, &|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32),
        }
    }
}

/// Elements as floats; integers are converted as the accessor says. All of them are finite.
pub(super) fn floats<const N: usize>(
    source: &Source,
    accessor: &Accessor<'_>,
    what: &str,
) -> Result<Vec<[f32; N]>, DemoError> {
    let values = raw::<N>(source, accessor, what)?.component_floats();
    let elements = values.as_chunks::<N>().0.to_vec();
    if let Some(index) = elements.iter().position(|element| element.iter().any(|v| !v.is_finite())) {
        let at = accessor.index();
        return Err(source.fault(format!("{what} (accessor {at}): element {index} is not finite")));
    }
    Ok(elements)
}

/// Elements as unsigned integers.
pub(super) fn integers<const N: usize>(
    source: &Source,
    accessor: &Accessor<'_>,
    what: &str,
) -> Result<Vec<[u32; N]>, DemoError> {
    let raw = raw::<N>(source, accessor, what)?;
    let values: Vec<u32> = match raw.data_type {
        DataType::U8 => raw.bytes.iter().map(|b| u32::from(*b)).collect(),
        DataType::U16 => raw.bytes.as_chunks().0.iter().map(|b| u32::from(u16::from_le_bytes(*b))).collect(),
        DataType::U32 => raw.bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect(),
        other => {
            let at = accessor.index();
            return Err(source
                .fault(format!("{what} (accessor {at}): {other:?} where unsigned integers are expected")));
        }
    };
    Ok(values.as_chunks::<N>().0.to_vec())
}

#[cfg(test)]
mod tests {
    use super::gather;

    #[test]
    fn elements_are_gathered_with_a_stride() {
        let data = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(gather(&data, 1, 3, 2, 3), None, "the last element would end at byte 9");
        assert_eq!(gather(&data, 1, 3, 2, 2), Some(vec![1, 2, 4, 5]));
        assert_eq!(gather(&data, 0, 4, 4, 2), Some(data.to_vec()));
        assert_eq!(gather(&data, 9, 4, 4, 0), Some(vec![]));
    }

    #[test]
    fn elements_out_of_bounds_are_refused() {
        let data = [0; 8];
        assert_eq!(gather(&data, 0, 4, 4, 3), None);
        assert_eq!(gather(&data, 7, 1, 2, 1), None);
        assert_eq!(gather(&data, usize::MAX, 1, 1, 1), None);
        assert_eq!(gather(&data, 0, usize::MAX, 1, 3), None);
    }
}
