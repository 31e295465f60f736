//! The health endpoint: is the program alive, can it answer, what waits.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How the program fares.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// What is missing, where it cannot answer.
    pub trouble: Option<String>,
    pub unfinished: u64,
    pub waiting: u64,
    pub dead: u64,
    pub bytes_on_disk: u64,
}

type Ask = Arc<dyn Fn() -> Status + Send + Sync>;

/// Takes the address.
///
/// # Errors
/// Where it is taken or not ours.
pub async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("listen on {address} for `health`: name another address, or end what listens there")
    })
}

/// Answers until the program stops: `/livez` while it runs, `/readyz` while it can answer, `/status` in numbers.
pub async fn serve(listener: TcpListener, ask: Ask, mut stop: watch::Receiver<bool>) -> Result<()> {
    let routes = Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .route("/status", get(status))
        .with_state(ask);
    let stopped = async move {
        // The sender is gone only where the program is.
        let _gone = stop.wait_for(|stop| *stop).await;
    };
    axum::serve(listener, routes)
        .with_graceful_shutdown(stopped)
        .await
        .context("answer on the health endpoint")
}

async fn ready(State(ask): State<Ask>) -> impl IntoResponse {
    match ask().trouble {
        None => (StatusCode::OK, "ready\n".to_string()),
        Some(trouble) => (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n")),
    }
}

async fn status(State(ask): State<Ask>) -> impl IntoResponse {
    let body = serde_json::to_string(&ask()).unwrap_or_default();
    ([(CONTENT_TYPE, "application/json")], body)
}
