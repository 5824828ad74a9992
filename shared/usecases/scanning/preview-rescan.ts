import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { type ObservedTransfer, otherAmountKey, type Payment } from '#shared/ports/payments.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import { addressOwners } from '#shared/usecases/payments/address-owners.ts'
import { type AttributeDeps, attributeTransfers } from '#shared/usecases/payments/attribute-transfers.ts'
import { dropBalanceDuplicates } from '#shared/usecases/payments/drop-balance-duplicates.ts'
import { replacedBy } from '#shared/usecases/payments/record-payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { outpointsOf } from './scan-mempool.ts'

/** Blocks read and compared at a time. */
const BATCH = 10
/** Changes listed individually; all are counted. */
const LISTED_MAX = 200
/** The owners of paid addresses are read from the store afterwards: fewer than a scanner's whole index. */
const EVERYONE = { has: () => true, add: () => undefined, size: 1, keys: () => [] }

/**
 * The effect on a payment of reading a block again. `added`: it is not stored; `returned`: it was gone and is in the chain again; `moved`:
 * it is in another block than stored; `other_amount`: its transaction moves another amount in this block; `replaced`:
 * another transaction spends its money; `taken_back`: its block is gone, and none of these contains it; `contradicts`: the
 * same block shows another amount than stored: the scanner would refuse it and stop there.
 */
export type RescanEffect = 'added' | 'returned' | 'moved' | 'other_amount' | 'replaced' | 'taken_back' | 'contradicts'

/** One change that a scanner would make. */
export interface PreviewedChange {
  readonly effect: RescanEffect
  readonly key: string
  readonly txHash: string | null
  readonly height: number | null
  /** With its asset; base units for a token without a known asset. */
  readonly amount: string
  /** The invoice it belongs or would belong to; null means an exception. */
  readonly invoiceId: string | null
}

/** Changes that reading blocks again would make, as the node shows them now. */
export interface RescanPreview {
  readonly blocks: number
  /** Stored payments that match exactly. */
  readonly known: number
  readonly effects: Readonly<Partial<Record<RescanEffect, number>>>
  /** The first 200. */
  readonly changes: readonly PreviewedChange[]
}

/** Dependencies of previewing; it never writes. */
export type PreviewDeps = AttributeDeps &
  Uses<'clock' | 'cursors' | 'payments' | 'wallets' | 'catalog'> & {
    readonly client: Pick<ChainClient, 'scan' | 'blockAt' | 'mempool'>
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
 * Reads blocks with the scanner's code and lists the changes it would make, writing nothing. Transfers visible only in balances
 * are left out. Throws `NodeUnreliable` when the node is not on the scanned chain: a scanner would refuse it too.
 */
export async function previewRescan(deps: PreviewDeps, input: PreviewInput): Promise<RescanPreview> {
  const { mode, network, from, to } = input
  const cursor = await deps.cursors.find(mode, network)
  const remembered = new Map(input.acceptReorg ? [] : (cursor?.window ?? []))
  const unconfirmed = deps.client.mempool === undefined ? [] : await deps.payments.unconfirmed(mode, network)
  const changes: PreviewedChange[] = []
  let known = 0
  let blocks = 0
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start + BATCH - 1)
    const read = await deps.client.scan(start, end, EVERYONE, outpointsOf(unconfirmed))
    const inRange = read.filter(({ height }) => height <= end)
    if (inRange.some(({ height, hash }) => (remembered.get(height) ?? hash) !== hash)) throw offChain()
    const found = await comparedToStored(deps, input, inRange)
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
  const effects: Partial<Record<RescanEffect, number>> = {}
  for (const { effect } of changes) effects[effect] = (effects[effect] ?? 0) + 1
  return { blocks, known, effects, changes: changes.slice(0, LISTED_MAX) }
}

const offChain = () => new NodeUnreliable('the node is not on the chain scanned so far: a scanner would not go on')

async function comparedToStored(
  deps: PreviewDeps,
  position: PreviewInput,
  blocks: readonly ScannedBlock[],
): Promise<{ readonly known: number; readonly changes: readonly PreviewedChange[] }> {
  const { mode, network } = position
  const paid = blocks.flatMap(({ transfers }) => transfers.map(({ matchKey }) => ({ mode, network, matchKey })))
  const owners = await addressOwners(deps, paid)
  const ours = blocks.map((block) => ({
    ...block,
    transfers: block.transfers.filter(({ matchKey }) => owners.has(matchKey)),
  }))
  const found = (await dropBalanceDuplicates(deps, position, ours)).flatMap(({ height, hash, time, transfers }) =>
    transfers.map((transfer) => ({
      transfer,
      block: { height, hash, time },
      seenAt: Math.min(time, deps.clock.now()),
    })),
  )
  const observations = await attributeTransfers(deps, { mode, network, found })
  const keys = observations.flatMap(({ key, amountBase }) => [key, otherAmountKey(key, amountBase)])
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
  const { key, amountBase, block } = observation
  const first = stored.get(key)
  if (first === undefined) return 'added'
  if (first.amountBase !== amountBase && first.block !== null && first.block.hash === block?.hash) return 'contradicts'
  const same = first.amountBase === amountBase ? first : stored.get(otherAmountKey(key, amountBase))
  if (same === undefined) return 'other_amount'
  if (same.state !== 'detected' && same.state !== 'confirmed') return 'returned'
  return same.block?.hash === block?.hash ? null : 'moved'
}

/** Payments that these blocks would end or orphan. */
async function lost(
  deps: PreviewDeps,
  { mode, network, confirmedToo }: PreviewInput,
  read: { readonly from: number; readonly blocks: readonly ScannedBlock[]; readonly unconfirmed: readonly Payment[] },
): Promise<readonly PreviewedChange[]> {
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
): PreviewedChange {
  const { key, txHash, block, asset, amountBase, contract, invoiceId } = of
  const amount =
    asset === null
      ? `${amountBase} base units of ${contract ?? 'a token'}`
      : `${formatUnits(amountBase, catalog.asset(asset).decimals)} ${asset}`
  return { effect, key, txHash, height: block?.height ?? null, amount, invoiceId }
}
