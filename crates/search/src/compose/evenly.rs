//! Chooses a few out of many, spread over all of them.

/// The places of `count` out of `total`, or of all if they are no more: the first one, and the rest at equal
/// distances.
pub(crate) fn evenly(total: usize, count: usize) -> Vec<usize> {
    if total <= count {
        return (0..total).collect();
    }
    (0..count).map(|number| number * total / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_spread_over_all() {
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        assert_eq!(evenly(10, 4), [0, 2, 5, 7]);
        assert_eq!(evenly(10, 0), Vec::<usize>::new());
        assert_eq!(evenly(0, 4), Vec::<usize>::new());
    }
}
