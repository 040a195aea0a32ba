//! Values for a PIVOT that has none.
//!
//! `PIVOT t ON a` is a SELECT whose columns are not known before the data is read: DuckDB makes a CREATE
//! TYPE and a SELECT of it, and gives no tree. With `IN …` behind each of the expressions it is one
//! SELECT with the same tables and functions, so this is what gets looked at; the text that runs is the
//! one that was given.

use super::tokens::Token;

/// Stands for the values.
const VALUES: &str = " IN forebay_values ";

/// What ends the list of expressions.
const ENDS: [&str; 12] = [
    "USING",
    "GROUP",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "WHERE",
    "HAVING",
    "QUALIFY",
    ";",
];

/// The text with values in each PIVOT that lacks them, or `None` if none does.
pub(super) fn with_values(sql: &str, tokens: &[Token]) -> Option<String> {
    let mut places: Vec<usize> = (0..tokens.len())
        .filter(|at| is_pivot(&tokens[*at]))
        .flat_map(|at| places(&tokens[at + 1..]))
        .collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut done = 0;
    for place in places {
        text.push_str(sql.get(done..place)?);
        text.push_str(VALUES);
        done = place;
    }
    text.push_str(sql.get(done..)?);
    Some(text)
}

fn is_pivot(token: &Token) -> bool {
    token.is_word("PIVOT") || token.is_word("PIVOT_WIDER")
}

/// Where the expressions without values end, of the PIVOT that stands before `tokens`.
fn places(tokens: &[Token]) -> Vec<usize> {
    let mut places = Vec::new();
    let (mut depth, mut in_list, mut has_values) = (0_usize, false, false);
    let mut end_of_last = 0;
    for token in tokens {
        let is_outermost = depth == 0;
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if is_outermost => break,
            ")" | "]" | "}" => depth -= 1,
            _ if !is_outermost => {}
            // A join within the source has an ON too; the list comes after the last one.
            _ if token.is_word("ON") => {
                places.clear();
                (in_list, has_values) = (true, false);
            }
            // A comma before the list ends what this PIVOT may be made of.
            "," if !in_list => return places,
            "," => {
                if !has_values {
                    places.push(end_of_last);
                }
                has_values = false;
            }
            // USING comes in a join of the source, too.
            _ if in_list && ENDS.iter().any(|end| token.is_word(end)) => break,
            _ if token.is_word("IN") => has_values = true,
            _ => {}
        }
        end_of_last = token.start + token.text.len();
    }
    if in_list && !has_values {
        places.push(end_of_last);
    }
    places
}
