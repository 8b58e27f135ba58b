use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;

/// Writes a text to standard output as it is.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Stdout)
}

/// Makes a folder, with those above it, unless it is there.
pub(crate) fn make_folder(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|cause| unwritable(path, cause))
}

/// Writes a file, in place of one that may be there.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|cause| unwritable(path, cause))
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    if path.is_dir() {
        let path = path.to_owned();
        return Err(Error::Directory { path });
    }
    std::fs::read(path).map_err(|cause| {
        let path = path.to_owned();
        Error::Read { path, cause }
    })
}

fn unwritable(path: &Path, cause: io::Error) -> Error {
    let path = path.to_owned();
    Error::Write { path, cause }
}
