import { join } from 'node:path'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import { type Ledger, openLedger } from '#test/chaos/ledger.ts'
import { MANNERS, type Manner, type Receivers, startReceivers } from '#test/chaos/receivers.ts'
import { accountKey } from '#test/support/fresh-key.ts'
import type { CommandLine } from './command-line.ts'

/** A merchant of the installation with a book, receivers, and clients that never repeat a request. */
export interface Merchant {
  readonly name: string
  readonly workspaceId: string
  readonly ledger: Ledger
  readonly receivers: Receivers
  readonly endpoints: Readonly<Record<Manner, { readonly id: string; readonly secret: string }>>
  /** One of its API keys after the other, so that none reaches its limit of requests. */
  client(): Paymesh
  /** Of an owner who logs in to the dashboard. */
  readonly owner: { readonly email: string; readonly password: string }
}

const KEYS = 4
const ANSWER_MS = 30_000
/** A delivery is refused once at most: its second attempt is due a minute later, often from the other release. */
const BAD_ONCE = 1

/**
 * Creates merchants with the command line of the release that runs: workspace, owner, API keys, and for each second one a wallet of
 * its own beside the sandbox. Their endpoints are created over the API, so that one must answer.
 */
export async function createMerchants(
  cli: CommandLine,
  options: { readonly count: number; readonly apiUrl: string; readonly dir: string; readonly random: () => number },
): Promise<readonly Merchant[]> {
  const merchants: Merchant[] = []
  for (let index = 0; index < options.count; index += 1) {
    merchants.push(await createMerchant(cli, { ...options, index }))
  }
  return merchants
}

async function createMerchant(
  cli: CommandLine,
  options: {
    readonly index: number
    readonly apiUrl: string
    readonly dir: string
    readonly random: () => number
  },
): Promise<Merchant> {
  const { index, apiUrl, dir, random } = options
  const name = `merchant-${index + 1}`
  const email = `owner@${name}.test`
  const { id: workspaceId } = await cli.json<{ id: string }>(
    'workspace',
    'create',
    '--name',
    name,
    '--owner-email',
    email,
  )
  const at = ['--workspace', workspaceId] as const
  const { password } = await cli.json<{ password: string }>(
    'operator',
    'create',
    '--email',
    email,
    '--name',
    name,
    ...at,
  )
  if (index % 2 === 1) {
    const wallet = ['--mode', 'test', '--family', 'evm', '--kind', 'xpub', '--value', accountKey(40 + index)]
    await cli.json('wallet', 'add', ...at, ...wallet, '--start-index', '0')
  }
  const clients: Paymesh[] = []
  for (let made = 0; made < KEYS; made += 1) {
    const { apiKey } = await cli.json<{ apiKey: string }>(
      'api-key',
      'create',
      ...at,
      '--mode',
      'test',
      '--scopes',
      'all',
    )
    clients.push(createPaymesh({ apiKey, baseUrl: `${apiUrl}/api/v1`, maxRetries: 0, timeoutMs: ANSWER_MS }))
  }
  let turn = 0
  const client = (): Paymesh => {
    turn += 1
    const next = clients[turn % clients.length]
    if (next === undefined) throw new Error(`${name} has no API key`)
    return next
  }
  const receivers = await startReceivers(random, BAD_ONCE)
  const made = await Promise.all(
    MANNERS.map(async (manner) => {
      const { id, secret } = await client().webhookEndpoints.create({ url: receivers.urls[manner], events: ['*'] })
      return [manner, { id, secret }] as const
    }),
  )
  const endpoints = Object.fromEntries(made) as Merchant['endpoints']
  const ledger = openLedger(join(dir, `${name}.jsonl`))
  return { name, workspaceId, ledger, receivers, endpoints, client, owner: { email, password } }
}
