import { beforeAll, describe, expect, test } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { AUDIT_ORDER, auditFilter } from '#shared/db/audit/audit-search.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const T0 = 1_790_000_000_000
let here: AdminCaller
let other: AdminCaller
beforeAll(async () => {
  here = await adminCaller(stores)
  other = await adminCaller(stores, { deps: () => here.deps })
  await here.deps.audits.insertMany(
    Array.from({ length: 90 }, (_, index) => ({
      id: `row-${String(index).padStart(3, '0')}`,
      // Three rows of each moment: pages must not lose one of them.
      at: T0 + Math.floor(index / 3) * 1_000,
      actor: index % 2 === 0 ? 'user:ana@example.com' : 'user:luis@example.com',
      action: 'invoice.cancelled',
      subject: `invoice-${index % 10}`,
      workspaceId: index % 3 === 0 ? other.workspaceId : here.workspaceId,
      mode: 'test' as const,
      detail: { reason: `because ${index}` },
    })),
  )
})

async function all(narrow: object, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<AdminCaller['caller']['audit']['list']>> = await here.caller.audit.list({
      ...here.at,
      ...narrow,
      limit,
      cursor,
    })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

describe('the audit trail', () => {
  test('pages show every row of the workspace once, newest first, and none of others', async () => {
    const [created, ...ids] = await all({}, 7)
    expect(created).toBe(`workspace-created:${here.workspaceId}`)
    expect(new Set(ids).size).toBe(60)
    expect(ids).toHaveLength(60)
    expect([...ids].sort().reverse()).toEqual(ids)
    expect(ids.every((id) => Number(id.slice(4)) % 3 !== 0)).toBe(true)
  })

  test('it is narrowed by subject, actor and time', async () => {
    expect(await all({ subject: 'invoice-1' }, 50)).toHaveLength(6)
    expect(await all({ actor: 'user:ana@example.com' }, 50)).toHaveLength(30)
    expect(await all({ from: T0 + 10_000, until: T0 + 12_000 }, 50)).toHaveLength(4)
    const foreign = here.caller.audit.list({ ...here.at, cursor: 'nonsense' })
    await expect(foreign).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('who runs the installation sees all of it, and whether it is what was written', async () => {
    const operator = await adminCaller(stores, { role: null, operator: true, deps: () => here.deps })
    const { items } = await operator.caller.audit.listAll({ limit: 100, actor: 'user:ana@example.com' })
    expect(items).toHaveLength(45)
    const waiting = await stores.db.collection(AUDIT_LOG).countDocuments()
    expect(await operator.caller.audit.verify({})).toMatchObject({ intact: true, checked: 0, head: null, waiting })
  })

  test('every list is read through an index, in its order', async () => {
    const workspaceId = here.workspaceId
    const after = { at: T0 + 20_000, id: 'row-060' }
    const filters = [
      { workspaceId },
      { workspaceId, actor: 'user:ana@example.com' },
      { workspaceId: null },
      { workspaceId: null, actor: 'user:ana@example.com' },
    ]
    for (const filter of filters) {
      const plan = await stores.db
        .collection(AUDIT_LOG)
        .find(auditFilter(filter, after))
        .sort(AUDIT_ORDER)
        .limit(10)
        .explain('queryPlanner')
      const text = JSON.stringify(plan['queryPlanner'].winningPlan)
      expect(text).toContain('IXSCAN')
      expect(text).not.toContain('"SORT"')
    }
  })
})
