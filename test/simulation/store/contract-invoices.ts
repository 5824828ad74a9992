import { samplePaymentMethod } from '#test/support/db-samples.ts'
import type { ContractCase } from './contract-case.ts'
import { changeOf, FUTURE, HOLD, invoiceNamed, outcome, PAST } from './contract-samples.ts'

const paymentMethod = (matchKey: string, overrides: Parameters<typeof samplePaymentMethod>[2] = {}) =>
  samplePaymentMethod(matchKey, PAST, overrides)

const INSERTS: readonly ContractCase[] = [
  {
    name: 'an invoice is inserted once; its id refuses another',
    query: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1')),
      await invoices.insert(invoiceNamed('i-1', { number: 2 })),
      (await invoices.findById('i-1'))?.terms.number,
      await invoices.findById('i-2'),
    ],
    gives: [{ inserted: true }, { inserted: false, conflict: 'id' }, 1, null],
  },
  {
    name: 'a number is taken within its workspace and mode only',
    query: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1')),
      await invoices.insert(invoiceNamed('i-2')),
      await invoices.insert(invoiceNamed('i-3', { workspaceId: 'ws-2' })),
      await invoices.highestNumber('ws-1', 'test'),
      await invoices.highestNumber('ws-1', 'live'),
    ],
    gives: [{ inserted: true }, { inserted: false, conflict: 'number' }, { inserted: true }, 1, 0],
  },
  {
    name: 'an idempotency key is taken, and invoices without one do not collide',
    query: async ({ invoices }) => [
      await invoices.insert(invoiceNamed('i-1', { idempotencyKey: 'k' })),
      await invoices.insert(invoiceNamed('i-2', { number: 2, idempotencyKey: 'k' })),
      await invoices.insert(invoiceNamed('i-3', { number: 3 })),
      await invoices.insert(invoiceNamed('i-4', { number: 4 })),
      (await invoices.findByIdempotencyKey('ws-1', 'test', 'k'))?.invoice.terms.id,
      await invoices.findByIdempotencyKey('ws-1', 'live', 'k'),
    ],
    gives: [
      { inserted: true },
      { inserted: false, conflict: 'idempotency_key' },
      { inserted: true },
      { inserted: true },
      'i-1',
      null,
    ],
  },
  {
    name: 'a released idempotency key is free again, but only for who knows when it was taken',
    query: async ({ invoices }) => {
      const guard = { key: 'k', fingerprint: 'f', requestId: 'r', at: PAST }
      return [
        await invoices.insert(invoiceNamed('i-1', { idempotencyKey: 'k' })),
        await invoices.releaseIdempotencyKey('i-1', { ...guard, at: PAST + 1 }),
        await invoices.releaseIdempotencyKey('i-1', guard),
        await invoices.releaseIdempotencyKey('i-1', guard),
        await invoices.insert(invoiceNamed('i-2', { number: 2, idempotencyKey: 'k' })),
      ]
    },
    gives: [{ inserted: true }, false, true, false, { inserted: true }],
  },
  {
    name: 'each element of the claims is unique; invoices without claims do not collide',
    query: async ({ invoices }) => [
      await invoices.insert(
        invoiceNamed('i-1', { state: { paymentMethods: [paymentMethod('a'), paymentMethod('b')] } }),
      ),
      await invoices.insert(
        invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('c'), paymentMethod('b')] } }),
      ),
      await invoices.insert(invoiceNamed('i-3', { number: 3, state: { paymentMethods: [paymentMethod('c')] } })),
      [...(await invoices.claimsTaken(['test:evm:a', 'test:evm:c', 'test:evm:d']))],
      (await invoices.findByClaims(['test:evm:b', 'test:evm:c'])).map(({ invoiceId }) => invoiceId).sort(),
    ],
    gives: [
      { inserted: true },
      { inserted: false, conflict: 'claims' },
      { inserted: true },
      ['test:evm:a', 'test:evm:c'],
      ['i-1', 'i-3'],
    ],
  },
  {
    name: 'of several refusing indexes the id is named first, then they are in the order of their creation',
    query: async ({ invoices }) => {
      await invoices.insert(
        invoiceNamed('i-1', { idempotencyKey: 'k', state: { paymentMethods: [paymentMethod('a')] } }),
      )
      const again = { idempotencyKey: 'k', state: { paymentMethods: [paymentMethod('a')] } }
      return [
        await invoices.insert(invoiceNamed('i-1', again)),
        await invoices.insert(invoiceNamed('i-2', again)),
        await invoices.insert(invoiceNamed('i-2', { ...again, number: 2 })),
      ]
    },
    gives: ['id', 'number', 'idempotency_key'].map((conflict) => ({ inserted: false, conflict })),
  },
  {
    name: 'a group of inserts is checked one by one',
    query: async ({ grouped, invoices }) => {
      const all = ['i-1', 'i-2', 'i-3'].map((id, index) => invoiceNamed(id, { number: [1, 1, 2][index] ?? 0 }))
      const done = await Promise.all(all.map((invoice) => grouped.insert(invoice)))
      return [done, await invoices.highestNumber('ws-1', 'test')]
    },
    gives: [[{ inserted: true }, { inserted: false, conflict: 'number' }, { inserted: true }], 2],
  },
  {
    name: 'grouped reads answer each asker alone',
    query: async ({ grouped, invoices }) => {
      await invoices.insert(invoiceNamed('i-1'))
      await invoices.insert(invoiceNamed('i-2', { workspaceId: 'ws-2' }))
      const found = await Promise.all([
        grouped.find('ws-1', 'test', 'i-1'),
        grouped.find('ws-1', 'test', 'i-2'),
        grouped.find('ws-2', 'test', 'i-2'),
        grouped.find('ws-2', 'live', 'i-2'),
      ])
      return found.map((invoice) => invoice?.terms.id ?? null)
    },
    gives: ['i-1', null, 'i-2', null],
  },
]

const CHANGES: readonly ContractCase[] = [
  {
    name: 'a compare-and-set is won by one of two',
    query: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1')
      await invoices.insert(invoice)
      const won = await invoices.save(changeOf(invoice, { status: 'cancelled' }))
      const lost = await invoices.save(changeOf(invoice, { status: 'expired' }))
      const absent = await invoices.save(changeOf(invoiceNamed('i-2')))
      const now = await invoices.findById('i-1')
      return [won, lost, absent, now?.state.status, now?.state.version, now?.outbox.map(({ seq }) => seq)]
    },
    gives: [true, false, false, 'cancelled', 2, [1, 2]],
  },
  {
    name: 'the last eight operations are remembered',
    query: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1', { opId: 'op-1' })
      await invoices.insert(invoice)
      for (let from = 1; from <= 9; from++) await invoices.save(changeOf(invoice, { from, op: `op-${from + 1}` }))
      return (await invoices.findById('i-1'))?.lastOps.map(({ opId, seq }) => `${opId} ${seq}`)
    },
    gives: [3, 4, 5, 6, 7, 8, 9, 10].map((seq) => `op-${seq} ${seq}`),
  },
  {
    name: 'an action time that is gone leaves the queue of actions',
    query: async ({ invoices }) => {
      const invoice = invoiceNamed('i-1', { state: { nextActionAt: PAST } })
      await invoices.insert(invoice)
      const isDue = (until: number) => invoices.isAnyDue(['live:ethereum', 'none'], until)
      const any = [await isDue(PAST), await isDue(PAST - 1), await invoices.isAnyDue(['live:ethereum'], FUTURE)]
      const before = await invoices.dueForAction('none', PAST, 5)
      const early = await invoices.dueForAction('none', PAST - 1, 5)
      await invoices.save(changeOf(invoice, { nextActionAt: null }))
      return [any, before, early, await invoices.dueForAction('none', FUTURE, 5), await isDue(FUTURE)]
    },
    gives: [[true, false, false], ['i-1'], [], [], false],
  },
  {
    name: 'a lock adds its claim to those of before, and a claim of another refuses the whole change',
    query: async ({ invoices }) => {
      const mine = invoiceNamed('i-1', { state: { paymentMethods: [paymentMethod('a')] } })
      await invoices.insert(mine)
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('b')] } }))
      const taken = await outcome(
        invoices.save(changeOf(mine, { paymentMethods: [paymentMethod('a'), paymentMethod('b')] })),
      )
      const version = (await invoices.findById('i-1'))?.state.version
      const moved = await invoices.save(changeOf(mine, { paymentMethods: [paymentMethod('c')] }))
      return [taken, version, moved, [...(await invoices.claimsTaken(['test:evm:a', 'test:evm:c']))]]
    },
    gives: ['ClaimTaken', 1, true, ['test:evm:a', 'test:evm:c']],
  },
  {
    name: 'released claims are free again',
    query: async ({ invoices }) => {
      const held = invoiceNamed('i-1', {
        state: { expiresAt: PAST, paymentMethods: [paymentMethod('a', { hold: HOLD })] },
      })
      await invoices.insert(held)
      const due = await invoices.dueForRelease(FUTURE, null, 5)
      const freed = {
        expiresAt: PAST,
        paidAt: null,
        paymentMethods: [paymentMethod('a', { hold: { ...HOLD, releasedAt: PAST } })],
      }
      return [
        due.length,
        await invoices.releaseClaims('i-1', 7, freed),
        await invoices.releaseClaims('i-1', 1, freed),
        await invoices.dueForRelease(FUTURE, null, 5),
        await invoices.insert(invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('a')] } })),
        (await invoices.findById('i-1'))?.state.version,
      ]
    },
    gives: [1, false, true, [], { inserted: true }, 2],
  },
  {
    name: 'a returned claim says who had it until its bound, and a place in a budget is taken once until it is given back or paid for',
    query: async ({ invoices }) => {
      const hold = HOLD
      const drawn = (matchKey: string, draws: string[]) => paymentMethod(matchKey, { hold, draws })
      await invoices.insert(
        invoiceNamed('i-1', { state: { expiresAt: PAST, paymentMethods: [drawn('a', ['v:0', 'v:1'])] } }),
      )
      const second = invoiceNamed('i-2', { number: 2, state: { paymentMethods: [drawn('b', ['v:1'])] } })
      const refused = await invoices.insert(second)
      const taken = [...(await invoices.drawsTaken(['v:0', 'v:1', 'v:2'])).keys()].sort()
      const freed = {
        expiresAt: PAST,
        paidAt: null,
        paymentMethods: [paymentMethod('a', { hold: { ...hold, releasedAt: PAST } })],
      }
      await invoices.releaseClaims('i-1', 1, freed)
      const free = await invoices.drawsTaken(['v:0', 'v:1'])
      const inserted = await invoices.insert(second)
      await invoices.save(changeOf(second, { paymentMethods: [drawn('b', ['v:1'])], status: 'paid', paidAt: PAST }))
      const claims = ['test:evm:a', 'test:evm:b']
      return [
        refused,
        taken,
        free.size,
        inserted,
        (await invoices.drawsTaken(['v:1'])).size,
        [...(await invoices.priorHolds(claims, PAST))].map(([claim, { invoiceId, until }]) => [
          claim,
          invoiceId,
          until - PAST,
        ]),
        (await invoices.priorHolds(claims, PAST + HOLD.quarantineMs)).size,
      ]
    },
    gives: [
      { inserted: false, conflict: 'draws' },
      ['v:0', 'v:1'],
      0,
      { inserted: true },
      0,
      [['test:evm:a', 'i-1', 1_000]],
      0,
    ],
  },
  {
    name: 'a claim with live money is told from one without',
    query: async ({ invoices }) => {
      const row = {
        payment: 'p',
        version: 1,
        state: 'detected' as const,
        amountBase: 5n,
        firstSeenAt: PAST,
        counted: true,
      }
      const rest = { uncountedReason: null, acceptedBase: null, late: false, rateSeen: null, eligible: true }
      const flags = { simulated: false, detected: true, confirmed: false, lateAnnounced: false }
      const ledger = [{ ...row, ...rest, ...flags }]
      await invoices.insert(invoiceNamed('i-1', { state: { paymentMethods: [paymentMethod('a')], ledger } }))
      const simulated = ledger.map((one) => ({ ...one, simulated: true }))
      await invoices.insert(
        invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('b')], ledger: simulated } }),
      )
      const gone = [...simulated, ...ledger.map((one) => ({ ...one, state: 'orphaned' as const }))]
      await invoices.insert(
        invoiceNamed('i-3', { number: 3, state: { paymentMethods: [paymentMethod('c')], ledger: gone } }),
      )
      return [...(await invoices.claimsPaid(['test:evm:a', 'test:evm:b', 'test:evm:c']))]
    },
    gives: ['test:evm:a'],
  },
  {
    name: 'claims are cold when their invoice is over and a day has passed since its last change',
    query: async ({ invoices }) => {
      const over = { status: 'expired', expiresAt: PAST, nextActionAt: null } as const
      await invoices.insert(
        invoiceNamed('i-1', { state: { ...over, paymentMethods: [paymentMethod('a'), paymentMethod('b')] } }),
      )
      await invoices.insert(invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('c')] } }))
      const claims = ['test:evm:a', 'test:evm:c', 'test:evm:d']
      return [
        [...(await invoices.claimsCold(claims, FUTURE + 400 * 86_400_000))],
        [...(await invoices.claimsCold(claims, PAST))],
        [...(await invoices.claimsCold([], FUTURE))],
      ]
    },
    gives: [['test:evm:a'], [], []],
  },
  {
    name: 'a reference inside a lock finds its invoice',
    query: async ({ invoices }) => {
      await invoices.insert(
        invoiceNamed('i-1', {
          state: { paymentMethods: [paymentMethod('a'), paymentMethod('b', { reference: 'ref-1' })] },
        }),
      )
      await invoices.insert(
        invoiceNamed('i-2', { number: 2, state: { paymentMethods: [paymentMethod('c', { reference: 'ref-2' })] } }),
      )
      const holders = await invoices.findByReferences('test', ['ref-1', 'ref-3'])
      return [holders.map(({ invoiceId }) => invoiceId), await invoices.findByReferences('live', ['ref-1'])]
    },
    gives: [['i-1'], []],
  },
]

/** Invoices: inserts and their refusals, compare-and-set, claims. */
export const INVOICE_CASES: readonly ContractCase[] = [...INSERTS, ...CHANGES]
