import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { sampleOf } from '#test/support/depth.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { mostExamined } from './declare.ts'
import { BUSY, type Facts } from './facts.ts'
import { costOf } from './measure.ts'
import { QUESTIONS } from './questions.ts'
import { seedGrowth } from './seed.ts'

/** The deep tier takes 100,000; few are enough to show most questions that read all rows. */
const SIZE = Number(process.env['GROWTH_INVOICES'] ?? (EVERY_CASE ? 6_000 : 3_000))
const SEED_TIMEOUT_MS = 1_200_000
/** What asks nothing of its own: a clock, the creation of a collection, streams of changes, all repositories together, grouped inserts and reads, parts of the payments. */
const NOT_DECLARED = [
  ...['createStoreClock', 'createCollection', 'createChangeFeed', 'createEventStream', 'createRepositories'],
  ...['createGroupedInsert', 'createGroupedFind', 'createChainMoves'],
  // A part of `createDeliveryRepository`.
  'createAttempts',
  // Changes of a restore, by id, before any process starts.
  'createTakenBackChanges',
  // Members, oplog and disk as the servers report them.
  'createStoreRedundancy',
]

const stores = useStores({ migrated: false })
let facts: Facts

beforeAll(async () => {
  const { migrate } = await import('#shared/db/schema/migrate.ts')
  await migrate(stores.db)
  facts = await seedGrowth(stores.db, SIZE)
}, SEED_TIMEOUT_MS)

// Guarantee: two years of data cost no more than two weeks. Each question examines what its answer accounts for.
describe('every question of the product', () => {
  it.each(
    sampleOf(
      QUESTIONS.map((question) => [question.name, question] as const),
      60,
    ),
  )('%s is bounded', async (_name, question) => {
    const cost = await costOf(stores.db, () => question.query(stores.db, facts))
    const most = mostExamined(question, cost.returned, facts)
    const shown = `${JSON.stringify({ ...cost, tookMs: undefined })}`
    expect(cost.plans.length, 'asked nothing').toBeGreaterThan(0)
    expect(cost.documents, `documents, of which ${most} are allowed: ${shown}`).toBeLessThanOrEqual(most)
    expect(cost.keys, `keys, of which ${most} are allowed: ${shown}`).toBeLessThanOrEqual(most)
  })
})

describe('the list of questions', () => {
  it('has every repository', () => {
    const below = (folder: string): string[] =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
        .map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
    const declared = below('test/growth/questions').join('\n')
    const made = below('shared/db').flatMap((text) =>
      [...text.matchAll(/export (?:async )?function (create\w+)\(\s*db: Database/g)].map(([, name = '']) => name),
    )
    expect(made.length).toBeGreaterThan(40)
    expect(
      made.filter(
        (name) => !NOT_DECLARED.includes(name) && !declared.includes(`${name},`) && !declared.includes(`${name}(db`),
      ),
    ).toEqual([])
  })

  it('sees a question that reads everything', async () => {
    const all = stores.db.collection(INVOICES).find({ workspaceId: BUSY, description: 'none' })
    const cost = await costOf(stores.db, () => all.toArray())
    expect(cost.documents).toBeGreaterThan(mostExamined({ atMost: null }, cost.returned, facts))
  })

  it('names each question once', () => {
    const names = QUESTIONS.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(150)
    expect(new Set(names).size).toBe(names.length)
  })
})
