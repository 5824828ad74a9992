import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MAILS, type MailRecord } from '#shared/db/mails/mail-model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { useStores } from '#test/support/stores.ts'
import { AUDIT_LOG } from './audit-model.ts'
import { audited } from './audited.ts'

const stores = useStores()
const things = () => stores.db.connection.collection<{ _id: string; turns: number }>('things')
const row = (change: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{
    id: `row:${randomUUID()}`,
    at: 1,
    actor: 'user:ana@example.com',
    action: 'golive.master_key_stated',
    subject: randomUUID(),
  },
  ...{ workspaceId: null, mode: null, detail: {} },
  ...change,
})
const mail = (id: string): MailRecord => {
  return { id, workspaceId: '', template: 'account_changed', to: 'ana@example.com', data: {}, createdAt: 1 }
}
const turn = (audit: AuditRecord, found = true) =>
  audited(stores.db, { audit, mails: [mail(`mail:${audit.id}`)] }, async (session) => {
    const options = { upsert: true, session }
    await things().updateOne({ _id: audit.subject }, { $inc: { turns: 1 } }, options)
    return found
  })
/** How often the thing was turned, and how many rows and mails say so. */
async function seen({ id, subject }: AuditRecord): Promise<readonly number[]> {
  const thing = await things().findOne({ _id: subject })
  const rows = await stores.db.collection(AUDIT_LOG).countDocuments({ _id: id })
  const mails = await stores.db.collection(MAILS).countDocuments({ _id: `mail:${id}` })
  return [thing?.turns ?? 0, rows, mails]
}

// Guarantee: whatever happens, there is the change with its row and its mail, or none of the three.
describe('a change, its audit row and its mails', () => {
  it('are stored together', async () => {
    const audit = row()
    expect(await turn(audit)).toBe(true)
    expect(await seen(audit)).toEqual([1, 1, 1])
  })

  it('are stored once for one id', async () => {
    const audit = row()
    await turn(audit)
    expect(await turn({ ...audit, at: 2, detail: { late: true } })).toBe(false)
    expect(await seen(audit)).toEqual([1, 1, 1])
  })

  it.each([
    ['actor', { actor: 'user:eve@example.com' }],
    ['action', { action: 'golive.mail_sent' as const }],
    ['subject', { subject: 'another thing' }],
    ['workspace', { workspaceId: 'another workspace' }],
  ])('an id that was used with another %s is refused and changes nothing', async (_what, change) => {
    const audit = row()
    await turn(audit)
    await expect(turn({ ...audit, ...change })).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' })
    expect(await seen(audit)).toEqual([1, 1, 1])
    expect(await things().findOne({ _id: 'another thing' })).toBeNull()
  })

  it('stay away when there was nothing to change, with whatever the change wrote on the way', async () => {
    const audit = row()
    expect(await turn(audit, false)).toBe(false)
    expect(await seen(audit)).toEqual([0, 0, 0])
  })

  it('stay away when the change fails half-way', async () => {
    const audit = row()
    const broken = audited(stores.db, audit, async (session) => {
      await things().updateOne({ _id: audit.subject }, { $inc: { turns: 1 } }, { upsert: true, session })
      throw new Error('the process died here')
    })
    await expect(broken).rejects.toThrow('died here')
    expect(await seen(audit)).toEqual([0, 0, 0])
    expect(await turn(audit)).toBe(true)
  })

  it('stay away when the last of its mails cannot be stored', async () => {
    const audit = row()
    const tooLarge = { ...mail(`mail:${audit.id}:2`), data: { text: 'x'.repeat(17 * 1_048_576) } }
    const broken = audited(stores.db, { audit, mails: [mail(`mail:${audit.id}`), tooLarge] }, async (session) => {
      await things().updateOne({ _id: audit.subject }, { $inc: { turns: 1 } }, { upsert: true, session })
      return true
    })
    await expect(broken).rejects.toThrow()
    expect(await seen(audit)).toEqual([0, 0, 0])
  })

  it('are one of each for ten processes at the same moment', async () => {
    const audit = row()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => turn(audit)))
    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect(await seen(audit)).toEqual([1, 1, 1])
  })
})
