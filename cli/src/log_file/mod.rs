//! The one place where log files are read as text: tables of a header and rows, also packed.
//! What the columns mean is up to the readers built on it.

mod fault;
mod gzip;
mod header;
mod records;
mod text;

pub(crate) use fault::Fault;
pub(crate) use gzip::unpacked;
pub(crate) use header::Header;
pub(crate) use records::{Records, Row};
pub(crate) use text::Text;
