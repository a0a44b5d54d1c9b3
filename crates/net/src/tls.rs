//! TLS for servers and clients: certificates in, configurations out.
//!
//! May depend on rustls and on the system's certificates. Holds always: only
//! HTTP/1.1 is offered by ALPN, which is what WebSocket and our HTTP speak.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::Stream;

/// Why a TLS configuration cannot be made. The configuration's fault.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The PEM text has no certificate.
    #[error("no certificate found (expected PEM with `BEGIN CERTIFICATE`)")]
    NoCertificate,
    /// The PEM text has no private key.
    #[error("no private key found (expected PEM with `BEGIN PRIVATE KEY`)")]
    NoKey,
    /// The PEM text is broken.
    #[error("the PEM text is broken")]
    Pem(#[source] pem::Error),
    /// Certificate and key do not fit, or are of a kind that is not supported.
    #[error("the certificate or its key cannot be used")]
    Unusable(#[source] rustls::Error),
    /// The system has no certificates to trust.
    #[error("the system has no certificates to trust; give the roots yourself")]
    NoSystemRoots,
}

/// How a server presents itself.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<ServerConfig>);

/// Whom a client trusts.
#[derive(Debug, Clone)]
pub struct ClientTls(Arc<ClientConfig>);

const HTTP_1_1: &[u8] = b"http/1.1";

impl ServerTls {
    /// From a certificate chain (leaf first) and its private key, both PEM.
    ///
    /// # Errors
    /// Where one is missing, broken, or does not fit the other.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        let key = match PrivateKeyDer::from_pem_slice(key) {
            Ok(key) => key,
            Err(pem::Error::NoItemsFound) => return Err(TlsError::NoKey),
            Err(error) => return Err(TlsError::Pem(error)),
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::Unusable)?;
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// From two PEM files, as [`from_pem`](Self::from_pem).
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem), and where a file cannot be read.
    pub fn from_files(chain: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, TlsError> {
        Self::from_pem(&read(chain.as_ref())?, &read(key.as_ref())?)
    }

    /// Does the server's part of the handshake. Takes as long as the peer takes.
    ///
    /// # Errors
    /// Where the peer speaks no TLS, or none that is supported.
    pub async fn accept(&self, stream: Stream) -> io::Result<Stream> {
        let tls = TlsAcceptor::from(Arc::clone(&self.0)).accept(stream).await?;
        Ok(TlsStream::from(tls).into())
    }
}

impl From<Arc<ServerConfig>> for ServerTls {
    fn from(config: Arc<ServerConfig>) -> Self {
        Self(config)
    }
}

impl ClientTls {
    /// Trusts whom the system trusts, as it does at the first call.
    ///
    /// # Errors
    /// [`TlsError::NoSystemRoots`] where that is nobody.
    pub fn system() -> Result<Self, TlsError> {
        static SYSTEM: OnceLock<ClientTls> = OnceLock::new();
        if let Some(system) = SYSTEM.get() {
            return Ok(system.clone());
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(TlsError::NoSystemRoots);
        }
        let system = Self::with_roots(roots)?;
        Ok(SYSTEM.get_or_init(|| system).clone())
    }

    /// Trusts the certificates of a PEM text and nobody else.
    ///
    /// # Errors
    /// Where there is none, or one is broken.
    pub fn from_pem(roots: &[u8]) -> Result<Self, TlsError> {
        let mut store = RootCertStore::empty();
        for root in certificates(roots)? {
            store.add(root).map_err(TlsError::Unusable)?;
        }
        Self::with_roots(store)
    }

    fn with_roots(roots: RootCertStore) -> Result<Self, TlsError> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// Does the client's part of the handshake with the server called `host`,
    /// a name or an address. Takes as long as the peer takes.
    ///
    /// # Errors
    /// Where the server is not trusted, or speaks no TLS that is supported.
    pub async fn connect(&self, host: &str, stream: Stream) -> io::Result<Stream> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error: InvalidDnsNameError| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let tls = TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await?;
        Ok(TlsStream::from(tls).into())
    }
}

impl From<Arc<ClientConfig>> for ClientTls {
    fn from(config: Arc<ClientConfig>) -> Self {
        Self(config)
    }
}

fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TlsError::NoCertificate),
        Ok(found) => Ok(found),
        Err(error) => Err(TlsError::Pem(error)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::File { path: path.into(), source })
}
