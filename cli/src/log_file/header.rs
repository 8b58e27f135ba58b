use std::collections::HashMap;

use csv::StringRecord;

use super::Fault;
use crate::worker_names::plain;

/// The names of the columns of one file.
#[derive(Debug)]
pub(crate) struct Header {
    line: usize,
    names: Vec<String>,
    /// Where each name is first.
    places: HashMap<String, usize>,
}

impl Header {
    pub(super) fn new(record: &StringRecord, line: usize) -> Self {
        let names: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        let mut places = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name.clone()).or_insert(place);
        }
        Self {
            line,
            names,
            places,
        }
    }

    /// The line that it is in.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a column, for a message.
    pub(crate) fn shown(&self, column: usize) -> String {
        plain(&self.names[column])
    }

    /// The place of a column, if it is there.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The place of a column that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<usize, Fault> {
        self.place(name).ok_or_else(|| self.missing(name))
    }

    /// Refuses a name that several columns have, if the first of them matters.
    pub(crate) fn check_doubled(&self, matters: impl Fn(usize) -> bool) -> Result<(), Fault> {
        for (index, name) in self.names.iter().enumerate() {
            let first = self.places[name];
            if first != index && !name.is_empty() && matters(first) {
                let (line, name) = (self.line, plain(name));
                return Err(Fault::DuplicateColumn { line, name });
            }
        }
        Ok(())
    }

    fn missing(&self, name: &str) -> Fault {
        const MOST_SHOWN: usize = 30;
        let quoted = |name: &String| format!("`{}`", plain(name));
        let shown: Vec<String> = self.names.iter().take(MOST_SHOWN).map(quoted).collect();
        let more = if self.names.len() > MOST_SHOWN {
            ", .."
        } else {
            ""
        };
        // A single column is another name for a wrong separator.
        let single = self.names.len() == 1;
        Fault::MissingColumn {
            line: self.line,
            name: plain(name),
            near: if single { Vec::new() } else { self.near(name) },
            there: format!("{}{more}", shown.join(", ")),
            hint: if single {
                "; columns are separated by commas, semicolons or tabs"
            } else {
                ""
            },
        }
    }

    /// Names that one may have meant by another one, the closest first.
    fn near(&self, name: &str) -> Vec<String> {
        const NEAR: f64 = 0.8;
        const MOST: usize = 3;
        let asked = name.to_lowercase();
        let likeness = |other: &str| strsim::jaro_winkler(&asked, &other.to_lowercase());
        let unlike = self.places.keys().map(|other| (likeness(other), other));
        let mut near: Vec<(f64, &String)> = unlike.filter(|&(like, _)| like >= NEAR).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let near = near.into_iter().take(MOST);
        near.map(|(_, other)| plain(other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Header {
        Header::new(&StringRecord::from(names.to_vec()), 1)
    }

    fn near(name: &str, names: &[&str]) -> Vec<String> {
        header(names).near(name)
    }

    #[test]
    fn names_that_were_mistyped_or_shortened_are_found() {
        let names = ["t", "speed", "cpu_util", "mem_free", "queue"];
        assert_eq!(near("sped", &names), ["speed"]);
        assert_eq!(near("Speed", &names), ["speed"]);
        assert_eq!(near("seped", &names), ["speed"]);
        assert_eq!(near("cpu", &names), ["cpu_util"]);
        assert_eq!(near("mem", &names), ["mem_free"]);
        assert!(near("disk", &names).is_empty());
        assert!(near("", &names).is_empty());
    }

    #[test]
    fn the_closest_names_come_first() {
        let names = ["cpu3", "cpu2", "cpu11", "cpu", "cpu0"];
        assert_eq!(near("CPU", &names), ["cpu", "cpu0", "cpu2"]);
    }

    #[test]
    fn a_message_names_them_before_all_columns() {
        let fault = header(&["speed1", "t", "speed2"]).needed("speed");
        assert_eq!(
            fault.unwrap_err().to_string(),
            "line 1: there is no column `speed`; did you mean `speed1` or `speed2`? \
             the columns are `speed1`, `t`, `speed2`"
        );
        let fault = header(&["speed|t"]).needed("speed").unwrap_err();
        assert!(!fault.to_string().contains("did you mean"), "{fault}");
    }

    #[test]
    fn a_doubled_name_matters_where_it_is_used() {
        let header = header(&["a", "b", "b", "", ""]);
        assert!(header.check_doubled(|column| column == 0).is_ok());
        let name = "b".to_owned();
        let fault = Fault::DuplicateColumn { line: 1, name };
        assert_eq!(header.check_doubled(|column| column == 1), Err(fault));
    }
}
