//! `${V}`, `${V:-default}` and `${env:V}` in what is written of a server.
//!
//! What is wrong is told by the names of variables, never by their values.

use crate::config::environment::{self, Variables};

/// A text with the values of the variables that it names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// What is not there: a machine, or a client, may lack what others have.
    pub(super) lacks: Vec<String>,
}

/// The text with the values of the variables that it names, or all that is wrong with it.
pub(super) fn expand(text: &str, variables: &Variables) -> Result<Expanded, Vec<String>> {
    let (mut expanded, mut mistakes) = (Expanded::default(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.text.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            mistakes.push("`${` has no `}` after it; write `${NAME}`".to_owned());
            return Err(mistakes);
        };
        match value(inside, variables) {
            Ok(Some(value)) => expanded.text.push_str(value),
            Ok(None) => expanded.lacks.push(unset(inside)),
            Err(mistake) => mistakes.push(mistake),
        }
        rest = after;
    }
    expanded.text.push_str(rest);
    if mistakes.is_empty() { Ok(expanded) } else { Err(mistakes) }
}

/// What stands for what is between the braces; `None` if there is nothing.
fn value<'a>(inside: &'a str, variables: &'a Variables) -> Result<Option<&'a str>, String> {
    if let Some(input) = inside.strip_prefix("input:") {
        return Err(no_input(input));
    }
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if !is_name(name) || default.is_some_and(|default| default.contains("${")) {
        return Err("`${…}` holds the name of a variable; write `${NAME}` or \
                    `${NAME:-default}`, where the default is plain text"
            .to_owned());
    }
    match (environment::value(variables, name), default) {
        (Some(value), _) => match value.to_str() {
            Some(value) => Ok(Some(value)),
            None => Err(format!("the variable `{name}` is not UTF-8")),
        },
        (None, default) => Ok(default),
    }
}

fn unset(inside: &str) -> String {
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    format!("the variable `{name}` is not set; set it, or write a default: `${{{name}:-default}}`")
}

/// An editor asks a person for such a value. Nobody can be asked here.
fn no_input(input: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let variable: String = input.chars().map(plain).collect();
    let variable = if is_name(&variable) { variable.as_str() } else { "NAME" };
    format!(
        "nobody can be asked for `${{input:…}}` here; set an environment variable, and write \
         `${{{variable}}}`"
    )
}

fn is_name(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    name.starts_with(is_letter) && name.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn variables() -> Vec<(OsString, OsString)> {
        let pairs = [("A", "one"), ("B_2", "two ${A}"), ("EMPTY", "")];
        pairs.map(|(name, value)| (name.into(), value.into())).to_vec()
    }

    #[test]
    fn variables_stand_for_their_values() {
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("${A}", "one"),
            ("x${A}y${A}z", "xoneyonez"),
            ("${env:A}", "one"),
            ("${A:-other}", "one"),
            ("${C:-other}", "other"),
            ("${env:C:-o:-p}", "o:-p"),
            ("${C:-}", ""),
            ("${EMPTY:-other}", "other"),
            ("$A $$ $", "$A $$ $"),
            ("$${A}", "$one"),
            ("}{", "}{"),
            // What a variable holds is not looked into.
            ("${B_2}", "two ${A}"),
        ];
        for (text, expected) in cases {
            let whole = Expanded { text: expected.to_owned(), lacks: Vec::new() };
            assert_eq!(expand(text, &variables()), Ok(whole), "{text}");
        }
    }

    #[test]
    fn every_variable_that_is_missing_is_named_and_no_value_is() {
        let said = expand("${A} ${C} ${env:D} ${EMPTY}", &variables()).unwrap().lacks;
        let missing = |name: &str| {
            format!(
                "the variable `{name}` is not set; set it, or write a default: `${{{name}:-default}}`"
            )
        };
        assert_eq!(said, ["C", "D", "EMPTY"].map(missing));
    }

    #[test]
    fn what_is_no_name_is_told() {
        let no_name = "`${…}` holds the name of a variable; write `${NAME}` or `${NAME:-default}`, \
                       where the default is plain text";
        for text in ["${}", "${1}", "${a b}", "${A-x}", "${:-x}", "${A:?x}", "${C:-${A}}"] {
            assert_eq!(expand(text, &variables()).unwrap_err(), [no_name], "{text}");
        }
        let open = expand("${C} ${A", &variables()).unwrap_err();
        assert_eq!(open, ["`${` has no `}` after it; write `${NAME}`"]);
    }

    #[test]
    fn what_an_editor_would_ask_for_is_to_be_a_variable() {
        let said = |text| expand(text, &variables()).unwrap_err();
        let expected = |variable: &str| {
            format!(
                "nobody can be asked for `${{input:…}}` here; set an environment variable, and \
                 write `${{{variable}}}`"
            )
        };
        assert_eq!(said("${input:api-key}"), [expected("API_KEY")]);
        assert_eq!(said("${input:2}"), [expected("NAME")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_text_is_told_by_its_name() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = vec![("ODD".into(), OsString::from_vec(vec![0xff]))];
        assert_eq!(expand("${ODD}", &odd).unwrap_err(), ["the variable `ODD` is not UTF-8"]);
    }
}
