//! Requests whose answer is read piece by piece, for language models.

use bytes::Bytes;
use futures::FutureExt as _;
use kybern_core::ports::HttpFailure;
use kybern_core::time::Millis;
use reqwest::Response;

use super::outgoing::Outgoing;
use super::{Egress, answer, connect};

/// A request whose answer streams. Redirects are not followed.
pub struct OpenRequest {
    /// The method, upper case.
    pub method: &'static str,
    /// The whole URL.
    pub url: String,
    /// Headers; values may be secret.
    pub headers: Vec<(String, String)>,
    /// The body, shared and not copied.
    pub body: Bytes,
    /// How long a connection may take to be made, when none is free.
    pub connect: Millis,
    /// Whether the endpoint is trusted (from the configuration file), so that private addresses are open.
    pub trusted_endpoint: bool,
}

/// An answer whose body is on its way. Dropping it closes the connection, unless the body was read to its end.
pub struct OpenResponse {
    pub status: u16,
    /// Headers, lower-case names.
    pub headers: Vec<(String, String)>,
    response: Response,
}

impl Egress {
    /// Sends a request and waits for the headers of its answer. The time is kept by the caller, except that of
    /// connecting.
    ///
    /// # Errors
    /// See [`HttpFailure`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the request.
    pub async fn open(&self, request: OpenRequest) -> Result<OpenResponse, HttpFailure> {
        let OpenRequest { method, url, headers, body, connect, trusted_endpoint } = request;
        let outgoing = Outgoing::of(method, &url, &headers, body, trusted_endpoint)?;
        let client = self.client_for(&outgoing)?;
        let sent = connect::within(connect, client.execute(outgoing.to_request())).await;
        let response = sent.map_err(|error| answer::failure(error, outgoing.url(), 0))?;
        let headers = answer::headers(&response);
        Ok(OpenResponse { status: response.status().as_u16(), headers, response })
    }
}

impl OpenResponse {
    /// The first value of that header, whose name is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The next piece of the body, after decompression; `None` at its end.
    ///
    /// # Errors
    /// `NoAnswer` when the body breaks off.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpFailure> {
        self.response.chunk().await.map_err(answer::broken)
    }

    /// The next piece when it is here already; `None` when it has yet to come.
    ///
    /// # Errors
    /// `NoAnswer` when the body breaks off.
    pub fn chunk_now(&mut self) -> Option<Result<Option<Bytes>, HttpFailure>> {
        self.chunk().now_or_never()
    }
}
