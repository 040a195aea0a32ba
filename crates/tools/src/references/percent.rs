//! Percent signs in a reference, read with care: a model wrote them.

use std::borrow::Cow;

/// True if a text may be encoded. Every encoder takes blanks, line breaks, `"`, `<` and `>` away; that of
/// JavaScript leaves `'`.
pub(super) fn is_encoded(text: &str) -> bool {
    let stays = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '<' | '>');
    !text.contains(stays)
}

/// A text without its percent signs, as far as these stand for something.
pub(super) fn decoded(text: &str) -> Cow<'_, str> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    if !text.contains('%') {
        return text.into();
    }
    let (bytes, mut at) = (text.as_bytes(), 0);
    let mut out = Vec::with_capacity(bytes.len());
    while let Some(byte) = bytes.get(at) {
        let pair = (digit(bytes.get(at + 1)), digit(bytes.get(at + 2)));
        match pair {
            (Some(high), Some(low)) if *byte == b'%' => {
                out.extend(u8::try_from(high * 16 + low));
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    // What is no text when decoded was not encoded.
    String::from_utf8(out).map_or(text.into(), Cow::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_what_no_encoder_leaves_is_not_encoded() {
        for plain in ["a b", "a\n", "\"a\"", "a<b", "a>b", "LIKE '%20%' "] {
            assert!(!is_encoded(plain), "{plain}");
        }
        for encoded in ["a%20b", "it's%20(1)", "a*b", "", "LIKE'%25'"] {
            assert!(is_encoded(encoded), "{encoded}");
        }
    }

    #[test]
    fn percent_signs_that_stand_for_nothing_stay() {
        for (written, read) in
            [("a%20b", "a b"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%ff", "%ff")]
        {
            assert_eq!(decoded(written), read);
        }
    }
}
