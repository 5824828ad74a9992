import type { RescanEffect, RescanPreview } from '#shared/contracts/chain-commands.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { isSameMove, keysOfMove, type ObservedTransfer, type Payment, storedMove } from '#shared/ports/payments.ts'
import type { ScannedBlock, TransferBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { addressOwners } from '#shared/usecases/payments/address-owners.ts'
import { type AttributeDeps, attributeTransfers } from '#shared/usecases/payments/attribute-transfers.ts'
import { replacedBy } from '#shared/usecases/payments/record-payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { everyAddress } from '#shared/usecases/watches/cold-watches.ts'
import { readBalanceChanges } from './read-balance-changes.ts'
import { outpointsOf } from './scan-mempool.ts'
import { settleIncreases } from './settle-increases.ts'

/** Blocks read and compared at a time. */
const BATCH = 10
/** Changes listed individually; all are counted. */
const LISTED_MAX = 200
/** The owners of paid addresses are read from the store afterwards: fewer than a scanner's whole index. */
const EVERYONE = { has: () => true, add: () => undefined, size: 1, keys: () => [] }

/** Dependencies of previewing; it never writes. */
export type PreviewDeps = AttributeDeps &
  Uses<'clock' | 'cursors' | 'payments' | 'wallets' | 'catalog'> & {
    readonly client: Pick<ChainClient, 'scan' | 'blockAt' | 'mempool' | 'balances'>
  }

/** The blocks, and the scanner options. */
export interface PreviewInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly from: number
  readonly to: number
  /** As after a rewind: confirmed payments are orphaned as well. */
  readonly confirmedToo: boolean
  /** Do not require that the node has the cursor's block: an operator accepts its chain. */
  readonly acceptReorg: boolean
  /** Called after every batch. */
  onProgress(height: number): void
}

/**
 * Reads blocks and balances with the scanner's code and lists the changes it would make, writing nothing. Throws `NodeUnreliable` when the node is not on the scanned chain: a scanner would refuse it too.
 */
export async function previewRescan(deps: PreviewDeps, input: PreviewInput): Promise<RescanPreview> {
  const { mode, network, from, to } = input
  const cursor = await deps.cursors.find(mode, network)
  const remembered = new Map(input.acceptReorg ? [] : (cursor?.window ?? []))
  const unconfirmed = deps.client.mempool === undefined ? [] : await deps.payments.unconfirmed(mode, network)
  const changes: RescanPreview['changes'] = []
  let known = 0
  let blocks = 0
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start + BATCH - 1)
    const read = await deps.client.scan(start, end, EVERYONE, outpointsOf(unconfirmed))
    const inRange = read.filter(({ height }) => height <= end)
    if (inRange.some(({ height, hash }) => (remembered.get(height) ?? hash) !== hash)) throw offChain()
    const whole = await withBalanceIncreases(deps, input, inRange, cursor ?? { height: to, time: deps.clock.now() })
    const found = await comparedToStored(deps, input, whole)
    changes.push(...found.changes, ...(await lost(deps, input, { from: start, blocks: inRange, unconfirmed })))
    known += found.known
    blocks += inRange.length
    // A client may stop before a block that it must read in another way.
    const last = inRange.at(-1)?.height ?? end
    input.onProgress(last)
    start = last + 1
  }
  // Requested last, so that everything above was read from this chain.
  const head = cursor === null || input.acceptReorg ? null : await deps.client.blockAt(cursor.height)
  if (head !== null && head.hash !== cursor?.hash) throw offChain()
  const effects: RescanPreview['effects'] = {}
  for (const { effect } of changes) effects[effect] = (effects[effect] ?? 0) + 1
  return { blocks, known, effects, changes: changes.slice(0, LISTED_MAX) }
}

const offChain = () => new NodeUnreliable('the node is not on the chain scanned so far: a scanner would not go on')

/** The same blocks with the balance increases that a rescan would find in them. */
async function withBalanceIncreases(
  deps: PreviewDeps,
  { mode, network }: PreviewInput,
  blocks: readonly ScannedBlock[],
  cursor: Pick<ChainCursor, 'height' | 'time'>,
): Promise<readonly TransferBlock[]> {
  const { client } = deps
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (client.balances === undefined || first === undefined || last === undefined) return blocks
  const { family } = deps.catalog.asset(client.balances.asset)
  const { found } = await readBalanceChanges(client.balances, blocks, everyAddress(deps, { mode, family }))
  const changed = new Set(found.flatMap(({ changes }) => changes.map(({ matchKey }) => matchKey)))
  if (changed.size === 0) return blocks
  // Read again for what the changed accounts spent: before, they were not known.
  const again = await client.scan(first.height, last.height, EVERYONE, undefined, changed)
  const spent = new Map(again.map(({ hash, spending }) => [hash, spending]))
  const whole = found.map(({ block, changes }) => {
    const spending = spent.get(block.hash)
    if (changes.length > 0 && spending === undefined) throw offChain()
    return { block: { ...block, ...(spending !== undefined && { spending }) }, changes }
  })
  return settleIncreases({ deps, source: { mode, network, client }, cursor }, whole)
}

async function comparedToStored(
  deps: PreviewDeps,
  position: PreviewInput,
  blocks: readonly TransferBlock[],
): Promise<{ readonly known: number; readonly changes: RescanPreview['changes'] }> {
  const { mode, network } = position
  const paid = blocks.flatMap(({ transfers }) => transfers.map(({ matchKey }) => ({ mode, network, matchKey })))
  const owners = await addressOwners(deps, paid)
  const ours = blocks.map((block) => ({
    ...block,
    transfers: block.transfers.filter(({ matchKey }) => owners.has(matchKey)),
  }))
  const found = ours.flatMap(({ height, hash, time, transfers }) =>
    transfers.map((transfer) => ({
      transfer,
      block: { height, hash, time },
      seenAt: Math.min(time, deps.clock.now()),
    })),
  )
  const observations = await attributeTransfers(deps, { mode, network, found })
  const keys = observations.flatMap(keysOfMove)
  const stored = new Map((await deps.payments.findByKeys(keys)).map((one) => [one.key, one]))
  const effects = observations.map((observation) => ({ observation, effect: effectOf(stored, observation) }))
  return {
    known: effects.filter(({ effect }) => effect === null).length,
    changes: effects.flatMap(({ observation, effect }) => {
      const invoiceId = stored.get(observation.key)?.invoiceId ?? observation.invoiceId
      return effect === null ? [] : [changeOf(deps, effect, { ...observation, invoiceId })]
    }),
  }
}

/** Null when the payment matches exactly. */
function effectOf(stored: ReadonlyMap<string, Payment>, observation: ObservedTransfer): RescanEffect | null {
  const { key, block } = observation
  const first = stored.get(key)
  if (first === undefined) return 'added'
  if (!isSameMove(first, observation) && first.block !== null && first.block.hash === block?.hash) return 'contradicts'
  const same = storedMove(stored, observation)
  if (same === undefined) return 'other_amount'
  if (same.state !== 'detected' && same.state !== 'confirmed') return 'returned'
  return same.block?.hash === block?.hash ? null : 'moved'
}

/** Payments that these blocks would end or orphan. */
async function lost(
  deps: PreviewDeps,
  { mode, network, confirmedToo }: PreviewInput,
  read: { readonly from: number; readonly blocks: readonly ScannedBlock[]; readonly unconfirmed: readonly Payment[] },
): Promise<RescanPreview['changes']> {
  const { from, blocks, unconfirmed } = read
  const spent = new Map(blocks.flatMap((block) => [...(block.spent ?? [])]))
  const ended = new Set(replacedBy(unconfirmed, spent).map(({ key }) => key))
  const strangers = await deps.payments.listNonCanonical({ mode, network, from, blocks, confirmedToo })
  return [
    ...unconfirmed.filter(({ key }) => ended.has(key)).map((payment) => changeOf(deps, 'replaced', payment)),
    ...strangers.map((payment) => changeOf(deps, 'taken_back', payment)),
  ]
}

function changeOf(
  { catalog }: Pick<PreviewDeps, 'catalog'>,
  effect: RescanEffect,
  of: Pick<Payment, 'key' | 'txHash' | 'block' | 'asset' | 'amountBase' | 'contract' | 'invoiceId'>,
): RescanPreview['changes'][number] {
  const { key, txHash, block, asset, amountBase, contract, invoiceId } = of
  const amount =
    asset === null
      ? `${amountBase} base units of ${contract ?? 'a token'}`
      : `${formatUnits(amountBase, catalog.asset(asset).decimals)} ${asset}`
  return { effect, key, txHash, height: block?.height ?? null, amount, invoiceId }
}
