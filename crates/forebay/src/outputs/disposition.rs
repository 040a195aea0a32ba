//! What a browser is told to do with a file: of which type it is, and whether to show or to save it.

use http::HeaderValue;

/// What is said of a file whose type is not known.
const UNKNOWN: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// What a browser shows in a tab. All else it saves. `text/html` and SVG are harmless there: the sandbox
/// lets them do nothing. A PDF would not be shown in it.
const SHOWN: [&str; 5] =
    ["application/json", "text/csv", "text/html", "text/markdown", "text/plain"];
const SHOWN_KINDS: [&str; 3] = ["audio/", "image/", "video/"];

/// `Content-Type`. What is no media type is not repeated.
pub(super) fn content_type(media_type: &str) -> HeaderValue {
    let is_token = |text: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !text.is_empty() && text.bytes().all(fits)
    };
    let essence = essence(media_type);
    let is_type = essence.split_once('/').is_some_and(|(kind, of)| is_token(kind) && is_token(of));
    // A page that names another type for its own text must not be read in that one.
    let text = if is_type && essence.starts_with("text/") {
        format!("{essence}; charset=utf-8")
    } else if is_type {
        essence
    } else {
        return UNKNOWN;
    };
    HeaderValue::from_str(&text).unwrap_or(UNKNOWN)
}

/// `Content-Disposition` (RFC 6266): the name as far as ASCII has it, and whole (RFC 8187).
pub(super) fn content_disposition(media_type: &str, name: &str) -> HeaderValue {
    let essence = essence(media_type);
    let is_shown = SHOWN.contains(&essence.as_str())
        || SHOWN_KINDS.iter().any(|kind| essence.starts_with(kind));
    let verb = if is_shown { "inline" } else { "attachment" };
    let name = file_name(name);
    let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    let whole = if plain == name {
        String::new()
    } else {
        format!("; filename*=UTF-8''{}", encoded(&name))
    };
    let text = format!("{verb}; filename=\"{plain}\"{whole}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

/// A media type without what stands behind it.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A name without what would make it a path, and not longer than names are.
fn file_name(name: &str) -> String {
    const MAX_BYTES: usize = 200;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = last.chars().filter(|it| !it.is_control());
    let kept: String = kept.collect::<String>().trim_matches(['.', ' ']).to_owned();
    let end = (0..=kept.len().min(MAX_BYTES)).rev().find(|at| kept.is_char_boundary(*at));
    let short = &kept[..end.unwrap_or_default()];
    if short.is_empty() { "output".to_owned() } else { short.to_owned() }
}

/// True if a character stands for itself within quotes, and in no program for anything else.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || " !#$&'()+,-.=@[]^_`{}~".contains(character)
}

fn encoded(name: &str) -> String {
    let byte = |byte: u8| {
        let stands_for_itself = byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte);
        if stands_for_itself { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    name.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_none_is_not_repeated() {
        let told = |media_type| content_type(media_type).to_str().unwrap().to_owned();
        assert_eq!(told("image/PNG"), "image/png");
        assert_eq!(told("text/html; charset=utf-16"), "text/html; charset=utf-8");
        assert_eq!(told("image/svg+xml"), "image/svg+xml");
        for none in ["", "text", "text/", "a/b/c", "text/html\r\nX: y", "te xt/html", "text/ü"] {
            assert_eq!(told(none), "application/octet-stream", "{none:?}");
        }
    }

    #[test]
    fn no_name_leads_out_of_its_header_or_its_folder() {
        let told =
            |media_type, name| content_disposition(media_type, name).to_str().unwrap().to_owned();
        assert_eq!(told("image/png", "chart.png"), "inline; filename=\"chart.png\"");
        assert_eq!(told("application/zip", "a b.zip"), "attachment; filename=\"a b.zip\"");
        let cases = [
            ("../../etc/passwd", "filename=\"passwd\""),
            ("C:\\x\\y.exe", "filename=\"y.exe\""),
            (
                "a\"; filename=\"b.exe",
                "filename=\"a__ filename=_b.exe\"; filename*=UTF-8''a%22%3B%20filename%3D%22b.exe",
            ),
            (
                "a\r\nSet-Cookie: x",
                "filename=\"aSet-Cookie_ x\"; filename*=UTF-8''aSet-Cookie%3A%20x",
            ),
            ("größe.csv", "filename=\"gr__e.csv\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv"),
            ("...", "filename=\"output\""),
            ("", "filename=\"output\""),
        ];
        for (name, expected) in cases {
            assert_eq!(told("application/x", name), format!("attachment; {expected}"), "{name:?}");
        }
        assert!(told("text/plain", &"ü".repeat(5_000)).len() < 1_500);
    }
}
