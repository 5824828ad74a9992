import { sampleObservation } from '#test/support/db-samples.ts'
import { PAST } from './contract-samples.ts'
import { pickSome, type StoreQuery, type Turn } from './sequence-turn.ts'

const chain = { mode: 'test' as const, network: 'ethereum' as const }

function randomObservations({ random, tick }: Turn) {
  return pickSome(random, ['a', 'b', 'c', 'd', 'e']).map((name) => {
    const height = random.between(98, 103)
    const isUnmatched = name === 'e'
    return sampleObservation(`test:ethereum:${name}:0`, {
      block: random.chance(0.3)
        ? null
        : { height, hash: `h${height}${random.pick(['', '', "'"])}`, time: PAST + height },
      amountBase: random.chance(0.05) ? 7n : 5n,
      needsFinality: name === 'b',
      invoiceId: isUnmatched ? null : `invoice-${name}`,
      workspaceId: isUnmatched ? null : 'ws-1',
      uncountedReason: isUnmatched ? 'unmatched' : null,
      firstSeenAt: tick(),
    })
  })
}

/** Mostly the standing epoch, sometimes a newer one, and once in a while one that is past. */
const epochOf = ({ random }: Turn): number => random.pick([2, 2, 2, 2, 3, 1])

/** Payments under holders that fence each other, and a chain that forks. */
export const PAYMENT_QUERIES: readonly StoreQuery[] = [
  (turn) => turn.on.payments.recordObservations(randomObservations(turn), epochOf(turn), turn.tick()),
  (turn) => turn.on.payments.recordObservations(randomObservations(turn), epochOf(turn), turn.tick()),
  (turn) =>
    turn.on.payments.confirmThrough({
      ...chain,
      height: turn.random.between(99, 106),
      finalizedHeight: turn.random.pick([null, 99, 103]),
      except: pickSome(turn.random, ['test:ethereum:a:0']),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.endUnconfirmed({
      ...chain,
      outcomes: [
        { key: 'test:ethereum:a:0', state: 'replaced' as const, replacedBy: '0xnew' },
        { key: 'test:ethereum:b:0', state: 'dropped' as const },
      ].filter(() => turn.random.chance(0.5)) as never,
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.orphanAbove({
      ...chain,
      forkHeight: turn.random.between(98, 102),
      unconfirmedOnly: turn.random.chance(0.5),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  (turn) =>
    turn.on.payments.orphanMissing({
      ...chain,
      confirmedToo: turn.random.chance(0.5),
      blocks: [100, 101].map((height) => ({ height, hash: `h${height}` })),
      epoch: epochOf(turn),
      at: turn.tick(),
    }),
  ({ on, random }) =>
    on.payments.markApplied(
      pickSome(random, ['a', 'b', 'c']).map((name) => ({
        key: `test:ethereum:${name}:0`,
        version: random.between(1, 4),
        counted: true,
        uncountedReason: null,
        late: random.chance(0.5),
        place: random.chance(0.5) ? 'in' : '1.1:7',
      })),
    ),
  ({ on, random, tick }) => on.payments.takeDirtyInvoices({ before: tick(), at: tick(), limit: random.between(1, 3) }),
  ({ on, random }) => on.payments.listByTransaction('test', 'ethereum', random.pick(['a', 'b', 'e'])),
  ({ on }) => on.payments.unconfirmed('test', 'ethereum'),
  ({ on, random }) => on.payments.countInBlocks({ ...chain, from: 99, to: random.between(100, 103) }),
  ({ on, random }) =>
    on.payments.list({
      workspaceId: 'ws-1',
      mode: 'test',
      invoiceId: random.pick([null, 'invoice-a']),
      limit: 3,
      beforeId: null,
    }),
  async ({ on, random, tick }) => {
    const [unmatched] = await on.payments.listUnheld('test', ['aa'], 1)
    if (unmatched === undefined) return
    const owner = { invoiceId: 'invoice-a', workspaceId: 'ws-1' }
    await on.payments.attribute({ id: unmatched.id, version: unmatched.version + random.pick([0, 1]) }, owner, tick())
  },
]
