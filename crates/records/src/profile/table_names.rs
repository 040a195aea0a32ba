//! What tables are called: what their path ends with, and as much of what stands before it as tells them
//! apart.

use std::collections::HashMap;

/// The names of the tables at these paths.
///
/// Of several that would be called the same, the one that is further out than all others is; the others
/// get longer names. What is called `items` in the records is then `items`, and what lies deeper is not.
pub(super) fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<String> {
    let words: Vec<Vec<String>> = paths.map(words).collect();
    let mut lengths = vec![1; words.len()];
    loop {
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, words) in words.iter().enumerate() {
            alike.entry(ending(words, lengths[index]).to_lowercase()).or_default().push(index);
        }
        let mut has_changed = false;
        for group in alike.values().filter(|group| group.len() > 1) {
            let least = group.iter().map(|index| words[*index].len()).min().unwrap_or(0);
            let outermost = group.iter().filter(|index| words[**index].len() == least).count();
            for index in group {
                let stays = words[*index].len() == least && outermost == 1;
                if !stays && lengths[*index] < words[*index].len() {
                    lengths[*index] += 1;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    let mut names: Vec<String> = Vec::new();
    for (words, length) in words.iter().zip(lengths) {
        let given = ending(words, length);
        let mut name = given.clone();
        let mut number = 2;
        while names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            name = format!("{given}_{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// The last words, as one.
fn ending(words: &[String], length: usize) -> String {
    match words {
        [] => "table".to_owned(),
        _ => words[words.len().saturating_sub(length)..].join("_"),
    }
}

/// The names in a path, each as a word that can stand in SQL without quotes.
fn words(path: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = path;
    while let Some(start) = rest.find(['.', '[']) {
        let step = &rest[start + 1..];
        let (name, after) = match step.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\"]").unwrap_or((quoted, "")),
            None => step.split_at(step.find(['.', '[', ']']).unwrap_or(step.len())),
        };
        let word: String =
            name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        let word = word.trim_matches('_');
        if word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            words.push(word.to_owned());
        }
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_lists_with_one_name_each_is_called_after_where_it_is() {
        let paths = ["$[].request.headers", "$[].response.headers", "$[].a.items", "$[].items"];
        let names = of(paths.into_iter());
        assert_eq!(names, ["request_headers", "response_headers", "a_items", "items"]);
        let tree =
            ["$[].children", "$[].children[].children", "$[].children[].children[].children"];
        let names = of(tree.into_iter());
        assert_eq!(names, ["children", "children_children", "children_children_children"]);
        assert_eq!(
            of(["$[0]", "$[1]", "$.a", "$.A"].into_iter()),
            ["table", "table_2", "a", "A_2"]
        );
    }

    #[test]
    fn tables_are_called_after_the_names_in_their_paths() {
        for (path, expected) in [
            ("$", ""),
            ("$.data[].items", "data items"),
            ("$.regions.*[\"availability-zones\"]", "regions availability_zones"),
            ("$.{open,shut}", "open_shut"),
            ("$[0][\"a.b\"]", "a_b"),
        ] {
            assert_eq!(words(path).join(" "), expected, "{path}");
        }
    }
}
