//! Whether the first record of a delimited text names its columns.

use csv::{ByteRecord, StringRecord};

use super::{LOOKED_AT, LOOKED_AT_BYTES, reader};
use crate::table::has_form;

/// What stands for no value.
const NOTHING: [&str; 10] = ["na", "n/a", "nan", "null", "nil", "none", "-", "--", "?", "unknown"];
/// So many numbers make a column one of numbers, and a row of years a row of names.
const ENOUGH: usize = 3;

/// True if a first record names the columns of those in `rest`: it has names alone, or a name stands above nothing but
/// numbers and what else stands there may be names, too, such as years.
pub(super) fn is_one(first: &ByteRecord, rest: &[u8], delimiter: u8) -> bool {
    let Ok(first) = StringRecord::from_byte_record(first.clone()) else { return false };
    let filled: Vec<&str> = first.iter().map(str::trim).filter(|it| !it.is_empty()).collect();
    if filled.len() * 2 <= first.len() {
        return false;
    }
    if filled.iter().all(|cell| is_name(cell)) {
        return true;
    }
    let labels: Vec<&str> = filled.iter().copied().filter(|cell| !is_name(cell)).collect();
    let is_distinct = filled.iter().enumerate().all(|(at, cell)| !filled[..at].contains(cell));
    is_distinct && may_be_names(&labels) && stands_above_numbers(&first, rest, delimiter)
}

/// True for a text that is no number, day, size or address.
fn is_name(cell: &str) -> bool {
    cell.parse::<f64>().is_err()
        && !is_day(cell)
        && !is_size(cell.as_bytes())
        && !cell.starts_with("http")
}

/// True if each may be the name of a column, though it is none by its form: years, days, percentages, or whole numbers
/// that follow each other.
fn may_be_names(labels: &[&str]) -> bool {
    let numbers: Option<Vec<i64>> = labels.iter().map(|it| it.parse().ok()).collect();
    let follow = |numbers: Vec<i64>| {
        numbers.len() >= ENOUGH
            && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    };
    let is_alone = |label: &&str| is_year(label) || is_day(label) || label.ends_with('%');
    labels.iter().all(is_alone) || numbers.is_some_and(follow)
}

/// True if a name stands above a column of numbers, or three years and more above numbers that are none.
fn stands_above_numbers(first: &StringRecord, rest: &[u8], delimiter: u8) -> bool {
    let head = &rest[..rest.len().min(LOOKED_AT_BYTES)];
    let mut numbers = vec![0; first.len()];
    let (mut is_of_numbers, mut is_of_years) = (vec![true; first.len()], vec![true; first.len()]);
    let mut records = reader(head, delimiter).into_byte_records().take(LOOKED_AT).peekable();
    while let Some(Ok(record)) = records.next() {
        // The last may be cut off.
        if records.peek().is_none() && head.len() < rest.len() {
            break;
        }
        for (column, cell) in record.iter().take(first.len()).enumerate() {
            let cell = std::str::from_utf8(cell).unwrap_or_default().trim();
            if cell.is_empty() || is_nothing(cell) {
                continue;
            }
            let is_number = cell.parse::<f64>().is_ok();
            numbers[column] += usize::from(is_number);
            is_of_numbers[column] &= is_number;
            is_of_years[column] &= is_year(cell);
        }
    }
    let columns = || {
        let above = first.iter().map(str::trim).enumerate();
        above.filter(|(at, _)| is_of_numbers[*at] && numbers[*at] >= ENOUGH)
    };
    let is_told = |cell: &str| !cell.is_empty() && is_name(cell) && !is_nothing(cell);
    let years = columns().filter(|(at, cell)| is_year(cell) && !is_of_years[*at]).count();
    columns().any(|(_, cell)| is_told(cell)) || years >= ENOUGH
}

fn is_nothing(cell: &str) -> bool {
    NOTHING.iter().any(|nothing| cell.eq_ignore_ascii_case(nothing))
}

fn is_year(cell: &str) -> bool {
    cell.len() == 4 && cell.parse().is_ok_and(|year| (1800..2200).contains(&year))
}

fn is_day(cell: &str) -> bool {
    has_form(cell.as_bytes(), b"9999-99-99")
}

/// True if a text is a number with a unit, such as `4.0K` or `12%`.
fn is_size(text: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits = text.iter().take_while(|byte| is_digit(byte)).count();
    digits > 0 && matches!(&text[digits..], b"K" | b"M" | b"G" | b"T" | b"B" | b"%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_heading(text: &str) -> bool {
        let (first, rest) = text.split_once('\n').unwrap();
        let first: ByteRecord = first.split(',').collect();
        is_one(&first, rest.as_bytes(), b',')
    }

    #[test]
    fn numbers_may_be_names_where_a_name_stands_above_numbers() {
        const FAR: &str = "id,9223372036854775806,9223372036854775807,-9223372036854775808";
        let rows = "1,7,0.5,20\n2,8,,30\n3,9,1e3,n/a\n4,7,2,50\n";
        for first in [
            "id,2023,2024,2025",
            "id,2023,b,c",
            "id,total,90%,95%",
            "id,1,2,3",
            "id,2024-01-01,2024-01-02,x",
            "year,2022,2023,2024",
            ",2022,2023,2024",
        ] {
            assert!(is_heading(&format!("{first}\n{rows}")), "{first}");
        }
        let places = "north,7,0.5,20\nsouth,8,1,30\nwest,9,1e3,40\n";
        assert!(is_heading(&format!("place,2022,2023,2024\n{places}")));
        for first in
            ["id,5,6,9", "n/a,2023,2024,25", "5,2022,2023,7", "1,7,0.5,20", "id,7,id,8", FAR]
        {
            assert!(!is_heading(&format!("{first}\n{rows}")), "{first}");
        }
        for first in ["east,unknown,5,6", "east,7,2024,9", "east,2022,2023,9"] {
            assert!(!is_heading(&format!("{first}\n{places}")), "{first}");
        }
        let lives = "bob,1950,2001,2002\nann,1951,2003,2004\neve,1949,2000,2010\n";
        assert!(!is_heading(&format!("sam,1948,1999,2001\n{lives}")));
        let cut = format!("id,2023,b,c\n{}", "1,2,3,4\n".repeat(20_000));
        assert!(is_heading(&cut));
    }
}
