import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createOpenApiDocument } from '#services/api/reference/document.ts'

const FILE = join(import.meta.dirname, '..', 'docs', 'openapi.json')

/** The text of `docs/openapi.json`. */
function openApiText(): string {
  return `${JSON.stringify(createOpenApiDocument(), null, 2)}\n`
}

function main(): void {
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(FILE), { recursive: true })
    writeFileSync(FILE, openApiText())
    process.stdout.write('docs/openapi.json written\n')
    return
  }
  let stored = ''
  try {
    stored = readFileSync(FILE, 'utf8')
  } catch {
    // A missing file counts as out of date.
  }
  if (stored === openApiText()) return
  process.stderr.write('docs/openapi.json is out of date; run `npm run gen:openapi`\n')
  process.exitCode = 1
}

main()
