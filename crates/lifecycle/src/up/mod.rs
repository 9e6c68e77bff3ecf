//! `up`: from a cluster file to a cluster that is proven healthy.

mod addon_stage;
mod api;
mod cards;
mod config;
mod etcd;
mod etcd_sight;
mod etcd_wait;
mod given;
mod health_check;
mod identity;
mod image;
mod install_disk;
mod machines;
mod network;
mod nodes;
mod outlook;
mod preflight;
mod probe_pods;
mod probing;
mod proof;
mod ready;
mod registry;
mod seal_probe;
mod secrets;
mod storage_probe;
mod table;
mod work;

pub use outlook::{Change, Fate, Outlook, outlook};
pub use preflight::monthly_cents;
pub use table::{Circumstances, TABLE, plan};
pub use work::Up;
