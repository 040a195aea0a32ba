use super::*;

fn ticks(min: f64, max: f64, max_count: usize) -> Vec<String> {
    let step = nice_step(max - min, max_count);
    labels(&multiples(min, max, step), step, Grouping::Commas)
}

#[test]
fn ticks_are_multiples_of_one_two_or_five() {
    assert_eq!(ticks(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
    assert_eq!(ticks(-1.0, 1.0, 4), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
    assert_eq!(ticks(0.13, 0.27, 4), ["0.15", "0.20", "0.25"]);
    assert_eq!(ticks(0.0, 1_000.0, 3), ["0", "500", "1,000"]);
}

#[test]
fn large_ticks_have_commas_or_a_unit() {
    assert_eq!(ticks(0.0, 400_000.0, 4), ["0", "100,000", "200,000", "300,000", "400,000"]);
    assert_eq!(ticks(0.0, 1.5e6, 3), ["0", "0.5M", "1.0M", "1.5M"]);
    assert_eq!(ticks(0.0, 4e9, 2), ["0", "2B", "4B"]);
    assert_eq!(ticks(-3e12, 0.0, 3), ["-3T", "-2T", "-1T", "0"]);
    // A unit would hide how they differ.
    assert_eq!(ticks(5e6, 5e6 + 20.0, 2), ["5,000,000", "5,000,010", "5,000,020"]);
}

#[test]
fn ticks_beyond_all_units_have_an_exponent() {
    assert_eq!(ticks(0.0, 4e20, 2), ["0", "2e20", "4e20"]);
    assert_eq!(ticks(0.0, 3e-7, 3), ["0", "1e-7", "2e-7", "3e-7"]);
    assert_eq!(ticks(1e20, 1.5e20, 5)[1], "1.1e20");
}

#[test]
fn ticks_differ_from_one_another() {
    for (min, max) in [(0.0, 1e-300), (1e15, 1e15 + 1e7), (-1e300, 1e300), (0.1, 0.100_001)] {
        let ticks = ticks(min, max, 8);
        let distinct: std::collections::BTreeSet<_> = ticks.iter().collect();
        assert!(ticks.len() >= 2 && distinct.len() == ticks.len(), "{ticks:?}");
    }
}

#[test]
fn a_value_is_written_in_few_letters() {
    let written = [
        (0.0, "0"),
        (7.0, "7"),
        (-12.75, "-12.8"),
        (0.012_345, "0.0123"),
        (0.5, "0.5"),
        (1_234.0, "1,234"),
        (1_234.56, "1,235"),
        (1_234_567.0, "1.23M"),
        (-45_600_000_000.0, "-45.6B"),
        (1e-9, "1e-9"),
        (1.234e300, "1.23e300"),
    ];
    for (value, text) in written {
        assert_eq!(compact(value), text);
    }
}

#[test]
fn the_name_of_a_category_is_the_whole_number() {
    assert_eq!(exact(1_234_567.5, Grouping::Commas), "1,234,567.5");
    assert_eq!(exact(2024.0, Grouping::Plain), "2024");
    assert_eq!(exact(-0.0, Grouping::Commas), "0");
    assert_eq!(exact(1e300, Grouping::Commas), "1e300");
}
