import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { openContractApi, outcome, send } from './contract-stage.ts'
import { footprint, KEYED_OPERATIONS, oneEffect, prepareKeyed } from './keyed-operations.ts'
import { operation } from './operations.ts'

/** Keys of the largest race: `RACE_KEYS=100` of the deep tier. */
const KEYS = Number(process.env['RACE_KEYS'] ?? (EVERY_CASE ? 20 : 6))
/** Races of each operation: `RACE_ROUNDS=4` of the deep tier. */
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 1)

const stores = useStores()
let api: TestApi
let processes: readonly TestApi[]

beforeAll(async () => {
  api = await openContractApi(stores)
  processes = [api, await openContractApi(stores)]
})
afterAll(() => Promise.all(processes.map((one) => one.close())))
// Races use up derived addresses, and on a slow machine they outlive a rate.
beforeEach(async () => {
  await api.engine.watchEverything()
  await api.engine.publishRates()
})

/** Sends at once, in turn to both processes. */
function race(times: number, request: (to: TestApi) => Promise<ApiAnswer>): Promise<readonly ApiAnswer[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => request(processes[index % 2] ?? api)))
}

/** Checks the answers of one key: one fresh success, equal bytes in every other, or "still running". Gives the one body. */
function expectOneAnswer(answers: readonly ApiAnswer[], status: number): string {
  const given = answers.filter((answer) => answer.status !== 409)
  const running = answers.filter((answer) => answer.status === 409)
  expect(new Set(running.map((answer) => `${outcome(answer)}`))).toEqual(
    new Set(running.length === 0 ? [] : ['409,IDEMPOTENCY_IN_PROGRESS']),
  )
  const bodies = new Set(given.map((answer) => `${answer.status} ${answer.text}`))
  expect([...bodies]).toEqual([`${status} ${given[0]?.text}`])
  expect(given.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1)
  return given[0]?.text ?? ''
}

const chunks = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

// Guarantee: however often and wherever a request with one key arrives at once, it takes effect once.
describe('requests at once under one key', () => {
  it('make exactly one invoice of 50 requests with each key', async () => {
    const workspace = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    const create = (to: TestApi, key: string) =>
      send(to, operation('POST /invoices'), { key: apiKey, headers: { 'idempotency-key': key } })
    const keys = Array.from({ length: KEYS }, (_, index) => `key ${index}`)
    const bodies = new Map<string, string>()
    for (const some of chunks(keys, 4)) {
      const answers = await Promise.all(some.map((key) => race(50, (to) => create(to, key))))
      for (const [index, key] of some.entries()) bodies.set(key, expectOneAnswer(answers[index] ?? [], 201))
    }
    const stored = await stores.db.collection(INVOICES).find({ workspaceId: workspace.id }).toArray()
    expect(stored).toHaveLength(KEYS)
    expect(new Set(stored.map(({ idem }) => idem?.key))).toEqual(new Set(keys))
    expect(new Set(stored.map(({ number }) => number)).size).toBe(KEYS)
    expect(new Set([...bodies.values()].map((body) => JSON.parse(body).data.id))).toEqual(
      new Set(stored.map(({ _id }) => _id)),
    )
    for (const key of keys) {
      const { status, text, headers } = await create(api, key)
      expect([status, text, headers.get('idempotent-replayed')]).toEqual([201, bodies.get(key), 'true'])
    }
  })

  it.each(
    sampleOf(
      KEYED_OPERATIONS.map((keyed) => [keyed.name, keyed] as const),
      3,
    ),
  )('make %s once', async (_name, keyed) => {
    const expected = await oneEffect(stores, api, keyed)
    for (let round = 0; round < ROUNDS; round += 1) {
      const request = await prepareKeyed(api, keyed)
      const body = expectOneAnswer(await race(12, (to) => request.sendTo(to, 'same')), expected.status)
      expect(await footprint(stores, request.workspaceId)).toEqual(expected.footprint)
      const again = await request.sendTo(api, 'same')
      expect([again.status, again.text]).toEqual([expected.status, body])
    }
  })

  /** How many of eight requests under eight keys succeed; the others find a state that does not allow it any more. */
  const SUCCESSES = new Map([
    ['a cancellation', 1],
    ['the end of a payment link', 8],
    ['a simulation of paid', 1],
    ['a simulation of overpaid', 1],
    ['a simulation of expired', 1],
  ])
  const alone = KEYED_OPERATIONS.filter(({ name }) => SUCCESSES.has(name))
  it.each(
    sampleOf(
      alone.map((keyed) => [keyed.name, keyed] as const),
      2,
    ),
  )('and %s under eight keys happens once', async (name, keyed) => {
    const expected = await oneEffect(stores, api, keyed)
    const request = await prepareKeyed(api, keyed)
    let key = 0
    const answers = await race(8, (to) => {
      key += 1
      return request.sendTo(to, `key ${key}`)
    })
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(outcome)).toEqual(refused.map(() => [409, 'INVALID_STATE']))
    expect(answers.length - refused.length).toBe(SUCCESSES.get(name))
    expect(await footprint(stores, request.workspaceId)).toMatchObject(expected.footprint)
  })
})
