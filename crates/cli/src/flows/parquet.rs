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

const SCHEMA: &str = "message flows {
    required binary time (UTF8);
    required binary from (UTF8);
    required binary to (UTF8);
    required double count;
}";

/// Rows per row group.
const ROWS: usize = 1 << 18;

/// A file being written.
pub struct Columns {
    writer: SerializedFileWriter<File>,
    /// Time, from, to.
    names: [Vec<ByteArray>; 3],
    counts: Vec<f64>,
}

impl Columns {
    pub fn new(file: File) -> Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA).context("the schema is a constant")?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        Ok(Self { writer, names: Default::default(), counts: Vec::new() })
    }

    /// Adds the moves of one step.
    pub fn write(&mut self, cells: &Cells, time: &str, moves: &[Move]) -> io::Result<()> {
        let time = ByteArray::from(time);
        for own in moves {
            self.names[0].push(time.clone());
            self.names[1].push(cells.name(own.from).into());
            self.names[2].push(cells.name(own.to).into());
            self.counts.push(own.count);
        }
        if self.counts.len() >= ROWS { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group()?;
        for names in &mut self.names {
            write_column::<ByteArrayType>(&mut group, names)?;
        }
        write_column::<DoubleType>(&mut group, &mut self.counts)?;
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
    let mut column = group.next_column()?.expect("four columns");
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()?;
    values.clear();
    Ok(())
}
