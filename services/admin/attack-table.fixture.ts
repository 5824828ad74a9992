import { randomUUID } from 'node:crypto'
import { accountAddresses, accountKey } from '#test/support/fresh-key.ts'
import { evmAccounts } from '#test/support/prove-control.ts'
import { type AuditBehaviour, type MutationPath, once } from './attack-kinds.fixture.ts'
import { MONEY_ATTACKS } from './attack-money.fixture.ts'

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

/** A PNG file of one pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPg9g8HAAEaALLlOoLxAAAAAElFTkSuQmCC'

const people: Pick<
  Record<MutationPath, AuditBehaviour>,
  | `members.${'invite' | 'withdrawInvitation' | 'setRole' | 'remove'}`
  | `workspace.${'update' | 'adoptZone' | 'setLogo'}`
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
  'workspace.adoptZone': once(1, 1, async ({ boss: { caller, at } }) => {
    const undo = async () => {
      const { version } = await caller.workspace.get(at)
      await caller.workspace.update({ ...at, ...op(), version, change: { timeZone: null } })
    }
    return { input: { zone: 'America/Bogota' }, other: { zone: 'Europe/Berlin' }, undo }
  }),
  'workspace.setLogo': once(1, 1, async ({ boss: { caller, at } }) => {
    const { version } = await caller.workspace.get(at)
    const undo = async () => {
      const now = await caller.workspace.get(at)
      await caller.workspace.setLogo({ ...at, ...op(), version: now.version, image: null })
    }
    return { input: { version, image: DOT }, other: { version, image: null }, undo }
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
    const audit = { id: randomUUID(), at: since, actor: 'test', action: 'member.joined' as const, subject: one.id }
    const auditWrite = { audit: { ...audit, workspaceId, mode: null, detail: {} } }
    const undo = () => deps.memberships.add({ workspaceId, userId: one.id, role: 'support', since }, auditWrite)
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

const installation: Pick<
  Record<MutationPath, AuditBehaviour>,
  Extract<MutationPath, `${'endpoints' | 'deliveries' | 'wallets' | 'chains' | 'rates'}.${string}`>
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
    const input = { endpointId, version, events: ['invoice.paid'], description: 'ERP', inFlightMax: 5 }
    const undo = async () => {
      const now = (await caller.endpoints.get({ ...at, endpointId })).endpoint.updatedAt
      await caller.endpoints.update({
        ...at,
        ...op(),
        endpointId,
        version: now,
        events: ['*'],
        description: null,
        inFlightMax: null,
      })
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
    const request = async () => ({ mode: 'live', walletId: wallet.id, proof: await answer() })
    return { input: await request(), other: await request() }
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
  'rates.confirm': once(1, 0, async ({ waitingJump }) => {
    await waitingJump()
    const input = { name: 'ARS:official', price: '800', ...because }
    return { input, other: { ...input, price: '801' } }
  }),
  'chains.request': once(1, 0, async ({ boss: { caller } }) => {
    const input = { ...ETHEREUM, kind: 'rescan', from: 1, to: 5 }
    const undo = () => caller.chains.cancel({ ...ETHEREUM, ...op() })
    await undo()
    return { input, other: { ...input, to: 6 }, undo }
  }),
  'chains.cancel': once(1, 0, async ({ boss: { caller } }) => {
    await caller.chains.cancel({ ...ETHEREUM, ...op() })
    const request = () => caller.chains.request({ ...ETHEREUM, ...op(), kind: 'rescan', from: 1, to: 9 })
    await request()
    return { input: ETHEREUM, other: { ...ETHEREUM, kind: 'rewind' }, undo: request }
  }),
}

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const preparing: Pick<
  Record<MutationPath, AuditBehaviour>,
  `goLive.${'confirmAddress' | 'sendMail' | 'startPayment' | 'stateMasterKey'}`
> = {
  'goLive.confirmAddress': once(1, 0, async ({ boss: { caller, at } }) => {
    const { id: walletId } = (await caller.wallets.add({ ...at, ...op(), ...xpub() })).wallet
    return { input: { walletId, address: ADDRESS }, other: { walletId, address: ADDRESS.toLowerCase() } }
  }),
  'goLive.sendMail': once(1, 1, async ({ person }) => {
    await person('admin')
    return { input: {}, other: because }
  }),
  'goLive.stateMasterKey': once(1, 0, async () => ({ input: {}, other: because })),
  // The invoice's own row, and that of the check.
  'goLive.startPayment': once(2, 0, async () => ({
    input: { asset: 'usdt_ethereum', amount: '5.00' },
    other: { asset: 'usdt_ethereum', amount: '50.00' },
  })),
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
  'auth.requestReset': EACH,
  'auth.resetPassword': EACH,
} as const

/** Audit rows and mails of each changing procedure. */
export const AUDIT_BEHAVIOUR: Readonly<Record<MutationPath, AuditBehaviour>> = {
  ...people,
  ...preparing,
  ...MONEY_ATTACKS,
  ...installation,
  ...own,
}
