//! `--outputs`: what is kept, over HTTP, beside a session on standard input and output.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result};
use clap::Args;
use forebay_proxy::client::http;

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
    /// Listens, if that is wished; until the program ends.
    pub(crate) fn start(&self, config: &Config) -> Result<Option<Arc<Outputs>>> {
        let Some(wished) = self.outputs else { return Ok(None) };
        let outputs = assemble::outputs(config);
        let address = http::serve_alone(outputs.clone(), wished)
            .context("what is kept cannot be offered as --outputs says")?;
        outputs.listen_on(address);
        Ok(Some(outputs))
    }
}
