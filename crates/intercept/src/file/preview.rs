//! An image made small enough to be seen by a model after all.
//!
//! Bounded: one that would take too much memory is not decoded, and whatever goes wrong, there is none.

use std::io::Cursor;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder};

use super::details::dimensions;

/// An image to look at.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) media_type: &'static str,
    /// In base64.
    pub(crate) data: String,
}

const MAX_PIXELS: u64 = 64_000_000;
const MAX_DECODED_BYTES: u64 = 320 * 1024 * 1024;
/// How long the longer side may be, the most that clients show first.
const SIDES: [u32; 9] = [1_568, 1_120, 784, 560, 392, 256, 160, 96, 48];
const JPEG_QUALITY: u8 = 80;

/// The image in at most `max_bytes` of base64, scaled down as far as that needs.
pub(crate) fn preview(bytes: &[u8], max_bytes: u64) -> Option<Preview> {
    let (width, height) = dimensions(bytes)?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return None;
    }
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    reader.limits(limits);
    let image = reader.decode().ok()?;
    let fits = |encoded: &Vec<u8>| (encoded.len() as u64).div_ceil(3) * 4 <= max_bytes;
    SIDES.iter().find_map(|side| {
        let small =
            if width.max(height) > *side { image.thumbnail(*side, *side) } else { image.clone() };
        let (media_type, encoded) = encode(&small)?;
        fits(&encoded).then(|| Preview { media_type, data: BASE64_STANDARD.encode(encoded) })
    })
}

/// As JPEG, or as PNG where there is something to see through.
fn encode(image: &DynamicImage) -> Option<(&'static str, Vec<u8>)> {
    let mut encoded = Cursor::new(Vec::new());
    if image.color().has_alpha() {
        image.write_to(&mut encoded, ImageFormat::Png).ok()?;
        return Some(("image/png", encoded.into_inner()));
    }
    let jpeg = JpegEncoder::new_with_quality(&mut encoded, JPEG_QUALITY);
    DynamicImage::from(image.to_rgb8()).write_with_encoder(jpeg).ok()?;
    Some(("image/jpeg", encoded.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image that does not compress well.
    fn noisy(width: u32, height: u32) -> DynamicImage {
        let mut state = 1_u32;
        let pixels = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        });
        let pixels = pixels.take((width * height * 3) as usize).collect();
        image::RgbImage::from_raw(width, height, pixels).unwrap().into()
    }

    fn png(image: &DynamicImage) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        image.write_to(&mut out, ImageFormat::Png).unwrap();
        out.into_inner()
    }

    #[test]
    fn an_image_gets_as_small_as_it_must() {
        let original = png(&noisy(900, 600));
        for max_bytes in [4_000, 20_000, 100_000] {
            let Preview { media_type, data } = preview(&original, max_bytes).unwrap();
            assert!(data.len() as u64 <= max_bytes && data.len() > 500, "{}", data.len());
            let (width, height) = dimensions(&BASE64_STANDARD.decode(data).unwrap()).unwrap();
            assert_eq!((media_type, (width * 2).div_ceil(3)), ("image/jpeg", height), "{width}");
        }
        assert!(preview(&original, 100).is_none(), "there is a least");
        let clear = DynamicImage::from(noisy(300, 300).to_rgba8());
        assert_eq!(preview(&png(&clear), 50_000).unwrap().media_type, "image/png");
    }

    #[test]
    fn what_is_no_image_or_too_large_is_not_shown() {
        assert!(preview(b"RIFF", 9_000).is_none());
        let whole = png(&noisy(100, 100));
        assert!(preview(&whole[..whole.len() / 2], 9_000).is_none());
        // A header that promises 65,000 × 65,000 pixels.
        let mut huge = whole;
        huge[16..24].copy_from_slice(&[0, 0, 0xFD, 0xE8, 0, 0, 0xFD, 0xE8]);
        assert!(preview(&huge, 9_000).is_none());
    }
}
