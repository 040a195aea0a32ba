//! What type a file is of: told by its first bytes, against what it is said to be.

use forebay_text::is_deceptive;
use memchr::memmem;

use crate::policy::Origin;

/// The type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    /// As it is written, such as `image/png`.
    pub(crate) full: String,
    /// What the name of such a file ends with.
    pub(super) extension: &'static str,
    /// What it was said to be, if it is something else.
    pub(crate) declared: Option<String>,
}

const UNKNOWN: &str = "application/octet-stream";
const ZIP: &str = "application/zip";
const MAX_TYPE_CHARS: usize = 100;

/// Names for the same type, the usual one first.
const ALIASES: [&[&str]; 17] = [
    &["image/jpeg", "image/jpg", "image/pjpeg"],
    &["image/png", "image/apng"],
    &["image/heif", "image/heic", "image/heif-sequence", "image/heic-sequence"],
    &["image/bmp", "image/ms-bmp"],
    &["audio/flac"],
    &["video/webm", "audio/webm"],
    &["video/matroska", "audio/matroska"],
    &["application/zip", "application/zip-compressed"],
    &["application/rtf", "text/rtf"],
    &["font/ttf", "font/sfnt", "application/font-sfnt", "application/font-ttf"],
    &["image/vnd.microsoft.icon", "image/icon", "image/ico"],
    &["audio/wav", "audio/wave", "audio/vnd.wave"],
    &["audio/mpeg", "audio/mp3"],
    &["audio/mp4", "audio/m4a", "video/mp4"],
    &["audio/ogg", "application/ogg", "video/ogg", "audio/opus"],
    &["text/xml", "application/xml"],
    &["application/gzip", "application/gz"],
];

/// What zips with certain files in them are, and what their names end with.
const ARCHIVES: [(&str, &str); 6] = [
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/java-archive", "jar"),
    ("application/vnd.android.package-archive", "apk"),
    ("application/epub+zip", "epub"),
];

impl Media {
    /// Tells a type by how a file begins and what it is said to be, which is believed where the bytes do
    /// not speak against it.
    pub(crate) fn of(head: &[u8], declared: Option<&str>) -> Self {
        let declared = declared.and_then(tidy).filter(|declared| declared != UNKNOWN);
        let (seen, extension) = match sniff(head) {
            Some(seen) => seen,
            None => (UNKNOWN, "bin"),
        };
        let usual = usual(seen);
        let Some(declared) = declared else {
            return Self { full: usual.to_owned(), extension, declared: None };
        };
        if is_archive(usual) && declared == ZIP {
            return Self { full: usual.to_owned(), extension, declared: None };
        }
        if is_such(usual, &declared) {
            let extension = extension_of(&declared).unwrap_or(extension);
            return Self { full: declared, extension, declared: None };
        }
        Self { full: usual.to_owned(), extension, declared: Some(declared) }
    }

    /// Which limit holds for such a file, if nothing else says what it is.
    pub(crate) fn origin(&self) -> Origin {
        match self.family() {
            "image" => Origin::Image,
            "audio" => Origin::Audio,
            _ => Origin::Blob,
        }
    }

    /// `image` of `image/png`.
    pub(super) fn family(&self) -> &str {
        self.full.split('/').next().unwrap_or_default()
    }
}

/// True if it is sure what a file is that begins like this: by more than two bytes that may be there by
/// chance.
pub(crate) fn is_recognised(head: &[u8]) -> bool {
    const BY_CHANCE: [&str; 6] = [
        "application/postscript",
        "application/vnd.microsoft.portable-executable",
        "application/x-compress",
        "audio/aac",
        "audio/mpeg",
        "image/bmp",
    ];
    sniff(head).is_some_and(|(media_type, _)| !BY_CHANCE.contains(&media_type))
}

/// A type as it is written in small letters, without parameters; `None` if it is none.
fn tidy(declared: &str) -> Option<String> {
    let name = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let (family, kind) = name.split_once('/')?;
    (is_part(family) && is_part(kind) && name.len() <= MAX_TYPE_CHARS).then_some(name)
}

/// The type and the usual ending of a file that begins like this.
fn sniff(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if is_svg(head) {
        return Some(("image/svg+xml", "svg"));
    }
    if let Some(known) = infer::get(head) {
        let known = (known.mime_type(), known.extension());
        return Some(if known.0 == ZIP { archive(head).unwrap_or(known) } else { known });
    }
    is_text(head).then_some(("text/plain", "txt"))
}

/// What a zip is that has a certain file in it, whatever stands before.
fn archive(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const NAME_AT: usize = 30;
    const KINDS: [(&[u8], &str); 5] = [
        (b"word/", "docx"),
        (b"xl/", "xlsx"),
        (b"ppt/", "pptx"),
        (b"META-INF/MANIFEST.MF", "jar"),
        (b"AndroidManifest.xml", "apk"),
    ];
    memmem::find_iter(head, b"PK\x03\x04").find_map(|at| {
        let name = head.get(at + NAME_AT..)?;
        let (_, extension) = KINDS.iter().find(|(start, _)| name.starts_with(start))?;
        let (media_type, extension) = ARCHIVES.iter().find(|(_, known)| known == extension)?;
        Some((*media_type, *extension))
    })
}

/// True if files of this type are zips with certain files in them.
fn is_archive(media_type: &str) -> bool {
    ARCHIVES.iter().any(|(known, _)| *known == media_type)
        || media_type.starts_with("application/vnd.openxmlformats-officedocument.")
        || media_type.starts_with("application/vnd.oasis.opendocument.")
        || media_type.ends_with(".macroenabled.12")
        || media_type.ends_with("+zip")
}

/// True if a file that looks like `seen` may be what it is declared as.
fn is_such(seen: &str, declared: &str) -> bool {
    if seen == usual(declared) {
        return true;
    }
    match seen {
        // Whatever we would have known is something else.
        UNKNOWN => !infer::is_mime_supported(declared) && !declared.starts_with("text/"),
        "text/plain" => is_written(declared),
        "text/xml" => declared.ends_with("+xml") && declared != "image/svg+xml",
        ZIP => {
            is_archive(declared)
                || declared.starts_with("application/") && !infer::is_mime_supported(declared)
        }
        _ => false,
    }
}

/// True if files of this type are texts.
fn is_written(media_type: &str) -> bool {
    let kind = media_type.split_once('/').map_or("", |(_, kind)| kind);
    (media_type.starts_with("text/") && kind != "html" && kind != "xml")
        || [
            "json",
            "javascript",
            "ecmascript",
            "typescript",
            "graphql",
            "yaml",
            "toml",
            "sql",
            "x-ndjson",
            "x-sh",
        ]
        .contains(&kind)
        || kind.ends_with("+json")
        || kind.starts_with("x-")
        || media_type == "application/xml"
}

/// The usual name of a type.
fn usual(media_type: &str) -> &str {
    let plain = media_type.replacen("/x-", "/", 1);
    let is_among =
        |names: &&&[&str]| names.contains(&media_type) || names.contains(&plain.as_str());
    ALIASES.iter().find(is_among).map_or(media_type, |names| names[0])
}

/// What the name of a file of a declared type ends with, where its bytes do not tell.
fn extension_of(media_type: &str) -> Option<&'static str> {
    if let Some((_, extension)) = ARCHIVES.iter().find(|(known, _)| *known == media_type) {
        return Some(extension);
    }
    Some(match media_type {
        "application/javascript" | "text/javascript" => "js",
        "application/json" => "json",
        "application/x-ndjson" => "ndjson",
        "text/csv" => "csv",
        "text/markdown" => "md",
        "text/html" => "html",
        "text/xml" | "application/xml" => "xml",
        "application/yaml" => "yaml",
        "audio/wav" | "audio/x-wav" => "wav",
        "image/jpeg" => "jpg",
        _ => return None,
    })
}

fn is_svg(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let opens = text.starts_with("<svg");
    opens || (text.starts_with("<?xml") || text.starts_with("<!")) && text.contains("<svg")
}

/// True if it is text, as far as can be seen: the last character may be cut.
fn is_text(head: &[u8]) -> bool {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_odd =
        |c: char| (c.is_control() && !c.is_whitespace()) || is_deceptive(c) && !c.is_whitespace();
    !valid.is_empty() && !valid.chars().any(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt ";

    #[test]
    fn the_bytes_are_believed_and_what_was_declared_is_checked() {
        for (head, declared, media_type, extension, said) in [
            (PNG, Some("image/png"), "image/png", "png", None),
            (PNG, Some("IMAGE/PNG; x=1"), "image/png", "png", None),
            (PNG, None, "image/png", "png", None),
            (PNG, Some("image/jpeg"), "image/png", "png", Some("image/jpeg")),
            (PNG, Some("<script>"), "image/png", "png", None),
            (b"\xff\xd8\xff\xe0JFIF".as_slice(), Some("image/jpg"), "image/jpg", "jpg", None),
            (WAV, Some("audio/wave"), "audio/wave", "wav", None),
            (WAV, None, "audio/wav", "wav", None),
            (b"%PDF-1.7\n", None, "application/pdf", "pdf", None),
            (
                b"<?xml version='1.0'?>\n<svg/>",
                Some("image/png"),
                "image/svg+xml",
                "svg",
                Some("image/png"),
            ),
            (b"fLaC\0\0\0\x22", Some("audio/flac"), "audio/flac", "flac", None),
            (b"fLaC\0\0\0\x22", Some("audio/x-flac"), "audio/x-flac", "flac", None),
            (b"fLaC\0\0\0\x22", None, "audio/flac", "flac", None),
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", Some("image/heic"), "image/heic", "heif", None),
            (WAV, Some("audio/x-wav"), "audio/x-wav", "wav", None),
            (b"let a = 1;", Some("application/javascript"), "application/javascript", "js", None),
            (b"a,b\n1,2\n", Some("text/csv"), "text/csv", "csv", None),
            (b"a,b\n1,2\n", Some("image/png"), "text/plain", "txt", Some("image/png")),
            (b"{\"a\":1}", Some("application/json"), "application/json", "json", None),
            (b"\0\x01\x02\xff", Some("application/x-own"), "application/x-own", "bin", None),
            (
                b"\0\x01\x02\xff",
                Some("image/png"),
                "application/octet-stream",
                "bin",
                Some("image/png"),
            ),
            (b"\0\x01\x02\xff", None, "application/octet-stream", "bin", None),
        ] {
            let expected =
                Media { full: media_type.to_owned(), extension, declared: said.map(str::to_owned) };
            assert_eq!(Media::of(head, declared), expected, "{declared:?}");
        }
    }

    #[test]
    fn a_zip_is_what_is_in_it_or_what_it_is_said_to_be() {
        let zip = |names: &[&str]| -> Vec<u8> {
            let entry = |name: &&str| {
                [b"PK\x03\x04".as_slice(), &[0; 26], name.as_bytes(), &[7; 40]].concat()
            };
            names.iter().flat_map(entry).collect()
        };
        let [docx, xlsx, _, jar, ..] = ARCHIVES.map(|(media_type, _)| media_type);
        for (names, declared, media_type, extension, said) in [
            (&["a/b.xml", "customXml/item.xml", "word/document.xml"][..], None, docx, "docx", None),
            (&["docProps/app.xml", "x", "y", "z", "xl/workbook.xml"], None, xlsx, "xlsx", None),
            (&["META-INF/MANIFEST.MF", "a.class"], None, jar, "jar", None),
            (&["a.txt"], Some(xlsx), xlsx, "xlsx", None),
            (&["a.txt"], Some("application/zip"), "application/zip", "zip", None),
            (
                &["a.txt"],
                Some("application/x-zip-compressed"),
                "application/x-zip-compressed",
                "zip",
                None,
            ),
            (&["word/document.xml"], Some("application/zip"), docx, "docx", None),
            (&["word/document.xml"], Some(xlsx), docx, "docx", Some(xlsx)),
            (
                &["a.txt"],
                Some("application/pdf"),
                "application/zip",
                "zip",
                Some("application/pdf"),
            ),
        ] {
            let expected =
                Media { full: media_type.to_owned(), extension, declared: said.map(str::to_owned) };
            assert_eq!(Media::of(&zip(names), declared), expected, "{names:?} {declared:?}");
        }
    }
}
