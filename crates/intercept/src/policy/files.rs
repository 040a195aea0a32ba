//! From when on the files of a result are kept apart, and how they are shown.

/// What holds for files in results: images, sounds, blobs, and texts that are base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePolicy {
    /// A file of more bytes than this is kept, and linked to.
    pub max_bytes: u64,
    /// The same for blocks that are images.
    pub max_image_bytes: Option<u64>,
    /// The same for blocks that are sounds.
    pub max_audio_bytes: Option<u64>,
    /// The same for embedded resources.
    pub max_blob_bytes: Option<u64>,
    /// The same for text blocks that are base64 or a data URL.
    pub max_text_bytes: Option<u64>,
    /// More files or links than this are gathered in a table.
    pub gather_above: usize,
    /// An image that is kept is shown, too, in so many bytes of base64; 0 is not at all.
    pub show_images_up_to: u64,
}

/// What a string that may be a file is in its result. Each has a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Image,
    Audio,
    Blob,
    Text,
    /// A string of structured content: its limit is that of what it turns out to be.
    Structured,
}

/// What is shorter is no flood, and hard to tell from a word.
const LEAST_BYTES: u64 = 1_024;

/// As much stays in a result as so many files that are just not over their limit.
const STAYING: u64 = 8;

impl Default for FilePolicy {
    fn default() -> Self {
        Self {
            max_bytes: 64 * 1024,
            max_image_bytes: None,
            max_audio_bytes: None,
            max_blob_bytes: None,
            max_text_bytes: None,
            gather_above: 8,
            show_images_up_to: 0,
        }
    }
}

impl FilePolicy {
    /// How many bytes a file may have before it is kept.
    pub(crate) fn limit(&self, origin: Origin) -> u64 {
        let own = match origin {
            Origin::Image => self.max_image_bytes,
            Origin::Audio => self.max_audio_bytes,
            Origin::Blob => self.max_blob_bytes,
            Origin::Text => self.max_text_bytes,
            // What it is, is told by looking.
            Origin::Structured => return self.least(),
        };
        own.unwrap_or(self.max_bytes).max(LEAST_BYTES)
    }

    /// How many bytes all files of an origin in a result may have that are not over their own limit.
    pub(crate) fn limit_of_all(&self, origin: Origin) -> u64 {
        self.limit(origin).saturating_mul(STAYING)
    }

    /// True if a result of so many bytes may hold a file over its limit.
    pub(crate) fn may_be_over(&self, result_bytes: u64) -> bool {
        result_bytes > self.least()
    }

    /// The least of all limits.
    fn least(&self) -> u64 {
        let all = [Origin::Image, Origin::Audio, Origin::Blob, Origin::Text];
        all.into_iter().map(|origin| self.limit(origin)).min().unwrap_or(self.max_bytes)
    }
}
