//! Numbers as people read them.

/// With separators: `1,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// With its noun: `1 result`, `1,204 results`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number that may be below zero, told by `told`.
pub fn signed(number: i64, told: fn(u64) -> String) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", told(number.unsigned_abs()))
}

/// A large number in short: `1.9 M`. One of up to four digits is exact.
pub fn short(number: u64) -> String {
    if number < 10_000 { grouped(number) } else { with_unit(number, ["k", "M", "G", "T"]) }
}

/// A size: `7.3 MB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 { format!("{bytes} B") } else { with_unit(bytes, ["kB", "MB", "GB", "TB"]) }
}

/// A number of at least a thousand in thousands, millions and so on, with one digit after the point.
fn with_unit(number: u64, units: [&str; 4]) -> String {
    let (mut unit, mut scale) = (0, 1_000);
    // What would be rounded to a thousand is one of the next unit.
    while number >= 1_000 * scale - scale / 20 && unit < units.len() - 1 {
        unit += 1;
        scale *= 1_000;
    }
    let tenths = number.saturating_add(scale / 20) / (scale / 10);
    format!("{}.{} {}", tenths / 10, tenths % 10, units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let numbers = [0, 999, 1_000, 12_345, 1_972_004, 7_000_000_000];
        let told = ["0", "999", "1,000", "12,345", "1,972,004", "7,000,000,000"];
        assert_eq!(numbers.map(grouped), told);
    }

    #[test]
    fn large_numbers_are_short() {
        let numbers = [0, 999, 1_000, 9_999, 12_345, 999_960, 1_972_004, 7_000_000_000];
        assert_eq!(
            numbers.map(short),
            ["0", "999", "1,000", "9,999", "12.3 k", "1.0 M", "2.0 M", "7.0 G"]
        );
        assert_eq!(
            numbers.map(size),
            ["0 B", "999 B", "1.0 kB", "10.0 kB", "12.3 kB", "1.0 MB", "2.0 MB", "7.0 GB"]
        );
        assert_eq!([counted(1, "result"), counted(2, "result")], ["1 result", "2 results"]);
    }
}
