import { beforeAll, describe, expect, it } from 'vitest'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { sendDigests } from './send-digests.ts'

const stores = useStores()
const DAY = Date.UTC(2026, 10, 20)
const HOUR = 3_600_000
const HOSTILE = '=1+1 <script>alert(1)</script> \u202egnp.exe'
let engine: Engine
let now = DAY + 6 * HOUR

beforeAll(async () => {
  engine = await openEngine(stores)
})

const send = () =>
  sendDigests({ ...engine.deps, clock: { now: () => now }, decisions: createExceptionDecisions(stores.db) })
const mails = async () =>
  (await createMailQueue(stores.db).listNewest(20)).filter((one) => one.template === 'exceptions_digest')

async function open(workspaceId: string, id: string, openedAt: number, mode: Mode = 'live'): Promise<void> {
  const about = { workspaceId, mode, invoiceId: null, paymentKey: null } as const
  await engine.deps.exceptions.open([{ id, kind: 'late', ...about, detail: 'x', openedAt, closedAt: null }])
}

describe('the daily mail of open exceptions', () => {
  // Guarantee: one mail a day and workspace however often it is asked, and never more than the owner wants.
  it('comes once a day, at the hour of the workspace, and counts what was open by then', async () => {
    const late = await createWorkspace(engine.deps, { name: HOSTILE, ownerEmail: 'owner@example.com', actor: 'test' })
    const never = await createWorkspace(engine.deps, { name: 'Quiet', ownerEmail: 'quiet@example.com', actor: 'test' })
    await engine.deps.workspaces.update(late.id, { policy: { ...late.policy, digestHour: 9 } })
    await engine.deps.workspaces.update(never.id, { policy: { ...never.policy, digestHour: null } })
    await open(late.id, 'late:a', DAY)
    await open(late.id, 'late:b', DAY + 8 * HOUR)
    await open(never.id, 'late:c', DAY)
    now = DAY + 8.5 * HOUR
    expect(await send()).toBe(0)
    now = DAY + 9 * HOUR
    await Promise.all([send(), send()])
    now += 5 * HOUR
    await send()
    const [mail, ...others] = await mails()
    expect(others).toEqual([])
    expect(mail).toMatchObject({ to: 'owner@example.com', data: { count: '2' } })
    now += 24 * HOUR
    await send()
    expect(await mails()).toHaveLength(2)
  })

  // Guarantee: a workspace's own name is shown as text, never as markup, another header or turned round.
  it('shows hostile names harmlessly', async () => {
    const [mail] = await mails()
    if (mail === undefined) throw new Error('no mail')
    const { subject, html, text } = renderMail(mail)
    expect(html).not.toContain('<script')
    expect(subject + html + text).not.toMatch(/\u202e/)
    expect(subject).toMatch(/^2 open exceptions at =1\+1/)
  })

  // Guarantee: exceptions that somebody else makes without a limit, or test mode, keep no owner from reading of money.
  it('names every kind and mode, and every workspace, while one has more open exceptions than are counted', async () => {
    const flooded = await createWorkspace(engine.deps, {
      name: 'Flooded',
      ownerEmail: 'flooded@example.com',
      actor: 'test',
    })
    const calm = await createWorkspace(engine.deps, { name: 'Calm', ownerEmail: 'calm@example.com', actor: 'test' })
    now = DAY + 3 * 24 * HOUR
    const about = { workspaceId: flooded.id, mode: 'test' as const, invoiceId: null, paymentKey: null, detail: 'x' }
    const rows = Array.from({ length: 11_000 }, (_, one) => ({
      ...{ _id: `late:${one}`, kind: 'late' as const, ...about },
      ...{ open: true, openedAt: new Date(now), closedAt: null },
    }))
    await stores.db.collection(EXCEPTIONS).insertMany(rows)
    await open(flooded.id, 'late:real', now)
    await open(calm.id, 'late:calm', now)
    now += 12 * HOUR
    await send()
    const texts = new Map((await mails()).map(({ to, data }) => [to, data]))
    expect(texts.get('flooded@example.com')).toMatchObject({ count: '10001' })
    expect(String(texts.get('flooded@example.com')?.['kinds']).split('; ')).toEqual([
      'Late payment: 1, since 2026-11-23 00:00 UTC',
      'Late payment (test mode): 10000, since 2026-11-23 00:00 UTC',
    ])
    expect(texts.get('calm@example.com')).toMatchObject({ count: '1' })
  })

  it('counts each kind apart for the dashboard', async () => {
    const { id } = await createWorkspace(engine.deps, { name: 'Many', ownerEmail: 'many@example.com', actor: 'test' })
    for (const one of ['a', 'b', 'c']) await open(id, `many:${one}`, now)
    const record = { id: 'unmatched:many', kind: 'unmatched', mode: 'live', invoiceId: null, paymentKey: null } as const
    await engine.deps.exceptions.open([{ ...record, workspaceId: id, detail: 'x', openedAt: now, closedAt: null }])
    const counts = await createExceptionDecisions(stores.db).countOpen(id, 'live', 2)
    expect([...counts]).toEqual([
      ['late', 2],
      ['unmatched', 1],
    ])
  })
})
