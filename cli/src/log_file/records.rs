use csv::{ReaderBuilder, StringRecord};

use super::text::{Text, breaks};
use super::{Fault, Header};
use crate::worker_names::plain;

/// The records of a file: its header and then its rows, without blank lines.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
    record: StringRecord,
    /// Where the last record begins, in bytes and as a line.
    start: usize,
    line: usize,
    /// How many the first record, the header, has.
    cells: Option<usize>,
}

impl<'a> Records<'a> {
    pub(crate) fn of(text: &Text<'a>) -> Self {
        let reader = ReaderBuilder::new()
            .delimiter(text.delimiter())
            .has_headers(false)
            .flexible(true)
            .from_reader(text.bytes());
        Self {
            bytes: text.bytes(),
            reader,
            record: StringRecord::new(),
            start: 0,
            line: 1,
            cells: None,
        }
    }

    /// Reads the first record; `example` is what a header could look like.
    pub(crate) fn header(&mut self, example: &str) -> Result<Header, Fault> {
        let example = || example.to_owned();
        let Some(row) = self.read()? else {
            return Err(Fault::Empty { example: example() });
        };
        let (line, record) = (row.line, row.record);
        if record.iter().all(|cell| cell.trim().parse::<f64>().is_ok()) {
            let example = example();
            return Err(Fault::NoHeader { line, example });
        }
        Ok(Header::new(record, line))
    }

    /// Reads the next record, None at the end of the file.
    pub(crate) fn read(&mut self) -> Result<Option<Row<'_>>, Fault> {
        if !self.advance() {
            return Ok(None);
        }
        self.find_line();
        self.check_breaks()?;
        self.check_cells()?;
        Ok(Some(Row {
            line: self.line,
            record: &self.record,
        }))
    }

    /// Reads on to the next record that is not blank.
    fn advance(&mut self) -> bool {
        loop {
            let more = self.reader.read_record(&mut self.record);
            if !more.expect("UTF-8 in memory with rows of any length is always readable") {
                return false;
            }
            let mut cells = self.record.iter();
            if self.record.len() > 1 || cells.any(|cell| !cell.trim().is_empty()) {
                return true;
            }
        }
    }

    /// The reader counts line ends before a record, blank lines among them, as part of it.
    fn find_line(&mut self) {
        let is_break = |&&b: &&u8| b == b'\n' || b == b'\r';
        let start = self.record.position().map_or(0, |at| at.byte() as usize);
        let start = start.min(self.bytes.len());
        let blank = self.bytes[start..].iter().take_while(is_break).count();
        self.line += breaks(&self.bytes[self.start..start + blank]);
        self.start = start + blank;
    }

    /// Refuses a cell that has swallowed a line: rows would be lost in it.
    fn check_breaks(&self) -> Result<(), Fault> {
        const BREAKS: [char; 2] = ['\n', '\r'];
        if !self.record.as_slice().contains(BREAKS) {
            return Ok(());
        }
        let mut cells = self.record.iter();
        match cells.position(|cell| cell.trim().contains(BREAKS)) {
            Some(cell) => Err(Fault::SeveralLines {
                line: self.line,
                cell: cell + 1,
            }),
            None => Ok(()),
        }
    }

    fn check_cells(&mut self) -> Result<(), Fault> {
        let got = self.record.len();
        let expected = *self.cells.get_or_insert(got);
        if got == expected {
            return Ok(());
        }
        Err(Fault::Cells {
            line: self.line,
            expected,
            got,
        })
    }
}

/// One record, with as many cells as the header has.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) line: usize,
    record: &'a StringRecord,
}

impl<'a> Row<'a> {
    pub(crate) fn cell(&self, column: usize) -> &'a str {
        self.record[column].trim()
    }

    /// A cell that must not be empty.
    pub(crate) fn filled(&self, column: usize, header: &Header) -> Result<&'a str, Fault> {
        let cell = self.cell(column);
        if cell.is_empty() {
            let (line, column) = (self.line, header.shown(column));
            return Err(Fault::EmptyCell { line, column });
        }
        Ok(cell)
    }

    /// What is wrong with a cell that has no number.
    pub(crate) fn not_a_number(&self, column: usize, header: &Header) -> Fault {
        let cell = self.cell(column);
        Fault::NotANumber {
            line: self.line,
            column: header.shown(column),
            got: plain(cell),
            decimal_comma: cell.replacen(',', ".", 1).parse::<f64>().is_ok(),
        }
    }
}
