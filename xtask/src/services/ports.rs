//! Free ports on the loopback address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

/// So many different ports that nothing listens on. Another process may take one before it is used; whoever starts
/// a server on it tries again with new ones.
///
/// # Errors
/// When the system gives none.
pub(crate) fn free<const N: usize>() -> Result<[u16; N]> {
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        // All are held until the last is found, so that they differ.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
        *port = listener.local_addr().context("cannot read a port")?.port();
        held.push(listener);
    }
    Ok(ports)
}

/// Whether somebody answers there.
pub(crate) fn answers(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ() {
        let [a, b, c] = free::<3>().unwrap();
        assert!(a != b && b != c && a != c && a != 0);
    }

    #[test]
    fn a_listener_answers() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(answers(listener.local_addr().unwrap().port()));
    }
}
