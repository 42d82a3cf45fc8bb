//! Columns that align themselves, as Go's `text/tabwriter` does it.
//!
//! A cell ends at a tab; what follows a line's last tab is no cell. Cells of the same column on neighbouring lines form
//! a block and become as wide as the widest of them.

/// Aligns a text: every cell is as wide as the widest of its block plus `padding`, and at least `minimum`.
pub fn align(text: &str, minimum: usize, padding: usize) -> String {
    align_with(text, minimum, padding, &mut Vec::new())
}

/// Aligns a text whose columns remember how wide they once were; `widths` grows.
pub fn align_with(text: &str, minimum: usize, padding: usize, widths: &mut Vec<usize>) -> String {
    let lines: Vec<Vec<&str>> = text.split('\n').map(|line| line.split('\t').collect()).collect();
    let mut cell_widths: Vec<Vec<usize>> = lines.iter().map(|line| vec![0; line.len() - 1]).collect();
    let columns = cell_widths.iter().map(Vec::len).max().unwrap_or(0);
    for column in 0..columns {
        let mut line = 0;
        while line < lines.len() {
            let end = (line..lines.len()).find(|&at| cell_widths[at].len() <= column).unwrap_or(lines.len());
            let widest = lines[line..end].iter().map(|cells| cells[column].chars().count()).max();
            if let Some(widest) = widest {
                let remembered = widths.get(column).copied().unwrap_or(0);
                let width = (widest + padding).max(minimum).max(remembered);
                cell_widths[line..end].iter_mut().for_each(|cells| cells[column] = width);
            }
            line = end + 1;
        }
    }
    for cells in &cell_widths {
        for (column, width) in cells.iter().enumerate() {
            match widths.get_mut(column) {
                Some(remembered) => *remembered = *width.max(remembered),
                None => widths.push(*width),
            }
        }
    }
    let mut out = String::with_capacity(text.len() * 2);
    for (index, (cells, cell_widths)) in lines.iter().zip(&cell_widths).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for (cell, width) in cells.iter().zip(cell_widths) {
            out.push_str(cell);
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
        out.push_str(cells.last().copied().unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_cells_align_on_their_own() {
        for (about, text, aligned) in [
            ("a table", "NAME\tAGE\nlong-name\t5s\n", "NAME       AGE\nlong-name  5s\n"),
            (
                "a line without cells ends a block",
                "a:\t1\nIPs:\n  bbbb:\t2\nc:\t3\n",
                "a:  1\nIPs:\n  bbbb:  2\nc:       3\n",
            ),
            ("a text without tabs", "one\ntwo", "one\ntwo"),
            ("an empty last cell", "A\tB\tC\na\tb\t\n", "A  B  C\na  b  \n"),
        ] {
            assert_eq!(align(text, 0, 2), aligned, "{about}");
        }
    }
}
