/** Every leaf command's common option. */
export interface OutputOptions {
  readonly json?: boolean
}

/** Prints one JSON value with `--json`, else the text for a person; on stdout unless that is used for something else. */
export function print(
  options: OutputOptions,
  value: unknown,
  text: string,
  to: Pick<NodeJS.WriteStream, 'write'> = process.stdout,
): void {
  to.write(
    options.json
      ? `${JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))}\n`
      : `${text}\n`,
  )
}

/** A plain table with aligned columns; `none` when there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return [line(head), ...rows.map(line)].map((text) => text.trimEnd()).join('\n')
}
