//! What can be said of a file in a few words: the size of an image, the length of a sound, the pages of a
//! document. What a header says is told only if the rest of the file does not speak against it.

use std::io::Cursor;

use forebay_text::grouped;
use image::ImageReader;
use memchr::memmem;

/// A longer document is not looked through.
const MAX_SEARCHED_BYTES: usize = 64 * 1024 * 1024;
/// No image is wider or higher.
const MAX_SIDE: u32 = 1 << 20;
/// As much as any format packs a pixel: so many in a byte.
const MAX_PIXELS_PER_BYTE: u64 = 16 * 1024;

/// What a file of this type is like.
pub(super) fn of(media_type: &str, bytes: &[u8]) -> Option<String> {
    match media_type {
        "application/pdf" => pages(bytes),
        _ if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") => sound(bytes),
        _ if media_type.starts_with("image/") => {
            let (width, height) = dimensions(bytes).filter(|size| is_possible(*size, bytes))?;
            Some(format!("{width} × {height} pixels"))
        }
        _ => None,
    }
}

/// How wide and how high an image is.
pub(super) fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    // A PNG says it in front, whatever may be wrong with the rest.
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16) == Some(b"IHDR") {
        let side = |at: usize| bytes.get(at..)?.first_chunk().map(|it| u32::from_be_bytes(*it));
        return side(16).zip(side(20));
    }
    ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?.into_dimensions().ok()
}

/// True if an image of so many bytes may be of this size.
fn is_possible((width, height): (u32, u32), bytes: &[u8]) -> bool {
    let pixels = u64::from(width) * u64::from(height);
    (1..=MAX_SIDE).contains(&width)
        && (1..=MAX_SIDE).contains(&height)
        && pixels / MAX_PIXELS_PER_BYTE <= bytes.len() as u64
}

/// How a WAV sounds, as its header says.
struct Format {
    channels: u16,
    rate: u32,
    /// How many bytes a second takes; `None` if it is compressed, or if the header contradicts itself.
    bytes_per_second: Option<u64>,
}

impl Format {
    fn read(bytes: &[u8]) -> Option<Self> {
        /// Samples as they are: whole numbers, or floating, or as an extension of the header says.
        const PLAIN: [u16; 3] = [1, 3, 0xFFFE];
        let short = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (kind, channels, align, bits) = (short(0)?, short(2)?, short(12)?, short(14)?);
        let (rate, told) = (number(bytes.get(4..)?)?, number(bytes.get(8..)?)?);
        let frame = u64::from(channels) * u64::from(bits.div_ceil(8));
        let is_sound = PLAIN.contains(&kind)
            && frame > 0
            && u64::from(align) == frame
            && u64::from(told) == frame * u64::from(rate);
        let bytes_per_second = (is_sound && rate > 0).then_some(u64::from(told));
        Some(Self { channels, rate, bytes_per_second })
    }
}

/// How long a WAV is, and how it sounds.
fn sound(bytes: &[u8]) -> Option<String> {
    let (mut format, mut at) = (None, 12);
    loop {
        let header = bytes.get(at..at + 8)?;
        let length = number(&header[4..])? as usize;
        let content = at + 8;
        match &header[..4] {
            b"fmt " => format = Format::read(bytes.get(content..content.checked_add(length)?)?),
            b"data" => {
                let Format { channels, rate, bytes_per_second } = format?;
                // One that is written while it sounds does not say how long it is.
                let there = length.min(bytes.len() - content) as u64;
                let tenths = there * 10 / bytes_per_second?;
                let channels = match channels {
                    1 => "mono".to_owned(),
                    2 => "stereo".to_owned(),
                    many => format!("{many} channels"),
                };
                let (seconds, tenth) = (grouped(tenths / 10), tenths % 10);
                let rate = grouped(u64::from(rate));
                return Some(format!("{seconds}.{tenth} s of sound, {rate} Hz, {channels}"));
            }
            _ => {}
        }
        // Chunks are padded to even lengths.
        at = content.checked_add(length)?.checked_add(length % 2)?;
    }
}

/// How many pages a PDF has: if its tree of pages says as many as there are, or if it is made to be shown
/// page by page and says so in front. One that holds other files, or was changed since, does not say.
fn pages(bytes: &[u8]) -> Option<String> {
    const LINEARIZED: &[u8] = b"/Linearized";
    let has = |name: &[u8]| memmem::find(bytes, name).is_some();
    if bytes.len() > MAX_SEARCHED_BYTES || has(b"/EmbeddedFile") {
        return None;
    }
    let head = &bytes[..bytes.len().min(1_024)];
    let ends = memmem::find_iter(bytes, b"%%EOF").count();
    if let Some(at) = memmem::find(head, LINEARIZED)
        && let linearized = &head[at + LINEARIZED.len()..]
        && let Some(count) = after(linearized, b"/N")
        && let Some(length) = after(linearized, b"/L")
        && length == bytes.len() as u64
        && ends <= 2
    {
        return Some(counted(count));
    }
    if ends > 1 {
        return None;
    }
    let (mut leaves, mut told) = (0, None);
    for at in memmem::find_iter(bytes, b"/Type") {
        let kind = bytes[at + 5..].trim_ascii_start();
        if kind.starts_with(b"/Pages") {
            let from = bytes[..at].iter().rposition(|byte| *byte == b'<').unwrap_or(at);
            let around = &bytes[from..bytes.len().min(at + 4_096)];
            let end = memmem::find(around, b">>").unwrap_or(around.len());
            told = told.max(after(&around[..end], b"/Count"));
        } else if kind.starts_with(b"/Page") {
            leaves += 1;
        }
    }
    told.filter(|count| *count > 0 && *count == leaves).map(counted)
}

/// The number that stands behind a name.
fn after(bytes: &[u8], name: &[u8]) -> Option<u64> {
    let at = memmem::find(bytes, name)? + name.len();
    let digits = bytes[at..].trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

fn counted(pages: u64) -> String {
    if pages == 1 { "1 page".to_owned() } else { format!("{} pages", grouped(pages)) }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(channels: u16, rate: u32, data: usize) -> Vec<u8> {
        let per_second = rate * u32::from(channels) * 2;
        let format = [
            &1_u16.to_le_bytes()[..],
            &channels.to_le_bytes(),
            &rate.to_le_bytes(),
            &per_second.to_le_bytes(),
            &(channels * 2).to_le_bytes(),
            &16_u16.to_le_bytes(),
        ]
        .concat();
        let odd = [b"LIST", &5_u32.to_le_bytes()[..], b"notes\0"].concat();
        let length = u32::try_from(data).unwrap().to_le_bytes();
        let head = [b"RIFF", &[0; 4][..], b"WAVE", &odd, b"fmt ", &16_u32.to_le_bytes(), &format];
        [&head.concat()[..], b"data", &length, &vec![0; data]].concat()
    }

    #[test]
    fn a_sound_is_as_long_as_its_data() {
        let told = |bytes: &[u8]| of("audio/wav", bytes);
        let second = 44_100 * 4;
        let expected = "3.2 s of sound, 44,100 Hz, stereo";
        assert_eq!(told(&wav(2, 44_100, second * 32 / 10)).unwrap(), expected);
        assert_eq!(told(&wav(1, 8_000, 8_000)).unwrap(), "0.5 s of sound, 8,000 Hz, mono");
        let cut = &wav(2, 44_100, second * 10)[..second];
        assert!(told(cut).unwrap().starts_with("0.9 s"), "what is not there does not sound");
        for length in 0..60 {
            let _ = told(&wav(6, 48_000, 100)[..length]);
        }
        assert_eq!(told(b"RIFF\0\0\0\0WAVEfmt \xff\xff\xff\xff"), None);
        // How many bytes a second takes, how many a frame, and how many bits a sample has.
        for (at, value) in [(42, 1), (46, 9), (48, 25), (48, 0), (34, 2)] {
            let mut lying = wav(2, 44_100, second);
            lying[at] = value;
            assert_eq!(told(&lying), None, "{at}");
        }
    }

    #[test]
    fn an_image_is_not_said_to_be_larger_than_it_can_be() {
        let png = |width: u32, height: u32| {
            let head = [
                b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
                &width.to_be_bytes(),
                &height.to_be_bytes(),
            ];
            of("image/png", &[&head.concat()[..], &[0; 9_000]].concat())
        };
        assert_eq!(png(1_920, 1_080).unwrap(), "1920 × 1080 pixels");
        for (width, height) in
            [(0, 0), (0, 9), (u32::MAX, u32::MAX), (2_000_000, 3), (60_000, 60_000)]
        {
            assert_eq!(png(width, height), None, "{width} × {height}");
        }
    }

    #[test]
    fn pages_are_counted_where_that_can_be_told() {
        let pages = |body: &str| of("application/pdf", format!("%PDF-1.4\n{body}").as_bytes());
        let leaf = "<</Type /Page /Parent 1 0 R>>\n";
        let tree = |count: u32| format!("<< /Count {count} /Kids [] /Type /Pages >>\n");
        assert_eq!(pages(&(tree(2) + leaf + leaf)).unwrap(), "2 pages");
        assert_eq!(pages(&(tree(1) + leaf)).unwrap(), "1 page");
        assert_eq!(pages(&(tree(3) + leaf)), None);
        assert_eq!(pages(&(tree(1) + leaf + "%%EOF\n" + leaf + "%%EOF")), None, "it was changed");
        assert_eq!(pages(&(tree(1) + leaf + "<</Type/EmbeddedFile>>")), None);
        assert_eq!(pages("<</Linearized 1/L 38/N 1200>>").unwrap(), "1,200 pages");
        assert_eq!(pages("<</Linearized 1/L 99/N 1200>>"), None, "more came behind it");
        assert_eq!(pages("<</Type/ObjStm>>"), None);
        assert_eq!(pages("/Type"), None);
    }
}
