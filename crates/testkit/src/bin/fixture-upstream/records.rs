//! Records that differ, as they stand in a JSON string.

/// A form that records can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Records {
    Flat,
    Nested,
}

impl Records {
    /// A record, with a comma before it.
    pub(crate) fn record(self, number: u64) -> String {
        let json = match self {
            Self::Flat => flat(number),
            Self::Nested => nested(number),
        };
        json.replace('"', "\\\"")
    }
}

fn flat(number: u64) -> String {
    const STATUS: [&str; 5] = ["active", "active", "active", "inactive", "pending"];
    const CITIES: [&str; 7] = ["Berlin", "Lima", "Osaka", "Nairobi", "Quito", "Oslo", "Perth"];
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let pick = |shift: u32, among: u64| (mixed >> shift) % among;
    let among = |words: &[&'static str], shift| {
        words[usize::try_from(pick(shift, words.len() as u64)).unwrap_or(0)]
    };
    let (status, city) = (among(&STATUS, 7), among(&CITIES, 13));
    let (cents, day, hour) = (pick(17, 1_000_000), pick(29, 28) + 1, pick(37, 24));
    format!(
        r#",{{"id":{number},"name":"Customer {}","status":"{status}","total":{}.{:02},"city":"{city}","vip":{},"created_at":"2024-03-{day:02}T{hour:02}:15:00Z"}}"#,
        pick(41, 40_000),
        cents / 100,
        cents % 100,
        pick(3, 9) == 0,
    )
}

fn nested(number: u64) -> String {
    let line = |line: u64| {
        let (sku, quantity, price) = ((number + line) % 300, line + 1, number % 90);
        format!(r#"{{"sku":"S{sku}","quantity":{quantity},"price":{price}.5}}"#)
    };
    let lines: Vec<String> = (0..number % 5).map(line).collect();
    format!(
        r#",{{"id":{number},"customer":{{"name":"customer {}","address":{{"city":"city {}","zip":"{:05}"}},"vip":{}}},"lines":[{}],"tags":["a{}","b"],"labels":{{"k{}":"v"}},"note":null}}"#,
        number % 900,
        number % 40,
        number % 99_999,
        number.is_multiple_of(7),
        lines.join(","),
        number % 12,
        number % 60,
    )
}
