//! HTTP+SSE, the transport that Streamable HTTP has replaced: recognised, so that whoever meets it is
//! told, and not spoken.

use std::time::Duration;

use forebay_wire::sse::{Events, Token};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT};

use super::Remote;
use crate::streamable::headers::has_type;

/// How long a server may take to show itself.
const PATIENCE: Duration = Duration::from_secs(5);

impl Remote {
    /// What to say of a server that refuses a message with `status`, if it does so because it speaks
    /// the old transport: there, a stream is opened first, whose first event names where messages go.
    pub(crate) async fn old_transport(&self, status: StatusCode) -> Option<String> {
        if !matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) {
            return None;
        }
        let is_old = tokio::time::timeout(PATIENCE, self.names_an_endpoint()).await;
        is_old.unwrap_or(false).then(|| {
            format!(
                "upstream `{}` at {} speaks the old HTTP+SSE transport (revision 2024-11-05); \
                 Forebay speaks stdio and Streamable HTTP. Many servers offer that too, often at \
                 /mcp instead of /sse; or run a bridge such as `mcp-remote` as the command",
                self.name,
                self.shown_url()
            )
        })
    }

    async fn names_an_endpoint(&self) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let Ok(mut response) = self.send(Method::GET, headers, None).await else { return false };
        if !response.status().is_success() || !has_type(response.headers(), "text/event-stream") {
            return false;
        }
        let mut events = Events::default();
        while let Ok(Some(chunk)) = response.chunk().await {
            let mut rest = &chunk[..];
            while let Some(token) = events.next(&mut rest) {
                if let Token::End(fields) = token {
                    return fields.event.as_deref() == Some("endpoint");
                }
            }
        }
        false
    }
}
