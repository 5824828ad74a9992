import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'docs', 'openapi.json')
const TARGET = join(ROOT, 'clients', 'typescript', 'src', 'openapi.generated.ts')
const HEAD = '// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.\n'

/** The wire types of the client, as the generator derives them from the OpenAPI document. */
async function clientTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-client-types-'))
  try {
    await createClient({
      input: SOURCE,
      output: { path: folder, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    })
    return (
      HEAD + readFileSync(join(folder, 'types.gen.ts'), 'utf8').replace(/^\/\/ This file is auto-generated.*\n/, '')
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const text = await clientTypes()
  if (!process.argv.includes('--check')) {
    writeFileSync(TARGET, text)
    process.stdout.write('clients/typescript/src/openapi.generated.ts written\n')
    return
  }
  let stored = ''
  try {
    stored = readFileSync(TARGET, 'utf8')
  } catch {
    // A missing file counts as out of date.
  }
  if (stored === text) return
  process.stderr.write('the types of clients/typescript are out of date; run `npm run gen:client`\n')
  process.exitCode = 1
}

await main()
