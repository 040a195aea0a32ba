//! JSON that everyone can read.

/// What DuckDB writes as JSON, with numbers that JSON does not have as texts.
pub(crate) fn valid(json: String) -> String {
    const NUMBERS: [&str; 4] = ["NaN", "-NaN", "Infinity", "-Infinity"];
    if !json.contains("NaN") && !json.contains("Infinity") {
        return json;
    }
    let mut out = String::new();
    let (mut rest, mut in_string) = (json.as_str(), false);
    while let Some(first) = rest.chars().next() {
        let number = NUMBERS.iter().find(|number| !in_string && rest.starts_with(**number));
        let length = match (number, first) {
            (Some(number), _) => number.len(),
            // What is escaped ends nothing.
            (None, '\\') => rest.chars().take(2).map(char::len_utf8).sum(),
            (None, _) => first.len_utf8(),
        };
        let (part, following) = rest.split_at(length);
        match number {
            Some(number) => out.extend(["\"", number, "\""]),
            None => out.push_str(part),
        }
        in_string ^= part == "\"";
        rest = following;
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_that_json_does_not_have_are_texts() {
        let json = r#"[NaN,1,"NaN \" Infinity",{"a":-Infinity}]"#;
        let valid = r#"["NaN",1,"NaN \" Infinity",{"a":"-Infinity"}]"#;
        assert_eq!(super::valid(json.to_owned()), valid);
        assert_eq!(super::valid(valid.to_owned()), valid);
    }
}
