//! `--outputs`: what is kept, over HTTP, beside a session on standard input and output.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result};
use clap::Args;
use forebay_proxy::{ProxyError, client::http};

use crate::{assemble, cli::address::address, config::Config, outputs::Outputs};

/// Whether what is kept can be fetched by URLs.
#[derive(Debug, Args)]
pub(crate) struct OutputsArguments {
    /// Give URLs under which what is kept can be fetched for a while, at this address of the machine
    /// [default: any free port of 127.0.0.1]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0",
        value_parser = address
    )]
    outputs: Option<SocketAddr>,
}

impl OutputsArguments {
    /// Listens, if that is wished; until the program ends. Where that cannot be, because another window listens
    /// there, what is kept is read through MCP: a client is better off without URLs than without its server.
    pub(crate) fn start(&self, config: &Config) -> Result<Option<Arc<Outputs>>> {
        let Some(wished) = self.outputs else { return Ok(None) };
        let outputs = assemble::outputs(config);
        match http::serve_alone(outputs.clone(), wished) {
            Ok(address) => {
                outputs.listen_on(address);
                Ok(Some(outputs))
            }
            Err(error @ ProxyError::Listen { .. }) => {
                tracing::warn!(%error, "links are read through MCP, for --outputs offers no URLs");
                Ok(None)
            }
            Err(error) => Err(error).context("what is kept cannot be offered as --outputs says"),
        }
    }
}
