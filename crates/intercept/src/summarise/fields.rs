//! What is told of a field, and which fields are told of first.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    MAX_NAME_CHARS, MAX_VALUE_CHARS,
    harmless::{harmless, quoted},
};
use crate::profile::{Count, Field, Profile};

/// The places of the main table's fields, the most telling first.
pub(super) fn by_weight(profile: &Profile) -> Vec<usize> {
    let fields = profile.main().map(|table| table.fields.as_slice()).unwrap_or_default();
    let weight = |field: &Field| {
        let filled = 10 * field.present / (field.present + field.nulls).max(1);
        let telling = match () {
            () if field.present == 0 => 0,
            // One value in all records tells little.
            () if field.distinct == Count::Exactly(1) => 2,
            () if !field.top.is_empty() => 9,
            () if field.is_unique() => 8,
            () if field.kind.is_number_or_time() => 7,
            () if field.longest <= 80 => 5,
            () => 3,
        };
        telling * filled
    };
    let mut places: Vec<usize> = (0..fields.len()).collect();
    // Stable: of equally telling ones the first comes first.
    places.sort_by_key(|place| std::cmp::Reverse(weight(&fields[*place])));
    places
}

/// A field's facts: `status (string: active 3000, inactive 1500)`.
pub(super) fn in_words(field: &Field) -> String {
    let mut facts = field.kind.name().to_owned();
    let is_ranged = field.kind.is_number_or_time();
    if let (Some((low, high)), true) = (&field.range, is_ranged) {
        let (low, high) = (harmless(low, MAX_VALUE_CHARS), harmless(high, MAX_VALUE_CHARS));
        let _ = if low == high { write!(facts, " {low}") } else { write!(facts, " {low}..{high}") };
    }
    if field.is_unique() {
        facts.push_str(", unique");
    } else if !field.top.is_empty() && !is_ranged {
        let values: Vec<String> = field
            .top
            .iter()
            .map(|(value, count)| format!("{} {count}", quoted(value, MAX_VALUE_CHARS)))
            .collect();
        let _ = write!(facts, ": {}", values.join(", "));
        if let Count::Exactly(count) = field.distinct
            && count > field.top.len() as u64
        {
            let _ = write!(facts, ", {} more", count - field.top.len() as u64);
        }
    } else {
        match field.distinct {
            Count::Exactly(count) if count > 1 => drop(write!(facts, ", {count} distinct")),
            Count::Exactly(_) => {}
            Count::About(count) => drop(write!(facts, ", about {count} distinct")),
        }
    }
    if field.nulls > 0 {
        let _ = write!(facts, ", {} without a value", field.nulls);
    }
    format!("{} ({facts})", quoted(&field.name, MAX_NAME_CHARS))
}

/// The same as JSON.
pub(super) fn in_json(field: &Field) -> Value {
    let mut facts = json!({
        "name": harmless(&field.name, MAX_NAME_CHARS), "type": field.kind.name(),
    });
    if let (Some((low, high)), true) = (&field.range, field.kind.is_number_or_time()) {
        facts["min"] = harmless(low, MAX_VALUE_CHARS).into();
        facts["max"] = harmless(high, MAX_VALUE_CHARS).into();
    } else if !field.top.is_empty() {
        let top: Map<String, Value> = field
            .top
            .iter()
            .map(|(value, count)| (harmless(value, MAX_VALUE_CHARS), (*count).into()))
            .collect();
        facts["top"] = top.into();
    }
    match field.distinct {
        Count::Exactly(count) => facts["distinct"] = count.into(),
        Count::About(count) => facts["distinct_about"] = count.into(),
    }
    if field.nulls > 0 {
        facts["nulls"] = field.nulls.into();
    }
    facts
}
