import { HDNodeWallet } from 'ethers'
import { describe, expect, inject, test, vi } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { deepTest } from '#test/support/depth.ts'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { electrumMaster, signBitcoinMessage } from '#test/support/prove-control.ts'
import { runCommand, runCommandProcess } from '#test/support/run-command.ts'
import { useWorld } from '#test/support/use-world.ts'
import { ACCOUNT_KEY_VECTORS } from '#test/vectors/account-keys.ts'

/** The seed of the key at path m: electrum, tests/test_wallet_vertical.py, test_electrum_seed_standard. */
const ELECTRUM_PHRASE = 'cycle rocket west magnet parrot shuffle foot correct salt library feed song'

const world = useWorld()
const data = () => ['--data', inject('stackDataDir')]
/** Runs a command and gives its streams and status, whatever they are. */
const paymesh = (...args: string[]) => runCommand([...args, ...data()])
/** The same in a process that is started as people start it. */
const inProcess = (...args: string[]) => runCommandProcess([...args, ...data()])

/** Account-level key of a throw-away phrase; the private half exists in this test only. */
function accountKey(): { xpub: string; xprv: string; first: string } {
  const account = HDNodeWallet.createRandom('', "m/44'/60'/0'")
  const neutered = account.neuter()
  return {
    xpub: neutered.extendedKey,
    xprv: account.extendedKey,
    first: neutered.deriveChild(0).deriveChild(0).address,
  }
}

interface InvoiceExplanation {
  readonly conclusion: string
  readonly payments: readonly { readonly id: string }[]
  readonly openExceptions: readonly object[]
}

/** A real transfer on the local chain to any address. */
async function payIn(asset: AssetId, to: string, amountBase: bigint): Promise<string> {
  const rpcUrl = world().dev.rpcUrls['ethereum'] ?? ''
  const { txHash } = await payLocally({ rpcUrl, asset, contract: ASSETS[asset].contract, to, amountBase })
  return txHash
}

describe('paymesh', () => {
  test('a command explains itself', async () => {
    const shown = await inProcess('workspace', 'create', '--help')
    expect(shown).toMatchObject({ status: 0, stderr: '' })
    expect(shown.stdout).toContain('--json')
  })

  /** A revoked key must not work for one more request. */
  deepTest('a revoked key stops at the next request', async () => {
    const { cli, dev, workspaceId } = world()
    const created = await cli<{ key: { id: string }; apiKey: string }>(
      ...['api-key', 'create', '--workspace', workspaceId, '--mode', 'test', '--scopes', 'invoices:read'],
    )
    const merchant = createPaymesh({ apiKey: created.apiKey, baseUrl: dev.apiUrl, maxRetries: 0 })
    await merchant.invoices.list().page()
    await expect(merchant.invoices.create({ amount: '1.00', currency: 'USD' })).rejects.toThrow('FORBIDDEN_SCOPE')
    await cli('api-key', 'revoke', created.key.id)
    await expect(merchant.invoices.list().page()).rejects.toThrow('UNAUTHENTICATED')
  })

  deepTest('confirmations by value are set, and a table without sense changes nothing', async () => {
    const { cli, workspaceId } = world()
    const set = (value: string) =>
      ['workspace', 'update', workspaceId, '--confirmations', `doge_dogecoin=${value}`] as const
    const table = [
      { from_usd: 0, confirmations: 20 },
      { from_usd: 500, confirmations: 60 },
    ]
    expect(await cli<object>(...set('20, 500: 60'))).toMatchObject({ confirmations: { doge_dogecoin: table } })
    for (const bad of ['60, 500: 20', '20, 500: finalized', '20, 60', 'many']) {
      expect((await paymesh(...set(bad))).status, bad).not.toBe(0)
    }
    expect(await cli<object>('workspace', 'update', workspaceId)).toMatchObject({
      confirmations: { doge_dogecoin: table },
    })
    expect(await cli<object>(...set('default'))).not.toHaveProperty('confirmations.doge_dogecoin')
  })

  /** A suspended workspace is shut out at once, and let in again. */
  deepTest('suspending a workspace takes effect at the next request', async () => {
    const { cli, merchant, workspaceId } = world()
    await cli('workspace', 'update', workspaceId, '--status', 'suspended')
    await expect(merchant.invoices.list().page()).rejects.toThrow('WORKSPACE_SUSPENDED')
    await cli('workspace', 'update', workspaceId, '--status', 'active')
    await merchant.invoices.list().page()
  })

  deepTest('a plan limit is set and lifted again', async () => {
    const { cli, merchant, workspaceId } = world()
    const before = await cli<object>('workspace', 'update', workspaceId)
    const limited = await cli<object>('workspace', 'update', workspaceId, '--payment-links', '0')
    expect(limited).toEqual({ ...before, payment_links: 0 })
    const link = { title: 'Mug', amount: '5.00', currency: 'USD' } as const
    await expect(merchant.paymentLinks.create(link)).rejects.toThrow('PLAN_LIMIT_REACHED')
    const lifted = await cli<object>('workspace', 'update', workspaceId, '--payment-links', 'none')
    expect(lifted).toEqual({ ...before, payment_links: null })
    await merchant.paymentLinks.create(link)
  })

  deepTest('a wallet shows its first addresses and receives', async () => {
    const { cli, merchant, workspaceId, pay, waitForEvent } = world()
    const { xpub, first } = accountKey()
    const wallet = await cli<{ firstAddresses: string[] }>(
      ...['wallet', 'add', '--workspace', workspaceId, '--mode', 'test', '--family', 'evm'],
      ...['--kind', 'xpub', '--value', xpub],
    )
    expect(wallet.firstAddresses[0]).toBe(first)
    expect(wallet.firstAddresses).toHaveLength(3)
    const listed = await cli<object>('wallet', 'list', '--workspace', workspaceId)
    expect(listed).toMatchObject({ items: [{ family: 'evm', kind: 'xpub', mode: 'test' }] })

    // Addresses of a new wallet are issued once the scanner watches them; until then the API refuses the asset.
    const invoice = await vi.waitFor(
      () => merchant.invoices.create({ amount: '30.00', currency: 'USD', asset: 'usdc_ethereum' }),
      { timeout: 20_000, interval: 500 },
    )
    expect(invoice.crypto?.address).toBe(first)
    await pay(invoice)
    await waitForEvent(invoice.id, 'invoice.paid')
  })

  deepTest('a key that leaves its script type open is refused with the choices, and then added with one', async () => {
    const { cli, workspaceId } = world()
    const vector = ACCOUNT_KEY_VECTORS.find(({ path, says }) => path === 'm' && says === null)
    const add = [
      ...['wallet', 'add', '--workspace', workspaceId, '--mode', 'live', '--family', 'bitcoin', '--kind', 'xpub'],
      ...['--value', vector?.key ?? '', '--path', 'm'],
    ]
    const open = await paymesh(...add, '--json')
    expect(open.status).not.toBe(0)
    expect(JSON.parse(open.stderr)).toMatchObject({ error: { details: [{ path: 'scriptType' }] } })
    expect(open.stderr).toContain(`p2pkh (first address ${vector?.first})`)
    // Other workspaces live on this installation, so that the key needs a proof.
    const whole = [...add, '--script-type', 'p2pkh', '--start-index', '7']
    const unproved = await paymesh(...whole, '--json')
    expect(JSON.parse(unproved.stderr)).toMatchObject({ error: { details: [{ path: 'proof' }] } })
    const about = ['--family', 'bitcoin', '--kind', 'xpub', '--value', vector?.key ?? '', '--path', 'm']
    const inputs = ['wallet', 'prove', '--workspace', workspaceId, ...about, '--script-type', 'p2pkh']
    const { nonce, text } = await cli<{ nonce: string; text: string }>(...inputs)
    const signature = signBitcoinMessage(electrumMaster(ELECTRUM_PHRASE).derivePath('m/0/0'), text)
    const proof = ['--nonce', nonce, '--signature', signature]
    const unsearched = await paymesh(...add, '--script-type', 'p2pkh', ...proof, '--json')
    expect(JSON.parse(unsearched.stderr)).toMatchObject({ error: { details: [{ path: 'startIndex' }] } })
    const added = await cli<object>(...whole, ...proof)
    expect(added).toMatchObject({ wallet: { key: { scriptType: 'p2pkh', startIndex: 7, waitingFor: [] } } })
    const { stdout } = await paymesh('wallet', 'list', '--workspace', workspaceId)
    expect(stdout).toMatch(/bitcoin +xpub +p2pkh +bitcoin/)
  })

  /** A private key must neither be accepted nor be repeated in any output. */
  test('a private key is refused and never echoed', async () => {
    const { workspaceId } = world()
    const { xprv } = accountKey()
    const refused = await paymesh(
      ...['wallet', 'add', '--workspace', workspaceId, '--mode', 'test', '--family', 'evm'],
      ...['--kind', 'xpub', '--value', xprv, '--json'],
    )
    expect(refused.status).not.toBe(0)
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: [{ path: 'value' }] },
    })
    expect(refused.stdout + refused.stderr).not.toContain(xprv.slice(0, 20))
  })

  test('pay sends what is due on the local chain', async () => {
    const { cli, createInvoice, waitForEvent } = world()
    const invoice = await createInvoice()
    const sent = await cli<{ amount: string; tx_hash: string }>('pay', invoice.id)
    expect(sent.tx_hash).toMatch(/^0x[0-9a-f]{64}$/)
    await waitForEvent(invoice.id, 'invoice.paid')
  })

  test('explains an invoice that nobody paid, the payment in another asset, and settles it by an operator’s word', async () => {
    const { cli, createInvoice, waitForEvent, getInvoice, eventTypes } = world()
    const invoice = await createInvoice({ asset: 'usdc_ethereum' })
    const unpaid = await cli<{ conclusion: string }>('invoice', 'explain', invoice.id)
    expect(unpaid.conclusion).toMatch(/^Waiting for payment: nothing received yet \(checked up to block [\d,]+\)\.$/)
    expect(await cli('invoice', 'show', invoice.id)).toMatchObject({ id: invoice.id, status: 'pending', payments: [] })

    const txHash = await payIn('usdt_ethereum', invoice.crypto?.address ?? '', 25_000_000n)
    const stored = await vi.waitFor(
      async () => {
        const known = await cli<InvoiceExplanation>('invoice', 'explain', invoice.id)
        expect(known.payments).toMatchObject([{ asset: 'usdt_ethereum', state: 'confirmed', counted: false }])
        expect(known.openExceptions).toMatchObject([{ kind: 'wrong_asset' }])
        // Stored by the scanner, it waits a moment for the invoice's own process.
        expect(known.conclusion).toContain('the invoice is for another coin at this address')
        return known
      },
      { timeout: 30_000, interval: 500 },
    )
    const { stdout } = await paymesh('invoice', 'explain', invoice.id)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(stored.conclusion)
    const reported = await cli<{ stored: object[] }>('tx', 'explain', 'ethereum', txHash)
    expect(reported.stored).toMatchObject([{ invoiceId: invoice.id, txHash, amount: '25' }])

    const [payment] = stored.payments
    const attach = ['payment', 'attach', payment?.id ?? '', '--invoice', invoice.id, '--value', '25000000'] as const
    expect(await cli(...attach, '--dry-run')).toMatchObject({ statusBefore: 'pending', status: 'paid', changed: true })
    expect((await getInvoice(invoice.id)).status).toBe('pending')
    expect(await cli(...attach)).toMatchObject({ statusBefore: 'pending', status: 'paid', changed: true })
    expect(await cli(...attach)).toMatchObject({ status: 'paid', changed: false })
    await waitForEvent(invoice.id, 'invoice.paid')
    expect(eventTypes(invoice.id).filter((type) => type === 'invoice.paid')).toHaveLength(1)
    const open = await cli<{ items: { invoiceId: string | null }[] }>('exception', 'list')
    expect(open.items.filter((one) => one.invoiceId === invoice.id)).toEqual([])
  })

  /** Nothing that was announced may be announced again because somebody on call reads blocks again. */
  test('a rescan and a rewind of a running scanner announce nothing twice', async () => {
    const { cli, createInvoice, pay, waitForEvent, eventTypes } = world()
    const invoice = await createInvoice()
    const txHash = await pay(invoice)
    await expectPaidOnce(world(), invoice)
    const announced = eventTypes(invoice.id)
    const [place] = (await cli<{ stored: { blockHeight: number }[] }>('tx', 'explain', 'ethereum', txHash)).stored
    const height = place?.blockHeight ?? 0
    const planned = await cli('chain', 'rescan', 'ethereum', '--from', String(height), '--dry-run')
    expect(planned).toMatchObject({ standing: null, plan: { from: height }, preview: { effects: {} } })
    const rescan = await cli('chain', 'rescan', 'ethereum', '--from', String(height), '--to', String(height))
    expect(rescan).toMatchObject({ command: { status: 'done', changed: 0 } })
    const rewind = await cli('chain', 'rewind', 'ethereum', '--to', String(height - 1))
    expect(rewind).toMatchObject({ command: { status: 'done' } })
    await vi.waitFor(
      async () => {
        const { items } = await cli<{ items: { network: string }[] }>('chain', 'status')
        expect(items.find(({ network }) => network === 'ethereum')).toMatchObject({ recheckThrough: null })
      },
      { timeout: 20_000, interval: 500 },
    )
    expect(await cli('chain', 'resume', 'ethereum')).toMatchObject({ command: null })
    expect(await cli('chain', 'cancel', 'ethereum')).toMatchObject({ cancelled: [], tooLate: [] })
    expect(await cli('audit', 'verify')).toMatchObject({ intact: true, first_break: null })
    expect(await cli('reconcile')).toMatchObject({ right: true, violations: [] })
    expect(await cli('reconcile', '--since', '1')).toMatchObject({ right: true })
    expect((await paymesh('chain', 'status')).stdout).toMatch(/^test ethereum +(live|catchup) +\d+/m)
    // Whatever was announced again would stand before the events of a later invoice.
    const later = await createInvoice()
    await waitForEvent(later.id, 'invoice.pending')
    expect(eventTypes(invoice.id)).toEqual(announced)
    expect((await cli<{ conclusion: string }>('invoice', 'explain', invoice.id)).conclusion).toBe('Paid.')
  })

  deepTest('an address that is nobody’s, a transaction that is none', async () => {
    const { cli } = world()
    const txHash = await payIn('usdt_ethereum', '0x00000000000000000000000000000000000000aa', 1_000_000n)
    const known = await vi.waitFor(
      async () => {
        const reported = await cli<{ conclusion: string }>('tx', 'explain', 'ethereum', txHash)
        expect(reported.conclusion).toContain('pays no address on this server')
        return reported
      },
      { timeout: 20_000, interval: 500 },
    )
    expect(known).toMatchObject({ stored: [], transfers: [{ ours: false, amount: '1' }] })
    const none = await cli<{ conclusion: string }>('tx', 'explain', 'ethereum', `0x${'ab'.repeat(32)}`)
    expect(none.conclusion).toContain('has no mined transaction')
    const unknown = await paymesh('invoice', 'explain', 'nobody', '--json')
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  test('doctor finds a healthy installation, migrate finds nothing to do', async () => {
    const { cli } = world()
    const answer = await inProcess('doctor', '--json')
    expect(answer).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(answer.stdout)).toMatchObject({ healthy: true })
    expect(await cli('migrate')).toEqual({ collectionsCreated: [], indexesCreated: [], migrationsRun: [] })
  })

  test('errors go to stderr with a status', async () => {
    const unknown = await inProcess('workspace', 'update', 'nobody', '--status', 'active')
    expect(unknown).toMatchObject({ status: 1, stdout: '' })
    expect(unknown.stderr).toContain('NOT_FOUND')
    const json = await inProcess('invoice', 'show', 'nobody', '--json')
    expect(json).toMatchObject({ status: 1, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect((await paymesh('workspace', 'create')).status).not.toBe(0)
  })
})
