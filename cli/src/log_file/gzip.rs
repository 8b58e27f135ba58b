use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use super::Fault;

/// The first bytes of every gzip file, and of no text in UTF-8.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The content of a file, be it packed by gzip, in one member or several, or not.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut content = Vec::new();
    match MultiGzDecoder::new(bytes).read_to_end(&mut content) {
        Ok(_) => Ok(Cow::Owned(content)),
        Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Err(Fault::CutOff),
        Err(_) => Err(Fault::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn all_members_are_unpacked() {
        let file = [packed(b"t,speed\n"), packed(b""), packed(b"0,1\n")].concat();
        assert_eq!(&*unpacked(&file).unwrap(), b"t,speed\n0,1\n");
        assert_eq!(&*unpacked(b"t,speed\n").unwrap(), b"t,speed\n");
        assert_eq!(&*unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn a_file_that_was_cut_off_is_not_taken_for_a_shorter_one() {
        let first = packed(b"t,speed\n0,1\n");
        let file = [&first[..], &packed(b"1,2\n2,3\n")].concat();
        for length in MAGIC.len()..file.len() {
            // Whoever looks at a whole member cannot know that another one followed.
            if length != first.len() {
                assert_eq!(unpacked(&file[..length]), Err(Fault::CutOff), "{length}");
            }
        }
    }

    #[test]
    fn damage_is_found_by_the_checksum() {
        let mut file = packed(b"t,speed\n0,1\n");
        let checksum = file.len() - 8;
        file[checksum] ^= 1;
        assert_eq!(unpacked(&file), Err(Fault::Damaged));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_unpacked_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = unpacked(&[&MAGIC[..], &bytes].concat());
            let _ = unpacked(&[&MAGIC[..], &[8, 0], &bytes].concat());
        }
    }
}
