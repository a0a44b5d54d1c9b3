//! Listeners and TLS over real sockets of this machine.

use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use polywire_net::tls::{ClientTls, ServerTls, TlsError};
use polywire_net::{Addr, EstablishError, ListenError, ListenOptions, Listener, Peer, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

fn port(listener: &Listener) -> u16 {
    match listener.local_addrs().first() {
        Some(Addr::Tcp(addr)) => addr.port(),
        other => panic!("{other:?}"),
    }
}

async fn connect(port: u16) -> Stream {
    TcpStream::connect(("127.0.0.1", port)).await.expect("somebody listens").into()
}

/// Sends a word each way.
async fn talk(mut one: Stream, mut other: Stream) {
    let mut word = [0; 4];
    one.write_all(b"ping").await.expect("open");
    one.flush().await.expect("open");
    other.read_exact(&mut word).await.expect("open");
    assert_eq!(&word, b"ping");
    other.write_all(b"pong").await.expect("open");
    other.flush().await.expect("open");
    one.read_exact(&mut word).await.expect("open");
    assert_eq!(&word, b"pong");
}

struct Certificate {
    chain: String,
    key: String,
}

fn certificate() -> Certificate {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    let made = made.expect("a certificate");
    Certificate { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
}

impl Certificate {
    fn server(&self) -> ServerTls {
        ServerTls::from_pem(self.chain.as_bytes(), self.key.as_bytes()).expect("usable")
    }

    fn client(&self) -> ClientTls {
        ClientTls::from_pem(self.chain.as_bytes()).expect("usable")
    }
}

#[tokio::test]
async fn tcp_connects() {
    let mut listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let client = connect(port(&listener)).await;
    let incoming = listener.accept().await;
    assert!(matches!(incoming.peer(), Peer::Tcp(addr) if addr.ip().is_loopback()));
    let server = incoming.establish().await.expect("no TLS");
    assert!(!server.is_tls());
    talk(client, server).await;
}

#[tokio::test]
async fn a_listener_may_have_several_addresses() {
    let first = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let second = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let ports = [port(&first), port(&second)];
    let mut both = first.and(second);
    assert_eq!(both.local_addrs().len(), 2);
    for port in ports.into_iter().cycle().take(6) {
        let client = connect(port).await;
        let server = both.accept().await.establish().await.expect("no TLS");
        talk(client, server).await;
    }
}

#[tokio::test]
async fn all_addresses_of_a_name_share_a_port() {
    let listener = Listener::bind("localhost:0").await.expect("a free port");
    let ports: Vec<_> = listener
        .local_addrs()
        .into_iter()
        .map(|addr| match addr {
            Addr::Tcp(addr) => addr.port(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(ports.iter().all(|port| *port == ports[0] && *port != 0), "{ports:?}");
}

#[tokio::test]
async fn what_cannot_be_listened_on_is_told() {
    for bad in ["", "3000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:70000"] {
        let result = Listener::bind(bad).await;
        assert!(matches!(result, Err(ListenError::Address(_))), "{bad:?}: {result:?}");
    }
    let result = Listener::bind("no.such.host.invalid:80").await;
    assert!(matches!(result, Err(ListenError::Lookup { .. })), "{result:?}");
    let taken = Listener::bind("127.0.0.1:0").await.expect("a free port");
    match Listener::bind(&format!("127.0.0.1:{}", port(&taken))).await {
        Err(ListenError::Bind { source, .. }) => assert_eq!(source.kind(), ErrorKind::AddrInUse),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn listeners_share_a_port_where_they_are_told_to() {
    let options = ListenOptions { reuse_port: true, ..ListenOptions::default() };
    let first = Listener::bind_with("127.0.0.1:0", &options).await.expect("a free port");
    let addr = format!("127.0.0.1:{}", port(&first));
    Listener::bind_with(&addr, &options).await.expect("shared");
}

#[tokio::test]
async fn a_unix_socket_connects_and_goes_with_its_listener() {
    let dir = std::env::temp_dir().join(format!("polywire-net-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let path = dir.join("listen.sock");
    let addr = format!("unix:{}", path.display());

    let mut listener = Listener::bind(&addr).await.expect("a new path");
    assert_eq!(listener.local_addrs(), [Addr::Unix(path.clone())]);
    let client = UnixStream::connect(&path).await.expect("somebody listens");
    let incoming = listener.accept().await;
    assert_eq!(incoming.peer(), Peer::Unix);
    talk(client.into(), incoming.establish().await.expect("no TLS")).await;

    let second = Listener::bind(&addr).await;
    assert!(matches!(second, Err(ListenError::Bind { .. })), "in use: {second:?}");
    drop(listener);
    assert!(!path.exists());

    // What a killed process leaves behind.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a new path"));
    assert!(path.exists());
    drop(Listener::bind(&addr).await.expect("nobody listens there"));

    std::fs::write(&path, "a file").expect("a new path");
    let result = Listener::bind(&addr).await;
    assert!(matches!(result, Err(ListenError::Bind { .. })), "no socket: {result:?}");
    std::fs::remove_dir_all(&dir).expect("ours");
}

#[tokio::test]
async fn tls_connects_whom_the_client_trusts() {
    let certificate = certificate();
    let mut listener = Listener::bind("127.0.0.1:0").await.expect("a free port").with_tls(&certificate.server());
    for host in ["localhost", "127.0.0.1"] {
        let tcp = connect(port(&listener)).await;
        let incoming = listener.accept().await;
        let tls = certificate.client();
        let (client, server) = tokio::join!(tls.connect(host, tcp), incoming.establish());
        let server = server.expect("a handshake");
        assert!(server.is_tls());
        assert!(matches!(server.peer(), Ok(Peer::Tcp(_))));
        talk(client.expect("a handshake"), server).await;
    }

    for (host, tls) in [("example.com", certificate.client()), ("localhost", self::certificate().client())] {
        let tcp = connect(port(&listener)).await;
        let incoming = listener.accept().await;
        let (client, server) = tokio::join!(tls.connect(host, tcp), incoming.establish());
        assert!(client.is_err(), "{host}");
        assert!(matches!(server, Err(EstablishError::Tls(_))), "{host}: {server:?}");
    }
}

#[tokio::test]
async fn a_peer_that_does_not_shake_hands_holds_up_nobody() {
    let certificate = certificate();
    let mut listener = Listener::bind("127.0.0.1:0").await.expect("a free port").with_tls(&certificate.server());
    let _silent = connect(port(&listener)).await;
    let _waiting = tokio::spawn(listener.accept().await.establish());

    let tcp = connect(port(&listener)).await;
    let incoming = listener.accept().await;
    let tls = certificate.client();
    let (client, server) = tokio::join!(tls.connect("localhost", tcp), incoming.establish());
    talk(client.expect("a handshake"), server.expect("a handshake")).await;
}

#[tokio::test]
async fn a_peer_that_does_not_shake_hands_in_time_is_given_up() {
    let mut listener = Listener::bind("127.0.0.1:0")
        .await
        .expect("a free port")
        .with_tls(&certificate().server())
        .with_handshake_timeout(Duration::from_millis(20));
    let _silent = connect(port(&listener)).await;
    let result = listener.accept().await.establish().await;
    assert!(matches!(result, Err(EstablishError::Timeout(_))), "{result:?}");
}

#[test]
fn certificates_that_cannot_be_used_are_told() {
    #[track_caller]
    fn check(chain: &str, key: &str, is_expected: fn(&TlsError) -> bool) {
        let error = ServerTls::from_pem(chain.as_bytes(), key.as_bytes()).expect_err("unusable");
        assert!(is_expected(&error), "{error:?}");
    }
    let (one, other) = (certificate(), certificate());
    check("", &one.key, |error| matches!(error, TlsError::NoCertificate));
    check(&one.key, &one.key, |error| matches!(error, TlsError::NoCertificate));
    check(&one.chain, "", |error| matches!(error, TlsError::NoKey));
    check(&one.chain, &one.chain, |error| matches!(error, TlsError::NoKey));
    check(&one.chain, &other.key, |error| matches!(error, TlsError::Unusable(_)));
    check("-----BEGIN CERTIFICATE-----\n!", &one.key, |error| matches!(error, TlsError::Pem(_)));

    let missing = ServerTls::from_files("no/such/file", "no/such/file");
    assert!(matches!(missing, Err(TlsError::File { .. })), "{missing:?}");
    assert!(matches!(ClientTls::from_pem(b""), Err(TlsError::NoCertificate)));
}

/// Set in the process that the test below starts under a limit of descriptors.
const LIMITED: &str = "POLYWIRE_NET_LIMITED";

#[test]
fn accepting_survives_the_end_of_file_descriptors() {
    if std::env::var_os(LIMITED).is_some() {
        return exhaust_descriptors();
    }
    let myself = std::env::current_exe().expect("a path");
    let status = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact accepting_survives_the_end_of_file_descriptors"])
        .arg(myself)
        .env(LIMITED, "1")
        .status()
        .expect("a shell");
    assert!(status.success());
}

#[tokio::main(flavor = "current_thread")]
async fn exhaust_descriptors() {
    let mut listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let port = port(&listener);
    let mut clients = Vec::new();
    // Each descriptor that is left becomes a client; the last ones find no
    // descriptor for the server's side.
    while let Ok(client) = TcpStream::connect(("127.0.0.1", port)).await {
        clients.push(client);
        assert!(clients.len() < 64, "the limit holds");
    }
    let mut waiting = std::pin::pin!(listener.accept());
    let early = tokio::time::timeout(Duration::from_millis(300), waiting.as_mut()).await;
    assert!(early.is_err(), "there is no descriptor for a connection");
    clients.truncate(clients.len() - 5);
    let late = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    assert!(late.is_ok(), "there is one again");
}
