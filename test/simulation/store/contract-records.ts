import type { ContractCase } from './contract-case.ts'
import { auditNamed, endpointNamed, exceptionNamed, ids, PAST } from './contract-samples.ts'

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

/** What a relay writes beside deliveries: events, inbox, trail and mails; and the endpoints they go to. */
export const RECORD_CASES: readonly ContractCase[] = [
  {
    name: 'the first bytes of an event win, by id and by place in its invoice',
    query: async ({ events }) => {
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
    query: async ({ endpoints }) => {
      const first = await endpoints.insert(endpointNamed('w-1'))
      const twice = await endpoints.insert(endpointNamed('w-1', { workspaceId: 'ws-2' }))
      await endpoints.insert(endpointNamed('w-2', { mode: 'live' }))
      await endpoints.insert(endpointNamed('w-3', { mode: 'test', status: 'disabled' }))
      const all = [await endpoints.list('ws-1', null), await endpoints.list('ws-1', 'test')].map(ids)
      const both = ids(await endpoints.listOf(['ws-1', 'ws-2'])).sort()
      return [first, twice, all, both, await endpoints.count('ws-1'), await endpoints.findById('w-9')]
    },
    gives: [
      'inserted',
      'exists',
      [
        ['w-3', 'w-2', 'w-1'],
        ['w-3', 'w-1'],
      ],
      ['w-1', 'w-2', 'w-3'],
      3,
      null,
    ],
  },
  {
    name: 'an endpoint is removed once and restricted once',
    query: async ({ endpoints }) => {
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
    query: async ({ exceptions }) => {
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
    query: async ({ exceptions, audit }) => {
      await exceptions.open([exceptionNamed('x-1', { invoiceId: 'i-1' })])
      const close = (id: string) => exceptions.closeAudited(id, PAST + 5, PAST, auditNamed(`a-${id}`))
      const closed = [await close('x-1'), await close('x-1'), await close('absent')]
      const listed = (await exceptions.listByInvoice('i-1')).map(({ closedAt }) => closedAt)
      return [closed, listed, ids(await audit.listBySubject('subject-1'))]
    },
    gives: [[true, false, false], [PAST + 5], ['a-x-1']],
  },
  {
    name: 'the trail keeps a row once, in the order of time',
    query: async ({ audit }) => {
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
    query: async ({ mails }) => {
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
