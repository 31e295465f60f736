//! Connections that keep what a server says beside SERVFAIL (RFC 8914): the library throws a failed answer away, with its reasons.

use std::net::IpAddr;
use std::pin::Pin;

use futures_util::future::{BoxFuture, TryFutureExt};
use futures_util::stream::{Stream, TryStreamExt};
use hickory_resolver::config::ConnectionConfig;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::xfer::DnsExchange;
use hickory_resolver::net::{DnsHandle, NetError};
use hickory_resolver::proto::op::{DnsRequest, DnsResponse, ResponseCode};
use hickory_resolver::{ConnectionProvider, PoolContext};

use super::extended_error;

/// Opens connections as the library does, and wraps them.
#[derive(Clone, Default)]
pub struct Explaining(TokioRuntimeProvider);

impl ConnectionProvider for Explaining {
    type Conn = Explained;
    type FutureConn = BoxFuture<'static, Result<Explained, NetError>>;
    type RuntimeProvider = TokioRuntimeProvider;

    fn new_connection(
        &self,
        ip: IpAddr,
        config: &ConnectionConfig,
        context: &PoolContext,
    ) -> Result<Self::FutureConn, NetError> {
        let connecting = self.0.new_connection(ip, config, context)?;
        Ok(Box::pin(connecting.map_ok(Explained)))
    }

    fn runtime_provider(&self) -> &TokioRuntimeProvider {
        &self.0
    }
}

/// A connection.
#[derive(Clone)]
pub struct Explained(DnsExchange<TokioRuntimeProvider>);

impl DnsHandle for Explained {
    type Response = Pin<Box<dyn Stream<Item = Result<DnsResponse, NetError>> + Send>>;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, request: DnsRequest) -> Self::Response {
        Box::pin(self.0.send(request).map_ok(kept))
    }
}

/// A SERVFAIL that gives its reason gets a code that the library does not know, and therefore lets through. One without a reason
/// stays what it was: another server may know better.
fn kept(mut response: DnsResponse) -> DnsResponse {
    if response.metadata.response_code == ResponseCode::ServFail
        && extended_error(&response).is_some()
    {
        response.metadata.response_code = ResponseCode::Unknown(ResponseCode::ServFail.into());
    }
    response
}
