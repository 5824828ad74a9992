import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runs } from '../embedded/binary-cache.ts'
import { freePort } from '../embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '../embedded/guarded-child.ts'
import { type CoreCall, createCoreCall } from './node-rpc.ts'
import { outputScript, unsignedTransaction } from './output-script.ts'

/** Options of a Litecoin regression test node. */
export interface LitecoinNodeOptions {
  /** Preferred port, replaced by another one when it is in use; 0 or absent: any. */
  readonly port?: number
  /** Folder that keeps the chain over restarts; absent: the chain is lost when it stops. */
  readonly dataDir?: string
  /** Time between blocks; null mines only when `mine` is called. Default 1,000. */
  readonly blockTimeMs?: number | null
  /** Further options of litecoind. */
  readonly flags?: readonly string[]
}

/** One output of a payment: an address of Bitcoin, Litecoin or Dogecoin, or an output script in hex. */
export interface LitecoinOutput {
  readonly to: string
  readonly amountBase: bigint
}

/** A running Litecoin node with a private chain and a funded wallet. It also serves as a substitute for Bitcoin and Dogecoin. */
export type LitecoinNode = Awaited<ReturnType<typeof startLitecoinNode>>

/** The wallet can then spend 7,500 coins: 150 rewards of 50 that are 100 blocks old. */
const SPENDABLE_HEIGHT = 250
/**
 * MWEB is active from this block on in regression tests (Litecoin Core, chainparams). A block of that height can only be mined
 * with coins that move into the extension block: a node that must continue on its own is started without it.
 */
export const MWEB_HEIGHT = 432
/** Options of a node on which MWEB is never active. Bitcoin and Dogecoin have none either. */
export const WITHOUT_MWEB: readonly string[] = ['-vbparams=mweb:-2:0']
const WALLET = 'paymesh'
/** Coins per 1,000 virtual bytes. */
const FEE_RATE = '0.0001'
const REWARDS = 'rewards'
const START_MS = 20_000
const STOP_MS = 15_000

/**
 * Starts litecoind on a private chain and mines until its wallet can pay. The node listens only on this machine, has
 * a new password each time, and never outlives this process. Throws when it does not start, or is not installed.
 */
export async function startLitecoinNode(options: LitecoinNodeOptions = {}) {
  const binary = litecoindBinary()
  const dataDir = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'litecoin-')) : resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true })
  const port = await freePort(options.port ?? 0)
  const password = randomBytes(16).toString('hex')
  const url = `http://paymesh:${password}@127.0.0.1:${port}`
  const call = createCoreCall(url)
  const child = await startGuarded(binary, flags(dataDir, port, password, options.flags ?? []), { stdio: 'ignore' })
  try {
    await comesUp(child, call)
    await openWallet(call)
    await mineTo(call, SPENDABLE_HEIGHT)
  } catch (cause) {
    await child.stop(STOP_MS)
    throw new Error(`litecoind did not come up on port ${port}`, { cause })
  }
  const { blockTimeMs = 1_000 } = options
  const miner = blockTimeMs === null ? null : startMiner(call, blockTimeMs)
  return {
    ...describeNode(call),
    /** With the credentials of this run. */
    url,
    port,
    pid: child.pid,
    /** Ends the node in order and keeps its data folder if one was given. */
    async stop() {
      await miner?.stop()
      // Data that is deleted need not be written first.
      await child.stop(options.dataDir === undefined ? 0 : STOP_MS)
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function flags(dataDir: string, port: number, password: string, more: readonly string[]): readonly string[] {
  return [
    '-regtest',
    `-datadir=${dataDir}`,
    '-server',
    `-rpcport=${port}`,
    '-rpcbind=127.0.0.1',
    '-rpcallowip=127.0.0.1',
    '-rpcuser=paymesh',
    `-rpcpassword=${password}`,
    '-listen=0',
    '-fallbackfee=0.0001',
    '-mempoolreplacement=1',
    '-keypool=10',
    '-printtoconsole=0',
    ...more,
  ]
}

async function comesUp(child: GuardedChild, call: CoreCall): Promise<void> {
  let cause: unknown
  const count = () =>
    call('getblockcount').catch((error: unknown) => {
      cause = error
      return null
    })
  if ((await child.until(count, START_MS, 50)) !== null) return
  throw new Error(child.hasExited() ? 'it ended at once' : 'it does not respond', { cause })
}

async function openWallet(call: CoreCall): Promise<void> {
  if (((await call('listwallets')) as readonly string[]).includes(WALLET)) return
  try {
    await call('loadwallet', [WALLET])
  } catch {
    await call('createwallet', [WALLET])
  }
}

/** A loop that mines one block after the other. */
function startMiner(call: CoreCall, blockTimeMs: number): { stop(): Promise<void> } {
  const ending = new AbortController()
  const running = (async () => {
    while (!ending.signal.aborted) {
      await delay(blockTimeMs, null, { signal: ending.signal }).catch(() => {})
      // A node that is busy or ending mines no block: the next round tries again.
      if (!ending.signal.aborted) await mine(call, 1).catch(() => {})
    }
  })()
  return {
    async stop() {
      ending.abort()
      await running
    },
  }
}

/** Rewards of the wallet go to one labelled address: a new one for each block would enlarge it. */
async function rewardAddress(call: CoreCall): Promise<string> {
  const known = await call('getaddressesbylabel', [REWARDS]).catch(() => ({}))
  const [address] = Object.keys(known as object)
  return address ?? ((await call('getnewaddress', [REWARDS])) as string)
}

async function mine(call: CoreCall, blocks: number, to?: string): Promise<readonly string[]> {
  if (to === undefined) {
    return (await call('generatetoaddress', [blocks, await rewardAddress(call)])) as readonly string[]
  }
  const { descriptor } = (await call('getdescriptorinfo', [`raw(${outputScript(to)})`])) as {
    readonly descriptor: string
  }
  return (await call('generatetodescriptor', [blocks, descriptor])) as readonly string[]
}

async function mineTo(call: CoreCall, height: number): Promise<void> {
  const missing = height - ((await call('getblockcount')) as number)
  if (missing > 0) await mine(call, missing)
}

function describeNode(call: CoreCall) {
  return {
    /** Any other call. */
    rpc: call,
    /** Mines blocks at once, to the wallet or to another target; resolves with their hashes. */
    mine: (blocks: number = 1, to?: string) => mine(call, blocks, to),
    /** Mines until the chain has this height. */
    mineTo: (height: number) => mineTo(call, height),
    /** One transaction with these outputs from the wallet; resolves with its id when it is in the mempool. */
    pay: (outputs: readonly LitecoinOutput[]) => sendOutputs(call, outputs),
    /** Replaces an unconfirmed transaction by one that spends the same coins on other outputs (RBF); resolves with the new id. */
    async replace(txid: string, outputs: readonly LitecoinOutput[]) {
      const { vin } = (await call('decoderawtransaction', [await call('getrawtransaction', [txid])])) as {
        readonly vin: readonly { readonly txid: string; readonly vout: number }[]
      }
      return fundAndSend(call, vin, outputs, await replacementRate(call, txid))
    },
    /** Removes the last `depth` blocks; their transactions are unconfirmed again. Resolves with the hash that `reconsider` takes. */
    async invalidate(depth: number) {
      const hash = (await call('getblockhash', [((await call('getblockcount')) as number) - depth + 1])) as string
      await call('invalidateblock', [hash])
      return hash
    },
    /** Lets invalidated blocks count again; the longest branch wins. */
    async reconsider(hash: string) {
      await call('reconsiderblock', [hash])
    },
  }
}

/** One transaction with these outputs from the node's wallet; resolves with its id when it is in the mempool. */
export function sendOutputs(call: CoreCall, outputs: readonly LitecoinOutput[]): Promise<string> {
  return fundAndSend(call, [], outputs, FEE_RATE)
}

/** Several times the fee rate of the replaced transaction, itself perhaps a replacement: also enough when it is smaller. */
async function replacementRate(call: CoreCall, txid: string): Promise<string> {
  const { fees, vsize } = (await call('getmempoolentry', [txid])) as {
    readonly fees: { readonly modified: number }
    readonly vsize: number
  }
  return ((fees.modified / vsize) * 1_000 * 4).toFixed(8)
}

async function fundAndSend(
  call: CoreCall,
  inputs: readonly { readonly txid: string; readonly vout: number }[],
  outputs: readonly LitecoinOutput[],
  feeRate: string,
): Promise<string> {
  const wanted = outputs.map(({ to, amountBase }) => ({ script: outputScript(to), amountBase }))
  const funding = [unsignedTransaction(inputs, wanted), { feeRate, replaceable: true }, false]
  const funded = (await call('fundrawtransaction', funding)) as { readonly hex: string }
  const signed = (await call('signrawtransactionwithwallet', [funded.hex])) as { readonly hex: string }
  // A replacement of a replacement pays more than the node's protection against mistyped fees allows.
  return (await call('sendrawtransaction', [signed.hex, 0])) as string
}

/** litecoind: `LITECOIND_BINARY`, otherwise that of PATH. Throws with what to install when it does not run. */
function litecoindBinary(): string {
  const binary = process.env['LITECOIND_BINARY'] || 'litecoind'
  if (runs(binary)) return binary
  throw new Error(
    'litecoind was not found: install it (Debian and Ubuntu: apt install litecoind; others: https://litecoin.org) or set LITECOIND_BINARY to its path',
  )
}
