import type { Recovery } from '#shared/db/deliveries/recovery-model.ts'
import { sampleDelivery } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { auditNamed, endpointNamed, exceptionNamed, FUTURE, ids, LEASE_MS, outcome, PAST } from './contract-samples.ts'

const mail = (id: string, createdAt = PAST) => ({
  id,
  workspaceId: 'ws-1',
  template: 'endpoint_failing' as const,
  to: 'owner@example.com',
  data: { url: 'https://example.com' },
  createdAt,
})

const MAILS: readonly ContractCase[] = [
  {
    name: 'a mail is claimed by one, and only its holder says what became of it',
    query: async ({ mails, mailQueue }) => {
      await mails.insertMany([mail('m-1'), mail('m-2', PAST + 1)])
      const due = [ids(await mailQueue.due(PAST, 5)), ids(await mailQueue.due(PAST + 1, 1))]
      const first = await mailQueue.claim('m-1', 't-1', LEASE_MS)
      const second = await mailQueue.claim('m-1', 't-2', LEASE_MS)
      const end = { mailId: 'm-1', result: 'sent' as const, counts: true, dueAt: null, at: PAST, reply: '250' }
      const ends = [
        await mailQueue.finish({ ...end, leaseToken: 't-2' }),
        await mailQueue.finish({ ...end, leaseToken: 't-1' }),
        await mailQueue.finish({ ...end, leaseToken: 't-1' }),
      ]
      const now = await mailQueue.findById('m-1')
      return [due, first?.claims, second, ends, now?.status, now?.attempt, ids(await mailQueue.listNewest(5))]
    },
    gives: [[['m-1'], ['m-1']], 1, null, [false, true, false], 'sent', 1, ['m-2', 'm-1']],
  },
  {
    name: 'mails are put off, given back and counted',
    query: async ({ mails, mailQueue }) => {
      await mails.insertMany(['m-1', 'm-2', 'm-3'].map((id, index) => mail(id, PAST + index)))
      for (const id of ['m-1', 'm-2', 'm-3']) await mailQueue.claim(id, 't', LEASE_MS)
      const end = { leaseToken: 't', counts: false, at: PAST, reply: 'no' }
      await mailQueue.finish({ ...end, mailId: 'm-1', result: 'retry', dueAt: FUTURE })
      await mailQueue.finish({ ...end, mailId: 'm-2', result: 'failed', dueAt: null })
      await mailQueue.release('m-3', 't')
      const again = await mailQueue.claim('m-3', 't-2', 0)
      return [
        again?.claims,
        await mailQueue.claim('m-1', 't-2', 0),
        await mailQueue.count(PAST),
        await mails.hasAny(['x', 'm-1']),
      ]
    },
    gives: [2, null, { waiting: 2, overdue: 0, failed: 1 }, true],
  },
]

const recovery = (id: string, overrides: Partial<Recovery> = {}): Recovery => ({
  id,
  workspaceId: 'ws-1',
  endpointId: 'endpoint-1',
  since: PAST,
  until: PAST + 9,
  scope: 'all',
  state: 'open',
  place: { createdAt: PAST, id: '' },
  scanned: 0,
  made: 0,
  requestedAt: PAST,
  finishedAt: null,
  dueAt: PAST,
  leaseToken: null,
  ...overrides,
})

const ENDPOINTS: readonly ContractCase[] = [
  {
    name: 'rows of a disabled endpoint are held and go on, but those in the hands of a dispatcher',
    query: async ({ deliveries }) => {
      const rows = ['d-1', 'd-2', 'd-3'].map((id, index) =>
        sampleDelivery(id, { dueAt: PAST + index, createdAt: PAST }),
      )
      await deliveries.insertMany(rows)
      await deliveries.claim(await deliveries.findDue([{ endpointId: 'endpoint-1', limit: 1 }], null), 't-1', LEASE_MS)
      await deliveries.hold('endpoint-1', null)
      const held = await Promise.all(['d-1', 'd-2', 'd-3'].map((id) => deliveries.findById(id)))
      const named = await deliveries.heldEndpoints()
      return [
        held.map((row) => row?.status),
        named,
        await deliveries.unhold('endpoint-1'),
        await deliveries.heldEndpoints(),
      ]
    },
    gives: [['pending', 'held', 'held'], ['endpoint-1'], 2, []],
  },
  {
    name: 'actions on endpoints happen once, with their note',
    query: async ({ endpoints, operations, audit }) => {
      await endpoints.insert(endpointNamed('w-1', { sealedSecrets: ['s-1'] }))
      const next = { sealedSecrets: ['s-2'], formerSecrets: [], inFlightMax: null, rotatedBy: 'op-1' } as never
      const done = [
        await operations.setStatus('w-1', 'disabled', PAST + 1, auditNamed('a-1')),
        await operations.setStatus('w-1', 'disabled', PAST + 2, auditNamed('a-2')),
        await operations.rotate('w-1', 's-9', next, PAST + 3, auditNamed('a-3')),
        await operations.rotate('w-1', 's-1', next, PAST + 4, auditNamed('a-4')),
        await operations.addDelivery(sampleDelivery('d-1', { createdAt: PAST }), null, auditNamed('a-5')),
        await operations.addDelivery(sampleDelivery('d-1', { createdAt: PAST }), null, auditNamed('a-6')),
      ]
      return [done, ids(await audit.listBySubject('subject-1'))]
    },
    gives: [
      [true, false, false, true, true, false],
      ['a-1', 'a-4', 'a-5'],
    ],
  },
  {
    name: 'events are walked by time and id, without their bytes',
    query: async ({ events, lookups }) => {
      const body = new Uint8Array([1])
      const event = {
        workspaceId: 'ws-1',
        mode: 'test' as const,
        invoiceId: null,
        seq: 0,
        type: 'invoice.created' as const,
        body,
      }
      const times = [PAST, PAST, PAST + 5, PAST + 9]
      await events.insertMany(times.map((createdAt, index) => ({ ...event, id: `e-${index}`, createdAt })))
      const after = async (id: string, limit: number) =>
        ids(await lookups.eventsAfter('ws-1', { createdAt: PAST, id }, PAST + 9, limit))
      return [await after('', 2), await after('e-0', 5), await after('e-1', 5)]
    },
    gives: [['e-0', 'e-1'], ['e-1', 'e-2'], ['e-2']],
  },
  {
    name: 'an endpoint has one open recovery, which its holder carries on',
    query: async ({ recoveries }) => {
      await recoveries.request(recovery('r-1'), auditNamed('a-1'))
      const standing = await recoveries.request(recovery('r-2'), auditNamed('a-2'))
      const due = await recoveries.due(PAST, 5)
      const claimed = await recoveries.claim('r-1', 't-1', LEASE_MS)
      const place = { createdAt: PAST + 3, id: 'e-3' }
      const steps = [
        await recoveries.claim('r-1', 't-2', LEASE_MS),
        await recoveries.progress('r-1', 't-2', { place, scanned: 1, made: 1 }, LEASE_MS),
        await recoveries.progress('r-1', 't-1', { place, scanned: 2, made: 1 }, LEASE_MS),
      ]
      await recoveries.pause('r-1', 't-1', 0)
      const again = await recoveries.claim('r-1', 't-3', LEASE_MS)
      const end = await recoveries.finish('r-1', 't-3', 'done', PAST + 9, auditNamed('a-3'))
      return [
        standing.id,
        due,
        claimed?.leaseToken,
        steps,
        again?.place,
        end,
        ids(await recoveries.listByEndpoint('endpoint-1', 5)),
      ]
    },
    gives: ['r-1', ['r-1'], 't-1', [null, false, true], { createdAt: PAST + 3, id: 'e-3' }, true, ['r-1']],
  },
]

const link = (seq: number) => ({
  ...{ seq, prevHash: `hash ${seq - 1}`, hash: `hash ${seq}`, keyId: 'key', mac: `mac ${seq}` },
})
/** These rows, the last one as number `last`, behind the end `was`. */
const step = (last: number, named: readonly string[], was: string | null = null) => ({
  ...{ was, checkpoint: null },
  links: named.map((id, index) => ({ id, ...link(last - named.length + 1 + index) })),
  head: { seq: last, hash: `hash ${last}`, keyId: 'key', mac: `end ${last}` },
})
const SECOND_END = JSON.stringify(step(2, []).head)
const check = (height: number) => ({
  height,
  hash: `h${height}`,
  balanceBase: 10n,
  flowBase: -1n,
  through: { height, hash: `h${height}` },
})

/** Mails on their way, actions of people, the chained trail, and what is remembered of accounts. */
export const OPERATION_CASES: readonly ContractCase[] = [
  ...MAILS,
  ...ENDPOINTS,
  {
    name: 'rows of the trail get their places in order, all or none',
    query: async ({ audit, chain }) => {
      await audit.insertMany([
        auditNamed('a-2', { at: PAST + 1 }),
        auditNamed('a-1'),
        auditNamed('a-3', { at: PAST + 2 }),
      ])
      const waiting = ids(await chain.waiting(2))
      const done = [
        await chain.append(step(2, ['a-1', 'a-2'])),
        await chain.append(step(2, ['a-3'], SECOND_END)),
        await chain.append(step(4, ['a-3', 'a-1'], SECOND_END)),
        await chain.append(step(3, ['a-3'])),
        await chain.append(step(3, ['a-3'], 'another end')),
        await chain.append({ ...step(3, ['a-9'], SECOND_END), checkpoint: auditNamed('a-9') }),
      ]
      const next = { text: 'none', keyId: 'key', mac: 'mac' }
      const recorded = [
        await chain.saveBreaks({ was: null, next }),
        await chain.saveBreaks({ was: null, next }),
        await chain.saveBreaks({ was: 'another', next }),
        await chain.saveBreaks({ was: JSON.stringify(next), next: { ...next, text: 'one' } }),
        (await chain.breaks())?.text,
        (await chain.findWaiting('a-3'))?.id,
        await chain.findWaiting('a-1'),
      ]
      const chained = (await chain.listChained({ seq: 1, id: 'a-1' }, 5)).map(({ seq, record }) => [seq, record.id])
      const counts = await chain.unchained()
      return [
        waiting,
        done,
        recorded,
        await chain.tail(),
        await chain.head(),
        chained,
        await chain.extent(),
        counts.waiting,
        counts.outside,
      ]
    },
    gives: [
      ['a-1', 'a-2'],
      [true, false, false, false, false, true],
      [true, false, false, true, 'one', 'a-3', null],
      link(3),
      { ...step(3, ['a-9']).head, text: JSON.stringify(step(3, ['a-9']).head) },
      [
        [2, 'a-2'],
        [3, 'a-9'],
      ],
      { last: 3, hasOthers: false },
      ...[1, 0],
    ],
  },
  {
    name: 'unmatched transfers of a network are walked by key and closed by their own',
    query: async ({ exceptions }) => {
      const unmatched = (id: string, paymentKey: string) => exceptionNamed(id, { paymentKey })
      await exceptions.open([
        ...['x-1', 'x-2', 'x-3'].map((id, index) => unmatched(id, `test:ethereum:${index}`)),
        unmatched('x-4', 'test:base:1'),
      ])
      const scope = { mode: 'test' as const, network: 'ethereum' as const, limit: 2 }
      const pages = [await exceptions.unmatchedKeys({ ...scope, after: null })]
      pages.push(await exceptions.unmatchedKeys({ ...scope, after: 'test:ethereum:1' }))
      await exceptions.closeGone(['test:ethereum:0', 'absent'], PAST + 5)
      return [pages, ids(await exceptions.listOpen(null)).sort()]
    },
    gives: [
      [['test:ethereum:0', 'test:ethereum:1'], ['test:ethereum:2']],
      ['x-2', 'x-3', 'x-4'],
    ],
  },
  {
    name: 'counted calls add up by day, network and provider, and are read from a day on',
    query: async ({ usage }) => {
      const row = (provider: string, calls: number, firstAt: number, day = 0) => {
        const key = { mode: 'test', network: 'ethereum', provider, unit: 'calls' } as const
        return { ...key, day: day * 86_400_000, firstAt, calls, units: 2 * calls, bytes: 100 * calls }
      }
      await usage.add([row('geth:8545', 2, PAST), row('reth:8545', 1, PAST), row('geth:8545', 5, PAST, 1)])
      await usage.add([row('geth:8545', 3, PAST + 1)])
      await usage.add([])
      const shown = async (day: number) =>
        (await usage.since(day * 86_400_000))
          .map((row) => [row.day, row.provider, row.calls, row.units, row.bytes, row.firstAt - PAST])
          .sort()
      return [await shown(0), await shown(1)]
    },
    gives: [
      [
        [0, 'geth:8545', 5, 10, 500, 0],
        [0, 'reth:8545', 1, 2, 100, 0],
        [86_400_000, 'geth:8545', 5, 10, 500, 0],
      ],
      [[86_400_000, 'geth:8545', 5, 10, 500, 0]],
    ],
  },
  {
    name: 'checks of accounts are replaced by their holder, and a newer one fences it',
    query: async ({ balances }) => {
      const save = (epoch: number, height: number, matchKeys: readonly string[]) =>
        outcome(
          balances.save(
            'test',
            'ethereum',
            matchKeys.map((matchKey) => ({ matchKey, checks: [check(height)] })),
            epoch,
          ),
        )
      const saved = [
        await save(2, 1, ['a']),
        await save(1, 2, ['b', 'a']),
        await save(2, 3, ['a']),
        await save(2, 3, []),
      ]
      const found = await balances.find('test', 'ethereum', ['a', 'b', 'c'])
      return [saved, found.map(({ matchKey, checks }) => [matchKey, checks[0]?.height]).sort()]
    },
    gives: [
      [undefined, 'ScannerFenced', undefined, undefined],
      [
        ['a', 3],
        ['b', 2],
      ],
    ],
  },
]
