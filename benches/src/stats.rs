//! Medians and percentiles.

use serde::{Deserialize, Serialize};

/// What a list of samples comes to, in the samples' unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub median: f64,
    pub p95: f64,
    pub p99: f64,
    pub samples: usize,
}

impl Summary {
    /// Of at least one sample.
    pub fn of(mut samples: Vec<f64>) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        samples.sort_by(f64::total_cmp);
        Some(Self {
            median: percentile(&samples, 0.5),
            p95: percentile(&samples, 0.95),
            p99: percentile(&samples, 0.99),
            samples: samples.len(),
        })
    }
}

/// The median of the ratios of two lists, element by element; `None` unless both have the same length and all is positive.
/// Elements are taken right after one another, so what the machine's clock does in between hits both.
pub fn paired_ratio(a: &[f64], b: &[f64]) -> Option<f64> {
    let positive = a.iter().chain(b).all(|value| *value > 0.0);
    let ratios = a.iter().zip(b).map(|(a, b)| a / b).collect();
    if a.len() == b.len() && positive { Summary::of(ratios).map(|ratios| ratios.median) } else { None }
}

/// Between the two nearest samples of a sorted list, by their distance.
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_samples() {
        let summary = Summary::of((1..=101).map(f64::from).rev().collect());
        let expected = Summary { median: 51.0, p95: 96.0, p99: 100.0, samples: 101 };
        assert_eq!(summary, Some(expected));
        assert_eq!(Summary::of(vec![1.0, 2.0]).map(|summary| summary.median), Some(1.5));
        assert_eq!(Summary::of(Vec::new()), None);
    }

    #[test]
    fn pairs_see_through_a_clock_that_changes() {
        // The machine is twice as slow in half of the blocks: medians of all blocks say 1.0 to 2.0, pairs say 1.1.
        let (a, b) = ([11.0, 22.0, 11.0, 22.0, 22.0], [10.0, 20.0, 10.0, 20.0, 20.0]);
        let found = paired_ratio(&a, &b).expect("a ratio");
        assert!((found - 1.1).abs() < 1e-9, "{found}");
        assert_eq!(paired_ratio(&a, &b[1..]), None);
        assert_eq!(paired_ratio(&[1.0], &[0.0]), None);
        assert_eq!(paired_ratio(&[], &[]), None);
    }
}
