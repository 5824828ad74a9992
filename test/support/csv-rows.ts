/** The rows of a CSV file (RFC 4180) by the names of its columns, read as an importer reads them, with or without a byte order mark; formulas are no exception. */
export function readCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const [heading = [], ...rows] = cellsOf(text.replace(/^\uFEFF/, ''))
  return rows.map((row) => Object.fromEntries(heading.map((name, index) => [name, row[index] ?? ''])))
}

function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (end === '' && quoted === undefined && plain === '' && row.length === 0) break
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end !== ',') {
      rows.push(row)
      row = []
    }
  }
  return rows
}
