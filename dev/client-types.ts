import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { fulfilmentMarkdown } from './client-languages/fulfilment.ts'
import { goFulfilment, goTypes } from './client-languages/go.ts'
import { phpFulfilment, phpTypes } from './client-languages/php.ts'
import { postmanCollection } from './client-languages/postman.ts'
import { pythonFulfilment, pythonTypes } from './client-languages/python.ts'
import { objectsOf } from './client-languages/schema.ts'
import { typescriptFulfilment } from './client-languages/typescript.ts'
import { writeGenerated } from './write-generated.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'docs', 'openapi.json')
const HEAD = '// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.\n'

/** Stands for the values that a later server may add, where the generator has no type for "any other text". */
const OTHER = 'any other text'

/**
 * The document with its open enumerations as enumerations of today's values and `OTHER`, for which alone the generator writes unions, without
 * the fields of later servers, which would make every misspelled one of today a field, and with the type of what is always null.
 */
function typedDocument(): object {
  return JSON.parse(readFileSync(SOURCE, 'utf8'), (key, value) => {
    if (key === 'additionalProperties' && value === true) return undefined
    if (key === 'properties') return typedNulls(value)
    const known: readonly string[] | undefined = value?.['x-extensible-enum']
    if (known === undefined) return value
    const { 'x-extensible-enum': __, pattern: ___, maxLength: ____, ...rest } = value
    return { ...rest, enum: [...known, OTHER] }
  })
}

/** The document leaves out the type of what is always null (`nullsWithoutType`). */
function typedNulls(properties: Record<string, Record<string, unknown>>): object {
  const isNull = ({ examples = [], type, $ref, anyOf }: Record<string, unknown>): boolean =>
    (examples as readonly unknown[])[0] === null && [type, $ref, anyOf].every((one) => one === undefined)
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isNull(schema) ? { ...schema, type: 'null' } : schema]),
  )
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

/** Every generated file of the clients, by its path. */
async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const { components, paths } = JSON.parse(readFileSync(SOURCE, 'utf8'))
  const objects = objectsOf(components.schemas)
  const files = new Map([
    ['clients/typescript/src/openapi.generated.ts', await clientTypes()],
    ['clients/typescript/src/fulfilment.generated.ts', typescriptFulfilment()],
    ['clients/python/paymesh/_types.py', pythonTypes(objects)],
    ['clients/python/paymesh/_table.py', pythonFulfilment()],
    ['clients/go/types_generated.go', goTypes(objects)],
    ['clients/go/table_generated.go', goFulfilment()],
    ['clients/php/src/resources.php', phpTypes(objects)],
    ['clients/php/src/FulfilmentTable.php', phpFulfilment()],
    ['docs/postman.json', postmanCollection(paths)],
  ])
  for (const path of TABLE_DOCUMENTS) files.set(path, withTable(path))
  return files
}

/** Documents that show the table of fulfilment, between these two lines. */
const TABLE_DOCUMENTS = ['docs/guide/merchant.md', 'clients/README.md']
const TABLE_BEGIN = '<!-- fulfilment -->\n'
const TABLE_END = '<!-- end -->'

function withTable(path: string): string {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const begin = text.indexOf(TABLE_BEGIN) + TABLE_BEGIN.length
  const end = text.indexOf(TABLE_END, begin)
  if (begin < TABLE_BEGIN.length || end === -1) throw new Error(`${path} has no place for the table of fulfilment`)
  return `${text.slice(0, begin)}${fulfilmentMarkdown()}\n${text.slice(end)}`
}

writeGenerated(await generatedFiles(), 'gen:client')
