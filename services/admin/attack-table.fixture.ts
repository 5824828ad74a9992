import { randomUUID } from 'node:crypto'
import type { AnyTRPCMutationProcedure, AnyTRPCProcedure } from '@trpc/server'
import { accountAddresses, accountKey } from '#test/support/fresh-key.ts'
import { evmAccounts } from '#test/support/prove-control.ts'
import type { AppRouter } from './app-router.ts'
import type { AttackWorld } from './attack-world.fixture.ts'

type PathsOf<R, Before extends string = ''> = {
  [K in keyof R & string]: R[K] extends AnyTRPCMutationProcedure
    ? `${Before}${K}`
    : R[K] extends AnyTRPCProcedure
      ? never
      : PathsOf<R[K], `${Before}${K}.`>
}[keyof R & string]

/** Path of every procedure that changes something: a new one does not compile until it has its row in the table below. */
export type MutationPath = PathsOf<AppRouter['_def']['record']>

/** A change under an `opId`: what one of it leaves behind. */
export interface OnceAttack {
  readonly audit: 'once'
  /** Audit rows of the first request; a repetition adds none. */
  readonly rows: number
  /** Mails of the first request; a repetition adds none. */
  readonly mails: number
  /**
   * Sets the scene. `input` is the request, `other` the same request with other content. `undo` brings the state before
   * the request back by another operation: a repetition must not carry the request out again.
   */
  stage(world: AttackWorld): Promise<{ readonly input: object; readonly other: object; undo?(): Promise<unknown> }>
}

/** How a changing procedure leaves its trace. */
export type AuditBehaviour =
  | OnceAttack
  /** A step of a person's own log-in: every request is one of its own; `auth-rows.int.test.ts` counts its rows. */
  | { readonly audit: 'each' }
  /** Stores nothing: a mutation only because its input must not stand in a URL. */
  | { readonly audit: 'stores_nothing' }

const once = (rows: number, mails: number, stage: OnceAttack['stage']): OnceAttack => ({
  audit: 'once',
  rows,
  mails,
  stage,
})
const EACH = { audit: 'each' } as const
const op = () => ({ opId: randomUUID() })
const because = { reason: 'for the test' }
let keys = 100
const nextAccount = () => {
  keys += 1
  return keys
}
const pool = (count: number) => {
  const value = accountAddresses(nextAccount(), count).join('\n')
  return { family: 'evm', kind: 'pool', value } as const
}
const xpub = () => ({ family: 'evm', kind: 'xpub', value: accountKey(nextAccount()) }) as const
const ETHEREUM = { mode: 'test', network: 'ethereum' } as const
const HOOK = { url: 'https://93.184.216.34/hook', events: ['*'], description: 'ERP' }

const people: Pick<
  Record<MutationPath, AuditBehaviour>,
  | `members.${'invite' | 'withdrawInvitation' | 'setRole' | 'remove'}`
  | 'workspace.update'
  | `apiKeys.${'create' | 'revoke'}`
> = {
  'workspace.update': once(1, 1, async ({ boss: { caller, at } }) => {
    const { version } = await caller.workspace.get(at)
    const undo = async () => {
      const now = await caller.workspace.get(at)
      await caller.workspace.update({ ...at, ...op(), version: now.version, change: { name: 'Shop' } })
    }
    return { input: { version, change: { name: 'A' } }, other: { version: version + 1, change: { name: 'B' } }, undo }
  }),
  // The invited person, and the owner.
  'members.invite': once(1, 2, async ({ boss: { caller, at } }) => {
    const email = `i${randomUUID()}@example.com`
    const undo = async () => {
      const { invitations } = await caller.members.list(at)
      for (const { id } of invitations) await caller.members.withdrawInvitation({ ...at, ...op(), invitationId: id })
    }
    return { input: { email, role: 'viewer' }, other: { email, role: 'owner' }, undo }
  }),
  'members.withdrawInvitation': once(1, 1, async ({ boss: { caller, at } }) => {
    const invite = () =>
      caller.members.invite({ ...at, ...op(), email: `w${randomUUID()}@example.com`, role: 'viewer' })
    return { input: { invitationId: (await invite()).id }, other: { invitationId: (await invite()).id } }
  }),
  // The owner, and the member.
  'members.setRole': once(1, 2, async ({ boss: { caller, at }, person }) => {
    const { id: userId } = await person('viewer')
    const undo = () => caller.members.setRole({ ...at, ...op(), userId, from: 'admin', to: 'viewer' })
    const input = { userId, from: 'viewer', to: 'admin' }
    return { input, other: { ...input, to: 'owner' }, undo }
  }),
  'members.remove': once(1, 2, async ({ boss: { deps, workspaceId }, person }) => {
    const [one, two] = [await person('support'), await person('support')]
    const since = deps.clock.now()
    const audit = { id: randomUUID(), at: since, actor: 'test', action: 'member.joined', subject: one.id }
    const noted = { audit: { ...audit, workspaceId, mode: null, detail: {} } }
    const undo = () => deps.memberships.add({ workspaceId, userId: one.id, role: 'support', since }, noted)
    return { input: { userId: one.id, from: 'support' }, other: { userId: two.id, from: 'support' }, undo }
  }),
  'apiKeys.create': once(1, 0, async () => {
    const input = { name: 'Shop', scopes: ['invoices:read'] }
    return { input, other: { ...input, scopes: ['invoices:read', 'invoices:write'] } }
  }),
  'apiKeys.revoke': once(1, 0, async ({ boss: { caller, at } }) => {
    const make = () => caller.apiKeys.create({ ...at, ...op(), name: 'Shop', scopes: ['invoices:read'] })
    const [one, two] = [(await make()).key, (await make()).key]
    return { input: { keyId: one.id, last4: one.last4 }, other: { keyId: two.id, last4: two.last4 } }
  }),
}

const money: Pick<
  Record<MutationPath, AuditBehaviour>,
  Extract<MutationPath, `${'invoices' | 'payments' | 'paymentLinks' | 'products' | 'exceptions'}.${string}`>
> = {
  'invoices.create': once(1, 0, async () => {
    const wish = (amount: string) => ({ invoice: { amount, currency: 'USD' } })
    return { input: wish('20'), other: wish('2000') }
  }),
  'invoices.cancel': once(1, 0, async ({ invoice }) => ({
    input: { id: await invoice() },
    other: { id: await invoice() },
  })),
  'invoices.simulate': once(1, 0, async ({ invoice }) => {
    const id = await invoice({ asset: 'usdt_ethereum' })
    return { input: { id, scenario: 'partial' }, other: { id, scenario: 'paid' } }
  }),
  'invoices.eraseCustomer': once(1, 0, async ({ invoice }) => {
    const customer = { email: 'c@example.com', name: 'Carla' }
    return {
      input: { id: await invoice({ customer }), ...because },
      other: { id: await invoice({ customer }), ...because },
    }
  }),
  'invoices.openRefund': once(1, 0, async ({ paid }) => {
    const id = await paid()
    return { input: { id, amount: '5' }, other: { id, amount: '19' } }
  }),
  'invoices.recordRefund': once(1, 0, async ({ boss: { caller, at }, paid }) => {
    const { id: refundId } = await caller.invoices.openRefund({ ...at, ...op(), id: await paid(), amount: '5' })
    const input = { refundId, txHash: `0x${'ab'.repeat(32)}` }
    return { input, other: { refundId, txHash: `0x${'cd'.repeat(32)}` } }
  }),
  'invoices.withdrawRefund': once(1, 0, async ({ boss: { caller, at }, paid }) => {
    const id = await paid()
    const ask = async () => (await caller.invoices.openRefund({ ...at, ...op(), id, amount: '1' })).id
    return { input: { refundId: await ask() }, other: { refundId: await ask() } }
  }),
  'payments.attach': once(1, 0, async ({ latePayment }) => {
    const { invoiceId, payment } = await latePayment()
    const input = { invoiceId, paymentId: payment.id, ...because }
    return { input, other: { ...input, reason: 'for another reason' } }
  }),
  'payments.count': once(1, 0, async ({ dustPayment }) => {
    const [one, two] = [await dustPayment(), await dustPayment()]
    return { input: { paymentId: one.id, ...because }, other: { paymentId: two.id, ...because } }
  }),
  'paymentLinks.create': once(1, 0, async () => {
    const wish = (title: string) => ({ link: { title, currency: 'USD', allow_custom_amount: true } })
    return { input: wish('Donation'), other: wish('Another') }
  }),
  'paymentLinks.deactivate': once(1, 0, async ({ boss: { caller, at } }) => {
    const link = { title: 'Donation', currency: 'USD', allow_custom_amount: true }
    const make = async () => (await caller.paymentLinks.create({ ...at, ...op(), link })).id
    return { input: { id: await make() }, other: { id: await make() } }
  }),
  'products.create': once(1, 0, async () => {
    const wish = (name: string) => ({ product: { name, price: '5.00', currency: 'USD' } })
    return { input: wish('Cup'), other: wish('Pot') }
  }),
  // The entry, and the invoice that takes the money.
  'exceptions.accept': once(2, 0, async ({ latePayment }) => {
    const [one, two] = [await latePayment(), await latePayment()]
    return { input: { id: one.exceptionId, ...because }, other: { id: two.exceptionId, ...because } }
  }),
  'exceptions.attach': once(2, 0, async ({ boss: { workspaceId }, engine, exception, strayPayment }) => {
    const { key: paymentKey } = await strayPayment()
    const id = await exception({ id: `unmatched:${paymentKey}:${workspaceId}`, paymentKey })
    const [one, two] = [await engine.open({ asset: 'usdt_ethereum' }), await engine.open({ asset: 'usdt_ethereum' })]
    const input = { id, invoiceId: one.terms.id, ...because }
    return { input, other: { ...input, invoiceId: two.terms.id } }
  }),
  'exceptions.reject': once(1, 0, async ({ engine, exception }) => {
    const id = await exception()
    const undo = () => exception({ id, openedAt: engine.deps.clock.now() })
    return { input: { id, ...because }, other: { id: await exception(), ...because }, undo }
  }),
  'exceptions.close': once(1, 0, async ({ engine, exception }) => {
    const id = await exception()
    const undo = () => exception({ id, openedAt: engine.deps.clock.now() })
    return { input: { id }, other: { id: await exception() }, undo }
  }),
  'exceptions.note': once(1, 0, async ({ exception }) => {
    const id = await exception()
    return { input: { id, text: 'called them' }, other: { id, text: 'did not call them' } }
  }),
}

const installation: Pick<
  Record<MutationPath, AuditBehaviour>,
  Extract<MutationPath, `${'endpoints' | 'deliveries' | 'wallets' | 'chains'}.${string}`>
> = {
  'endpoints.create': once(1, 0, async ({ boss: { caller, at } }) => {
    const undo = async () => {
      for (const { id } of (await caller.endpoints.list(at)).items)
        await caller.endpoints.remove({ ...at, ...op(), endpointId: id })
    }
    const input = { endpoint: HOOK }
    return { input, other: { endpoint: { ...HOOK, url: 'https://93.184.216.35/hook' } }, undo }
  }),
  'endpoints.update': once(1, 0, async ({ boss: { caller, at }, endpoint }) => {
    const { id: endpointId, updatedAt: version } = await endpoint()
    const input = { endpointId, version, events: ['invoice.paid'], description: 'ERP' }
    const undo = async () => {
      const now = (await caller.endpoints.get({ ...at, endpointId })).endpoint.updatedAt
      await caller.endpoints.update({ ...at, ...op(), endpointId, version: now, events: ['*'], description: null })
    }
    return { input, other: { ...input, events: ['*'] }, undo }
  }),
  'endpoints.setStatus': once(1, 0, async ({ boss: { caller, at }, endpoint }) => {
    const { id: endpointId } = await endpoint()
    const undo = () => caller.endpoints.setStatus({ ...at, ...op(), endpointId, status: 'enabled' })
    return { input: { endpointId, status: 'disabled' }, other: { endpointId, status: 'enabled' }, undo }
  }),
  'endpoints.remove': once(1, 0, async ({ endpoint }) => ({
    input: { endpointId: (await endpoint()).id },
    other: { endpointId: (await endpoint()).id },
  })),
  'endpoints.rotate': once(1, 0, async ({ endpoint }) => {
    const { id: endpointId } = await endpoint()
    return { input: { endpointId }, other: { endpointId, overlapMs: 0 } }
  }),
  'endpoints.sendTest': once(1, 0, async ({ endpoint }) => ({
    input: { endpointId: (await endpoint()).id },
    other: { endpointId: (await endpoint()).id },
  })),
  'endpoints.recover': once(1, 0, async ({ endpoint }) => {
    const { id: endpointId } = await endpoint()
    return { input: { endpointId, since: 1 }, other: { endpointId, since: 2 } }
  }),
  'deliveries.resend': once(1, 0, async ({ failedDelivery }) => ({
    input: { deliveryId: (await failedDelivery()).id },
    other: { deliveryId: (await failedDelivery()).id },
  })),
  'deliveries.resendMany': once(2, 0, async ({ failedDelivery }) => {
    const ids = [(await failedDelivery()).id, (await failedDelivery()).id]
    return { input: { deliveryIds: ids }, other: { deliveryIds: [...ids, (await failedDelivery()).id] } }
  }),
  'wallets.prepare': { audit: 'stores_nothing' },
  'wallets.add': once(1, 0, async () => ({ input: pool(120), other: pool(121) })),
  'wallets.challenge': once(1, 0, async () => {
    const about = (count: number) => ({ mode: 'live', about: { entered: pool(count) } })
    return { input: about(2), other: about(3) }
  }),
  'wallets.prove': once(1, 1, async ({ boss: { caller, at } }) => {
    const live = { ...at, mode: 'live' as const }
    const [account] = evmAccounts(1)
    if (account === undefined) throw new Error('no account')
    const entered = { family: 'evm', kind: 'address', value: account.address } as const
    const { wallet } = await caller.wallets.add({ ...live, ...op(), ...entered })
    const answer = async () => {
      const { nonce, text } = await caller.wallets.challenge({ ...live, ...op(), about: { walletId: wallet.id } })
      return { nonce, signatures: [{ address: '', signature: account.sign(text) }] }
    }
    const wish = async () => ({ mode: 'live', walletId: wallet.id, proof: await answer() })
    return { input: await wish(), other: await wish() }
  }),
  'wallets.disable': once(1, 0, async ({ boss: { caller, at } }) => {
    const add = async () => (await caller.wallets.add({ ...at, ...op(), ...xpub() })).wallet.id
    const walletId = await add()
    const undo = () => caller.wallets.enable({ ...at, ...op(), walletId })
    return { input: { walletId }, other: { walletId: await add() }, undo }
  }),
  'wallets.enable': once(1, 0, async ({ boss: { caller, at } }) => {
    const off = async () => {
      const { id: walletId } = (await caller.wallets.add({ ...at, ...op(), ...xpub() })).wallet
      await caller.wallets.disable({ ...at, ...op(), walletId })
      return walletId
    }
    const walletId = await off()
    const undo = () => caller.wallets.disable({ ...at, ...op(), walletId })
    return { input: { walletId }, other: { walletId: await off() }, undo }
  }),
  'chains.releaseDeadlines': once(1, 0, async ({ boss: { deps }, stuckNetwork }) => {
    await stuckNetwork()
    const input = { mode: 'live', network: 'bsc', through: deps.clock.now() - 60_000, ...because }
    return { input, other: { ...input, through: input.through + 30_000 }, undo: stuckNetwork }
  }),
  'chains.ask': once(1, 0, async ({ boss: { caller } }) => {
    const input = { ...ETHEREUM, kind: 'rescan', from: 1, to: 5 }
    const undo = () => caller.chains.cancel({ ...ETHEREUM, ...op() })
    await undo()
    return { input, other: { ...input, to: 6 }, undo }
  }),
  'chains.cancel': once(1, 0, async ({ boss: { caller } }) => {
    await caller.chains.cancel({ ...ETHEREUM, ...op() })
    const ask = () => caller.chains.ask({ ...ETHEREUM, ...op(), kind: 'rescan', from: 1, to: 9 })
    await ask()
    return { input: ETHEREUM, other: { ...ETHEREUM, kind: 'rewind' }, undo: ask }
  }),
}

const own = {
  'auth.logIn': EACH,
  'auth.giveCode': EACH,
  'auth.giveRecoveryCode': EACH,
  'auth.logOut': EACH,
  'auth.stepUp': EACH,
  'auth.beginEnrolment': EACH,
  'auth.confirmEnrolment': EACH,
  'auth.removeAuthenticator': EACH,
  'auth.renewRecoveryCodes': EACH,
  'auth.changePassword': EACH,
  'auth.endSessions': EACH,
  'auth.acceptInvitation': EACH,
} as const

/** What each changing procedure leaves in the audit trail and among the mails. */
export const AUDIT_BEHAVIOUR: Readonly<Record<MutationPath, AuditBehaviour>> = {
  ...people,
  ...money,
  ...installation,
  ...own,
}
