import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assetPages } from './docs/asset-pages.ts'
import { cliReference } from './docs/cli-reference.ts'
import { errorReference } from './docs/error-reference.ts'
import { scarceTable } from './docs/scarce-table.ts'

const DOCS = join(import.meta.dirname, '..', 'docs')

function stored(path: string): string | null {
  try {
    return readFileSync(join(DOCS, path), 'utf8')
  } catch {
    // A missing file differs like any other drift.
    return null
  }
}

/** Writes the pages that are made from the code's own tables, or with `--check` says which are out of date. */
function main(): void {
  const pages = new Map([
    ...assetPages(),
    ['cli.md', cliReference()],
    ['errors.md', errorReference()],
    ['security/scarce.md', scarceTable()],
  ])
  const stale = [...pages].filter(([path, text]) => stored(path) !== text)
  if (process.argv.includes('--check')) {
    for (const [path] of stale) process.stderr.write(`docs/${path} is out of date; run \`npm run gen:docs\`\n`)
    process.exitCode = stale.length === 0 ? 0 : 1
    return
  }
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(DOCS, path)), { recursive: true })
    writeFileSync(join(DOCS, path), text)
  }
  process.stdout.write(`docs: ${pages.size} pages, ${stale.length} written\n`)
}

main()
