//! `bethe serve` as browsers, reference managers and programs use it.

#![cfg(all(unix, feature = "serve"))]

#[path = "../common/abused.rs"]
mod abused;
#[path = "../common/mod.rs"]
mod common;

mod abuse;
mod client;
mod grobid;
mod limits;
mod service;
mod strangers;
