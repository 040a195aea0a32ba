//! The name that was probably meant.

use strsim::damerau_levenshtein;

/// So many letters of a name are no coincidence.
const LETTERS: usize = 3;

/// The nearest of `known` to what was given, if one is near.
pub fn nearest<'k>(given: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let given = given.to_lowercase();
    let distance = |name: &str| {
        let name = name.to_lowercase();
        // A name that is part of the other is near, however much longer that is.
        let is_part = |part: &str, whole: &str| part.len() >= LETTERS && whole.contains(part);
        if is_part(&given, &name) || is_part(&name, &given) {
            1
        } else {
            damerau_levenshtein(&name, &given)
        }
    };
    let (nearest, distance) =
        known.map(|name| (name, distance(name))).min_by_key(|(_, far)| *far)?;
    (distance <= 1 + given.len() / 3).then_some(nearest)
}
