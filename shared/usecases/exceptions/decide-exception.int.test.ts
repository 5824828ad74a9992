import { beforeAll, describe, expect, it } from 'vitest'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import type { Resolution } from '#shared/ports/exception-decisions.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { attachByHand } from './attach-by-hand.ts'
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
  const amountBase = invoice.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key, amountBase }])
  await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
  await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  await advanceInvoice(engine.deps, id)
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  const statusNow = async () => (await engine.deps.invoices.findById(id))?.state.status
  expect(await statusNow()).toBe('expired')
  const stored = await stores.db.connection.collection<{ _id: string }>('payments').findOne({ key })
  return { exceptionId: `late:${key}`, statusNow, invoiceId: id, paymentId: stored?._id ?? '' }
}

const storedDeps = (): DecideDeps => ({ ...engine.deps, decisions: createExceptionDecisions(stores.db) })
const workspaceId = () => engine.workspace.id

const decide = (deps: DecideDeps, exceptionId: string, by: string, resolution: Resolution) =>
  decideException(deps, {
    ...{ workspaceId: workspaceId(), mode: 'test', exceptionId, resolution },
    ...{ opId: `${by}:${exceptionId}`, actor: `user:${by}@example.com`, reason: 'asked' },
  })

/** The store's functions, of which this one is preceded by a minute in which somebody else acts. */
function hangingBefore(
  call: 'claimed' | 'write' | 'resolve',
  meanwhile: () => Promise<unknown>,
  ms = HANGS_MS,
): DecideDeps {
  const deps = storedDeps()
  let hung = false
  const hang = async (): Promise<void> => {
    if (hung) return
    hung = true
    engine.advance(ms)
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

// Guarantee: of a person who rejects a payment and one who attaches it in the same moment, one is refused or reads of the other: nobody returns money that settles an invoice without a word.
describe('a payment that one person attaches while another rejects its exception', () => {
  const attach = (deps: DecideDeps, payment: { paymentId: string; invoiceId: string }) =>
    attachByHand(deps, {
      ...{ ...payment, workspaceId: workspaceId(), valueBase: null, notReturned: false, dryRun: false },
      actor: 'user:ana@example.com',
    })

  it('refuses the rejection while the payment is attached', async () => {
    const { exceptionId, statusNow, ...payment } = await lateMoney('attached-first')
    const hanging = hangingBefore(
      'write',
      async () => {
        await expect(decide(storedDeps(), exceptionId, 'luis', 'rejected')).rejects.toThrow(
          'ana@example.com is working on this.',
        )
      },
      0,
    )
    await attach(hanging, payment)
    expect(await statusNow()).toBe('paid')
    await expect(decide(storedDeps(), exceptionId, 'luis', 'rejected')).rejects.toThrow('so it cannot be rejected')
  })

  it('refuses to attach what is being rejected, and what was rejected after the first check', async () => {
    const { exceptionId, statusNow, ...payment } = await lateMoney('rejected-first')
    const hanging = hangingBefore(
      'resolve',
      async () => {
        await expect(attach(storedDeps(), payment)).rejects.toThrow('luis@example.com is working on this.')
      },
      0,
    )
    await decide(hanging, exceptionId, 'luis', 'rejected')
    expect(await statusNow()).toBe('expired')
    await expect(attach(storedDeps(), payment)).rejects.toThrow(/^luis@example.com rejected this payment at/)
  })

  it('refuses to attach what was rejected between its first check and its claim', async () => {
    const { exceptionId, statusNow, ...payment } = await lateMoney('rejected-between')
    const deps = storedDeps()
    let isFirst = true
    const findRejection: DecideDeps['decisions']['findRejection'] = async (...given) => {
      const found = await deps.decisions.findRejection(...given)
      if (isFirst) {
        isFirst = false
        await decide(storedDeps(), exceptionId, 'luis', 'rejected')
      }
      return found
    }
    await expect(attach({ ...deps, decisions: { ...deps.decisions, findRejection } }, payment)).rejects.toThrow(
      /^luis@example.com rejected this payment at .* No changes were made\.$/,
    )
    expect(await statusNow()).toBe('expired')
  })

  it('says that money was applied and rejected, where the attaching process hung for a minute before the write', async () => {
    const { exceptionId, statusNow, ...payment } = await lateMoney('attach-hangs')
    const hanging = hangingBefore('write', () => decide(storedDeps(), exceptionId, 'luis', 'rejected'))
    await expect(attach(hanging, payment)).rejects.toThrow(
      'The payment was applied, but meanwhile luis@example.com rejected this. Make sure that it is not returned to the customer.',
    )
    expect(await statusNow()).toBe('paid')
  })

  it('does not record a rejection of what closed under its claim', async () => {
    const { exceptionId } = await lateMoney('closed-under')
    const close = () => engine.deps.exceptions.close([exceptionId], engine.deps.clock.now())
    await expect(decide(hangingBefore('resolve', close, 0), exceptionId, 'luis', 'rejected')).rejects.toThrow(
      'This closed automatically because it no longer applies. No changes were made.',
    )
  })
})
