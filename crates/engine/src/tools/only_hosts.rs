//! HTTP for a call that may reach some hosts only, wherever redirects lead.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::ports::{HttpClient, HttpFailure, HttpRequest, HttpResponse};

/// A client that reaches these hosts and no others.
pub(crate) struct OnlyHosts {
    client: Arc<dyn HttpClient>,
    hosts: Arc<[String]>,
}

impl OnlyHosts {
    pub(crate) fn over(client: &Arc<dyn HttpClient>, hosts: &Arc<[String]>) -> Arc<dyn HttpClient> {
        Arc::new(Self { client: Arc::clone(client), hosts: Arc::clone(hosts) })
    }
}

#[async_trait]
impl HttpClient for OnlyHosts {
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        request.only_hosts = Some(Arc::clone(&self.hosts));
        self.client.send(request).await
    }
}
