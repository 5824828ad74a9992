import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { type AttackWorld, openAttackWorld } from '../attack-world.fixture.ts'

const stores = useStores()
const reason = 'Agreed with the customers.'
let world: AttackWorld
beforeAll(async () => {
  world = await openAttackWorld(stores)
})

const op = () => ({ opId: randomUUID() })
const person = (email: string, options: Parameters<typeof adminCaller>[1] = {}) =>
  adminCaller(stores, { workspaceId: world.boss.workspaceId, role: 'support', email, ...options })
const statusOf = async (id: string) => (await world.engine.deps.invoices.findById(id))?.state.status
const rowsOf = async (subject: string, action: AuditAction) =>
  await stores.db.collection(AUDIT_LOG).find({ subject, action }).toArray()
const late = async (count: number) => {
  const made = []
  for (let each = 0; each < count; each += 1) {
    await world.engine.watchEverything()
    made.push(await world.latePayment())
  }
  return made
}

test('the preview says per decision how many, which sums, and what is impossible and why, and changes nothing', async () => {
  const [one, two] = await late(2)
  // Money that belongs to no invoice.
  const paymentKey = one?.payment.key ?? ''
  const waiting = await world.exception({ id: `unmatched:${paymentKey}:${world.boss.workspaceId}`, paymentKey })
  const system = await world.exception({ id: `failing_endpoint:${randomUUID()}`, kind: 'failing_endpoint' })
  const { caller, at } = await person('ana@example.com')
  const ids = [one?.exceptionId ?? '', two?.exceptionId ?? '', waiting, system, 'late:nothing-like-it']
  const before = await world.digest()
  const { rows, decisions } = await caller.exceptions.previewMany({ ...at, ids })
  expect(await world.digest()).toEqual(before)
  expect(rows.map(({ id }) => id)).toEqual(ids.slice(0, 4))
  const [accepted, rejected, closed] = decisions
  expect([accepted?.possible, rejected?.possible, closed?.possible]).toEqual([
    ids.slice(0, 2),
    ids.slice(0, 3),
    [system],
  ])
  expect(accepted?.sums).toMatchObject([{ symbol: 'USDT', networkName: 'Ethereum', count: 2 }])
  const units = (one?.payment.amountBase ?? 0n) + (two?.payment.amountBase ?? 0n)
  expect(accepted?.sums[0]?.amount).toBe(formatUnits(units, 6))
  expect(rejected?.sums).toMatchObject([{ symbol: 'USDT', count: 3 }])
  expect(closed?.sums).toEqual([])
  const why = new Map(accepted?.refused.map(({ id, message }) => [id, message]))
  expect(why.get(waiting)).toMatch(/belongs to no invoice yet/)
  expect(why.get(system)).toMatch(/nothing to accept/)
  expect(why.has('late:nothing-like-it')).toBe(true)
  expect(closed?.refused.find(({ id }) => id === waiting)?.message).toMatch(/about money/)
  const viewer = await person('vera@example.com', { role: 'viewer' })
  await expect(viewer.caller.exceptions.previewMany({ ...at, ids })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  // What the preview refuses is refused by the change as well.
  const done = await caller.exceptions.decideMany({
    ...at,
    ...op(),
    ids: [waiting, system],
    resolution: 'accepted',
    reason,
  })
  expect([done.done, done.refused.map(({ id }) => id)]).toEqual([[], [waiting, system]])
  await expect(
    caller.exceptions.decideMany({ ...at, ...op(), ids: [waiting], resolution: 'rejected' }),
  ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  const many = Array.from({ length: 51 }, (_, index) => `late:${index}`)
  await expect(caller.exceptions.previewMany({ ...at, ids: many })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

// Guarantee: each payment counts once, each row is decided by one person, and each person is told who decided the rest.
test('two operators decide the same rows at once', async () => {
  const money = await late(4)
  const ids = money.map(({ exceptionId }) => exceptionId)
  const people = await Promise.all([person('ana@example.com'), person('luis@example.com')])
  const requests = [op(), op()].map((one, index) => ({
    ...{ ...world.boss.at, ...one, reason, resolution: 'accepted' as const },
    ids: index === 0 ? ids : ids.toReversed(),
  }))
  const open = async (index: number) => {
    const [who, request] = [people[index], requests[index]]
    if (who === undefined || request === undefined) throw new Error('no person')
    return await who.caller.exceptions.decideMany(request)
  }
  const results = await Promise.all([open(0), open(1)])
  for (const { done, refused } of results) {
    expect([...done, ...refused.map(({ id }) => id)].toSorted()).toEqual(ids.toSorted())
    for (const { message } of refused)
      expect(message).toMatch(/^(ana|luis)@example\.com (accepted this at|is working on this)/)
  }
  const done = results.flatMap((result) => result.done)
  expect(new Set(done).size).toBe(done.length)
  expect(done.toSorted()).toEqual(ids.toSorted())
  await world.count()
  for (const { exceptionId, invoiceId } of money) {
    expect(await statusOf(invoiceId)).toBe('paid')
    const winner = results[0]?.done.includes(exceptionId) ? 'ana' : 'luis'
    const [first, ...others] = await rowsOf(exceptionId, 'exception.accepted')
    expect([first?.actor, others]).toEqual([`user:${winner}@example.com`, []])
    expect(await rowsOf(invoiceId, 'invoice.funds_accepted')).toHaveLength(1)
  }
  // The answer was lost: each gets the same result again, and nothing happens twice.
  const before = (await world.count()).rows
  const again = await Promise.all([open(0), open(1)])
  expect(again.map((result) => result.done)).toEqual(results.map((result) => result.done))
  expect((await world.count()).rows).toBe(before)
})

// Guarantee: a crash between two rows loses none and decides none twice; a row that reopened meanwhile waits for a new decision.
test('an operation that broke off is continued by its repetition', async () => {
  const money = await late(2)
  const ids = money.map(({ exceptionId }) => exceptionId)
  let resolved = 0
  const broken = await person('ana@example.com', {
    deps: ({ money: parts }) => ({
      money: {
        ...parts,
        decisions: {
          ...parts.decisions,
          claim: async (...given) => {
            resolved += 1
            if (resolved === 2) throw new Error('the process died')
            return await parts.decisions.claim(...given)
          },
        },
      },
    }),
  })
  const request = { ...broken.at, ...op(), ids, reason, resolution: 'rejected' as const }
  await expect(broken.caller.exceptions.decideMany(request)).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' })
  await world.exception({ id: ids[0], kind: 'late', openedAt: world.engine.deps.clock.now() + 1_000 })
  const { caller } = await person('ana@example.com')
  expect(await caller.exceptions.decideMany(request)).toEqual({ done: ids, refused: [] })
  for (const id of ids) expect(await rowsOf(id, 'exception.rejected')).toHaveLength(1)
  expect((await stores.db.collection(EXCEPTIONS).findOne({ _id: ids[0] ?? '' }))?.open).toBe(true)
  const other = { ...request, ids: [ids[0] ?? ''] }
  await expect(caller.exceptions.decideMany(other)).rejects.toMatchObject({ cause: { code: 'IDEMPOTENCY_MISMATCH' } })
})

// Guarantee: money that an operation accepted before its process died is never answered with "no changes were made".
test('an acceptance that was stored but not recorded is recorded by its repetition, also after the relay closed the row', async () => {
  const [money] = await late(1)
  const ids = [money?.exceptionId ?? '']
  const broken = await person('ana@example.com', {
    deps: ({ money: parts }) => ({
      money: {
        ...parts,
        decisions: {
          ...parts.decisions,
          resolve: async () => {
            throw new Error('the process died')
          },
        },
      },
    }),
  })
  const request = { ...broken.at, ...op(), ids, reason, resolution: 'accepted' as const }
  await expect(broken.caller.exceptions.decideMany(request)).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' })
  expect(await statusOf(money?.invoiceId ?? '')).toBe('paid')
  await world.count()
  expect((await stores.db.collection(EXCEPTIONS).findOne({ _id: ids[0] ?? '' }))?.open).toBe(false)
  const { caller, at } = await person('luis@example.com')
  const other = await caller.exceptions.decideMany({ ...at, ...op(), ids, reason, resolution: 'accepted' })
  expect(other.done).toEqual([])
  const again = (await person('ana@example.com')).caller
  expect(await again.exceptions.decideMany(request)).toEqual({ done: ids, refused: [] })
  const [row, ...more] = await rowsOf(ids[0] ?? '', 'exception.accepted')
  expect([row?.actor, more]).toEqual(['user:ana@example.com', []])
  expect(await rowsOf(money?.invoiceId ?? '', 'invoice.funds_accepted')).toHaveLength(1)
})

test('money in another coin than the invoice’s is decided one by one, where its value is entered', async () => {
  const [plain, foreign] = await late(2)
  if (plain === undefined || foreign === undefined) throw new Error('no money')
  await stores.db.collection(PAYMENTS).updateOne({ _id: foreign.payment.id }, { $set: { asset: 'usdc_ethereum' } })
  const { caller, at } = await person('ana@example.com')
  const ids = [plain.exceptionId, foreign.exceptionId]
  const message = expect.stringMatching(/another coin.*Decide it individually/)
  const { decisions } = await caller.exceptions.previewMany({ ...at, ids })
  expect(decisions[0]).toMatchObject({ possible: [ids[0]], refused: [{ id: ids[1], message }] })
  const result = await caller.exceptions.decideMany({ ...at, ...op(), ids, resolution: 'accepted', reason })
  expect(result).toMatchObject({ done: [ids[0]], refused: [{ id: ids[1], message }] })
  expect(await statusOf(foreign.invoiceId)).toBe('expired')
})
