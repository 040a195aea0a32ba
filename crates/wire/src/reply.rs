//! The few messages that Forebay writes itself.

use serde_json::Value;

use crate::Id;

/// JSON-RPC's code for a line that is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC's code for a method that nobody knows.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC's code for parameters that cannot be.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC's code for what went wrong on this side.
pub const INTERNAL_ERROR: i32 = -32603;
/// The code for a request that its upstream did not live to answer, as the official SDKs use it.
pub const CONNECTION_CLOSED: i32 = -32000;

/// Writes an error response, one line. Without an `id` it answers nothing in particular.
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    write_error(id, code, message, "")
}

/// Writes an error that says more in its data, which are JSON on one line, as one line.
pub fn error_with_data(id: Option<&Id>, code: i32, message: &str, data: &str) -> Vec<u8> {
    write_error(id, code, message, &format!(r#","data":{data}"#))
}

fn write_error(id: Option<&Id>, code: i32, message: &str, more: &str) -> Vec<u8> {
    let id = id.map_or("null", Id::as_json);
    let message = Value::from(message);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{more}}}}}{}"#,
        '\n'
    )
    .into_bytes()
}

/// Writes a response with `result`, which is JSON on one line, as one line.
pub fn result(id: &Id, result: &[u8]) -> Vec<u8> {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.as_json());
    [head.as_bytes(), result, b"}\n"].concat()
}

/// Writes a notification of progress, one line. An empty `message` is left out, and so is a `total`
/// that is no number; `done` must be one.
pub fn progress(token: &Id, done: f64, total: Option<f64>, message: &str) -> Vec<u8> {
    let token = token.as_json();
    let total = total
        .filter(|total| total.is_finite())
        .map_or_else(String::new, |total| format!(r#","total":{total}"#));
    let message = match message {
        "" => String::new(),
        text => format!(r#","message":{}"#, Value::from(text)),
    };
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{done}{total}{message}}}}}{}"#,
        '\n'
    )
    .into_bytes()
}

/// Writes a notification that nobody waits any more for the answer to the request with that id, one line.
pub fn cancelled(id: &Id, reason: &str) -> Vec<u8> {
    let (id, reason) = (id.as_json(), Value::from(reason));
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":{reason}}}}}{}"#,
        '\n'
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line_with_what_is_known() {
        let written = |done, total, message| {
            let token = Id::parse(b"\"t\"").unwrap();
            let line = String::from_utf8(progress(&token, done, total, message)).unwrap();
            let (params, end) = line.split_once(r#""progressToken":"t","#).unwrap();
            assert_eq!(params, r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"#);
            end.to_owned()
        };
        assert_eq!(written(1.0, None, ""), "\"progress\":1}}\n");
        assert_eq!(written(0.5, Some(f64::NAN), ""), "\"progress\":0.5}}\n");
        assert_eq!(
            written(2.0, Some(4.0), "half\nway"),
            "\"progress\":2,\"total\":4,\"message\":\"half\\nway\"}}\n"
        );
    }

    #[test]
    fn an_id_is_given_back_as_it_was_written() {
        let id = Id::parse(br#""\u0061\/b""#).unwrap();
        assert_eq!(
            String::from_utf8(error(Some(&id), CONNECTION_CLOSED, "it \"ended\"")).unwrap(),
            concat!(
                r#"{"jsonrpc":"2.0","id":"\u0061\/b","error":{"code":-32000,"message":"it \"ended\""}}"#,
                "\n"
            )
        );
        assert_eq!(
            result(&id, b"{}"),
            b"{\"jsonrpc\":\"2.0\",\"id\":\"\\u0061\\/b\",\"result\":{}}\n"
        );
    }
}
