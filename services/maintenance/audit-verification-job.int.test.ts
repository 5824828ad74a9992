import { beforeEach, describe, expect, it } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { acknowledgeBreak } from '#shared/usecases/audit/acknowledge-break.ts'
import { verifyAudit } from '#shared/usecases/audit/verify-audit.ts'
import { auditParts, memoryMarks } from '#test/support/audit-parts.ts'
import { useStores } from '#test/support/stores.ts'
import { auditChainJob } from './audit-chain-job.ts'
import { auditVerificationJob } from './audit-verification-job.ts'

const stores = useStores()
const keys = createAuditKeys(new Uint8Array(32).fill(9))
const collection = (name: string) => stores.db.connection.collection<{ _id: string; seq?: number }>(name)
const rows = () => collection('audit_log')
const facts = () => collection('installation')
let marks = memoryMarks()

beforeEach(async () => {
  await rows().deleteMany({})
  await facts().deleteMany({ _id: { $regex: '^audit-' } as never })
  marks = memoryMarks()
})

const insert = async (from: number, to: number) =>
  await createAuditRepository(stores.db).insertMany(
    Array.from({ length: to - from + 1 }, (_, index) => ({
      ...{ id: `row-${from + index}`, at: from + index, actor: 'a', action: 'golive.master_key_stated', subject: 'c' },
      ...{ workspaceId: null, mode: null, detail: {} },
    })),
  )

/** A maintenance process: its writer and its verifier, which remember nothing of a process before it. */
function startProcess() {
  const shown: number[] = []
  const gauge = (name: string, value: number): void => {
    if (name === 'audit_log_broken') shown.push(value)
  }
  const deps = { ...stores.runtime, ...auditParts(stores, keys, marks), metrics: { ...stores.runtime.metrics, gauge } }
  const [writer, verifier] = [auditChainJob(deps), auditVerificationJob(deps)]
  const round = (job: typeof writer) => job.round(new AbortController().signal, undefined)
  return { chain: () => round(writer), verify: () => round(verifier), shown }
}
/** `paymesh audit verify`, which shares no memory with any process. */
const command = () => verifyAudit(auditParts(stores, keys, marks), { since: null, onProgress: () => undefined })
const acknowledge = () =>
  acknowledgeBreak(auditParts(stores, keys, marks), { actor: 'cli:ada', reason: 'restored by hand' })

async function chainedRows(count: number) {
  const process = startProcess()
  await insert(1, count)
  await process.chain()
  await process.verify()
  expect(process.shown).toEqual([0])
  return process
}

/** Removes rows from number `after` on, and puts the documents back that were saved before they were written. */
async function cutAndPutBack(after: number, saved: readonly { _id: string }[]): Promise<void> {
  await rows().deleteMany({ seq: { $gt: after } })
  for (const fact of saved)
    await collection('installation').replaceOne({ _id: fact._id }, fact as never, { upsert: true })
}
const savedFacts = () =>
  facts()
    .find({ _id: { $in: ['audit-head', 'audit-verified'] } })
    .toArray()

// Guarantee: what one process noticed does not end with it.
describe('rows that are cut off, with the signed documents of before put back', () => {
  it('are noticed by a process that never saw them, and chaining stops until a person answers', async () => {
    await chainedRows(3)
    const saved = await savedFacts()
    await insert(4, 5)
    const writer = startProcess()
    await writer.chain()
    await writer.verify()
    await cutAndPutBack(3, saved)
    expect((await command()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })

    const next = startProcess()
    await insert(6, 6)
    await expect(next.chain()).rejects.toThrow('number 5 was recorded outside of the store')
    await next.verify()
    expect(next.shown).toEqual([1])
    expect((await command()).intact).toBe(false)
    expect(await rows().countDocuments({ seq: { $gt: 3 } })).toBe(0)

    const { seq } = await acknowledge()
    const after = startProcess()
    await after.chain()
    await after.verify()
    expect(after.shown).toEqual([0])
    expect(await command()).toMatchObject({
      ...{ intact: true, head: { seq: seq + 1 }, unchained: { waiting: 0 } },
      answered: [{ kind: 'cut', by: 'cli:ada', reason: 'restored by hand' }],
    })
    // The gap that the cut left is never filled: a number that was given once names one row.
    expect(seq).toBeGreaterThan(5)
  })

  it('are noticed by the process that wrote them, also where no mark can be read', async () => {
    const process = await chainedRows(3)
    const saved = await savedFacts()
    await insert(4, 5)
    await process.chain()
    marks.at = null
    await cutAndPutBack(3, saved)
    await insert(6, 6)
    await expect(process.chain()).rejects.toThrow('gone or was replaced')
    // The process dies, and with it what it saw; the stored break stays.
    await expect(startProcess().chain()).rejects.toThrow('gone or was replaced')
    expect((await command()).firstBreak).toMatchObject({ kind: 'cut' })
  })
})

describe('a break that was noticed', () => {
  it('counts over a restart although the row is put back as it was', async () => {
    await chainedRows(3)
    const [second] = await rows().find({ seq: 2 }).toArray()
    await rows().updateOne({ seq: 2 }, { $set: { actor: 'eve' } } as never)
    const sawAll = startProcess()
    await facts().deleteOne({ _id: 'audit-verified' })
    await sawAll.verify()
    await rows().replaceOne({ seq: 2 }, second ?? {})
    const next = startProcess()
    await next.verify()
    expect([sawAll.shown, next.shown]).toEqual([[1], [1]])
    expect((await command()).firstBreak?.words).toMatch(/row-2.* Noticed at .* not answered yet/)
  })

  // Attack: the record of a break disappears without an answer.
  it.each([
    ['removed', () => facts().deleteOne({ _id: 'audit-breaks' })],
    ['changed', () => facts().updateOne({ _id: 'audit-breaks' }, { $set: { value: '{}' } } as never)],
  ])('cannot be %s: its number is in the mark outside of the store', async (_what, hide) => {
    await chainedRows(3)
    const [second] = await rows().find({ seq: 2 }).toArray()
    await rows().updateOne({ seq: 2 }, { $set: { actor: 'eve' } } as never)
    await facts().deleteOne({ _id: 'audit-verified' })
    await startProcess().verify()
    await rows().replaceOne({ seq: 2 }, second ?? {})
    await hide()
    expect((await command()).intact).toBe(false)
    await insert(4, 4)
    await expect(startProcess().chain()).rejects.toThrow()
    expect((await command()).intact).toBe(false)
  })

  it('is raised in the mark once its place answers again', async () => {
    await chainedRows(3)
    await rows().updateOne({ seq: 2 }, { $set: { actor: 'eve' } } as never)
    await facts().deleteOne({ _id: 'audit-verified' })
    const isAway = { highest: () => Promise.resolve(null), raise: () => Promise.resolve() }
    const deps = { ...stores.runtime, ...auditParts(stores, keys, isAway) }
    await auditVerificationJob(deps).round(new AbortController().signal, undefined)
    expect(marks.at).toBe(3)
    await expect(startProcess().chain()).rejects.toThrow('row-2')
    expect(marks.at).toBe(4)
  })
})

describe('signatures that are taken off', () => {
  it('are reported in the first run, before and after a restart', async () => {
    const process = await chainedRows(3)
    await rows().updateMany({}, { $unset: { mac: '', keyId: '' } } as never)
    await facts().deleteMany({ _id: { $in: ['audit-head', 'audit-verified'] } as never })
    await process.verify()
    await insert(4, 4)
    await expect(process.chain()).rejects.toThrow('row-1')
    const next = startProcess()
    await expect(next.chain()).rejects.toThrow('row-1')
    await next.verify()
    expect([process.shown, next.shown]).toEqual([[0, 1], [1]])
    expect((await command()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 1 })
  })
})

// Guarantee: a key that is missing here is a setting to correct, and needs no answer.
it('is sound again with the former key', async () => {
  await chainedRows(3)
  const other = createAuditKeys(new Uint8Array(32).fill(10))
  const deps = { ...stores.runtime, ...auditParts(stores, other, marks) }
  await expect(auditChainJob(deps).round(new AbortController().signal, undefined)).rejects.toThrow('not known here')
  await auditVerificationJob(deps).round(new AbortController().signal, undefined)
  expect(await command()).toMatchObject({ intact: true, answered: [] })
})
