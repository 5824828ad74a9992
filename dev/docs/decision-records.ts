import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Sections of a decision record, in their order. */
const SECTIONS = ['Context', 'Decision', 'Alternatives', 'Consequences', 'Evidence'] as const

/** Files of the folder that are not records. */
const OTHER_FILES: readonly string[] = ['README.md', 'TEMPLATE.md']

const LINES_MAX = 300
const FILE_NAME = /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/
const TITLE = /^# (\d{4})\. (\S.*)$/
const LINK = /\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)(?: \([^()]+\))?/.source
const STATUS = new RegExp(`^(?:proposed|accepted|(?:amended|superseded) by ${LINK}(?:, ${LINK})*)$`)
/** How a record names the ones it changes; the status of those names this one. */
const CHANGES = /This (?:amends|supersedes) ((?:\[\d{4}\]\([a-z0-9.-]+\)(?:, and |, | and )?)+)/g
/** References to documents outside the repository: numbered guarantees (`S4`, `F12`, `L2`) and paragraphs (`§9`). */
const FOREIGN_CODE = /§|\b[SFL]\d{1,2}\b|\bCORRECTNESS\b/

interface DecisionRecord {
  readonly file: string
  readonly number: string
  readonly title: string
  readonly status: string
  readonly date: string
  /** Numbers of the records that this one amends or supersedes. */
  readonly changes: readonly string[]
  /** Every deviation from `docs/decisions/TEMPLATE.md`, each with the file's name; empty without any. */
  readonly faults: readonly string[]
}

const field = (lines: readonly string[], name: string) =>
  lines.find((line) => line.startsWith(`* ${name}: `))?.slice(name.length + 4) ?? ''

function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function sectionFaults(lines: readonly string[]): readonly string[] {
  const headings = lines.flatMap((line, index) => (line.startsWith('## ') ? [{ name: line.slice(3), index }] : []))
  const names = headings.map(({ name }) => name)
  const missing = SECTIONS.filter((section) => !names.includes(section)).map((section) => `lacks "## ${section}"`)
  if (missing.length > 0) return missing
  if (names.join('\n') !== SECTIONS.join('\n')) return [`its sections are not exactly ${SECTIONS.join(', ')}`]
  return headings.flatMap(({ name, index }, place) => {
    const body = lines.slice(index + 1, headings[place + 1]?.index)
    return body.some((line) => line.trim() !== '') ? [] : [`"## ${name}" is empty`]
  })
}

function linkFaults(text: string, exists: (path: string) => boolean): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^()#\s]+)(?:#[^()]*)?\)/g)].map(([, target = '']) => target)
  const local = targets.filter((target) => !/^[a-z]+:/.test(target))
  return local.filter((target) => !exists(target)).map((target) => `links to ${target}, which does not exist`)
}

/** Reads one record. `exists` resolves a link relative to the folder of the records. */
function readDecision(file: string, text: string, exists: (path: string) => boolean): DecisionRecord {
  const lines = text.trimEnd().split('\n')
  const [, number = ''] = FILE_NAME.exec(file) ?? []
  const [, titleNumber = '', title = ''] = TITLE.exec(lines[0] ?? '') ?? []
  const status = field(lines, 'Status')
  const date = field(lines, 'Date')
  const code = FOREIGN_CODE.exec(text)
  const faults = [
    ...(number === '' ? ['its name is not NNNN-kebab-title.md'] : []),
    ...(title === '' ? ['its first line is not "# NNNN. Title"'] : []),
    ...(title !== '' && titleNumber !== number ? [`its title has the number ${titleNumber}`] : []),
    ...(STATUS.test(status) ? [] : [`its status "${status}" is none of proposed, accepted, amended by, superseded by`]),
    ...(isDay(date) ? [] : [`its date "${date}" is not YYYY-MM-DD`]),
    ...(lines.length > LINES_MAX ? [`has ${lines.length} lines; the maximum is ${LINES_MAX}`] : []),
    ...(code === null ? [] : [`uses "${code[0]}", which is not defined in this repository`]),
    ...sectionFaults(lines),
    ...linkFaults(text, exists),
  ]
  const flat = text.replace(/\s+/g, ' ')
  const changes = [...flat.matchAll(CHANGES)].flatMap(([, list = '']) => numbersIn(list))
  return { file, number, title, status, date, changes, faults: faults.map((fault) => `${file}: ${fault}`) }
}

/** The records that a text links to, by number. */
const numbersIn = (text: string) => [...text.matchAll(/\[(\d{4})\]/g)].map(([, number = '']) => number)

/** Changes that only one of the two records mentions. */
function oneSidedChanges(records: readonly DecisionRecord[]): readonly string[] {
  const byNumber = new Map(records.map((record) => [record.number, record]))
  return records.flatMap(({ file, number, status, changes }) => [
    ...changes.flatMap((old) => {
      const changed = byNumber.get(old)
      if (changed === undefined || numbersIn(changed.status).includes(number)) return []
      return [`${changed.file}: its status does not name ${number}, which says that it amends or supersedes it`]
    }),
    ...numbersIn(status).flatMap((later) => {
      const changing = byNumber.get(later)
      if (changing === undefined || changing.changes.includes(number)) return []
      return [`${changing.file}: does not say "This amends [${number}](${file})", as the status of that record does`]
    }),
  ])
}

/** Numbers used by more than one record. */
function repeatedNumbers(records: readonly DecisionRecord[]): readonly string[] {
  const numbers = new Set(records.map(({ number }) => number).filter((number) => number !== ''))
  return [...numbers].flatMap((number) => {
    const files = records.filter((record) => record.number === number).map(({ file }) => file)
    return files.length > 1 ? [`${number} is used by ${files.join(' and ')}`] : []
  })
}

/** The text of the index: one row for each record, by number. */
function decisionIndex(records: readonly DecisionRecord[]): string {
  const rows = [...records]
    .sort((a, b) => (a.file < b.file ? -1 : 1))
    .map(({ file, number, title, status, date }) => `| [${number}](${file}) | ${title} | ${status} | ${date} |`)
  return [
    '# Decision records',
    '',
    'Each record states one decision, its reasons and its price. New ones start from [the template](TEMPLATE.md).',
    'This index is generated by `npm run gen:decisions`; `npm run check:decisions` fails when it is stale.',
    '',
    '| number | decision | status | date |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/**
 * Reads the records of a folder. `index` is the required text of its `README.md`; `faults` names every record that does not follow the
 * template and every number that is used twice, and is empty when there are none. A folder without records is a fault.
 */
export function decisionRecords(folder: string): { readonly index: string; readonly faults: readonly string[] } {
  const files = readdirSync(folder).filter((file) => file.endsWith('.md') && !OTHER_FILES.includes(file))
  const exists = (path: string) => existsSync(join(folder, path))
  const records = files.map((file) => readDecision(file, readFileSync(join(folder, file), 'utf8'), exists))
  const none = records.length === 0 ? [`${folder} contains no record`] : []
  return {
    index: decisionIndex(records),
    faults: [
      ...records.flatMap((record) => record.faults),
      ...repeatedNumbers(records),
      ...oneSidedChanges(records),
      ...none,
    ],
  }
}
