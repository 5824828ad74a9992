import { randomUUID } from 'node:crypto'
import type { AnyTRPCProcedure } from '@trpc/server'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WORKSPACE_STATUSES, type WorkspaceStatus, worksIn } from '#shared/domain/enumerations.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { type AppRouter, appRouter } from './app-router.ts'
import type { ProcedureMeta } from './trpc.ts'

type PathsOf<R, Before extends string = ''> = {
  [K in keyof R & string]: R[K] extends AnyTRPCProcedure ? `${Before}${K}` : PathsOf<R[K], `${Before}${K}.`>
}[keyof R & string]
type Path = Exclude<
  PathsOf<AppRouter['_def']['record']>,
  | `${'auth' | 'chains' | 'queues' | 'rates' | 'system'}.${string}`
  | `audit.${'listAll' | 'verify'}`
  | `diagnostics.${'invoice' | 'transaction'}`
  | `exceptions.${'ofInstallation' | 'closeOfInstallation'}`
>

const [ACTIVE, RESTRICTED, SUSPENDED] = WORKSPACE_STATUSES

/**
 * The last status of a workspace in which each of its procedures works (decision 0099), written down once more: a new procedure does not
 * compile until it has its line.
 */
const WORKS_WHILE: Readonly<Record<Path, WorkspaceStatus>> = {
  // What takes money.
  'invoices.create': ACTIVE,
  'paymentLinks.create': ACTIVE,
  'paymentLinks.update': ACTIVE,
  'products.create': ACTIVE,
  'products.update': ACTIVE,
  'goLive.startPayment': ACTIVE,
  // What prepares for it, changes what payers see, or makes the installation act for the workspace.
  'invoices.openRefund': RESTRICTED,
  'invoices.simulate': RESTRICTED,
  'workspace.update': RESTRICTED,
  'workspace.adoptZone': RESTRICTED,
  'workspace.setLogo': RESTRICTED,
  'members.invite': RESTRICTED,
  'apiKeys.create': RESTRICTED,
  'endpoints.create': RESTRICTED,
  'endpoints.update': RESTRICTED,
  'endpoints.sendTest': RESTRICTED,
  'wallets.add': RESTRICTED,
  'wallets.challenge': RESTRICTED,
  'wallets.prove': RESTRICTED,
  'wallets.enable': RESTRICTED,
  'goLive.confirmAddress': RESTRICTED,
  'goLive.stateMasterKey': RESTRICTED,
  'goLive.sendMail': RESTRICTED,
  // Decisions about money that is under way.
  'exceptions.accept': SUSPENDED,
  'exceptions.attach': SUSPENDED,
  'exceptions.reject': SUSPENDED,
  'exceptions.close': SUSPENDED,
  'exceptions.decideMany': SUSPENDED,
  'exceptions.note': SUSPENDED,
  'payments.attach': SUSPENDED,
  'payments.count': SUSPENDED,
  'invoices.addNote': SUSPENDED,
  'invoices.recordRefund': SUSPENDED,
  'deliveries.resend': SUSPENDED,
  'deliveries.resendMany': SUSPENDED,
  'endpoints.recover': SUSPENDED,
  'endpoints.setStatus': SUSPENDED,
  'endpoints.rotate': SUSPENDED,
  // What ends or takes back.
  'invoices.cancel': SUSPENDED,
  'invoices.withdrawRefund': SUSPENDED,
  'invoices.eraseCustomer': SUSPENDED,
  'paymentLinks.deactivate': SUSPENDED,
  'apiKeys.revoke': SUSPENDED,
  'endpoints.remove': SUSPENDED,
  'wallets.disable': SUSPENDED,
  'members.setRole': SUSPENDED,
  'members.remove': SUSPENDED,
  'members.withdrawInvitation': SUSPENDED,
  // Reading.
  'apiKeys.list': SUSPENDED,
  'audit.list': SUSPENDED,
  'customers.get': SUSPENDED,
  'customers.invoices': SUSPENDED,
  'deliveries.event': SUSPENDED,
  'deliveries.events': SUSPENDED,
  'deliveries.get': SUSPENDED,
  'deliveries.list': SUSPENDED,
  'diagnostics.explain': SUSPENDED,
  'endpoints.get': SUSPENDED,
  'endpoints.list': SUSPENDED,
  'exceptions.counts': SUSPENDED,
  'exceptions.get': SUSPENDED,
  'exceptions.list': SUSPENDED,
  'exceptions.previewMany': SUSPENDED,
  'funds.advice': SUSPENDED,
  'funds.page': SUSPENDED,
  'goLive.read': SUSPENDED,
  'invoices.assets': SUSPENDED,
  'invoices.counts': SUSPENDED,
  'invoices.get': SUSPENDED,
  'invoices.list': SUSPENDED,
  'invoices.timeline': SUSPENDED,
  'live.changes': SUSPENDED,
  'members.list': SUSPENDED,
  'overview.attention': SUSPENDED,
  'overview.chains': SUSPENDED,
  'overview.firstSteps': SUSPENDED,
  'overview.funnel': SUSPENDED,
  'overview.volume': SUSPENDED,
  'overview.webhooks': SUSPENDED,
  'paymentLinks.get': SUSPENDED,
  'paymentLinks.list': SUSPENDED,
  'payments.list': SUSPENDED,
  'payments.previewAttach': SUSPENDED,
  'products.list': SUSPENDED,
  'settlements.list': SUSPENDED,
  'wallets.list': SUSPENDED,
  'wallets.prepare': SUSPENDED,
  'wallets.get': SUSPENDED,
  'wallets.use': SUSPENDED,
  'workspace.get': SUSPENDED,
  'workspace.logo': SUSPENDED,
}
const ROWS = Object.entries(WORKS_WHILE) as readonly (readonly [Path, WorkspaceStatus])[]

const stores = useStores()
let owner: AdminCaller
let foreign: AdminCaller
beforeAll(async () => {
  owner = await adminCaller(stores)
  foreign = await adminCaller(stores, { deps: () => owner.deps })
})
beforeEach(() => become('active'))

const become = (status: WorkspaceStatus) => owner.deps.workspaces.update(owner.workspaceId, { status })

/** The code of a refusal for the status; null when the procedure got further, whatever came of it. */
async function refusal(path: string, { caller, at }: Pick<AdminCaller, 'caller' | 'at'> = owner) {
  let target: unknown = caller
  for (const name of path.split('.')) target = (target as Record<string, unknown>)[name]
  try {
    const answer = await (target as (input: object) => Promise<unknown>)({ ...at, opId: randomUUID() })
    if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer)
      await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
    return null
  } catch (error) {
    const { code = '' } = (error as { readonly cause?: { readonly code?: string } }).cause ?? {}
    return /^WORKSPACE_/.test(code) ? code : null
  }
}

const expected = (worksWhile: WorkspaceStatus, status: WorkspaceStatus) =>
  worksIn(status, worksWhile) ? null : `WORKSPACE_${status.toUpperCase()}`

describe('the status of a workspace', () => {
  test('is declared by every procedure of a workspace as in the table, and by no other', () => {
    const procedures = appRouter._def.procedures as unknown as Readonly<
      Record<string, { readonly _def: { readonly meta?: ProcedureMeta } }>
    >
    const declared = Object.entries(procedures).flatMap(([path, { _def }]) => {
      const { worksWhile } = _def.meta ?? {}
      return worksWhile === null ? [] : [[path, worksWhile]]
    })
    expect(Object.fromEntries(declared)).toEqual(WORKS_WHILE)
  })

  // Guarantee: no procedure does more for a workspace than its status allows.
  test.each(WORKSPACE_STATUSES)('%s refuses what is declared, and nothing else', async (status) => {
    await become(status)
    const found: string[] = []
    for (const [path, worksWhile] of ROWS) {
      const got = await refusal(path)
      if (got !== expected(worksWhile, status)) found.push(`${path}: ${got}`)
    }
    expect(found).toEqual([])
  })

  test('is no business of strangers: they get the same 404 as before', async () => {
    await become('suspended')
    const stranger = { caller: foreign.caller, at: owner.at }
    for (const path of ['invoices.create', 'products.create'] as const) expect(await refusal(path, stranger)).toBeNull()
    await expect(
      foreign.caller.products.create({
        ...owner.at,
        opId: randomUUID(),
        product: { name: 'x', price: '1', currency: 'USD' },
      }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('applies from the next request on, and leaves the operation id free', async () => {
    const request = { ...owner.at, opId: randomUUID(), product: { name: 'Cup', price: '5.00', currency: 'USD' } }
    await become('restricted')
    await expect(owner.caller.products.create(request)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      cause: { code: 'WORKSPACE_RESTRICTED' },
    })
    await become('active')
    expect(await owner.caller.products.create(request)).toMatchObject({ name: 'Cup' })
  })

  // Guarantee: money that is under way when a workspace is suspended is still decided, recorded and counted.
  test('a suspended workspace decides about money', async () => {
    const id = `unmatched:${randomUUID()}`
    const row = {
      id,
      kind: 'unmatched',
      detail: 'money',
      invoiceId: null,
      paymentKey: null,
      openedAt: 1,
      closedAt: null,
    }
    await owner.deps.money.exceptions.open([{ ...row, kind: 'unmatched', ...owner.at }])
    await become('suspended')
    const { caller, at } = owner
    expect(await caller.exceptions.close({ ...at, opId: randomUUID(), id })).toMatchObject({ id })
  })
})
