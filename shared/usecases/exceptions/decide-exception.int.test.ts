import { beforeAll, describe, expect, it } from 'vitest'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import type { Resolution } from '#shared/ports/exception-decisions.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay-outbox.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { type DecideDeps, decideException } from './decide-exception.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
/** A claim is another person's to take after a minute. */
const HANGS_MS = 61_000

const stores = useStores()
let engine: Engine
let height = 100

beforeAll(async () => {
  engine = await openEngine(stores)
})

/** An expired invoice whose money came hours late. */
async function lateMoney(key: string) {
  await engine.publishRates()
  await engine.watchEverything()
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const { id } = invoice.terms
  engine.advance(3 * 3_600_000)
  height += 10
  await engine.setCursor(height, engine.deps.clock.now())
  await advanceInvoice(engine.deps, id)
  const amountBase = invoice.state.locks[0]?.quotes[0]?.amountBase ?? 0n
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key, amountBase }])
  await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
  await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  await advanceInvoice(engine.deps, id)
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  const statusNow = async () => (await engine.deps.invoices.findById(id))?.state.status
  expect(await statusNow()).toBe('expired')
  return { exceptionId: `late:${key}`, statusNow }
}

const storedDeps = (): DecideDeps => ({ ...engine.deps, decisions: createExceptionDecisions(stores.db) })
const workspaceId = () => engine.workspace.id

const decide = (deps: DecideDeps, exceptionId: string, by: string, resolution: Resolution) =>
  decideException(deps, {
    ...{ workspaceId: workspaceId(), mode: 'test', exceptionId, resolution },
    ...{ opId: `${by}:${exceptionId}`, actor: `user:${by}@example.com`, reason: 'asked' },
  })

/** The store's functions, of which this one is preceded by a minute in which somebody else acts. */
function hangingBefore(call: 'claimed' | 'write' | 'resolve', meanwhile: () => Promise<unknown>): DecideDeps {
  const deps = storedDeps()
  let hung = false
  const hang = async (): Promise<void> => {
    if (hung) return
    hung = true
    engine.advance(HANGS_MS)
    await meanwhile()
  }
  return {
    ...deps,
    decisions: {
      ...deps.decisions,
      claim: async (...given) => {
        const claimed = await deps.decisions.claim(...given)
        if (call === 'claimed') await hang()
        return claimed
      },
      resolve: async (...given) => {
        if (call === 'resolve') await hang()
        return await deps.decisions.resolve(...given)
      },
    },
    invoices: {
      ...deps.invoices,
      save: async (...given) => {
        if (call === 'write') await hang()
        return await deps.invoices.save(...given)
      },
    },
  }
}

// Guarantee: of two people one decides, also when the first one's process hangs for longer than its claim; nobody returns money that settles an invoice without a word.
describe('a decision whose process hangs for more than a minute', () => {
  it('is refused before it applies what somebody else rejected meanwhile', async () => {
    const { exceptionId, statusNow } = await lateMoney('claimed')
    const hanging = hangingBefore('claimed', () => decide(storedDeps(), exceptionId, 'luis', 'rejected'))
    await expect(decide(hanging, exceptionId, 'ana', 'accepted')).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message: expect.stringMatching(/^luis@example.com rejected this at .* No changes were made\.$/),
    })
    expect(await statusNow()).toBe('expired')
  })

  it('says that money was applied and rejected, where the rejection came just before the write', async () => {
    const { exceptionId, statusNow } = await lateMoney('write')
    const hanging = hangingBefore('write', () => decide(storedDeps(), exceptionId, 'luis', 'rejected'))
    await expect(decide(hanging, exceptionId, 'ana', 'accepted')).rejects.toMatchObject({
      code: 'INVALID_STATE',
      message:
        'The payment was applied, but meanwhile luis@example.com rejected this. Make sure that it is not returned to the customer.',
    })
    expect(await statusNow()).toBe('paid')
  })

  it('cannot be followed by a rejection once the money was applied', async () => {
    const { exceptionId, statusNow } = await lateMoney('applied')
    const hanging = hangingBefore('resolve', async () => {
      await expect(decide(storedDeps(), exceptionId, 'luis', 'rejected')).rejects.toMatchObject({
        message: expect.stringMatching(/^This money was applied to invoice #\d+, so it cannot be rejected\.$/),
      })
    })
    await decide(hanging, exceptionId, 'ana', 'accepted')
    expect(await statusNow()).toBe('paid')
  })

  it('is told, as a rejection, who accepted the money meanwhile', async () => {
    const { exceptionId, statusNow } = await lateMoney('rejection')
    const hanging = hangingBefore('resolve', () => decide(storedDeps(), exceptionId, 'luis', 'accepted'))
    await expect(decide(hanging, exceptionId, 'ana', 'rejected')).rejects.toMatchObject({
      message: expect.stringMatching(/^luis@example.com accepted this at .* No changes were made\.$/),
    })
    expect(await statusNow()).toBe('paid')
  })
})
