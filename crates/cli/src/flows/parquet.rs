//! Flows as a Parquet file: the columns of flows.csv.

use std::fs::File;
use std::io;
use std::sync::Arc;

use anyhow::{Context, Result};
use bethe_flows::data::Cells;
use bethe_flows::output::Move;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The columns; standard errors only if they are known.
fn schema(has_errors: bool) -> String {
    let error = if has_errors { "required double standard_error;" } else { "" };
    format!(
        "message flows {{
            required binary time (UTF8);
            required binary from (UTF8);
            required binary to (UTF8);
            required double count;
            {error}
        }}"
    )
}

/// Rows per row group.
const ROWS: usize = 1 << 18;

/// A file being written.
pub struct Columns {
    writer: SerializedFileWriter<File>,
    /// Time, from, to.
    names: [Vec<ByteArray>; 3],
    counts: Vec<f64>,
    /// One for each count, if they are known.
    errors: Option<Vec<f64>>,
}

impl Columns {
    pub fn new(file: File, has_errors: bool) -> Result<Self> {
        let schema = parse_message_type(&schema(has_errors)).context("the schema is a constant")?;
        let schema = Arc::new(schema);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let errors = has_errors.then(Vec::new);
        Ok(Self { writer, names: Default::default(), counts: Vec::new(), errors })
    }

    /// Adds the moves of one step; `errors` has one for each if they are known.
    pub fn write(
        &mut self,
        cells: &Cells,
        time: &str,
        moves: &[Move],
        errors: &[f64],
    ) -> io::Result<()> {
        let time = ByteArray::from(time);
        for own in moves {
            self.names[0].push(time.clone());
            self.names[1].push(cells.name(own.from).into());
            self.names[2].push(cells.name(own.to).into());
            self.counts.push(own.count);
        }
        if let Some(own) = &mut self.errors {
            own.extend_from_slice(errors);
        }
        if self.counts.len() >= ROWS { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group()?;
        for names in &mut self.names {
            write_column::<ByteArrayType>(&mut group, names)?;
        }
        write_column::<DoubleType>(&mut group, &mut self.counts)?;
        if let Some(errors) = &mut self.errors {
            write_column::<DoubleType>(&mut group, errors)?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the remaining rows and the end of the file.
    pub fn finish(mut self) -> Result<()> {
        if !self.counts.is_empty() {
            self.write_group()?;
        }
        self.writer.close()?;
        Ok(())
    }
}

fn write_column<T: DataType>(
    group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, File>,
    values: &mut Vec<T::T>,
) -> io::Result<()> {
    let mut column = group.next_column()?.expect("a column of the schema");
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()?;
    values.clear();
    Ok(())
}
