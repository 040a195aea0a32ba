//! The name that was probably meant.

use strsim::damerau_levenshtein;

/// The nearest of `known` to what was given, if one is near.
pub fn nearest<'k>(given: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let given = given.to_lowercase();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        // A name that is part of the other is near, however much longer that is.
        if name.contains(&given) || given.contains(&name) {
            1
        } else {
            damerau_levenshtein(&name, &given)
        }
    };
    let (nearest, distance) =
        known.map(|name| (name, distance(name))).min_by_key(|(_, far)| *far)?;
    (distance <= 1 + given.len() / 3).then_some(nearest)
}
