//! Why there are no vectors in Chroma, or why none can be had.

use forebay_services::ServiceError;

/// What the collection is called.
pub const COLLECTION: &str = "mcp_artifacts";

/// An error of Chroma, or of what is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChromaError {
    /// It cannot be asked.
    #[error("Chroma cannot be asked")]
    Service(#[from] ServiceError),
    /// It lets us do nothing.
    #[error(
        "Chroma wants another token ({0}); set FOREBAY_CHROMA_TOKEN, which goes as `x-chroma-token`"
    )]
    Unauthorised(u16),
    /// It says no, and why.
    #[error("Chroma says {status}: {said}")]
    Refused {
        /// The status of its answer.
        status: u16,
        /// Its words.
        said: String,
    },
    /// It says something else than the v2 API has.
    #[error("the answer of Chroma cannot be read; is it a server with the v2 API?")]
    Malformed(#[source] serde_json::Error),
    /// There is no collection, or no more.
    #[error("Chroma has no collection `{COLLECTION}`; `forebay index rebuild` makes it")]
    NotThere,
    /// The collection is not one that we have made.
    #[error(
        "the collection `{COLLECTION}` in Chroma holds vectors of {theirs}, and these are of {ours}; \
         `forebay index rebuild` makes it anew, without what is in it"
    )]
    OtherModel {
        /// The model, or what is known of it.
        theirs: String,
        /// The same of the vectors here.
        ours: String,
    },
    /// Distances in it say something else.
    #[error(
        "the collection `{COLLECTION}` in Chroma measures by {0}, not by cosine; `forebay index rebuild` \
         makes it anew, without what is in it"
    )]
    OtherSpace(String),
}
