import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'docs', 'openapi.json')
const TARGET = join(ROOT, 'clients', 'typescript', 'src', 'openapi.generated.ts')
const HEAD = '// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.\n'

/** Stands for the values that a later server may add, where the generator has no type for "any other text". */
const OTHER = 'any other text'

/** The document with its open enumerations as enumerations of today's values and `OTHER`, for which alone the generator writes unions. */
function typedDocument(): object {
  return JSON.parse(readFileSync(SOURCE, 'utf8'), (_, value) => {
    const known: readonly string[] | undefined = value?.['x-extensible-enum']
    if (known === undefined) return value
    const { 'x-extensible-enum': __, pattern: ___, maxLength: ____, ...rest } = value
    return { ...rest, enum: [...known, OTHER] }
  })
}

/** The wire types of the client, as the generator derives them from the OpenAPI document. */
async function clientTypes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-client-types-'))
  try {
    await createClient({
      input: typedDocument() as never,
      output: { path: folder, entryFile: false },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    })
    return (
      HEAD +
      readFileSync(join(folder, 'types.gen.ts'), 'utf8')
        .replace(/^\/\/ This file is auto-generated.*\n/, '')
        .replaceAll(`'${OTHER}'`, '(string & {})')
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
