//! What both sides of Streamable HTTP share: which headers say what, and messages as bodies.

pub(crate) mod headers;
pub(crate) mod host;
pub(crate) mod look;
pub(crate) mod modern;
pub(crate) mod streamed;
pub(crate) mod tool_headers;
