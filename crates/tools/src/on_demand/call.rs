//! `call_tool`: the call of a tool that is not listed becomes the call that it stands for.

use forebay_wire::walk;
use serde_json::Value;

use crate::{
    Servers, ToolError,
    arguments::{Arguments, shown},
    definitions::Tool,
    error::refuse,
};

/// The `params` of the call that is meant by these. What a client has said beside the tool and its arguments
/// stays, byte by byte.
pub(crate) fn meant(params: &[u8], servers: &dyn Servers) -> Result<Vec<u8>, ToolError> {
    let mut given = b"null".as_slice();
    let mut rest = Vec::new();
    for (key, value) in walk::members(params).into_iter().flatten() {
        match key {
            b"name" => {}
            b"arguments" => given = value,
            _ => rest.extend_from_slice(&[b",\"", key, b"\":", value].concat()),
        }
    }
    let name = name_of_meant(given, servers)?;
    let inner = walk::members(given).into_iter().flatten().find(|(key, _)| *key == b"arguments");
    let inner = match inner.map(|(_, value)| value) {
        None | Some(b"null") => b"{}".to_vec(),
        Some(object) if object.starts_with(b"{") => object.to_vec(),
        // Some models write JSON within the JSON.
        Some(other) => match serde_json::from_slice(other) {
            Ok(Value::String(text)) if text.trim_start().starts_with('{') => text.into_bytes(),
            Ok(value) => return refuse!("arguments must be an object, not {}.", shown(&value)),
            Err(error) => return refuse!("arguments must be an object: {error}."),
        },
    };
    let name = Value::from(name).to_string();
    Ok([b"{\"name\":", name.as_bytes(), b",\"arguments\":", &inner, &rest, b"}"].concat())
}

/// What clients call the tool that is meant.
fn name_of_meant(given: &[u8], servers: &dyn Servers) -> Result<String, ToolError> {
    let given = match serde_json::from_slice(given) {
        Ok(given) => given,
        Err(error) => return refuse!("The arguments cannot be read: {error}."),
    };
    let arguments = Arguments::new(Tool::Call, given)?;
    let server = arguments.text("server", "a name that search_tools gives")?;
    let tool = arguments.text("tool", "a name that search_tools gives")?;
    let standings = servers.standings();
    let Some(standing) = standings.iter().find(|it| it.name.as_str() == server) else {
        let known: Vec<&str> = standings.iter().map(|it| it.name.as_str()).collect();
        return refuse!("There is no server {server}. The servers are: {}.", known.join(", "));
    };
    let tools = servers.tools();
    let mut of_server = tools.iter().filter(|it| it.server == standing.name);
    if let Some(found) = of_server.clone().find(|it| *it.own == *tool || it.name == tool) {
        return Ok(found.name.clone());
    }
    // It may have tools of which nothing is known yet.
    if standing.tools.is_none() {
        return Ok(servers.leading_to(&standing.name, &tool));
    }
    let nearest = forebay_query::nearest(&tool, of_server.by_ref().map(|it| &*it.own));
    let meant = nearest.map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
    refuse!("{server} has no tool {tool}.{meant} search_tools shows what there is.")
}

#[cfg(test)]
mod tests {
    use super::{super::search::tests::Behind, *};

    fn meant_by(params: &str) -> Result<String, String> {
        let meant = meant(params.as_bytes(), &Behind::some());
        meant.map(|json| String::from_utf8(json).unwrap()).map_err(|error| error.told())
    }

    #[test]
    fn a_call_becomes_the_one_that_it_names_byte_by_byte() {
        let meant = meant_by(
            r#"{"_meta":{"progressToken":"t"},"name":"call_tool","arguments":{"server":"git","tool":"log","arguments":{ "n" : 1.0, "b":10000000000000000000000 }},"task":{"ttl":1e3}}"#,
        );
        assert_eq!(
            meant.unwrap(),
            r#"{"name":"git__log","arguments":{ "n" : 1.0, "b":10000000000000000000000 },"_meta":{"progressToken":"t"},"task":{"ttl":1e3}}"#
        );
        for (given, inner) in [
            (r#"{"server":"git","tool":"log"}"#, "{}"),
            (r#"{"server":"git","tool":"git__log","arguments":null}"#, "{}"),
            (r#"{"server":"git","tool":"log","arguments":"{\"n\":2}"}"#, r#"{"n":2}"#),
        ] {
            let meant = meant_by(&format!(r#"{{"name":"call_tool","arguments":{given}}}"#));
            assert_eq!(meant.unwrap(), format!(r#"{{"name":"git__log","arguments":{inner}}}"#));
        }
    }

    #[test]
    fn whose_tools_are_not_known_is_asked_all_the_same() {
        let params = r#"{"name":"call_tool","arguments":{"server":"slow","tool":"x"}}"#;
        assert_eq!(meant_by(params).unwrap(), r#"{"name":"slow__x","arguments":{}}"#);
    }

    #[test]
    fn what_cannot_be_called_is_told_with_what_can() {
        for (given, expected) in [
            (r#"{"tool":"log"}"#, "call_tool needs server"),
            (r#"{"server":"gti","tool":"log"}"#, "The servers are: git, time, slow."),
            (r#"{"server":"git","tool":"logs"}"#, "Did you mean log?"),
            (r#"{"server":"git","tool":"log","arguments":[1]}"#, "must be an object, not [1]."),
            (
                r#"{"server":"git","tool":"log","args":{}}"#,
                "call_tool takes arguments, server, tool.",
            ),
            ("[]", "The arguments must be an object, not []."),
        ] {
            let told = meant_by(&format!(r#"{{"name":"call_tool","arguments":{given}}}"#));
            let told = told.unwrap_err();
            assert!(told.contains(expected), "{given}: {told}");
        }
    }
}
