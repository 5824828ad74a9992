import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditParts } from '#test/support/audit-parts.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { extendAuditChain } from './audit-chain.ts'
import { CHAIN_START, chainHash } from './audit-chain-text.ts'
import { verifyAudit } from './verify-audit.ts'

const stores = useStores()
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number }>('audit_log')
const chain = () => createAuditChainRepository(stores.db)
const onward = () => false
const keys = createAuditKeys(new Uint8Array(32).fill(9))
const parts = () => auditParts(stores, keys)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const verify = (since: AuditHeadMark | null = null) => verifyAudit(parts(), { since, onProgress: () => undefined })

const action = (n: number, change: Partial<AuditRecord> = {}): AuditRecord => ({
  id: `audit-${String(n).padStart(5, '0')}`,
  at: 1_800_000_000_000 + n,
  actor: 'cli:ada',
  action: 'exception.closed',
  subject: `subject-${n}`,
  workspaceId: n % 2 === 0 ? null : 'ws',
  mode: 'test',
  detail: { kind: 'unmatched', amount: n, note: 'né "€"', invoice: null },
  ...change,
})

async function done(from: number, to: number): Promise<void> {
  const operations = Array.from({ length: to - from + 1 }, (_, index) => action(from + index))
  await createAuditRepository(stores.db).insertMany(operations)
}
async function chained(count: number): Promise<void> {
  await done(1, count)
  await extendAuditChain(parts(), onward)
}
/** Somebody with access to the store, who need not respect any index of ours. */
const tamper = async (seq: number, change: object) =>
  void (await rows().updateOne({ seq }, { $set: change }, { bypassDocumentValidation: true }))

beforeEach(async () => {
  await rows().deleteMany({})
  await stores.db.connection.collection<{ _id: string }>('installation').deleteMany({ _id: /^audit-/ as never })
})

describe('the chain', () => {
  it('is what its description says, so that anybody can compute it', () => {
    const record = action(1)
    expect(CHAIN_START).toBe('0000000000000000000000000000000000000000000000000000000000000000')
    const text = `{"prevHash":"${CHAIN_START}","row":{"action":"exception.closed","actor":"cli:ada","at":1800000000001,"detail":{"amount":1,"invoice":null,"kind":"unmatched","note":"né \\"€\\""},"id":"audit-00001","mode":"test","subject":"subject-1","workspaceId":"ws"},"seq":1}`
    expect(chainHash(1, CHAIN_START, record)).toBe(sha256(text))
  })

  deepTest('takes rows in the order of their actions, a hundred at a time', async () => {
    // Stored the other way round: what counts is when each was done.
    for (const from of [201, 101, 1]) await done(from, Math.min(from + 99, 250))
    const sizes: number[] = []
    const append: ReturnType<typeof chain>['append'] = async (step) => {
      sizes.push(step.links.length)
      return await chain().append(step)
    }
    expect(await extendAuditChain({ ...parts(), auditChain: { ...chain(), append } }, onward)).toBe(250)
    expect(sizes).toEqual([100, 100, 50])
    const placed = await chain().listChained(null, 250)
    expect(placed.map(({ record }) => record.id)).toEqual(Array.from({ length: 250 }, (_, n) => action(n + 1).id))
    await done(251, 260)
    expect(await verify()).toMatchObject({ intact: true, checked: 250, unchained: { waiting: 10, outside: 0 } })
    expect(await extendAuditChain(parts(), onward)).toBe(10)
    expect(await verify()).toMatchObject({ intact: true, checked: 260, unchained: { waiting: 0 }, head: { seq: 260 } })
  })

  // Guarantee: however many writers there are, and however long one slept, there is one chain with every row once.
  deepTest('is one chain after several writers at once', async () => {
    await done(1, 300)
    const writers = Array.from({ length: 4 }, async () => {
      while ((await chain().waiting(1)).length > 0) await extendAuditChain(parts(), onward)
    })
    await Promise.all(writers)
    expect(await verify()).toMatchObject({ intact: true, checked: 300, unchained: { waiting: 0, outside: 0 } })
  })

  it('is not forked by a holder that was frozen between reading and writing', async () => {
    await chained(3)
    await done(4, 6)
    const frozen = {
      ...chain(),
      append: async (links: Parameters<ReturnType<typeof chain>['append']>[0]) => {
        await extendAuditChain(parts(), onward)
        await done(7, 8)
        return chain().append(links)
      },
    }
    expect(await extendAuditChain({ ...parts(), auditChain: frozen }, onward)).toBe(0)
    expect(await verify()).toMatchObject({ intact: true, checked: 6, unchained: { waiting: 2 } })
    expect(await extendAuditChain(parts(), onward)).toBe(2)
  })

  it('gives no row of a batch a place when one of them cannot have it', async () => {
    await done(1, 2)
    const links = [action(1), action(99)].map(({ id }, index) => ({
      ...{ id, seq: index + 1, prevHash: 'p', hash: 'h', keyId: 'k', mac: 'm' },
    }))
    const head = { seq: 2, hash: 'h', keyId: 'k', mac: 'm' }
    expect(await chain().append({ was: null, checkpoint: null, links, head })).toBe(false)
    expect(await chain().head()).toBeNull()
    expect(await chain().tail()).toBeNull()
    await extendAuditChain(parts(), onward)
    expect(await verify()).toMatchObject({ intact: true, checked: 2 })
  })

  // Guarantee: every row that Paymesh writes waits for its place or has one.
  it('is broken by a row that neither has a place nor waits for one', async () => {
    await chained(2)
    await done(3, 3)
    expect(await verify()).toMatchObject({ intact: true })
    await rows().updateMany({ waits: true }, { $unset: { waits: '' } })
    expect(await verify()).toMatchObject({ intact: false, checked: 2, firstBreak: { kind: 'outside' } })
  })
})

// Guarantee: what a person did cannot be taken back or rewritten without anybody seeing it.
describe('verifying finds', () => {
  it.each(
    sampleOf(
      [
        ['who', { actor: 'cli:eve' }],
        ['what', { action: 'exception.opened' }],
        ['when', { at: new Date(1) }],
        ['a detail', { 'detail.amount': 7 }],
        ['a detail more', { 'detail.extra': true }],
        ['its hash', { hash: 'f'.repeat(64) }],
        ['its number, into text', { seq: '3' }],
      ],
      2,
    ),
  )('a row with a change of %s', async (_what, change) => {
    await chained(5)
    await tamper(3, change)
    const { intact, firstBreak, checked } = await verify()
    expect([intact, firstBreak?.seq, checked]).toEqual([false, 3, 2])
  })

  it('a changed row whose hash was computed again', async () => {
    await chained(5)
    const record = action(3, { actor: 'cli:eve' })
    const [, second] = await chain().listChained(null, 2)
    const prevHash = second?.hash ?? ''
    await tamper(3, { actor: 'cli:eve', hash: chainHash(3, prevHash, record) })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'forged', seq: 3, id: 'audit-00003' })
  })

  it('a removed row, at the end, in the middle and at the beginning', async () => {
    await chained(5)
    await rows().deleteOne({ seq: 5 })
    expect(await verify()).toMatchObject({ intact: false, checked: 4, firstBreak: { kind: 'cut', seq: 5 } })
    await rows().deleteOne({ seq: 3 })
    expect((await verify()).firstBreak).toMatchObject({
      kind: 'removed',
      seq: 3,
      words: expect.stringContaining('is missing'),
    })
    await rows().deleteOne({ seq: 1 })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'removed', seq: 1 })
  })

  it('two rows that changed places', async () => {
    await chained(5)
    await tamper(2, { seq: 99 })
    await tamper(4, { seq: 2 })
    await tamper(99, { seq: 4 })
    expect((await verify()).firstBreak).toMatchObject({
      kind: 'moved',
      seq: 2,
      words: expect.stringContaining('as row 4'),
    })
  })

  it('two rows with one number, where somebody took the index away', async () => {
    await chained(3)
    await rows().dropIndex('audit_chain')
    try {
      const second = await rows().findOne({ seq: 2 })
      await rows().insertOne({ ...second, _id: 'audit-forged', seq: 2 })
      expect((await verify()).firstBreak).toMatchObject({ kind: 'forked', seq: 2 })
    } finally {
      await rows().deleteMany({})
      await rows().createIndex(
        { seq: 1 },
        { name: 'audit_chain', unique: true, partialFilterExpression: { seq: { $exists: true } } },
      )
    }
  })

  deepTest('a whole chain that was written again', async () => {
    await chained(4)
    const { head } = await verify()
    await rows().deleteMany({})
    await createAuditRepository(stores.db).insertMany([1, 2, 3, 4].map((n) => action(n, { actor: 'cli:eve' })))
    await expect(extendAuditChain(parts(), onward)).rejects.toThrow('row 4 was signed as its end')
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 1 })
    expect((await verify(head)).firstBreak).toMatchObject({ kind: 'cut' })
  })
})

it('verifying says how far it is, row by row of any number', async () => {
  await chained(1_100)
  const reported: number[] = []
  const verdict = await verifyAudit(parts(), { since: null, onProgress: (checked) => reported.push(checked) })
  expect([verdict.checked, reported]).toEqual([1_100, [1_000, 1_100]])
})
