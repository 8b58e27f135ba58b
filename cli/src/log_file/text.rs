use super::Fault;

/// A whole file.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// Without the byte order mark.
    text: &'a str,
    delimiter: u8,
}

impl<'a> Text<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, Fault> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|cause| {
            let before = &bytes[..cause.valid_up_to()];
            Fault::NotUtf8 {
                line: breaks(before) + 1,
                wide: bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]),
            }
        })?;
        let header = text.trim_start().split(['\n', '\r']).next().unwrap_or("");
        let there = |delimiter: &&u8| header.as_bytes().contains(delimiter);
        let delimiter = [b',', b';', b'\t'].iter().find(there).copied();
        Ok(Self {
            text,
            delimiter: delimiter.unwrap_or(b','),
        })
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// What separates the cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }
}

/// Line ends: of Unix, of Windows and, alone, the carriage return.
pub(super) fn breaks(bytes: &[u8]) -> usize {
    let feeds = bytes.iter().filter(|&&b| b == b'\n').count();
    let returns = bytes.iter().filter(|&&b| b == b'\r').count();
    let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    feeds + returns - pairs
}
