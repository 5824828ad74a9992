import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { HDNodeWallet } from 'ethers'
import { describe, expect, inject, test, vi } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
const run = promisify(execFile)

/** Runs the CLI and gives its streams and status, whatever they are. */
async function paymesh(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  try {
    const done = await run(process.execPath, ['scripts/paymesh.mjs', ...args, '--data', inject('stackDataDir')])
    return { status: 0, ...done }
  } catch (error) {
    const failed = error as { code: number; stdout: string; stderr: string }
    return { status: failed.code, stdout: failed.stdout, stderr: failed.stderr }
  }
}

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

describe('paymesh', () => {
  test.each([
    'workspace create',
    'workspace update',
    'workspace list',
    'key create',
    'key revoke',
    'key list',
    'wallet add',
    'wallet list',
    'wallet show',
    'wallet disable',
    'migrate',
    'doctor',
    'pay',
  ])('%s explains itself', async (command) => {
    const shown = await paymesh(...command.split(' '), '--help')
    expect(shown.status).toBe(0)
    expect(shown.stdout).toContain('--json')
  })

  /** A revoked key must not work for one more request. */
  test('a revoked key stops at the next request', async () => {
    const { cli, dev, workspaceId } = world()
    const created = await cli<{ id: string; key: string }>(
      ...['key', 'create', '--workspace', workspaceId, '--mode', 'test', '--scopes', 'invoices:read'],
    )
    const merchant = createPaymesh({ apiKey: created.key, baseUrl: dev.apiUrl, maxRetries: 0 })
    await merchant.invoices.list().page()
    await expect(merchant.invoices.create({ amount: '1.00', currency: 'USD' })).rejects.toThrow('FORBIDDEN_SCOPE')
    await cli('key', 'revoke', created.id)
    await expect(merchant.invoices.list().page()).rejects.toThrow('UNAUTHENTICATED')
  })

  /** A suspended workspace is shut out at once, and let in again. */
  test('suspending a workspace takes effect at the next request', async () => {
    const { cli, merchant, workspaceId } = world()
    await cli('workspace', 'update', workspaceId, '--status', 'suspended')
    await expect(merchant.invoices.list().page()).rejects.toThrow('WORKSPACE_SUSPENDED')
    await cli('workspace', 'update', workspaceId, '--status', 'active')
    await merchant.invoices.list().page()
  })

  test('a wallet shows its first addresses and receives', async () => {
    const { cli, merchant, workspaceId, pay, waitForEvent } = world()
    const { xpub, first } = accountKey()
    const wallet = await cli<{ first_addresses: string[] }>(
      ...['wallet', 'add', '--workspace', workspaceId, '--mode', 'test', '--family', 'evm'],
      ...['--kind', 'xpub', '--value', xpub],
    )
    expect(wallet.first_addresses[0]).toBe(first)
    expect(wallet.first_addresses).toHaveLength(3)
    const listed = await cli<object[]>('wallet', 'list', '--workspace', workspaceId)
    expect(listed).toMatchObject([{ family: 'evm', kind: 'xpub', mode: 'test' }])

    // Addresses of a new wallet are issued once the scanner watches them; until then the API refuses the asset.
    const invoice = await vi.waitFor(
      () => merchant.invoices.create({ amount: '30.00', currency: 'USD', asset: 'usdc_ethereum' }),
      { timeout: 20_000, interval: 500 },
    )
    expect(invoice.crypto?.address).toBe(first)
    await pay(invoice)
    await waitForEvent(invoice.id, 'invoice.paid')
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

  test('doctor finds a healthy installation, migrate finds nothing to do', async () => {
    const { cli } = world()
    expect(await cli('doctor')).toMatchObject({ healthy: true })
    expect(await cli('migrate')).toEqual({ collectionsCreated: [], indexesCreated: [] })
  })

  test('errors go to stderr with a status', async () => {
    const unknown = await paymesh('workspace', 'update', 'nobody', '--status', 'active')
    expect(unknown).toMatchObject({ status: 1, stdout: '' })
    expect(unknown.stderr).toContain('NOT_FOUND')
    expect((await paymesh('workspace', 'create')).status).not.toBe(0)
  })
})
