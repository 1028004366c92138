//! What has digits: dates, pages, volumes and numbers.

pub(crate) mod access;
pub(crate) mod date;
pub(crate) mod pages;
pub(crate) mod volume;
