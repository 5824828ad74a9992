import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MODELS } from '#shared/db/schema/models.ts'

const page = readFileSync('docs/scaling.md', 'utf8')
/** `| `collection` | `{ field: 1, … }` | …`: what the page says may be sharded, and by which key. */
const ROWS = [...page.matchAll(/^\| `(\w+)` \| `\{ ([^}]+) \}` \|/gm)]
const DECLARED = ROWS.map(([, name = '', key = '']) => ({
  name,
  fields: key.split(',').map((part) => part.split(':')[0]?.trim()),
}))

it('declares shard keys', () => {
  expect(DECLARED.map(({ name }) => name)).toEqual(['payments', 'events', 'webhook_deliveries'])
})

// Guarantee: MongoDB shards a collection only by what each of its unique indexes begins with; `_id` alone may stay as it is.
it.each(DECLARED)('each unique index of $name begins with its shard key', ({ name, fields }) => {
  const model = MODELS.find((one) => one.name === name)
  expect(model).toBeDefined()
  const unique = (model?.indexes ?? []).filter((index) => 'unique' in index && index.unique === true)
  for (const { key } of unique) expect(Object.keys(key).slice(0, fields.length)).toEqual(fields)
})

it('says why invoices and addresses stay together', () => {
  for (const name of ['invoices', 'addresses']) {
    const unique = MODELS.find((one) => one.name === name)?.indexes.filter((index) => index.unique === true) ?? []
    const firsts = new Set(unique.map(({ key }) => Object.keys(key)[0]))
    expect(unique.length).toBeGreaterThan(1)
    expect(firsts.size).toBeGreaterThan(1)
  }
})
