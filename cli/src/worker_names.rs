use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A name for each file: its stem, the path as given where stems repeat, numbered where paths do.
pub(crate) fn of_files(paths: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let once = |stem: &String| stems.iter().filter(|&other| other == stem).count() == 1;
    let names = paths.iter().zip(&stems).map(|(path, stem)| {
        if once(stem) {
            stem.clone()
        } else {
            plain(&path.to_string_lossy())
        }
    });
    numbered(names.collect())
}

/// The names with `#2`, `#3`, .. behind those that were there before.
pub(crate) fn numbered(names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::new();
    let unused = |name: String| {
        let mut candidate = name.clone();
        let mut number = 2;
        while !taken.insert(candidate.clone()) {
            candidate = format!("{name}#{number}");
            number += 1;
        }
        candidate
    };
    names.into_iter().map(unused).collect()
}

/// Text from a file that is safe to show on a terminal.
pub(crate) fn plain(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            shown.push('…');
            break;
        }
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn stem(path: &Path) -> String {
    let packed = path.extension();
    let packed = packed.is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let path = if packed {
        &path.with_extension("")
    } else {
        path
    };
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    plain(&stem.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_files_have_the_same_name() {
        let names = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            of_files(&paths)
        };
        assert_eq!(names(&["x/a.csv", "b.csv"]), ["a", "b"]);
        assert_eq!(names(&["x/a.csv", "a.csv"]), ["x/a.csv", "a.csv"]);
        assert_eq!(names(&["x/a.csv.gz", "b.GZ", ".gz"]), ["a", "b", ".gz"]);
        assert_eq!(names(&["a.csv", "a.csv"]), ["a.csv", "a.csv#2"]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(plain("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert!(plain(&"x".repeat(1000)).chars().count() < 70);
    }
}
