//! Where a URL leads.

use http::Uri;
use http::uri::InvalidUri;

use crate::tls::{ClientTls, TlsError};
use crate::{OpenError, Stream};

/// Why a URL leads nowhere. The caller's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is no URL.
    #[error("{url:?} is no URL")]
    Invalid {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        source: InvalidUri,
    },
    /// Not one of the schemes that are spoken here.
    #[error("{0:?} begins with none of ws://, wss://, http://, https://")]
    Scheme(String),
    /// The port is no number up to 65535.
    #[error("{0:?} has no valid port")]
    Port(String),
    /// Nothing stands behind the scheme.
    #[error("{0:?} names no host")]
    NoHost(String),
}

/// The server that a URL names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'u> {
    host: &'u str,
    port: u16,
    tls: bool,
}

/// Why there is no stream to a server.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReachError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Config(#[from] TlsError),
    #[error("TLS handshake failed")]
    Tls(#[source] std::io::Error),
}

pub(super) fn parse(url: &str) -> Result<Uri, UrlError> {
    url.parse().map_err(|source| UrlError::Invalid { url: url.to_owned(), source })
}

impl<'u> Target<'u> {
    pub(super) fn of(uri: &'u Uri) -> Result<Self, UrlError> {
        let (tls, default_port) = match uri.scheme_str() {
            Some("ws" | "http") => (false, 80),
            Some("wss" | "https") => (true, 443),
            _ => return Err(UrlError::Scheme(uri.to_string())),
        };
        let host = uri.host().unwrap_or_default();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let place = authority.rsplit('@').next().unwrap_or_default();
        let port = place.strip_prefix(host).unwrap_or_default().trim_start_matches(':');
        let port = match port {
            "" => default_port,
            port => port.parse().map_err(|_| UrlError::Port(uri.to_string()))?,
        };
        // An IPv6 address stands in brackets.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err(UrlError::NoHost(uri.to_string()));
        }
        Ok(Self { host, port: uri.port_u16().unwrap_or(port), tls })
    }

    /// Opens a stream to the server; trusts whom the system trusts unless told otherwise.
    pub(super) async fn reach(&self, tls: Option<&ClientTls>) -> Result<Stream, ReachError> {
        let stream = Stream::tcp(self.host, self.port).await?;
        if !self.tls {
            return Ok(stream);
        }
        let tls = match tls {
            Some(tls) => tls.clone(),
            None => ClientTls::system()?,
        };
        tls.connect(self.host, stream).await.map_err(ReachError::Tls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_host_port_and_encryption() {
        #[track_caller]
        fn check(url: &str, host: &str, port: u16, tls: bool) {
            let uri = parse(url).expect("a URL");
            assert_eq!(Target::of(&uri).expect("a target"), Target { host, port, tls });
        }
        check("ws://localhost", "localhost", 80, false);
        check("wss://example.com/a?b", "example.com", 443, true);
        check("http://127.0.0.1:3000/", "127.0.0.1", 3000, false);
        check("https://[::1]:8443", "::1", 8443, true);
        check("ws://user:word@host:1", "host", 1, false);
        check("ws://a81:81", "a81", 81, false);
        check("ws://a:", "a", 80, false);
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        let refusal = |url: &str| match parse(url) {
            Ok(uri) => Target::of(&uri).expect_err("no target"),
            Err(error) => error,
        };
        assert!(matches!(refusal(""), UrlError::Invalid { .. }));
        assert!(matches!(refusal("ws://"), UrlError::Invalid { .. }));
        assert!(matches!(refusal("ws://host:99999"), UrlError::Port(_)));
        assert!(matches!(refusal("localhost:3000"), UrlError::Scheme(_)));
        assert!(matches!(refusal("/chat"), UrlError::Scheme(_)));
        assert!(matches!(refusal("ftp://host"), UrlError::Scheme(_)));
        assert!(matches!(refusal("ws://:80"), UrlError::Invalid { .. } | UrlError::NoHost(_)));
    }
}
