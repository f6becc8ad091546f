//! PostgreSQL crashes and comes back, and loses connections, while tasks come in.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::cluster::Cluster;
use super::load::Load;
use crate::server::Site;
use crate::server::client::{Ask, pause};
use crate::server::postgres::Database;

/// Times that all connections are cut.
const CUTS: usize = 10;
/// Connections that have to be hit, for a run to count.
const HIT: usize = 20;

#[tokio::test]
async fn a_restart_of_postgres_loses_nothing() {
    let Some(mut cluster) = Cluster::start().await else { return };
    let site = Site::on(Database::on(cluster.url()));
    let server = site.start();
    let client = server.client();
    Load::prepare(&client).await;
    let load = Load::default();
    load.during(&client, async {
        load.served(5).await;
        for how in [Signal::SIGQUIT, Signal::SIGINT] {
            cluster.stop(how);
            load.turned_away(3).await;
            let (status, _) = client.send(&Ask::get("/readyz")).await;
            assert_eq!(status.as_u16(), 503, "not ready without a database");
            let (status, _) = client.send(&Ask::get("/metrics")).await;
            assert_eq!(status.as_u16(), 503, "whoever scrapes with a key sees that the server is not well");
            cluster.again().await;
            load.served(5).await;
        }
    })
    .await;
    println!("{} taken, {} refused", load.taken(), load.refused());
    load.settle(&client).await;
    drop((server, site));
}

#[tokio::test]
async fn connections_that_are_cut_lose_nothing() {
    let Some(site) = Site::postgres() else { return };
    let server = site.start();
    let client = server.client();
    Load::prepare(&client).await;
    let load = Load::default();
    let cut = load
        .during(&client, async {
            let mut cut = 0;
            for _ in 0..CUTS {
                pause(Duration::from_millis(400)).await;
                cut += site
                    .rows(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE datname = current_database() AND pid <> pg_backend_pid()",
                    )
                    .len();
            }
            cut
        })
        .await;
    println!("{} taken, {} refused, {cut} connections cut", load.taken(), load.refused());
    assert!(cut >= HIT, "only {cut} connections were cut");
    load.settle(&client).await;
}
