//! The name of a client on a command line: shells offer those that are known, and any other is told of later.

use std::ffi::OsStr;

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};

/// Takes any name, and offers those of the clients.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct ClientName;

impl TypedValueParser for ClientName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(forebay_clients::names().into_iter().map(PossibleValue::new)))
    }
}
