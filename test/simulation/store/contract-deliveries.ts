import { sampleDelivery } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { FUTURE, ids, LEASE_MS, outcomeOf, PAST } from './contract-samples.ts'
import type { Repositories } from './contract-stage.ts'

const due = (id: string, dueAt: number, overrides: Parameters<typeof sampleDelivery>[1] = {}) =>
  sampleDelivery(id, { createdAt: PAST, dueAt, ...overrides })

async function state({ deliveries }: Repositories, id: string) {
  const found = await deliveries.findById(id)
  return found && [found.status, found.attempt, found.claims, found.leaseToken, found.dueAt === FUTURE]
}

/** Claims due rows of one endpoint as a dispatcher does: reads them, then takes those that still are as they were read. */
const claim = async (
  { deliveries }: Repositories,
  token: string,
  limit: number,
  leaseMs = LEASE_MS,
  endpointId = 'endpoint-1',
) => deliveries.claim(await deliveries.findDue([{ endpointId, limit }], null), token, leaseMs)

/** Deliveries: claims, outcomes, and the questions about them. */
export const DELIVERY_CASES: readonly ContractCase[] = [
  {
    name: 'a delivery is inserted once, by its id, beside new ones',
    query: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST)])
      await on.deliveries.insertMany([due('d-1', FUTURE), due('d-3', PAST)])
      const found = await Promise.all(['d-1', 'd-2', 'd-3', 'd-4'].map((id) => on.deliveries.findById(id)))
      return found.map((one) => one?.dueAt ?? null)
    },
    gives: [PAST, PAST, PAST, null],
  },
  {
    name: 'due rows are claimed for the free slots, oldest first, and never twice',
    query: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST + 2), due('d-2', PAST), due('d-3', PAST + 1), due('d-4', FUTURE)])
      const first = await claim(on, 't-1', 2)
      const second = await claim(on, 't-2', 5)
      const none = await claim(on, 't-3', 5)
      const other = await claim(on, 't-3', 5, LEASE_MS, 'endpoint-2')
      return [ids(first), ids(second), none, other, first.map(({ claims, leaseToken }) => [claims, leaseToken])]
    },
    gives: [
      ['d-2', 'd-3'],
      ['d-1'],
      [],
      [],
      [
        [1, 't-1'],
        [1, 't-1'],
      ],
    ],
  },
  {
    name: 'a lease that ran out is claimed again, and fences the first holder',
    query: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST)])
      await claim(on, 't-1', 1, 0)
      const again = await claim(on, 't-2', 1)
      await on.deliveries.finish([outcomeOf('d-1', 't-1', 'succeeded')])
      const fenced = await state(on, 'd-1')
      await on.deliveries.finish([outcomeOf('d-1', 't-2', 'succeeded')])
      return [ids(again), fenced, await state(on, 'd-1'), (await on.deliveries.listAttempts('d-1')).length]
    },
    gives: [['d-1'], ['pending', 0, 2, 't-2', false], ['succeeded', 1, 2, null, false], 2],
  },
  {
    name: 'a retry is due at its time; a second report of one claim changes nothing',
    query: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST)])
      await claim(on, 't-1', 2)
      const retry = outcomeOf('d-1', 't-1', 'retry', LEASE_MS)
      await on.deliveries.finish([retry, outcomeOf('d-2', 't-1', 'failed')])
      await on.deliveries.finish([retry])
      const last = await on.deliveries.lastFinished('endpoint-1', 5)
      const waits = ((await on.deliveries.findById('d-1'))?.dueAt ?? 0) > Date.now() + LEASE_MS / 2
      const attempts = (await on.deliveries.listAttempts('d-1')).length
      return [await state(on, 'd-1'), waits, await state(on, 'd-2'), last, attempts]
    },
    gives: [
      ['pending', 1, 1, null, false],
      true,
      ['failed', 1, 1, null, false],
      [{ id: 'd-2', status: 'failed', finishedAt: PAST + 13 }],
      1,
    ],
  },
  {
    name: 'rows read for several endpoints are shared out, and one read by two is taken by one',
    query: async (on) => {
      const second = { endpointId: 'endpoint-2' }
      const rows = [1, 2, 3, 4].map((index) => due(`d-${index}`, PAST + index))
      await on.deliveries.insertMany([...rows, due('d-5', PAST + 5, second), due('d-6', FUTURE, second)])
      const wants = ['endpoint-1', 'endpoint-2', 'endpoint-3'].map((endpointId) => ({ endpointId, limit: 1 }))
      const read = await on.deliveries.findDue(wants, null)
      const once = await on.deliveries.claim(read, 't-1', LEASE_MS)
      const twice = await on.deliveries.claim([...read, ...(await on.deliveries.findDue(wants, null))], 't-2', LEASE_MS)
      return [ids(read).sort(), ids(once).sort(), ids(twice), await on.deliveries.claim([], 't-3', LEASE_MS)]
    },
    gives: [['d-1', 'd-5'], ['d-1', 'd-5'], ['d-2'], []],
  },
  {
    name: 'rows that fell due before a time may be left out',
    query: async (on) => {
      const second = { endpointId: 'endpoint-2' }
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST + 9), due('d-3', PAST + 5, second)])
      const wants = ['endpoint-1', 'endpoint-2'].map((endpointId) => ({ endpointId, limit: 2 }))
      const since = async (from: number | null) => ids(await on.deliveries.findDue(wants, from)).sort()
      return [
        await since(null),
        await since(PAST),
        await since(PAST + 1),
        await since(PAST + 9),
        await since(PAST + 10),
      ]
    },
    gives: [['d-1', 'd-2', 'd-3'], ['d-1', 'd-2', 'd-3'], ['d-2', 'd-3'], ['d-2'], []],
  },
  {
    name: 'released rows are due at once',
    query: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST + 1)])
      await claim(on, 't-1', 1)
      await claim(on, 't-2', 1)
      await on.deliveries.release(['d-1', 'd-2'], 't-1')
      await on.deliveries.release(['d-2'], 'absent')
      return [ids(await claim(on, 't-3', 5)), await state(on, 'd-2')]
    },
    gives: [['d-1'], ['pending', 0, 1, 't-2', false]],
  },
  {
    name: 'endpoints with due rows are named once, the longest waiting first',
    query: async (on) => {
      await on.deliveries.insertMany([
        due('d-1', PAST + 5),
        due('d-2', PAST + 1, { endpointId: 'endpoint-2' }),
        due('d-3', PAST, { endpointId: 'endpoint-2', status: 'failed' }),
        due('d-4', PAST + 3, { endpointId: 'endpoint-3' }),
        due('d-5', PAST + 9),
      ])
      const { dueEndpoints, nextDue } = on.deliveries
      return [
        (await dueEndpoints(PAST + 4, 5)).map(({ endpointId, dueAt }) => [endpointId, dueAt - PAST]),
        (await dueEndpoints(FUTURE, 1)).length,
        await nextDue('endpoint-1'),
        await nextDue('endpoint-9'),
      ]
    },
    gives: [
      [
        ['endpoint-2', 1],
        ['endpoint-3', 3],
      ],
      1,
      PAST + 5,
      null,
    ],
  },
  {
    name: 'pending rows of an endpoint are purged in one mode or in both',
    query: async (on) => {
      await on.deliveries.insertMany([
        due('d-1', PAST),
        due('d-2', PAST, { mode: 'live' }),
        due('d-3', PAST, { status: 'succeeded' }),
        due('d-4', PAST, { mode: 'live', endpointId: 'endpoint-2' }),
      ])
      const purged = [await on.deliveries.purge('endpoint-1', 'live'), await on.deliveries.purge('endpoint-1', null)]
      const left = await Promise.all(['d-1', 'd-2', 'd-3', 'd-4'].map((id) => on.deliveries.findById(id)))
      return [purged, left.map((one) => one !== null)]
    },
    gives: [
      [1, 1],
      [false, false, true, true],
    ],
  },
  {
    name: 'generations of one event to one endpoint are counted from the highest',
    query: async ({ deliveries }) => {
      const again = { eventId: 'e', endpointId: 'x' }
      await deliveries.insertMany([
        due('d-1', PAST, again),
        due('d-2', PAST, { ...again, generation: 3 }),
        due('d-3', PAST, { eventId: 'e' }),
      ])
      const listed = (await deliveries.listByEvent('e')).map(({ id }) => id)
      return [await deliveries.highestGeneration('e', 'x'), await deliveries.highestGeneration('e', 'y'), listed]
    },
    gives: [3, -1, ['d-3', 'd-1', 'd-2']],
  },
]
