import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetRow } from '#shared/chains/definitions/chain.ts'
import { ASSET_IDS, type AssetId, networkOf } from '#shared/domain/enumerations.ts'
import { type GuardedChild, startGuarded } from '../embedded/guarded-child.ts'
import { nodeRpc } from './node-rpc.ts'
import { payOnSolana } from './pay-on-solana.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
/** A mint account of the SPL Token program: length, and where supply, decimals and "is initialized" are. */
const MINT = { length: 82, supplyAt: 36, decimalsAt: 44, initializedAt: 45, lamports: 1_461_600 } as const

const STOP_MS = 5_000
const START_MS = 15_000

/** Runs in a separate process: the module is native, and its crash must not end this process. Plain text, so that no bundle has to find a file. */
const CHILD_SCRIPT = `
const [, path, slotTimeMs] = process.argv
const { Surfnet } = require(path)
const node = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'clock', slotTimeMs: Number(slotTimeMs) })
process.stdout.write(node.rpcUrl + '\\n')
process.on('SIGTERM', () => { node.stop(); process.exit(0) })
setInterval(() => {}, 2 ** 30)
`

/** Options of a Surfpool node. */
export interface SurfpoolOptions {
  /** Time between slots. Default 400, as on mainnet. */
  readonly slotTimeMs?: number
}

/** A running Solana development node with test mints at the real addresses of USDC and USDT. Its chain is lost when it stops. */
export type SurfpoolNode = ReturnType<typeof describe>

/**
 * Starts Surfpool on a free port. The node never outlives this process. Throws when there is none for this machine, and
 * when it does not start.
 */
export async function startSurfpoolNode(options: SurfpoolOptions = {}): Promise<SurfpoolNode> {
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-surfpool-'))
  const output = join(folder, 'url')
  const stdout = openSync(output, 'w')
  try {
    const args = ['-e', CHILD_SCRIPT, surfpoolBinary(), String(options.slotTimeMs ?? 400)]
    const child = await startGuarded(process.execPath, args, { stdio: ['ignore', stdout, 'ignore'] })
    const url = await child.until(() => firstLine(output), START_MS)
    if (url === null) {
      await child.stop(STOP_MS)
      throw new Error('Surfpool did not start')
    }
    await installMints(url)
    await hasBlocks(child, url)
    return describe(child, url)
  } finally {
    closeSync(stdout)
    rmSync(folder, { recursive: true })
  }
}

function describe(child: GuardedChild, url: string) {
  return {
    url,
    pid: child.pid,
    stop: () => child.stop(STOP_MS),
    /** A real transfer of a Solana asset from the development payer; resolves when it is accepted. */
    pay: ({
      asset,
      ...payment
    }: {
      readonly asset: AssetId
      readonly to: string
      readonly amountBase: bigint
      readonly references?: readonly string[]
    }) => {
      const { contract, decimals }: AssetRow = ASSETS[asset]
      return payOnSolana({ ...payment, rpcUrl: url, mint: contract === null ? null : { address: contract, decimals } })
    },
    /** Any other call. */
    rpc: (method: string, params: readonly unknown[] = []) => nodeRpc(url, method, params),
  }
}

/** A new node lists slots for a while for which it has no blocks. */
async function hasBlocks(child: GuardedChild, url: string): Promise<void> {
  const options = { commitment: 'confirmed', transactionDetails: 'none', rewards: false }
  const newest = async () =>
    await nodeRpc(url, 'getBlock', [await nodeRpc(url, 'getSlot', [{ commitment: 'confirmed' }]), options])
  if ((await child.until(newest, START_MS, 50)) !== null) return
  await child.stop(STOP_MS)
  throw new Error('Surfpool makes no blocks')
}

async function firstLine(path: string): Promise<string | null> {
  const text = readFileSync(path, 'utf8')
  return text.endsWith('\n') ? text.trim() : null
}

/** Puts a test mint at the real address of every Solana token. */
async function installMints(url: string): Promise<void> {
  for (const id of ASSET_IDS) {
    const { contract, decimals }: AssetRow = ASSETS[id]
    if (networkOf(id) !== 'solana' || contract === null) continue
    const data = Buffer.alloc(MINT.length)
    data.writeBigUInt64LE(2n ** 62n, MINT.supplyAt)
    data[MINT.decimalsAt] = decimals
    data[MINT.initializedAt] = 1
    const account = { lamports: MINT.lamports, owner: TOKEN_PROGRAM, data: data.toString('hex'), executable: false }
    await nodeRpc(url, 'surfnet_setAccount', [contract, account])
  }
}

/**
 * Path of Surfpool's native module for this machine. Throws with the name of the missing package where there is none:
 * it is an optional dependency, published for few platforms.
 */
function surfpoolBinary(): string {
  const name = `@solana/surfpool-${platform()}-${arch()}${platform() === 'linux' ? '-gnu' : ''}`
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    throw new Error(`no Solana node for this machine: the optional package ${name} is not installed`)
  }
}
