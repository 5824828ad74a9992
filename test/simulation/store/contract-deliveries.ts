import { sampleDelivery } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { auditNamed, endpointNamed, exceptionNamed, FUTURE, LEASE_MS, outcomeOf, PAST } from './contract-samples.ts'
import type { Repositories } from './contract-stage.ts'

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
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

const CLAIMS: readonly ContractCase[] = [
  {
    name: 'a delivery is inserted once, by id and by event, endpoint and generation',
    ask: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST)])
      await on.deliveries.insertMany([due('d-1', FUTURE), due('d-3', PAST, { eventId: 'evt_d-1' }), due('d-4', PAST)])
      const found = await Promise.all(['d-1', 'd-2', 'd-3', 'd-4'].map((id) => on.deliveries.findById(id)))
      return found.map((one) => one?.dueAt ?? null)
    },
    gives: [PAST, PAST, null, PAST],
  },
  {
    name: 'due rows are claimed for the free slots, oldest first, and never twice',
    ask: async (on) => {
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
    ask: async (on) => {
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
    ask: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST)])
      await claim(on, 't-1', 2)
      const retry = outcomeOf('d-1', 't-1', 'retry', FUTURE)
      await on.deliveries.finish([retry, outcomeOf('d-2', 't-1', 'failed')])
      await on.deliveries.finish([retry])
      const last = await on.deliveries.lastFinished('endpoint-1', 5)
      return [await state(on, 'd-1'), await state(on, 'd-2'), last, (await on.deliveries.listAttempts('d-1')).length]
    },
    gives: [
      ['pending', 1, 1, null, true],
      ['failed', 1, 1, null, false],
      [{ id: 'd-2', status: 'failed', finishedAt: PAST + 13 }],
      1,
    ],
  },
  {
    name: 'rows read for several endpoints are shared out, and one read by two is taken by one',
    ask: async (on) => {
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
    ask: async (on) => {
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
    ask: async (on) => {
      await on.deliveries.insertMany([due('d-1', PAST), due('d-2', PAST + 1)])
      await claim(on, 't-1', 1)
      await claim(on, 't-2', 1)
      await on.deliveries.release('t-1')
      await on.deliveries.release('absent')
      return [ids(await claim(on, 't-3', 5)), await state(on, 'd-2')]
    },
    gives: [['d-1'], ['pending', 0, 1, 't-2', false]],
  },
  {
    name: 'endpoints with due rows are named once, the longest waiting first',
    ask: async (on) => {
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
    ask: async (on) => {
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
    ask: async ({ deliveries }) => {
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

const event = (id: string, invoiceId: string | null, seq: number, text = id) => ({
  id,
  workspaceId: 'ws-1',
  mode: 'test' as const,
  invoiceId,
  seq,
  type: 'invoice.created' as const,
  body: new TextEncoder().encode(text),
  createdAt: PAST,
})

const RECORDS: readonly ContractCase[] = [
  {
    name: 'the first bytes of an event win, by id and by place in its invoice',
    ask: async ({ events }) => {
      await events.insertMany([event('e-1', 'i-1', 1), event('e-2', 'i-1', 2)])
      await events.insertMany([event('e-1', 'i-1', 1, 'other'), event('e-3', 'i-1', 2), event('e-4', 'i-1', 0)])
      await events.insertMany([event('e-5', null, 0), event('e-6', null, 0)])
      const found = await events.findByIds(['e-1', 'e-3', 'e-5', 'e-6'])
      const text = new TextDecoder().decode(found.get('e-1')?.body)
      return [text, [...found.keys()].sort(), ids(await events.listByInvoice('i-1'))]
    },
    gives: ['e-1', ['e-1', 'e-5', 'e-6'], ['e-4', 'e-1', 'e-2']],
  },
  {
    name: 'endpoints are found by workspace and mode, newest first',
    ask: async ({ endpoints }) => {
      const first = await endpoints.insert(endpointNamed('w-1'))
      const twice = await endpoints.insert(endpointNamed('w-1', { workspaceId: 'ws-2' }))
      await endpoints.insert(endpointNamed('w-2', { mode: 'live' }))
      await endpoints.insert(endpointNamed('w-3', { mode: 'test', status: 'disabled' }))
      const all = [await endpoints.list('ws-1', null), await endpoints.list('ws-1', 'test')].map(ids)
      const enabled = ids(await endpoints.listEnabled(['ws-1', 'ws-2'])).sort()
      return [first, twice, all, enabled, await endpoints.count('ws-1'), await endpoints.findById('w-9')]
    },
    gives: [
      'inserted',
      'exists',
      [
        ['w-3', 'w-2', 'w-1'],
        ['w-3', 'w-1'],
      ],
      ['w-1', 'w-2'],
      3,
      null,
    ],
  },
  {
    name: 'an endpoint is removed once and restricted once',
    ask: async ({ endpoints }) => {
      await endpoints.insert(endpointNamed('w-1'))
      const restricted = [await endpoints.restrictToLive('w-1'), await endpoints.restrictToLive('w-1')]
      const now = await endpoints.findById('w-1')
      const removed = [await endpoints.remove('w-1'), await endpoints.remove('w-1')]
      return [restricted, now?.mode, now !== null && now.updatedAt > PAST, removed]
    },
    gives: [[true, false], 'live', true, [true, false]],
  },
  {
    name: 'an exception is opened once, closed, and opened again under its first time',
    ask: async ({ exceptions }) => {
      await exceptions.open([exceptionNamed('x-1'), exceptionNamed('x-2', { openedAt: PAST + 1, workspaceId: null })])
      await exceptions.close(['x-1', 'absent'], PAST + 5)
      const open = [await exceptions.listOpen(null), await exceptions.listOpen('ws-1')].map(ids)
      await exceptions.openOnce([exceptionNamed('x-1'), exceptionNamed('x-3', { openedAt: PAST + 2 })])
      const once = ids(await exceptions.listOpen(null))
      await exceptions.open([exceptionNamed('x-1', { openedAt: PAST + 9, detail: 'other' })])
      const { openedAt, closedAt, detail } = (await exceptions.findById('x-1')) ?? {}
      return [open, once, ids(await exceptions.listOpen(null)), openedAt, closedAt, detail]
    },
    gives: [[['x-2'], []], ['x-3', 'x-2'], ['x-3', 'x-2', 'x-1'], PAST, null, 'a payment nobody asked for'],
  },
  {
    name: 'closing with a note stores both or neither',
    ask: async ({ exceptions, audit }) => {
      await exceptions.open([exceptionNamed('x-1', { invoiceId: 'i-1' })])
      const close = (id: string) => exceptions.closeAudited(id, PAST + 5, auditNamed(`a-${id}`))
      const closed = [await close('x-1'), await close('x-1'), await close('absent')]
      const listed = (await exceptions.listByInvoice('i-1')).map(({ closedAt }) => closedAt)
      return [closed, listed, ids(await audit.listBySubject('subject-1'))]
    },
    gives: [[true, false, false], [PAST + 5], ['a-x-1']],
  },
  {
    name: 'the trail keeps a row once, in the order of time',
    ask: async ({ audit }) => {
      await audit.insertMany([
        auditNamed('a-2', { at: PAST + 1 }),
        auditNamed('a-1', { at: PAST + 1 }),
        auditNamed('a-3'),
      ])
      await audit.insertMany([auditNamed('a-1', { actor: 'other' }), auditNamed('a-4', { subject: 'subject-2' })])
      return (await audit.listBySubject('subject-1')).map(({ id, actor }) => `${id} ${actor}`)
    },
    gives: ['a-3 operator', 'a-1 operator', 'a-2 operator'],
  },
  {
    name: 'a mail is queued once',
    ask: async ({ mails }) => {
      const mail = {
        id: 'm-1',
        workspaceId: 'ws-1',
        template: 'endpoint_failing' as const,
        to: 'a@example.com',
        data: { url: 'u' },
        createdAt: PAST,
      }
      await mails.insertMany([mail])
      await mails.insertMany([
        { ...mail, to: 'b@example.com' },
        { ...mail, id: 'm-2' },
      ])
      return null
    },
    gives: null,
  },
]

/** Deliveries and what surrounds them: events, endpoints, the inbox, the trail, mails. */
export const DELIVERY_CASES: readonly ContractCase[] = [...CLAIMS, ...RECORDS]
