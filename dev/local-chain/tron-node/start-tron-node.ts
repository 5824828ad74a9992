import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { parseLosslessJson } from '#shared/chains/families/tron/lossless-json.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import { freePort } from '../../embedded/free-port.ts'
import { tokenAddress } from '../install-tokens.ts'
import { payOnTronNode } from './pay.ts'
import { answer, Refusal, type RouteContext } from './routes.ts'
import { type TransactionBody, type TransactionOutcome, type TronTransaction, transactionId } from './transaction.ts'
import { outcomeOf } from './trc20.ts'
import { type ChainState, chainState, createTronChain, type TronChain } from './tron-chain.ts'

/** Options of a TRON node. */
export interface TronNodeOptions {
  /** Preferred port, replaced by another one when it is in use; 0 or absent: any. */
  readonly port?: number
  /** Folder that keeps the chain over restarts; absent: the chain is lost when it stops. */
  readonly dataDir?: string
  /** Time between blocks; null mines only when `mine` is called. Default 1,000. */
  readonly blockTimeMs?: number | null
  /** Blocks required above a block to make it solid. Default 3; about 19 on the main network. */
  readonly solidLag?: number
  /** Called when a kept chain could not be used. */
  readonly report?: (line: string) => void
}

/**
 * A running development node with TRON's HTTP API. What wallets sign is checked as on a full node; what the node itself prepares, which the
 * development payer sends, needs no signature and no balance.
 */
export type TronNode = Awaited<ReturnType<typeof startTronNode>>

const SOLID_LAG = 3

/**
 * Starts the node in this process. The state is saved with every block that contains a transaction, and every few
 * seconds otherwise; an unreadable one is moved aside and the chain starts again, which is reported.
 */
export async function startTronNode(options: TronNodeOptions = {}) {
  const { blockTimeMs = 1_000, solidLag = SOLID_LAG } = options
  const file = openStateFile(options.dataDir ?? null, options.report)
  const chain = createTronChain(file.kept ?? { createdAt: Date.now() }, solidLag)
  const context = createContext(chain)
  const server = createServer((request, response) => {
    void respond(context, request)
      .then(({ status, body }) => response.writeHead(status, { 'content-type': 'application/json' }).end(body))
      .catch(() => response.destroy())
  })
  const port = await listen(server, options.port ?? 0)
  const url = `http://127.0.0.1:${port}`
  const mine = (blocks = 1) => {
    for (let mined = 0; mined < blocks; mined += 1) {
      chain.mine(Date.now())
      file.note(chain)
    }
  }
  const clock = blockTimeMs === null ? null : setInterval(mine, blockTimeMs, 1)
  return {
    url,
    port,
    /** Id of block 0, which identifies this chain. */
    genesis: chain.at(0)?.id ?? '',
    /** Ends the node and keeps its state. */
    async stop() {
      if (clock !== null) clearInterval(clock)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      file.save(chain)
    },
    /** A transfer of a TRON asset to a `T…` address over the HTTP API; resolves when it is accepted. */
    pay: ({ asset, to, amountBase }: { readonly asset: AssetId; readonly to: string; readonly amountBase: bigint }) =>
      payOnTronNode({ rpcUrl: url, contract: tokenAddress(asset), to, amountBase }),
    /** Accepts a transaction with an outcome chosen by the caller; returns its id. */
    submit(body: TransactionBody, outcome: Partial<TransactionOutcome> = {}) {
      const transaction = context.prepare(body, outcome)
      context.broadcast(transactionId(transaction))
      return transactionId(transaction)
    },
    /** Mines blocks at once; the first one contains the pending transactions. */
    mine,
    /** Replaces the last `depth` blocks by as many others; see `TronChain.reorg`. Transactions are given by id. */
    reorg(depth: number, transactions: readonly (readonly [string, number])[] = []) {
      chain.reorg(
        depth,
        transactions.map(([id, offset]) => [context.known(id), offset] as const),
      )
      file.save(chain)
    },
    height: () => chain.head().number,
    solidHeight: () => chain.solid().number,
  }
}

/** Transactions from their preparation on: ids must differ also when two are requested within a millisecond. */
function createContext(chain: TronChain) {
  const prepared = new Map<string, TronTransaction>()
  let lastTimestamp = 0
  return {
    chain,
    prepare(body: TransactionBody, outcome: Partial<TransactionOutcome> = {}) {
      lastTimestamp = Math.max(Date.now(), lastTimestamp + 1)
      const { id } = chain.head()
      const transaction = {
        body,
        outcome: { ...outcomeOf(body), ...outcome },
        timestamp: lastTimestamp,
        // The last two bytes of the height, and eight bytes from the middle of the id (TAPOS).
        refBlockBytes: id.slice(12, 16),
        refBlockHash: id.slice(16, 32),
      }
      prepared.set(transactionId(transaction), transaction)
      return transaction
    },
    broadcast(id: string) {
      const transaction = prepared.get(id)
      if (transaction === undefined) return false
      chain.submit(transaction)
      return true
    },
    known(id: string) {
      const transaction = prepared.get(id) ?? chain.find(id)?.transaction
      if (transaction === undefined) throw new Error(`no transaction ${id}`)
      return transaction
    },
  } satisfies RouteContext & { known(id: string): TronTransaction }
}

async function respond(context: RouteContext, request: IncomingMessage): Promise<{ status: number; body: string }> {
  const url = new URL(request.url ?? '/', 'http://node')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  try {
    const posted = text === '' ? {} : (parseLosslessJson(text) as Readonly<Record<string, unknown>>)
    const found = answer(context, url.pathname.slice(1), { ...Object.fromEntries(url.searchParams), ...posted })
    return found === undefined ? { status: 404, body: 'null' } : { status: 200, body: toJson(found) }
  } catch (error) {
    const [name, message] =
      error instanceof Refusal ? ['java.lang.Exception', error.message] : ['org.tron.json.JSONException', 'bad request']
    return { status: 200, body: JSON.stringify({ Error: `class ${name} : ${message}` }) }
  }
}

/** JSON with bigints as plain integers, as java-tron writes its longs. */
function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, entry: unknown) => (typeof entry === 'bigint' ? `long:${entry}` : entry))
  return text.replace(/"long:(\d+)"/g, '$1')
}

async function listen(server: Server, preferred: number): Promise<number> {
  return (await listenOn(server, await freePort(preferred), '127.0.0.1')).port
}

/** Time between two writes while only empty blocks arrive, milliseconds: the loss after a kill. */
const WRITE_INTERVAL_MS = 5_000

/** The file that stores a chain over restarts. */
interface StateFile {
  /** The chain of the last run; null when there is none. */
  readonly kept: ChainState | null
  /** Writes now. */
  save(chain: TronChain): void
  /** Called with every block: writes when necessary. */
  note(chain: TronChain): void
}

/** Opens `state.json` of a folder, which is created; null keeps nothing. An unreadable file is moved aside and reported. */
function openStateFile(folder: string | null, report: (line: string) => void = () => {}): StateFile {
  if (folder === null) return { kept: null, save: () => {}, note: () => {} }
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'state.json')
  let writtenAt = 0
  const save = (chain: TronChain) => {
    // Renaming is atomic: a kill leaves the old state or the new one.
    writeFileSync(`${path}.new`, JSON.stringify(chain.state()))
    renameSync(`${path}.new`, path)
    writtenAt = Date.now()
  }
  return {
    kept: read(path, report),
    save,
    note(chain) {
      if (chain.head().transactions.length > 0 || Date.now() - writtenAt >= WRITE_INTERVAL_MS) save(chain)
    },
  }
}

function read(path: string, report: (line: string) => void): ChainState | null {
  if (!existsSync(path)) return null
  try {
    return chainState.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    renameSync(path, `${path}.unusable`)
    report(`the TRON chain's state could not be read: it starts again (old file: ${path}.unusable)`)
    return null
  }
}
