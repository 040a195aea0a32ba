//! A response that is no success: what it says, and what whoever asked is told.

use forebay_wire::{Id, Line, scan};
use http::StatusCode;
use url::Url;

use crate::upstream::remote::{Remote, Response};

/// More than this of a response is not looked at.
const MAX_BYTES: usize = 64 * 1024;
/// How many characters of a text that is no message are shown.
const MAX_SHOWN: usize = 200;

/// What an upstream said instead of answering.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    redirected_to: Option<Url>,
    text: Vec<u8>,
}

impl Refusal {
    pub(super) async fn read(remote: &Remote, mut response: Response) -> Self {
        let (status, redirected_to) = (response.status(), remote.redirected_to(&response));
        let mut text = Vec::new();
        while text.len() < MAX_BYTES
            && let Ok(Some(chunk)) = response.chunk().await
        {
            text.extend_from_slice(&chunk);
        }
        Self { status, redirected_to, text }
    }

    /// True if it means that our session is not known any more. The specification says 404; many
    /// servers say 400, and what is missing.
    pub(super) fn loses_session(&self) -> bool {
        let names_session = || self.shown_text().to_ascii_lowercase().contains("session");
        match self.status {
            StatusCode::NOT_FOUND => true,
            StatusCode::BAD_REQUEST => names_session(),
            _ => false,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// The answer to the request with that id, if this is one, whatever id it bears itself.
    pub(super) fn as_answer(&self, id: &Id) -> Option<Vec<u8>> {
        let Line::Message(envelope) = Line::of(&self.text) else { return None };
        if self.status == StatusCode::UNAUTHORIZED {
            return None;
        }
        let error = scan::slice(&self.text, envelope.error.as_ref()?)?;
        // An error of JSON-RPC has a code and a message; other protocols have errors too.
        let [Some(_), Some(_)] = scan::members(error, ["code", "message"]) else { return None };
        let head = format!(r#"{{"jsonrpc":"2.0","id":{},"error":"#, id.as_json());
        let mut answer = [head.as_bytes(), error, b"}"].concat();
        for byte in &mut answer {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        Some(answer)
    }

    /// What it means, as a sentence.
    pub(super) fn reason(&self, remote: &Remote) -> String {
        let (name, url, status) = (remote.name(), remote.shown_url(), self.status);
        if let Some(place) = &self.redirected_to {
            return format!(
                "upstream `{name}` has moved: {url} answered {status}; write --url {place} instead"
            );
        }
        if status == StatusCode::UNAUTHORIZED {
            let advice = remote.advice();
            return format!("upstream `{name}` at {url} does not let us in ({status}): {advice}");
        }
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let Some(proxy) = remote.proxy()
        {
            return format!(
                "the proxy {proxy} asks for a login ({status}) before it lets us through to upstream \
                 `{name}`: write user and password into its address, in HTTPS_PROXY or the like"
            );
        }
        match self.shown_text() {
            text if text.is_empty() => format!("upstream `{name}` at {url} answered {status}"),
            text => format!("upstream `{name}` at {url} answered {status}: {text}"),
        }
    }

    fn shown_text(&self) -> String {
        shown(&self.text)
    }
}

/// The first words of a text, on one line.
pub(super) fn shown(text: &[u8]) -> String {
    let start = &text[..text.len().min(4 * MAX_SHOWN)];
    let text = String::from_utf8_lossy(start);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, text: &str) -> Refusal {
        let status = StatusCode::from_u16(status).unwrap();
        Refusal { status, redirected_to: None, text: text.as_bytes().to_vec() }
    }

    #[test]
    fn an_error_of_json_rpc_is_the_answer_under_the_requests_own_id() {
        let id = Id::parse(b"7").unwrap();
        for given in ["\"id\":null,", "", "\"id\":\"server-error\",", "\"id\":7,"] {
            let text = format!("{{{given}\n\"error\":{{\"code\":-32020,\n\"message\":\"no\"}}}}\n");
            assert_eq!(
                String::from_utf8(refusal(400, &text).as_answer(&id).unwrap()).unwrap(),
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32020, "message":"no"}}"#
            );
        }
        for text in ["", "<html>", r#"{"error":"invalid_token"}"#, r#"{"error":{"code":1}}"#] {
            assert_eq!(refusal(400, text).as_answer(&id), None, "{text}");
        }
    }

    #[test]
    fn a_lost_session_is_told_from_other_refusals() {
        assert!(refusal(404, "").loses_session());
        assert!(refusal(400, r#"{"error":{"message":"No valid Session ID"}}"#).loses_session());
        assert!(!refusal(400, "bad header").loses_session());
        assert!(!refusal(500, "session").loses_session());
    }

    #[test]
    fn words_are_cut_and_put_on_one_line() {
        assert_eq!(shown(b"<html>\n  <p>Bad\tGateway"), "<html> <p>Bad Gateway");
        assert_eq!(shown("é".repeat(1_000).as_bytes()).chars().count(), MAX_SHOWN);
    }
}
