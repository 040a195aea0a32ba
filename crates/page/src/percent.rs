//! Shares in percent, as people read them: rounded, and never all or nothing unless it is.

/// `part` of `whole`, such as `67 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match rounded(part, whole, 100) {
        0 if part > 0 => "< 1 %".to_owned(),
        100 if part < whole => "> 99 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// The same with a digit behind the point.
pub(crate) fn exact_percent(part: u64, whole: u64) -> String {
    match rounded(part, whole, 1_000) {
        0 if part > 0 => "< 0.1 %".to_owned(),
        1_000 if part < whole => "> 99.9 %".to_owned(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

fn rounded(part: u64, whole: u64, of: u64) -> u64 {
    let (part, whole, of) = (u128::from(part), u128::from(whole), u128::from(of));
    let share = (part * of * 2 + whole).checked_div(whole * 2).unwrap_or_default();
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_all_is_all() {
        let told = [(2, 3), (4_999, 5_000), (1, 5_000), (5, 5), (0, 5), (1, 2), (0, 0)];
        let told = told.map(|(part, whole)| percent(part, whole));
        assert_eq!(told, ["67 %", "> 99 %", "< 1 %", "100 %", "0 %", "50 %", "0 %"]);
        let exact = [(2, 3), (9_999_999, 10_000_000), (u64::MAX, u64::MAX), (1, 8)];
        let exact = exact.map(|(part, whole)| exact_percent(part, whole));
        assert_eq!(exact, ["66.7 %", "> 99.9 %", "100.0 %", "12.5 %"]);
    }
}
