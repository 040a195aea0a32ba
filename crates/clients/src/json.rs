//! JSON as clients and people write it: comments, trailing commas, tabs and CRLF are kept.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    common::{Range as Span, Ranged},
    parse_to_ast,
};

use crate::{
    document::{Edit, Member, Node, Shape, Splice, Unreadable, indent, newline},
    value::Value,
};

/// What clients take for JSON: with comments and trailing commas, and nothing else.
pub fn notation() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// What is in a text. An empty one has nothing in it.
pub(crate) fn read(text: &str) -> Result<Node, Unreadable> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &notation())
        .map_err(|error| Unreadable { at: error.range().start, what: error.kind().to_string() })?;
    match &parsed.value {
        Some(value @ ast::Value::Object(_)) => Ok(node(value)),
        Some(other) => {
            Err(Unreadable { at: other.range().start, what: "it is no object".to_owned() })
        }
        None => Ok(Node { span: text.len()..text.len(), shape: Shape::Table(Vec::new()) }),
    }
}

pub(crate) fn stretch(text: &str, place: &[String]) -> Option<Range<usize>> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    Some(root.at(above)?.member(key)?.span.clone())
}

pub(crate) fn edit(text: &str, place: &[String], edits: &[(&str, Edit)]) -> Option<Splice> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    let entry = root.at(above)?.member(key)?;
    let mut splices = Vec::new();
    let goes = |member: &Member| {
        let is_removal = |(key, edit): &(&str, Edit)| {
            *key == member.key && matches!(edit, Edit::Members(with) if with.is_empty())
        };
        edits.iter().any(is_removal)
    };
    for (key, edit) in edits {
        let member = entry.value.member(key)?;
        match edit {
            Edit::Value(value) => {
                splices.push(Splice { range: member.value.span.clone(), text: line(value) });
            }
            Edit::Members(with) if with.is_empty() => {
                splices.extend(removal(text, &entry.value, member, &goes));
            }
            Edit::Members(with) => {
                let separator = match indent(text, member.span.start) {
                    Some(indent) => format!(",{}{indent}", newline(text)),
                    None => ", ".to_owned(),
                };
                let made: Vec<String> =
                    with.iter().map(|(key, value)| named(key, &line(value))).collect();
                splices.push(Splice { range: member.span.clone(), text: made.join(&separator) });
            }
        }
    }
    Some(Splice::together(text, entry.span.clone(), splices))
}

pub(crate) fn add(text: &str, place: &[String], key: &str, value: &Value) -> Option<Splice> {
    let root = read(text).ok()?;
    let Some(table) = root.at(place) else {
        let (last, above) = place.split_last()?;
        return add(text, above, last, &Value::Table(vec![(key.to_owned(), value.clone())]));
    };
    let Shape::Table(members) = &table.shape else { return None };
    let Some(last) = members.last() else {
        // What stands between the braces, a comment perhaps, stays in front.
        let within = text.get(table.span.start + 1..table.span.end.checked_sub(1)?)?;
        let at = table.span.start + 1 + within.trim_end().len();
        let made = if text.contains('\n') {
            let (outer, unit) = (root_indent(text, table), unit(text));
            let inner = format!("{outer}{unit}");
            let made = named(key, &block(value, &inner, unit, newline(text)));
            format!("{0}{inner}{made}{0}{outer}", newline(text))
        } else {
            format!(" {} ", named(key, &line(value)))
        };
        return Some(Splice { range: at..table.span.end - 1, text: made });
    };
    let made = match indent(text, last.span.start) {
        Some(indent) => {
            let outer = root_indent(text, table);
            let unit = indent.strip_prefix(outer).filter(|unit| !unit.is_empty()).unwrap_or("  ");
            named(key, &block(value, indent, unit, newline(text)))
        }
        None => named(key, &line(value)),
    };
    let lead = match indent(text, last.span.start) {
        Some(indent) => format!("{}{indent}", newline(text)),
        None => " ".to_owned(),
    };
    // After what is said of the last member on its line.
    let end = last.span.end;
    let within = &text[end..table.span.end - 1];
    let rest = within.split('\n').next().unwrap_or_default().trim_end();
    let said = rest.trim_start().strip_prefix(',').unwrap_or(rest.trim_start()).trim_start();
    let has_comma = rest.trim_start().starts_with(',');
    let is_block = said.strip_prefix("/*").is_some_and(|said| said.ends_with("*/"));
    let is_remark = said.starts_with("//") || is_block;
    // Where the comma stands on a line of its own, there is no telling what a remark is about.
    let is_plain = has_comma || comma_after(text, last, table).is_none();
    if !(is_remark && is_plain && indent(text, last.span.start).is_some()) {
        // A comma that stands behind the last member stands behind ours then.
        return Some(Splice { range: end..end, text: format!(",{lead}{made}") });
    }
    let (comma, own) = if has_comma { ("", ",") } else { (",", "") };
    let remark = &text[end..end + rest.len()];
    Some(Splice { range: end..end + rest.len(), text: format!("{comma}{remark}{lead}{made}{own}") })
}

pub(crate) fn remove(text: &str, place: &[String]) -> Option<Splice> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    let table = root.at(above)?;
    let member = table.member(key)?;
    let splices = removal(text, table, member, &|other: &Member| other.span == member.span);
    Some(Splice::together(text, member.span.clone(), splices))
}

/// Takes out what goes to another place, with what is said of it.
pub(crate) fn move_out(text: &str, place: &[String]) -> Option<Splice> {
    let root = read(text).ok()?;
    let (key, above) = place.split_last()?;
    let table = root.at(above)?;
    let member = table.member(key)?;
    let members = table.members();
    let at = members.iter().position(|it| it.span == member.span)?;
    let Range { start, end } = member.span.clone();
    let range = match (members[..at].last(), members.get(at + 1)) {
        (_, Some(next)) => start..end + said_of_former(&text[end..next.span.start]),
        (Some(former), None) => former.span.end..end,
        (None, None) => start..comma_after(text, member, table).unwrap_or(end),
    };
    Some(gone(range))
}

/// How much of what stands between two members belongs to the former: a comment on a line of its own is said of the
/// latter.
fn said_of_former(between: &str) -> usize {
    let Some((line, rest)) = between.split_once('\n') else { return between.len() };
    let is_plain = line.trim_start().starts_with(',') && !line.contains("/*");
    if is_plain { between.len() - rest.trim_start().len() } else { between.len() }
}

/// What goes with a member that goes, so that there is one comma between those that stay. Comments stay: whoever wrote
/// them may miss them.
fn removal(
    text: &str,
    table: &Node,
    member: &Member,
    goes: &dyn Fn(&Member) -> bool,
) -> Vec<Splice> {
    let members = table.members();
    let at = members.iter().position(|it| it.span == member.span).unwrap_or_default();
    let own = member.span.clone();
    let comma = comma_after(text, member, table);
    let end = comma.filter(|comma| text[own.end..comma - 1].trim().is_empty()).unwrap_or(own.end);
    let comma = comma.map(|comma| comma - 1..comma);
    let is_at_end = members[at + 1..].iter().all(goes);
    if !is_at_end {
        // What comes next takes its place, and so does what is said behind the comma.
        let behind = |end: usize| end + (text[end..].len() - text[end..].trim_start().len());
        let comma = comma.map(|comma| comma.start..behind(comma.end));
        let end = if end == own.end { end } else { behind(end) };
        return std::iter::once(own.start..end).chain(comma).map(gone).collect();
    }
    let start = match members[..at].last() {
        Some(former) => start_of_last(text, former.span.end, own.start, end),
        None => own.start,
    };
    // The comma behind the last one was there before it.
    let comma = comma.or_else(|| {
        let former = members[..at].iter().rfind(|it| !goes(it))?;
        let (end, comma) = (former.span.end, comma_after(text, former, table)?);
        let is_next = text[end..comma - 1].trim().is_empty();
        Some(if is_next { end..comma } else { comma - 1..comma })
    });
    std::iter::once(start..end).chain(comma).map(gone).collect()
}

fn gone(range: Range<usize>) -> Splice {
    Splice { range, text: String::new() }
}

/// Where that begins which goes with the last member of a table: behind what is said of the former, unless it is in one
/// line with what comes next, and what is said ends with its line.
fn start_of_last(text: &str, former: usize, start: usize, end: usize) -> usize {
    let between = text[former..start].trim_end();
    let said = between.rsplit('\n').next().unwrap_or_default();
    let is_at_end_of_line = text[end..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
    if said.contains("//") && !is_at_end_of_line { start } else { former + between.len() }
}

/// Where the comma behind the last member of a table ends, on whatever line it stands.
fn comma_after(text: &str, member: &Member, table: &Node) -> Option<usize> {
    let mut rest = &text[member.span.end..table.span.end];
    loop {
        rest = rest.trim_start();
        rest = match rest.get(..2) {
            Some("//") => rest.split_once('\n').map_or("", |(_, rest)| rest),
            Some("/*") => rest.split_once("*/").map_or("", |(_, rest)| rest),
            Some(_) | None => {
                let after = rest.strip_prefix(',')?;
                return Some(table.span.end - after.len());
            }
        };
    }
}

/// By how much a text indents: what its first line that is indented begins with.
fn unit(text: &str) -> &str {
    let indents = text.lines().map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        if rest.is_empty() { "" } else { &line[..line.len() - rest.len()] }
    });
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// The indentation of the line that a table begins on.
fn root_indent<'a>(text: &'a str, table: &Node) -> &'a str {
    let line = &text[crate::document::line_start(text, table.span.start)..table.span.start];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn node(value: &ast::Value<'_>) -> Node {
    let span = |range: Span| range.start..range.end;
    let shape = match value {
        ast::Value::StringLit(text) => Shape::Text(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => Shape::Plain(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => Shape::Plain(boolean.value.to_string()),
        ast::Value::NullKeyword(_) => Shape::Plain("null".to_owned()),
        ast::Value::Array(array) => Shape::List(array.elements.iter().map(node).collect()),
        ast::Value::Object(object) => {
            let member = |property: &ast::ObjectProp<'_>| Member {
                key: property.name.as_str().to_owned(),
                span: span(property.range),
                value: node(&property.value),
            };
            Shape::Table(object.properties.iter().map(member).collect())
        }
    };
    Node { span: span(value.range()), shape }
}

fn named(key: &str, value: &str) -> String {
    format!("{}: {value}", quoted(key))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A value on one line.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Plain(text) => text.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", "))
        }
        Value::Table(members) if members.is_empty() => "{}".to_owned(),
        Value::Table(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| named(key, &line(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

/// A value whose tables have a line for each member. `indent` is that of the line it begins on.
pub(crate) fn block(value: &Value, indent: &str, unit: &str, newline: &str) -> String {
    match value {
        Value::Table(members) if !members.is_empty() => {
            let inner = format!("{indent}{unit}");
            let member = |(key, value): &(String, Value)| {
                format!("{newline}{inner}{}", named(key, &block(value, &inner, unit, newline)))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}{newline}{indent}}}", members.join(","))
        }
        Value::Text(_) | Value::Plain(_) | Value::List(_) | Value::Table(_) => line(value),
    }
}
