//! What every page is shown with: one style, one script, one picture, all part of the program.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};

use crate::reply::with;

/// The name, the type and the bytes of each.
const ASSETS: [(&str, &str, &[u8]); 4] = [
    ("style.css", "text/css; charset=utf-8", include_bytes!("../assets/style.css")),
    ("htmx.js", "text/javascript; charset=utf-8", include_bytes!("../assets/htmx.min.js")),
    ("live.js", "text/javascript; charset=utf-8", include_bytes!("../assets/live.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
];

/// How the path of every asset begins.
const PATH: &str = "/assets/";

/// Where an asset is found: another place for other bytes, so that browsers may keep it.
pub(crate) fn address(name: &str) -> String {
    let bytes = ASSETS.iter().find(|(known, ..)| *known == name).map_or(&b""[..], |it| it.2);
    format!("{PATH}{name}?{}", &blake3::hash(bytes).to_hex()[..12])
}

/// The asset that a request is for.
pub(crate) fn answer(request: &Request<Bytes>) -> Option<Response<Bytes>> {
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    let name = request.uri().path().strip_prefix(PATH).filter(|_| is_read)?;
    let (_, kind, bytes) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    let mut answer = with(StatusCode::OK, kind, Bytes::from_static(bytes));
    let kept = HeaderValue::from_static("private, max-age=31536000, immutable");
    answer.headers_mut().insert(header::CACHE_CONTROL, kept);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_script_is_the_one_that_was_published() {
        const SUM: &str = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130";
        let (_, _, script) = ASSETS.iter().find(|(name, ..)| *name == "htmx.js").unwrap();
        assert_eq!(format!("{:x}", Sha256::digest(script)), SUM);
        assert!(include_str!("../assets/README.md").contains(SUM));
    }

    #[test]
    fn an_asset_has_another_address_when_it_is_another() {
        let (style, script) = (address("style.css"), address("htmx.js"));
        assert!(style.starts_with("/assets/style.css?"), "{style}");
        assert_ne!(style.split('?').nth(1), script.split('?').nth(1));
    }
}
