/**
 * Texts that spreadsheets treat as the beginning of a formula: the signs themselves, their full-width forms, which some of them fold, and
 * the same after white space or line ends, which some of them drop (OWASP, "CSV Injection").
 */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u
/** A number below zero, which is nothing but that: amounts are signed, and a reference like `-144` is found by what it is. */
const NUMBER = /^-\d+(?:\.\d+)?$/
/** A semicolon ends a cell where the spreadsheet's language writes decimals with a comma. */
const NEEDS_QUOTES = /[",;\r\n]/

/**
 * The heading of a file for people, behind a byte order mark: without it Excel reads accents, and minus signs, in the encoding of its machine. Files for programs
 * begin with `csvLine`.
 */
export const csvHeading = (columns: readonly string[]): string => `\uFEFF${csvLine(columns)}`

/**
 * One line of CSV (RFC 4180) with its line end. Cells that a spreadsheet would run as a formula are prefixed with an apostrophe, so that they
 * are shown as they are.
 */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: string | number | boolean | null): string {
  const plain = cell === null ? '' : String(cell)
  const isFormula = typeof cell === 'string' && FORMULA.test(plain) && !NUMBER.test(plain)
  const safe = isFormula ? `'${plain}` : plain
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
