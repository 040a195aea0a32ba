//! The shop's MCP server: a real one on stdio, small and without any tricks.

use std::{
    io::{BufRead, Write},
    process::ExitCode,
};

use anyhow::Result;
use serde_json::{Value, json};

use super::data;

/// Answers requests until the client closes.
pub(crate) fn run(input: impl BufRead, out: &mut dyn Write) -> Result<ExitCode> {
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        if let (Some(id), Some(method)) = (request.get("id"), request["method"].as_str()) {
            let mut answer = answer(method, &request["params"]);
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = id.clone();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(method: &str, params: &Value) -> Value {
    match method {
        "initialize" => json!({"result": {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shop", "version": env!("CARGO_PKG_VERSION")},
        }}),
        "ping" => json!({"result": {}}),
        "tools/list" => json!({"result": {"tools": tools()}}),
        "tools/call" => match text(params) {
            Some(text) => json!({"result": {"content": [{"type": "text", "text": text}]}}),
            None => json!({"error": {"code": -32602, "message": "there is no such tool"}}),
        },
        _ => json!({"error": {"code": -32601, "message": "there is no such method"}}),
    }
}

fn tools() -> Value {
    json!([
        {
            "name": "list_orders",
            "description": "The shop's orders, the oldest first",
            "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}}},
        },
        {
            "name": "read_log",
            "description": "The log of the shop's web server",
            "inputSchema": {"type": "object"},
        },
        {
            "name": "export_customers",
            "description": "All customers, as CSV",
            "inputSchema": {"type": "object"},
        },
    ])
}

fn text(params: &Value) -> Option<String> {
    match params["name"].as_str()? {
        "list_orders" => {
            let limit = params["arguments"]["limit"].as_u64();
            let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(data::ORDERS);
            serde_json::to_string(&data::orders(limit)).ok()
        }
        "read_log" => Some(data::log()),
        "export_customers" => Some(data::customers()),
        _ => None,
    }
}
