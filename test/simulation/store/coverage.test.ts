import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import mongoose from 'mongoose'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { EXPRESSION_OPERATORS, VARIABLES } from './expression.ts'
import { FILTER_OPERATORS } from './filter.ts'
import { createMemoryStore } from './memory-store.ts'
import { ACCUMULATORS, AGGREGATE_STAGES } from './reads.ts'
import { openSimulatedDatabase } from './simulated-database.ts'
import { UPDATE_OPERATOR_NAMES, UPDATE_STAGES } from './update.ts'

const FOLDER = new URL('../../../shared/db/', import.meta.url)
/** Repositories of people, of the operators' pages and of tools: nothing in the simulated world opens them. */
const OUTSIDE = [
  'archive-contents.ts',
  'backup-source.ts',
  'change-collector.ts',
  'change-feed.ts',
  'collection-ranges.ts',
  'book-reads.ts',
  'count-slot.ts',
  'ended-idempotency.ts',
  'estimate-backup.ts',
  'event-stream.ts',
  'interleave.ts',
  'login-attempts.ts',
  'moved-stages.ts',
  'old-attempts.ts',
  'overview-reads.ts',
  'read-at.ts',
  'restore-archive.ts',
  'retention-repository.ts',
  'rollups.ts',
  'sealed-secret-repository.ts',
  'touched-slots.ts',
  'user-repository.ts',
]
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  // Migrations run before the processes of the simulated world start.
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('migrations/'))
  // What it makes is what the simulated database stands for.
  .filter((path) => basename(path) !== 'connect.ts' && !OUTSIDE.includes(basename(path)))
  .map((path) => ({ file: basename(path), text: withoutComments(readFileSync(new URL(path, FOLDER), 'utf8')) }))

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

/** `$name:` of an object, `x['$name']` of an access. Field paths are strings. */
const OPERATOR = /(?<![\w'$])(\$[a-z]\w*)\s*:|(?<=[\w\])])\['(\$[a-z]\w*)'\]/gi
const VARIABLE = /'\$\$([A-Z]\w*)/g

const OPERATORS = new Set([
  ...[...FILTER_OPERATORS, ...EXPRESSION_OPERATORS, ...UPDATE_OPERATOR_NAMES],
  ...[...UPDATE_STAGES, ...AGGREGATE_STAGES, ...ACCUMULATORS],
  // The simulated store checks by the fields that it follows from.
  '$jsonSchema',
])

function unknownOperators(text: string): string[] {
  return [...text.matchAll(OPERATOR)].map((found) => found[1] ?? found[2] ?? '').filter((name) => !OPERATORS.has(name))
}

const { Collection, FindCursor, AggregationCursor, ClientSession, Db, MongoClient } = mongoose.mongo
const driver = [Collection, FindCursor, AggregationCursor, ClientSession, Db, MongoClient].flatMap(membersOf)
const everyday = new Set([
  ...[Array, Map, Set, Promise, String, Object].flatMap(membersOf),
  ...[Math, Object, Array].flatMap((one) => Object.getOwnPropertyNames(one)),
])

function membersOf({ prototype }: { readonly prototype: object | null }): string[] {
  const parent: unknown = Object.getPrototypeOf(prototype)
  const own = Object.getOwnPropertyNames(prototype)
  return typeof parent === 'object' && parent !== null && parent !== Object.prototype
    ? [...own, ...membersOf({ prototype: parent })]
    : own
}

function implemented(): ReadonlySet<string> {
  const db = openSimulatedDatabase(createMemoryStore({ now: () => 0 }), async (_operation, run) => run())
  const client = db.connection.getClient()
  const collection = db.collection({ name: 'invoices', schema: z.object({}), indexes: [] })
  const parts = [
    db.connection,
    client,
    client.db(),
    client.startSession(),
    collection,
    collection.find(),
    collection.aggregate([]),
  ]
  return new Set([db, ...parts].flatMap((part) => Object.keys(part)))
}

function unknownMethods(text: string): string[] {
  const known = implemented()
  const suspects = new Set(driver.filter((name) => !everyday.has(name) && !known.has(name)))
  return [...text.matchAll(/\.(\w+)(?:<[^>()]*>)?\(/g)]
    .map((found) => found[1] ?? '')
    .filter((name) => suspects.has(name))
}

// Guarantee: what the repositories ask of MongoDB, the simulation answers; it does not quietly test something else.
it('the repositories use no operator that the simulated store lacks', () => {
  expect(sources.length).toBeGreaterThan(40)
  expect(sources.flatMap(({ file, text }) => unknownOperators(text).map((name) => `${file}: ${name}`))).toEqual([])
})

it('the simulated world opens none of the repositories that are left out here', () => {
  const world = new URL('../', import.meta.url)
  const texts = readdirSync(world, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(new URL(file, world), 'utf8'))
  expect(texts.length).toBeGreaterThan(20)
  const opens = (text: string, file: string) => new RegExp(`#shared/db/(?:[a-z-]+/)?${file}'`).test(text)
  expect(opens("import '#shared/db/invoices/change-feed.ts'", 'change-feed.ts')).toBe(true)
  expect(OUTSIDE.filter((file) => texts.some((text) => opens(text, file)))).toEqual([])
})

it('the repositories use no variable that the simulated store lacks', () => {
  const used = sources.flatMap(({ text }) => [...text.matchAll(VARIABLE)].map((found) => found[1] ?? ''))
  expect(used).toContain('NOW')
  expect(used.filter((name) => !VARIABLES.includes(name))).toEqual([])
})

it('the repositories use no method of the driver that the simulated store lacks', () => {
  // Asked for only where a collection or an index is missing, which the simulated installation never lacks.
  const migration = new Set(['createCollection', 'estimatedDocumentCount'])
  const found = sources.flatMap(({ file, text }) => unknownMethods(text).map((name) => `${file}: ${name}`))
  expect(found.filter((use) => !migration.has(use.replace(/^(migrate|create-collection)\.ts: /, '')))).toEqual([])
})

it('sees what it looks for', () => {
  expect(unknownOperators("{ $set: { a: { $map: 1 } }, filter['$near'], x: '$path' : '$other' }")).toEqual([
    '$map',
    '$near',
  ])
  expect(
    unknownMethods('rows.replaceOne(a); rows.find().tryNext(); list.map(x); rows.findOne<Row>(a); db.watch()'),
  ).toEqual(['replaceOne', 'tryNext', 'watch'])
})

it('names what it was not taught', async () => {
  const db = openSimulatedDatabase(createMemoryStore({ now: () => 0 }), async (_operation, run) => run())
  const rows = db.collection({ name: 'invoices', schema: z.object({}), indexes: [] })
  expect(() => rows.watch()).toThrow('knows no Collection.watch')
  expect(() => rows.find().comment('why')).toThrow('knows no FindCursor.comment')
  await expect(rows.findOne({ a: { $mod: [2, 0] } })).rejects.toThrow('knows no filter operator $mod')
  await expect(rows.findOne({ $expr: { $ln: 1 } })).resolves.toBeNull()
  await rows.insertOne({ _id: '1' as never })
  await expect(rows.findOne({ $expr: { $ln: 1 } })).rejects.toThrow('knows no expression operator $ln')
  await expect(rows.updateOne({}, { $rename: { a: 'b' } })).rejects.toThrow('knows no update operator $rename')
  expect(() => rows.find({}, { skip: 1 })).toThrow('knows no option skip of find')
})
