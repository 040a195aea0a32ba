//! What a file is called: as its address ends, made harmless, or by what it is.

use percent_encoding::percent_decode_str;

use super::media::Media;

const MAX_CHARS: usize = 80;
/// No ending of a file's name is longer.
const MAX_EXTENSION: usize = 8;

/// What the names of files end with that are zips.
const ZIPPED: [&str; 17] = [
    "jar", "war", "ear", "apk", "aab", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "whl",
    "xpi", "kmz", "nupkg", "vsix",
];

/// What a file is called, up to the number that tells it from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Name {
    stem: String,
    ending: String,
    /// It is called so, and is not just what it is.
    is_given: bool,
}

impl Name {
    /// The name of a file that is called so, if anything says that, and is such.
    pub(super) fn of(called: Option<&str>, media: &Media) -> Self {
        let given = called.map(harmless).filter(|name| !name.is_empty());
        let Some(given) = given else {
            let stem = match (media.family(), media.full.as_str()) {
                (family @ ("image" | "audio" | "video"), _) => family,
                (_, "application/pdf") => "document",
                _ => "file",
            };
            let (stem, ending) = (stem.to_owned(), media.extension.to_owned());
            return Self { stem, ending, is_given: false };
        };
        let (stem, ending) = match extension(&given) {
            Some(ending) => (&given[..given.len() - ending.len() - 1], ending),
            None => (given.as_str(), ""),
        };
        let ending = match (media.extension, ending) {
            // Nothing is known that would speak against it.
            ("bin" | "txt", given) if !given.is_empty() => given,
            ("jpg", "jpeg") | ("html", "htm") | ("tif", "tiff") | ("yaml", "yml") => ending,
            // Many a file is a zip, and is not called so.
            ("zip", given) if ZIPPED.contains(&given.to_ascii_lowercase().as_str()) => given,
            (right, _) => right,
        };
        Self { stem: stem.to_owned(), ending: ending.to_owned(), is_given: true }
    }

    /// The name of the first file that is called so, of the second, and so on.
    pub(super) fn numbered(&self, number: usize) -> String {
        let Self { stem, ending, is_given } = self;
        if *is_given && number == 1 {
            return format!("{stem}.{ending}");
        }
        format!("{stem}-{number}.{ending}")
    }
}

/// What a name ends with, behind its last dot.
pub(super) fn extension(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending = (1..=MAX_EXTENSION).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_ending && !stem.is_empty()).then_some(ending)
}

/// The last part of an address as the name of a file: nothing that leads elsewhere, or reads as more.
fn harmless(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    // Where there is no path, the host is last, and before it stand a user and a password.
    let last = last.rsplit('@').next().unwrap_or_default();
    let shown = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '(' | ')') { c } else { '_' }
    };
    let name: String = percent_decode_str(last).decode_utf8_lossy().chars().map(shown).collect();
    let name = name.trim_matches(['.', '_']);
    // The end of a long name says what it is.
    let skipped = name.chars().count().saturating_sub(MAX_CHARS);
    name.chars().skip(skipped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_address_with_the_right_ending() {
        let media = |media_type: &str, extension| Media {
            full: media_type.to_owned(),
            extension,
            declared: None,
        };
        let png = media("image/png", "png");
        for (called, media, expected) in [
            (Some("file:///home/a/chart.png"), &png, "chart.png"),
            (Some("file:///home/a/chart.jpeg"), &png, "chart.png"),
            (Some("https://x.org/a%20b.PNG?size=1"), &png, "a_b.png"),
            (Some("x:/%C3%A9t%C3%A9.png"), &png, "été.png"),
            (Some("x:/caf%E9 100%.png"), &png, "caf__100_.png"),
            (Some("x:/%2e%2e%2fetc%2Fpasswd%00"), &png, "etc_passwd.png"),
            (Some("screenshot://current"), &png, "current.png"),
            (Some("file:///../../etc/passwd\u{202e}"), &png, "passwd.png"),
            (Some("file:///.."), &png, "image-1.png"),
            (Some("http://user:secret@host/"), &png, "host.png"),
            (Some("http://user:secret@host?a=b"), &png, "host.png"),
            (Some("x:/app.jar"), &media("application/zip", "zip"), "app.jar"),
            (Some("x:/app.exe"), &media("application/zip", "zip"), "app.zip"),
            (None, &png, "image-1.png"),
            (None, &media("application/pdf", "pdf"), "document-1.pdf"),
            (None, &media("application/x-own", "bin"), "file-1.bin"),
            (Some("x:/data.parquet"), &media("application/octet-stream", "bin"), "data.parquet"),
            (Some("x:/a.jpeg"), &media("image/jpeg", "jpg"), "a.jpeg"),
        ] {
            assert_eq!(Name::of(called, media).numbered(1), expected, "{called:?}");
        }
        assert_eq!(Name::of(Some("x:/a.png"), &png).numbered(2), "a-2.png");
        assert_eq!(Name::of(None, &png).numbered(2), "image-2.png");
        let long = Name::of(Some(&"é".repeat(999)), &png).numbered(1);
        assert!(long.chars().count() <= MAX_CHARS + 4, "{long}");
    }
}
