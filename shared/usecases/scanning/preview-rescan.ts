import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import { otherAmountKey, type Payment, type PaymentRepository, type PaymentSighting } from '#shared/ports/payments.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { type ChainClient, type CursorRepository, NodeUnreliable, type ScannedBlock } from '#shared/ports/scanning.ts'
import { type AddressOwnerDeps, addressOwners } from '#shared/usecases/payments/address-owners.ts'
import { type AttributeDeps, attributeTransfers } from '#shared/usecases/payments/attribute-transfers.ts'
import { withoutTold } from '#shared/usecases/payments/drop-balance-duplicates.ts'
import { replacedBy } from '#shared/usecases/payments/record-payments.ts'
import { underStoredKeys } from '#shared/usecases/payments/under-stored-keys.ts'
import { outpointsOf } from './scan-mempool.ts'

/** Blocks read and compared at a time. */
const BATCH = 10
/** Changes that are listed one by one; all are counted. */
const LISTED_MAX = 200
/** Whose addresses are paid is asked of the store afterwards: that is fewer than a scanner's whole index. */
const EVERYONE = { has: () => true, add: () => undefined, size: 1, keys: () => [] }

/**
 * What reading a block again would do to a payment. `added`: it is not stored; `returned`: it was gone and stands again; `moved`:
 * it stands in another block than stored; `other_amount`: its transaction moves another amount in this block; `replaced`:
 * another transaction spends its money; `taken_back`: its block is gone, and none of these holds it; `contradicts`: the
 * same block shows another amount than stored: the scanner would refuse it and stop there.
 */
export type RescanEffect = 'added' | 'returned' | 'moved' | 'other_amount' | 'replaced' | 'taken_back' | 'contradicts'

/** One change that a scanner would make. */
export interface PreviewedChange {
  readonly effect: RescanEffect
  readonly key: string
  readonly txHash: string | null
  readonly height: number | null
  /** With its asset; base units for a token without one. */
  readonly amount: string
  /** The invoice it belongs or would belong to; null goes to the inbox. */
  readonly invoiceId: string | null
}

/** What reading blocks again would change, as the node shows them now. */
export interface RescanPreview {
  readonly blocks: number
  /** Stored payments that stand exactly as stored. */
  readonly known: number
  readonly effects: Readonly<Partial<Record<RescanEffect, number>>>
  /** The first 200. */
  readonly changes: readonly PreviewedChange[]
}

/** What previewing needs; nothing is ever written. */
export interface PreviewDeps extends AttributeDeps {
  readonly clock: Clock
  readonly cursors: Pick<CursorRepository, 'find'>
  readonly payments: Pick<PaymentRepository, 'findByKeys' | 'listStrangers' | 'listByKeyPrefix' | 'unconfirmed'>
  readonly wallets: AddressOwnerDeps['wallets']
  readonly catalog: AttributeDeps['catalog'] & Pick<Catalog, 'asset'>
  readonly client: Pick<ChainClient, 'scan' | 'blockAt' | 'mempool'>
}

/** Which blocks, and how a scanner would look at them. */
export interface PreviewInput {
  readonly mode: Mode
  readonly network: NetworkId
  readonly from: number
  readonly to: number
  /** As after a rewind: confirmed payments are taken back as well. */
  readonly confirmedToo: boolean
  /** Do not ask that the node shows the cursor's block: a person accepts its chain. */
  readonly acceptReorg: boolean
  /** Told after every batch. */
  onProgress(height: number): void
}

/**
 * Reads blocks with the scanner's own eyes and says what it would change, writing nothing. Coins that only a balance tells of
 * are left out. Throws `NodeUnreliable` when the node is not on the scanned chain: a scanner would not do it either.
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
    // A client may end before the block that it has to read another way.
    const last = inRange.at(-1)?.height ?? end
    input.onProgress(last)
    start = last + 1
  }
  // Asked last, so that everything above was read from this chain.
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
  const found = (await withoutTold(deps, position, ours)).flatMap(({ height, hash, time, transfers }) =>
    transfers.map((transfer) => ({
      transfer,
      block: { height, hash, time },
      seenAt: Math.min(time, deps.clock.now()),
    })),
  )
  const transfers = found.map(({ transfer }) => transfer)
  const attributed = await attributeTransfers(deps, { mode, network, found })
  const { sightings, repeats } = await underStoredKeys(deps, position, transfers, attributed)
  const keys = sightings.flatMap(({ key, amountBase }) => [key, otherAmountKey(key, amountBase)])
  const stored = new Map((await deps.payments.findByKeys([...keys, ...repeats])).map((one) => [one.key, one]))
  const ending = repeats.flatMap((key) => stored.get(key) ?? []).filter(isEnding(position))
  const effects = sightings.map((sighting) => ({ sighting, effect: effectOf(stored, sighting) }))
  return {
    known: effects.filter(({ effect }) => effect === null).length,
    changes: [
      ...ending.map((payment) => changeOf(deps, 'taken_back', payment)),
      ...effects.flatMap(({ sighting, effect }) => {
        const invoiceId = stored.get(sighting.key)?.invoiceId ?? sighting.invoiceId
        return effect === null ? [] : [changeOf(deps, effect, { ...sighting, invoiceId })]
      }),
    ],
  }
}

/** Whether a payment that repeats another one would be taken back. */
const isEnding =
  ({ confirmedToo }: Pick<PreviewInput, 'confirmedToo'>) =>
  ({ state }: Payment): boolean =>
    state === 'detected' || confirmedToo

/** Null when the payment stands exactly as stored. */
function effectOf(stored: ReadonlyMap<string, Payment>, sighting: PaymentSighting): RescanEffect | null {
  const { key, amountBase, block } = sighting
  const first = stored.get(key)
  if (first === undefined) return 'added'
  if (first.amountBase !== amountBase && first.block !== null && first.block.hash === block?.hash) return 'contradicts'
  const same = first.amountBase === amountBase ? first : stored.get(otherAmountKey(key, amountBase))
  if (same === undefined) return 'other_amount'
  if (same.state !== 'detected' && same.state !== 'confirmed') return 'returned'
  return same.block?.hash === block?.hash ? null : 'moved'
}

/** What these blocks would end or take back. */
async function lost(
  deps: PreviewDeps,
  { mode, network, confirmedToo }: PreviewInput,
  read: { readonly from: number; readonly blocks: readonly ScannedBlock[]; readonly unconfirmed: readonly Payment[] },
): Promise<readonly PreviewedChange[]> {
  const { from, blocks, unconfirmed } = read
  const spent = new Map(blocks.flatMap((block) => [...(block.spent ?? [])]))
  const ended = new Set(replacedBy(unconfirmed, spent).map(({ key }) => key))
  const strangers = await deps.payments.listStrangers({ mode, network, from, blocks, confirmedToo })
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
