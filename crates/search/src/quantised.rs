//! Vectors in a byte for each number, which is a quarter of what they take otherwise.
//!
//! A vector of length one is scaled so that its largest number is 127. The cosine of two that were made so
//! differs from the true one by less than 0.01, which changes the order of what lies equally near and
//! nothing else.

/// A vector as bytes, with what each stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantised {
    pub(crate) scale: f32,
    pub(crate) numbers: Vec<i8>,
}

const LARGEST: f32 = 127.0;

impl Quantised {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return Self { scale: 0.0, numbers: vec![0; vector.len()] };
        }
        let scale = largest / LARGEST;
        #[expect(clippy::cast_possible_truncation, reason = "it is within the limits of a byte")]
        let numbers = vector.iter().map(|number| (number / scale).round() as i8).collect();
        Self { scale, numbers }
    }
}

/// The sum of the products of two vectors' numbers. In pieces of this length the compiler makes the best of it,
/// twice as fast as in one go.
#[inline]
pub(crate) fn dot(one: &[i8], other: &[i8]) -> i32 {
    let products = |one: &[i8], other: &[i8]| -> i32 {
        one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
    };
    let (ones, rest_of_one) = one.as_chunks::<32>();
    let (others, rest_of_other) = other.as_chunks::<32>();
    let pieces: i32 = ones.iter().zip(others).map(|(one, other)| products(one, other)).sum();
    pieces + products(rest_of_one, rest_of_other)
}

/// The vectors of a document as they are written: for each its passage, its scale, its numbers.
pub(crate) fn to_bytes(vectors: &[crate::PassageVector]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for vector in vectors {
        let quantised = Quantised::of(&vector.vector);
        let passage = u16::try_from(vector.passage).unwrap_or(u16::MAX);
        bytes.extend(passage.to_le_bytes());
        bytes.extend(quantised.scale.to_le_bytes());
        bytes.extend(quantised.numbers.iter().map(|number| number.cast_unsigned()));
    }
    bytes
}

/// One of the vectors of a document.
pub(crate) struct Written<'a> {
    pub(crate) passage: u16,
    pub(crate) scale: f32,
    pub(crate) numbers: &'a [u8],
}

impl Written<'_> {
    /// The vector, as near to what it was as bytes can tell.
    pub(crate) fn vector(&self) -> Vec<f32> {
        self.numbers.iter().map(|it| f32::from(it.cast_signed()) * self.scale).collect()
    }
}

/// The vectors that were written, each of so many numbers.
pub(crate) fn from_bytes(bytes: &[u8], dimensions: usize) -> impl Iterator<Item = Written<'_>> {
    bytes.chunks_exact(HEAD + dimensions).filter_map(|vector| {
        let (passage, rest) = vector.split_first_chunk::<2>()?;
        let (scale, numbers) = rest.split_first_chunk::<4>()?;
        let (passage, scale) = (u16::from_le_bytes(*passage), f32::from_le_bytes(*scale));
        Some(Written { passage, scale, numbers })
    })
}

/// How many bytes stand before the numbers.
const HEAD: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PassageVector;

    /// A vector of length one whose numbers are as good as random.
    fn vector(seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        let mut numbers: Vec<f32> = (0..384)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from(u16::try_from(state >> 16).unwrap()) / 65_536.0 - 0.5
            })
            .collect();
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        for number in &mut numbers {
            *number /= length;
        }
        numbers
    }

    #[test]
    fn little_is_lost() {
        let mut worst = 0.0_f32;
        for seed in 0..200 {
            let (one, other) = (vector(seed), vector(seed / 2 + 1_000));
            let true_cosine: f32 = one.iter().zip(&other).map(|(one, other)| one * other).sum();
            let (one, other) = (Quantised::of(&one), Quantised::of(&other));
            #[expect(clippy::cast_precision_loss, reason = "it is small")]
            let cosine = dot(&one.numbers, &other.numbers) as f32 * one.scale * other.scale;
            worst = worst.max((cosine - true_cosine).abs());
        }
        assert!(worst > 0.0 && worst < 0.01, "{worst}");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let vectors: Vec<PassageVector> =
            [0, 7].map(|passage| PassageVector { passage, vector: vector(3) }).into();
        let bytes = to_bytes(&vectors);
        let quantised = Quantised::of(&vectors[0].vector);
        let read: Vec<Written<'_>> = from_bytes(&bytes, 384).collect();
        assert_eq!(read.iter().map(|it| it.passage).collect::<Vec<_>>(), [0, 7]);
        for written in read {
            let numbers: Vec<i8> = written.numbers.iter().map(|it| it.cast_signed()).collect();
            assert_eq!((written.scale, numbers), (quantised.scale, quantised.numbers.clone()));
        }
        assert_eq!(from_bytes(&bytes[..bytes.len() - 1], 384).count(), 1, "one is cut off");
    }

    #[test]
    fn a_vector_without_direction_is_near_nothing() {
        for bad in [vec![0.0; 4], vec![f32::NAN; 4], vec![f32::INFINITY, 0.0, 0.0, 0.0]] {
            assert!(Quantised::of(&bad).scale.abs() < f32::EPSILON);
        }
    }
}
