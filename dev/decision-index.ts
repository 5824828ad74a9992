import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decisionRecords } from './docs/decision-records.ts'

/**
 * Writes the index of the decision records, or with `--check` reports that it is out of date. Both report every record that does not follow the
 * template, and end with status 1 when there is anything to report. A folder may be given; the default is `docs/decisions`.
 */
function main(): void {
  const [named] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const folder = named ?? join(import.meta.dirname, '..', 'docs/decisions')
  const path = join(folder, 'README.md')
  const { index, faults } = decisionRecords(folder)
  if (!process.argv.includes('--check')) writeFileSync(path, index)
  const stored = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const stale = stored === index ? [] : [`${path} is out of date; run \`npm run gen:decisions\``]
  for (const fault of [...faults, ...stale]) process.stderr.write(`${fault}\n`)
  process.exitCode = faults.length + stale.length === 0 ? 0 : 1
}

main()
