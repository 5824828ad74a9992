import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeEach, expect, it } from 'vitest'
import type { NodeState } from '#shared/contracts/chain-status.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { NodeProbe } from '#shared/ports/node-states.ts'
import { adminCaller } from '#test/support/admin.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
// What is added beside other live workspaces needs a proof: `wallet-proofs.int.test.ts`.
beforeEach(async () => {
  await stores.db.collection(WORKSPACES).updateMany({}, { $set: { status: 'suspended' } })
})
const op = () => ({ opId: randomUUID() })
let accounts = 900
const freshKey = () => {
  accounts += 1
  return HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', `m/44'/60'/${accounts}'`)
}
const addressOf = (key: HDNodeWallet, index: number) => key.deriveChild(0).deriveChild(index).address
const NETWORKS = JSON.stringify({
  live: { ethereum: { rpcUrls: ['http://127.0.0.1:1/key', 'http://127.0.0.2:1/key'], chainId: 31_337 } },
})
const up = (host: string): NodeState => ({ host, height: 9, finalizedHeight: null, tookMs: 1, fault: null })

/** A live workspace with a wallet on Ethereum alone; its nodes give what the test says. */
async function shop(nodes: { states: NodeState[]; probes?: readonly NodeProbe[] } = { states: [up('a'), up('b')] }) {
  const made = await adminCaller(stores, {
    mode: 'live',
    stored: true,
    email: `${randomUUID()}@example.com`,
    env: { PAYMESH_NETWORKS: NETWORKS },
    deps: ({ preparing }) => ({
      preparing: { ...preparing, nodes: { look: async () => nodes.states, probe: async () => nodes.probes ?? [] } },
    }),
  })
  const key = freshKey()
  const value = key.neuter().extendedKey
  const entered = {
    family: 'evm' as const,
    kind: 'xpub' as const,
    value,
    startIndex: 0,
    networks: ['ethereum' as const],
  }
  const { wallet } = await made.caller.wallets.add({ ...made.at, ...op(), ...entered })
  const line = async (item: string) => {
    const { lines } = await made.caller.goLive.read(made.at)
    return lines.find((one) => one.item === item)
  }
  return { ...made, key, walletId: wallet.id, line }
}

it('lists every item: what is computed as it is now, and what a person has to state as open', async () => {
  const mine = await shop()
  const { lines, passed, isReady } = await mine.caller.goLive.read(mine.at)
  expect([passed, isReady]).toEqual([2, false])
  expect(lines.map(({ item }) => item)).toEqual([
    `address:${mine.walletId}`,
    ...['nodes', 'second_source', 'webhook', 'second_factor', 'master_key', 'backup', 'mail'],
    'payment:ethereum',
  ])
  const state = (item: string) => lines.find((one) => one.item === item)
  expect(state('nodes')).toMatchObject({ state: 'passed', at: null, by: null })
  expect(state('second_source')).toMatchObject({ state: 'passed' })
  expect(state('webhook')).toMatchObject({ state: 'failed', reason: 'no_endpoint' })
  expect(state('second_factor')).toMatchObject({ state: 'failed', reason: 'factor_missing', about: mine.session.email })
  expect(state('backup')).toMatchObject({ state: 'failed', reason: 'backup_missing' })
  for (const item of [`address:${mine.walletId}`, 'master_key', 'mail', 'payment:ethereum'])
    expect(state(item), item).toMatchObject({ state: 'open', reason: null, at: null, by: null })
})

it('names the missing wallet of a live workspace, and needs none in test mode', async () => {
  const { caller, at } = await adminCaller(stores, { mode: 'live', stored: true, email: `${randomUUID()}@example.com` })
  const { lines } = await caller.goLive.read(at)
  expect(lines[0]).toMatchObject({ item: 'address', state: 'failed', reason: 'no_wallet', walletId: null })
  const kinds = (await caller.goLive.read({ ...at, mode: 'test' })).lines.map(({ kind }) => kind)
  expect(kinds).not.toContain('address')
})

// Guarantee: a plan that cannot do the work does not pass as ready.
it('names what a node does not serve', async () => {
  const lacking = { need: 'balances of a day ago', consequence: 'late payments wait', words: 'archive' }
  const mine = await shop({ states: [up('a')], probes: [{ host: 'a', shortcomings: [lacking] }] })
  const about = 'Ethereum (a): balances of a day ago'
  expect(await mine.line('nodes')).toMatchObject({ state: 'failed', reason: 'node_lacking', about })
})

// Guarantee: a node that still downloads its chain does not pass as ready, and the page says how far it is.
it('says how far a node is that is not current', async () => {
  const fault = 'the node still downloads its chain: block 100 of 300 (12 %)'
  const mine = await shop({ states: [up('a'), { ...up('b'), fault }] })
  expect(await mine.line('nodes')).toMatchObject({
    ...{ state: 'failed', reason: 'node_behind', about: `Ethereum (b): ${fault}` },
  })
})

deepTest('names a silent node by its host, and one source for a network', async () => {
  const nodes = { states: [up('a'), { ...up('b.example'), height: null, fault: 'refused' }] }
  const mine = await shop(nodes)
  const found = await mine.line('nodes')
  expect(found).toMatchObject({ state: 'failed', reason: 'node_silent', about: 'Ethereum (b.example)' })
  nodes.states = [up('a'), up('b.example')]
  expect((await mine.line('nodes'))?.state).toBe('passed')
  const lone = { ...mine.deps.preparing, nodeHosts: () => ['one', 'one'] }
  const single = await adminCaller(stores, {
    workspaceId: mine.workspaceId,
    mode: 'live',
    deps: () => ({ preparing: lone }),
  })
  const { lines } = await single.caller.goLive.read(single.at)
  expect(lines.find(({ item }) => item === 'second_source')).toMatchObject({ state: 'failed', reason: 'one_source' })
  expect((await mine.line('second_source'))?.state).toBe('passed')
})

// Guarantee: a wallet passes only with the address that its owner's wallet shows at the stated place, as the wallet spells it.
it('compares an address without showing it first', async () => {
  const mine = await shop()
  const item = `address:${mine.walletId}`
  expect(await mine.line(item)).toMatchObject({ path: `${mine.key.path}/0/2` })
  expect(JSON.stringify(await mine.caller.goLive.read(mine.at))).not.toContain(addressOf(mine.key, 2))
  const give = (address: string) =>
    mine.caller.goLive.confirmAddress({ ...mine.at, ...op(), walletId: mine.walletId, address })
  expect(await give(addressOf(mine.key, 1))).toEqual({ same: false })
  expect(await mine.line(item)).toMatchObject({ state: 'failed', reason: 'address_differs' })
  expect(await give(` ${addressOf(mine.key, 2)} `)).toEqual({ same: true })
  expect(await mine.line(item)).toMatchObject({ state: 'passed', by: `user:${mine.session.email}` })
  for (const wrong of ['not an address', addressOf(mine.key, 1).toLowerCase()])
    await expect(give(wrong)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect((await mine.line(item))?.state).toBe('passed')
})

it('accepts a listed address of the pool, and none of another one', async () => {
  const mine = await shop()
  const [one, two] = [freshKey(), freshKey()]
  const value = [0, 1].map((index) => addressOf(one, index)).join('\n')
  const pool = { family: 'evm' as const, kind: 'pool' as const, value }
  const { wallet } = await mine.caller.wallets.add({ ...mine.at, ...op(), ...pool })
  const give = (address: string) =>
    mine.caller.goLive.confirmAddress({ ...mine.at, ...op(), walletId: wallet.id, address })
  expect(await give(addressOf(two, 0))).toEqual({ same: false })
  expect(await give(addressOf(one, 1))).toEqual({ same: true })
})

it('follows a test mail until the mail server accepted it, or refused it', async () => {
  const mine = await shop()
  await mine.caller.goLive.sendMail({ ...mine.at, ...op() })
  const [mail] = await stores.db
    .collection(MAILS)
    .find({ workspaceId: mine.workspaceId, template: 'owner_notice' })
    .sort({ createdAt: -1 })
    .toArray()
  const state = () => mine.line('mail')
  expect(await state()).toMatchObject({ state: 'open', reason: 'mail_waits', by: `user:${mine.session.email}` })
  await stores.db.collection(MAILS).updateOne({ _id: mail?._id ?? '' }, { $set: { status: 'failed' } })
  expect(await state()).toMatchObject({ state: 'failed', reason: 'mail_failed' })
  await stores.db.collection(MAILS).updateOne({ _id: mail?._id ?? '' }, { $set: { status: 'sent' } })
  expect(await state()).toMatchObject({ state: 'passed' })
})

// Guarantee: an old archive that is verified today is no back-up of today's data.
deepTest('counts a verified back-up by the moment whose data it holds', async () => {
  const mine = await shop()
  const now = mine.deps.clock.now()
  const row = (action: AuditAction, id: string, at: number) => ({
    id: `${action}:${id}`,
    ...{ at, actor: 'cli:test', action, subject: id, workspaceId: null, mode: null, detail: {} },
  })
  const make = async (takenAt: number) => {
    const backupId = mine.deps.random.uuid()
    await mine.deps.exports.record(row('backup.started', backupId, takenAt))
    await mine.deps.exports.record(row('backup.ended', mine.deps.random.uuid(), takenAt))
    const fact = { backupId, takenAt, verifiedAt: now, chain: null }
    return () => mine.deps.preparing.verifiedBackups.record(fact, row('backup.verified', mine.deps.random.uuid(), now))
  }
  const state = () => mine.line('backup')
  const verifyOld = await make(now - 9 * 86_400_000)
  expect(await state()).toMatchObject({ state: 'failed', reason: 'backup_missing' })
  await verifyOld()
  expect(await state()).toMatchObject({ state: 'failed', reason: 'backup_missing' })
  const verifyNew = await make(now)
  expect(await state()).toMatchObject({ state: 'failed', reason: 'backup_unverified' })
  await verifyNew()
  expect((await state())?.state).toBe('passed')
})

it('an owner states where the master key is; with another key it is open again', async () => {
  const mine = await shop()
  await mine.caller.goLive.stateMasterKey({ ...mine.at, ...op() })
  expect((await mine.line('master_key'))?.state).toBe('passed')
  const { secretBox } = mine.deps.preparing
  const rotated = { ...mine.deps.preparing, secretBox: { ...secretBox, open: secretBox.open, keyId: 'another' } }
  const later = await adminCaller(stores, {
    workspaceId: mine.workspaceId,
    mode: 'live',
    deps: () => ({ preparing: rotated }),
  })
  const { lines } = await later.caller.goLive.read(later.at)
  expect(lines.find(({ item }) => item === 'master_key')?.state).toBe('out_of_date')
  const admin = await adminCaller(stores, { workspaceId: mine.workspaceId, mode: 'live', role: 'admin' })
  await expect(admin.caller.goLive.stateMasterKey({ ...admin.at, ...op() })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
})

// Guarantee: nobody passes their own payment with an invoice of another workspace, or of another mode.
deepTest('follows no foreign invoice', async () => {
  const theirs = await shop()
  await stores.db.collection(WORKSPACES).updateMany({}, { $set: { status: 'suspended' } })
  const mine = await shop()
  const at = theirs.deps.clock.now()
  const paid = sampleInvoice(theirs.deps.random, { workspaceId: theirs.workspaceId, number: 1, at })
  await theirs.deps.invoices.insert(paid)
  const { goLive } = mine.deps
  const evidence = (await mine.deps.instance.wallets.listWallets(mine.workspaceId))[0]?.materialId ?? ''
  const statement = { item: 'payment:ethereum', at, by: 'x', evidence, holds: true, ref: paid.terms.id }
  const row = { id: `x:${randomUUID()}`, at, actor: 'x', action: 'golive.payment_started', subject: 'x' } as const
  const scope = { workspaceId: mine.workspaceId, mode: 'live' } as const
  await goLive.record(scope, statement, { audit: { ...row, ...scope, detail: {} } })
  expect(await mine.line('payment:ethereum')).toMatchObject({ state: 'open', steps: null })
})

// Guarantee: what a person did is stored once, with its audit row; a repetition changes nothing.
it('stores a statement in place of the former one, and each action once', async () => {
  const mine = await shop()
  const scope = { workspaceId: mine.workspaceId, mode: 'live' } as const
  const say = (id: string, at: number, holds: boolean) => {
    const statement = { item: `address:${mine.walletId}`, at, by: 'x', evidence: 'e', holds, ref: null }
    const row = { id, at, actor: 'x', action: 'golive.address_compared', subject: 'x', detail: {} } as const
    return mine.deps.goLive.record(scope, statement, { audit: { ...row, ...scope } })
  }
  const [one, two] = [randomUUID(), randomUUID()]
  expect(await say(one, 1_000, true)).toBe(true)
  expect(await say(two, 2_000, false)).toBe(true)
  expect(await say(one, 3_000, true)).toBe(false)
  expect(await mine.deps.goLive.list(scope)).toEqual([
    { item: `address:${mine.walletId}`, at: 2_000, by: 'x', evidence: 'e', holds: false, ref: null },
  ])
  const rows = await stores.db
    .collection(AUDIT_LOG)
    .find({ _id: { $in: [one, two] } })
    .toArray()
  expect(rows).toHaveLength(2)
})
