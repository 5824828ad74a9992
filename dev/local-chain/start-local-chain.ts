import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { AssetId, NetworkId } from '#shared/domain/enumerations.ts'
import { freePort } from '../embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '../embedded/guarded-child.ts'
import { installTokens, tokenAddress } from './install-tokens.ts'
import { nodeRpc, quantity } from './node-rpc.ts'
import { payOnLocalChain } from './pay.ts'

/** Options of a local chain. */
export interface LocalChainOptions {
  /** Preferred port, replaced by another one when it is in use; 0 or absent: any. */
  readonly port?: number
  /** Folder that keeps the chain over restarts; absent: the chain is lost when it stops. */
  readonly dataDir?: string
  /** The EVM network whose tokens it has. Default ethereum. */
  readonly network?: NetworkId
  /** Default 31337. */
  readonly chainId?: number
  /** Time between blocks; null mines only when `mine` is called. Default 1,000. */
  readonly blockTimeMs?: number | null
  /** Called when a kept chain could not be used. */
  readonly report?: (line: string) => void
}

/** A running EVM development node with test tokens at the real addresses of its network's tokens. */
export type LocalChain = ReturnType<typeof describeChain>

const STOP_MS = 5_000
const START_MS = 15_000
/** Seconds between two dumps of the state: the loss after a kill. */
const DUMP_INTERVAL_S = 5

/**
 * Starts anvil. The kept state survives a kill up to the last dump; an unreadable state file is moved aside and
 * the chain starts again, which is reported. The node never outlives this process. Throws when it does not start.
 */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const chainId = options.chainId ?? 31_337
  const stateFile = options.dataDir === undefined ? null : usableState(resolve(options.dataDir), options)
  const port = await freePort(options.port ?? 0)
  const url = `http://127.0.0.1:${port}`
  let child = await launch(port, chainId, stateFile, options)
  if ((await comesUp(child, url)) === null && stateFile !== null && existsSync(stateFile)) {
    putAside(stateFile, options)
    await child.stop(STOP_MS)
    child = await launch(port, chainId, stateFile, options)
    await comesUp(child, url)
  }
  if (child.hasExited()) throw new Error(`anvil did not start on port ${port}`)
  await installTokens(url, options.network ?? 'ethereum')
  return describeChain(child, { url, port, chainId })
}

function describeChain(child: GuardedChild, at: { url: string; port: number; chainId: number }) {
  const rpc = (method: string, params: readonly unknown[] = []) => nodeRpc(at.url, method, params)
  return {
    ...at,
    pid: child.pid,
    /** Ends the node in order and keeps its state. */
    stop: () => child.stop(STOP_MS),
    /** A real transfer of one of the network's assets from the development payer; resolves when it is accepted. */
    pay: ({ asset, to, amountBase }: { readonly asset: AssetId; readonly to: string; readonly amountBase: bigint }) =>
      payOnLocalChain({ rpcUrl: at.url, contract: tokenAddress(asset), to, amountBase }),
    /** Sets the coin balance of an account. */
    fund: async (address: string, wei: bigint) => {
      await rpc('anvil_setBalance', [address, quantity(wei)])
    },
    /** Mines blocks at once. */
    mine: async (blocks: number = 1) => {
      await rpc('anvil_mine', [quantity(blocks)])
    },
    /**
     * Replaces the last `depth` blocks by as many others. Their transactions are dropped permanently, except those given
     * as raw transactions with the offset of the new block that must contain them.
     */
    reorg: async (depth: number, transactions: readonly (readonly [string, number])[] = []) => {
      await rpc('anvil_reorg', [depth, transactions])
    },
    /** Any other call. */
    rpc,
  }
}

function launch(
  port: number,
  chainId: number,
  stateFile: string | null,
  options: LocalChainOptions,
): Promise<GuardedChild> {
  const { blockTimeMs = 1_000 } = options
  const mining = blockTimeMs === null ? ['--no-mining'] : ['--block-time', String(blockTimeMs / 1_000)]
  const state = stateFile === null ? [] : ['--state', stateFile, '--state-interval', String(DUMP_INTERVAL_S)]
  return startGuarded(
    anvilBinary(),
    ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId), '--silent', ...mining, ...state],
    { stdio: 'ignore' },
  )
}

const comesUp = (child: GuardedChild, url: string): Promise<unknown> =>
  child.until(() => nodeRpc(url, 'eth_chainId'), START_MS)

/** Path of the state file; a file left incomplete by a kill is moved aside. */
function usableState(dataDir: string, options: LocalChainOptions): string {
  mkdirSync(dataDir, { recursive: true })
  const path = join(dataDir, 'state.json')
  if (!existsSync(path)) return path
  try {
    keepFirstGenesis(path)
  } catch {
    putAside(path, options)
  }
  return path
}

interface DumpedState {
  readonly blocks?: readonly { readonly header: { readonly number: string; readonly timestamp: string } }[]
}

/**
 * Every start of anvil creates another block 0, and the dump keeps them all; which of them the next start uses is
 * random, and with a wrong one the chain has no beginning. The oldest is the parent of block 1. Throws when the
 * state cannot be read.
 */
function keepFirstGenesis(path: string): void {
  const state: DumpedState = JSON.parse(readFileSync(path, 'utf8'))
  const isGenesis = ({ header }: { header: { number: string } }): boolean => Number(header.number) === 0
  const times = (state.blocks ?? []).filter(isGenesis).map(({ header }) => Number(header.timestamp))
  if (times.length < 2) return
  const first = Math.min(...times)
  const blocks = state.blocks?.filter((block) => !isGenesis(block) || Number(block.header.timestamp) === first)
  writeFileSync(`${path}.new`, JSON.stringify({ ...state, blocks }))
  renameSync(`${path}.new`, path)
}

function putAside(path: string, options: LocalChainOptions): void {
  renameSync(path, `${path}.unusable`)
  options.report?.(`the local chain's state could not be read: it starts again (old file: ${path}.unusable)`)
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Path of anvil for this machine. The package's own `anvil` command is a Node wrapper whose node keeps running
 * when it is killed, so the binary itself is used. Throws when there is none for this platform.
 */
function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${platform()}-${ARCHITECTURES[arch()] ?? arch()}`
  const require = createRequire(import.meta.url)
  // The platform package is a dependency of the wrapper, and is resolved from there.
  const fromWrapper = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
  for (const resolver of [fromWrapper, require]) {
    try {
      const path = join(dirname(resolver.resolve(`${name}/package.json`)), 'bin', 'anvil')
      if (existsSync(path)) return path
    } catch {
      // Not reachable from here.
    }
  }
  throw new Error(`no anvil for this machine: the optional package ${name} is not installed`)
}
